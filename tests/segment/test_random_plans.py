"""Random definitions: the segments of each give what the whole gives, and the plan is the same
whatever the order of statements."""

from __future__ import annotations

import pytest
from random_plans import Spec, make_spec
from segment_runs import check_runs

from nvfuser_direct import segment

PART = 10  # seeds of one test


def readable(spec: Spec, order: list[int] | None) -> list[str]:
    """The plan with names that do not depend on the order of statements."""
    fd, names = spec.build(order)
    plan = segment(fd.fusion, spec.inputs)
    lines = []
    for group in plan.groups:
        read = [names[val.name()] for val in group.inputs]
        made = [names[val.name()] for val in group.outputs]
        held = [names[expr.outputs()[0].name()] for expr in group.exprs]
        lines.append(f"{group.kind} {group.scheduler.name}: {read} -> {made} by {held}")
    lines += [f"{cut.rule} {names[cut.tensor.name()]}" for cut in plan.cuts]
    return lines


@pytest.mark.parametrize("first", range(0, 40, PART))
def test_segments_give_what_the_whole_gives(first: int) -> None:
    for seed in range(first, first + PART):
        spec = make_spec(seed)
        fd, _ = spec.build()
        plan = segment(fd.fusion, spec.inputs)
        try:
            check_runs(plan, spec.inputs, atol=1e-5, rtol=1e-5)
        except Exception as error:
            raise AssertionError(f"seed {seed}\n{plan.explain()}\n{fd!r}") from error


@pytest.mark.parametrize("first", range(1000, 1100, 2 * PART))
def test_the_order_of_statements_changes_nothing(first: int) -> None:
    for seed in range(first, first + 2 * PART):
        spec = make_spec(seed)
        plain = readable(spec, None)
        for k in range(2):
            assert readable(spec, spec.shuffled(k)) == plain, f"seed {seed}, order {k}"

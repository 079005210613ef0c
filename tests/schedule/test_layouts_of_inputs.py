"""Schedulers with inputs at odd addresses, parts of larger tensors, and expanded ones. Tiles of
`transpose` are in test_transpose.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from scheduled_runs import define, exact, scheduled

from nvfuser_direct import KernelExecutor, SchedulerType, schedule

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, COLUMNS = 24, 40
S = SchedulerType


def softmax(dim: int) -> Callable:
    def build(fd: Any, x: Any) -> Any:
        powers = fd.ops.exp(fd.ops.sub(x, fd.ops.max(x, [dim], keepdim=True)))
        return fd.ops.div(powers, fd.ops.sum(powers, [dim], keepdim=True))

    return build


def both_sums(fd: Any, x: Any) -> list[Any]:
    """Rows about their means, and the sums of columns of these."""
    centred = fd.ops.sub(x, fd.ops.mul(fd.ops.sum(x, [1], keepdim=True), 1.0 / COLUMNS))
    return [centred, fd.ops.sum(fd.ops.mul(x, centred), [0])]


# The scheduler, the definition, and what the schedule is made for: any target runs it.
CASES: dict[str, tuple[SchedulerType, Callable, str | None]] = {
    "pointwise": (S.pointwise, lambda fd, x: fd.ops.mul(fd.ops.neg(x), 2.0), None),
    "reduction of rows": (S.reduction, lambda fd, x: fd.ops.sum(fd.ops.exp(x), [1]), None),
    "reduction of columns": (S.reduction, lambda fd, x: fd.ops.sum(fd.ops.exp(x), [0]), None),
    "inner_persistent": (S.inner_persistent, softmax(1), None),
    "outer_persistent": (S.outer_persistent, softmax(0), None),
    "inner_outer_persistent": (S.inner_outer_persistent, both_sums, "cuda"),
    "resize": (S.resize, lambda fd, x: fd.ops.pad(fd.ops.neg(x), [1, 2]), None),
    "greedy": (S.greedy, lambda fd, x: fd.ops.cumsum(fd.ops.neg(x), 1), None),
}


def random(*shape: int, device: str) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(shape, generator=generator).to(device)


def at_an_odd_address(device: str) -> torch.Tensor:
    x = random(ROWS * COLUMNS + 1, device=device)[1:].reshape(ROWS, COLUMNS)
    assert x.data_ptr() % 8 == 4
    return x


LAYOUTS: dict[str, Callable[[str], torch.Tensor]] = {
    "at an odd address": at_an_odd_address,
    "part of rows": lambda device: random(ROWS, COLUMNS + 3, device=device)[:, 2:-1],
    "every other row": lambda device: random(2 * ROWS, COLUMNS, device=device)[::2],
    "every other column": lambda device: random(ROWS, 2 * COLUMNS, device=device)[:, 1::2],
    "turned": lambda device: random(COLUMNS, ROWS, device=device).t(),
    "expanded rows": lambda device: random(1, COLUMNS, device=device).expand(ROWS, COLUMNS),
    "expanded columns": lambda device: random(ROWS, 1, device=device).expand(ROWS, COLUMNS),
}


def check_close(found: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    for own, reference in zip(found, expected, strict=True):
        torch.testing.assert_close(own, reference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_inputs_of_any_layout(case: str, target: str) -> None:
    """A scheduler that refuses a layout leaves it to others: `execute` is right as well."""
    scheduler, build, made_for = CASES[case]
    taken = []
    for layout, make in LAYOUTS.items():
        if case == "greedy" and layout == "expanded columns":
            continue  # no definition scans an axis that repeats one element
        inputs = [make(target)]
        fd = define(build, inputs)
        expected = exact(fd.fusion, inputs)
        check_close(fd.execute(inputs), expected)
        if not schedule.can_schedule(fd.fusion, scheduler, inputs, made_for)[0]:
            continue
        fusion, params = scheduled(fd, scheduler, inputs, made_for)
        executor = KernelExecutor()
        executor.compile(fusion, inputs)
        check_close(executor.run(inputs, params.lparams, params.cparams), expected)
        taken.append(layout)
    assert taken, "no layout was taken"

"""A plan as text, as a drawing, and as values that say why it was cut."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from segment_runs import define, plan_of

from nvfuser_direct import SchedulerType, UserError, schedule, segment


def two_sums(fd, x):
    rows = fd.ops.sum(fd.ops.exp(x), [1])
    return fd.ops.sum(rows, [0])


def test_text_lists_groups_edges_and_details() -> None:
    plan = plan_of(two_sums, [torch.randn(4, 8)])
    lines = str(plan).splitlines()
    assert lines[:2] == ["Segmented_Fusion{ ", "groups: "]
    groups = [f"  {group}" for group in plan.groups]
    assert lines[2 : 2 + len(groups)] == groups
    assert lines[2 + len(groups)] == "edges: "
    edge = plan.edges[0]
    source, target = plan.groups[edge.source], plan.groups[edge.target]
    assert lines[3 + len(groups)] == f"  e{{ {source} -> {target}({edge.tensor}) }}"
    assert "group details:" in lines
    assert lines[-1] == "} //Segmented_Fusion"
    assert str(plan).count("group id: ") == len(groups)


def test_a_group_prints_its_scheduler_and_expressions() -> None:
    (group,) = plan_of(lambda fd, x: fd.ops.neg(fd.ops.exp(x)), [torch.randn(4, 8)]).groups
    assert group.scheduler == SchedulerType.pointwise
    assert str(group) == "pointwise{0, 1}"


def test_a_group_has_the_params_of_its_scheduler() -> None:
    inputs = [torch.randn(40, 80)]
    (group,) = plan_of(lambda fd, x: fd.ops.neg(fd.ops.exp(x)), inputs).groups
    assert group.params == schedule.compute_heuristics(group.fusion, group.scheduler, inputs)


def test_a_cut_names_tensors_and_lines() -> None:
    plan = plan_of(two_sums, [torch.randn(4, 8)])
    (cut,) = [cut for cut in plan.cuts if cut.rule == "pattern"]
    text = str(cut)
    assert "needs another reduction pattern than" in text
    assert text.count("test_plans_as_text.py:") == 2
    assert text.startswith(f"T{cut.reader.name()} (")
    assert cut.other is not None


def test_explain_says_what_runs_what_was_cut_and_what_was_refused() -> None:
    inputs = [torch.randn(16, 8), torch.randn(8, 12)]

    def build(fd, a, b):
        return fd.ops.relu(fd.ops.matmul(a, b))

    text = plan_of(build, inputs).explain()
    assert "segment 0: evaluated, 1 expression, makes T2 (test_plans_as_text.py:" in text
    assert "segment 1: pointwise, 1 expression, makes T3" in text
    assert "MatmulOp is evaluated alone" in text
    assert "  not no_op: output has a concrete dimension" in text


def test_explain_says_that_nothing_crosses_between_segments() -> None:
    inputs = [torch.randn(16, 8), torch.randn(7)]
    text = plan_of(lambda fd, a, b: [fd.ops.exp(a), fd.ops.sin(b)], inputs).explain()
    assert text.count("  apart: no tensor crosses between it and another segment\n") == 2


def test_a_drawing_has_groups_and_what_crosses() -> None:
    plan = plan_of(two_sums, [torch.randn(4, 8)])
    text = plan.draw()
    assert text.startswith("digraph segments {")
    for edge in plan.edges:
        assert f'g{edge.source} -> g{edge.target} [label = "T{edge.tensor.name()}"]' in text


DUMPING = """
import torch
from nvfuser_direct import FusionDefinition, segment
with FusionDefinition() as fd:
    x = fd.define_tensor([4, 8])
    fd.add_output(fd.ops.sum(fd.ops.sum(x, [1]), [0]))
plan = segment(fd.fusion, [torch.randn(4, 8)])
print(plan.draw())
"""


@pytest.mark.parametrize(
    ("option", "printed"),
    [
        ("segmented_fusion", "Segmented_Fusion{ "),
        ("segmenter_logging", "Scheduler _reduction_ accepted"),
        ("draw_segmented_fusion", "PRINTING: segmented_fusion0.dot"),
    ],
)
def test_dumps(option: str, printed: str, tmp_path: Path) -> None:
    environment = {**os.environ, "NVFUSER_DUMP": option, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", DUMPING],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed in run.stdout.splitlines()
    if option == "draw_segmented_fusion":
        assert run.stdout.endswith((tmp_path / "segmented_fusion0.dot").read_text() + "\n")


def test_rejections_are_those_of_schedulers_that_were_asked_before() -> None:
    (group,) = plan_of(lambda fd, x: fd.ops.exp(x), [torch.randn(4, 8)]).groups
    kinds = [kind for kind, _ in group.rejections]
    assert SchedulerType.pointwise not in kinds
    for kind, text in group.rejections:
        assert text.startswith(f"Scheduler _{kind.name}_ ***rejected*** because : ")


def test_a_segment_remembers_the_lines_of_its_originals() -> None:
    plan = plan_of(two_sums, [torch.randn(4, 8)])
    for group in plan.groups:
        own = [expr for expr in group.fusion.exprs() if expr.outputs()[0].is_tensor()]
        assert [expr.op_name() for expr in own] == [expr.op_name() for expr in group.exprs]


def test_the_fusion_stays_as_it_is() -> None:
    inputs = [torch.randn(4, 8)]
    fd = define(two_sums, inputs)
    before = fd.fusion.print_math()
    plan = segment(fd.fusion, inputs)
    assert fd.fusion.print_math() == before
    assert plan.complete_fusion is fd.fusion


def test_a_schedule_is_refused() -> None:
    inputs = [torch.randn(40, 80)]
    fd = define(lambda fd, x: fd.ops.exp(x), inputs)
    schedule.trivial(fd.fusion)
    with pytest.raises(UserError, match="Definitions are cut before they are scheduled"):
        segment(fd.fusion, inputs)


def test_shapes_that_wait_for_sizes_are_refused() -> None:
    inputs = [torch.randn(4, 8)]
    fd = define(lambda fd, x: fd.ops.reshape(x, [fd.ops.size(x, 1), -1]), inputs)
    with pytest.raises(UserError):
        segment(fd.fusion, inputs)


def test_inputs_that_do_not_fit_are_refused() -> None:
    fd = define(two_sums, [torch.randn(4, 8)])
    with pytest.raises(UserError):
        segment(fd.fusion, [torch.randn(4)])


def test_a_plan_keeps_its_fusion_alive() -> None:
    groups = plan_of(two_sums, [torch.randn(4, 8)]).groups
    assert str(groups[0].exprs[0])
    assert groups[0].inputs[0].is_fusion_input()

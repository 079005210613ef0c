"""Tests of segmentation run the groups of a plan one after another, and compare."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    TensorView,
    UserError,
    evaluate,
    schedule,
    segment,
)
from nvfuser_direct.evaluator import Evaluator
from nvfuser_direct.pytorch_utils import torch_dtype_to_nvfuser_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import Fusion, SegmentedFusion, SegmentedGroup, Val


def define(build: Callable[..., Any], inputs: Sequence[Any], **options: Any) -> FusionDefinition:
    """`build(fd, *tensors)` returns outputs; inputs are declared as the given ones lie."""
    with FusionDefinition() as fd:
        tensors = [
            fd.define_tensor(
                list(x.size()), list(x.stride()), torch_dtype_to_nvfuser_dtype(x.dtype), **options
            )
            if isinstance(x, torch.Tensor)
            else fd.define_scalar(None, dtype=torch_dtype_to_nvfuser_dtype(type(x)))
            for x in inputs
        ]
        outs = build(fd, *tensors)
        for out in outs if isinstance(outs, (tuple, list)) else (outs,):
            fd.add_output(out)
    return fd


def plan_of(build: Callable[..., Any], inputs: Sequence[Any], **options: Any) -> SegmentedFusion:
    return segment(define(build, inputs, **options).fusion, inputs)


def schedulers(plan: SegmentedFusion) -> list[str]:
    return [group.scheduler.name for group in plan.groups]


def run_group(group: SegmentedGroup, inputs: Sequence[Any]) -> tuple[str, list[torch.Tensor]]:
    """The way in which it ran, and the visible outputs. Where its scheduler has no kernel for it in
    the end, the trivial schedule runs it, else the evaluator: as the executor cache does."""
    if group.kind != "kernel":
        return group.kind, evaluate(group.fusion, inputs)
    if group.scheduler != SchedulerType.none:
        fusion: Fusion = group.fusion.clone()
        params = schedule.schedule(fusion, group.scheduler, inputs)
        with contextlib.suppress(UserError):
            executor = KernelExecutor()
            executor.compile(fusion, inputs)
            return group.scheduler.name, executor.run(inputs, params.lparams, params.cparams)
    with contextlib.suppress(UserError):
        fusion = group.fusion.clone()
        schedule.trivial(fusion)
        executor = KernelExecutor()
        executor.compile(fusion, inputs)
        return "trivial", executor.run(inputs)
    return "evaluated", evaluate(group.fusion, inputs)


def run_plan(plan: SegmentedFusion, inputs: Sequence[Any]) -> tuple[list[str], list[torch.Tensor]]:
    """The way in which each group ran, and the outputs of the complete fusion with hidden ones."""
    complete = plan.complete_fusion
    values: dict[Val, Any] = dict(zip(complete.inputs(), inputs, strict=True))
    runners = []
    for group in plan.groups:
        runner, results = run_group(group, [values[val] for val in group.inputs])
        runners.append(runner)
        rest = iter(results)
        for own, output in zip(unique(group.fusion.outputs()), group.outputs, strict=True):
            alias = group.fusion.alias_of(own)
            hidden = alias is not None and alias[1]
            values[output] = values[complete.alias_of(output)[0]] if hidden else next(rest)
    for update in plan.late_updates:
        values[update.input].copy_(values[update.output])
        values[update.output] = values[update.input]
    return runners, [values[output] for output in complete.outputs()]


def unique(vals: Sequence[TensorView]) -> list[TensorView]:
    return list(dict.fromkeys(vals))


def check_plan(plan: SegmentedFusion) -> None:
    """Check what holds for every plan (segmentation.md of the documentation, section 1)."""
    complete = plan.complete_fusion
    made: dict[TensorView, int] = {}
    for number, group in enumerate(plan.groups):
        for val in group.inputs:
            is_argument = val.is_fusion_input()
            assert is_argument or made[val] < number, f"{val} is read before it is there"
        for output in group.outputs:
            assert output not in made
            made[output] = number
        for own, val in zip(group.fusion.inputs(), group.inputs, strict=True):
            assert isinstance(own, TensorView) == isinstance(val, TensorView)
            if isinstance(own, TensorView):
                assert own.dtype() == val.dtype()
                assert not any(axis.is_reduction() for axis in own.get_logical_domain())
    wanted = {out for out in complete.outputs() if not out.is_fusion_input()}
    assert wanted <= set(made)
    crossing = {(e.source, e.target, e.tensor.name()) for e in plan.edges}
    assert len(crossing) == len(plan.edges)
    assert {c.tensor for c in plan.cuts} == {e.tensor for e in plan.edges}


def check_runs(
    plan: SegmentedFusion, inputs: Sequence[Any], atol: float = 1e-5, rtol: float = 1e-5
) -> list[str]:
    """The groups, run one after another, give what the evaluator gives."""
    check_plan(plan)
    copies = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    expected = Evaluator(plan.complete_fusion, copies).outputs()
    runners, found = run_plan(plan, inputs)
    assert len(found) == len(expected)
    written = []
    for output, own, reference in zip(plan.complete_fusion.outputs(), found, expected, strict=True):
        alias = plan.complete_fusion.alias_of(output)
        if alias is not None:
            position = plan.complete_fusion.inputs().index(alias[0])
            assert own.data_ptr() == inputs[position].data_ptr()
            written.append(position)
        assert own.shape == reference.shape
        assert own.dtype == reference.dtype
        torch.testing.assert_close(own.cpu(), reference.cpu(), rtol=rtol, atol=atol, equal_nan=True)
    for position, (given, copy) in enumerate(zip(inputs, copies, strict=True)):
        if isinstance(given, torch.Tensor) and position not in written:
            assert torch.equal(given, copy)
    return runners

"""Outputs that depend on scalars of the host alone are a fusion of their own on a GPU.

Processors show how a run on a GPU treats the two parts: each part is run there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

from nvfuser_direct import DataType, Fusion, FusionDefinition, _core
from nvfuser_direct.evaluator import evaluate

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))
from random_programs import make_program, on_target

split_host_scalars = _core.internal.split_host_scalars


def run(fusion: Fusion, inputs: list[Any]) -> list[torch.Tensor]:
    return _core.FusionExecutorCache(fusion).execute(inputs)


def outputs_in_parts(fusion: Fusion, inputs: list[Any]) -> list[torch.Tensor]:
    """The outputs of the two parts, in the order of those of the whole."""
    scalars, others, positions, is_scalar = split_host_scalars(fusion)
    if scalars is None:
        return run(fusion, inputs)
    on_host = iter(evaluate(scalars, [inputs[i] for i in positions]))
    on_device = iter(run(others, inputs) if not all(is_scalar) else [])
    return [next(on_host) if is_on_host else next(on_device) for is_on_host in is_scalar]


def scalar(fd: FusionDefinition) -> Any:
    return fd.define_tensor([], dtype=DataType.Float, is_cpu=True)


def test_what_both_parts_need_is_computed_in_both() -> None:
    with FusionDefinition() as fd:
        s = scalar(fd)
        x = fd.define_tensor([-1, -1])
        negated = fd.ops.neg(s)
        fd.add_output(negated)
        fd.add_output(fd.ops.mul(x, negated))
        fd.add_output(fd.ops.add(negated, 1.0))
    scalars, others, positions, is_scalar = split_host_scalars(fd.fusion)
    assert is_scalar == [True, False, True]
    assert positions == [0]  # tensors of the device would move the evaluation there
    assert all(output.is_cpu_scalar() for output in scalars.outputs())
    kinds = [type(expr).__name__ for expr in others.exprs()]
    assert kinds == ["UnaryOp", "BroadcastOp", "BinaryOp"]
    assert not others.exprs()[0].output(0).is_cpu_scalar()
    inputs = [torch.tensor(2.5), torch.randn(3, 4)]
    for own, reference in zip(
        outputs_in_parts(fd.fusion, inputs), evaluate(fd.fusion, inputs), strict=True
    ):
        torch.testing.assert_close(own, reference)


def test_only_scalars() -> None:
    with FusionDefinition() as fd:
        s = scalar(fd)
        fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.exp(s))
    scalars, _, positions, is_scalar = split_host_scalars(fd.fusion)
    assert (positions, is_scalar) == ([0], [True])
    torch.testing.assert_close(evaluate(scalars, [torch.tensor(0.5)])[0], torch.tensor(0.5).exp())


def test_what_a_size_or_a_tensor_of_the_device_decides_is_no_scalar_of_the_host() -> None:
    with FusionDefinition() as fd:
        s = scalar(fd)
        x = fd.define_tensor([-1, -1])
        on_device = fd.define_tensor([])
        fd.add_output(fd.ops.mul(s, x.size(0)))
        fd.add_output(fd.ops.add(s, on_device))
        fd.add_output(fd.ops.sum(x))
        fd.add_output(fd.ops.neg(s), on_device)
    assert split_host_scalars(fd.fusion)[0] is None


def test_random_programs_in_parts() -> None:
    num_parted = 0
    for seed in range(200):
        program = make_program(seed)
        fusion = program.fd.fusion
        if program.written or split_host_scalars(fusion)[0] is None:
            continue
        num_parted += 1
        torch.manual_seed(seed)
        wanted = evaluate(fusion, on_target(program, "cpu"))
        torch.manual_seed(seed)
        found = outputs_in_parts(fusion, on_target(program, "cpu"))
        for own, reference in zip(found, wanted, strict=True):
            assert own.shape == reference.shape
            torch.testing.assert_close(own, reference, atol=1e-3, rtol=1e-3, equal_nan=True)
    assert num_parted > 5

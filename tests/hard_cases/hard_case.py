"""Helpers of this folder's tests: short schedules, guarded inputs, comparison.

Inputs lie in buffers filled with NaN (or the lowest integer), so that an element read outside of
the valid region shows; values are small integers, so that sums are exact in any order and results
compare equal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text as cuda_text

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    MemoryType,
    ParallelType,
    UserError,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nvfuser_direct import Expr, Fusion, Kernel, TensorView

BX, BY, BZ = ParallelType.grid_x, ParallelType.grid_y, ParallelType.grid_z
TX, TY, TZ = ParallelType.block_x, ParallelType.block_y, ParallelType.block_z
UNROLL, UNSWITCH = ParallelType.unroll, ParallelType.unswitch
VECTORIZE = ParallelType.vectorize
SHARED, GLOBAL = MemoryType.shared, MemoryType.Global

SIZES = (1, 2, 3, 31, 32, 33, 127, 128, 129, 999, 1000, 1025)
PAIRS = ((1, 1), (3, 4), (2, 33), (31, 127), (32, 32), (129, 3), (1, 1000), (13, 101))

LENGTHS = (1, 2, 3, 9, 31, 32, 33, 129, 1000)  # of axes that are resized

GUARD = 64  # elements around an input; keeps a 16-byte alignment


def lengths(least: int) -> list[list[list[int]]]:
    """Input shapes of one dimension, from `least` on."""
    return [[[n]] for n in LENGTHS if n >= least]


def par(tensor: TensorView, *types: ParallelType | None) -> TensorView:
    """Bind the axes of a tensor in order; None leaves one alone."""
    for axis, parallel_type in enumerate(types):
        if parallel_type is not None:
            tensor.axis(axis).parallelize(parallel_type)
    return tensor


def like(reference: TensorView) -> None:
    """The transforms and parallel types of `reference` everywhere."""
    schedule.transform_like(reference)
    schedule.parallelize_like(reference)


# -- running --


def guarded(values: torch.Tensor, strides: Sequence[int] | None = None) -> torch.Tensor:
    """`values` in the middle of a buffer of NaN, with the given strides."""
    strides = values.contiguous().stride() if strides is None else strides
    extent = 1 + sum((n - 1) * s for n, s in zip(values.shape, strides, strict=True))
    poison = math.nan if values.is_floating_point() else None
    if poison is None:
        poison = False if values.dtype == torch.bool else torch.iinfo(values.dtype).min
    buffer = torch.full((max(extent, 0) + 2 * GUARD,), poison, dtype=values.dtype)
    buffer = buffer.to(values.device)
    view = buffer.as_strided(values.shape, strides, GUARD)
    view.copy_(values)
    return view


def numbers(
    *shape: int, device: str, dtype: torch.dtype = torch.float32, seed: int = 0
) -> torch.Tensor:
    """Small integers in a guarded buffer."""
    generator = torch.Generator().manual_seed(seed + sum(shape) * 31)
    values = torch.randint(-4, 5, shape, generator=generator).to(dtype)
    return guarded(values.to(device))


class Compiled:
    """A scheduled fusion, compiled once for the target and run for many sizes."""

    def __init__(self, fd: FusionDefinition) -> None:
        self.fd = fd
        self.executor = KernelExecutor()

    def __call__(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        if not self.executor.is_compiled():
            self.executor.compile(self.fd.fusion, list(inputs))
        return self.executor.run(list(inputs))


def assert_same(
    outputs: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], rtol: float = 0.0
) -> None:
    """Equal shapes and values; `rtol` is relative to the largest element."""
    assert len(outputs) == len(expected)
    for out, ref in zip(outputs, expected, strict=True):
        assert list(out.shape) == list(ref.shape)
        ref = ref.to(out.dtype) if rtol == 0 else ref.double()
        out = out if rtol == 0 else out.double()
        scale = float(ref.abs().max()) if rtol and ref.numel() else 0.0
        torch.testing.assert_close(
            out, ref, rtol=0, atol=rtol * scale, equal_nan=True, check_dtype=False
        )


def check(
    fd: FusionDefinition,
    target: str,
    shapes: Sequence[Sequence[Sequence[int]]],
    reference: Callable[..., torch.Tensor | Sequence[torch.Tensor]],
    rtol: float = 0.0,
    dtype: torch.dtype = torch.float32,
) -> None:
    """Run a scheduled fusion for every list of input shapes and compare with `reference`."""
    compiled = Compiled(fd)
    for of_inputs in shapes:
        inputs = [
            numbers(*shape, device=target, dtype=dtype, seed=seed)
            for seed, shape in enumerate(of_inputs)
        ]
        outputs = compiled(*inputs)
        expected = reference(*[x.double() if x.is_floating_point() else x for x in inputs])
        if isinstance(expected, torch.Tensor):
            expected = [expected]
        assert_same(outputs, expected, rtol)


def execute(fd: FusionDefinition, inputs: list) -> list[torch.Tensor]:
    """The result of fd.execute; the schedule it makes also compiles for CUDA."""
    scheduled = fd.fusion.clone()
    schedule.trivial(scheduled)
    cuda_text(scheduled)
    return fd.execute(inputs)


# -- looking at kernels --


def statements(scope: Kernel | Sequence[Expr]) -> Iterator[Expr]:
    """Every statement of a kernel, outer ones before inner ones."""
    body = scope.body if hasattr(scope, "body") else scope
    body = body() if callable(body) else body
    for statement in body:
        yield statement
        for name in ("body", "then_body", "else_body"):
            inner = getattr(statement, name, None)
            inner = inner() if callable(inner) else inner
            if inner:
                yield from statements(inner)


def count(kernel: Kernel, kind: type) -> int:
    """Number of statements of one class in a kernel."""
    return sum(isinstance(statement, kind) for statement in statements(kernel))


def lowered(fusion: Fusion, target: str = "cuda") -> Kernel:
    """The kernel of a scheduled fusion."""
    return fusion.lower(target=target)


def refusal(fusion: Fusion) -> str:
    """Why no target has a kernel of it: the same on all, with all parts of an error."""
    texts = []
    for target in ("cuda", "cpu"):
        with pytest.raises((UserError, NotImplementedError)) as caught:
            lowered(fusion, target)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in texts[0]
    return texts[0]


def reduced_1d(
    op: str = "sum",
    dtype: DataType = DataType.Float,
    types: Sequence[ParallelType | None] = (BX, None, TX),
) -> FusionDefinition:
    """Reduce everything: [n] -> [4, serial, 32], the serial axis in a stage of its own."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=dtype)
        s = getattr(fd.ops, op)(x, [0])
        fd.add_output(s)
        s.split(0, 32)
        s.split(0, 4, inner_split=False)
        axis = types.index(None)
        partial = s.rfactor([axis])
        fd.sched.transform_like(partial)
        par(partial, *types)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    return fd

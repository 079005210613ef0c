"""Kernels follow from the scheduled fusion alone: not from what happened while it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from round_trip import rebuilt
from schedule_round_trip import check_schedule_round_trip, kernel_source

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelCache,
    MemoryType,
    ParallelType,
    translate_fusion,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion, TensorView

TARGETS = ("cuda", "cpu")


def define_x(fd: FusionDefinition, **options: Any) -> TensorView:
    return fd.define_tensor([-1, -1], contiguity=True, **options)


def leave_unused(fd: FusionDefinition, tensor: TensorView) -> None:
    """Scalars, tensors and a schedule that are not needed."""
    fd.define_scalar(3.0, dtype=DataType.Float)
    unused = fd.ops.exp(tensor)
    fd.ops.sum(unused, [0])
    unused.split(0, 3)


def row_sums(fd: FusionDefinition, visit: Callable[[TensorView], None]) -> None:
    """Cached and factored; `visit` is called on every tensor as soon as it is there."""

    def made(tensor: TensorView) -> TensorView:
        visit(tensor)
        return tensor

    x = made(define_x(fd))
    y = made(fd.ops.neg(x))
    z = made(fd.define_tensor([-1, -1], contiguity=False))
    total = made(fd.ops.sum(made(fd.ops.add(y, z)), [1]))
    fd.add_output(total)
    row = made(x.cache_after())
    row.set_memory_type(MemoryType.shared)
    total.split(1, 32)
    partial = made(total.rfactor([1]))
    made(total.cache_before())
    fd.sched.transform_like(partial)
    partial.axis(0).parallelize(ParallelType.grid_x)
    partial.axis(-1).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(partial)
    fd.sched.inline_most([t for t in fd.fusion.tensors() if t is not row])


def unused_statements(fd: FusionDefinition) -> None:
    row_sums(fd, lambda tensor: leave_unused(fd, tensor))


def late_inputs(fd: FusionDefinition) -> None:
    y = fd.ops.neg(define_x(fd))
    factor = fd.define_scalar(DataType.Double)
    z = fd.define_tensor([-1, -1], contiguity=False)
    scaled = fd.ops.mul(fd.ops.add(y, z), factor)
    fd.add_output(fd.ops.add(scaled, fd.define_tensor([-1, -1], contiguity=True)))
    fd.add_output(out := fd.ops.exp(y))
    out.cache_before()
    fd.sched.inline_most()


def late_math(fd: FusionDefinition) -> None:
    x = define_x(fd)
    y = fd.ops.neg(x)
    fd.add_output(y)
    x.cache_after()
    y.cache_before()
    z = fd.ops.exp(x)
    fd.add_output(total := fd.ops.sum(z, [1]))
    fd.add_output(fd.ops.sin(y))
    total.cache_before()
    fd.sched.inline_most()


def grouped_later_than_their_operands(fd: FusionDefinition) -> None:
    x = define_x(fd)
    total = fd.ops.sum(x, [1])
    squares = fd.ops.mul(x, x)
    fd.add_output(fd.ops.add(total, fd.ops.sum(squares, [1])))
    fd.sched.group_reductions([total, squares.uses()[0].output(0)])
    fd.sched.inline_most()


def scalars_in_any_order(fd: FusionDefinition) -> None:
    x = define_x(fd)
    n, m = fd.define_scalar(DataType.Int), fd.define_scalar(DataType.Int)
    product, more = fd.ops.mul(m, n), fd.ops.add(n, 1)
    both = fd.ops.add(m, more)
    fd.add_output(fd.ops.mul(fd.ops.add(x, both), product))
    fd.add_output(out := fd.ops.add(fd.ops.mul(x, more), product))
    out.split(1, more)
    out.split(0, n)
    fd.sched.transform_like(out)
    fd.sched.inline_most()


HISTORIES = [
    unused_statements,
    late_inputs,
    late_math,
    grouped_later_than_their_operands,
    scalars_in_any_order,
]


def fusion_of(define: Callable[[FusionDefinition], None]) -> Fusion:
    with FusionDefinition() as fd:
        define(fd)
    return fd.fusion


@pytest.mark.parametrize("history", HISTORIES)
def test_what_the_text_builds_has_the_same_kernel(
    history: Callable[[FusionDefinition], None],
) -> None:
    fusion = fusion_of(history)
    check_schedule_round_trip(fusion)
    for target in TARGETS:
        source = kernel_source(fusion, target)
        assert source.startswith("// Codegen generated code\n"), source
        assert kernel_source(fusion.clone(), target) == source


def test_unused_statements_do_not_change_a_kernel() -> None:
    plain = fusion_of(lambda fd: row_sums(fd, lambda _: None))
    for target in TARGETS:
        source = kernel_source(plain, target)
        assert kernel_source(fusion_of(unused_statements), target) == source


def test_equal_schedules_are_compiled_once() -> None:
    with FusionDefinition() as fd:
        unused_statements(fd)
    again = rebuilt(translate_fusion(fd.fusion, schedule=True))
    arguments = [torch.randn(5, 100), torch.randn(5, 200)[:, ::2]]
    cache = KernelCache.instance()
    before = cache.stats()
    (expected,) = fd.manual_execute(arguments)
    compiled = cache.stats()
    assert compiled != before  # asked for the kernel
    (out,) = again.manual_execute(arguments)
    assert cache.stats() == compiled  # it was in memory already
    torch.testing.assert_close(out, expected, rtol=0, atol=0)


def rolled(fd, tensor, dim):
    """The first element of a dimension moves to its end."""
    sizes = tensor.shape()
    starts, ends = [0, 0], [*sizes]
    starts[dim], ends[dim] = 1, 1
    parts = [fd.ops.slice(tensor, starts, sizes), fd.ops.slice(tensor, [0, 0], ends)]
    return fd.ops.cat(parts, dim)


def test_sizes_that_are_one_object_or_equal():
    """A size of a tensor is an operand of the next one; in the text it is computed again."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(rolled(fd, fd.ops.neg(rolled(fd, x, 1)), 0))
        x.split(0, 1, inner_split=False)
    check_schedule_round_trip(fd.fusion)


def test_shared_memory_of_a_computed_size():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = rolled(fd, x, 0)
        noise = fd.ops.floor(fd.ops.uniform(0.0, 8.0, y.shape(), rng_seed=7, rng_offset=0))
        fd.add_output(fd.ops.sub(y, noise))
        noise.set_memory_type(MemoryType.shared)
        for tensor in fd.fusion.tensors():
            if not tensor.is_fusion_input():
                tensor.axis(0).parallelize(ParallelType.block_x)
                tensor.axis(1).parallelize(ParallelType.grid_x)
    check_schedule_round_trip(fd.fusion)


def test_random_tensors_without_readers_draw_nothing():
    """The text leaves them out; the others draw the same numbers with and without them."""
    with FusionDefinition() as fd:
        x = define_x(fd)
        fd.ops.rand_like(x)
        y = fd.ops.rand_like(x)
        fd.ops.randn_like(x)
        fd.add_output(y)
        fd.add_output(fd.ops.add(fd.ops.randn_like(x), y))
    second = rebuilt(translate_fusion(fd.fusion))
    x = torch.zeros(5, 7)
    drawn = []
    for run in (fd.execute, second.execute, fd.fusion.evaluate):
        torch.manual_seed(3)
        drawn.append([*run([x]), torch.rand(2)])
    for other in drawn[1:]:
        for a, b in zip(drawn[0], other, strict=True):
            torch.testing.assert_close(a, b)

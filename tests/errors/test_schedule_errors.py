"""Schedules and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from documented import Documented, check, in_fusion, scheduled, tensor

import nvfuser_direct as nvf
from nvfuser_direct import (
    CacheOp,
    CompileParams,
    FusionDefinition,
    LaunchParams,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    define_tensor,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

documented = Documented()

# ---- transforms ----------------------------------------------------------------------------------


@documented("Invalid factor for split. Factor must be greater than 0. Factor = 0")
def split_by_zero() -> object:
    return scheduled(lambda fd, t0, t1: t1.split(0, 0))


def zero_dim(act: Callable[[TensorView], object]) -> object:
    return in_fusion(lambda fd: act(fd.ops.neg(define_tensor([]))))


@documented("Tried to do split on a 0-dim TensorView")
def split_of_a_scalar_tensor() -> object:
    return zero_dim(lambda tv: tv.split(0, 2))


@documented("Tried to do merge on a 0-dim TensorView")
def merge_of_a_scalar_tensor() -> object:
    return zero_dim(lambda tv: tv.merge(0, 1))


@documented("Tried to do reorder on a 0-dim TensorView")
def reorder_of_a_scalar_tensor() -> object:
    return zero_dim(lambda tv: tv.reorder({0: 1}))


def inlined(act: Callable[[TensorView, TensorView], object]) -> object:
    """`act` on a tensor and the consumer it is inlined into at position 1."""

    def build(fd: FusionDefinition) -> object:
        t1 = fd.ops.neg(fd.define_tensor([8, 8], contiguity=True))
        t2 = fd.ops.neg(t1)
        fd.add_output(t2)
        fd.sched.inline_at(t2, 1)
        return act(t1, t2)

    return in_fusion(build)


@documented("Cannot split axis within compute at position. Axis = 0 computePosition = 1")
def split_of_an_inlined_axis() -> object:
    return inlined(lambda t1, t2: t1.split(0, 2))


@documented("Cannot split axis within max producer position. Axis = 0 maxProducerPosition = 1")
def split_of_an_axis_that_producers_are_in() -> object:
    return inlined(lambda t1, t2: t2.split(0, 2))


@documented("Cannot merge axis within compute at position. Axis = 0 computePosition = 1")
def merge_of_an_inlined_axis() -> object:
    return inlined(lambda t1, t2: t1.merge(0, 1))


@documented("Cannot reorder axis within compute at position. Axis = ")
def reorder_of_an_inlined_axis() -> object:
    return inlined(lambda t1, t2: t1.reorder({0: 1}))


@documented(
    "of non-Serial parallel type is not supported at this time. "
    "Parallelization strategy must be set after calling split"
)
def split_of_a_parallel_axis() -> object:
    def act(fd: FusionDefinition, t0: TensorView, t1: TensorView) -> None:
        t1.axis(0).parallelize(ParallelType.grid_x)
        t1.split(0, 2)

    return scheduled(act)


@documented("Merging axes of non-Serial parallel type is not supported at this time.")
def merge_of_parallel_axes() -> object:
    def act(fd: FusionDefinition, t0: TensorView, t1: TensorView) -> None:
        t1.axis(0).parallelize(ParallelType.grid_x)
        t1.axis(1).parallelize(ParallelType.block_x)
        t1.merge(0, 1)

    return scheduled(act)


@documented("Invalid merge detected, axes provided are the same axis.")
def merge_of_an_axis_with_itself() -> object:
    return scheduled(lambda fd, t0, t1: t1.merge(1, 1))


@documented("Only constant iterdomains supported on given swizzle type")
def swizzle_of_symbolic_axes() -> object:
    return scheduled(lambda fd, t0, t1: t1.swizzle(0, 1))


@documented("Swizzle: equal dim iterdomains only")
def swizzle_of_unequal_axes() -> object:
    return scheduled(lambda fd, t0, t1: t1.swizzle(0, 1), 4, 8)


@documented("XOR swizzle only support power of 2 domain sizes.")
def swizzle_of_six() -> object:
    return scheduled(lambda fd, t0, t1: t1.swizzle(0, 1), 6, 6)


@documented("swizzled reduction not yet supported")
def swizzle_of_a_reduction() -> object:
    return in_fusion(lambda fd: fd.ops.sum(tensor(8, 8), [1]).swizzle(0, 1))


@documented("swizzling broadcast axes not yet supported")
def swizzle_of_a_broadcast() -> object:
    return in_fusion(lambda fd: fd.ops.broadcast(tensor(8), [False, True]).swizzle(0, 1))


@documented("Swizzle1D only supports device parallel types, given: ")
def swizzle1d_over_threads() -> object:
    return scheduled(lambda fd, t0, t1: t1.swizzle1d(0, ParallelType.block_x))


@documented("Tried to access out of boundary index 5. total index: 2")
def split_of_no_axis() -> object:
    return scheduled(lambda fd, t0, t1: t1.split(5, 2))


# ---- caches, memory, factoring -------------------------------------------------------------------


@documented("we restrict using cacheAfter on tensors that have no further uses.")
def cache_after_an_output() -> object:
    return scheduled(lambda fd, t0, t1: t1.cache_after())


@documented("cached_uses is not among the use of the TensorView")
def cache_for_a_stranger() -> object:
    def act(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([4], contiguity=True)
        t1 = fd.ops.neg(t0)
        t2 = fd.ops.neg(t1)
        fd.add_output(t2)
        t0.cache_after(cached_uses=[t2.definition()])

    return in_fusion(act)


@documented("its definition is a nullptr and we restrict using cacheBefore on an input.")
def cache_before_an_input() -> object:
    return scheduled(lambda fd, t0, t1: t0.cache_before())


@documented("Caching computed-at tensors is not allowed. Apply caching before computeAt")
def cache_after_inlining() -> object:
    return inlined(lambda t1, t2: t1.cache_after())


@documented("cp.async only takes .ca or .cg. as cache operator")
def streaming_cp_async() -> object:
    return scheduled(lambda fd, t0, t1: t0.cache_after(LoadStoreOpType.cp_async, CacheOp.streaming))


@documented("Only Set and CpAsync take a cache operator.")
def cache_operator_of_a_bulk_copy() -> object:
    return scheduled(lambda fd, t0, t1: t0.cache_after(LoadStoreOpType.tma, CacheOp.all_levels))


@documented("Tried to set an input or output to the fusion to a non-global memory type.")
def output_in_shared_memory() -> object:
    return scheduled(lambda fd, t0, t1: t1.set_memory_type(MemoryType.shared))


@documented("because its definition is not a reduction.")
def rfactor_of_a_negation() -> object:
    return scheduled(lambda fd, t0, t1: t1.rfactor([1]))


# ---- Inlining, loops ahead, and params -----------------------------------------------------------


@documented("Invalid inline position for T")
def inline_deeper_than_possible() -> object:
    def act(fd: FusionDefinition) -> None:
        t1 = fd.ops.neg(fd.define_tensor([8, 8], contiguity=True))
        total = fd.ops.broadcast(fd.ops.sum(t1, [1]), [False, True])
        fd.add_output(fd.ops.mul(t1, total))
        fd.sched.inline_at(t1, 2)

    return in_fusion(act)


def circular(stages: int, prefetch: int) -> object:
    def act(fd: FusionDefinition, t0: TensorView, t1: TensorView) -> None:
        load = t0.cache_after()
        load.set_memory_type(MemoryType.shared)
        load.circular_buffer(stages, prefetch)

    return scheduled(act)


@documented("Unsupported stage number")
def circular_buffer_of_one_stage() -> object:
    return circular(1, 0)


@documented("Invalid prefetch distance")
def circular_buffer_that_prefetches_too_far() -> object:
    return circular(3, 3)


def specialized(registers: tuple[int, int]) -> object:
    def act(fd: FusionDefinition, t0: TensorView, t1: TensorView) -> None:
        load = t0.cache_after(LoadStoreOpType.tma)
        load.set_memory_type(MemoryType.shared)
        load.inline_at(1)
        fd.sched.warp_specialize(load, 3, 2, ParallelType.block_x, registers)

    return scheduled(act)


@documented(
    "The number of registers for setmaxnreg must be between 24 and 256 (inclusive) and be a "
    "multiple of 8."
)
def registers_that_cannot_be_asked_for() -> object:
    return specialized((20, 64))


@documented(
    "The number of registers for async warp group must be <= to the number of registers for the "
    "compute warp groups."
)
def more_registers_for_loading_threads() -> object:
    return specialized((64, 32))


@documented("Strict mapping failed on element: ")
def strictly_unknown_axis() -> object:
    def act(fd: FusionDefinition, t0: TensorView, t1: TensorView) -> None:
        sets = (
            nvf.idm.IdModel(fd.fusion)
            .maybe_build_graph(nvf.IdMappingMode.exact)
            .disjoint_val_sets()
        )
        late = define_tensor([3])
        sets.strict_are_mapped(late.axis(0), t1.axis(0))

    return scheduled(act)


@documented("Selected invalid number of threads for cuda: 4096")
def too_many_threads() -> object:
    return LaunchParams(1, 1, 1, 64, 64, 1)


@documented("Invalid number of blocks in x direction: ")
def too_many_blocks_in_x() -> object:
    return LaunchParams(1 << 31, 1, 1, 1, 1, 1)


@documented("Invalid number of blocks in y direction: 65536")
def too_many_blocks_in_y() -> object:
    return LaunchParams(1, 65536, 1, 1, 1, 1)


@documented("Invalid number of blocks in z direction: 65536")
def too_many_blocks_in_z() -> object:
    return LaunchParams(1, 1, 65536, 1, 1, 1)


@documented(
    "Tried to set bdimx from 32 to 64, but it was already set and new value does not match. "
    "Thread dims all have to be bound to the same value."
)
def another_block_size() -> object:
    params = LaunchParams()
    params.bdimx = 32
    params.bdimx = 64
    return params


@documented("cannot compare as the index type is not defined")
def compare_without_index_types() -> object:
    return CompileParams() == CompileParams()


@documented.cases
def test_gist(gist: str, kind: type[Exception], provoke: Callable[[], object]) -> None:
    check(gist, kind, provoke)

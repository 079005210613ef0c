"""The way in which a loop of a kernel runs its body, and which statements wait."""

from __future__ import annotations

import pytest

from nvfuser_direct import (
    AsyncWait,
    BlockSync,
    Expr,
    ForLoop,
    FusionDefinition,
    GridSync,
    Kernel,
    LaunchParams,
    LoadStoreOpType,
    LoopKind,
    MemoryType,
    ParallelType,
)


def statements(scope: list[Expr]) -> list[Expr]:
    found: list[Expr] = []
    for node in scope:
        found.append(node)
        for body in ("body", "then_body", "else_body"):
            found += statements(getattr(node, body, []))
    return found


def lowered(fd: FusionDefinition, target: str = "cuda") -> Kernel:
    return fd.fusion.lower(target=target)


def copied(inner: ParallelType) -> FusionDefinition:
    """A copy of 64 x 4 elements whose inner axis is bound to `inner`."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64, 4], contiguity=True)
        y = fd.ops.set(x)
        fd.add_output(y)
        y.axis(0).parallelize(ParallelType.block_x)
        y.axis(1).parallelize(inner)
    return fd


@pytest.mark.parametrize(
    ("inner", "kind"),
    [
        (ParallelType.serial, LoopKind.Serial),
        (ParallelType.vectorize, LoopKind.Vector),
        (ParallelType.unroll, LoopKind.Unrolled),
        (ParallelType.unswitch, LoopKind.Unswitched),
    ],
)
def test_a_loop_has_the_kind_of_its_axis(inner, kind) -> None:
    records = copied(inner).fusion.lower(target="cuda", record_passes=True)
    loops = [s for s in statements(records.body) if isinstance(s, ForLoop)]
    assert kind in [loop.loop_kind for loop in loops]


def test_a_loop_that_is_bound_to_threads_is_the_index_of_the_thread() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64])
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(0).parallelize(ParallelType.block_x)
    assert "FOR threadIdx.x in" in pass_text(fd, "build_loop_nests")
    assert not [s for s in statements(lowered(fd).body) if isinstance(s, ForLoop)]


def pass_text(fd: FusionDefinition, name: str) -> str:
    kernel = fd.fusion.lower(target="cuda", record_passes=True)
    return next(record.text for record in kernel.passes if record.name == name)


def test_a_loop_over_registers_is_unrolled() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8])
        y = fd.ops.neg(x)
        z = fd.ops.exp(y)
        fd.add_output(z)
    loops = [s for s in statements(lowered(fd).body) if isinstance(s, ForLoop)]
    assert [loop.loop_kind for loop in loops] == [LoopKind.Unrolled] * 2
    assert [loop.unroll_count for loop in loops] == [8, 8]


def reversed_in(memory: MemoryType, bound: ParallelType) -> FusionDefinition:
    """Each thread (block) reads what another one stored."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8])
        y = fd.ops.set(x)
        z = fd.ops.permute(y, [1, 0])
        fd.add_output(z)
        y.set_memory_type(memory)
        for tensor in (y, z):
            tensor.axis(0).parallelize(bound)
    return fd


def test_threads_wait_for_their_block_and_blocks_for_the_grid() -> None:
    of_threads = statements(lowered(reversed_in(MemoryType.shared, ParallelType.block_x)).body)
    of_blocks = statements(lowered(reversed_in(MemoryType.Global, ParallelType.grid_x)).body)
    assert [type(s) for s in of_threads if isinstance(s, BlockSync | GridSync)] == [BlockSync]
    assert [type(s) for s in of_blocks if isinstance(s, BlockSync | GridSync)] == [GridSync]


def test_only_a_target_with_asynchronous_copies_waits_for_them() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([256])
        y = fd.ops.neg(x)
        fd.add_output(y)
        cache = x.cache_after(LoadStoreOpType.cp_async)
        cache.set_memory_type(MemoryType.shared)
        for tensor in (cache, y):
            tensor.axis(0).parallelize(ParallelType.block_x)
    waits = {
        target: [s for s in statements(lowered(fd, target).body) if isinstance(s, AsyncWait)]
        for target in ("cuda", "cpu")
    }
    assert len(waits["cuda"]) == 1
    assert waits["cpu"] == []


def test_launch_parameters_print_no_clusters() -> None:
    text = str(LaunchParams(1, 2, 3, 4, 5, 6))
    assert text == (
        "Launch Parameters: BlockDim.x = 4, BlockDim.y = 5, BlockDim.z = 6, GridDim.x = 1, "
        "GridDim.y = 2, GridDim.z = 3, Smem Size = 0\n"
    )

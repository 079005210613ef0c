"""Helpers for tests of circular buffers: fusions that load ahead, and a look at their loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hard_case import BX, SHARED, TX, VECTORIZE, par, statements

from nvfuser_direct import (
    AsyncCommit,
    AsyncWait,
    BlockSync,
    CircularBufferLoopStage,
    ForLoop,
    FusionDefinition,
    LoadStoreOp,
    LoadStoreOpType,
)

if TYPE_CHECKING:
    from nvfuser_direct import Expr, Kernel, TensorView

SET, CP_ASYNC = LoadStoreOpType.set, LoadStoreOpType.cp_async
PROLOG, MAIN, EPILOG = (
    CircularBufferLoopStage.Prolog,
    CircularBufferLoopStage.Main,
    CircularBufferLoopStage.Epilog,
)

# Stages and prefetch distance: the default, none, and every distance to the overwrite.
STRUCTURES = [(2, -1), (2, 0), (3, -1), (3, 1), (4, 2), (4, 0), (5, 1)]
EXTENTS = (0, 1, 2, 3, 4, 5, 7, 33)  # of a buffered loop: none, few, as many as stages, more


def exchange(
    stages: int, prefetch: int, op: LoadStoreOpType = SET, vector: int = 1, rows: int = -1
) -> tuple[FusionDefinition, TensorView]:
    """Rows through a shared buffer whose elements other threads read; returns (fd, buffer)."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([rows, 64], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        a = x.cache_after(op)
        a.set_memory_type(SHARED)
        a.split(1, vector)
        a.axis(2).parallelize(VECTORIZE)
        a.axis(1).parallelize(TX)
        t.split(1, 16)
        par(t, None, None, TX)
        a.inline_at(1)
        a.circular_buffer(stages, prefetch)
    return fd, a


def tiles(
    stages: int, prefetch: int, op: LoadStoreOpType = SET, vector: int = 1
) -> tuple[FusionDefinition, TensorView]:
    """Sums of rows whose tiles of 32 threads are loaded ahead; returns (fd, buffer)."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [1])
        fd.add_output(total)
        a = x.cache_after(op)
        a.set_memory_type(SHARED)
        total.split(1, vector)
        total.split(1, 32)
        partial = total.rfactor([1, 3])
        fd.sched.transform_like(partial)
        par(partial, BX, None, TX)
        fd.sched.parallelize_like(partial)
        a.axis(-1).parallelize(VECTORIZE)
        fd.sched.inline_at(partial, 2, selected_tensors=[a])
        fd.sched.inline_most([partial])
        a.circular_buffer(stages, prefetch)
    return fd, a


def loops(kernel: Kernel, stage: CircularBufferLoopStage) -> list[ForLoop]:
    """The parts of circular loops that are such a stage."""
    return [
        s for s in statements(kernel) if isinstance(s, ForLoop) and s.circular_buffer_stage == stage
    ]


def is_load(statement: Expr, tensor: TensorView) -> bool:
    """Whether a statement writes an element of a buffer."""
    return isinstance(statement, LoadStoreOp) and statement.out.view().name() == tensor.name()


def order(loop: ForLoop | Kernel, tensor: TensorView) -> str:
    """The statements in the body of a loop: l(oad), r(ead), b(arrier), c(ommit), w(ait)."""
    text = ""
    for statement in statements(loop):
        if is_load(statement, tensor):
            text += "l"
        elif isinstance(statement, BlockSync):
            text += "b"
        elif isinstance(statement, AsyncCommit):
            text += "c"
        elif isinstance(statement, AsyncWait):
            text += f"w{statement.keep_stages}"
        elif any(
            getattr(v, "view", None) and v.view().name() == tensor.name()
            for v in statement.inputs()
        ):
            text += "r"
    return text

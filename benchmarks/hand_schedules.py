"""A schedule of primitives as long as they get: the gradients of a layer norm in one kernel.

Rows are read twice ahead of their use. A block keeps the sums over its rows in registers, stores
them, and after a barrier over the grid all blocks add up columns.
"""

from __future__ import annotations

from nvfuser_direct import DataType, FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

BF16, FLOAT = DataType.BFloat16, DataType.Float
LANES, WARPS, BLOCKS, STAGES, UNROLL = 8, 8, 264, 2, 11


class BackwardNorm:
    """`dx, dw, db` of a layer norm over rows of `columns`: `fd` has the definition with its
    schedule."""

    def __init__(self, rows: int, columns: int) -> None:
        with FusionDefinition() as self.fd:
            self._define(rows, columns)
            self._schedule()

    def _define(self, rows: int, columns: int) -> None:
        fd, ops = self.fd, self.fd.ops
        self.x, self.gradient = (
            fd.define_tensor([rows, columns], contiguity=True, dtype=BF16) for _ in range(2)
        )
        self.weight = fd.define_tensor([columns], contiguity=True, dtype=BF16)
        scale = 1.0 / columns

        def column(t):
            return ops.broadcast(t, [False, True])

        def wide():
            return ops.cast(self.x, FLOAT)

        def gradient():
            return ops.cast(self.gradient, FLOAT)

        def weighted():
            weight = ops.cast(ops.broadcast(self.weight, [True, False]), FLOAT)
            return ops.mul(gradient(), weight)

        first = [ops.sum(wide(), [1]), ops.sum(weighted(), [1])]
        mean, mean_weighted = (ops.mul(t, scale) for t in first)

        def centred():
            return ops.sub(wide(), column(mean))

        once = centred()
        second = [ops.sum(ops.mul(once, once), [1]), ops.sum(ops.mul(weighted(), centred()), [1])]
        rstd = ops.rsqrt(ops.add(ops.mul(second[0], scale), 1e-5))
        slope = ops.mul(ops.mul(ops.mul(second[1], scale), rstd), rstd)
        part = ops.sub(weighted(), column(mean_weighted))
        part = ops.sub(part, ops.mul(centred(), column(slope)))
        self.dx = ops.cast(ops.mul(column(rstd), part), BF16)
        normalized = ops.mul(centred(), column(rstd))
        self.columns = [ops.sum(ops.mul(gradient(), normalized), [0]), ops.sum(gradient(), [0])]
        self.outputs = [ops.cast(t, BF16) for t in self.columns]
        for output in (self.dx, *self.outputs):
            fd.add_output(output)
        self.groups = [first, second]

    def _schedule(self) -> None:
        sched = self.fd.sched
        weight = self.weight.cache_after()
        tiles = [t.cache_after(LoadStoreOpType.cp_async) for t in (self.x, self.gradient)]
        for tile in tiles:
            tile.set_memory_type(MemoryType.shared)
        rows = [tile.cache_after() for tile in tiles]
        self.dx.cache_before()
        partial = [t for group in self.groups for t in self._of_rows(group)]
        second_stage = self._of_blocks()
        reference = partial[0]
        later = {t for stage in second_stage for t in stage if t not in stage[:1]}
        now = [
            t
            for t in self.fd.fusion.tensors()
            if t not in later and t not in self.outputs and not t.is_fusion_input()
        ]
        sched.transform_like(reference, selected_tensors=now)
        reference.axis(1).parallelize(ParallelType.grid_x)
        reference.axis(3).parallelize(ParallelType.block_y)
        reference.axis(4).parallelize(ParallelType.block_x)
        sched.parallelize_like(reference, selected_tensors=now)
        for tensor in (*rows, weight, self.dx, *tiles):
            tensor.axis(-1).parallelize(ParallelType.vectorize)
        loads = self._bind_columns(second_stage)
        sched.group_reductions(self.columns)
        sched.inline_at(reference, 2, selected_tensors=tiles)
        for column, load in loads:
            sched.inline_at(column, 2, selected_tensors=[load])
        kept = [*tiles, *(load for _, load in loads)]
        sched.inline_most([t for t in self.fd.fusion.tensors() if t not in kept])
        for tile in tiles:
            tile.circular_buffer(STAGES, STAGES - 1)

    def _of_rows(self, group):
        """[R, C] -> [turns, blocks, batches, warps, 32, lanes]"""
        for total in group:
            total.split(1, LANES)
            total.split(1, 32)
            total.split(1, WARPS)
            total.split(0, BLOCKS)
        partial = [total.rfactor([2, 5]) for total in group]
        self.fd.sched.group_reductions(group)
        return partial

    def _of_blocks(self):
        """For each sum of columns: the stored, the loaded and the added tensor."""
        stages = []
        for total in self.columns:
            total.split(0, BLOCKS)
            stored = total.rfactor([0]).cache_after()
            stages.append((stored, stored.cache_after(), total))
        return stages

    def _bind_columns(self, stages):
        """[blocks, C] -> [C / 32, turns, unrolled, warps, 32]"""
        loads = []
        for (stored, load, total), output in zip(stages, self.outputs, strict=True):
            stored.set_memory_type(getattr(MemoryType, "global"))
            stored.split(-1, 4)
            stored.axis(-1).parallelize(ParallelType.vectorize)
            total.split(1, 32)
            total.split(0, WARPS)
            total.split(0, UNROLL)
            total.reorder({3: 0})
            column = total.rfactor([1, 2])
            self.fd.sched.transform_like(column, selected_tensors=[load, output])
            for tensor in (column, total, load, output):
                tensor.axis(0).parallelize(ParallelType.grid_x)
                tensor.axis(-1).parallelize(ParallelType.block_x)
            for tensor in (column, load):
                tensor.axis(3).parallelize(ParallelType.block_y)
                tensor.axis(2).parallelize(ParallelType.unroll)
            total.axis(1).parallelize(ParallelType.block_y)
            loads.append((column, load))
        return loads

"""Calls that copy runs of neighbours in global memory, which need no description of the tensor.

runs      pieces of rows, loaded and stored by bulk copies, and updates of inputs
columns, rows, clusters   as of tiles, with runs in place of boxes
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from box_calls import BYTES, UNIT
from program_builder import need
from tile_calls import TileCalls

if TYPE_CHECKING:
    from nvfuser_direct import TensorView


class RunCalls(TileCalls):
    """Chooses one kind of schedule, and its numbers."""

    load_op = "CpAsyncBulk"

    def kinds(self, *, reduces: bool) -> list[str]:
        if reduces:
            return ["rows", "clusters"]
        return ["runs", "runs", "runs", "runs", "columns", "rows"]

    def is_boxable(self, source: TensorView) -> bool:
        """A load of an input that is updated is refused: now and then."""
        aliases = [self.lines.fusion.alias_of(out) for out in self.lines.fusion.outputs()]
        is_updated = any(alias is not None and alias[0] is source for alias in aliases)
        return super().is_boxable(source) and (not is_updated or self.chance(0.05))

    def length_of_runs(self) -> int:
        """Elements: those of a row, or a part of them; now and then others."""
        tensors, rank = self.lines.fusion.tensors(), self.fusion_rank
        rows = [t for t in tensors if len(t.get_logical_domain()) == rank]
        row = rows[0].get_logical_domain()[-1].extent()
        narrow = min(BYTES.get(t.dtype(), UNIT) for t in tensors)
        whole = row.value() if row.is_const() else 8
        lengths = [n for n in (8, 16, 32, 64, 128, 256, whole) if whole % n == 0]
        fitting = [n for n in lengths if n * narrow % UNIT == 0]
        return self.one_of(fitting if fitting and self.chance(0.95) else [4, 8, 12, whole])

    def width_of_columns(self) -> int:
        return self.length_of_runs()

    def boxes_of_rows(self, blocks: int) -> None:
        """Runs of a row, in the loop of the block."""
        length = self.length_of_runs()
        for box in self.boxes:
            name = self.name(box)
            self.merge_outer(box, 2)
            self.call(f"{name}.split(1, {length})")
            self.call(f"{name}.split(0, {blocks}, inner_split=False)")
            self.bind(box, 0, "grid_x")
            self.bind_from(box, 3)

    def store_runs_of_outputs(self) -> None:
        """Copies of outputs, and updates of inputs, from shared memory."""
        for out in self.lines.fusion.outputs():
            alias = self.lines.fusion.alias_of(out)
            if alias is not None:
                self.update(out, alias[0])
            elif not out.uses() and out.ndims() == self.fusion_rank and self.chance(0.5):
                name = self.assign(f"{self.name(out)}.cache_before(LoadStoreOpType.CpAsyncBulk)")
                self.call(f"{name}.set_memory_type(MemoryType.shared)")
                self.stored.append(out)

    def update(self, out: TensorView, updated: TensorView) -> None:
        """The tensor that is combined with the input lies in shared memory: itself, or a copy."""
        if out.uses() or out.has_reduction() or not self.chance(0.9):
            return
        operand = next(t for t in out.definition().inputs() if t is not updated)
        if operand.is_fusion_output() or len(operand.uses()) > 1 or self.chance(0.3):
            reader = f"{self.name(out)}.definition()"
            name = self.assign(f"{self.name(operand)}.cache_after(cached_uses=[{reader}])")
        else:
            name = self.name(operand)
        self.call(f"{name}.set_memory_type(MemoryType.shared)")
        self.stored.append(out)

    def schedule_runs(self) -> None:
        """[.., rows, columns] -> [runs, run], of the output and of copies."""
        self.load_boxes_of_inputs(0.7)
        self.store_runs_of_outputs()
        self.cache_some()
        reference = self.one_of(self.lines.fusion.outputs())
        need(reference.ndims() == self.fusion_rank)
        length = self.length_of_runs()
        for tensor in (*self.boxes, *self.stored):
            self.split_runs(tensor, length)
            self.bind_from(tensor, 1)
        staged = [self.staged_for(out) for out in self.stored]
        for tensor in staged:
            self.split_runs(tensor, length)
            name = self.name(tensor)
            self.call(f"{name}.set_allocation_domain({name}.get_loop_domain(), True)")
        if any(reference is out for out in self.stored):
            reference = self.staged_for(reference)
        else:
            self.split_runs(reference, length)
        self.stray()
        self.call(f"{self.name(reference)}.split(1, {self.one_of([8, 32, 32, 64])})")
        self.bind(reference, 2, "block_x")
        computed = [t for t in self.others() if all(t is not out for out in self.stored)]
        self.follow(reference, computed)
        self.inline_boxes(reference, 1)
        for out in self.stored:
            self.call(f"fd.sched.inline_at({self.name(out)}, 1, True)")
        self.call(f"fd.sched.inline_most({self.names(computed)})")

    def staged_for(self, out: TensorView) -> TensorView:
        """The tensor in shared memory that is stored."""
        inputs = out.definition().inputs()
        return next(t for t in inputs if not t.is_fusion_input())

    def split_runs(self, tensor: TensorView, length: int) -> None:
        self.call(f"{self.name(tensor)}.split({tensor.ndims() - 1}, {length})")
        self.merge_outer(tensor, 2)
        self.bind(tensor, 0, "grid_x")

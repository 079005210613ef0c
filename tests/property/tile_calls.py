"""Calls that schedule a fusion of tiles as Hopper's examples do: whole schedules, mostly legal.

    tiles     boxes of some axes, swizzled or not, loaded and now and then stored by bulk copies
    columns   tiles of columns that are loaded ahead, in a loop of each row
    rows      rows that are loaded ahead, in a loop of each block, by all threads or by some that
              only load; reductions of the rows
    clusters  rows that the blocks of a cluster share

A few calls that fit nowhere in particular are strewn between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from box_calls import BYTES, LARGEST, LINE, UNIT
from program_builder import need
from schedule_calls import ANYWHERE, ScheduleCalls

from nvfuser_direct import WelfordOp

if TYPE_CHECKING:
    from nvfuser_direct import TensorView

WARPGROUP = 128  # threads
STRAY_RATE = 0.2  # of schedules with other calls in between


class TileCalls(ScheduleCalls):
    """Chooses one kind of schedule, and its numbers."""

    load_op = "tma"

    def choose(self) -> None:
        self.boxes: list[TensorView] = []
        self.stored: list[TensorView] = []  # outputs that are boxes
        self.has_strays = self.chance(STRAY_RATE)
        self.fusion_rank = max(t.ndims() for t in self.lines.fusion.tensors())
        reduces = bool(self.whole_rows(reduced=True))
        kind = self.one_of(self.kinds(reduces=reduces))
        self.attempt(getattr(self, f"schedule_{kind}"))
        if self.of_hints.random() < 0.1:
            self.attempt(self.hint_caches)

    def kinds(self, *, reduces: bool) -> list[str]:
        return ["rows", "clusters"] if reduces else ["tiles", "tiles", "columns", "rows"]

    def stray(self) -> None:
        if self.has_strays and self.chance(0.3):
            self.attempt(getattr(self, self.one_of(ANYWHERE)))

    # -- tensors --

    def whole_rows(self, *, reduced: bool) -> list[TensorView]:
        """Computed tensors that have all axes, of which the last one is reduced or not."""
        return [
            t
            for t in self.computed()
            if t.ndims() == self.fusion_rank and t.axis(-1).is_reduction() == reduced
        ]

    def load_boxes_of_inputs(self, rate: float) -> None:
        """Copies of inputs in shared memory, and copies of those in registers."""
        for source in list(self.lines.fusion.inputs()):
            if not self.is_boxable(source) or not self.chance(rate):
                continue
            name = self.assign(f"{self.name(source)}.cache_after(LoadStoreOpType.{self.load_op})")
            self.call(f"{name}.set_memory_type(MemoryType.shared)")
            self.boxes.append(self.lines.variables[name])
            if self.chance(0.4):
                self.assign(f"{name}.cache_after()")

    def is_boxable(self, source: TensorView) -> bool:
        return (
            source.ndims() == self.fusion_rank
            and bool(source.uses())
            and source.dtype() in BYTES
            and not any(axis.is_broadcast() for axis in source.get_logical_domain()[-2:])
        )

    def store_boxes_of_outputs(self, rate: float) -> None:
        for out in self.lines.fusion.outputs():
            is_plain = not out.uses() and out.definition() is not None
            if is_plain and out.dtype() in BYTES and out.ndims() == 2 and self.chance(rate):
                name = self.assign(f"{self.name(out)}.cache_before(LoadStoreOpType.tma)")
                self.call(f"{name}.set_memory_type(MemoryType.shared)")
                self.stored.append(out)

    def others(self) -> list[TensorView]:
        """All that threads compute."""
        return [t for t in self.computed() if all(t is not box for box in self.boxes)]

    def cache_some(self) -> None:
        for out in self.lines.fusion.outputs():
            if self.chance(0.3) and all(out is not stored for stored in self.stored):
                self.call(f"{self.lines.new_name()} = {self.name(out)}.cache_before()")

    def hint_caches(self) -> None:
        """Bulk copies of a box, or another copy between memory and threads."""
        tensors = [*self.boxes, *self.stored] or self.copies()
        hint = self.one_of(["evict_first", "evict_last", "no_allocate"])
        self.call(f"{self.name(self.one_of(tensors))}.set_cache_hint(CacheHint.{hint})")

    # -- calls on several tensors --

    def follow(self, reference: TensorView, tensors: list[TensorView]) -> None:
        """Loops and bindings of all others."""
        names = self.names(tensors)
        self.call(f"fd.sched.transform_like({self.name(reference)}, {names})")
        self.stray()
        self.call(f"fd.sched.parallelize_like({self.name(reference)}, -1, {names})")

    def merge_outer(self, tensor: TensorView, until: int) -> None:
        """[.., rows, columns] -> [rows, columns]"""
        while tensor.ndims() > until:
            self.call(f"{self.name(tensor)}.merge(0, 1)")

    def bind_from(self, tensor: TensorView, first: int) -> None:
        for axis in range(first, tensor.ndims()):
            self.bind(tensor, axis, "tma")

    def inline_boxes(self, reader: TensorView, position: int) -> None:
        if self.boxes:
            names = self.names(self.boxes)
            self.call(f"fd.sched.inline_at({self.name(reader)}, {position}, True, {names})")

    def load_in_stages(self, threads: str, size: int) -> None:
        """The same structure for all boxes of the loop; now and then another one. `size`: of the
        threads that compute, of which whole warpgroups can share registers."""
        register_rate = 0.5 if size % WARPGROUP == 0 else 0.03
        stages = self.random.randint(2, 4)
        prefetch = self.random.randint(1, stages - 1)
        kind = self.random.random()
        on = self.one_of([threads, threads, "block_y", "block_z"])
        for box in self.boxes:
            if self.chance(0.03):
                prefetch = self.random.randint(-stages, stages)
            name = self.name(box)
            if kind < 0.5:
                registers = ", (24, 64)" if self.chance(register_rate) else ""
                self.call(
                    f"fd.sched.warp_specialize({name}, {stages}, {prefetch}, "
                    f"ParallelType.{on}{registers})"
                )
            elif kind < 0.75:
                pipelined = f", Pipelined(uses_mbarrier_for_war={self.chance(0.7)})"
                self.call(f"{name}.circular_buffer({stages}, {prefetch}{pipelined})")
            else:
                self.call(f"{name}.circular_buffer({stages}, {prefetch})")

    # -- swizzles --

    def swizzle_tile(self, box: TensorView, row: int, width: int) -> None:
        """[.., rows, width] -> [.., lines, rows of a line, pieces, piece], pieces within lines."""
        pieces, name = width // UNIT, self.name(box)
        self.call(f"{name}.split({row + 1}, {UNIT // BYTES[box.dtype()]})")
        if LINE // width > 1:
            self.call(f"{name}.split({row}, {LINE // width})")
        self.call(f"{name}.split({row}, {pieces})")
        self.call(f"{name}.swizzle({row + 1}, {box.ndims() - 2})")

    # -- kinds --

    def schedule_tiles(self) -> None:
        """[.., rows, columns] -> [tiles, rows, columns], of the output and of boxes."""
        self.load_boxes_of_inputs(0.8)
        self.store_boxes_of_outputs(0.35)
        self.cache_some()
        reference = self.one_of(self.lines.fusion.outputs())
        need(reference.ndims() == self.fusion_rank)
        is_turned = self.is_behind_turn(reference)
        narrow = min((BYTES[box.dtype()] for box in self.boxes), default=4)
        width = self.one_of([2 * UNIT, 4 * UNIT, LINE, LINE])
        columns, rows = width // narrow, self.one_of([8, 16, 32, 32])
        sizes = [columns, rows] if is_turned else [rows, columns]
        for box in self.boxes:
            self.tile(box, [rows, columns], turned=is_turned)
            first = 1
            if self.chance(0.3):
                first = self.load_in_steps(box)
            elif BYTES[box.dtype()] == narrow and self.chance(0.6):
                self.swizzle_tile(box, 1, width)
            self.bind(box, 0, "grid_x")
            self.bind_from(box, first)
        for out in self.stored:
            staged = out.definition().inputs()[0]
            for tensor in (out, staged):
                self.tile(tensor, sizes, turned=False)
            self.bind(out, 0, "grid_x")
            self.bind_from(out, 1)
            name = self.name(staged)
            self.call(f"{name}.set_allocation_domain({name}.get_loop_domain(), True)")
        if any(reference is out for out in self.stored):
            reference = reference.definition().inputs()[0]
        else:
            self.tile(reference, sizes, turned=False)
        self.stray()
        name = self.name(reference)
        self.call(f"{name}.merge(1, 2)")
        if self.chance(0.3):
            self.call(f"{name}.split(1, {self.one_of([2, 4])})")
            self.call(
                f"{name}.axis(2).parallelize(ParallelType.{self.one_of(['unroll', 'serial'])})"
            )
        self.call(f"{name}.split(1, {self.one_of([32, 32, 64, 128])})")
        self.bind(reference, 0, "grid_x")
        self.bind(reference, 2, "block_x")
        computed = [t for t in self.others() if all(t is not out for out in self.stored)]
        self.follow(reference, computed)
        self.inline_boxes(reference, 1)
        for out in self.stored:
            self.call(f"fd.sched.inline_at({self.name(out)}, 1, True)")
        self.call(f"fd.sched.inline_most({self.names(computed)})")

    def load_in_steps(self, box: TensorView) -> int:
        """[tiles, rows, columns] -> [tiles, steps, rows, columns]: a box of every second row, say.
        Gives where the box begins."""
        name = self.name(box)
        need(self.call(f"{name}.split(1, {self.one_of([2, 2, 4])})"))
        need(self.call(f"{name}.reorder({{1: 2, 2: 1}})"))
        return 2

    def is_behind_turn(self, tensor: TensorView) -> bool:
        """Whether a transpose leads to it."""
        while tensor.definition() is not None:
            if len(tensor.get_root_domain()) > 0:
                return True
            operands = [t for t in tensor.definition().inputs() if hasattr(t, "axis")]
            if not operands:
                return False
            tensor = operands[0]
        return False

    def tile(self, tensor: TensorView, sizes: list[int], *, turned: bool) -> None:
        """[.., n0, n1] -> [tiles, box0, box1]; tiles in the order of the transpose, if `turned`."""
        name, rank = self.name(tensor), tensor.ndims()
        self.call(f"{name}.split({rank - 1}, {sizes[1]})")
        self.call(f"{name}.split({rank - 2}, {sizes[0]})")
        first, second = (rank, rank - 2) if turned else (rank - 2, rank)
        order = [*range(rank - 2), first, second, rank - 1, rank + 1]
        self.call(f"{name}.reorder({ {old: new for new, old in enumerate(order)} })")
        self.merge_outer(tensor, 3)

    def width_of_columns(self) -> int:
        return self.one_of([32, 64, 64])

    def schedule_columns(self) -> None:
        """[.., rows, columns] -> [rows, tiles of columns, tile]: a loop over the tiles."""
        self.load_boxes_of_inputs(0.9)
        need(len(self.boxes) > 0)
        self.cache_some()
        reference = self.one_of(self.lines.fusion.outputs())
        need(reference.ndims() == self.fusion_rank)
        tile = self.width_of_columns()
        others = self.others()
        for tensor in (*self.boxes, reference):
            self.merge_outer(tensor, 2)
            self.call(f"{self.name(tensor)}.split(1, {tile})")
            self.bind(tensor, 0, "grid_x")
        for box in self.boxes:
            self.bind_from(box, 2)
        threads = self.one_of([8, 16, 32])
        self.call(f"{self.name(reference)}.split(2, {threads})")
        self.bind(reference, 3, "block_x")
        self.follow(reference, others)
        self.inline_boxes(reference, 2)
        self.call(f"fd.sched.inline_most({self.names(others)})")
        self.stray()
        self.load_in_stages("block_x", threads)

    def reduce_in_parts(self, reference: TensorView, axes: list[int]) -> TensorView:
        """Sums of a thread of their own, of a tensor that is reduced."""
        return self.partial_of(reference, axes) if reference.has_reduction() else reference

    def partial_of(self, tensor: TensorView, axes: list[int]) -> TensorView:
        definition = tensor.definition()
        name = self.lines.new_name()
        if isinstance(definition, WelfordOp):
            siblings = definition.outputs()
            names = ", ".join(f"tv{int(name[2:]) + i}" for i in range(len(siblings)))
            which = next(i for i, t in enumerate(siblings) if t is tensor)
            need(
                self.call(f"{names} = {self.name(tensor)}.rfactor({axes}, {self.names(siblings)})")
            )
            return self.lines.variables[f"tv{int(name[2:]) + which}"]
        need(self.call(f"{name} = {self.name(tensor)}.rfactor({axes})"))
        return self.lines.variables[name]

    def schedule_rows(self) -> None:
        """[.., rows, columns] -> [blocks, rows of a block, columns of a thread, threads], and
        vectors behind the threads."""
        self.load_boxes_of_inputs(0.9)
        self.cache_some()
        candidates = self.whole_rows(reduced=True) or self.whole_rows(reduced=False)
        reference = self.one_of([t for t in candidates if all(t is not b for b in self.boxes)])
        blocks, threads = self.one_of([1, 2, 3, 4]), self.one_of([32, 32, 64, 128])
        widest = max(BYTES.get(t.dtype(), UNIT) for t in self.lines.fusion.tensors())
        width = self.one_of([n for n in (1, 1, 2, 4, 8) if n * widest <= UNIT])
        name = self.name(reference)
        self.merge_outer(reference, 2)
        if width > 1:
            self.call(f"{name}.split(1, {width})")
        self.call(f"{name}.split(1, {threads})")
        self.call(f"{name}.split(0, {blocks}, inner_split=False)")
        partial = self.reduce_in_parts(reference, [2] if width == 1 else [2, 4])
        self.bind(partial, 0, "grid_x")
        self.bind(partial, 3, "block_x")
        if self.chance(0.2):
            self.call(f"{self.name(partial)}.axis(3).pad_to_multiple_of_warp()")
        self.follow(partial, self.others())
        if width > 1:
            self.vectorize_copies()
        self.boxes_of_rows(blocks)
        self.inline_boxes(partial, 2)
        self.stray()
        self.call(f"fd.sched.inline_most({self.names(self.others())})")
        self.load_in_stages("block_x", threads)
        if self.chance(0.5):
            self.attempt(self.group_reductions)

    def vectorize_copies(self) -> None:
        """Those from and to memory."""
        boxes = self.boxes
        for copy in self.copies():
            source = copy.definition().inputs()[0]
            of_memory = source.is_fusion_input() or any(source is box for box in boxes)
            is_box = any(copy is box for box in boxes)
            if copy.ndims() == 5 and not is_box and (of_memory or copy.is_fusion_output()):
                self.bind(copy, 4, "vectorize")

    def boxes_of_rows(self, blocks: int) -> None:
        """Boxes of a row, one or several rows high, in the loop of the block."""
        for box in self.boxes:
            name = self.name(box)
            self.merge_outer(box, 2)
            extent = box.axis(1).extent()
            size = BYTES[box.dtype()]
            most = LARGEST if extent.is_const() else LINE // size
            unit = LINE if self.chance(0.8) else UNIT  # several boxes begin at lines
            fits = extent.is_const() and extent.value() <= most
            if fits and extent.value() * size % unit == 0 and self.chance(0.5):
                self.call(f"{name}.split(1, {extent.value()})")
            else:
                self.call(f"{name}.split(1, {self.one_of([LINE // size, 2 * LINE // size])})")
            self.call(f"{name}.split(0, {blocks}, inner_split=False)")
            self.bind(box, 0, "grid_x")
            self.bind_from(box, 3)

    def schedule_clusters(self) -> None:
        """[.., rows, columns] -> [rows, blocks of a cluster, columns of a thread, threads]."""
        self.load_boxes_of_inputs(0.3)
        self.cache_some()
        reference = self.one_of(self.whole_rows(reduced=True))
        blocks, threads = self.one_of([2, 2, 4, 8]), self.one_of([16, 32, 32, 64])
        clusters = self.one_of([0, 0, 1, 2, 3])  # that loop over rows; 0: one for each row
        name, first = self.name(reference), 1 if clusters == 0 else 2
        self.merge_outer(reference, 2)
        self.call(f"{name}.split(1, {threads})")
        self.call(f"{name}.split(1, {blocks}, inner_split=False)")
        if clusters:
            self.call(f"{name}.split(0, {clusters}, inner_split=False)")
        partial = self.reduce_in_parts(reference, [first + 1])
        self.bind(partial, 0, "grid_y")
        self.bind(partial, first, "grid_x")
        self.call(f"{self.name(partial)}.axis({first}).set_clustered_blocks()")
        self.bind(partial, first + 2, "block_x")
        if self.chance(0.3):
            self.call(f"{self.name(partial)}.axis({first + 2}).pad_to_multiple_of_warp()")
        self.follow(partial, self.others())
        for box in self.boxes:
            self.parts_of_rows(box, clusters, blocks, threads)
        self.inline_boxes(partial, first + 1)
        self.stray()
        self.call(f"fd.sched.inline_most({self.names(self.others())})")
        if clusters and self.chance(0.5):
            self.load_in_stages("block_x", threads)
        if self.chance(0.5):
            self.attempt(self.group_reductions)

    def parts_of_rows(self, box: TensorView, clusters: int, blocks: int, threads: int) -> None:
        """The part of a row that a block of the cluster reduces."""
        name = self.name(box)
        self.merge_outer(box, 2)
        self.call(f"{name}.split(1, {threads})")
        self.call(f"{name}.split(1, {blocks}, inner_split=False)")
        if clusters:
            self.call(f"{name}.split(0, {clusters}, inner_split=False)")
        self.bind(box, 0, "grid_y")
        axis = 1 if clusters == 0 else 2
        self.bind(box, axis, "grid_x")
        self.call(f"{name}.axis({axis}).set_clustered_blocks()")
        self.bind_from(box, axis + 2)

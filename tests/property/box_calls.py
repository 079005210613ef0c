"""Random calls that load boxes by bulk copies: often legal ones, in all forms that rules allow.

They draw numbers of their own: programs without boxes stay what they were.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from program_builder import need

from nvfuser_direct import DataType, LoadStoreOp, LoadStoreOpType

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from schedule_scripts import Lines

    from nvfuser_direct import TensorView

BYTES = {
    DataType.Half: 2, DataType.BFloat16: 2, DataType.Float: 4, DataType.Double: 8,
    DataType.Int: 8, DataType.Int32: 4, DataType.UInt64: 8, DataType.Short: 2, DataType.Char: 1,
    DataType.Bool: 1, DataType.Float8_e4m3fn: 1, DataType.Float8_e5m2: 1,
}  # fmt: skip
UNIT = 16  # bytes that are copied at least, and pieces of a swizzle
LINE = 128  # bytes of all banks: where boxes may begin, and what pieces are swizzled in
LARGEST = 256  # elements of a box along an axis
BULK = (LoadStoreOpType.tma, LoadStoreOpType.CpAsyncBulk)


def is_bulk(tensor: TensorView, *kinds: LoadStoreOpType) -> bool:
    """Boxes that one thread copies at once, of these kinds or any."""
    definition = tensor.definition()
    return isinstance(definition, LoadStoreOp) and definition.op in (kinds or BULK)


class BoxCalls:
    """Chooses boxes of inputs, and how they are loaded ahead."""

    if TYPE_CHECKING:
        lines: Lines
        of_boxes: random.Random
        is_symbolic: bool

        def assign(self, expression: str) -> str: ...
        def bind(self, tensor: TensorView, axis: int, kind: str) -> None: ...
        def call(self, line: str) -> bool: ...
        def computed(self) -> list[TensorView]: ...
        def name(self, tensor: TensorView) -> str: ...

    def with_boxes(self, steps: Sequence[str]) -> list[str]:
        """These steps and boxes behind them; or rows, which are loaded ahead box by box."""
        if self.of_boxes.random() < 0.5:
            return ["bind_rows", "load_rows", "load_ahead"]
        steps = list(steps)
        ahead = steps.index("load_ahead") if "load_ahead" in steps else len(steps)
        steps[ahead:] = ["load_boxes", "load_ahead", *steps[ahead + 1 :]]
        return steps

    # -- inputs --

    def boxed_input(self, least: int) -> TensorView:
        """An input of at least so many axes that descriptions of boxes may have."""
        inputs = [
            t
            for t in self.lines.fusion.tensors()
            if t.is_fusion_input()
            and t.uses()
            and t.ndims() >= least
            and t.dtype() in BYTES
            and not t.axis(-1).is_broadcast()
            and t.get_contiguity()[-1] is True
            and t.maybe_allocation()[-1] == t.axis(-1)
        ]
        need(len(inputs) > 0)
        return self.of_boxes.choice(inputs)

    def load_box(self, least: int) -> TensorView:
        source = self.boxed_input(least)
        op = "CpAsyncBulk" if self.of_boxes.random() < 0.2 else "tma"
        name = self.assign(f"{self.name(source)}.cache_after(LoadStoreOpType.{op})")
        self.call(f"{name}.set_memory_type(MemoryType.shared)")
        return self.lines.variables[name]

    # -- boxes --

    def split(self, box: TensorView, axis: int, factor: int) -> None:
        need(self.call(f"{self.name(box)}.split({axis}, {factor})"))

    def box_width(self, box: TensorView) -> int:
        """Bytes of the innermost axis of a box."""
        return self.of_boxes.choice([UNIT, 2 * UNIT, 4 * UNIT, LINE, LINE])

    def fits_whole(self, box: TensorView, axis: int) -> bool:
        """Whether a box may have all of an axis."""
        extent = box.axis(axis).extent()
        if not extent.is_const() or box.axis(axis).is_broadcast():
            return False
        bytes_of_axis = extent.value() * BYTES[box.dtype()]
        is_inner = axis == box.ndims() - 1
        return 0 < extent.value() <= LARGEST and (not is_inner or bytes_of_axis % UNIT == 0)

    def shape_box(self, box: TensorView, first: int) -> int:
        """Split tiles off the axes behind the first ones and move them inside, bound to tma. Gives
        the number of axes in front of the box. A run is one axis, and all of it where it may be."""
        draw, size = self.of_boxes, BYTES[box.dtype()]
        is_run = is_bulk(box, LoadStoreOpType.CpAsyncBulk)
        width = self.box_width(box)
        rows: dict[int, int] = {}  # of the box, by axis
        for axis in range(first, box.ndims() - 1):
            if not (is_run or box.axis(axis).is_broadcast()) and draw.random() < 0.6:
                rows[axis] = draw.choice([2, 4, 8, 8, 16])
        inner = box.ndims() - 1
        if math.prod(rows.values()) * width % LINE:
            width = LINE  # several boxes begin at such multiples
        if self.fits_whole(box, inner) and not rows and (is_run or draw.random() < 0.3):
            self.bind(box, inner, "tma")
            return inner
        tiles = {**rows, inner: width // size}
        steps = {axis: draw.choice([2, 3, 8]) for axis in rows if draw.random() < 0.15}
        for axis in sorted(tiles, reverse=True):
            self.split(box, axis, tiles[axis] * steps.get(axis, 1))
            if axis in steps:
                self.split(box, axis + 1, steps[axis])
        order, outer = [], []
        position = 0
        for axis in range(inner + 1):
            outer.append(position)
            position += 1
            if axis in tiles:
                order.append(position)
                position += 1
            if axis in steps:
                outer.append(position)
                position += 1
        moved = {old: new for new, old in enumerate([*outer, *order])}
        self.call(f"{self.name(box)}.reorder({moved})")
        of_rows = list(rows.values())[-1] if rows else 0
        if width > UNIT and of_rows > 0 and of_rows % (LINE // UNIT) == 0 and draw.random() < 0.5:
            self.swizzle_box(box, width)
        for axis in range(len(outer), box.ndims()):
            self.bind(box, axis, "tma")
        return len(outer)

    def swizzle_box(self, box: TensorView, width: int) -> None:
        """Pieces within lines: [rows, width] -> [.., lines, rows of a line, pieces, piece]."""
        pieces, name = width // UNIT, self.name(box)
        row = box.ndims() - 2
        self.split(box, row + 1, UNIT // BYTES[box.dtype()])
        of_line = LINE // width
        if of_line > 1:
            self.split(box, row, of_line)
        self.split(box, row, pieces)
        self.call(f"{name}.swizzle({row + 1}, {box.ndims() - 2})")

    def load_boxes(self) -> None:
        """All boxes of an input stand before what reads them, or as far inside as loops allow."""
        box = self.load_box(1)
        outer = self.shape_box(box, 0)
        draw = self.of_boxes
        for axis in range(outer):
            if draw.random() < 0.1:
                self.bind(box, axis, draw.choice(["grid_x", "grid_y"]))
        if draw.random() < 0.5:
            self.call(f"{self.name(box)}.inline_at({draw.randint(0, outer)}, True)")

    # -- rows --

    def bind_rows(self) -> None:
        """The outermost axis of all tensors is a loop, or blocks and a loop; threads are inside."""
        draw = self.of_boxes
        threads = draw.choice(["block_x", "block_x", "block_y"])
        reduces = any(t.ndims() > 0 and t.axis(0).is_reduction() for t in self.computed())
        blocks = 0 if reduces else draw.choice([0, 2, 4])
        shared = 1.0 if self.is_symbolic else draw.choice([0.0, 0.3, 1.0])
        clusters, width = draw.random() < 0.2, draw.choice([4, 8, 32, 32])
        for tensor in self.computed():
            if tensor.ndims() < 2:
                continue
            name = self.name(tensor)
            if blocks:
                self.call(f"{name}.split(0, {blocks}, inner_split=False)")
                self.bind(tensor, 0, "grid_x")
                if clusters:
                    self.call(f"{name}.axis(0).set_clustered_blocks()")
            self.call(f"{name}.split({tensor.ndims() - 1}, {width})")
            self.bind(tensor, tensor.ndims() - 1, threads)
            if not tensor.is_fusion_output() and draw.random() < shared:
                self.call(f"{name}.set_memory_type(MemoryType.shared)")
        if draw.random() < 0.8:
            self.call("fd.sched.inline_most()")

    def load_rows(self) -> None:
        """Boxes of a row are loaded in the loop over rows."""
        box = self.load_box(2)
        readers = [t for t in box.consumers() if t.ndims() > 1]
        need(len(readers) > 0)
        rows = 1
        reader = readers[0]
        if reader.axis(0).is_grid_dim():
            blocks = reader.axis(0).extent().value()
            need(self.call(f"{self.name(box)}.split(0, {blocks}, inner_split=False)"))
            self.bind(box, 0, "grid_x")
            rows = 2
        self.shape_box(box, rows)
        self.call(f"{self.name(box)}.inline_at({rows}, True)")

    # -- stages --

    def kind_of_stages(self, tensor: TensorView) -> str:
        """Which threads load: those of a bulk copy may be threads of their own."""
        draw = self.of_boxes
        if not (is_bulk(tensor) or draw.random() < 0.05):
            return ""
        on = draw.choice(["block_x", "block_y", "block_y", "block_z"])
        registers = draw.choice(["", "", "", "", ", (24, 64)"])
        pipelined = f", Pipelined(uses_mbarrier_for_war={draw.random() < 0.7})"
        specialized = f", WarpSpecialized(ParallelType.{on}{registers})"
        return draw.choice([specialized, specialized, pipelined])

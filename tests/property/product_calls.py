"""Calls that schedule a product of matrices for tensor cores, and what is computed with it.

    warps          fragments in registers, which the lanes of a warp load or copy as matrices
    warpgroups     boxes in shared memory; now and then the first factor is in registers
    tensor_memory  the same on Blackwell, where the sum lies in tensor memory

Boxes are loaded ahead or not, by all threads or by some that only load, and by the blocks of a
cluster together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from box_calls import BYTES, LINE, UNIT
from program_builder import need
from tile_calls import TileCalls

if TYPE_CHECKING:
    from nvfuser_direct import TensorView

BYTES_OF_K = 32  # that an instruction multiplies, of each type
REGISTERS = ["", "", "", ", (40, 232)", ", (24, 128)"]  # as many as an instruction needs


class ProductCalls(TileCalls):
    """Chooses an instruction, its tiles, and how factors come to it."""

    def choose(self) -> None:
        self.boxes: list[TensorView] = []
        self.stored: list[TensorView] = []
        self.has_strays = self.chance(0.1)
        self.x, self.w = (t for t in self.lines.fusion.inputs() if t.ndims() == 3)
        self.total = next(t for t in self.computed() if t.has_reduction())
        if self.total.is_fusion_output():
            name = self.assign(f"{self.name(self.total)}.cache_before()")
            self.total = self.lines.variables[name]
        self.size = BYTES[self.x.dtype()]
        self.cluster = 1
        self.loaded: TensorView | None = None  # the product in registers, of tensor memory
        kind = self.one_of(["warps", "warpgroups", "warpgroups", "tensor_memory"])
        self.attempt(getattr(self, f"schedule_{kind}"))

    # -- calls --

    def do(self, tensor: TensorView, line: str) -> None:
        need(self.call(f"{self.name(tensor)}.{line}"))

    def order(self, tensor: TensorView, *axes: int) -> None:
        self.do(tensor, f"reorder({ {axis: position for position, axis in enumerate(axes)} })")

    def copy(self, tensor: TensorView, op: str = "", *, shared: bool = False) -> TensorView:
        name = self.assign(f"{self.name(tensor)}.cache_after({op and f'LoadStoreOpType.{op}'})")
        if shared:
            self.call(f"{name}.set_memory_type(MemoryType.shared)")
        return self.lines.variables[name]

    def bind_all(self, tensor: TensorView, first: int, *kinds: str) -> None:
        for axis, kind in enumerate(kinds, first):
            self.bind(tensor, axis, kind)

    def choose_instruction(self, arch: str, rows: int, columns: int) -> None:
        """32 bytes of k, of each type."""
        self.rows, self.columns, self.k = rows, columns, BYTES_OF_K // self.size
        encoded = f"MmaMacroEncode(MmaMacroArch.{arch}, {rows}, {columns}, {self.k})"
        self.macro = f"{encoded}.mma_macro()"
        self.do(self.total, f"set_mma_macro({self.macro})")

    def of_fragments(self, tensor: TensorView, operand: str = "") -> None:
        first = operand and f"MmaOperand.{operand}, "
        self.do(tensor, f"apply_mma_swizzle({first}macro={self.macro})")

    def result(self) -> TensorView:
        """An output that is computed with the product."""
        behind = [self.total]
        for reader in behind:
            behind += [use.output(0) for use in reader.uses()]
        return self.one_of([t for t in behind if t.is_fusion_output()])

    def epilogue(self) -> list[TensorView]:
        """The tensors that are computed with the product, and for it."""
        rank = len(self.lines.fusion.outputs()[0].get_logical_domain())
        of_result = [t for t in self.computed() if len(t.get_logical_domain()) == rank]
        return [t for t in of_result if t is not self.total and t is not self.loaded]

    def follow_result(self, out: TensorView) -> None:
        """All of the epilogue has the loops of an output."""
        self.stray()
        others = [t for t in self.epilogue() if t is not out]
        if others:
            self.follow(out, others)
        inner = [t for t in others if not t.is_fusion_output()]
        if inner:
            self.call(f"fd.sched.inline_most({self.names(inner)})")

    # -- fragments of a warp --

    def schedule_warps(self) -> None:
        """A warp for each tile; factors are loaded as fragments, or copied from pieces of rows."""
        self.choose_instruction("ampere", 16, 8)
        out = self.result()
        fragments = []
        for source, rows, operand in ((self.x, 16, "A"), (self.w, 8, "B")):
            if self.size == 2 and self.chance(0.6):
                tile = self.copy(source, "cp_async", shared=True)
                fragment = self.copy(tile, "load_matrix")
                self.stage_rows(tile, rows, operand)
            else:
                tile, fragment = None, self.copy(source)
            fragments += [(tile, fragment, rows, operand)]
        for _, fragment, rows, operand in fragments:
            self.tile_rows(fragment, rows, operand)  # [k / depth, rows / tile, 1, tile, depth]
            self.of_fragments(fragment, operand)
            self.bind(fragment, 1, "grid_y" if operand == "A" else "grid_x")
        self.do(self.total, f"split(2, {self.k})")
        for tensor in (self.total, out):
            self.do(tensor, "split(1, 8)")
            self.do(tensor, "split(0, 16)")
        self.order(self.total, 4, 0, 2, 1, 3, 5)
        self.order(out, 0, 2, 1, 3)
        for tensor, first in ((self.total, 1), (out, 0)):
            self.of_fragments(tensor)
            self.bind_all(tensor, first, "grid_y", "grid_x")
        loaded = [t for pair in fragments for t in pair[:2] if t is not None]
        self.call(f"fd.sched.inline_at({self.name(self.total)}, 1, True, {self.names(loaded)})")
        self.follow_result(out)
        stages = self.random.randint(2, 4)
        for tile, *_ in fragments:
            if tile is not None and self.chance(0.6):
                self.call(f"{self.name(tile)}.circular_buffer({stages})")

    def tile_rows(self, tensor: TensorView, rows: int, operand: str) -> None:
        """[m, 1, k] or [1, n, k] -> [k / depth, rows / tile, 1, tile, depth]."""
        axis = 0 if operand == "A" else 1
        self.order(tensor, axis, 2, 1 - axis)
        self.do(tensor, f"split(1, {self.k})")
        self.do(tensor, f"split(0, {rows})")
        self.order(tensor, 2, 0, 4, 1, 3)

    def stage_rows(self, tile: TensorView, rows: int, operand: str) -> None:
        """The same tiles in shared memory, loaded in pieces of 16 bytes."""
        self.tile_rows(tile, rows, operand)
        self.do(tile, f"split(4, {UNIT // self.size})")
        self.do(tile, "merge(3, 4)")
        self.do(tile, f"split(3, {self.one_of([8, 16, 2 * rows])})")
        self.bind_all(tile, 4, "block_x", "vectorize")
        self.bind(tile, 1, "grid_y" if operand == "A" else "grid_x")

    # -- boxes --

    def bind_blocks(self, tensor: TensorView, first: int) -> None:
        """[blocks along m, (blocks of a cluster,) blocks along n]"""
        if self.cluster == 1:
            self.bind_all(tensor, first, "grid_y", "grid_x")
            return
        self.bind_all(tensor, first, "grid_y", "grid_x", "grid_z")
        self.do(tensor, f"axis({first + 1}).set_clustered_blocks()")

    def split_rows(self, tensor: TensorView, rows: int) -> None:
        """[m, ..] -> [blocks, (blocks of a cluster,) rows, ..]"""
        self.do(tensor, f"split(0, {rows})")
        if self.cluster > 1:
            self.do(tensor, f"split(0, {self.cluster})")

    def split_box(self, box: TensorView, width: int, rows: int) -> None:
        """[m, 1, k] or [1, n, k] -> [iterations, blocks.., 1, rows of a box, width]. The axis of
        one element is split as that of the other factor."""
        columns, is_first = self.columns, box.definition().input(0) is self.x
        self.do(box, f"split(2, {width // self.size})")
        self.do(box, f"split(1, {columns})")
        self.split_rows(box, rows)
        last = 1 if self.cluster == 1 else 2  # the position of rows: [blocks.., rows, blocks, ..]
        of_box = (last + 2, last) if is_first else (last, last + 2)
        self.order(box, last + 3, *range(last), last + 1, *of_box, last + 4)
        self.bind_blocks(box, 1)
        first = box.ndims() - 2
        if self.chance(0.99):
            self.swizzle_tile(box, first, width)
        self.bind_from(box, first)
        self.boxes.append(box)

    def load_ahead_of_products(self) -> None:
        """All boxes alike; blocks of a cluster load a box together with threads that only load."""
        kind = self.random.random()
        stages = self.random.randint(2, 4)
        registers = self.one_of(REGISTERS)
        for box in self.boxes:
            if self.cluster > 1 or kind < 0.4:
                self.call(
                    f"fd.sched.warp_specialize({self.name(box)}, {stages}, {stages - 1}, "
                    f"ParallelType.block_y{registers})"
                )
            elif kind < 0.7:
                self.call(f"{self.name(box)}.circular_buffer({stages})")

    def split_iterations(self, width: int) -> None:
        """[.., k] -> [.., iterations, instructions, depth]"""
        self.do(self.total, f"split(2, {width // self.size})")
        self.do(self.total, f"split(3, {self.k})")

    def schedule_warpgroups(self) -> None:
        """One or two warpgroups, 64 rows each; the first factor in registers now and then."""
        groups, tiles = self.one_of([1, 2]), self.one_of([1, 1, 2])
        self.choose_instruction("hopper", 64, self.one_of([16, 16, 32, 64]))
        self.cluster = self.one_of([1, 2])
        width, rows = self.one_of([BYTES_OF_K, 64, LINE, LINE]), groups * tiles * 64
        out = self.result()
        in_registers = tiles == 1 and self.cluster == 1 and self.chance(0.4)
        is_loaded = not in_registers or (self.size == 2 and self.chance(0.5))
        sources = [self.x, self.w] if is_loaded else [self.w]
        boxes = [self.copy(source, "tma", shared=True) for source in sources]
        fragments = None
        if in_registers:
            fragments = self.copy(boxes[0], "load_matrix") if is_loaded else self.copy(self.x)
        for box in boxes:
            self.split_box(box, width, rows)
        self.split_iterations(width)
        for tensor in (self.total, out):
            self.do(tensor, f"split(1, {self.columns})")
            self.do(tensor, f"split(0, {rows})")
            self.do(tensor, "split(1, 64)")
            self.do(tensor, f"split(1, {tiles})")
            if self.cluster > 1:
                self.do(tensor, f"split(0, {self.cluster})")
        # [blocks.., groups, tiles, 64, blocks, columns, iterations, instructions, depth]
        n = 1 if self.cluster == 1 else 2  # axes of blocks along m
        inner = (n, n + 1, n + 2, n + 4)
        self.order(self.total, n + 5, n + 6, *range(n), n + 3, *inner, n + 7)
        self.order(out, *range(n), n + 3, *inner)
        for tensor, first in ((self.total, 2), (out, 0)):
            self.of_fragments(tensor)
            self.bind_blocks(tensor, first)
            self.bind(tensor, first + n + 1, "block_y")
        self.inline_boxes(self.total, 1)
        if fragments is not None:
            self.hold_in_registers(fragments, width, groups)
        self.follow_result(out)
        self.load_ahead_of_products()

    def hold_in_registers(self, factor: TensorView, width: int, groups: int) -> None:
        """[m, 1, k] -> [iterations, instructions, 1, blocks, warpgroups, fragment]."""
        self.order(factor, 1, 0, 2)
        self.do(factor, f"split(2, {width // self.size})")
        self.do(factor, f"split(3, {self.k})")
        self.do(factor, f"split(1, {groups * 64})")
        self.do(factor, "split(2, 64)")
        self.order(factor, 4, 5, 0, 1, 2, 3, 6)
        self.of_fragments(factor, "A")
        self.bind(factor, 3, "grid_y")
        self.bind(factor, 4, "block_y")
        names = self.names([factor])
        self.call(f"fd.sched.inline_at({self.name(self.total)}, 2, True, {names})")

    def schedule_tensor_memory(self) -> None:
        """128 rows of a block, or of each of two that multiply together."""
        self.gpu = "sm_100a"
        self.cluster = self.one_of([1, 1, 2])
        arch = "blackwell_1cta" if self.cluster == 1 else "blackwell_2cta"
        self.choose_instruction(arch, 128 * self.cluster, self.one_of([32, 32, 64]))
        self.call(f"{self.name(self.total)}.set_memory_type(MemoryType.tensor)")
        loaded = self.loaded = self.copy(self.total, "LdTMem")
        width = self.one_of([BYTES_OF_K, 64, LINE, LINE]) if self.cluster == 1 else LINE
        out = self.result()
        for box in [self.copy(source, "tma", shared=True) for source in (self.x, self.w)]:
            self.split_box(box, width, 128)
        self.split_iterations(width)
        for tensor in (self.total, loaded, out):
            self.do(tensor, f"split(1, {self.columns})")
            self.split_rows(tensor, 128)
        # [blocks.., 128, blocks, columns, iterations, instructions, depth]
        n = 1 if self.cluster == 1 else 2
        self.order(self.total, n + 3, n + 4, *range(n), n + 1, n, n + 2, n + 5)
        for tensor in (loaded, out):
            self.order(tensor, *range(n), n + 1, n, n + 2)
        for tensor, first in ((self.total, 2), (loaded, 0), (out, 0)):
            self.of_fragments(tensor)
            self.bind_blocks(tensor, first)
        self.inline_boxes(self.total, 1)
        self.call(f"fd.sched.inline_at({self.name(out)}, {n + 1}, True, {self.names([loaded])})")
        self.follow_result(out)
        self.load_ahead_of_products()

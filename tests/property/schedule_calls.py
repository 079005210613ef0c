"""Random calls that schedule a fusion: often legal ones, in an order that is mostly sensible.

A call is a line of Python. One that is refused must leave the fusion as it was.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from box_calls import BoxCalls, is_bulk
from program_builder import Unfit, need
from random_schedules import text
from schedule_scripts import headline

from nvfuser_direct import (
    LoadStoreOp,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    ReductionOp,
    UserError,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from typing import Any

    from schedule_scripts import Lines

    from nvfuser_direct import TensorView

FACTORS = [1, 2, 3, 4, 5, 7, 8, 16, 32]
HARDWARE = ["grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"]
COMMON = ["block_x", "block_y", "grid_x"]
SOFTWARE = ["unroll", "unswitch"]

# Steps in their usual order: which one, how likely, how many times.
STEPS = [
    ("cache_input", 0.35, 3), ("cache_output", 0.3, 2), ("cache_any", 0.2, 2),
    ("cache_fork", 0.2, 1),
    ("flatten", 0.3, 1), ("transform_reference", 0.6, 4), ("rfactor_reference", 0.5, 2),
    ("transform_reference", 0.6, 2), ("swizzle", 0.1, 1), ("propagate", 0.85, 1),
    ("propagate_bounded", 0.07, 1),
    ("choose_reference", 0.3, 1), ("transform_reference", 0.3, 2), ("propagate", 0.3, 1),
    ("transform_any", 0.15, 3), ("rfactor_any", 0.15, 2), ("swizzle", 0.05, 1),
    ("parallelize", 0.75, 1), ("bind_one", 0.15, 1), ("vectorize", 0.15, 2),
    ("choose_memory", 0.6, 1), ("move_one", 0.2, 2), ("allocate", 0.15, 2),
    ("choose_positions", 0.9, 1), ("inline_one", 0.1, 1), ("compute_with", 0.15, 2),
    ("load_ahead", 0.3, 1), ("group_reductions", 0.3, 1), ("reduce_serially", 0.2, 1),
    ("pad_warps", 0.15, 1), ("promote_reuse", 0.2, 2), ("broadcast", 0.05, 1),
    ("resize", 0.05, 1), ("cluster_blocks", 0.2, 1),
]  # fmt: skip
ANYWHERE = [
    "transform_any", "cache_any", "rfactor_any", "cache_fork", "swizzle", "allocate", "propagate",
    "propagate_bounded", "bind_one", "inline_one", "compute_with", "group_reductions",
    "cache_input",
]  # fmt: skip


def is_asynchronous(tensor: TensorView) -> bool:
    """Only copies into shared memory are."""
    definition = tensor.definition()
    return isinstance(definition, LoadStoreOp) and definition.op == LoadStoreOpType.cp_async


class ScheduleCalls(BoxCalls):
    """Chooses calls and executes them."""

    gpu = "cuda"  # that has what is called

    def __init__(self, random: random.Random, lines: Lines) -> None:
        self.random = random
        # Boxes draw numbers of their own: programs without them stay what they were.
        self.of_boxes = type(random)(random.getstate()[1][1])  # the first word is no seed's own
        self.box_rate = 0.2
        self.of_hints = type(random)(random.getstate()[1][2])  # and hints for caches
        self.lines = lines
        self.made: list[str] = []
        self.refusals: list[str] = []
        self.reference: TensorView | None = None
        # Registers need constant sizes, which symbolic fusions have only where they are inlined.
        sizes = [axis.extent() for t in lines.fusion.tensors() for axis in t.get_logical_domain()]
        self.is_symbolic = not all(size.is_const() for size in sizes)

    def choose(self) -> None:
        steps = [name for name, likely, times in STEPS for _ in range(times) if self.chance(likely)]
        if self.chance(0.15):
            for name in self.random.choices(ANYWHERE, k=3):
                steps.insert(self.random.randint(0, len(steps)), name)
        if self.of_boxes.random() < self.box_rate:
            steps = self.with_boxes(steps)
        if self.of_hints.random() < 0.2:
            steps.append("hint_caches")
        for name in steps:
            self.attempt(getattr(self, name))

    # -- choosing and calling --

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, choices: Sequence[Any]) -> Any:
        need(len(choices) > 0)
        return self.random.choice(choices)

    def attempt(self, step: Callable[[], None]) -> None:
        """A step that finds nothing to act on does nothing."""
        with contextlib.suppress(Unfit):
            step()

    def call(self, line: str) -> bool:
        before = text(self.lines.fd)
        self.made.append(line)
        try:
            self.lines.execute(line)
        except UserError as error:
            assert text(self.lines.fd) == before, f"refused, but has changed the fusion: {line}"
            self.refusals.append(headline(error))
            self.made.pop()
            return False
        return True

    def name(self, tensor: TensorView) -> str:
        return self.lines.name_of(tensor)

    def names(self, tensors: Sequence[TensorView]) -> str:
        return "[" + ", ".join(self.name(tensor) for tensor in tensors) + "]"

    def assign(self, expression: str) -> str:
        """The variable of a new tensor; nothing is done with it where the call is refused."""
        name = self.lines.new_name()
        need(self.call(f"{name} = {expression}"))
        return name

    # -- tensors --

    def computed(self) -> list[TensorView]:
        return [t for t in self.lines.fusion.tensors() if not t.is_fusion_input()]

    def movable(self) -> list[TensorView]:
        """Tensors that may lie in other memory."""
        fixed = (is_asynchronous, is_bulk)
        return [
            t
            for t in self.computed()
            if not (t.is_fusion_output() or any(has_place(t) for has_place in fixed))
        ]

    def copies(self) -> list[TensorView]:
        return [t for t in self.computed() if isinstance(t.definition(), LoadStoreOp)]

    def reductions(self) -> list[TensorView]:
        return [t for t in self.computed() if isinstance(t.definition(), ReductionOp)]

    def any(self) -> TensorView:
        return self.one_of(self.computed())

    def scheduled(self) -> TensorView:
        """The tensor that others are to follow."""
        if self.reference is None:
            self.choose_reference()
        assert self.reference is not None
        return self.reference

    def choose_reference(self) -> None:
        reduced = [t for t in self.computed() if t.has_reduction()]
        kind = self.random.random()
        if reduced and kind < 0.5:
            self.reference = self.one_of(reduced)
        elif kind < 0.85:
            self.reference = self.one_of(self.lines.fusion.outputs())
        else:
            self.reference = self.any()

    def axis_of(self, tensor: TensorView) -> int:
        need(tensor.ndims() > 0)
        return self.random.randrange(tensor.ndims())

    def position_in(self, tensor: TensorView) -> int:
        return self.random.randint(0, tensor.ndims())

    # -- caches --

    def load(self, tensors: Sequence[TensorView]) -> None:
        tensor = self.one_of([t for t in tensors if t.uses()])
        arguments = ""
        if self.chance(0.25):
            reader = self.one_of(tensor.uses()).outputs()[0]
            arguments = f"cached_uses=[{self.name(reader)}.definition()]"
        elif tensor.is_fusion_input() and self.chance(0.25):
            arguments = "LoadStoreOpType.cp_async"
        name = self.assign(f"{self.name(tensor)}.cache_after({arguments})")
        if "cp_async" in arguments or self.chance(0.3):
            self.call(f"{name}.set_memory_type(MemoryType.shared)")

    def cache_input(self) -> None:
        self.load([t for t in self.lines.fusion.tensors() if t.is_fusion_input()])

    def cache_output(self) -> None:
        self.assign(f"{self.name(self.one_of(self.lines.fusion.outputs()))}.cache_before()")

    def cache_any(self) -> None:
        if self.chance(0.4):
            # A tensor without readers is not printed, and the copy would be numbered otherwise.
            read = [t for t in self.computed() if t.uses() or t.is_fusion_output()]
            self.assign(f"{self.name(self.one_of(read))}.cache_before()")
        else:
            self.load(self.computed())

    def cache_fork(self) -> None:
        read = [t for t in self.lines.fusion.outputs() if t.uses()]
        self.assign(f"{self.name(self.one_of(read))}.cache_fork()")

    # -- loops --

    def transform(self, tensor: TensorView) -> None:
        name, axis = self.name(tensor), self.axis_of(tensor)
        kind = self.random.random()
        if kind < 0.5 or tensor.ndims() == 1:
            side = "" if self.chance(0.65) else ", inner_split=False"
            self.call(f"{name}.split({axis}, {self.one_of(FACTORS)}{side})")
            return
        other = (axis + 1) % tensor.ndims()
        if self.chance(0.4):
            other = self.one_of([i for i in range(tensor.ndims()) if i != axis])
        if kind < 0.85:
            self.call(f"{name}.merge({axis}, {other})")
        else:
            self.call(f"{name}.reorder({{{axis}: {other}}})")

    def transform_reference(self) -> None:
        self.transform(self.scheduled())

    def transform_any(self) -> None:
        self.transform(self.any())

    def flatten(self) -> None:
        tensor = self.scheduled()
        for i in reversed(range(tensor.ndims() - 1)):
            if tensor.axis(i).is_reduction() == tensor.axis(i + 1).is_reduction():
                self.call(f"{self.name(tensor)}.merge({i}, {i + 1})")

    def swizzle(self) -> None:
        tensor = self.scheduled() if self.chance(0.5) else self.any()
        need(tensor.ndims() > 1)
        name, factor = self.name(tensor), self.one_of([2, 4, 8])
        x, y = sorted(self.random.sample(range(tensor.ndims()), 2))
        need(
            self.call(f"{name}.split({y}, {factor})") and self.call(f"{name}.split({x}, {factor})")
        )
        self.call(f"{name}.swizzle({x + 1}, {y + 2})")

    def rfactor(self, tensor: TensorView) -> TensorView:
        reduced = [i for i in range(tensor.ndims()) if tensor.axis(i).is_reduction()]
        need(len(reduced) > 1)
        axes = sorted(self.random.sample(reduced, self.random.randint(1, len(reduced) - 1)))
        siblings = tensor.definition().outputs()
        name = self.lines.new_name()
        if len(siblings) == 1:
            need(self.call(f"{name} = {self.name(tensor)}.rfactor({axes})"))
        else:
            names = ", ".join(f"tv{int(name[2:]) + i}" for i in range(len(siblings)))
            of_all = self.names(siblings)
            need(self.call(f"{names} = {self.name(tensor)}.rfactor({axes}, {of_all})"))
        return self.lines.variables[name]

    def rfactor_reference(self) -> None:
        partial = self.rfactor(self.scheduled())
        if self.chance(0.6):
            self.reference = partial

    def rfactor_any(self) -> None:
        self.rfactor(self.one_of([t for t in self.computed() if t.has_reduction()]))

    def propagate(self) -> None:
        self.call(f"fd.sched.transform_like({self.name(self.scheduled())})")

    def propagate_bounded(self) -> None:
        tensor = self.scheduled()
        where = self.one_of(["backward", "forward"])
        position = self.position_in(tensor)
        arguments = f"{self.name(tensor)}, {position}, [{self.name(self.any())}]"
        self.call(f"fd.sched.bounded_transform_{where}({arguments})")

    def broadcast(self) -> None:
        tensor = self.any()
        arguments = f"{self.position_in(tensor)}, {self.random.randint(1, 3)}"
        self.call(f"{self.name(tensor)}.broadcast({arguments})")

    def resize(self) -> None:
        tensor = self.any()
        left, right = self.random.randint(0, 2), self.random.randint(0, 2)
        self.call(f"{self.name(tensor)}.resize({self.axis_of(tensor)}, {left}, {right})")

    # -- bindings --

    def bind(self, tensor: TensorView, axis: int, kind: str) -> None:
        self.call(f"{self.name(tensor)}.axis({axis}).parallelize(ParallelType.{kind})")

    def parallelize(self) -> None:
        tensor = self.scheduled()
        free = list(HARDWARE)
        for axis in range(tensor.ndims()):
            kind = self.random.random()
            if kind < 0.5:
                usual = [name for name in COMMON if name in free]
                name = self.one_of(usual if usual and self.chance(0.5) else free)
                free.remove(name)
                self.bind(tensor, axis, name)
            elif kind < 0.6:
                self.bind(tensor, axis, self.one_of(SOFTWARE))
        # Where vectors lie in one tensor says nothing about others.
        kinds = ", ".join(f"ParallelType.{kind}" for kind in (*HARDWARE, "unroll", "unswitch"))
        self.call(f"fd.sched.parallelize_like({self.name(tensor)}, -1, [], {{{kinds}}})")

    def bind_one(self) -> None:
        tensor = self.any()
        self.bind(tensor, self.axis_of(tensor), self.one_of([*HARDWARE, "unroll", "unswitch"]))

    def vectorize(self) -> None:
        tensor, width = self.one_of(self.copies()), self.one_of([2, 4])
        axis = self.axis_of(tensor) if self.chance(0.1) else tensor.ndims() - 1
        need(axis >= 0)
        extent = tensor.axis(axis).extent()
        need(self.chance(0.3) or (extent.is_const() and extent.value() % width == 0))
        need(self.call(f"{self.name(tensor)}.split({axis}, {width})"))
        self.bind(tensor, axis + 1, "vectorize")

    def pad_warps(self) -> None:
        for tensor in self.computed():
            for i, axis in enumerate(tensor.get_loop_domain()):
                if axis.parallel_type() == ParallelType.block_x:
                    self.call(f"{self.name(tensor)}.axis({i}).pad_to_multiple_of_warp()")

    def cluster_blocks(self) -> None:
        """In all tensors, or in some: then their loops decide."""
        rate = self.one_of([1.0, 1.0, 0.5])
        for tensor in self.computed():
            for i, axis in enumerate(tensor.get_loop_domain()):
                if axis.parallel_type() == ParallelType.grid_x and self.chance(rate):
                    self.call(f"{self.name(tensor)}.axis({i}).set_clustered_blocks()")

    # -- memory --

    def move(self, tensor: TensorView, memory: str) -> None:
        self.call(f"{self.name(tensor)}.set_memory_type(MemoryType.{memory})")

    def choose_memory(self) -> None:
        if self.chance(0.4):
            memory = self.one_of(["shared", "Global"])
            for tensor in self.movable():
                self.move(tensor, memory)
            return
        shared = 0.7 if self.is_symbolic else 0.4
        for tensor in self.movable():
            kind = self.random.random()
            if kind < shared:
                self.move(tensor, "shared")
            elif kind < shared + 0.2:
                self.move(tensor, "Global")

    def move_one(self) -> None:
        self.move(self.one_of(self.movable()), self.one_of(["shared", "Global", "local"]))

    def promote_reuse(self) -> None:
        shared = [t for t in self.computed() if t.memory_type() == MemoryType.shared]
        self.call(f"{self.name(self.one_of(shared))}.promote_reuse()")

    def hint_caches(self) -> None:
        """They change no result, wherever they are."""
        tensor = self.of_hints.choice([*self.lines.fusion.tensors()])
        hint = self.of_hints.choice(["evict_first", "evict_last", "no_allocate"])
        self.call(f"{self.name(tensor)}.set_cache_hint(CacheHint.{hint})")

    def allocate(self) -> None:
        """In another order than that of the axes, and now and then of parts of them."""
        tensor = self.any()
        name = self.name(tensor)
        getter = self.one_of(["get_loop_domain", "get_logical_domain"])
        size = len(getattr(tensor, getter)())
        axes = [f"{name}.{getter}()[{i}]" for i in self.random.sample(range(size), size)]
        if size and self.chance(0.2):
            outer, inner = f"outer{len(self.made)}", f"inner{len(self.made)}"
            need(
                self.call(f"{outer}, {inner} = IterDomain.split({axes[0]}, {self.one_of(FACTORS)})")
            )
            axes = [outer, *axes[1:], inner]
        self.call(f"{name}.set_allocation_domain([{', '.join(axes)}], True)")

    # -- positions --

    def choose_positions(self) -> None:
        kind = self.one_of(["most", "most", "most", "some", "at", "each", "each"])
        if kind == "most":
            self.call("fd.sched.inline_most()")
        elif kind == "some":
            tensors = [t for t in self.computed() if self.chance(0.6)]
            self.call(f"fd.sched.inline_most({self.names(tensors)})")
        elif kind == "at":
            tensor = self.scheduled()
            self.call(f"fd.sched.inline_at({self.name(tensor)}, {self.position_in(tensor)}, True)")
        else:
            for tensor in self.computed():
                self.inline(tensor)

    def inline(self, tensor: TensorView) -> None:
        self.call(f"{self.name(tensor)}.inline_at({self.position_in(tensor)}, True)")

    def inline_one(self) -> None:
        self.inline(self.any())

    def compute_with(self) -> None:
        tensor = self.any()
        position = self.one_of([-1, -1, self.position_in(tensor)])
        self.call(f"{self.name(tensor)}.compute_with({position}, True)")

    def load_ahead(self) -> None:
        for tensor in self.copies():
            stages = self.random.randint(1, 4)
            if stages > 1 and (tensor.compute_at_position() > 0 or self.chance(0.05)):
                prefetch = self.random.randint(-stages, stages - 1)
                kind = self.kind_of_stages(tensor)
                self.call(f"{self.name(tensor)}.circular_buffer({stages}, {prefetch}{kind})")

    # -- reductions --

    def group_reductions(self) -> None:
        reductions = self.reductions()
        need(len(reductions) > 1)
        chosen = self.random.sample(reductions, min(len(reductions), self.random.randint(2, 3)))
        self.call(f"fd.sched.group_reductions({self.names(chosen)})")

    def reduce_serially(self) -> None:
        """Blocks take turns."""
        for tensor in self.reductions():
            if any(a.is_reduction() and a.is_grid_dim() for a in tensor.get_loop_domain()):
                self.call(f"{self.name(tensor)}.definition().request_serial_grid_reduction()")

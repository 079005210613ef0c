"""Random schedules of steps that are often legal; one that is not leaves the fusion as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from nvfuser_direct import (
    InternalError,
    LoadStoreOp,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import FusionDefinition, TensorView

FACTORS = st.sampled_from([1, 2, 3, 4, 5, 8, 16, 32])
HARDWARE = [
    ParallelType.grid_x,
    ParallelType.grid_y,
    ParallelType.block_x,
    ParallelType.block_y,
]
SOFTWARE = [ParallelType.unroll, ParallelType.unswitch, ParallelType.vectorize]
GLOBAL = MemoryType.Global


def text(fd: FusionDefinition) -> str:
    """Everything a schedule may change."""
    fusion = fd.fusion
    positions = [
        (t.compute_at_position(), t.memory_type(), t.circular_buffer_options() is None)
        for t in fusion.tensors()
    ]
    return fusion.print_math() + fusion.print_transforms() + str(positions)


class ScheduleBuilder:
    """Draws one schedule and applies it."""

    def __init__(self, data: st.DataObject, fd: FusionDefinition, is_symbolic: bool) -> None:
        self.draw = data.draw
        self.fd = fd
        self.is_symbolic = is_symbolic
        self.refused = 0

    def attempt(self, step: Callable[[], object]) -> bool:
        """Apply a step. If it is illegal, nothing has changed."""
        before = text(self.fd)
        try:
            step()
        except InternalError:
            raise
        except RuntimeError:
            self.refused += 1
            assert text(self.fd) == before
            return False
        return True

    def apply(self) -> None:
        with self.fd:
            self.cache()
            reference = self.reference()
            for _ in range(self.draw(st.integers(0, 4), label="steps")):
                self.transform(reference)
            self.rfactor(reference)
            self.attempt(lambda: self.fd.sched.transform_like(reference))
            for _ in range(self.draw(st.integers(0, 2), label="own steps")):
                self.transform(self.computed_tensor())
            self.parallelize(reference)
            self.choose_memory()
            self.inline(reference)
            self.load_ahead()

    # -- parts --

    def computed(self) -> list[TensorView]:
        return [t for t in self.fd.fusion.tensors() if not t.is_fusion_input()]

    def computed_tensor(self) -> TensorView:
        return self.draw(st.sampled_from(self.computed()), label="tensor")

    def cache(self) -> None:
        for tensor in self.fd.fusion.inputs():
            kind = self.draw(st.integers(0, 5), label="cache input")
            if kind <= 1:
                self.attempt(tensor.cache_after)
            elif kind == 2:
                self.attempt(
                    lambda t=tensor: t.cache_after(LoadStoreOpType.cp_async).set_memory_type(
                        MemoryType.shared
                    )
                )
        for tensor in self.fd.fusion.outputs():
            if self.draw(st.integers(0, 3), label="cache output") == 0:
                self.attempt(tensor.cache_before)

    def reference(self) -> TensorView:
        """An output or, as often, any other tensor."""
        if self.draw(st.booleans(), label="reference is an output"):
            return self.fd.fusion.outputs()[-1]
        return self.computed_tensor()

    def transform(self, tensor: TensorView) -> None:
        rank = tensor.ndims()
        if rank == 0:
            return
        axes = st.integers(0, rank - 1)
        kind = self.draw(st.sampled_from(["split", "split", "merge", "reorder"]), label="step")
        if kind == "split":
            axis, factor = self.draw(axes), self.draw(FACTORS)
            is_inner = self.draw(st.booleans())
            self.attempt(lambda: tensor.split(axis, factor, is_inner))
        elif kind == "merge":
            outer, inner = self.draw(axes), self.draw(axes)
            self.attempt(lambda: tensor.merge(outer, inner))
        else:
            old, new = self.draw(axes), self.draw(axes)
            self.attempt(lambda: tensor.reorder({old: new}))

    def rfactor(self, tensor: TensorView) -> None:
        reduced = [i for i in range(tensor.ndims()) if tensor.axis(i).is_reduction()]
        if not reduced or self.draw(st.booleans(), label="no rfactor"):
            return
        axes = self.draw(
            st.lists(st.sampled_from(reduced), unique=True, min_size=1), label="rfactor"
        )
        self.attempt(lambda: tensor.rfactor(axes))

    def parallelize(self, reference: TensorView) -> None:
        free = list(HARDWARE)
        for i in range(reference.ndims()):
            kind = self.draw(st.integers(0, 6), label="parallel type")
            if kind <= 3 and free:
                parallel_type = self.draw(st.sampled_from(free))
                free.remove(parallel_type)
            elif kind == 4:
                parallel_type = self.draw(st.sampled_from(SOFTWARE))
            else:
                continue
            self.attempt(lambda i=i, p=parallel_type: reference.axis(i).parallelize(p))
        self.attempt(
            lambda: self.fd.sched.parallelize_like(
                reference, -1, [], {*HARDWARE, ParallelType.unroll, ParallelType.unswitch}
            )
        )

    def choose_memory(self) -> None:
        # Registers need constant sizes, which symbolic fusions have only where they are inlined.
        shared = 5 if self.is_symbolic else 3
        for tensor in self.computed():
            if tensor.is_fusion_output():
                continue
            kind = self.draw(st.integers(0, 9), label="memory")
            if kind >= 10 - shared:
                tensor.set_memory_type(MemoryType.shared)
            elif kind == 4:
                tensor.set_memory_type(GLOBAL)

    def inline(self, reference: TensorView) -> None:
        sched = self.fd.sched
        kind = self.draw(st.sampled_from(["most", "most", "most", "at", "each", "no"]))
        if kind == "most":
            self.attempt(sched.inline_most)
        elif kind == "at":
            position = self.draw(st.integers(-1, reference.ndims()))
            self.attempt(lambda: sched.inline_at(reference, position, True))
        elif kind == "each":
            for tensor in self.computed():
                position = self.draw(st.integers(0, tensor.ndims()))
                self.attempt(lambda t=tensor, p=position: t.inline_at(p, True))

    def load_ahead(self) -> None:
        for tensor in self.computed():
            if not isinstance(tensor.definition(), LoadStoreOp):
                continue
            stages = self.draw(st.integers(1, 4), label="stages")
            if stages > 1:
                prefetch = self.draw(st.integers(-stages, stages - 1), label="prefetch")
                self.attempt(lambda t=tensor, s=stages, p=prefetch: t.circular_buffer(s, p))

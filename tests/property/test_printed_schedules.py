"""Random schedules are printed, run again, and lower to the same kernels, byte for byte."""

import sys
from pathlib import Path

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st
from profiles import cases
from random_fusions import FusionBuilder
from random_schedules import ScheduleBuilder

from nvfuser_direct import DataType, LoadStoreOpType, ReductionOp, translate_fusion

sys.path.append(str(Path(__file__).parent.parent / "python_translate"))
from schedule_round_trip import check_schedule_round_trip, kernel_source


class EditingBuilder(ScheduleBuilder):
    """Any primitive at any time, legal kernel or not: what is printed is the state, not its use."""

    def apply(self):
        self.defined = self.fd.fusion.tensors()
        with self.fd:
            for _ in range(self.draw(st.integers(1, 12), label="edits")):
                kind = self.draw(st.sampled_from(self.KINDS), label="edit")
                tensor = self.draw(st.sampled_from(self.fd.fusion.tensors()), label="tensor")
                self.attempt(lambda k=kind, t=tensor: getattr(self, k)(t))

    KINDS = (
        "transform",
        "transform",
        "rfactor",
        "rfactor",
        "cache_after",
        "cache_before",
        "cache_fork",
        "propagate",
        "bind",
        "swizzle",
        "allocate",
        "group",
        "inline",
        "compute_with",
        "broadcast",
        "resize",
        "leave_unused",
        "add_output",
    )

    def axis(self, tensor, size=None):
        return self.draw(st.integers(0, max(tensor.ndims() if size is None else size, 1) - 1))

    def rfactor(self, tensor):
        if tensor.definition() is not None and len(tensor.definition().outputs()) == 1:
            super().rfactor(tensor)

    def cache_after(self, tensor):
        uses = list(tensor.uses())
        if self.draw(st.booleans(), label="some uses") and uses:
            uses = [self.draw(st.sampled_from(uses))]
        else:
            uses = []
        asynchronous = self.draw(st.integers(0, 3)) == 0
        tensor.cache_after(
            LoadStoreOpType.cp_async if asynchronous else LoadStoreOpType.set, cached_uses=uses
        )

    def cache_before(self, tensor):
        tensor.cache_before()

    def cache_fork(self, tensor):
        tensor.cache_fork()

    def propagate(self, tensor):
        self.fd.sched.transform_like(tensor)

    def bind(self, tensor):
        self.parallelize(tensor)

    def swizzle(self, tensor):
        tensor.swizzle(self.axis(tensor), self.axis(tensor))

    def allocate(self, tensor):
        ids = self.draw(st.permutations(tensor.get_loop_domain()))
        tensor.set_allocation_domain(ids, self.draw(st.booleans()))

    def group(self, tensor):
        reductions = [
            t for t in self.fd.fusion.tensors() if isinstance(t.definition(), ReductionOp)
        ]
        self.fd.sched.group_reductions(
            self.draw(st.lists(st.sampled_from(reductions or [tensor]), unique=True, max_size=3))
        )

    def inline(self, tensor):
        tensor.inline_at(self.axis(tensor) + 1, self.draw(st.booleans()))

    def compute_with(self, tensor):
        tensor.compute_with(self.axis(tensor) + 1, self.draw(st.booleans()))

    def broadcast(self, tensor):
        tensor.broadcast(self.axis(tensor, tensor.ndims() + 1), self.draw(st.integers(1, 3)))

    def resize(self, tensor):
        tensor.resize(self.axis(tensor), self.draw(st.integers(0, 2)), 1)

    def leave_unused(self, tensor):
        leave_unused(self.fd, tensor)

    def add_output(self, tensor):
        # Positions do not follow new readers; and what a cache is read by besides is no cache.
        is_placed = tensor.compute_at_position() > 0 or tensor.compute_with_position() > 0
        if tensor in self.defined and not is_placed:
            self.fd.add_output(self.fd.ops.neg(tensor))


def leave_unused(fd, tensor):
    """Statements that the kernel does without."""
    fd.define_scalar(2.0, dtype=DataType.Float)
    unused = fd.ops.exp(fd.ops.add(tensor, 1.5))
    if unused.ndims():
        unused.split(0, 2)


@pytest.mark.parametrize("builder", [ScheduleBuilder, EditingBuilder])
@cases(200)
@given(data=st.data())
def test_random_schedules_are_printed_and_run_again(builder, data):
    program = FusionBuilder(data).build()
    if data.draw(st.booleans(), label="unused statements"):
        with program.fd:
            leave_unused(program.fd, program.fd.fusion.tensors()[0])
    builder(data, program.fd, program.is_symbolic).apply()
    note(translate_fusion(program.fd.fusion, schedule=True))
    is_lowered = not kernel_source(program.fd.fusion, "cpu").startswith("refused")
    event("lowered" if is_lowered else "refused")
    check_schedule_round_trip(program.fd.fusion)


@cases(20)
@given(data=st.data())
def test_automatic_schedules_are_printed_and_run_again(data):
    program = FusionBuilder(data).build()
    with program.fd:
        program.fd.sched.trivial(program.fd.fusion)
    check_schedule_round_trip(program.fd.fusion)

"""Situations that go wrong: the text that a user sees, and what is left then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser import FusionCache, FusionDefinition, ParallelType

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_OPEN = (
    "must be called from an initialized definition via a python context manager or a child class' "
    "definition() method."
)


def complete() -> FusionDefinition:
    with FusionDefinition() as fd:
        fd.t0 = fd.define_tensor([-1])  # type: ignore[attr-defined]
        fd.add_output(fd.ops.neg(fd.t0))  # type: ignore[attr-defined]
    return fd


STATEMENTS: list[Callable[[Any, Any], Any]] = [
    lambda fd, t: fd.define_tensor([-1]),
    lambda fd, t: fd.define_scalar(2.0),
    lambda fd, t: fd.define_vector([2]),
    lambda fd, t: fd.ops.neg(t),
    lambda fd, t: fd.ops.sum(t, [0]),
    lambda fd, t: fd.ops.clamp(t),
    lambda fd, t: fd.ops.threshold(t, t, t),
    lambda fd, t: fd.add_output(t),
]


@pytest.mark.parametrize("write", STATEMENTS)
def test_statements_need_an_open_definition(write: Callable[[Any, Any], Any]) -> None:
    """Before entering, and after completion."""
    blank = FusionDefinition()
    done: Any = complete()
    with pytest.raises(RuntimeError, match=re.escape(NOT_OPEN)):
        write(blank, done.t0)
    with pytest.raises(RuntimeError, match="Attempting to add to a completed definition!"):
        write(done, done.t0)
    with pytest.raises(RuntimeError, match="Attempting to add to a completed definition!"):
        write(FusionDefinition(0), done.t0)
    assert done.id() == 0
    with blank:
        blank.add_output(blank.ops.neg(blank.define_tensor([-1])))
    assert blank.id() == 0


def test_schedules_need_a_complete_definition() -> None:
    """The definition fails."""
    fd = FusionDefinition()

    def define() -> None:
        with fd:
            t0 = fd.define_tensor([-1])
            fd.sched.split(t0, 0, 4)

    with pytest.raises(
        RuntimeError, match="Attempting to use a SchedOperators Op prior to definition!"
    ):
        define()
    assert fd.id() is None


def test_complete_definitions_cannot_be_entered() -> None:
    for fd in (complete(), FusionDefinition(0)):
        with pytest.raises(RuntimeError, match="Fusion Schedule is already found!"), fd:
            pass
        assert fd.id() == 0


def test_open_definitions_can_neither_be_executed_nor_opened_again() -> None:
    """The statements written so far stay."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        with pytest.raises(RuntimeError, match="The definition is open"):
            fd.execute([torch.ones(2)])
        with pytest.raises(RuntimeError, match="The definition is open"):
            fd._setup_definition()
        fd.add_output(fd.ops.neg(t0))
    assert torch.equal(fd.execute([torch.ones(2)])[0], -torch.ones(2))


def test_empty_definitions_have_ids_and_no_outputs() -> None:
    """An empty block, and no add_output."""
    with FusionDefinition() as empty:
        pass
    with FusionDefinition() as without:
        without.ops.neg(without.define_tensor([-1]))
    assert (empty.id(), without.id()) == (0, 1)
    with pytest.raises(RuntimeError, match="no outputs"):
        empty.execute([])
    with pytest.raises(RuntimeError, match="no outputs"):
        without.execute([torch.ones(2)])
    with FusionDefinition() as again:
        pass
    assert again.id() == 0


def test_unknown_ids_show_when_they_are_used() -> None:
    fd = FusionDefinition(12)
    assert fd.id() == 12
    for use in (lambda: fd.execute([]), lambda: fd.fusion_ir(), lambda: repr(fd)):
        with pytest.raises(RuntimeError, match="Invalid scheduler query for id: 12"):
            use()


def test_lengths_are_bounded() -> None:
    """Literals and outputs count, the end does not."""

    def define(fd: FusionDefinition) -> None:
        with fd:
            t0 = fd.define_tensor([-1])
            fd.add_output(fd.ops.reshape(t0, [2]))

    fd = FusionDefinition(max_length=5)
    define(fd)
    assert fd.id() == 0
    for length in range(1, 5):
        fd = FusionDefinition(max_length=length)
        gist = f"The fusion definition has exceeded {length}operations."
        with pytest.raises(RuntimeError, match=gist):
            define(fd)
        assert fd.id() is None
    with (
        pytest.raises(RuntimeError, match="Can't make a FusionDefinition with 0 records!"),
        FusionDefinition(max_length=0),
    ):
        pass


def test_an_exception_in_the_block_propagates_unchanged() -> None:
    """The definition fails, nothing is cached, and it is spent."""
    fd = FusionDefinition()
    error = ValueError("mine")

    def define() -> None:
        with fd:
            fd.define_tensor([-1])
            raise error

    with pytest.raises(ValueError, match="mine") as caught:
        define()
    assert caught.value is error
    assert fd.id() is None
    assert FusionCache.get().num_fusions() == 0
    assert "T0 = fd.define_tensor" in repr(fd)
    assert "nvfuser_incomplete_fusion" in repr(fd)
    with pytest.raises(RuntimeError, match="spent"), fd:
        pass
    with pytest.raises(RuntimeError, match=re.escape(NOT_OPEN)):
        fd.define_tensor([-1])


def test_ir_that_cannot_be_built_says_the_same_every_time() -> None:
    """The id is consumed; statement and cause stand in lines of their own."""

    def define(fd: FusionDefinition) -> None:
        with fd:
            t0 = fd.define_tensor([-1, -1])
            t1 = fd.define_tensor([-1])
            fd.add_output(fd.ops.cat([t0, fd.ops.sum(t0, [0]), t1]))

    texts = []
    for _ in range(3):
        fd = FusionDefinition()
        with pytest.raises(RuntimeError) as caught:
            define(fd)
        texts.append(str(caught.value))
        assert fd.id() is None
        assert "nvfuser_incomplete_fusion" in repr(fd)
    assert len(set(texts)) == 1
    lines = texts[0].splitlines()
    assert lines[0].startswith("Detected exception while building Fusion IR")
    assert "test_situations.py" in lines[0]
    assert lines[1].strip() == "T3 = fd.ops.cat([T0, T2, T1], dim=0, manual_padding=0)"
    assert lines[2].startswith("Unexpected number of dimensions")
    assert FusionCache.get().num_fusions() == 1
    assert complete().id() == 1


@pytest.mark.parametrize(
    ("inputs", "gist"),
    [
        ([2.0, 3.0], "Expected input 0, .*, to be an at::Tensor but got scalar 2"),
        (
            [torch.ones(2, 2), torch.ones(2)],
            "Expected input 1, .*, to be a scalar but got float tensor of rank 1",
        ),
        (
            [torch.ones(2, 2).double(), 3.0],
            "Expected input 0, .*, to be bound to a tensor of dtype float, but got a tensor of "
            "dtype double",
        ),
        (
            [torch.ones(2, 2), 2 + 1j],
            r"Scalar value \(2,1\) is not compatible with the expected data type: double.",
        ),
        ([torch.ones(2, 2)], "less argument than kernel's input"),
    ],
)
def test_wrong_inputs(inputs: list[Any], gist: str) -> None:
    """Number and kinds."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.mul(t0, fd.define_scalar(None)))
    for _ in range(2):
        with pytest.raises(RuntimeError, match=gist):
            fd.execute(inputs)
        fd.execute([torch.ones(2, 2), 1.0])


def test_definitions_take_any_attribute() -> None:
    """3, README: scripts keep handles and notes on the object."""
    fd: Any = complete()
    fd.note = "mine"
    assert fd.note == "mine"
    assert not hasattr(fd, "schedule")
    assert not hasattr(FusionDefinition, "schedule")


def test_definition_statements_in_a_schedule_are_refused() -> None:

    class Adds(FusionDefinition):
        def definition(self) -> None:
            self.t0 = self.define_tensor([-1])
            self.add_output(self.ops.neg(self.t0))

        def schedule(self) -> None:
            self.ops.neg(self.t0)

    with pytest.raises(RuntimeError, match="Attempting to add to a completed definition!"):
        Adds().execute([torch.ones(4)])


def test_schedule_calls_without_an_open_schedule_say_so() -> None:
    fd: Any = complete()
    with pytest.raises(RuntimeError, match="No schedule is open"):
        fd.sched.parallelize(fd.t0, 0, ParallelType.block_x)

"""check_register_arrays: an array in registers has a constant size."""

from __future__ import annotations

from pass_text import BX, check_refused, check_unchanged

from nvfuser_direct import FusionDefinition, TensorView

NAME = "check_register_arrays"


def chain(*sizes: int) -> tuple[FusionDefinition, TensorView, TensorView]:
    with FusionDefinition() as fd:
        x = fd.define_tensor(list(sizes), contiguity=True)
        first = fd.ops.exp(x)
        y = fd.ops.neg(first)
        fd.add_output(y)
    return fd, first, y


def test_a_constant_size_is_allowed() -> None:
    check_unchanged(chain(8, 64)[0], NAME)


def test_a_size_that_inlining_makes_constant_is_allowed() -> None:
    fd, first, _ = chain(-1, 64)
    first.inline_at(1)
    check_unchanged(fd, NAME)


def test_a_fusion_without_schedule_is_told_so() -> None:
    check_refused(chain(-1)[0], NAME, "The fusion has no schedule")


def test_a_tensor_that_a_schedule_was_not_propagated_to_is_told_so() -> None:
    fd, _, y = chain(-1)
    y.split(0, 128)
    y.axis(0).parallelize(BX)
    check_refused(fd, NAME, "has no share of the schedule of its reader")


def test_a_tensor_that_is_not_inlined_deep_enough_is_told_so() -> None:
    fd, first, y = chain(-1, -1)
    for tensor in (first, y):
        tensor.split(1, 4)
    first.inline_at(1)
    check_refused(fd, NAME, "A tensor in registers needs a constant size")

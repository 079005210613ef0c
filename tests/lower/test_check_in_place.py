"""check_in_place: an input is overwritten only after every read of it, by the thread that read."""

from __future__ import annotations

from pass_text import BX, TX, bound, check_refused, check_unchanged

from nvfuser_direct import FusionDefinition

NAME = "check_in_place"


def updated(*, permuted: bool) -> FusionDefinition:
    """x = x + 1, and x or its transpose is read by another output."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.ops.add(x, 1.0)
        z = fd.ops.neg(fd.ops.permute(x, [1, 0]) if permuted else x)
        fd.add_output(y, x)
        fd.add_output(z)
        for tensor in (y, z):
            tensor.axis(0).parallelize(BX)
            tensor.axis(1).parallelize(TX)
    return fd


def test_an_update_of_the_element_that_a_thread_reads_is_as_it_was() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.ops.add(x, 1.0)
        fd.add_output(y, x)
        bound(fd, y, BX, TX)
    check_unchanged(fd, NAME)


def test_readers_of_the_same_elements_in_the_same_threads_are_allowed() -> None:
    check_unchanged(updated(permuted=False), NAME)


def updated_beside(*, is_wider: bool) -> FusionDefinition:
    """An update that shares its loop with a tensor that has another axis, of size 1 or 4."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32], contiguity=True)
        wide = fd.define_tensor([32, 4 if is_wider else 1], contiguity=[True, is_wider or None])
        y = fd.ops.add(x, 1.0)
        z = fd.ops.add(fd.ops.broadcast(y, [False, True]), wide)
        fd.add_output(y, x)
        fd.add_output(z)
        z.merge(0)
        z.split(0, 8)
        bound(fd, z, BX, TX)
    return fd


def test_a_loop_over_an_axis_of_size_1_as_well_updates_once() -> None:
    check_unchanged(updated_beside(is_wider=False), NAME)


def test_a_loop_over_an_axis_of_several_elements_as_well_is_refused() -> None:
    check_refused(
        updated_beside(is_wider=True), NAME, "An update in place would be done several times"
    )


def test_a_reader_in_another_thread_is_refused() -> None:
    check_refused(
        updated(permuted=True),
        NAME,
        "An input is updated in place while another thread may still read it",
    )

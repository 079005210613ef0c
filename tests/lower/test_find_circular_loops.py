"""find_circular_loops: the loops ahead of which circular buffers are loaded."""

from __future__ import annotations

from pass_text import TX, check_refused, check_unchanged

from nvfuser_direct import FusionDefinition, MemoryType

NAME = "find_circular_loops"


def two_buffers(*stages: tuple[int, int]) -> FusionDefinition:
    """Rows of two inputs are loaded ahead of one loop."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 64], contiguity=True)
        w = fd.define_tensor([16, 64], contiguity=True)
        y = fd.ops.add(x, w)
        fd.add_output(y)
        y.axis(1).parallelize(TX)
        for tensor, (number, distance) in zip((x, w), stages, strict=True):
            loaded = tensor.cache_after()
            loaded.set_memory_type(MemoryType.shared)
            loaded.axis(1).parallelize(TX)
            loaded.inline_at(1)
            loaded.circular_buffer(number, distance)
    return fd


def test_statements_stay() -> None:
    check_unchanged(two_buffers((3, 2), (3, 2)), NAME)


def test_storage_and_indices_then_have_stages() -> None:
    text = str(two_buffers((3, 2), (3, 2)).fusion.lower(until="build_loop_nests"))
    assert text.count("size=192") == 2
    assert "% 3" in text


def test_buffers_of_one_loop_with_different_stages_are_refused() -> None:
    check_refused(
        two_buffers((3, 2), (4, 2)), NAME, "Circular buffers of one loop differ in their stages"
    )


def test_a_producer_that_is_computed_in_the_loop_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 64], contiguity=True)
        first = fd.ops.exp(x)
        loaded = fd.ops.set(first)
        y = fd.ops.neg(loaded)
        fd.add_output(y)
        loaded.set_memory_type(MemoryType.shared)
        loaded.inline_at(1)
        loaded.circular_buffer(2, 1)
        first.inline_at(1)
    check_refused(fd, NAME, "The producer of a circular buffer is computed inside of its loop")

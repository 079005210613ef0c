"""find_parallel_dims: the sizes of grid and block, and which hardware indices fit their axes."""

from __future__ import annotations

from pass_text import BX, TX, TY, bound, check_unchanged, plain

from nvfuser_direct import FusionDefinition, ParallelType

NAME = "find_parallel_dims"


def extents(fd: FusionDefinition, until: str) -> list[str | None]:
    """The extents of grid_x, grid_y, grid_z, block_x, block_y, block_z."""
    found = fd.fusion.lower(until=until).launch_extents()
    return [None if extent is None else extent.to_inline_string() for extent in found]


def rows(*bindings: ParallelType, size: int = -1) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([size], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 128)
        bound(fd, y, *bindings)
    return fd


def test_extents_are_known_after_the_pass_and_not_before() -> None:
    fd = rows(BX, TX)
    assert extents(fd, "resolve_compute_with") == [None] * 6
    assert extents(fd, NAME) == ["( ceilDiv(i0, 128) )", None, None, "128", None, None]


def test_an_index_that_no_axis_is_bound_to_has_none() -> None:
    assert extents(rows(), NAME) == [None] * 6
    assert extents(rows(TY), NAME)[4] == "( ceilDiv(i0, 128) )"


def test_the_largest_of_several_axes_decides() -> None:
    with FusionDefinition() as fd:
        for size in (32, 96, 64):
            y = fd.ops.neg(fd.define_tensor([size], contiguity=True))
            fd.add_output(y)
            y.axis(0).parallelize(TX)
    assert extents(fd, NAME)[3] == "96"


def test_a_padded_axis_is_launched_with_whole_warps() -> None:
    with FusionDefinition() as fd:
        y = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
        fd.add_output(y)
        y.axis(0).parallelize(TX)
        y.axis(0).pad_to_multiple_of_warp()
    assert "32" in (extents(fd, NAME)[3] or "")


def test_an_axis_that_is_smaller_than_its_index_is_tested() -> None:
    """The index of a launch with 96 threads runs past an axis of 32."""
    with FusionDefinition() as fd:
        for size in (32, 96):
            y = fd.ops.neg(fd.define_tensor([size], contiguity=True))
            fd.add_output(y)
            y.axis(0).parallelize(TX)
    text = plain(str(fd.fusion.lower(until="place_conditions")))
    assert text.count("IF") == 1
    assert "(tx < 32)" in text


def test_statements_stay() -> None:
    check_unchanged(rows(BX, TX), NAME)

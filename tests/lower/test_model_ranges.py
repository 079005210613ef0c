"""model_ranges: what is known of loop indices, so that later passes can prove something."""

from __future__ import annotations

from pass_text import BX, TX, bound, check_unchanged, plain

from nvfuser_direct import FusionDefinition, ParallelType

NAME = "model_ranges"


def split_rows(size: int, *bindings: ParallelType) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([size], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 16)
        bound(fd, y, *bindings)
    return fd


def conditions(fd: FusionDefinition) -> int:
    return plain(str(fd.fusion.lower(until="place_conditions"))).count("IF")


def test_it_finds_out_and_changes_nothing() -> None:
    check_unchanged(split_rows(64, BX, TX), NAME)


def test_a_serial_index_stays_below_the_extent_of_its_loop() -> None:
    assert conditions(split_rows(64)) == 0
    assert conditions(split_rows(60)) == 1


def test_a_hardware_index_stays_below_what_is_launched() -> None:
    assert conditions(split_rows(64, BX, TX)) == 0
    assert conditions(split_rows(60, BX, TX)) == 1


def test_an_index_that_fits_a_size_that_is_only_known_at_run_time_is_not_tested() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(0).parallelize(BX)
        y.axis(1).parallelize(TX)
    assert conditions(fd) == 0

"""Random programs with random schedules come back from bytes; changed bytes never crash."""

import random
from functools import partial

import pytest
from profiles import settings
from serialized_programs import check_mutations, check_round_trip, mutated, report_of, summary

from nvfuser_direct import Fusion, FusionDefinition, ParallelType

SEEDS = range(100_000, 100_000 + 40 * settings.default.max_examples)
PART = 20  # seeds of one test


@pytest.mark.parametrize("first", SEEDS[::PART])
def test_random_programs_come_back(first: int) -> None:
    report = partial(report_of, mutations=5)
    reports = [report(seed, "cpu") for seed in range(first, first + PART)]
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    same = sum(report.result == "same statements" for report in reports)
    assert same >= PART // 4, summary(reports)


def define() -> Fusion:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        fd.add_output(fd.ops.softmax(x, 1))
    return fd.fusion


def test_changes_are_refused_or_say_another_fusion() -> None:
    assert check_mutations(define(), 2000, random.Random(0)) > 0


def test_a_seed_makes_the_same_changes_again() -> None:
    data = check_round_trip(define()).serialize()
    first, second = (random.Random(1) for _ in range(2))
    changes = [mutated(data, first) for _ in range(10)]
    assert changes == [mutated(data, second) for _ in range(10)]
    assert len(set(changes)) > 5


def test_an_empty_axis_that_is_padded_to_warps_comes_back() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([0, 8], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(0).parallelize(ParallelType.block_x)
        y.axis(0).pad_to_multiple_of_warp()
    copy = Fusion.deserialize(fd.fusion.serialize())
    assert copy.outputs()[0].axis(0).has_padding_to_multiple_of_warp()

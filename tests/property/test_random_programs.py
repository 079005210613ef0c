"""Random fusions give the same by kernels, by the evaluator, and after translation."""

import contextlib

import pytest
from profiles import settings
from program_builder import D, Unfit
from random_operations import KINDS, Operations
from random_programs import make_program, report_of, run_seeds, summary

from nvfuser_direct import ops

SEEDS = range(60 * settings.default.max_examples)
PART = 15  # seeds of one test


@pytest.mark.parametrize("first", SEEDS[::PART])
def test_random_programs(first: int, target: str) -> None:
    reports = [report_of(seed, target) for seed in range(first, first + PART)]
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    # The evaluator is for what has no kernel, which is little.
    assert sum(report.result == "kernel" for report in reports) >= PART // 2


def test_programs_are_legal() -> None:
    # No refused program is made: `Unfit` is raised before, and any error fails.
    programs = [make_program(seed) for seed in range(10_000, 10_400)]
    kinds = {kind for program in programs for kind in program.names}
    assert kinds == set(KINDS)


def test_products_repeat_k_in_both_factors_or_in_none() -> None:
    # "K should be broadcast in both A and B, or neither" is an error of the definition.
    builder = Operations(0)
    builder.begin(needs_finite=True)
    with builder.fd:
        for shape, sizes in (([3, 4], [3, 4]), ([4, 5], [1, 5]), ([3, 4], [3, 1]), ([4], [1])):
            plain = builder.new_input(D.Float, sizes)
            if shape != sizes:
                builder.moved(plain, ops.expand(plain.tensor, shape), shape)
        is_repeated = set()
        given = list(builder.values)
        for _ in range(300):
            builder.values = list(given)
            builder.begin(needs_finite=True)
            with contextlib.suppress(Unfit):
                builder.product()
                is_repeated.add(builder.read[0].axes[-1].is_broadcast())
    assert is_repeated == {False, True}


def test_a_seed_makes_the_same_program_again() -> None:
    first, second = make_program(7), make_program(7)
    assert first.fd.fusion.print_math() == second.fd.fusion.print_math()
    assert repr(first.inputs) == repr(second.inputs)


def test_seeds_are_spread_over_processes() -> None:
    reports = run_seeds([3, 4, 5], "cpu", 2)
    assert [report.seed for report in reports] == [3, 4, 5]
    assert all(report.result != "failed" for report in reports), summary(reports)

"""Random fusions give the same by kernels, by the evaluator, and after translation."""

import pytest
from profiles import settings
from random_programs import make_program, report_of, run_seeds, summary

SEEDS = range(60 * settings.default.max_examples)
PART = 15  # seeds of one test


@pytest.mark.parametrize("first", SEEDS[::PART])
def test_random_programs(first: int, target: str) -> None:
    reports = [report_of(seed, target) for seed in range(first, first + PART)]
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    # The evaluator is for what has no kernel, which is little.
    assert sum(report.result == "kernel" for report in reports) >= PART // 2


def test_a_seed_makes_the_same_program_again() -> None:
    first, second = make_program(7), make_program(7)
    assert first.fd.fusion.print_math() == second.fd.fusion.print_math()
    assert repr(first.inputs) == repr(second.inputs)


def test_seeds_are_spread_over_processes() -> None:
    reports = run_seeds([3, 4, 5], "cpu", 2)
    assert [report.seed for report in reports] == [3, 4, 5]
    assert all(report.result != "failed" for report in reports), summary(reports)

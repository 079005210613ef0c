"""Random fusions compute the same before and after the passes from fusion to fusion."""

import pytest
from optimized_programs import REDUNDANT, Redundant, report_of
from profiles import settings
from random_programs import make_program, summary

SEEDS = range(40 * settings.default.max_examples)
PART = 10  # seeds of one test


@pytest.mark.parametrize("first", SEEDS[::PART])
def test_optimized_programs(first: int, target: str) -> None:
    reports = [report_of(seed, target) for seed in range(first, first + PART)]
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    assert any(report.result == "kernel" for report in reports)


def test_programs_have_what_passes_look_for() -> None:
    programs = [make_program(seed, Redundant) for seed in range(400)]
    kinds = {kind for program in programs for kind in program.names}
    assert kinds >= set(REDUNDANT)


def test_what_a_scheduler_takes_is_lowered() -> None:
    """A pad of what a reshape makes of a broadcast is none of one kernel."""
    report = report_of(910058, "cpu")
    assert report.result == "kernel", report.text

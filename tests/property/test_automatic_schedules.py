"""A fusion that a scheduler takes has a kernel that computes what the math says."""

import pytest
from automatic_schedules import report_of, summary
from profiles import settings

SEEDS = range(80 * settings.default.max_examples)
PART = 40  # seeds of one test


@pytest.mark.parametrize("first", SEEDS[::PART])
def test_random_programs_through_their_schedulers(first: int, target: str) -> None:
    reports = [report_of(seed, target) for seed in range(first, first + PART)]
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    assert sum(report.result == "kernel" for report in reports) >= PART // 5, summary(reports)

"""Executions of one definition with several shapes: what came before decides nothing."""

import pytest
from profiles import settings
from shape_orders import report_of

SEEDS = range(12 * settings.default.max_examples)
PART = 3  # seeds of one test


@pytest.mark.parametrize("first", SEEDS[::PART])
def test_a_plan_never_depends_on_which_shape_came_first(first: int, target: str) -> None:
    reports = [report_of(seed, target) for seed in range(first, first + PART)]
    failed = [report for report in reports if report.result == "failed"]
    assert not failed, [(report.seed, report.text) for report in failed]

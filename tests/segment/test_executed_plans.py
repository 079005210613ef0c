"""Random definitions through `fd.execute`: segments give what the evaluator gives."""

import pytest
from executed_plans import report_of, summary

PART = 6  # seeds of one test


@pytest.mark.parametrize("first", range(0, 24, PART))
def test_execute_runs_any_definition(first: int, target: str) -> None:
    reports = [report_of(seed, target) for seed in range(first, first + PART)]
    assert all(report.result == "executed" for report in reports), summary(reports)

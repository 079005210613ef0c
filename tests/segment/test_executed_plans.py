"""Random definitions through `fd.execute`: segments give what the evaluator gives."""

import pytest
from executed_plans import report_of, summary

PART = 6  # seeds of one test


@pytest.mark.parametrize("first", range(0, 24, PART))
def test_execute_runs_any_definition(first: int, target: str) -> None:
    reports = [report_of(seed, target) for seed in range(first, first + PART)]
    assert all(report.result == "executed" for report in reports), summary(reports)


# Axes that are one in another segment are unrelated here; outputs of several shapes; values beside
# what they are met with.
ONCE_TRIVIAL = [7204410, 7204502, 7205098, 7205757, 7205809, 7206806]


@pytest.mark.parametrize("seed", ONCE_TRIVIAL)
def test_schedulers_take_every_segment(seed: int) -> None:
    report = report_of(seed, "cpu")
    assert report.result == "executed", report.text
    assert "trivial" not in report.kinds


# A view of a strided input that a library reads, and that is found to be one after its reader.
WITH_STRIDED_VIEWS = [7211310]


@pytest.mark.parametrize("seed", WITH_STRIDED_VIEWS)
def test_readers_of_views_know_that_these_are_strided(seed: int) -> None:
    report = report_of(seed, "cpu")
    assert report.result == "executed", report.text

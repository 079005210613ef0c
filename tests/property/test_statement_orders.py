"""Definitions that say the same in different orders have one plan."""

import pytest
from profiles import settings
from statement_orders import report_of

SEEDS = range(80 * settings.default.max_examples)
PART = 40  # seeds of one test


@pytest.mark.parametrize("made_for", ["cuda", "cpu"])
@pytest.mark.parametrize("first", SEEDS[::PART])
def test_plans_do_not_depend_on_the_order_of_statements(first: int, made_for: str) -> None:
    reports = [report_of(seed, made_for) for seed in range(first, first + PART)]
    failed = [report for report in reports if report.result == "failed"]
    assert not failed, [(report.seed, report.text) for report in failed]


# Sizes that are computed twice in one order only; a reshaped axis that is padded.
OTHER_SIZES = [30878, 30906]


@pytest.mark.parametrize("seed", OTHER_SIZES)
def test_plans_do_not_depend_on_how_often_a_size_is_written(seed: int) -> None:
    report = report_of(seed, "cpu")
    assert report.result == "same plans", report.text

"""inline_most leaves a schedule that lowers."""

import pytest
from kept_promises import CallReport
from profiles import settings
from scheduled_programs import summary

SEEDS = range(200 * settings.default.max_examples)


@pytest.mark.parametrize("kind", ["plain", "boxes"])
def test_what_lowers_before_inline_most_lowers_after_it(target: str, kind: str) -> None:
    report = CallReport("inline_most", kind)
    reports = [report(seed, target) for seed in SEEDS]
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    assert any(report.result == "kept" for report in reports), summary(reports)

"""Kernels of random scheduled programs compile in a short time."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest
from compiled_programs import report_of
from profiles import settings
from random_programs import run_seeds
from scheduled_programs import summary

sys.path.insert(0, str(Path(__file__).parents[1] / "codegen"))
from device_sources import nvrtc

COMPILED = range(5200000, 5200000 + 8 * settings.default.max_examples)


@pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")
@pytest.mark.parametrize("kind", ["plain", "tiles"])
def test_no_kernel_of_a_random_program_takes_long_to_compile(kind: str) -> None:
    reports = run_seeds(COMPILED, "cuda", 1, partial(report_of, kind=kind))
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    assert any(report.result == "kernel" for report in reports), summary(reports)

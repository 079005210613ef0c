"""Threads and processes that execute fusions at once (threaded_programs.py runs more of them)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("threaded_programs.py")


def run(**options: int | str) -> str:
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    result = subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_threads_get_right_results_and_compile_each_kernel_once(target: str) -> None:
    text = run(target=target, threads=16, fusions=5, calls=100)
    assert "0 failures" in text
    assert " 0 of them again" in text


def test_processes_that_begin_at_once_share_an_empty_cache(target: str) -> None:
    text = run(target=target, threads=4, fusions=5, calls=20, processes=2)
    assert text.count("0 failures") == 2

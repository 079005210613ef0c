"""Bytes that Nsight Compute counted are dealt to the cases of the suite."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import dram_bytes

PRINTED = """\
==PROF== Connected to process 5
a line of the program
"ID","Kernel Name","Grid Size","dram__bytes_read.sum","dram__bytes_write.sum"
"","","","byte","byte"
"0","void at::cuda::spin_kernel(long)","(1, 1, 1)","96","0"
"1","CUDAGeneratedKernel","(4, 1, 1)","1,000,000","500000"
"2","void at::cuda::spin_kernel(long)","(1, 1, 1)","96","0"
"3","CUDAGeneratedKernel","(4, 1, 1)","2000000","32"
"4","CUDAGeneratedKernel","(2, 1, 1)","4000000","1000000"
"""


def test_the_launches_between_two_marks_are_those_of_a_case() -> None:
    launches = dram_bytes.counted_launches(PRINTED)
    first, second = dram_bytes.dealt(
        launches, [("map", 1_000_000, 500_000), ("sum", 4_000_000, 64)]
    )
    assert (first.read, first.written, first.ratio) == (1_000_000, 500_000, 1.0)
    assert (second.read, second.written) == (6_000_000, 1_000_032)
    assert second.ratio == pytest.approx(7_000_032 / 4_000_064)
    assert len(second.kernels) == 2
    assert dram_bytes.line(second).split() == "sum 4.0 6.0 0.0 1.0 1.750 2".split()


def test_a_machine_without_counters_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusing = tmp_path / "ncu"
    refusing.write_text("#!/bin/sh\necho '==ERROR== Failed to initialize the profiler'\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(sys, "argv", ["dram_bytes.py"])
    monkeypatch.setattr(dram_bytes, "find_profiler", lambda: str(refusing))
    assert dram_bytes.main() == 2
    assert "Failed to initialize the profiler" in capsys.readouterr().out

    monkeypatch.setattr(dram_bytes, "find_profiler", lambda: None)
    assert dram_bytes.main() == 2
    assert "ncu" in capsys.readouterr().out

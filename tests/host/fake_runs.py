"""Runs scripts on a GPU that is not there (fake_gpu.py)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import nvfuser_direct as nvf

HERE = Path(__file__).parent
needs_fake = pytest.mark.skipif(
    shutil.which("cc") is None or torch.cuda.is_available(),
    reason="no compiler of C, or a driver that is no fake",
)


def run_with_driver(driver: Path, text: str, **environment: str) -> None:
    """Run a script whose `log` is that of the driver; it must not fail."""
    package = Path(nvf.__file__).parents[1]
    result = subprocess.run(
        [sys.executable, "-c", "from fake_gpu import *\nlog = Log()\n" + text],
        env=os.environ
        | {
            "LD_LIBRARY_PATH": str(driver),
            "NVFUSER_NVRTC": str(driver / "libnvrtc.so.12"),
            "PYTHONPATH": f"{HERE}{os.pathsep}{package}",
            "NVFUSER_KERNEL_CACHE": "0",
        }
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr

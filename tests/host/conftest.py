"""A driver without a GPU, which keeps a log of what it is asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that it lies in."""
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("fake_driver.c")
    for name in ("libcuda.so.1", "libnvrtc.so.12"):
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-w", str(source), "-o", str(folder / name)],
            check=True,
        )
    return folder

"""The package, its stubs, the examples and a user's program pass ``mypy --strict``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


PACKAGE = "python/nvfuser_direct"


def files_of(folder: Path) -> list[Path]:
    """Modules of a folder; a stub stands for its module."""
    return [
        file
        for file in sorted(folder.glob("*.py*"))
        if file.suffix == ".pyi" or not file.with_suffix(".pyi").exists()
    ]


@pytest.mark.parametrize(
    "paths",
    [
        [PACKAGE, f"{PACKAGE}/_core", f"{PACKAGE}/evaluator"],
        ["python/nvfuser"],
        ["examples", "examples/schedules"],
        ["tests/typing"],
    ],
    ids=lambda paths: paths[0],
)
def test_types_are_strict(paths: list[str]) -> None:
    pytest.importorskip("mypy")
    result = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict"),
            *(str(file) for path in paths for file in files_of(REPOSITORY / path)),
        ],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        # Examples import their harness as scripts do: from their own folder.
        env={**os.environ, "MYPYPATH": os.pathsep.join(["python", "examples/schedules"])},
    )
    assert result.returncode == 0, result.stdout

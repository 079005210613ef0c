"""Every example, on every target, for small sizes that divide nothing."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCHEDULES = EXAMPLES / "schedules"
sys.path.insert(0, str(SCHEDULES))

import harness  # noqa: E402

NAMES = sorted(path.stem for path in SCHEDULES.glob("*.py") if path.stem != "harness")


@pytest.mark.sanitize
@pytest.mark.parametrize("name", NAMES)
def test_example_agrees_with_pytorch(target, name):
    example = importlib.import_module(name)
    for sizes in example.SIZES:
        result = harness.run(example, sizes, target)
        assert result.error <= example.RTOL, f"{name} {sizes}"


@pytest.mark.parametrize("script", ["demo.py", "dependent_grids.py", "simple.py"])
def test_script_runs(target, script):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script), "--target", target],
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
@pytest.mark.parametrize("name", NAMES)
def test_kernel_prints_without_hardware(kind, name):
    example = importlib.import_module(name)
    for sizes in (example.SIZES[0], example.BENCHMARK):
        fd = harness.scheduled(example, sizes)
        assert fd.fusion.print_kernel(target=kind)

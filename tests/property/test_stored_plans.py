"""Definitions that find their plan on the disk compute the same bits as without it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from profiles import settings

COUNT = 40 * settings.default.max_examples


def test_plans_on_disk_compute_the_same_bits(target: str) -> None:
    script = Path(__file__).with_name("stored_plans.py")
    environment = {name: v for name, v in os.environ.items() if name != "NVFUSER_VERIFY_PASSES"}
    result = subprocess.run(
        [sys.executable, script, f"--count={COUNT}", f"--target={target}", "--processes=2"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    stored = re.search(r"(\d+) stored", result.stdout)
    assert stored, result.stdout
    assert int(stored[1]) > COUNT // 4, result.stdout  # those that are cut

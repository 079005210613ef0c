"""NVFUSER_DUMP=python_definition_segments: segments are printed when they are built."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

PROGRAM = """
import torch
from {package} import FusionDefinition
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.neg(fd.ops.segment_set(fd.ops.exp(x))))
x = torch.ones(4, 6)
{call}
print("ids", fd.id() if "{package}" == "nvfuser" else 0)
"""
CALLS = [
    ("nvfuser", "fd.segment([x])"),
    ("nvfuser", "fd.segment([x]); fd.execute([x])"),
    ("nvfuser", "fd.execute([x])"),
    ("nvfuser_direct", "fd.execute([x])"),
]


@pytest.mark.parametrize(("package", "call"), CALLS)
def test_segments_are_printed_in_the_order_of_their_runs(package: str, call: str) -> None:
    """segmentation.md 9 and frontend.md 12: at `segment`, and when a plain run is compiled; a
    segment that was printed when it was built is not printed again when it runs"""
    printed = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(package=package, call=call)],
        env=os.environ | {"NVFUSER_DUMP": "python_definition_segments"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    groups = re.split(r"Python definition for segmented group (\d+):\n", printed)
    assert groups[1::2] == ["0", "1"]
    assert "ops.exp(" in groups[2]
    assert "ops.neg(" in groups[4]
    assert all("add_output(" in text for text in groups[2::2])

"""Options of the environment, each in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap

import pytest

DEFINE = """
import torch, nvfuser
from nvfuser import FusionDefinition
def define(factor):
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.mul(t0, fd.define_scalar(factor)))
    return fd
"""


def run(script: str, **environment: str) -> str:
    cleared = {name: value for name, value in os.environ.items() if "NVFUSER_DUMP" not in name}
    process = subprocess.run(
        [sys.executable, "-W", "default", "-c", DEFINE + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        env={**cleared, **environment},
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


@pytest.mark.parametrize("prefix", ["", "PYTORCH_"])
def test_definitions_are_printed_when_they_get_their_id(prefix: str) -> None:
    """The dump python_definition, once for each id and before the run; also by the older name."""
    out = run(
        """
        a = define(2.0)
        print("first")
        b = define(2.0)
        a.execute([torch.ones(2, 2)])
        print("second")
        define(3.0)
        """,
        **{f"{prefix}NVFUSER_DUMP": "python_definition"},
    )
    names = re.findall(r"first|second|nvfuser_fusion_id\d", out)
    assert names == ["nvfuser_fusion_id0", "first", "second", "nvfuser_fusion_id1"]
    assert "S1 = fd.define_scalar(2.00000, dtype=DataType.Double)" in out


def test_the_definition_is_printed_before_the_ir_is_built() -> None:
    """So it is seen where that fails."""
    out = run(
        """
        try:
            with FusionDefinition() as fd:
                fd.add_output(fd.ops.sum(fd.define_tensor([-1]), [7]))
        except RuntimeError:
            print("failed")
        """,
        NVFUSER_DUMP="python_definition",
    )
    assert out.index("nvfuser_fusion_id0") < out.index("failed")


def test_walks_through_the_trie_are_printed() -> None:
    """The dump python_frontend_debug."""
    out = run(
        """
        define(2.0)
        print("again")
        define(2.0)
        """,
        NVFUSER_DUMP="python_frontend_debug",
    )
    first, second = out.split("again\n")
    assert len(re.findall(r"^Record \(hash: 0x[0-9a-f]+\) missed", first, re.M)) == 4
    assert "Create new trie node for: T2 = fd.ops.mul(T0, " in first
    assert "Terminal Node not found." in first
    assert (
        len(re.findall(r"^Record \(hash: 0x[0-9a-f]+\) hit in Fusion Cache\.", second, re.M)) == 4
    )
    assert "Terminal Node found!" in second


def test_dumps_of_a_run_are_captured() -> None:
    """To stdout, or to the captured output."""
    out = run(
        """
        fd = define(2.0)
        x = torch.ones(2, 2)
        fd.execute([x], capture_debug_output=True)
        text = fd.debug_output()
        assert "Fusion IR (original)" in text, text
        print("captured", len(text) > 0)
        other = define(3.0)
        other.execute([x])
        assert other.debug_output() is None
        """,
        NVFUSER_DUMP="fusion_ir_original",
    )
    assert out.index("captured True") < out.index("Fusion IR (original)")


def test_a_definition_made_by_execute_is_captured_too() -> None:
    """Everything that dumps print during the call."""
    out = run(
        """
        class Doubles(FusionDefinition):
            def definition(self):
                t0 = self.define_tensor([-1])
                self.add_output(self.ops.add(t0, t0))
        fd = Doubles()
        fd.execute([torch.ones(3)], capture_debug_output=True)
        assert "nvfuser_fusion_id0" in fd.debug_output(), fd.debug_output()
        """,
        NVFUSER_DUMP="python_definition",
    )
    assert "nvfuser_fusion_id0" not in out


def test_the_older_prefix_warns() -> None:
    """A deprecation warning naming both."""
    out = run("define(2.0).execute([torch.ones(2, 2)])", PYTORCH_NVFUSER_DUMP="fusion_ir_math")
    assert re.search(r"PYTORCH_NVFUSER_DUMP.*NVFUSER_DUMP", out)


def test_an_unknown_option_is_told_with_the_known_ones() -> None:
    """The list of options."""
    out = run(
        """
        try:
            define(2.0).execute([torch.ones(2, 2)])
        except RuntimeError as error:
            print(error)
        """,
        NVFUSER_DUMP="no_such",
    )
    assert "Parsing DUMP failed. Invalid option: 'no_such'" in out
    assert "python_frontend_debug" in out


def test_segments_are_printed_as_definitions() -> None:
    """The dump python_definition_segments, at compile time; no ids are consumed."""
    out = run(
        """
        with FusionDefinition() as fd:
            t0 = fd.define_tensor([-1, -1], contiguity=True)
            t1 = fd.define_tensor([-1, -1], contiguity=True)
            t2 = fd.ops.segment_set(fd.ops.sum(t0, [1]))
            fd.add_output(fd.ops.mul(t1, fd.ops.broadcast(t2, [False, True])))
        x = torch.ones(4, 4)
        fd.execute([x, x])
        print("again")
        fd.execute([x, x])
        assert nvfuser.FusionCache.get().num_fusions() == 1
        assert "Lookups: 1 " in nvfuser.FusionCache.get().stats()
        """,
        NVFUSER_DUMP="python_definition_segments",
    )
    first, second = out.split("again\n")
    assert "Python definition for segmented group" not in second
    groups = first.split("Python definition for segmented group ")[1:]
    assert [group[0] for group in groups] == ["0", "1"]
    assert "fd.ops.sum(T0, dims=[1]" in groups[0]
    assert "fd.ops.mul(T" in groups[1]

"""The API reference: everything public says what it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from nvfuser_direct import ops

TOOL = Path(__file__).parents[2] / "tools/api_reference.py"


def test_everything_is_documented_and_listed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, TOOL, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
    operations = (tmp_path / "operations.md").read_text()
    names = [name for name in dir(ops) if not name.startswith("_")]
    assert [name for name in names if f"## `{name}`" not in operations] == []
    frontend = (tmp_path / "frontend.md").read_text()
    for name in ("FusionDefinition.execute", "FusionCache.serialize", "Operators.add", "clone"):
        assert f"`{name}`" in frontend, name
    assert all(f"]({path.name})" in (tmp_path / "README.md").read_text()
               for path in tmp_path.glob("*.md") if path.name != "README.md")  # fmt: skip


def test_help_of_an_operation_is_useful_on_its_own() -> None:
    text = ops.sum.__doc__
    assert "keepdim" in text
    assert "Parameters" in text
    assert "Returns" in text

"""One to one: the core's names are Python names, or left out with a reason."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import core_names  # noqa: E402

ROWS = core_names.rows()


def test_nothing_is_missing() -> None:
    missing = [
        f"{row.core.header}:{row.core}" for row in ROWS if row.python is None and row.reason is None
    ]
    assert missing == [], "bind them, or say in tools/bindings_left_out.py why not"


def test_every_node_is_a_class() -> None:
    nodes = [row for row in ROWS if row.core.header == "ir/nodes.def"]
    assert len(nodes) > 60
    assert [str(row.core) for row in nodes if row.python is None] == []


def test_every_reason_is_needed() -> None:
    reasons = {row.reason for row in ROWS if row.python is None}
    assert [why for why, _ in core_names.LEFT_OUT if why not in reasons] == []


def test_the_table_is_current() -> None:
    text = (ROOT / "docs/bindings.md").read_text()
    assert text == core_names.table(ROWS) + "\n", (
        "run: python tools/core_names.py --table > docs/bindings.md"
    )

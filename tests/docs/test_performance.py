"""The tables of docs/performance.md are those of the runs in benchmarks/results."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import table  # noqa: E402

RESULTS = sorted((ROOT / "benchmarks/results").glob("*.json"))


@pytest.mark.parametrize("results", RESULTS, ids=lambda path: path.stem)
def test_the_table_is_current(results: Path) -> None:
    expected = table.table(json.loads(results.read_text()))
    assert expected in (ROOT / "docs/performance.md").read_text(), (
        f"run: python benchmarks/table.py {results.relative_to(ROOT)}"
    )


def test_a_peer_that_did_not_run_has_no_figure() -> None:
    row = {
        "name": "softmax",
        "megabytes": 12.0,
        "milliseconds": {"copy": 0.5, "ours": 0.25},
        "score": 2.0,
        "kernel_score": None,
        "scheduler": "inner_persistent",
        "counts": True,
    }
    assert table.table({"rows": [row]}).splitlines()[-1] == (
        "| `softmax` | 12 | 500 | 250 | - | 2.00 | - | - | inner_persistent |"
    )

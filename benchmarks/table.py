"""A kept run of the suite as a table in Markdown.

    python benchmarks/table.py benchmarks/results/nvidia_h200.json

docs/performance.md has the one of the H200. Times are microseconds; a score is the time of a copy
of the same bytes divided by ours, and "best peer" how many times as long the fastest of them takes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

PEERS = {"eager": "eager", "compile": "torch.compile", "max-autotune": "max-autotune"}
NO_FIGURE = "-"


def microseconds(row: dict[str, Any], who: str) -> str:
    time = row["milliseconds"].get(who)
    return NO_FIGURE if time is None else f"{time * 1e3:.0f}"


def over_best_peer(row: dict[str, Any]) -> str:
    """The time of the fastest peer divided by ours."""
    times = [row["milliseconds"][peer] for peer in PEERS if peer in row["milliseconds"]]
    return f"{min(times) / row['milliseconds']['ours']:.2f}" if times else NO_FIGURE


def score(value: float | None) -> str:
    return NO_FIGURE if value is None else f"{value:.2f}"


def cells(row: dict[str, Any], peers: list[str]) -> list[str]:
    return [
        f"`{row['name']}`",
        f"{row['megabytes']:.0f}",
        *(microseconds(row, who) for who in ("copy", "ours", "kernel", *peers)),
        score(row["score"]),
        score(row["kernel_score"]),
        over_best_peer(row),
        row["scheduler"],
    ]


def table(data: dict[str, Any]) -> str:
    """The lines of a run: its cases in their order, memory-bound ones first."""
    rows = [row for row in data["rows"] if "ours" in row["milliseconds"]]
    rows.sort(key=lambda row: not row["counts"])
    peers = [peer for peer in PEERS if any(peer in row["milliseconds"] for row in rows)]
    names = ["case", "MB", "copy", "ours", "kernel", *(PEERS[peer] for peer in peers)]
    names += ["score", "kernel's", "best peer", "by"]
    lines = [names, ["---", *["---:"] * (len(names) - 2), "---"]]
    lines += [cells(row, peers) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path, help="a file of benchmarks/suite.py --json")
    print(table(json.loads(parser.parse_args().results.read_text())))


if __name__ == "__main__":
    main()

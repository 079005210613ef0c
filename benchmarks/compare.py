"""Two runs of the suite, side by side.

    python benchmarks/compare.py before.json after.json [--slack 0.02]

Files are those of `benchmarks/suite.py --json`; benchmarks/results has one of each machine. A ratio
above 1 means that the second run is faster, each measured against the copy of its own run. The exit
status is 1 where a case became slower by more than the slack, is gone, or is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any


def rows_of(path: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(path.read_text())["rows"]}


def verdict(ratio: float | None, after: dict[str, Any] | None, slack: float) -> str:
    if after is None:
        return "gone"
    if after["verdict"]:
        return str(after["verdict"])
    if ratio is not None and ratio < 1 - slack:
        return "slower"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--slack", type=float, default=0.02, help="ratio that counts as noise")
    args = parser.parse_args()
    before, after = rows_of(args.before), rows_of(args.after)

    print(f"{'case':40} {'before':>7} {'after':>7} {'ratio':>7}")
    ratios, failures = [], 0
    for name, row in before.items():
        now = after.get(name)
        ratio = None
        if now and now["score"] and row["score"]:
            ratio = now["score"] / row["score"]
            ratios.append(ratio)
        found = verdict(ratio, now, args.slack)
        failures += found != ""
        scores = [f"{x:.3f}" if x else "-" for x in (row["score"], now and now["score"], ratio)]
        print(f"{name:40} {scores[0]:>7} {scores[1]:>7} {scores[2]:>7}  {found}")
    for name in after.keys() - before.keys():
        print(f"{name:40} {'-':>7} {after[name]['score'] or 0:7.3f} {'-':>7}  new")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of {len(ratios)} ratios: {mean:.3f}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

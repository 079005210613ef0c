#!/usr/bin/env python3
"""Check that the folders of csrc/ are floors: every include points down, none runs in a circle.

A file may include files of its own folder and of folders before it in ``FLOORS``; within a floor
that has parts, a part may include the parts before it in ``PARTS``. Includes among the files of one
folder must not form a cycle either. Prints one line for each violation; exits with 1 if there is
any.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FLOORS = [
    "base",
    "ir",
    "graph",
    "eval",
    "ops",
    "transform",
    "optimize",
    "schedule",
    "segment",
    "lower",
    "codegen",
    "runtime",
    "host",
]

PARTS = {
    "lower": ["analysis", "statements", "passes"],
    "optimize": ["passes"],
    "schedule": [
        "params",
        "summary",
        "common",
        "no_op",
        "expr_eval",
        "persistent",
        "greedy",
        "inner_outer",
        "matmul",
        "pointwise",
        "reduction",
        "resize",
        "transpose",
    ],
}

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_includes(root: Path) -> dict[str, list[str]]:
    """The files under ``root`` (csrc/), sorted, each with the files under ``root`` it includes."""
    files = sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.suffix in {".h", ".cpp", ".def"}
    )
    known = set(files)
    return {
        file: [name for name in _INCLUDE.findall((root / file).read_text()) if name in known]
        for file in files
    }


def find_upward_includes(includes: dict[str, list[str]]) -> list[str]:
    """Includes of a higher floor, and folders that are no floor."""
    found = []
    rank = {floor: number for number, floor in enumerate(FLOORS)}
    for file, targets in includes.items():
        folder = file.split("/")[0]
        if folder not in rank:
            found.append(f"{file}: {folder}/ is not a floor (tools/check_floors.py lists them)")
            continue
        found.extend(
            f'{file}: includes "{target}" from a floor above'
            for target in targets
            if rank.get(target.split("/")[0], len(FLOORS)) > rank[folder]
        )
    return found


def find_parts_in_wrong_order(includes: dict[str, list[str]]) -> list[str]:
    """Includes of a later part of the same floor, and folders in a floor that are no part."""

    def place(file: str) -> tuple[str, int]:
        floor, *folders, _ = file.split("/")
        return floor, PARTS[floor].index(folders[0]) if folders else -1

    found = []
    for file, targets in includes.items():
        floor, *folders, _ = file.split("/")
        if folders and folders[0] not in PARTS.get(floor, []):
            found.append(f"{file}: {folders[0]}/ is no part of {floor}/")
        elif folders:
            found.extend(
                f'{file}: includes "{target}" from a later part'
                for target in targets
                if place(target)[0] == floor and place(target)[1] > place(file)[1]
            )
    return found


def find_cycles(includes: dict[str, list[str]]) -> list[str]:
    """Circles of includes among files, each reported once, from its first file in name order."""
    done: set[str] = set()
    found = []

    def visit(file: str, path: list[str]) -> None:
        if file in path:
            cycle = [*path[path.index(file) :], file]
            found.append("include cycle: " + " -> ".join(cycle))
            return
        if file in done:
            return
        for target in includes[file]:
            visit(target, [*path, file])
        done.add(file)

    for file in includes:
        visit(file, [])
    return found


def find_violations(root: Path) -> list[str]:
    """Everything wrong with the includes under ``root`` (csrc/), as printable lines."""
    includes = read_includes(root)
    return (
        find_upward_includes(includes) + find_parts_in_wrong_order(includes) + find_cycles(includes)
    )


def main() -> int:
    root = Path(__file__).resolve().parent.parent / "csrc"
    violations = find_violations(root)
    for line in violations:
        print(line)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

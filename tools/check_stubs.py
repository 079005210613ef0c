#!/usr/bin/env python3
"""Compare the committed stubs of the extension with those the installed build made.

    check_stubs.py            print the differences; exit with 1 if there are any
    check_stubs.py --update   make the committed stubs the same

The build makes the stubs from the bindings (cmake/python_extension.cmake); they are not edited.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import sys
from pathlib import Path

COMMITTED = Path(__file__).resolve().parent.parent / "python" / "nvfuser_direct" / "_core"
# A change of the whole interface need not fill the screen; --update and a diff show the rest.
MAX_DIFF_LINES = 60


def find_installed() -> Path:
    """The stub folder of the package that this interpreter would import."""
    spec = importlib.util.find_spec("nvfuser_direct")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / "_core").is_dir():
            return Path(folder) / "_core"
    sys.exit("check_stubs: this interpreter has no installed nvfuser_direct with stubs")


def read_stubs(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.pyi")}


def describe_differences(committed: dict[str, str], installed: dict[str, str]) -> list[str]:
    lines: list[str] = []
    for name in sorted(committed.keys() | installed.keys()):
        lines.extend(
            difflib.unified_diff(
                committed.get(name, "").splitlines(),
                installed.get(name, "").splitlines(),
                f"committed/{name}",
                f"installed/{name}",
                lineterm="",
            )
        )
    return lines


def update(committed: dict[str, str], installed: dict[str, str]) -> None:
    for name in committed.keys() - installed.keys():
        (COMMITTED / name).unlink()
    for name, text in installed.items():
        path = COMMITTED / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--update", action="store_true", help="rewrite the committed stubs")
    arguments = parser.parse_args()

    folder = find_installed()
    if COMMITTED.exists() and folder.samefile(COMMITTED):
        print("check_stubs: the checkout itself is imported; a developer build updates its stubs")
        return 0
    committed, installed = read_stubs(COMMITTED), read_stubs(folder)
    if arguments.update:
        update(committed, installed)
        return 0
    lines = describe_differences(committed, installed)
    print("\n".join(lines[:MAX_DIFF_LINES]))
    if lines:
        print(f"{len(lines)} lines of differences: run 'make stubs' and commit the result")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())

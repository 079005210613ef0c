"""Every documented name is there, or its reason is written down.

documented_names.txt has the names of classes, functions, methods, properties and members of
enumerations. Where one is not there, a table of docs/decisions.md has it in its first column, with
`*` for any letters, and the reason beside it.
"""

from __future__ import annotations

import fnmatch
import importlib
import re
from pathlib import Path

import pytest

import nvfuser_direct

LIST = Path(__file__).with_name("documented_names.txt")
DECISIONS = Path(__file__).parents[2] / "docs" / "decisions.md"
NAMES = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
MODULES = ("pytorch_utils", "benchmark_utils", "multidevice")


def is_there(name: str) -> bool:
    """Whether the name leads from the package to something."""
    value: object = nvfuser_direct
    parts = name.split(".")
    if parts[0] in MODULES:
        value = importlib.import_module(f"nvfuser_direct.{parts.pop(0)}")
    for part in parts:
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def reasons() -> dict[str, str]:
    """By pattern of a name, why it is not there."""
    found = {}
    for section in re.split(r"^##+ ", DECISIONS.read_text(), flags=re.MULTILINE):
        if "documented and not there" not in section.partition("\n")[0]:
            continue
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if not line.startswith("|") or len(cells) != 2 or set(cells[1]) <= set("-"):
                continue
            for pattern in re.findall(r"[\w.]+\*?", cells[0].replace("\\", "")):
                found[pattern] = cells[1]
    return found


REASONS = reasons()


@pytest.mark.parametrize("name", NAMES)
def test_a_documented_name_is_there_or_has_a_reason(name: str) -> None:
    if is_there(name):
        return
    parts = name.split(".")
    forms = {name, parts[-1], parts[0], ".".join(parts[:2])}
    assert any(fnmatch.fnmatchcase(form, pattern) for form in forms for pattern in REASONS), (
        f"{name} is not there, and no table of docs/decisions.md says why"
    )


def test_the_list_has_every_name_once() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert sum(is_there(name) for name in NAMES) > 500

"""The floors of csrc/ hold, and the check that says so finds what it should."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def load_check() -> ModuleType:
    path = REPOSITORY / "tools" / "check_floors.py"
    spec = importlib.util.spec_from_file_location("check_floors", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_floors = load_check()


def test_includes_point_down_the_floors() -> None:
    assert check_floors.find_violations(REPOSITORY / "csrc") == []


def write_tree(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("files", "violations"),
    [
        ({"base/a.h": "", "ir/b.h": '#include "base/a.h"\n'}, []),
        (
            {"base/a.h": '#include "ir/b.h"\n', "ir/b.h": ""},
            ['base/a.h: includes "ir/b.h" from a floor above'],
        ),
        (
            {"ir/a.h": '#include "ir/b.h"\n', "ir/b.h": '# include "ir/a.h"\n'},
            ["include cycle: ir/a.h -> ir/b.h -> ir/a.h"],
        ),
        (
            {"cellar/a.h": ""},
            ["cellar/a.h: cellar/ is not a floor (tools/check_floors.py lists them)"],
        ),
        (
            {
                "lower/kernel.h": "",
                "lower/analysis/a.h": '#include "lower/kernel.h"\n',
                "lower/passes/b.h": '#include "lower/analysis/a.h"\n',
            },
            [],
        ),
        (
            {"lower/analysis/a.h": '#include "lower/passes/b.h"\n', "lower/passes/b.h": ""},
            ['lower/analysis/a.h: includes "lower/passes/b.h" from a later part'],
        ),
        (
            {"lower/attic/a.h": "", "ir/cellar/b.h": ""},
            [
                "ir/cellar/b.h: cellar/ is no part of ir/",
                "lower/attic/a.h: attic/ is no part of lower/",
            ],
        ),
    ],
)
def test_check_floors_finds(tmp_path: Path, files: dict[str, str], violations: list[str]) -> None:
    write_tree(tmp_path, files)
    assert check_floors.find_violations(tmp_path) == violations

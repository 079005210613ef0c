"""The core catches exceptions at its borders only, and the check that says so finds what it
should."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).resolve().parent.parent


def load_check() -> ModuleType:
    path = REPOSITORY / "tools" / "check_catches.py"
    spec = importlib.util.spec_from_file_location("check_catches", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_catches = load_check()


def write(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_exceptions_are_caught_at_borders_only() -> None:
    assert check_catches.find_violations(REPOSITORY) == []


def test_a_catch_without_a_reason_is_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        "csrc/ir/a.cpp",
        "void f() {\n  try {\n    g();\n  } catch (const Error&) {\n  }\n}\n",
    )
    (line,) = check_catches.find_violations(tmp_path, {})
    assert line.startswith("csrc/ir/a.cpp:4: catch (const Error&) is at no border")
    assert check_catches.find_violations(tmp_path, {("csrc/ir/a.cpp", "const Error&"): "why"}) == []


def test_words_in_comments_and_texts_are_no_catches(tmp_path: Path) -> None:
    write(
        tmp_path,
        "python_direct/a.cpp",
        '// catch (...)\n/* catch (int) */\nauto t = "catch (x)";\nauto d = R"(\n catch (y))";\n',
    )
    assert check_catches.find_violations(tmp_path, {}) == []


def test_one_reason_is_for_one_catch(tmp_path: Path) -> None:
    write(
        tmp_path,
        "csrc/a.h",
        "try { f(); } catch (...) {}\ntry { g(); } catch(...) {}\n",
    )
    (line,) = check_catches.find_violations(tmp_path, {("csrc/a.h", "..."): "why"})
    assert "csrc/a.h catches (...) 2 times" in line


def test_a_reason_without_a_catch_is_found(tmp_path: Path) -> None:
    write(tmp_path, "csrc/a.h", "")
    (line,) = check_catches.find_violations(tmp_path, {("csrc/a.h", "..."): "why"})
    assert line == "tools/check_catches.py: csrc/a.h has no catch (...)"

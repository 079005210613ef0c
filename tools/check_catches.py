#!/usr/bin/env python3
"""Check that the core catches exceptions at its borders only.

A rule that says no returns a refusal, and the function that asks for a user throws it: so a
``catch`` stands only where the core meets something that throws for reasons of its own: threads,
Python, a debugger. ``BORDERS`` lists every one of them with its reason. Prints each ``catch`` that
is not listed, and each entry that no ``catch`` is left for; exits with 1 if there is any.
``--table`` prints them all.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

FOLDERS = ["csrc", "python_direct"]

# (file, what is caught, as it is written): why it is caught there.
BORDERS: dict[tuple[str, str], str] = {
    (
        "csrc/base/thread_pool.cpp",
        "...",
    ): "a worker hands the failure of its piece to the thread that waits, which raises it again",
    (
        "csrc/base/thread_pool.cpp",
        "const std::system_error&",
    ): "the system starts no more threads: the pool does with those that it has",
    (
        "csrc/ir/print_val.cpp",
        "const std::exception& error",
    ): "called by a debugger, which cannot unwind the stack",
    (
        "csrc/runtime/try_automatic.h",
        "const Error& error",
    ): "automatic schedules use the primitives of users, which throw; another schedule is tried",
    (
        "python_direct/array_framework.cpp",
        "...",
    ): "a context manager of Python is left before the error goes on",
    (
        "python_direct/array_framework.cpp",
        "nb::python_error& error",
    ): "a framework has no such element type, and says so by an exception of Python",
    (
        "python_direct/dlpack_exchange.cpp",
        "nb::python_error&",
    ): "an import fails by an exception of Python, which becomes a UserError",
    (
        "python_direct/dlpack_exchange.cpp",
        "nb::python_error& error",
    ): "an exporter older than the versions of DLPack says so by a TypeError",
    (
        "python_direct/errors.cpp",
        "const CompilerError& error",
    ): "errors become exceptions of Python",
    (
        "python_direct/errors.cpp",
        "const Error& error",
    ): "errors become exceptions of Python",
    (
        "python_direct/gil.h",
        "abi::__forced_unwind&",
    ): "Python ends a thread by unwinding its stack through frames that are noexcept",
    (
        "python_direct/negative_bit.cpp",
        "nb::python_error&",
    ): "functions of PyTorch that are overridden may refuse; tensors are then asked one by one",
    (
        "python_direct/runtime.cpp",
        "const nb::python_error& error",
    ): "PyTorch knows no such device, and says so by an exception of Python",
    (
        "python_direct/segment_schedules.cpp",
        "const Error&",
    ): "the translator throws for what has no line of Python; such a segment has no text",
}

# Comments and texts have no code; they go first, so that a word in them is none.
_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_CATCH = re.compile(r"\bcatch\s*\(\s*([^)]*?)\s*\)")


def read_catches(root: Path) -> list[tuple[str, int, str]]:
    """Every ``catch`` below ``root``: file, line and what is caught."""
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".h", ".cpp"}:
                continue
            text = _NO_CODE.sub(lambda at: "\n" * at[0].count("\n"), path.read_text())
            found += [
                (path.relative_to(root).as_posix(), text.count("\n", 0, at.start()) + 1, at[1])
                for at in _CATCH.finditer(text)
            ]
    return found


def find_violations(root: Path, borders: dict[tuple[str, str], str] = BORDERS) -> list[str]:
    """A line for each ``catch`` without a reason, and for each reason without a ``catch``."""
    catches = read_catches(root)
    counts = Counter((file, caught) for file, _, caught in catches)
    lines = [
        f"{file}:{line}: catch ({caught}) is at no border: return a Refusal, or give the reason in "
        "tools/check_catches.py"
        for file, line, caught in catches
        if (file, caught) not in borders
    ]
    lines += [
        f"tools/check_catches.py: {file} catches ({caught}) {count} times, for one reason"
        for (file, caught), count in counts.items()
        if count > 1 and (file, caught) in borders
    ]
    lines += [
        f"tools/check_catches.py: {file} has no catch ({caught})"
        for file, caught in borders
        if (file, caught) not in counts
    ]
    return lines


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    if "--table" in sys.argv[1:]:
        for file, line, caught in read_catches(root):
            reason = BORDERS.get((file, caught), "?")
            print(f"{file}:{line}: catch ({caught}): {reason}")
    violations = find_violations(root)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

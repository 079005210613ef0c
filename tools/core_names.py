"""The declarations of the core, and which of them Python has.

    python tools/core_names.py            a summary: declared, bound, left out
    python tools/core_names.py --table    the table of docs/bindings.md
    python tools/core_names.py --missing  what is neither bound nor left out with a reason

Reads the headers of `csrc/`: public classes, their public methods, and free functions. A name is
bound if the extension has it: a class under its name, a method under its name on that class (or on
a base), a function in the module, one of its submodules, or as a method of a class. Names that
are left out on purpose stand in `tools/bindings_left_out.py` with the reason.
"""

from __future__ import annotations

import argparse
import fnmatch
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from bindings_left_out import LEFT_OUT

ROOT = Path(__file__).parent.parent
FLOORS = (
    "base", "ir", "graph", "eval", "ops", "transform", "optimize", "schedule", "segment", "lower",
    "codegen", "runtime", "host",
)  # fmt: skip
_KEYWORDS = {
    "if", "for", "while", "switch", "return", "sizeof", "static_assert", "decltype", "throw",
    "operator", "defined", "noexcept", "alignas", "requires", "catch", "explicit",
}  # fmt: skip


@dataclass(frozen=True, order=True)
class CoreName:
    """A declaration: `owner` is the class of a method, empty for classes and free functions."""

    header: str
    owner: str
    name: str
    is_class: bool

    def __str__(self) -> str:
        return f"{self.owner}::{self.name}" if self.owner else self.name


# ---- Reading headers ----------------------------------------------------------------------------


def _plain(text: str) -> str:
    """Without comments, strings and the preprocessor."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', text)


_CLASS_HEAD = r"\b(class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?::[^:].*)?$"
_TOKEN = r"[{};]|\b(?:public|protected|private)\s*:(?!:)|[^{};]"


@dataclass
class _Scope:
    kind: str  # namespace, class or body
    name: str
    is_public: bool


def _scope_of(head: str, outer: _Scope | None) -> _Scope:
    """The scope that the braces after `head` open."""
    namespace = re.search(r"\bnamespace\s*([\w:]*)\s*$", head)
    if namespace:
        name = namespace.group(1)
        is_hidden = name in ("", "detail", "print_detail", "index_algebra")
        return _Scope("body" if is_hidden else "namespace", name, True)
    cls = re.search(
        r"\b(class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?::[^:].*)?$", head, re.S
    )
    is_open = outer is None or outer.kind in ("namespace", "class")
    if cls and is_open and "enum" not in head and "template <>" not in head:
        return _Scope("class", cls.group(2), cls.group(1) == "struct")
    return _Scope("body", "", False)


def declarations(header: Path) -> Iterator[tuple[str, str, bool]]:
    """(owner, name, is_class) of every public declaration of a header, in order."""
    scopes: list[_Scope] = []
    head = ""
    for token in re.findall(
        r"[{};]|\b(?:public|protected|private)\s*:(?!:)|[^{};]", _plain(header.read_text())
    ):
        access = re.fullmatch(r"(public|protected|private)\s*:", token)
        visible = all(s.kind != "body" and s.is_public for s in scopes)
        owner = scopes[-1].name if scopes and scopes[-1].kind == "class" else ""
        if access:
            if scopes:
                scopes[-1].is_public = access.group(1) == "public"
            head = ""
        elif token == "{":
            scope = _scope_of(head, scopes[-1] if scopes else None)
            if visible and scope.kind == "class":
                yield owner, scope.name, True
                scopes.append(_Scope("class", scope.name, scope.is_public))
            else:
                if visible and scope.kind == "body":
                    yield from _functions(head, owner)
                scopes.append(scope)
            head = ""
        elif token == "}":
            if scopes:
                scopes.pop()
            head = ""
        elif token == ";":
            if visible:
                yield from _functions(head, owner)
            head = ""
        else:
            head += token


def _functions(head: str, owner: str) -> Iterator[tuple[str, str, bool]]:
    head = re.sub(r"\[\[[^\]]*\]\]", " ", head)
    if (
        "friend" in head
        or "using" in head
        or "typedef" in head
        or "operator" in head
        or "~" in head
    ):
        return
    found = re.search(r"(?<![\w:.>])([a-zA-Z_]\w*)\s*\(", head)
    if found is None or "=" in head[: found.start()] or found.group(1) in _KEYWORDS:
        return
    name = found.group(1)
    is_constant = name.isupper() or re.match(r"NVF_|k[A-Z]", name) is not None
    if name == owner or is_constant:
        return
    yield owner, name, False


def core_names() -> list[CoreName]:
    names: dict[CoreName, None] = {}
    for floor in FLOORS:
        for header in sorted((ROOT / "csrc" / floor).glob("*.h")):
            path = f"{floor}/{header.name}"
            for owner, name, is_class in declarations(header):
                names[CoreName(path, owner, name, is_class)] = None
    for node in _nodes():
        names[CoreName("ir/nodes.def", "", node, True)] = None
    return _operation_names(list(names))


def _nodes() -> list[str]:
    text = re.sub(r"//[^\n]*", "", (ROOT / "csrc/ir/nodes.def").read_text())
    return list(re.findall(r"X\((\w+)\)", text))


def _operation_names(names: list[CoreName]) -> list[CoreName]:
    """With the functions that tables `X(name, ...)` in csrc/ops declare."""
    for header in sorted((ROOT / "csrc/ops").glob("*.h")):
        rows = re.findall(r"^\s*X\((\w+), ", header.read_text(), re.M)
        names += [CoreName(f"ops/{header.name}", "", name, False) for name in rows]
    unique = dict.fromkeys(names)
    nodes = {n.name for n in unique if n.header == "ir/nodes.def"}
    return [
        n for n in unique if not (n.is_class and n.name in nodes and n.header != "ir/nodes.def")
    ]


# ---- What Python has ----------------------------------------------------------------------------


def _modules() -> dict[str, ModuleType]:
    from nvfuser_direct import _core

    modules = {"nvfuser_direct": _core}
    for name, value in vars(_core).items():
        if inspect.ismodule(value):
            modules[f"nvfuser_direct.{name}"] = value
    return modules


def _classes(modules: dict[str, ModuleType]) -> dict[str, tuple[str, type]]:
    return {
        name: (where, value)
        for where, module in modules.items()
        for name, value in vars(module).items()
        if inspect.isclass(value)
    }


class Bindings:
    """Where Python has the names of the core."""

    def __init__(self) -> None:
        self.modules = _modules()
        self.classes = _classes(self.modules)

    def python_name(self, core: CoreName) -> str | None:
        if core.is_class:
            found = self.classes.get(core.name)
            return None if found is None else f"{found[0]}.{core.name}"
        if core.owner:
            return self._attribute(core.owner, core.name)
        return self._function(core.name)

    def _attribute(self, owner: str, name: str) -> str | None:
        found = self.classes.get(owner)
        if found is None or not hasattr(found[1], name):
            return None
        return f"{found[0]}.{owner}.{name}"

    def _function(self, name: str) -> str | None:
        for where, module in self.modules.items():
            if callable(getattr(module, name, None)):
                return f"{where}.{name}"
        for owner in self.classes:
            if name in vars(self.classes[owner][1]):
                return self._attribute(owner, name)
        return None


@dataclass
class Row:
    core: CoreName
    python: str | None
    reason: str | None


def rows() -> list[Row]:
    bindings = Bindings()

    def reason(core: CoreName) -> str | None:
        wanted = (f"{core.header}:{core}", core.header)
        for why, patterns in LEFT_OUT:
            if any(fnmatch.fnmatchcase(w, pattern) for pattern in patterns for w in wanted):
                return why
        return None

    result = []
    for core in core_names():
        python = bindings.python_name(core)
        result.append(Row(core, python, None if python else reason(core)))
    return result


# ---- What is printed ----------------------------------------------------------------------------


def table(all_rows: list[Row]) -> str:
    lines = [
        "# Core names and Python names",
        "",
        "Generated by `python tools/core_names.py --table`; a test fails when it is not current.",
        "",
    ]
    headers = dict.fromkeys(row.core.header for row in all_rows)
    for header in headers:
        group = [row for row in all_rows if row.core.header == header]
        lines += [f"## `{header}`", "", "| Core | Python |", "|---|---|"]
        for row in group:
            python = f"`{row.python}`" if row.python else f"left out: {row.reason or '?'}"
            lines.append(f"| `{row.core}` | {python} |")
        lines.append("")
    return "\n".join(lines)


def summary(all_rows: list[Row]) -> str:
    lines = [f"{'':12}{'declared':>10}{'bound':>8}{'left out':>10}{'missing':>9}"]
    kinds = {
        "classes": [r for r in all_rows if r.core.is_class],
        "methods": [r for r in all_rows if r.core.owner and not r.core.is_class],
        "functions": [r for r in all_rows if not r.core.owner and not r.core.is_class],
    }
    for kind, group in kinds.items():
        bound = sum(r.python is not None for r in group)
        out = sum(r.python is None and r.reason is not None for r in group)
        lines.append(f"{kind:12}{len(group):10}{bound:8}{out:10}{len(group) - bound - out:9}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--table", action="store_true", help="print the table of the docs")
    parser.add_argument("--missing", action="store_true", help="print what is not accounted for")
    arguments = parser.parse_args()
    all_rows = rows()
    missing = [row for row in all_rows if row.python is None and row.reason is None]
    if arguments.table:
        print(table(all_rows))
    elif arguments.missing:
        for row in missing:
            print(f"{row.core.header}:{row.core}")
        return 1 if missing else 0
    else:
        print(summary(all_rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The API reference, from the docstrings of the package.

    python tools/api_reference.py DIRECTORY

Writes one Markdown file for each group: operations, scheduling, graphs, nodes, enumerations,
classes, functions and the frontend. Names without a docstring are reported, and make the exit
status 1.
"""

from __future__ import annotations

import argparse
import enum
import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_PREFIXES = ("nvfuser_direct._core.", "collections.abc.", "typing.")


def public(owner: object) -> list[tuple[str, Any]]:
    return [
        (name, getattr(owner, name)) for name in sorted(vars(owner)) if not name.startswith("_")
    ]


def overloads(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """(signature, documentation) of every overload."""
    bound = getattr(function, "__nb_signature__", None)
    if bound is None:
        return [
            (f"{function.__name__}{inspect.signature(function)}", inspect.getdoc(function) or "")
        ]
    result = []
    for entry in bound:
        signature, doc, defaults = entry[0], entry[1], entry[2] if len(entry) > 2 else None
        for i, value in enumerate(defaults or ()):
            signature = signature.replace(f"\\{i}", repr(value))
        result.append((signature.removeprefix("def "), inspect.cleandoc(doc or "")))
    return result


def plain(signature: str) -> str:
    for prefix in _PREFIXES:
        signature = signature.replace(prefix, "")
    return signature


def function_text(name: str, function: Callable[..., Any], level: int) -> list[str]:
    lines = [f"{'#' * level} `{name}`", ""]
    documented: dict[str, list[str]] = {}
    for signature, doc in overloads(function):
        documented.setdefault(doc, []).append(plain(signature))
    for doc, signatures in documented.items():
        lines += ["```python", *signatures, "```", "", markdown(doc), ""]
    return lines


def markdown(doc: str) -> str:
    """NumPy sections as bold words, parameters as list items."""
    doc = re.sub(r"^([A-Z]\w+)\n-{3,}$", r"**\1**\n", doc, flags=re.M)
    return doc.replace("``", "`")


def is_function(value: object) -> bool:
    return inspect.isroutine(value) or hasattr(value, "__nb_signature__")


def class_text(cls: type, level: int = 2) -> list[str]:
    bases = [base.__name__ for base in cls.__bases__ if base is not object]
    title = f"{'#' * level} `{cls.__name__}`" + (f" ({', '.join(bases)})" if bases else "")
    lines = [title, "", markdown(inspect.getdoc(cls) or ""), ""]
    fields = []
    for name, value in public(cls):
        if isinstance(value, property) or inspect.isdatadescriptor(value):
            fields.append(f"* `{name}`: {markdown(inspect.getdoc(value) or '')}")
    if fields:
        lines += [*fields, ""]
    for name, value in public(cls):
        if is_function(value):
            lines += function_text(f"{cls.__name__}.{name}", value, level + 1)
    return lines


def enum_text(cls: type[enum.Enum]) -> list[str]:
    members = ", ".join(f"`{name}`" for name in cls.__members__)
    return [f"## `{cls.__name__}`", "", inspect.getdoc(cls) or "", "", members, ""]


def groups() -> dict[str, tuple[str, list[list[str]]]]:
    """File name -> (title, texts)."""
    import nvfuser_direct as package
    from nvfuser_direct import _core

    exported = dict(public(package))
    classes = [value for value in exported.values() if inspect.isclass(value)]
    enums = [cls for cls in classes if issubclass(cls, enum.Enum)]
    nodes = [cls for cls in classes if issubclass(cls, _core.Expr)]
    others = [cls for cls in classes if cls not in enums and cls not in nodes]
    functions = [
        (name, value)
        for name, value in exported.items()
        if is_function(value) and not inspect.isclass(value)
    ]

    def module_texts(module: object) -> list[list[str]]:
        texts = [class_text(v) for _, v in public(module) if inspect.isclass(v)]
        return texts + [function_text(n, v, 2) for n, v in public(module) if is_function(v)]

    return {
        "operations.md": ("Operations: `nvfuser_direct.ops`", module_texts(_core.ops)),
        "scheduling.md": ("Scheduling: `nvfuser_direct.schedule`", module_texts(_core.schedule)),
        "graphs.md": ("Equivalence graphs: `nvfuser_direct.idm`", module_texts(_core.idm)),
        "nodes.md": ("Expressions", [class_text(cls) for cls in nodes]),
        "enumerations.md": ("Enumerations", [enum_text(cls) for cls in enums]),
        "classes.md": ("Classes", [class_text(cls) for cls in others]),
        "functions.md": ("Functions", [function_text(n, v, 2) for n, v in functions]),
        "frontend.md": ("The frontend: `nvfuser`", frontend_texts()),
    }


def frontend_members() -> dict[str, Any]:
    """The part of the frontend that is its own: names with their functions and classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # both packages are meant
        import nvfuser
    own = [(name, getattr(nvfuser, name)) for name in nvfuser.__all__]
    members = {
        name: value
        for name, value in own
        if getattr(value, "__module__", "").partition(".")[0] == "nvfuser"
    }
    definition = nvfuser.FusionDefinition
    members |= {"Operators": definition.Operators, "SchedOperators": definition.SchedOperators}
    return members


def frontend_texts() -> list[list[str]]:
    texts = []
    for name, value in frontend_members().items():
        if inspect.isclass(value):
            texts.append(class_text(flat(value)))
        elif is_function(value):
            texts.append(function_text(name, value, 2))
    return texts


def flat(cls: type) -> type:
    """A class with the methods that it inherits from classes of its package, for its reader."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__ == cls.__module__ or base.__module__.startswith("nvfuser."):
            members |= {name: value for name, value in vars(base).items() if name[:1] != "_"}
    return type(cls.__name__, (), {**members, "__doc__": cls.__doc__})


def undocumented() -> list[str]:
    """Public functions, classes and methods of the core that say nothing."""
    from nvfuser_direct import _core

    def of(owner: object, prefix: str) -> Iterable[str]:
        for name, value in public(owner):
            if is_function(value) and not any(doc for _, doc in overloads(value)):
                yield prefix + name
            elif inspect.isclass(value):
                if not (inspect.getdoc(value) or "").strip():
                    yield prefix + name
                if not issubclass(value, enum.Enum):
                    yield from of(value, f"{prefix}{name}.")

    modules = {"": _core, "ops.": _core.ops, "schedule.": _core.schedule, "idm.": _core.idm}
    missing = [name for prefix, module in modules.items() for name in of(module, prefix)]
    for name, value in frontend_members().items():
        members = public(flat(value)) if inspect.isclass(value) else [("", value)]
        for member, function in members:
            if is_function(function) and not (inspect.getdoc(function) or "").strip():
                missing.append(f"nvfuser.{name}.{member}")
    return missing


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("directory", type=Path, help="where the files go")
    directory: Path = parser.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)
    index = [
        "# API reference",
        "",
        "Generated by `tools/api_reference.py` from the docstrings.",
        "",
    ]
    for name, (title, texts) in groups().items():
        lines = [f"# {title}", "", *(line for text in texts for line in text)]
        (directory / name).write_text("\n".join(lines).rstrip() + "\n")
        index.append(f"* [{title}]({name})")
    (directory / "README.md").write_text("\n".join(index) + "\n")
    missing = undocumented()
    for name in missing:
        print(f"no documentation: {name}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

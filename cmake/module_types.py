"""Stubs of modules as classes, for types that reach a module through an object.

    module_types.py FOLDER

Checkers of types know the functions of a module that is imported, and nothing of one that is an
attribute of an object (``fd.ops.relu``). FOLDER has the stubs of the extension; `module_types.pyi`
is added to them: a class for each module of _MODULES, whose static methods are its functions.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path

_MODULES = {"ops": "OpsModule", "schedule": "ScheduleModule"}


def functions_as_methods(tree: ast.Module, lines: list[str]) -> list[str]:
    """The functions of a stub, indented as static methods; other names of functions stay names."""
    methods: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            decorators = lines[first - 1 : node.lineno - 1]
            text = "\n".join(
                [*decorators, "@staticmethod", *lines[node.lineno - 1 : node.end_lineno]]
            )
            methods.append(textwrap.indent(text, "    "))
        elif isinstance(node, ast.Assign):  # ceil_div = ceilDiv
            methods.append(textwrap.indent(ast.unparse(node), "    "))
    return methods


def class_of(stub: Path, name: str) -> tuple[list[str], str]:
    """The imports of a stub, and its functions as a class."""
    text = stub.read_text()
    tree = ast.parse(text)
    imports = [
        ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    doc = ast.get_docstring(tree) or ""
    head = f'class {name}:\n    """{doc}"""'
    return imports, "\n\n".join([head, *functions_as_methods(tree, text.splitlines())])


def main() -> None:
    folder = Path(sys.argv[1])
    imports: list[str] = []
    classes = []
    for module, name in _MODULES.items():
        needed, text = class_of(folder / f"{module}.pyi", name)
        imports += needed
        classes.append(text)
    header = '"""Modules of the extension, as what an attribute of an object can be."""'
    parts = [header, "\n".join(dict.fromkeys(imports)), *(f"\n{text}" for text in classes)]
    (folder / "module_types.pyi").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()

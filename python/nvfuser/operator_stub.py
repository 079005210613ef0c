"""Writes operators.pyi: the signatures of `fd.ops` for type checkers, from the table of operations.

python -m nvfuser.operator_stub [file]
"""

from __future__ import annotations

import sys
from pathlib import Path

from .handles import Scalar, Tensor, Vector
from .operator_forms import OperatorForms
from .quick import has_one_result
from .statements import KINDS, StatementKind

_TYPES = {
    "T": "Tensor",
    "S": "Scalar",
    "A": "Tensor | Scalar",
    "Ts": "Sequence[Tensor]",
    "V": "Vector | Sequence[int | Scalar]",
    "Vw": "Vector | Sequence[int | Scalar]",
    "L": "int | Scalar",
    "int": "int",
    "flag": "bool",
    "ints": "Sequence[int]",
    "flags": "Sequence[bool]",
    "dtype": "DataType",
}
_HEAD = '''"""Signatures of `operators`, written by `python -m nvfuser.operator_stub`."""

from collections.abc import Sequence
from typing import Any, overload

from nvfuser_direct import DataType

from .handles import Scalar, Tensor, Vector
from .operator_forms import OperatorForms
from .statements import StatementKind

def make_method(kind: StatementKind) -> Any: ...
def signature_of(kind: StatementKind) -> str: ...

class Operators(OperatorForms):
    """The operations of a definition: ``fd.ops``."""

'''
_RESULTS = {Tensor: "Tensor", Scalar: "Scalar", Vector: "Vector"}
_SEVERAL = {
    "tensor_sizes": "list[Scalar]",
    "sdpfa_fwd": "tuple[Tensor, Tensor, Tensor, Tensor]",
    "welford": "tuple[Tensor, Tensor, Tensor]",
    "batch_norm": "tuple[Tensor, Tensor | None, Tensor | None]",
    "scaled_mm": "tuple[Tensor, Tensor | None, Tensor | None]",
}
_SINGLE = {"size": "Scalar", "shape": "Vector", "at": "Scalar"}


def stub_text() -> str:
    """The whole file."""
    lines = [_HEAD]
    for kind in KINDS.values():
        is_written = kind.method in vars(OperatorForms)
        if kind.function.startswith("ops.") and not is_written:
            lines += _method_lines(kind)
    return "".join(lines)


def _result_type(kind: StatementKind) -> str:
    if has_one_result(kind):
        return _SINGLE.get(kind.name, "Tensor")
    return _SEVERAL.get(kind.name, "tuple[Tensor, Tensor]")


def _method_lines(kind: StatementKind) -> list[str]:
    either = [i for i, parameter in enumerate(kind.parameters) if parameter.kind == "A"]
    if not either or kind.name in ("scatter", "select"):
        return [_line(kind, {}, _result_type(kind))]
    forms = [{i: "Tensor"} for i in either]
    if _follows_first(kind):
        forms = forms[:1]
    overloads = [(form, "Tensor") for form in forms]
    overloads.append((dict.fromkeys(either, "Scalar"), "Scalar"))
    return [
        line
        for form, result in overloads
        for line in ("    @overload\n", _line(kind, form, result))
    ]


def _follows_first(kind: StatementKind) -> bool:
    """Whether the result is a tensor exactly if the first operand is one."""
    return kind.results(Tensor(None, 0, 1), *[Scalar(None, 0)] * 3) != kind.results(  # type: ignore[arg-type]
        Scalar(None, 0), *[Tensor(None, 0, 1)] * 3  # type: ignore[arg-type]
    ) and len(kind.parameters) > 1  # fmt: skip


def _line(kind: StatementKind, types: dict[int, str], result: str) -> str:
    words = ["self"]
    for i, parameter in enumerate(kind.parameters):
        annotation = types.get(i, _TYPES[parameter.kind])
        if parameter.is_optional:
            annotation += " | None"
        if parameter.form == "if given" and "*" not in words:
            words.append("*")
        default = "" if parameter.default is None else " = ..."
        words.append(f"{parameter.name}: {annotation}{default}")
    words += ["/"] if kind.positional_only else []
    return f"    def {kind.method}({', '.join(words)}) -> {result}: ...\n"


def main() -> None:
    """Write the file."""
    here = Path(__file__).with_name("operators.pyi")
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else here
    target.write_text(stub_text())


if __name__ == "__main__":
    main()

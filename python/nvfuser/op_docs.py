"""Documentation of the operations: the core's words, with the types of this frontend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nvfuser_direct import ops

if TYPE_CHECKING:
    from .statements import Parameter, StatementKind

_TYPES = {
    "T": "Tensor",
    "S": "Scalar",
    "A": "Tensor or Scalar",
    "Ts": "list[Tensor]",
    "V": "Vector, or list or tuple of int and Scalar",
    "Vw": "Vector, or list or tuple of int and Scalar",
    "L": "int or Scalar",
    "int": "int",
    "flag": "bool",
    "ints": "list[int]",
    "flags": "list[bool]",
    "dtype": "DataType",
}
_OF_OPERAND = {
    "T": "Operand.",
    "S": "Operand.",
    "A": "Operand.",
    "Ts": "Operands.",
    "dtype": "Type of the elements of the result.",
}
# Parameters that the core does not document, or documents for another meaning.
_SUMMARIES = {
    "tensor_sizes": "All sizes of a tensor, as a list of scalars that one statement makes.",
    "at": "One scalar of a vector.",
}
_WORDS = {
    ("batch_norm", "arg"): "[N, C, ..], with `channels_last` [N, .., C].",
    ("index_put_accumulate", "acc"): "The tensor that is added to.",
    ("index_put_accumulate", "value"): "The rows that are added.",
    ("at", "vector"): "The vector.",
    ("at", "index"): "Which of its scalars; negative values count from the end.",
    ("add_alpha", "s"): "Factor of `b`.",
    ("sub_alpha", "s"): "Factor of `b`.",
}


def documentation_of(kind: StatementKind) -> str:
    """A docstring: the summary, and every parameter."""
    core = _core_text(kind.method)
    summary = _SUMMARIES.get(kind.name) or kind.doc or _summary(core)
    described = _described_parameters(core)
    lines = [summary, "", "Parameters", "----------"]
    for parameter in kind.parameters:
        optional = " or None" if parameter.is_optional else ""
        lines.append(f"{parameter.name} : {_TYPES[parameter.kind]}{optional}")
        lines += [f"    {line}" for line in _words(kind, parameter, described)]
    return "\n".join(lines) + "\n"


def _core_text(name: str) -> str:
    text = getattr(getattr(ops, name, None), "__doc__", None) or ""
    # The last of several overloads has the longest list of parameters.
    return re.split(r"^\d+\. ``.*``$", text, flags=re.MULTILINE)[-1]


def _summary(core: str) -> str:
    body = core.split("\nParameters\n")[0]
    lines = [line for line in body.strip().splitlines() if not re.match(r"\w+\(.*\) -> ", line)]
    return " ".join(line.strip() for line in lines).strip() or "An operation."


def _described_parameters(core: str) -> dict[str, list[str]]:
    described: dict[str, list[str]] = {}
    section = core.partition("\nParameters\n")[2].partition("\nReturns\n")[0]
    names: list[str] = []
    for line in section.splitlines()[1:]:
        head = re.match(r"([\w, ]+) : ", line)
        if head:
            names = [name.strip() for name in head.group(1).split(",")]
        elif line.strip() and not set(line) <= {"-"}:
            for name in names:
                described.setdefault(name, []).append(line.strip())
    return described


def _words(kind: StatementKind, parameter: Parameter, described: dict[str, list[str]]) -> list[str]:
    own = _WORDS.get((kind.name, parameter.name))
    if own is not None:
        return [own]
    lines = described.get(parameter.name)
    if lines:
        return [line.replace("scalar Val", "Scalar").replace("Val", "Scalar") for line in lines]
    return [_OF_OPERAND.get(parameter.kind, "As in ``nvfuser_direct.ops``.")]

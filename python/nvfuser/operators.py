"""`fd.ops`: a method for every operation, each of which records a statement.

Methods are written from `op_table`, since most differ in their names and parameters alone. What has
older spellings, several forms or a default that depends on others is in `operator_forms`. The
signatures that type checkers see are in operators.pyi, which `python -m nvfuser.operator_stub`
writes from the same table.

A statement that was seen before costs one look-up, in the method itself; `record` does all else:
checks, shapes, new statements, and errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvfuser_direct import DataType

from .op_docs import documentation_of
from .operator_forms import OperatorForms
from .record import record
from .statements import KINDS, Parameter, StatementKind

if TYPE_CHECKING:
    from collections.abc import Callable

# The part of a key for a parameter, where the value needs no check: what is not equal to a value
# that was checked is not found. Shapes record statements of their own.
_PART = {
    "T": "{0}.index",
    "S": "{0}.index",
    "A": "{0}.index",
    "int": "{0}",
    "flag": "{0}",
    "ints": "tuple({0})",
    "flags": "tuple({0})",
    "dtype": "{0}._name_",
}


def signature_of(kind: StatementKind) -> str:
    """The parameters as Python, without ``self``."""
    words = []
    for parameter in kind.parameters:
        default = "" if parameter.default is None else f"={parameter.default}"
        if parameter.form == "if given" and "*" not in words:
            words.append("*")
        words.append(parameter.name + default)
    return ", ".join(words + (["/"] if kind.positional_only else []))


def _is_quick(parameter: Parameter) -> bool:
    return parameter.kind in _PART


def _quick_lines(kind: StatementKind) -> str:
    """A statement that was seen before, and whose operands are this definition's."""
    if not all(_is_quick(parameter) for parameter in kind.parameters):
        return ""
    checks, parts = ["True"], [repr(kind.name)]
    for parameter in kind.parameters:
        part = _PART[parameter.kind].format(parameter.name)
        check = f"{parameter.name}._fd is fd"
        if parameter.is_optional:
            part = f"None if {parameter.name} is None else {part}"
            check = f"({parameter.name} is None or {check})"
        parts.append(part)
        if parameter.is_operand:
            checks.append(check)
    condition = " and ".join(checks[1:]) or "True"
    return f"""
    try:
        if {condition}:
            node = fd._node.children[({", ".join(parts)},)]
            if node.depth <= fd._quick_depth:
                fd._node = node
                return {_RESULT if has_one_result(kind) else "fd._handles(node)"}
    except (AttributeError, KeyError, TypeError):
        pass"""


_RESULT = "node.cls(fd, node.index, node.extra)"
_SEVERAL = {
    "var_mean", "welford", "topk", "grouped_mm_scaled", "scaled_mm", "sdpfa_fwd", "sdpfa_bwd",
    "batch_norm", "nv_block_quantize", "nv_grouped_block_quantize", "tensor_sizes",
}  # fmt: skip


def has_one_result(kind: StatementKind) -> bool:
    return kind.name not in _SEVERAL


def make_method(kind: StatementKind) -> Callable[..., Any]:
    """The method that records statements of a kind."""
    names = ", ".join(parameter.name for parameter in kind.parameters)
    source = f"""
def {kind.method}(self, {signature_of(kind)}):
    fd = self._fd{_quick_lines(kind)}
    return record(fd, kind, [{names}])
"""
    namespace: dict[str, Any] = {
        "__name__": __name__,
        "DataType": DataType,
        "kind": kind,
        "record": record,
    }
    exec(compile(source, __file__, "exec"), namespace)
    method: Callable[..., Any] = namespace[kind.method]
    method.__qualname__ = f"Operators.{kind.method}"
    method.__module__ = __name__
    method.__doc__ = documentation_of(kind)
    return method


class Operators(OperatorForms):
    """The operations of a definition: ``fd.ops``."""

    __slots__ = ()


for _kind in list(KINDS.values()):
    if not _kind.function.startswith("ops."):
        continue
    if _kind.method not in vars(OperatorForms):
        setattr(Operators, _kind.method, make_method(_kind))
    else:
        vars(OperatorForms)[_kind.method].__doc__ = documentation_of(_kind)

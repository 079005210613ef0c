"""Statements that were seen before: one look-up each, without any check.

Code is written for every kind of statements. It makes the key of the arguments as they are: what is
not equal to arguments that were checked is not found, and then `record` looks at them. Integers of
shapes are statements of their own, which are looked up one after another; where one is not found,
the walk goes back to where it began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .handles import Scalar, Vector
from .statements import Parameter, StatementKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .definition import FusionDefinition

_PART = {
    "T": "{0}.index",
    "S": "{0}.index",
    "A": "{0}.index",
    "Ts": "tuple([tensor.index for tensor in {0}])",
    "int": "{0}",
    "flag": "{0}",
    "ints": "tuple({0})",
    "flags": "tuple({0})",
    "dtype": "{0}._name_",
    "V": "({0}.index if {0}.__class__ is Vector else find_vector(fd, {0}))",
    "Vw": "({0}.index if {0}.__class__ is Vector else find_vector(fd, {0}))",
}
_OWNED = {
    "Ts": "all([tensor._fd is fd for tensor in {0}])",
    "V": "({0}.__class__ is not Vector or {0}._fd is fd)",
    "Vw": "({0}.__class__ is not Vector or {0}._fd is fd)",
}
# Those with several results, of which some may not be produced.
_SEVERAL = {
    "var_mean", "welford", "topk", "grouped_mm_scaled", "scaled_mm", "sdpfa_fwd", "sdpfa_bwd",
    "batch_norm", "nv_block_quantize", "nv_grouped_block_quantize", "tensor_sizes",
}  # fmt: skip


def has_one_result(kind: StatementKind) -> bool:
    """Whether a call gives one handle, and not a list or tuple."""
    return kind.name not in _SEVERAL


def quick_lines(kind: StatementKind) -> str:
    """Lines of a function whose variables are `fd` and the parameters; they may return."""
    if not all(parameter.kind in _PART for parameter in kind.parameters):
        return ""
    result = "node.cls(fd, node.index, node.extra)"
    parts = [repr(kind.name)]
    lines = []
    for parameter in kind.parameters:
        part = _part(parameter)
        if parameter.is_vector:  # looked up before the statement itself
            lines.append(f"            part_{parameter.name} = {part}\n")
            part = f"part_{parameter.name}"
        parts.append(part)
    has_vectors = bool(lines)
    back = "    fd._node = start" if has_vectors else ""
    return f"""
    {"start = fd._node" if has_vectors else ""}
    try:
        if {_condition(kind)}:
{"".join(lines)}            node = fd._node.children[({", ".join(parts)},)]
            if node.depth <= fd._quick_depth:
                fd._node = node
                return {result if has_one_result(kind) else "fd._handles(node)"}
    except (AttributeError, KeyError, TypeError):
        pass
{back}"""


def _part(parameter: Parameter) -> str:
    part = _PART[parameter.kind].format(parameter.name)
    return f"None if {parameter.name} is None else {part}" if parameter.is_optional else part


def _condition(kind: StatementKind) -> str:
    """Operands are those of the definition."""
    checks = []
    for parameter in kind.parameters:
        if parameter.kind in _OWNED:
            checks.append(_OWNED[parameter.kind].format(parameter.name))
        elif parameter.is_operand:
            check = f"{parameter.name}._fd is fd"
            optional = f"({parameter.name} is None or {check})"
            checks.append(optional if parameter.is_optional else check)
    return " and ".join(checks) or "True"


def find_vector(fd: FusionDefinition, items: Sequence[Any]) -> int:
    """The state index of the vector of `items`, behind whose statements `fd` stands then.

    Raises
    ------
    KeyError
        If it was not seen there before.
    """
    if not isinstance(items, list | tuple):
        raise KeyError
    node: Any = fd._node
    indices = []
    for item in items:
        if item.__class__ is int:
            node = node.children[("define_scalar", item, "Int")]
            indices.append(node.index)
        elif item.__class__ is Scalar and item._fd is fd:
            indices.append(item.index)
        else:
            raise KeyError
    node = node.children[("define_vector", tuple(indices), "Int")]
    fd._node = node
    index: int = node.index
    return index


def names_of_quick_lines(kind: StatementKind) -> dict[str, Any]:
    """The names that the lines use beside their variables."""
    return {"Vector": Vector, "find_vector": find_vector, "kind": kind}


def make_finder(kind: StatementKind) -> Callable[..., Any]:
    """A function of `fd` and the parameters: the handles of a statement, None if it is new."""
    names = ", ".join(parameter.name for parameter in kind.parameters)
    source = f"def find(fd, {names}):\n{quick_lines(kind) or '    pass'}\n"
    namespace = names_of_quick_lines(kind)
    exec(compile(source, __file__, "exec"), namespace)
    finder: Callable[..., Any] = namespace["find"]
    return finder

"""Recording a statement: from the arguments of a call to a node of the trie and its handles."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from nvfuser_direct import DataType, UserTypeError

from .errors import user_error
from .handles import Scalar, Vector
from .quick import make_finder
from .statements import KINDS, Literal, StatementKind, key_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .definition import FusionDefinition
    from .trie import Node

_PACKAGE = __name__.rpartition(".")[0]

_finders: dict[str, Callable[..., Any]] = {}  # of statements that were seen before, by kind


def record(fd: FusionDefinition, kind: StatementKind, values: list[Any]) -> Any:
    """Record a statement, and before it the literals of its shapes.

    Parameters
    ----------
    fd : FusionDefinition
        The definition, which has to be open.
    kind : StatementKind
        What it does.
    values : list
        An argument for every parameter.

    Returns
    -------
    Tensor, Scalar, Vector, or a list or tuple of such
        Handles of the results; None for one that is not produced.
    """
    finder = _finders.get(kind.name)
    if finder is None:
        finder = _finders[kind.name] = make_finder(kind)
    found = finder(fd, *values)
    return record_slowly(fd, kind, values) if found is None else found


def record_slowly(fd: FusionDefinition, kind: StatementKind, values: list[Any]) -> Any:
    """`record` for a statement that is new, or has to be looked at."""
    fd._check_open(kind)
    parts = key_parts(fd, kind, values)
    shapes = []
    for i, parameter in enumerate(kind.parameters):
        if parameter.is_vector and not isinstance(values[i], Vector):
            shapes.append(i)
            check_shape(values[i], is_any=parameter.kind == "Vw")
    if kind.check is not None:
        kind.check(*values)
    for i in shapes:
        values[i] = record_vector(fd, values[i])
        parts[i] = values[i].index
    for i, part in enumerate(parts):
        if isinstance(part, Literal):
            values[i] = record_constant(fd, part.value, DataType.Int)
            parts[i] = values[i].index
    node = advance(fd, kind, (kind.name, *parts), values)
    return fd._handles(node)


def advance(
    fd: FusionDefinition, kind: StatementKind, key: tuple[Any, ...], values: Sequence[Any]
) -> Node:
    """Step to the child with a key; add it if there is none."""
    node = fd._node
    assert node is not None
    if node.depth >= fd._max_length:
        raise user_error(
            f"The fusion definition has exceeded {fd._max_length}operations.",
            expected=f"at most {fd._max_length} statements, literals and outputs included",
            fix="FusionDefinition(max_length=...), if no loop runs away",
        )
    child = node.children.get(key)
    is_hit = child is not None
    if child is None:
        child = fd._generation.trie.child(node, kind, key, kind.results(*values), user_line())
    if fd._traces:
        fd._trace_statement(child, is_hit)
    fd._node = child
    return child


def user_line() -> tuple[str, int] | None:
    """File and line of the statement in the user's program."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != _PACKAGE and not name.startswith(f"{_PACKAGE}."):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None


# -- constants and vectors --


def constant_key(value: Any, dtype: DataType) -> tuple[Any, ...]:
    """The key of a constant: NaN equals NaN, and 0.0 does not equal -0.0."""
    if isinstance(value, complex):
        value = (_float_key(value.real), _float_key(value.imag))
    elif isinstance(value, float):
        value = _float_key(value)
    return ("define_scalar", value, dtype._name_)


def _float_key(value: float) -> str:
    return "nan" if math.isnan(value) else value.hex()


def constant_value(key: tuple[Any, ...]) -> Any:
    """The number of a key that `constant_key` made."""
    value = key[1]
    if isinstance(value, tuple):
        return complex(float.fromhex(value[0]), float.fromhex(value[1]))
    return float.fromhex(value) if isinstance(value, str) else value


def record_constant(fd: FusionDefinition, value: Any, dtype: DataType) -> Scalar:
    """A constant of a value that has been converted to `dtype`."""
    key = constant_key(value, dtype)
    assert fd._node is not None
    node = fd._node.children.get(key)
    if node is None or node.depth > fd._quick_depth:
        node = advance(fd, KINDS["define_scalar"], key, (value, dtype))
    else:
        fd._node = node
    return Scalar(fd, node.index)


def record_vector(fd: FusionDefinition, items: Sequence[Any]) -> Vector:
    """A constant for every integer, then the vector of them and of the scalars."""
    indices = []
    for item in items:
        is_scalar = isinstance(item, Scalar)
        scalar = item if is_scalar else record_constant(fd, int(item), DataType.Int)
        indices.append(scalar.index)
    key = ("define_vector", tuple(indices), DataType.Int._name_)
    assert fd._node is not None
    node = fd._node.children.get(key)
    if node is None or node.depth > fd._quick_depth:
        node = advance(fd, KINDS["define_vector"], key, (tuple(indices), DataType.Int))
    else:
        fd._node = node
    return Vector(fd, node.index, len(indices))


def check_shape(items: Sequence[Any], is_any: bool = False) -> None:
    """Every item is a Scalar or an int, from -1 on unless `is_any`."""
    for i, item in enumerate(items):
        if isinstance(item, Scalar):
            continue
        if isinstance(item, bool) or not hasattr(item, "__index__"):
            raise user_error(
                f"Unsupported iterable object type for define_vector! Index:{i}",
                expected="int or Scalar",
                found=f"{item!r}, a {type(item).__name__}",
                kind=UserTypeError,
            )
        if item < -1 and not is_any:
            raise user_error(
                f"The value {item} at index {i} was neither symbolic(-1), zero_element(0), "
                "broadcast(1), or static(>1)."
            )

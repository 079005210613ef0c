"""Kinds of statements: their parameters, and the rules that follow from these.

A kind is declared once, by the signature of the operation and the rank of its result:

    gather(arg1: T, index: T, dim: int)

The key of a statement has a part for every parameter. Keys, printing, replaying and files all
follow from the parameters.

    T   tensor          S   scalar              A   either
    T?  or None         S?  or None             Ts  list of tensors
    V   shape: Vector, list or tuple of int and Scalar     Vw  the same, of any integers
    L   scalar or int, which is written in place
    int, flag, ints, flags, dtype               attributes
    any                 what `define` reads by itself
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nvfuser_direct import DataType, UserError, UserTypeError

from .errors import user_error
from .handles import Scalar, Tensor, Vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from .definition import FusionDefinition
    from .trie import Result

OPERANDS = {"T": (Tensor,), "S": (Scalar,), "A": (Tensor, Scalar), "L": (Scalar,)}
VECTORS = ("V", "Vw")
_WORDS = {
    "T": "a Tensor",
    "S": "a Scalar",
    "A": "a Tensor or Scalar",
    "L": "a Scalar or an int",
    "Ts": "a list of Tensors",
    "V": "a Vector, or a list or tuple of int and Scalar",
    "Vw": "a Vector, or a list or tuple of int and Scalar",
    "int": "an int",
    "flag": "a bool",
    "ints": "a list of int",
    "flags": "a list of bool",
    "dtype": "a DataType",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kind of statements.

    Attributes
    ----------
    kind : str
        One of those above, without the question mark.
    is_optional : bool
        Whether None may be given.
    default : str or None
        As Python; None: there is none.
    form : str
        How it is printed: "position", "name", or "if given".
    """

    name: str
    kind: str
    is_optional: bool
    default: str | None
    form: str

    @property
    def is_operand(self) -> bool:
        return self.kind in OPERANDS

    @property
    def is_vector(self) -> bool:
        return self.kind in VECTORS

    @property
    def has_states(self) -> bool:
        """Whether its part of the key is a state index, or several."""
        return self.kind in OPERANDS or self.kind in VECTORS or self.kind == "Ts"


@dataclass(frozen=True)
class StatementKind:
    """The facts that statements of one kind have in common.

    Attributes
    ----------
    name : str
        First part of the keys.
    function : str
        What is called: ``ops.add``, ``define_tensor``.
    results : callable
        From the values of the parameters to the results (`trie.Result`).
    check : callable or None
        Raises what is wrong with values before there is any IR.
    replay : callable or None
        Makes IR of the values of the parameters; None: the function of that name in
        ``nvfuser_direct.ops``.
    """

    name: str
    function: str
    parameters: tuple[Parameter, ...]
    positional_only: bool
    results: Callable[..., tuple[Result, ...]]
    check: Callable[..., None] | None = None
    replay: Callable[..., Any] | None = None
    doc: str = field(default="", compare=False)

    @property
    def method(self) -> str:
        """The name of the function alone."""
        return self.function.rpartition(".")[2]


KINDS: dict[str, StatementKind] = {}  # by name

_PARAMETER = re.compile(r"(\w+): (\w+)(\?)?(!)?(~)?(?: = (.+))?$")


def declare(
    signature: str,
    results: Callable[..., tuple[Result, ...]],
    *,
    name: str | None = None,
    function: str | None = None,
    check: Callable[..., None] | None = None,
    replay: Callable[..., Any] | None = None,
    doc: str = "",
) -> StatementKind:
    """Add a kind.

    Parameters
    ----------
    signature : str
        ``name(parameter: kind = default, ..., /)``. Operands are printed by position, all else by
        name; ``!`` behind the kind turns that round, and ``~`` prints the parameter if it is given.
    results : callable
        As in `StatementKind`.
    name : str, optional
        If it is not that of the signature.
    function : str, optional
        If it is not ``ops.`` and the name of the signature.
    """
    called, _, rest = signature.rstrip(")").partition("(")
    words = [word.strip() for word in rest.split(",") if word.strip()]
    positional_only = words[-1:] == ["/"]
    parameters = tuple(_read_parameter(word) for word in words if word not in ("/", "*"))
    kind = StatementKind(
        name=name or called,
        function=function or f"ops.{called}",
        parameters=parameters,
        positional_only=positional_only,
        results=results,
        check=check,
        replay=replay,
        doc=doc,
    )
    KINDS[kind.name] = kind
    return kind


def _read_parameter(text: str) -> Parameter:
    match = _PARAMETER.match(text)
    assert match is not None, text
    name, kind, optional, turned, given, default = match.groups()
    by_position = (kind in OPERANDS or kind == "Ts") != bool(turned)
    form = "if given" if given else "position" if by_position else "name"
    return Parameter(name, kind, bool(optional), default, form)


# -- from what a caller gives to the parts of a key --


def key_parts(fd: FusionDefinition, kind: StatementKind, values: list[Any]) -> list[Any]:
    """The parts of the key; `values` become what results, checks and replays are given.

    Shapes are not recorded yet: their part is a list of integers and Scalars, or a state index.
    """
    parts: list[Any] = []
    for i, parameter in enumerate(kind.parameters):
        value = values[i]
        if value is None and parameter.is_optional:
            parts.append(None)
            continue
        try:
            part, values[i] = _READERS[parameter.kind](fd, value)
        except _Misfit:
            raise wrong_argument(kind, parameter, value) from None
        parts.append(part)
    return parts


class _Misfit(Exception):
    """A value that is none of the kind of its parameter."""


def wrong_argument(kind: StatementKind, parameter: Parameter, value: object) -> UserError:
    """The error for a value of another type."""
    is_number = isinstance(value, int | float | complex) and parameter.is_operand
    return user_error(
        f"{kind.method}(): argument '{parameter.name}' must be {_WORDS[parameter.kind]}"
        f"{' or None' if parameter.is_optional else ''}, but got {type(value).__name__}",
        found=repr(value)[:200],
        fix=f"make a Scalar first: fd.define_scalar({value!r})" if is_number else None,
        kind=UserTypeError,
    )


def check_owner(fd: FusionDefinition, handle: Any) -> None:
    """A handle is used with its definition."""
    if handle._fd is not fd:
        raise user_error(
            f"{handle!r} belongs to another definition.",
            expected="handles that this definition made",
            fix="define the value again, in this definition",
        )


def _read_operand(*classes: Any) -> Callable[[FusionDefinition, Any], tuple[Any, Any]]:
    def read(fd: FusionDefinition, value: Any) -> tuple[Any, Any]:
        if not isinstance(value, classes):
            raise _Misfit
        check_owner(fd, value)
        return value.index, value

    return read


def _read_tensors(fd: FusionDefinition, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, list | tuple):
        raise _Misfit
    for item in value:
        if not isinstance(item, Tensor):
            raise _Misfit
        check_owner(fd, item)
    return tuple(item.index for item in value), list(value)


def _read_vector(fd: FusionDefinition, value: Any) -> tuple[Any, Any]:
    if isinstance(value, Vector):
        check_owner(fd, value)
        return value.index, value
    if not isinstance(value, list | tuple):
        raise _Misfit
    for item in value:
        if isinstance(item, Scalar):
            check_owner(fd, item)
    return value, value


def read_int(fd: object, value: Any) -> tuple[Any, Any]:
    """An integer, also one of NumPy."""
    if isinstance(value, float | bool | str) or value is None:
        raise _Misfit
    try:
        number = operator.index(value)
    except TypeError:
        raise _Misfit from None
    return number, number


def _read_ints(fd: object, value: Any) -> tuple[Any, Any]:
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise _Misfit
    numbers = tuple(read_int(fd, item)[0] for item in value)
    return numbers, numbers


def read_flag(fd: object, value: Any) -> tuple[Any, Any]:
    """A bool; integers 0 and 1 count as such, since printed definitions have them."""
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return bool(value), bool(value)
    if type(value).__name__ == "bool_":  # of NumPy
        return bool(value), bool(value)
    raise _Misfit


def _read_flags(fd: object, value: Any) -> tuple[Any, Any]:
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise _Misfit
    flags = tuple(read_flag(fd, item)[0] for item in value)
    return flags, flags


def _read_dtype(fd: object, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, DataType):
        raise _Misfit
    return value._name_, value


def _read_literal(fd: FusionDefinition, value: Any) -> tuple[Any, Any]:
    if isinstance(value, Scalar):
        check_owner(fd, value)
        return value.index, value
    return Literal(read_int(fd, value)[0]), value


@dataclass(frozen=True)
class Literal:
    """A number that becomes a constant when the statement is recorded."""

    value: int


_READERS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "T": _read_operand(Tensor),
    "S": _read_operand(Scalar),
    "A": _read_operand(Tensor, Scalar),
    "L": _read_literal,
    "Ts": _read_tensors,
    "V": _read_vector,
    "Vw": _read_vector,
    "int": read_int,
    "ints": _read_ints,
    "flag": read_flag,
    "flags": _read_flags,
    "dtype": _read_dtype,
}

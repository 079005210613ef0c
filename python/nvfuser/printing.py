"""Definitions as Python: what `repr` gives, and a new definition reads back to the same id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvfuser_direct import is_disabled

from .handles import Scalar, Tensor, Vector
from .record import constant_value
from .statements import VECTORS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .statements import Parameter
    from .trie import Node

    States = Sequence[tuple[type, Any]]

_LETTERS = {Tensor: "T", Scalar: "S", Vector: "V"}
_AS_NUMBERS = ("manual_normalization", "manual_padding")


def definition_text(node: Node | None, fusion_id: int | None, spelled_out: Collection[int]) -> str:
    """A function that records the statements up to `node`.

    Parameters
    ----------
    node : Node or None
        The last statement; None: there is none.
    fusion_id : int or None
        Part of the name; None: the definition is not complete.
    spelled_out : collection of int
        State indices of constants and vectors that are statements of their own.
    """
    name = "nvfuser_incomplete_fusion" if fusion_id is None else f"nvfuser_fusion_id{fusion_id}"
    lines = [f"    {line}\n" for line in statement_lines(node, spelled_out)]
    return f"\ndef {name}(fd : FusionDefinition) -> None :\n{''.join(lines)}\n"


def statement_lines(node: Node | None, spelled_out: Collection[int]) -> list[str]:
    """The statements up to `node`, without literals that are written in place."""
    if node is None:
        return []
    states = node.states()
    writer = _Writer(node, states, spelled_out)
    return [writer.text(statement) for statement in node.path() if writer.is_line(statement)]


def statement_text(node: Node, states: States, spelled_out: Collection[int]) -> str:
    """One statement."""
    return _Writer(node, states, spelled_out).text(node)


class _Writer:
    """Knows the states up to a node, and which of them are written in place."""

    def __init__(self, node: Node, states: States, spelled_out: Collection[int]) -> None:
        self._states = states
        self._in_place: dict[int, Node] = {}  # by state index
        if is_disabled("python_inline_definitions"):
            return
        for statement in node.path():
            is_constant = statement.key[0] == "define_scalar" and statement.key[1] is not None
            is_literal = is_constant or statement.key[0] == "define_vector"
            if is_literal and statement.index not in spelled_out:
                self._in_place[statement.index] = statement

    def is_line(self, node: Node) -> bool:
        """Whether a statement is not written inside another one."""
        return not (node.results and node.index in self._in_place)

    def text(self, node: Node) -> str:
        """`T2 = fd.ops.add(T0, T1)`"""
        assert node.kind is not None
        function = node.kind.function
        call = f"fd.{function}({', '.join(_ARGUMENTS.get(function, _arguments)(self, node))})"
        if not node.results:
            return call
        names = ["_" if index is None else self._name(index) for index in node.result_indices()]
        comma = "," if node.key[0] == "tensor_sizes" else ""
        return f"{', '.join(names)}{comma} = {call}"

    def _name(self, index: int) -> str:
        return f"{_LETTERS[self._states[index][0]]}{index}"

    def state(self, index: int | None) -> str:
        """An operand: its name, or its value if that is written in place."""
        if index is None:
            return "None"
        statement = self._in_place.get(index)
        if statement is None:
            return self._name(index)
        if statement.key[0] == "define_vector":
            return self.items(statement)
        return literal_text(constant_value(statement.key))

    def items(self, vector: Node) -> str:
        """The scalars of a vector."""
        return f"[{', '.join(self.state(index) for index in vector.key[1])}]"


def _arguments(writer: _Writer, node: Node) -> list[str]:
    """Those of an operation."""
    assert node.kind is not None
    texts = []
    for parameter, part in zip(node.kind.parameters, node.key[1:], strict=True):
        if parameter.form == "if given" and part is None:
            continue
        text = _part_text(writer, parameter, part)
        texts.append(text if parameter.form == "position" else f"{parameter.name}={text}")
    return texts


def _part_text(writer: _Writer, parameter: Parameter, part: Any) -> str:
    if parameter.kind == "Ts":
        return f"[{', '.join(writer.state(index) for index in part)}]"
    if parameter.is_operand or parameter.kind in VECTORS:
        return writer.state(part)
    if parameter.kind == "dtype":
        return f"DataType.{part}"
    if parameter.name in _AS_NUMBERS:
        return str(int(part))
    return literal_text(part)


def _tensor_arguments(writer: _Writer, node: Node) -> list[str]:
    _, shape, contiguity, dtype, is_cpu, order = node.key
    texts = [
        f"shape={list(shape)}",
        f"contiguity={list(contiguity)}",
        f"dtype=DataType.{dtype}",
        f"is_cpu={is_cpu}",
    ]
    return texts + ([f"stride_order={list(order)}"] if order else [])


def _scalar_arguments(writer: _Writer, node: Node) -> list[str]:
    value = None if node.key[1] is None else constant_value(node.key)
    return [literal_text(value), f"dtype=DataType.{node.key[2]}"]


def _vector_arguments(writer: _Writer, node: Node) -> list[str]:
    return [writer.items(node), f"dtype=DataType.{node.key[2]}"]


def _output_arguments(writer: _Writer, node: Node) -> list[str]:
    _, index, alias, order = node.key
    texts = [writer.state(index)]
    if alias is not None:
        texts.append(writer.state(alias))
    if order:
        texts.append(f"stride_order={list(order)}")
    return texts


_ARGUMENTS = {
    "define_tensor": _tensor_arguments,
    "define_scalar": _scalar_arguments,
    "define_vector": _vector_arguments,
    "add_output": _output_arguments,
}


# -- literals --


def literal_text(value: Any) -> str:
    """A number, flag or list of such as Python."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(literal_text(item) for item in value)}]"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, complex):
        return _complex_text(value)
    return str(value)


def _float_text(value: float) -> str:
    """Six digits if they say the number, otherwise as many as it takes."""
    if value != value:
        return 'float("nan")'
    if value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    text = f"{value:#.6g}"
    return text if float(text) == value else repr(value)


def _complex_text(value: complex) -> str:
    is_finite = all(abs(part) < float("inf") for part in (value.real, value.imag))
    if not is_finite or _has_lost_sign(value):
        # As a sum, an infinite part would make the other NaN, and -0.0 would lose its sign.
        return f"complex({_float_text(value.real)}, {_float_text(value.imag)})"
    return f"{_float_text(value.real)}+{_float_text(value.imag)}j"


def _has_lost_sign(value: complex) -> bool:
    read = complex(value.real) + complex(0.0, value.imag)
    return repr(read) != repr(value)

"""Handles: what they show, their operators, and the definitions that they belong to."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import pytest

from nvfuser import FusionDefinition, Scalar, Tensor, Vector

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "mod": operator.mod,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
INTEGER_OPERATORS = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift,
    "bitwise_right_shift": operator.rshift,
}


def opened() -> FusionDefinition:
    fd = FusionDefinition()
    fd._setup_definition()
    return fd


def last_statement(fd: FusionDefinition) -> str:
    return repr(fd).rstrip().splitlines()[-1].strip()


def test_handles_show_index_and_rank() -> None:
    """Attributes and repr."""
    fd = opened()
    tensor = fd.define_tensor([-1, -1, -1])
    scalar = fd.define_scalar(None)
    vector = fd.define_vector([scalar, scalar, 2])
    assert (tensor.index, tensor.ndim) == (0, 3)
    assert vector.size == 3
    assert repr(tensor) == "Tensor(index=0, ndim=3)"
    assert repr(scalar) == "Scalar(index=1)"
    assert repr(vector) == "Vector(index=3, size=3)"
    assert tensor._get_fusion_definition() is fd


def test_sizes_are_methods() -> None:
    """Shape, size, at and v[i]."""
    fd = opened()
    tensor = fd.define_tensor([-1, -1])
    vector = tensor.shape()
    assert isinstance(vector, Vector)
    assert vector.size == 2
    assert isinstance(tensor.size(1), Scalar)
    assert isinstance(vector.at(0), Scalar)
    assert last_statement(fd) == "S3 = fd.ops.at(V1, index=0)"
    assert isinstance(vector[-1], Scalar)
    assert last_statement(fd) == "S4 = fd.ops.at(V1, index=1)"
    assert len(list(vector)) == 2
    with pytest.raises(IndexError):
        vector[2]


@pytest.mark.parametrize("name", [*OPERATORS, *INTEGER_OPERATORS])
@pytest.mark.parametrize("kinds", ["TT", "TS", "ST", "SS"])
def test_operators_record_operations(name: str, kinds: str) -> None:
    """Operators on tensors and scalars in any mix."""
    fd = opened()
    make = {"T": lambda: fd.define_tensor([-1, -1]), "S": lambda: fd.define_scalar(None)}
    a, b = (make[kind]() for kind in kinds)
    function: Callable[[Any, Any], Any] = {**OPERATORS, **INTEGER_OPERATORS}[name]
    out = function(a, b)
    letter = "T" if "T" in kinds else "S"
    assert last_statement(fd) == f"{letter}2 = fd.ops.{name}({kinds[0]}0, {kinds[1]}1)"
    assert isinstance(out, Tensor if letter == "T" else Scalar)


def test_unary_operators() -> None:
    """Abs and unary minus."""
    fd = opened()
    tensor = fd.define_tensor([-1])
    abs(tensor)
    assert last_statement(fd) == "T1 = fd.ops.abs(T0)"
    operator.neg(tensor)
    assert last_statement(fd) == "T2 = fd.ops.neg(T0)"


def test_python_numbers_are_no_operands() -> None:
    """TypeError; the definition continues."""
    fd = opened()
    tensor = fd.define_tensor([-1])
    for statement in (
        lambda: tensor + 1,
        lambda: 2.0 * tensor,
        lambda: tensor < 3,
        lambda: fd.ops.add(tensor, 1.0),
        lambda: fd.ops.clamp(tensor, 0.0, 1.0),
    ):
        with pytest.raises(TypeError, match="must be a Tensor or Scalar"):
            statement()
    fd.add_output(fd.ops.neg(tensor))
    fd._finalize_definition()
    assert fd.id() == 0


def test_equality_of_one_class_compares_handles() -> None:
    """== and !=."""
    fd = opened()
    a, b = fd.define_tensor([-1]), fd.define_tensor([-1])
    scalar = fd.define_scalar(None)
    assert (a == b) is False
    assert (a != b) is True
    assert a in [b, a]
    assert {a, b, a} == {a, b}
    assert scalar == scalar
    assert isinstance(a == scalar, Tensor)
    assert last_statement(fd) == "T3 = fd.ops.eq(T0, S2)"
    assert isinstance(scalar != a, Tensor)
    assert last_statement(fd) == "T4 = fd.ops.ne(S2, T0)"


def test_a_handle_belongs_to_its_definition() -> None:
    """Using it with another one is an error."""
    fd, other = opened(), opened()
    tensor = fd.define_tensor([-1])
    other.define_tensor([-1])
    with pytest.raises(RuntimeError, match="belongs to another definition"):
        other.ops.neg(tensor)
    with pytest.raises(RuntimeError, match="belongs to another definition"):
        other.add_output(tensor)


def test_known_statements_refuse_handles_of_others() -> None:
    """Also where equal indices would find a statement."""
    calls: list[tuple[str, Callable[[FusionDefinition, Any, Any, Any], Any]]] = [
        ("ts", lambda fd, t, s, v: fd.ops.add(t, s)),
        ("t", lambda fd, t, s, v: fd.ops.sum(t, [1])),
        ("tv", lambda fd, t, s, v: fd.ops.reshape(t, v)),
        ("ts", lambda fd, t, s, v: fd.ops.reshape(t, [s, 3])),
        ("t", lambda fd, t, s, v: fd.ops.cat([t, t], 0)),
        ("ts", lambda fd, t, s, v: fd.ops.pad(t, [1, 1], s)),
    ]

    def start(fd: FusionDefinition) -> dict[str, Any]:
        t0, s1 = fd.define_tensor([-1, -1]), fd.define_scalar(2)
        return {"t": t0, "s": s1, "v": fd.define_vector([s1, 3])}

    foreign = start(opened())
    for used, call in calls:
        known = opened()
        call(known, **start(known))
        for name in used:
            fd = opened()
            handles = start(fd)
            before = repr(fd)
            with pytest.raises(RuntimeError, match="belongs to another definition"):
                call(fd, **{**handles, name: foreign[name]})
            assert repr(fd) == before
            call(fd, **handles)
            assert repr(fd) == repr(known)


def test_ranks_are_the_results() -> None:
    """The true rank, whatever the order of operands."""
    fd = opened()
    vector, matrix = fd.define_tensor([-1]), fd.define_tensor([-1, -1])
    scalar = fd.define_scalar(0)
    assert fd.ops.add(vector, matrix).ndim == 2
    assert fd.ops.where(fd.ops.gt(vector, scalar), vector, matrix).ndim == 2
    assert fd.ops.select(matrix, scalar, 0).ndim == 1
    assert fd.ops.sum(matrix).ndim == 0
    assert fd.ops.sum(matrix, [0], True).ndim == 2
    assert fd.ops.matmul(vector, vector).ndim == 0
    assert fd.ops.matmul(matrix, vector).ndim == 1
    assert fd.ops.linear(vector, matrix).ndim == 1
    assert fd.ops.squeeze(fd.ops.broadcast(vector, [True, False, True]), [0, 2]).ndim == 1

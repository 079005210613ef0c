"""From statements to IR: every statement of a path, in its order, by the core's own functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import nvfuser_direct as direct
from nvfuser_direct import DataType, Fusion, FusionGuard, TensorView, UserError, Val, ops

from .errors import user_error
from .handles import Scalar, Tensor
from .printing import statement_text
from .record import constant_value

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .trie import Node

internal = direct._core.internal


@dataclass
class Replayed:
    """A fusion, and what the states of the definition are in it.

    Attributes
    ----------
    values : list
        For every state index a Val; a list of Vals for a vector.
    outputs : list[tuple[TensorView, int]]
        Outputs that are returned, and the state each of them is: one with a memory order of its own
        may be a copy of the state.
    has_scalar_output : bool
        Whether a scalar was given to add_output; it is no output of the fusion.
    """

    fusion: Fusion
    values: list[Any] = field(default_factory=list)
    outputs: list[tuple[TensorView, int]] = field(default_factory=list)
    has_scalar_output: bool = False


def replay(node: Node, spelled_out: Collection[int] = ()) -> Replayed:
    """Build the fusion that the statements up to `node` define.

    Parameters
    ----------
    node : Node
        The last statement.
    spelled_out : collection of int
        Constants and vectors that are statements in printed form, for errors.

    Raises
    ------
    UserError
        With the statement that failed.
    """
    replayed = Replayed(Fusion())
    guard = FusionGuard(replayed.fusion)
    states = node.states()
    try:
        for statement in node.path():
            _replay_one(statement, replayed, states, spelled_out)
    finally:
        del guard
    return replayed


def _replay_one(
    node: Node,
    replayed: Replayed,
    states: Sequence[tuple[type, Any]],
    spelled_out: Collection[int],
) -> None:
    def run() -> None:
        _REPLAYS.get(node.key[0], _replay_operation)(node, replayed)

    try:
        if node.line is None:
            run()
        else:
            internal.call_at_line(*node.line, run)
    except Exception as error:
        raise _build_error(node, states, spelled_out, error) from error


def _build_error(
    node: Node,
    states: Sequence[tuple[type, Any]],
    spelled_out: Collection[int],
    error: Exception,
) -> UserError:
    kinds = [kind for kind in type(error).__mro__ if issubclass(kind, UserError)]
    line = f", at {node.line[0]}:{node.line[1]}" if node.line else ""
    text = (
        f"Detected exception while building Fusion IR{line}. The failing statement is:\n"
        f"    {statement_text(node, states, spelled_out)}\n"
        f"{error}"
    )
    return (kinds[0] if kinds else UserError)(text)


def _replay_tensor(node: Node, replayed: Replayed) -> None:
    _, shape, contiguity, dtype, is_cpu, order = node.key
    if is_cpu and shape:
        raise user_error(
            "CPU non-scalar tensor is not supported!",
            expected="is_cpu=True for a tensor without dimensions",
            found=f"{len(shape)} dimensions",
            fix="leave is_cpu out: the inputs of a run decide where it happens",
        )
    tensor = direct.define_tensor(
        list(shape), list(contiguity), DataType[dtype], is_cpu, list(order)
    )
    replayed.fusion.add_input(tensor)
    replayed.values.append(tensor)


def _replay_scalar(node: Node, replayed: Replayed) -> None:
    _, value, dtype = node.key
    if value is None:
        scalar = direct.define_scalar(DataType[dtype])
        replayed.fusion.add_input(scalar)
    else:
        scalar = direct.define_scalar(constant_value(node.key), DataType[dtype])
    replayed.values.append(scalar)


def _replay_vector(node: Node, replayed: Replayed) -> None:
    replayed.values.append([replayed.values[index] for index in node.key[1]])


def _replay_output(node: Node, replayed: Replayed) -> None:
    _, index, alias, order = node.key
    output = replayed.values[index]
    fusion = replayed.fusion
    is_tensor = isinstance(output, TensorView)
    if alias is not None:
        if order:
            raise user_error("stride_order can't be dictated for aliased outputs.")
        if not is_tensor:
            raise user_error("Scalar outputs should not alias inputs.")
        fusion.add_output(output, replayed.values[alias])
        return
    if not is_tensor:
        if order:
            raise user_error("stride_order can't be dictated for scalar outputs.")
        replayed.has_scalar_output = True
        return
    stored = _stored_in_order(output, order, fusion) if order else output
    fusion.add_output(stored)
    replayed.outputs.append((stored, index))


def _stored_in_order(output: TensorView, order: Sequence[int], fusion: Fusion) -> TensorView:
    """`output` with a memory order: itself, or a copy where it is stored in one already."""
    is_stored = output in fusion.inputs() or output in fusion.outputs()
    if is_stored or output.has_allocation():
        return ops.stride_order(output, list(order))
    internal.store_in_order(output, list(order))
    return output


def _replay_operation(node: Node, replayed: Replayed) -> None:
    kind = node.kind
    assert kind is not None
    arguments = []
    for parameter, part in zip(kind.parameters, node.key[1:], strict=True):
        if part is not None and parameter.has_states:
            is_list = parameter.kind == "Ts"
            part = [replayed.values[i] for i in part] if is_list else replayed.values[part]
        elif parameter.kind == "dtype":
            part = DataType[part]
        elif isinstance(part, tuple):
            part = list(part)
        arguments.append(part)
    function = kind.replay or getattr(ops, kind.method)
    _add_results(node, function(*arguments), replayed)


def _add_results(node: Node, made: Any, replayed: Replayed) -> None:
    """Take the results of an operation as states."""
    is_vector = len(node.results) == 1 and isinstance(made, list)
    values = [made] if is_vector or not isinstance(made, list | tuple) else list(made)
    if is_vector and node.results[0] is not None and node.results[0][0] is Scalar:
        values = made  # sizes of a tensor with one dimension
    for result, value in zip(node.results, values, strict=True):
        if result is None:
            continue
        if result[0] is Tensor and isinstance(value, TensorView) and value.ndim != result[1]:
            raise direct.InternalError(
                f"{node.key[0]} made a tensor of rank {value.ndim}, {result[1]} was expected"
            )
        assert isinstance(value, Val | list), value
        replayed.values.append(value)


_REPLAYS = {
    "define_tensor": _replay_tensor,
    "define_scalar": _replay_scalar,
    "define_vector": _replay_vector,
    "add_output": _replay_output,
}

"""A cut of a definition: its segments in the order of their runs, and what original index each
value that goes in or comes out has.

An original index is the state index of a value in the definition that was cut. Sizes of inputs have
negative ones, -1, -2, .., in the order of `FusionDefinition.extents`. A value inside a composite
operation, which has no state, has a private one behind the last state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import nvfuser_direct as direct
from nvfuser_direct import InternalError, LoadStoreOpType, TensorView

from .ir_statements import is_same_value, scalars_read
from .ir_tensors import axes_of, size_of, stride_order_of
from .ir_writer import StatementWriter, free_scalars

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nvfuser_direct import Concretization, Expr, Fusion, Val

    from .definition import FusionDefinition
    from .entry import Entry


@dataclass
class Group:
    """A segment in the resolved fusion.

    Attributes
    ----------
    exprs : list
        What it computes, on tensors; operands before results.
    tensors : list
        Tensors that it reads.
    outputs : list
        Tensors that it returns, each once.
    layouts : dict
        By serial number of a tensor that it reads: one that says how it lies in memory.
    updates : dict
        By serial number of an output: the input that it is written into.
    """

    exprs: list[Expr]
    tensors: list[TensorView]
    outputs: list[TensorView]
    layouts: dict[int, TensorView] = field(default_factory=dict)
    updates: dict[int, TensorView] = field(default_factory=dict)


class SegmentPlan:
    """How a definition is cut for some inputs.

    Parameters
    ----------
    entry : Entry
        The definition.
    inputs : sequence
        Inputs of a run, not nested.

    Attributes
    ----------
    fusion : Fusion
        The fusion with its dynamic shapes resolved, and parts of tensors read as early as can be.
    record : Concretization
        What they were resolved to.
    groups : list[Group]
        In an order in which they can run.
    """

    def __init__(self, entry: Entry, inputs: Sequence[Any]) -> None:
        self.entry = entry
        replayed = entry.build()
        self.record: Concretization = direct.find_concretization(replayed.fusion, inputs)
        self.fusion: Fusion = _as_it_is_cut(direct.concretize(replayed.fusion, self.record))
        plan = direct.segment(self.fusion, inputs)
        self._position = {expr.output(0).serial(): i for i, expr in enumerate(self.fusion.exprs())}
        self.groups = [self._group(planned) for planned in plan.groups]
        # By serial number of what crosses in another type than its own: that type.
        self._stored = {
            edge.tensor.serial(): edge.dtype
            for edge in plan.edges
            if edge.dtype != edge.tensor.dtype()
        }
        if len(self.groups) > 1:
            self._find_layouts(plan)
            self._add_late_updates(plan)
        states = _tensor_states(replayed.values)
        self._num_states = len(replayed.values)
        self._number_values(states)
        self.returned = self._number_outputs(replayed.outputs)

    # -- groups --

    def _group(self, planned: Any) -> Group:
        """The group without what only its own fusion needs: arguments that lend their sizes."""
        exprs = [expr for expr in planned.exprs if expr.output(0).is_tensor()]
        made = {value.serial() for expr in exprs for value in expr.outputs()}
        read: dict[int, TensorView] = {}
        for expr in exprs:
            for value in expr.inputs():
                if value.is_tensor() and value.serial() not in made:
                    read[value.serial()] = value
        layouts = {
            value.serial(): own
            for value, own in zip(planned.inputs, planned.fusion.inputs(), strict=True)
            if value.is_tensor()
        }
        updates = {}
        for value, own in zip(planned.outputs, _once(planned.fusion.outputs()), strict=True):
            alias = self.fusion.alias_of(value)
            if alias is not None and planned.fusion.alias_of(own) is not None:
                updates[value.serial()] = alias[0]
        return Group(exprs, self._in_order(read.values()), planned.outputs, layouts, updates)

    def _find_layouts(self, plan: Any) -> None:
        """How what kernels return lies in memory: a definition stores an output in the order of
        the input that most of its axes come from, unless it asks for an order."""
        stored: dict[int, TensorView] = {}
        for planned, group in zip(plan.groups, self.groups, strict=True):
            if planned.kind != "kernel":
                continue  # readers take any strides
            optimized = {out.name(): out for out in planned.fusion.optimize().outputs()}
            for value, own in zip(planned.outputs, _once(planned.fusion.outputs()), strict=True):
                written = _same_values(value, group)[-1]
                is_ordered = written.has_allocation()
                stored[value.serial()] = written if is_ordered else optimized[own.name()]
        for group in self.groups:
            for tensor in group.tensors:
                if tensor.serial() in stored:
                    group.layouts[tensor.serial()] = stored[tensor.serial()]

    def _in_order(self, tensors: Iterable[TensorView]) -> list[TensorView]:
        """Inputs of the fusion as they are defined there, then values in the order of their
        expressions."""
        inputs = {value.serial(): i for i, value in enumerate(self.fusion.inputs())}
        first = len(inputs)

        def place(tensor: TensorView) -> tuple[int, int]:
            serial = tensor.serial()
            if serial in inputs:
                return inputs[serial], 0
            expr = tensor.definition()
            results = [value.serial() for value in expr.outputs()]
            return first + self._position[expr.output(0).serial()], results.index(serial)

        return sorted(tensors, key=place)

    def _add_late_updates(self, plan: Any) -> None:
        """Copies into inputs that other segments, or other threads, still read while what is
        copied is computed."""
        for update in plan.late_updates:
            updates = {update.output.serial(): update.input}
            self.groups.append(Group([], [update.output], [update.output], {}, updates))

    # -- indices --

    def _number_values(self, states: dict[int, int]) -> None:
        """Original indices of inputs, their sizes, and all that segments return."""
        fusion = self.fusion
        self.index_of: dict[int, int] = {}  # by serial number
        input_indices = self.entry.inputs()
        extents = iter(self.entry.extents())
        for value, index in zip(fusion.inputs(), input_indices, strict=True):
            self.index_of[value.serial()] = index
        for value in fusion.inputs():
            if isinstance(value, TensorView):
                for axis in axes_of(value):
                    self.index_of.setdefault(size_of(axis).serial(), next(extents))
        private = self._num_states
        for group in self.groups:
            for tensor in group.outputs:
                if tensor.serial() in self.index_of:
                    continue  # copied late into an input
                names = [same.name() for same in _same_values(tensor, group)]
                known = [states[name] for name in names if name in states]
                self.index_of[tensor.serial()] = min(known) if known else private
                private += not known

    def _number_outputs(self, outputs: Sequence[tuple[TensorView, int]]) -> list[int]:
        """Original indices of the outputs that are returned, in their order."""
        resolved = {tensor.name(): tensor for tensor in self.fusion.outputs()}
        return [self.index_of[resolved[tensor.name()].serial()] for tensor, _ in outputs]

    # -- writing --

    def write(self, number: int, fd: FusionDefinition) -> dict[int, int]:
        """Write a segment into a definition that is open.

        Parameters
        ----------
        number : int
            Its position.
        fd : FusionDefinition
            The definition.

        Returns
        -------
        dict
            Indices of its inputs and outputs in `fd`, to original indices.
        """
        group = self.groups[number]
        writer = StatementWriter(fd)
        indices = self._write_inputs(writer, group)
        read = {tensor.serial() for tensor in group.tensors}
        for expr in group.exprs:
            keeps = is_same_value(expr) and expr.input(0).serial() in read
            writer.expression(expr, keeps)
        for tensor in group.outputs:
            self._write_output(writer, group, tensor, indices)
        return indices

    def _write_inputs(self, writer: StatementWriter, group: Group) -> dict[int, int]:
        indices: dict[int, int] = {}
        sizes = {size_of(axis).serial() for tensor in group.tensors for axis in axes_of(tensor)}
        wanted = [scalar for expr in group.exprs for scalar in scalars_read(expr)]
        scalars = free_scalars(wanted, lambda value: value.serial() in sizes)
        arguments = [value.serial() for value in self.fusion.inputs()]
        first = {value.serial(): value for value in [*group.tensors, *scalars]}
        ordered: list[Val] = [first[serial] for serial in arguments if serial in first]
        ordered += [tensor for tensor in group.tensors if tensor.serial() not in arguments]
        ordered += [scalar for scalar in scalars if scalar.serial() not in arguments]
        read = {tensor.serial() for tensor in group.tensors}
        ordered += [
            tensor for tensor in _once(group.updates.values()) if tensor.serial() not in read
        ]
        for value in ordered:
            if isinstance(value, TensorView):
                layout = group.layouts.get(value.serial())
                own = writer.tensor_input(value, layout, self._stored.get(value.serial())).index
            else:
                own = writer.scalar_input(value).index
            indices[own] = self._original_index(value)
        for tensor in group.tensors:
            if tensor.serial() in self._stored:
                writer.cast_back(tensor, self._stored[tensor.serial()])
        return indices

    def _original_index(self, value: Val) -> int:
        index = self.index_of.get(value.serial())
        if index is None:
            raise InternalError(f"no segment makes {value}, which another one reads")
        return index

    def _write_output(
        self,
        writer: StatementWriter,
        group: Group,
        tensor: TensorView,
        indices: dict[int, int],
    ) -> None:
        target = group.updates.get(tensor.serial())
        if target is not None:
            if not group.exprs:  # a late update
                writer.copy(tensor)
            writer.output(tensor, target)
            if not group.exprs or not self._is_read(tensor, group):
                return
        is_ordered = tensor.has_allocation() and tensor.definition().op_name() != "LoadStoreOp"
        order = stride_order_of(tensor) if is_ordered and target is None else []
        if tensor.serial() in self._stored:
            writer.cast_down(tensor, self._stored[tensor.serial()])
        handle = writer.operand(tensor)
        if handle.index not in indices:
            writer.output(tensor, stride_order=order)
            indices[handle.index] = self._original_index(tensor)

    def _is_read(self, tensor: TensorView, group: Group) -> bool:
        """Whether an output that updates an input is returned, or read by another segment."""
        alias = self.fusion.alias_of(tensor)
        readers = [other for other in self.groups if other is not group]
        return (alias is not None and not alias[1]) or any(
            tensor.serial() == read.serial() for other in readers for read in other.tensors
        )


_READS_PARTS = {"SliceOp", "SelectOp", "IndexSelectOp", "GatherOp"}


def _as_it_is_cut(fusion: Fusion) -> Fusion:
    """Let what leads to a slice, or to a lookup of one element, be computed behind it, in the same
    segment: otherwise all of it would be stored for a part to be read. Boundaries behind one value
    are one: what reads them may share a segment."""
    exprs: list[Any] = fusion.exprs()
    bounded = [
        expr.arg.serial()
        for expr in exprs
        if expr.op_name() == "LoadStoreOp" and expr.op == LoadStoreOpType.SegmenterSet
    ]
    passes = []
    if len(set(bounded)) < len(bounded):
        passes.append("merge_equal_exprs")
    if any(expr.op_name() in _READS_PARTS for expr in exprs):
        passes += ["slice_before_computing", "look_up_before_computing"]
    return fusion.optimize(passes=passes) if passes else fusion


def _same_values(tensor: TensorView, group: Group) -> list[TensorView]:
    """The tensor, and those of its group that it is a mere copy of."""
    made = {value.serial() for expr in group.exprs for value in expr.outputs()}
    found = [tensor]
    while found[-1].serial() in made:
        expr: Any = found[-1].definition()
        if not is_same_value(expr) or expr.arg.serial() not in made:
            break
        found.append(expr.arg)
    return found


def _tensor_states(values: Sequence[Any]) -> dict[int, int]:
    """By name of a tensor its first state index."""
    states: dict[int, int] = {}
    for index, value in enumerate(values):
        if not isinstance(value, list) and value.is_tensor():
            states.setdefault(value.name(), index)
    return states


def _once(values: Iterable[Val]) -> list[Any]:
    return list({value.serial(): value for value in values}.values())

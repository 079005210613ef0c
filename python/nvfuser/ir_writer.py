"""Statements from IR: a fusion, or a part of one, written into a blank definition.

    writer = StatementWriter(fd)
    writer.tensor_input(tensor)       inputs first
    writer.expression(expr)           operands before results
    writer.output(tensor)

`ir_statements` has the statement that each expression is written as. This module knows which handle
stands for which value: sizes are read off tensors, constants are made just before their first use,
and scalars are computed where they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvfuser_direct import DataType, InternalError

from .errors import user_error
from .ir_statements import STATEMENTS, is_same_value, untranslatable
from .ir_tensors import axes_of, contiguity_of, size_of, stated_dtype, stride_order_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nvfuser_direct import Expr, IterDomain, TensorView, Val

    from .definition import FusionDefinition
    from .handles import Scalar, Tensor, Vector


class StatementWriter:
    """Writes one definition.

    Parameters
    ----------
    fd : FusionDefinition
        The definition, which is open.
    """

    def __init__(self, fd: FusionDefinition) -> None:
        self.fd = fd
        self.ops: Any = fd.ops  # whose operations are found by name
        self._handles: dict[int, Tensor | Scalar] = {}  # by serial number of the value
        self._sizes: dict[int, tuple[Tensor, int]] = {}  # by serial number of the extent

    # -- inputs and outputs --

    def tensor_input(
        self,
        tensor: TensorView,
        like: TensorView | None = None,
        stored: DataType | None = None,
    ) -> Tensor:
        """Define an input.

        Parameters
        ----------
        tensor : TensorView
            The value that the input stands for.
        like : TensorView, optional
            A tensor that says how it lies in memory, if that is not `tensor` itself.
        stored : DataType, optional
            Its type in memory, if that is another one: `cast_back` is due then.
        """
        layout = tensor if like is None else like
        shape = [_declared_size(axis) for axis in axes_of(tensor)]
        contiguity = contiguity_of(layout)
        more = {}
        if order := stride_order_of(layout):
            more["stride_order"] = order
        handle = self.fd.define_tensor(
            shape=shape,
            contiguity=contiguity,
            dtype=tensor.dtype() if stored is None else stored,
            is_cpu=tensor.is_cpu_scalar(),
            **more,
        )
        self.bind(tensor, handle)
        for dim, axis in enumerate(axes_of(tensor)):
            self._sizes.setdefault(size_of(axis).serial(), (handle, dim))
        return handle

    def scalar_input(self, scalar: Val) -> Scalar:
        """Define a scalar input."""
        handle = self.fd.define_scalar(None, dtype=stated_dtype(scalar.dtype()))
        self.bind(scalar, handle)
        return handle

    def has_size(self, extent: Val) -> bool:
        """Whether the size is that of an input."""
        return extent.serial() in self._sizes

    def output(
        self,
        tensor: TensorView,
        alias_input: TensorView | None = None,
        stride_order: Sequence[int] = (),
    ) -> Tensor:
        """Return a tensor, or write it into an input."""
        handle = self.operand(tensor)
        if alias_input is not None:
            self.fd.add_output(handle, self.operand(alias_input))
        elif stride_order:
            self.fd.add_output(handle, stride_order=list(stride_order))
        else:
            self.fd.add_output(handle)
        return handle

    # -- expressions --

    def cast_back(self, tensor: TensorView, stored: DataType) -> None:
        """Let a cast of an input, which has the type `stored` in memory, stand for the tensor."""
        self.bind(tensor, self._cast(self.operand(tensor), stored, tensor.dtype()))

    def cast_down(self, tensor: TensorView, stored: DataType) -> None:
        """Let a cast stand for a tensor, which has the type `stored` in memory."""
        self.bind(tensor, self._cast(self.operand(tensor), tensor.dtype(), stored))

    def _cast(self, handle: Tensor, own: DataType, wanted: DataType) -> Tensor:
        """Through Float where neither is it: types of a byte and less have no other conversion."""
        if DataType.Float not in (own, wanted):
            handle = self.ops.cast(handle, dtype=DataType.Float)
        cast: Tensor = self.ops.cast(handle, dtype=wanted)
        return cast

    def copy(self, tensor: TensorView) -> None:
        """Let a copy of a tensor stand for it, with an index of its own."""
        self.bind(tensor, self.ops.set(self.operand(tensor)))

    def expression(self, expr: Expr, keeps: bool = False) -> None:
        """Write what computes the results of an expression on tensors.

        Parameters
        ----------
        expr : Expr
            The expression; its operands are written.
        keeps : bool
            Write a statement also where nothing changes, so that the result has an index of its
            own.
        """
        if not keeps and is_same_value(expr):
            self.bind(expr.output(0), self.operand(expr.input(0)))
            return
        write = STATEMENTS.get(expr.op_name())
        if write is None:
            raise untranslatable(expr)
        try:
            results = write(self, expr)
        except AttributeError as error:  # an operation that the frontend has no name for
            if error.obj is not self.ops:
                raise
            raise untranslatable(expr) from error
        made = results if isinstance(results, tuple | list) else (results,)
        for value, handle in zip(expr.outputs(), [h for h in made if h is not None], strict=False):
            self.bind(value, handle)

    def bind(self, value: Val, handle: Tensor | Scalar) -> None:
        """Let a handle stand for a value."""
        self._handles[value.serial()] = handle

    def is_written(self, value: Val) -> bool:
        """Whether a handle stands for it."""
        return value.serial() in self._handles

    def operand(self, value: Val | None) -> Any:
        """The handle of a value; a scalar is computed if it has none yet. None for None."""
        if value is None:
            return None
        handle = self._handles.get(value.serial())
        if handle is None:
            if value.is_tensor():
                raise InternalError(f"{value} is read before it is defined")
            handle = self._scalar(value)
            self.bind(value, handle)
        return handle

    def operands(self, values: Iterable[Val]) -> list[Any]:
        """The handles of several values."""
        return [self.operand(value) for value in values]

    def vector(self, values: Iterable[Val]) -> Vector:
        """A vector of scalars."""
        return self.fd.define_vector(self.operands(values), dtype=DataType.Int)

    def constant(self, number: complex, dtype: DataType) -> Scalar:
        """A constant that no value of the IR stands for."""
        return self.fd.define_scalar(number, dtype=dtype)

    def _scalar(self, value: Val) -> Tensor | Scalar:
        if value.is_const():
            return self.fd.define_scalar(value.value(), dtype=stated_dtype(value.dtype()))
        if value.serial() in self._sizes:
            tensor, dim = self._sizes[value.serial()]
            return self.fd.ops.size(tensor, dim=dim)
        expr = value.definition()
        if expr is None:
            raise user_error(
                f"No input of the definition has the value of {value.to_inline_string()}",
                expected="inputs, their sizes, and what is computed from them",
                found=str(value),
            )
        self.expression(expr)
        return self._handles[value.serial()]


def free_scalars(values: Iterable[Val], is_known: Any) -> list[Val]:
    """The scalars without definition that values are computed from, each once.

    Parameters
    ----------
    values : iterable of Val
        What is needed; tensors among them are passed over.
    is_known : callable
        Says of a scalar that it needs no further search: a size of a tensor at hand.
    """
    found: dict[int, Val] = {}
    seen: set[int] = set()
    waiting = [value for value in values if value is not None and not value.is_tensor()]
    waiting.reverse()
    while waiting:
        value = waiting.pop()
        if value.serial() in seen or value.is_const() or is_known(value):
            continue
        seen.add(value.serial())
        expr = value.definition()
        if expr is None:
            found[value.serial()] = value
        else:
            waiting += [operand for operand in reversed(expr.inputs()) if not operand.is_tensor()]
    return list(found.values())


def _declared_size(axis: IterDomain) -> int:
    extent = size_of(axis)
    size: Any = extent.value() if extent.is_const() else -1
    return int(size)

"""Handles: what statements give back, to be the operands of later statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .definition import FusionDefinition


class _Operand:
    """The operators that Tensor and Scalar share, each of which records a statement."""

    __slots__ = ("_fd", "index")

    # The classes below narrow the types of the operands.
    _fd: Any
    index: int

    def _get_fusion_definition(self) -> FusionDefinition:
        """The definition that it belongs to."""
        definition: FusionDefinition = self._fd
        return definition

    def __add__(self, other: Any) -> Any:
        return self._fd.ops.add(self, other)

    def __sub__(self, other: Any) -> Any:
        return self._fd.ops.sub(self, other)

    def __mul__(self, other: Any) -> Any:
        return self._fd.ops.mul(self, other)

    def __truediv__(self, other: Any) -> Any:
        return self._fd.ops.div(self, other)

    def __mod__(self, other: Any) -> Any:
        return self._fd.ops.mod(self, other)

    def __pow__(self, other: Any) -> Any:
        return self._fd.ops.pow(self, other)

    def __and__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_and(self, other)

    def __or__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_or(self, other)

    def __xor__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_xor(self, other)

    def __lshift__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_left_shift(self, other)

    def __rshift__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_right_shift(self, other)

    # A number on the left is refused by the operation, which says what to write instead.
    def __radd__(self, other: Any) -> Any:
        return self._fd.ops.add(other, self)

    def __rsub__(self, other: Any) -> Any:
        return self._fd.ops.sub(other, self)

    def __rmul__(self, other: Any) -> Any:
        return self._fd.ops.mul(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return self._fd.ops.div(other, self)

    def __rmod__(self, other: Any) -> Any:
        return self._fd.ops.mod(other, self)

    def __rpow__(self, other: Any) -> Any:
        return self._fd.ops.pow(other, self)

    def __rand__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_and(other, self)

    def __ror__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_or(other, self)

    def __rxor__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_xor(other, self)

    def __rlshift__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_left_shift(other, self)

    def __rrshift__(self, other: Any) -> Any:
        return self._fd.ops.bitwise_right_shift(other, self)

    def __lt__(self, other: Any) -> Any:
        return self._fd.ops.lt(self, other)

    def __le__(self, other: Any) -> Any:
        return self._fd.ops.le(self, other)

    def __gt__(self, other: Any) -> Any:
        return self._fd.ops.gt(self, other)

    def __ge__(self, other: Any) -> Any:
        return self._fd.ops.ge(self, other)

    # Two handles of one class are compared as handles: they are searched for in lists and sets.
    def __eq__(self, other: object) -> Any:
        if isinstance(other, self.__class__):
            return self._fd is other._fd and self.index == other.index
        if isinstance(other, _Operand):
            return self._fd.ops.eq(self, other)
        return NotImplemented

    def __ne__(self, other: object) -> Any:
        if isinstance(other, self.__class__):
            return self._fd is not other._fd or self.index != other.index
        if isinstance(other, _Operand):
            return self._fd.ops.ne(self, other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash((id(self._fd), self.index))

    def __abs__(self) -> Any:
        return self._fd.ops.abs(self)

    def __neg__(self) -> Any:
        return self._fd.ops.neg(self)


class Tensor(_Operand):
    """A tensor of a definition.

    Attributes
    ----------
    index : int
        Its state index.
    ndim : int
        Its rank.
    """

    __slots__ = ("ndim",)

    ndim: int

    if TYPE_CHECKING:  # with either, a tensor comes out; numbers have to be made scalars first

        def __add__(self, other: Tensor | Scalar) -> Tensor: ...
        def __sub__(self, other: Tensor | Scalar) -> Tensor: ...
        def __mul__(self, other: Tensor | Scalar) -> Tensor: ...
        def __truediv__(self, other: Tensor | Scalar) -> Tensor: ...
        def __mod__(self, other: Tensor | Scalar) -> Tensor: ...
        def __pow__(self, other: Tensor | Scalar) -> Tensor: ...
        def __and__(self, other: Tensor | Scalar) -> Tensor: ...
        def __or__(self, other: Tensor | Scalar) -> Tensor: ...
        def __xor__(self, other: Tensor | Scalar) -> Tensor: ...
        def __lshift__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rshift__(self, other: Tensor | Scalar) -> Tensor: ...
        def __radd__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rsub__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rmul__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rtruediv__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rmod__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rpow__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rand__(self, other: Tensor | Scalar) -> Tensor: ...
        def __ror__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rxor__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rlshift__(self, other: Tensor | Scalar) -> Tensor: ...
        def __rrshift__(self, other: Tensor | Scalar) -> Tensor: ...
        def __lt__(self, other: Tensor | Scalar) -> Tensor: ...
        def __le__(self, other: Tensor | Scalar) -> Tensor: ...
        def __gt__(self, other: Tensor | Scalar) -> Tensor: ...
        def __ge__(self, other: Tensor | Scalar) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __neg__(self) -> Tensor: ...

    def __init__(self, fd: FusionDefinition, index: int, ndim: int) -> None:
        self._fd = fd
        self.index = index
        self.ndim = ndim

    def __repr__(self) -> str:
        return f"Tensor(index={self.index}, ndim={self.ndim})"

    def shape(self) -> Vector:
        """All sizes."""
        vector: Vector = self._fd.ops.shape(self)
        return vector

    def size(self, dim: int) -> Scalar:
        """The size of a dimension.

        Parameters
        ----------
        dim : int
            The dimension; negative values count from the end.
        """
        scalar: Scalar = self._fd.ops.size(self, dim)
        return scalar


class Scalar(_Operand):
    """A scalar of a definition: an input, a constant, or what operations on such give.

    Attributes
    ----------
    index : int
        Its state index.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # with a tensor, its operator decides

        def __add__(self, other: Scalar) -> Scalar: ...
        def __sub__(self, other: Scalar) -> Scalar: ...
        def __mul__(self, other: Scalar) -> Scalar: ...
        def __truediv__(self, other: Scalar) -> Scalar: ...
        def __mod__(self, other: Scalar) -> Scalar: ...
        def __pow__(self, other: Scalar) -> Scalar: ...
        def __and__(self, other: Scalar) -> Scalar: ...
        def __or__(self, other: Scalar) -> Scalar: ...
        def __xor__(self, other: Scalar) -> Scalar: ...
        def __lshift__(self, other: Scalar) -> Scalar: ...
        def __rshift__(self, other: Scalar) -> Scalar: ...
        def __radd__(self, other: Scalar) -> Scalar: ...
        def __rsub__(self, other: Scalar) -> Scalar: ...
        def __rmul__(self, other: Scalar) -> Scalar: ...
        def __rtruediv__(self, other: Scalar) -> Scalar: ...
        def __rmod__(self, other: Scalar) -> Scalar: ...
        def __rpow__(self, other: Scalar) -> Scalar: ...
        def __rand__(self, other: Scalar) -> Scalar: ...
        def __ror__(self, other: Scalar) -> Scalar: ...
        def __rxor__(self, other: Scalar) -> Scalar: ...
        def __rlshift__(self, other: Scalar) -> Scalar: ...
        def __rrshift__(self, other: Scalar) -> Scalar: ...
        def __lt__(self, other: Scalar) -> Scalar: ...
        def __le__(self, other: Scalar) -> Scalar: ...
        def __gt__(self, other: Scalar) -> Scalar: ...
        def __ge__(self, other: Scalar) -> Scalar: ...
        def __abs__(self) -> Scalar: ...
        def __neg__(self) -> Scalar: ...

    def __init__(self, fd: FusionDefinition, index: int, extra: None = None) -> None:
        self._fd = fd
        self.index = index

    def __repr__(self) -> str:
        return f"Scalar(index={self.index})"


class Vector:
    """Scalars in a row, for shapes.

    Attributes
    ----------
    index : int
        Its state index.
    size : int
        How many scalars.
    """

    __slots__ = ("_fd", "index", "size")

    def __init__(self, fd: FusionDefinition, index: int, size: int) -> None:
        self._fd = fd
        self.index = index
        self.size = size

    def __repr__(self) -> str:
        return f"Vector(index={self.index}, size={self.size})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vector):
            return NotImplemented
        return self._fd is other._fd and self.index == other.index

    def __hash__(self) -> int:
        return hash((id(self._fd), self.index))

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Scalar:
        return self._fd.ops.at(self, index)

    def at(self, index: int) -> Scalar:
        """One of the scalars.

        Parameters
        ----------
        index : int
            Which; negative values count from the end.
        """
        return self._fd.ops.at(self, index)

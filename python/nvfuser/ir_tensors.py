"""Facts of tensors of the IR that definitions state: sizes, memory, types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nvfuser_direct import DataType, UserNotImplementedError

if TYPE_CHECKING:
    from nvfuser_direct import IterDomain, TensorView, Val


def axes_of(tensor: TensorView) -> list[IterDomain]:
    """The dimensions that readers see: without those that were reduced."""
    return [axis for axis in tensor.get_logical_domain() if not axis.is_reduction()]


def size_of(axis: IterDomain) -> Val:
    """The number of elements along a dimension, repeated ones counted."""
    return axis.maybe_expanded_extent()


def sizes_of(tensor: TensorView) -> list[Val]:
    """The sizes that readers see."""
    return [size_of(axis) for axis in axes_of(tensor)]


def stride_order_of(tensor: TensorView) -> list[int]:
    """For every dimension its place in memory, 0 innermost; empty for row-major tensors."""
    if not tensor.has_allocation():
        return []
    axes = axes_of(tensor)
    stored = [axis for axis in tensor.get_allocation_domain() if not axis.is_reduction()]
    if sorted(axis.name() for axis in stored) != sorted(axis.name() for axis in axes):
        raise UserNotImplementedError(
            f"{tensor} lies in memory in another form than an order of its dimensions"
        )
    places = {axis.name(): len(stored) - 1 - i for i, axis in enumerate(stored)}
    order = [places[axis.name()] for axis in axes]
    return [] if order == list(reversed(range(len(axes)))) else order


def contiguity_of(tensor: TensorView) -> list[bool | None]:
    """In the order of memory: whether a dimension is packed against the next; None: a broadcast."""
    is_stored = tensor.has_allocation()
    stored = tensor.get_allocation_domain() if is_stored else tensor.get_logical_domain()
    flags = tensor.get_contiguity()
    return [
        None if axis.is_broadcast() else bool(flag)
        for axis, flag in zip(stored, flags, strict=True)
        if not axis.is_reduction()
    ]


def stated_dtype(dtype: DataType) -> DataType:
    """The type as definitions write it: sizes are Int."""
    return DataType.Int if dtype == DataType.Index else dtype

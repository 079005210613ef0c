"""Results of an evaluation in memory of their own, laid out as kernels lay out theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .. import _core
from .._core import DataType, TensorView
from ..pytorch_utils import as_torch, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def stored_outputs(
    outputs: Sequence[_core.Val], values: Sequence[torch.Tensor], args: Iterable[Any]
) -> list[torch.Tensor]:
    """Values of outputs: no views of inputs or of each other, and in the layout of each.

    Parameters
    ----------
    outputs : sequence of Val
        The outputs of a fusion. The same one has the same tensor; inputs stay as they are.
    values : sequence of torch.Tensor
        What they were evaluated to.
    args : iterable
        The inputs, whose memory is not theirs.
    """
    taken = {_memory_of(as_torch(arg)) for arg in args if is_tensor(arg)}
    stored: dict[_core.Val, torch.Tensor] = {}
    for output, value in zip(outputs, values, strict=True):
        if output not in stored:
            assert isinstance(output, TensorView)
            is_input = output.is_fusion_input()
            stored[output] = value if is_input else _of_its_own(output, value, taken)
    return [stored[output] for output in outputs]


def _of_its_own(output: TensorView, value: torch.Tensor, taken: set[int]) -> torch.Tensor:
    result = _in_layout_of(output, value)
    if _memory_of(result) in taken:
        result = _copy_into(result, list(result.stride()))
    taken.add(_memory_of(result))
    return result


def _memory_of(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _in_layout_of(output: TensorView, value: torch.Tensor) -> torch.Tensor:
    """`value`, packed in the order of the allocation domain; expanded axes have stride 0."""
    axes = _core.TensorDomain.no_reductions(output.logical())
    allocated = _core.TensorDomain.no_reductions(output.maybe_allocation())
    if set(allocated) != set(axes) or output.dtype() == DataType.Float4_e2m1fn:
        return value  # tiles, pairs: laid out by the code that computed them
    strides = [0] * value.ndim
    step = 1
    for axis in reversed(allocated):
        at = axes.index(axis)
        if not axis.has_expanded_extent():
            strides[at] = step
            step *= max(value.shape[at], 1)
    if value.numel() == 0 or _reaches_alike(value, strides):
        return value.as_strided(value.shape, strides, value.storage_offset())
    return _copy_into(value, strides)


def _reaches_alike(value: torch.Tensor, strides: list[int]) -> bool:
    """Whether `value` has these strides along all axes of more than one position."""
    sizes = zip(value.shape, value.stride(), strides, strict=True)
    return all(size == 1 or stride == wanted for size, stride, wanted in sizes)


def _copy_into(value: torch.Tensor, strides: list[int]) -> torch.Tensor:
    """A copy with these strides, one element for all positions along those that are 0."""
    once = value
    for dim, stride in enumerate(strides):
        if stride == 0 and value.shape[dim] > 1:
            once = once.narrow(dim, 0, 1)
    result = torch.empty_strided(once.shape, strides, dtype=value.dtype, device=value.device)
    return result.copy_(once).as_strided(value.shape, strides)

"""Results of an evaluation in memory of their own, laid out as kernels lay out theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ..pytorch_utils import as_torch, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._core import Val
    from .plan import EvaluationPlan, Layout


def stored_outputs(
    plan: EvaluationPlan, values: Sequence[torch.Tensor], args: Iterable[Any]
) -> list[torch.Tensor]:
    """Values of outputs: no views of inputs or of each other, and in the layout of each.

    Parameters
    ----------
    plan : EvaluationPlan
        The plan of a fusion. The same output has the same tensor; inputs stay as they are.
    values : sequence of torch.Tensor
        What they were evaluated to.
    args : iterable
        The inputs, whose memory is not theirs.
    """
    taken = {_memory_of(as_torch(arg)) for arg in args if is_tensor(arg)}
    stored: dict[Val, torch.Tensor] = {}
    for output, layout, value in zip(plan.outputs, plan.layouts, values, strict=True):
        if output not in stored:
            is_input = output in plan.input_positions
            stored[output] = value if is_input else _of_its_own(layout, value, taken)
    return [stored[output] for output in plan.outputs]


def _of_its_own(layout: Layout | None, value: torch.Tensor, taken: set[int]) -> torch.Tensor:
    result = in_layout_of(layout, value)
    if _memory_of(result) in taken:
        result = _copy_into(result, list(result.stride()))
    taken.add(_memory_of(result))
    return result


def _memory_of(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def in_layout_of(layout: Layout | None, value: torch.Tensor) -> torch.Tensor:
    """`value`, packed; with the strides that say so also along axes of one position."""
    if layout is None:
        return value
    strides = layout.strides(value.shape)
    if value.stride() == tuple(strides):
        return value
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


def plain(value: torch.Tensor) -> torch.Tensor:
    """Its elements as they lie in memory, and no view of another tensor to PyTorch.

    A tensor that is conjugated or negated when it is read is no plain memory.
    """
    if value.requires_grad or value._base is not None:
        value = value.detach()
    return value.resolve_conj().resolve_neg()

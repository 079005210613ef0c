"""How values between segments lie in memory, as the segments that read them declare it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nvfuser_direct import TensorView

from .ir_tensors import contiguity_of, stride_order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch

    from .definition import FusionDefinition


@dataclass
class Layout:
    """A declared layout.

    Attributes
    ----------
    dims : list[int]
        Dimensions in the order of memory, outermost first.
    contiguity : list
        For each of them whether it is packed against the next; None for broadcasts.
    """

    dims: list[int]
    contiguity: list[bool | None]

    def fits(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor lies in memory as it is declared."""
        packed = 1
        for dim, flag in zip(reversed(self.dims), reversed(self.contiguity), strict=True):
            size, stride = tensor.shape[dim], tensor.stride(dim)
            if flag is None or size == 1:
                continue
            if flag and stride != packed:
                return False
            packed = size * stride
        return True

    def fitted(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor, or a copy that lies as it is declared.

        A kernel returns what is declared. Libraries choose strides of their own.
        """
        if tensor.numel() == 0 or self.fits(tensor):
            return tensor
        strides = [0] * tensor.ndim
        packed = 1
        for dim in reversed(self.dims):
            strides[dim] = packed
            packed *= tensor.shape[dim]
        return tensor.new_empty_strided(tensor.shape, strides).copy_(tensor)


def layouts_of(
    segments: Sequence[FusionDefinition], maps: Mapping[FusionDefinition, Mapping[int, int]]
) -> dict[int, Layout]:
    """By original index the layout that readers declare, for what segments give to each other."""
    made = {maps[segment][own] for segment in segments for own in segment.outputs()}
    found: dict[int, Layout] = {}
    for segment in segments:
        inputs = segment._complete_entry().build().fusion.inputs()
        for own, value in zip(segment.inputs(), inputs, strict=True):
            index = maps[segment][own]
            if isinstance(value, TensorView) and index in made:
                rank = value.ndim
                order = stride_order_of(value) or list(reversed(range(rank)))
                dims = sorted(range(rank), key=lambda dim: -order[dim])
                found[index] = Layout(dims, contiguity_of(value))
    return found

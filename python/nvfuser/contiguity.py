"""Which dimensions of a tensor lie packed in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import user_error

if TYPE_CHECKING:
    from collections.abc import Sequence


def compute_contiguity(sizes: Sequence[int], strides: Sequence[int]) -> list[bool | None]:
    """Whether each dimension is packed against the next one to its right.

    Parameters
    ----------
    sizes, strides : list[int]
        Of the tensor (elements).

    Returns
    -------
    list[bool or None]
        Per dimension in its order: None where the size is 1 or the stride 0; True where the stride
        is the stride times the size of the next dimension that is not None, and 1 for the last.
    """
    if len(sizes) != len(strides):
        raise user_error(
            "compute_contiguity: Sizes and strides must have the same number of dimensions",
            found=f"{len(sizes)} sizes and {len(strides)} strides",
        )
    contiguity: list[bool | None] = [None] * len(sizes)
    packed = 1  # the stride of a dimension that is packed
    for dim in reversed(range(len(sizes))):
        if sizes[dim] == 1 or strides[dim] == 0:
            continue
        contiguity[dim] = strides[dim] == packed
        packed = strides[dim] * sizes[dim]
    return contiguity

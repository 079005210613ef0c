"""How near tensors are to each other, and to what they should be.

Tensors are compared in double precision, a part at a time: wide copies of whole ones take memory
that large fusions do not leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ._core import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 1 << 22  # elements that are widened at a time

# An output may be this many times as far from the exact result as an evaluation in its own dtypes
# is, at elements of like size.
ERROR_MULTIPLE = 4
_LIKE_SIZED = 17  # elements next to each other in the order of their magnitudes


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in double precision."""
    return tensor.to(torch.complex128 if tensor.dtype.is_complex else torch.float64)


def is_float(tensor: torch.Tensor) -> bool:
    """Whether its elements are rounded numbers, which need not be equal to be right.

    Packed pairs of fp4 are compared as bytes.
    """
    is_packed = tensor.dtype == getattr(torch, "float4_e2m1fn_x2", None)
    return not is_packed and (tensor.dtype.is_floating_point or tensor.dtype.is_complex)


def equal(actual: torch.Tensor, *candidates: torch.Tensor) -> bool:
    """Whether each element of a tensor of bools or integers is that of one of the others."""
    actual = _bytes_of_pairs(actual)
    is_equal = torch.zeros_like(actual, dtype=torch.bool)
    for candidate in candidates:
        is_equal |= actual == _bytes_of_pairs(candidate).to(actual.device, actual.dtype)
    return bool(is_equal.all())


def _bytes_of_pairs(tensor: torch.Tensor) -> torch.Tensor:
    is_packed = tensor.dtype == getattr(torch, "float4_e2m1fn_x2", None)
    return tensor.view(torch.uint8) if is_packed else tensor


def chunks(*tensors: torch.Tensor) -> Iterator[list[torch.Tensor]]:
    """Parts of tensors of one shape, widened, on the device of the first."""
    device = tensors[0].device
    for parts in zip(*(tensor.reshape(-1).split(_CHUNK) for tensor in tensors), strict=True):
        yield [widened(part.to(device)) for part in parts]


def _distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Where both are the same infinity or NaN: 0; where only one is: infinity."""
    same = (a == b) | (a.isnan() & b.isnan())
    return (a - b).abs().nan_to_num(nan=float("inf")).masked_fill(same, 0.0)


def is_near(
    actual: torch.Tensor, expected: torch.Tensor, limit: tuple[float, float], dtype: DataType
) -> bool:
    """Whether floats are equal up to `limit`: atol and rtol; e8m0 up to a factor of two."""
    atol, rtol = limit
    for part, wanted in chunks(actual, expected):
        if torch.allclose(part, wanted, atol=atol, rtol=rtol, equal_nan=True):
            continue
        if dtype != DataType.Float8_e8m0fnu or not _within_factor_of_two(part, wanted):
            return False
    return True


def _within_factor_of_two(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    return bool(((actual <= 2 * expected) & (expected <= 2 * actual)).all())


def max_distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference of two elements at the same place."""
    return max((float(_distance(*parts).max()) for parts in chunks(a, b)), default=0.0)


def is_as_near(
    actual: torch.Tensor,
    own: torch.Tensor,
    exact: torch.Tensor,
    limit: tuple[float, float],
) -> bool:
    """Whether floats are about as near to the exact ones as those of another evaluation.

    Parameters
    ----------
    actual : torch.Tensor
        The result that is judged.
    own : torch.Tensor
        An evaluation in the same dtypes.
    exact : torch.Tensor
        One in double precision.
    limit : tuple[float, float]
        atol and rtol: what is allowed on top.
    """
    parts = chunks(actual, own, exact)
    return all(_is_part_as_near(part, mine, true, limit) for part, mine, true in parts)


def _is_part_as_near(
    actual: torch.Tensor, own: torch.Tensor, exact: torch.Tensor, limit: tuple[float, float]
) -> bool:
    atol, rtol = limit
    error = _distance(actual, exact)
    sizes = exact.abs()
    tolerance = atol + rtol * sizes.nan_to_num(posinf=0.0)
    # Where one of the two evaluations overflows, either may be right.
    suspect = (error > tolerance) & (_distance(actual, own) > 0)
    if not suspect.any():
        return True
    own_error = _distance(own, exact).nan_to_num(posinf=0.0)
    order = sizes.argsort()
    largest_near = torch.nn.functional.max_pool1d(
        own_error[order][None], _LIKE_SIZED, stride=1, padding=_LIKE_SIZED // 2
    )[0]
    allowed = torch.empty_like(own_error)
    allowed[order] = ERROR_MULTIPLE * largest_near
    return bool((error <= allowed + tolerance)[suspect].all())

"""References for dtypes that PyTorch moves, and computes little with: floats of 8 bits and uint64.

Operations that only move elements have references on their bits. Numbers without a sign are
computed by NumPy; floats of 8 bits in float64 (`exact`), and rounded at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from case import exact

if TYPE_CHECKING:
    from collections.abc import Callable


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same bits in a dtype that every operation of PyTorch moves."""
    if tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point:
        return tensor.view(torch.uint8)
    return tensor.view(torch.int64) if tensor.dtype == torch.uint64 else tensor


def moved(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A reference that gets the bits of its tensors and gives those of its result."""

    def reference(first: torch.Tensor, *more: Any) -> torch.Tensor:
        operands = [bits(x) if isinstance(x, torch.Tensor) else x for x in more]
        return function(bits(first), *operands).view(first.dtype)

    return reference


def ordered(tensor: torch.Tensor) -> torch.Tensor:
    """Numbers with the same order in a dtype that PyTorch sorts."""
    if tensor.dtype == torch.uint64:
        ranks = np.unique(tensor.numpy(), return_inverse=True)[1]
        return torch.from_numpy(ranks.reshape(tensor.shape))
    return exact(tensor)


def filled(shape: Any, number: Any, dtype: torch.dtype) -> torch.Tensor:
    """As `torch.full`, which refuses numbers that e8m0 rounds."""
    held = dtype if isinstance(number, int) else None  # an int may be too large for the default
    return rounded(torch.tensor(number, dtype=held), dtype).expand(shape).clone()


def rounded(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers too large for e4m3 become its largest; older PyTorch makes them NaN."""
    if dtype == torch.float8_e4m3fn:
        tensor = exact(tensor).clamp(-448, 448)
    return tensor.to(dtype)


def where(condition: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(condition, bits(a), bits(b)).view(a.dtype)


def is_unsigned(operands: Any) -> bool:
    return any(isinstance(x, torch.Tensor) and x.dtype == torch.uint64 for x in operands)


def by_numpy(function: Callable[..., Any], *operands: Any) -> torch.Tensor:
    """`function` of arrays, which wrap."""
    arrays = [x.numpy() if isinstance(x, torch.Tensor) else x for x in operands]
    with np.errstate(over="ignore"):
        return torch.from_numpy(np.asarray(function(*arrays)))


def _same(x: Any) -> Any:
    return x


def _bit_ceil(x: Any) -> Any:
    values = [(1 << (int(v) - 1).bit_length()) % 2**64 if v > 1 else 1 for v in x.flatten()]
    return np.array(values, dtype=np.uint64).reshape(x.shape)


def _ceil_div(a: Any, b: Any) -> Any:
    return a // b + (a % b != 0)


# Functions of uint64 arrays by the names of operations.
UNSIGNED_FUNCTIONS = {
    "abs": _same,
    "relu": _same,
    "ceil": _same,
    "floor": _same,
    "round": _same,
    "trunc": _same,
    "frac": np.zeros_like,
    "neg": np.negative,
    "sign": np.sign,
    "bitwise_not": np.invert,
    "bitceil": _bit_ceil,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.floor_divide,
    "floor_divide": np.floor_divide,
    "fmod": np.remainder,
    "remainder": np.remainder,
    "mod": np.remainder,
    "pow": np.power,
    "gcd": np.gcd,
    "ceil_div": _ceil_div,
    "ceilDiv": _ceil_div,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "logical_right_shift": np.right_shift,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def with_unsigned(
    reference: Callable[..., torch.Tensor], unsigned: Callable[..., Any] | None
) -> Callable[..., torch.Tensor]:
    """`reference`, and a function of arrays for uint64."""

    def chosen(*operands: Any) -> torch.Tensor:
        if unsigned is None or not is_unsigned(operands):
            return reference(*operands)
        return by_numpy(unsigned, *operands)

    return chosen

"""Random numbers: the same stream as that of kernels, in integer arithmetic of PyTorch.

See ``runtime/common/philox.h``: the number of an element is a function of seed, offset and the
element's position in the logical shape.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from .. import _core
from .._core import DataType, RNGOpType
from .._torch_ops import converted
from ..pytorch_utils import nvfuser_dtype_to_torch_dtype
from .core import Evaluator, handles

if TYPE_CHECKING:
    from .._core import TensorView

_MASK = 0xFFFFFFFF
_UNIFORM = (RNGOpType.Uniform, RNGOpType.UniformRange)


@handles(_core.RNGOp)
def random(ev: Evaluator, expr: _core.RNGOp) -> None:
    out: TensorView = expr.out
    dtype = nvfuser_dtype_to_torch_dtype(out.dtype())
    drawn = torch.float64 if out.dtype() == DataType.Double else torch.float32
    if expr.seed is None:
        numbers = ev.random_numbers()
        seed, offset = numbers.seed, numbers.offsets[_core.internal.stream_in_use(expr)]
    else:
        seed, offset = int(ev.scalar(expr.seed)), int(ev.scalar(expr.offset))
    shape = [int(ev.scalar(extent)) for extent in expr.shape]
    lanes = 2 if drawn == torch.float64 else 4
    positions = torch.arange(-(-math.prod(shape) // lanes), device=ev.device)
    words = philox(seed, offset, positions)
    parameters = [torch.tensor(ev.scalar(p), dtype=drawn, device="cpu") for p in expr.parameters]
    if expr.op in _UNIFORM:
        value = _uniform(_units(words, drawn), parameters, drawn, dtype)
    else:
        value = converted(_normal(words, parameters, drawn), dtype)
    ev.store(out, value[: math.prod(shape)].reshape(shape))


def philox(seed: int, offset: int, positions: torch.Tensor) -> list[torch.Tensor]:
    """Philox 4x32-10.

    Parameters
    ----------
    seed, offset : int
        Key, and low half of the counter: 64 bits each.
    positions : torch.Tensor
        High halves of the counters: [n], dtype int64.

    Returns
    -------
    list[torch.Tensor]
        Four words of 32 bits, each [n] with dtype int64.
    """
    key0, key1 = seed & _MASK, seed >> 32 & _MASK
    c0 = torch.full_like(positions, offset & _MASK)
    c1 = torch.full_like(positions, offset >> 32 & _MASK)
    c2, c3 = positions & _MASK, positions >> 32 & _MASK
    for _ in range(10):
        # Products wrap to negative numbers; a shift fills with the sign, which the mask removes.
        product0, product1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c2 = (product1 >> 32 & _MASK) ^ c1 ^ key0, (product0 >> 32 & _MASK) ^ c3 ^ key1
        c1, c3 = product1 & _MASK, product0 & _MASK
        key0, key1 = (key0 + 0x9E3779B9) & _MASK, (key1 + 0xBB67AE85) & _MASK
    return [c0, c1, c2, c3]


def _interleave(columns: list[torch.Tensor]) -> torch.Tensor:
    """Element i of every column, then element i + 1."""
    return torch.stack(columns, 1).reshape(-1)


def _wide(words: list[torch.Tensor]) -> list[torch.Tensor]:
    """The upper 53 bits of two words of 64 bits."""
    return [words[1] << 21 | words[0] >> 11, words[3] << 21 | words[2] >> 11]


def _units(words: list[torch.Tensor], drawn: torch.dtype) -> torch.Tensor:
    """Multiples of 2^-24 (2^-53) in [0, 1)."""
    if drawn == torch.float64:
        return _interleave(_wide(words)).to(drawn) * 2.0**-53
    return (_interleave(words) >> 8).to(drawn) * 2.0**-24


def _multiply_add(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """a * b + c, rounded once where a wider type is there to compute in."""
    return (a.double() * b.double() + c.double()).to(a.dtype)


def _uniform(
    units: torch.Tensor, parameters: list[torch.Tensor], drawn: torch.dtype, dtype: torch.dtype
) -> torch.Tensor:
    """In [low, high) of rounded bounds, also where the type's rounding would reach `high`."""
    bounds = parameters or list(torch.tensor([0, 1], dtype=drawn, device="cpu"))
    low, high = (_rounded_bound(bound, dtype) for bound in bounds)
    value = converted(_multiply_add(units, high - low, low) if parameters else units, dtype)
    if not bool(low < high):
        return value
    last = _number_below(converted(high, dtype))
    return torch.where(value.to(drawn) >= high.to(value.device), last.to(value.device), value)


def _rounded_bound(bound: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A bound as the type has it; one beyond its numbers is unchanged."""
    rounded = converted(bound, dtype).to(bound.dtype)
    return rounded if bool(rounded.isfinite()) else bound


def _number_below(x: torch.Tensor) -> torch.Tensor:
    """The next smaller number of the type, of a 0-dim tensor."""
    if x.dtype == torch.float8_e8m0fnu:
        return (x.float() / 2).to(x.dtype)
    bits = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    pattern = int(x.view(bits))
    if float(x) == 0:
        below = torch.iinfo(bits).min + 1
    else:
        below = pattern + (1 if pattern < 0 else -1)
    return torch.tensor(below, dtype=bits, device="cpu").view(x.dtype)


def _normal(
    words: list[torch.Tensor], parameters: list[torch.Tensor], drawn: torch.dtype
) -> torch.Tensor:
    """Box and Muller: two uniform numbers make two independent normal ones."""
    columns: list[torch.Tensor] = []
    if drawn == torch.float64:
        distance, turn = (word.to(drawn) * 2.0**-53 for word in _wide(words))
        columns += _on_circle(distance + 2.0**-54, turn)
    else:
        for distance, turn in (words[:2], words[2:]):
            columns += _on_circle(
                distance.to(drawn) * 2.0**-32 + 2.0**-33, (turn >> 8).to(drawn) * 2.0**-24
            )
    value = _interleave(columns)
    if not parameters:
        return value
    mean, deviation = parameters
    return _multiply_add(value, deviation, mean)


def _on_circle(distance: torch.Tensor, turn: torch.Tensor) -> list[torch.Tensor]:
    radius = torch.sqrt(-2.0 * torch.log(distance))
    angle = turn * (2 * math.pi)
    return [radius * torch.cos(angle), radius * torch.sin(angle)]

"""Cases of random shapes: neighbours of the table, and what is far from it.

Rows from 1 to 2^20, columns from 32 to 2^19, a third of them powers of two, a third odd, a third
prime; three dtypes. The draws depend on the seed alone.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from cases.case import BF16, FLOAT, HALF, RTOL, SHORT, Case, Math, make, randn
from cases.moves import cat_pad, rope
from cases.row_norms import (
    add_layernorm,
    dropout_add_layernorm,
    layernorm,
    layernorm_bwd,
    rmsnorm,
    rmsnorm_bwd,
)
from cases.softmax import cross_entropy, softmax, softmax_bwd
from cases.sums import total

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import DataType, FusionDefinition

ROW_CASES: list[Callable[[int, int, DataType], Case]] = [
    lambda r, c, d: softmax(f"softmax_fwd_{SHORT[d]}_{r}x{c}", r, c, d),
    lambda r, c, d: layernorm(f"layernorm_fwd_{SHORT[d]}_{r}x{c}", r, c, d),
    lambda r, c, d: rmsnorm(f"rmsnorm_fwd_{SHORT[d]}_{r}x{c}", r, c, d),
    softmax_bwd,
    layernorm_bwd,
    rmsnorm_bwd,
    add_layernorm,
    dropout_add_layernorm,
    cross_entropy,
]


def is_prime(n: int) -> bool:
    return n > 1 and all(n % i for i in range(2, int(n**0.5) + 1))


def some_size(draw: random.Random, least: int, most: int) -> int:
    """Even in its logarithm; a power of two, odd, or prime."""
    size = round(2 ** draw.uniform(least, most))
    kind = draw.randrange(3)
    if kind == 0:
        return 1 << round(size.bit_length() - 1)
    size |= 1
    while kind == 2 and not is_prime(size):
        size += 2
    return min(size, 1 << most)


def some_shape(draw: random.Random, rank: int, elements: int) -> tuple[int, ...]:
    """A shape of so many dimensions and about as many elements."""
    cuts = sorted(draw.uniform(0, 1) for _ in range(rank - 1))
    parts = [b - a for a, b in zip([0.0, *cuts], [*cuts, 1.0], strict=True)]
    return tuple(max(1, round(elements**part)) for part in parts)


def permuted(shape: tuple[int, ...], order: list[int], dtype: DataType) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        y = m.wide(fd.ops.permute(m.tensor(*[-1] * len(shape)), order))
        fd.add_output(m.narrow(fd.ops.add(y, 1.0), dtype))

    text = "x".join(map(str, shape))
    return Case(
        f"permute_{SHORT[dtype]}_{text}_to_{''.join(map(str, order))}",
        define,
        make(randn(*shape, dtype=dtype)),
        lambda x: (x.permute(order) + 1.0).contiguous(),
        rtol=RTOL[dtype],
    )


def some_case(draw: random.Random, least_bytes: int, most_bytes: int) -> Case:
    dtype = draw.choice([FLOAT, BF16, HALF])
    width = 4 if dtype == FLOAT else 2
    kind = draw.randrange(14)
    if kind < len(ROW_CASES):
        while True:
            rows, cols = some_size(draw, 0, 20), some_size(draw, 5, 19)
            if least_bytes <= rows * cols * width <= most_bytes:
                return ROW_CASES[kind](rows, cols, dtype)
    elements = round(2 ** draw.uniform(least_bytes.bit_length(), most_bytes.bit_length() - 1))
    elements //= width
    if kind in (9, 10):
        dtype = draw.choice([FLOAT, BF16])  # a sum of halves may be beyond the largest half
        shape = some_shape(draw, draw.randint(2, 4), elements)
        dims = sorted(draw.sample(range(len(shape)), draw.randint(1, len(shape))))
        text = "x".join(map(str, shape))
        return total(f"sum_{SHORT[dtype]}_{text}_over_{dims}".replace(" ", ""), shape, dims, dtype)
    if kind == 11:
        shape = some_shape(draw, draw.randint(2, 5), elements)
        order = draw.sample(range(len(shape)), len(shape))
        return permuted(shape, order, dtype)
    if kind == 12:
        first, second = some_size(draw, 5, 13), some_size(draw, 5, 13)
        rows = max(1, elements // (first + second))
        return cat_pad(
            f"cat_pad_{SHORT[dtype]}_{rows}x{first}+{second}", rows, first, second, dtype
        )
    heads, dim = draw.choice([1, 8, 32, 40]), draw.choice([64, 80, 96, 128, 256])
    batch = draw.randint(1, 8)
    seq = max(1, elements // (batch * heads * dim))
    return rope(f"rope_{SHORT[dtype]}_{batch}x{heads}x{seq}x{dim}", batch, heads, seq, dim, dtype)


def random_cases(
    count: int, seed: int, least_bytes: int = 1 << 24, most_bytes: int = 1 << 29
) -> list[Case]:
    """As many as asked; the bytes are those of the largest input, about."""
    draw = random.Random(seed)
    return [some_case(draw, least_bytes, most_bytes) for _ in range(count)]

"""The evaluator on dtypes that PyTorch has few operations for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser_direct import BinaryOpType, FusionDefinition, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE = 2**64
NUMBERS = [0, 1, 2, 3, 12, 63, 64, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 6, LARGE - 2, LARGE - 1]

# By the operations' names: what Python's integers give.
BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "fmod": lambda a, b: a % b,
    "remainder": lambda a, b: a % b,
    "ceilDiv": lambda a, b: -(-a // b),
    "pow": lambda a, b: pow(a, b, LARGE),
    "gcd": math.gcd,
    "minimum": min,
    "maximum": max,
    "bitwise_left_shift": lambda a, b: a << min(b, 64),
    "bitwise_right_shift": lambda a, b: a >> min(b, 64),
    "logical_right_shift": lambda a, b: a >> min(b, 64),
    "bitwise_xor": lambda a, b: a ^ b,
    "lt": lambda a, b: a < b,
    "ge": lambda a, b: a >= b,
}
UNARY: dict[str, Callable[[int], int]] = {
    "abs": lambda x: x,
    "neg": lambda x: -x,
    "bitwise_not": lambda x: ~x,
    "relu": lambda x: x,
    "sign": lambda x: min(x, 1),
    "signbit": lambda _: False,
    "isfinite": lambda _: True,
    "frac": lambda _: 0,
    "bitceil": lambda x: 1 << max(x - 1, 0).bit_length(),
}


def unsigned(numbers: list[int], target: str) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.uint64).to(target)


def evaluated(build: Callable[..., Any], *inputs: torch.Tensor) -> list[int]:
    with FusionDefinition() as fd:
        fd.add_output(build(fd.ops, *(fd.from_pytorch(tensor) for tensor in inputs)))
    (result,) = evaluate(fd.fusion, inputs)
    return result.cpu().flatten().tolist()


@pytest.mark.parametrize("name", BINARY)
def test_uint64_has_the_results_of_integers_modulo_2_to_64(name: str, target: str) -> None:
    is_division = name in ("div", "mod", "fmod", "remainder", "ceilDiv")
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS if b != 0 or not is_division]
    lhs, rhs = (unsigned(list(side), target) for side in zip(*pairs, strict=True))
    result = evaluated(lambda ops, a, b: getattr(ops, name)(a, b), lhs, rhs)
    assert result == [BINARY[name](a, b) % LARGE for a, b in pairs]


@pytest.mark.parametrize("name", UNARY)
def test_uint64_has_no_sign(name: str, target: str) -> None:
    result = evaluated(lambda ops, x: getattr(ops, name)(x), unsigned(NUMBERS, target))
    assert result == [UNARY[name](x) % LARGE for x in NUMBERS]


def test_uint64_is_clamped_and_compared_without_sign(target: str) -> None:
    x, low, high = unsigned(NUMBERS, target), 2, 2**63 + 1
    result = evaluated(lambda ops, x: ops.clamp(x, low, high), x)
    assert result == [min(max(number, low), high) for number in NUMBERS]
    result = evaluated(lambda ops, x: ops.threshold(x, high, 5), x)
    assert result == [5 if number <= high else number for number in NUMBERS]


def test_positions_are_of_any_integer_type(target: str) -> None:
    table = torch.arange(12.0).reshape(4, 3).to(target)
    positions, one = unsigned([3, 0], target), unsigned([2], target)[0]
    assert evaluated(lambda ops, x, i: ops.index_select(x, i, 0), table, positions) == [
        *[9, 10, 11],
        *[0, 1, 2],
    ]
    assert evaluated(lambda ops, x, i: ops.select(x, i, 1), table, one) == [2, 5, 8, 11]
    assert evaluated(lambda ops, i, x: ops.embedding_fwd(i, x), positions, table)[:3] == [9, 10, 11]


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e8m0fnu, torch.uint64])
def test_scatters_combine(dtype: torch.dtype, target: str) -> None:
    x, addend = (torch.tensor(n).to(dtype).to(target) for n in ([4.0, 1.0], [2.0, 8.0, 4.0]))
    index = torch.tensor([0, 0, 1], device=target)
    for op, expected in ((BinaryOpType.Max, [8, 4]), (BinaryOpType.Min, [2, 1])):
        result = evaluated(lambda ops, *t, op=op: ops.scatter(*t, 0, op), x, index, addend)
        assert result == expected

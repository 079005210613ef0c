"""Rows of the operations that compute an element of the result from elements of three operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from case import (
    ANY,
    COMPLEX,
    FLOATING,
    FP4,
    INTEGERS,
    NUMBERS,
    UNSIGNED,
    WHOLE,
    Case,
    Operation,
    Refusal,
    Samples,
    common_dtype,
    converted,
    exact,
)
from number_cases import number_case
from pointwise_rows import given
from rare_dtypes import bits, by_numpy, moved, where


def lerp_cases(s: Samples) -> list[Case]:
    def expected(a: Any, b: Any, w: Any) -> torch.Tensor:
        dtype = common_dtype(a, b, w)
        start, end, weight = converted(dtype, a, b, w)
        return (start + weight * (end - start)).to(dtype)

    def build(ops: Any, a: Any, b: Any, w: Any) -> Any:
        return ops.lerp(a, b, w)

    weight = s.tensor(3, 5, low=0.0, high=1.0)
    return [
        Case("layouts", build, [[s.tensor(3, 5), s.tensor(5, 3).T, weight]], expected),
        Case("weight is a number", build, [[s.tensor(3, 5), s.tensor(5), 0.25]], expected),
        *number_case(s, build, expected, [(-4, 4), (-4, 4), (0, 1)]),
    ]


def where_cases(s: Samples) -> list[Case]:
    def build(ops: Any, c: Any, a: Any, b: Any) -> Any:
        return ops.where(c, a, b)

    def mask(*shape: int) -> torch.Tensor:
        return s.tensor(*shape, dtype=torch.bool)

    a, b = s.special(), moved(lambda x: x.flip(1))(s.special())
    constant = True if s.dtype == torch.bool else 2.0 if s.dtype.is_floating_point else 2
    # A number takes part in the choice of a dtype, and fp4 mixes with none.
    constant_branch = Case(
        "constant branch",
        lambda ops, c, a: ops.where(c, a, constant),
        [[mask(3, 5), s.tensor(3, 5)]],
        lambda c, a: where(c, a, torch.tensor(constant, dtype=s.dtype)),
    )
    return [
        Case("layouts", build, [
            [mask(3, 5), s.tensor(5, 3).T, s.tensor(3, 5)],
            [mask(0, 2), s.tensor(0, 2), s.tensor(0, 2)],
            [mask(1, 4).expand(6, 4), s.tensor(6, 4), s.tensor(12, 8)[::2, ::2]],
            [mask(*a.shape), a, b],
        ], where),
        Case("condition of lower rank", build, [[mask(5), s.tensor(3, 5), s.tensor(3, 1)]],
             where),
        *([] if s.is_fp4 else [constant_branch]),
        *number_case(s, lambda ops, a, b: ops.where(ops.ne(a, b), a, b),
                     lambda a, b: where(a != b, a, b), [(-4, 4)] * 2),
    ]  # fmt: skip


def clamp_cases(s: Samples) -> list[Case]:
    low, high = (-1, 2) if s.dtype in INTEGERS else (-1.0, 2.5)
    if s.dtype in UNSIGNED:
        low, high = 2, 2**63 + 1
    runs = [[x] for x in [*s.views(), s.special()]]

    def expected(x: torch.Tensor, low: Any = None, high: Any = None) -> torch.Tensor:
        if s.dtype in UNSIGNED:
            return by_numpy(np.clip, x, low, high)
        return torch.clamp(exact(x), low, high).to(x.dtype)

    return [
        Case("both", lambda ops, x: ops.clamp(x, low, high), runs,
             lambda x: expected(x, low, high)),
        Case("from below", lambda ops, x: ops.clamp(x, low, None), runs[:3],
             lambda x: expected(x, low=low)),
        Case("from above", lambda ops, x: ops.clamp(x, None, high), runs[:3],
             lambda x: expected(x, high=high)),
        *number_case(s, lambda ops, x: ops.clamp(x, low, high),
                     lambda x: torch.clamp(x, low, high), [(-4, 4)]),
    ]  # fmt: skip


def threshold_cases(s: Samples) -> list[Case]:
    limit, value = (1, -7) if s.dtype in INTEGERS else (0.5, -3.0)
    if s.dtype in UNSIGNED:
        limit, value = 2**63 + 1, 7
    runs = [[x] for x in [*s.views(), s.special()]]

    def expected(x: torch.Tensor) -> torch.Tensor:
        is_low = by_numpy(np.less_equal, x, limit) if s.dtype in UNSIGNED else exact(x) <= limit
        return torch.where(is_low, bits(torch.tensor(value, dtype=x.dtype)), bits(x)).view(x.dtype)

    return [
        Case("constants", lambda ops, x: ops.threshold(x, limit, value), runs, expected),
        *number_case(s, lambda ops, x: ops.threshold(x, limit, value), expected, [(-4, 4)]),
    ]  # fmt: skip


def addcmul_cases(s: Samples) -> list[Case]:
    factor = 2 if s.dtype in WHOLE else 0.5

    def combined(a: Any, b: Any, c: Any) -> Any:
        return a + b * (c * factor)

    def expected(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        dtype = common_dtype(a, b, c)
        wide = converted(dtype, a, b, c)
        return by_numpy(combined, *wide) if dtype in UNSIGNED else combined(*wide).to(dtype)

    runs = [[s.tensor(3, 5), s.tensor(5, 3).T, s.tensor(5)]]

    def build(ops: Any, *operands: Any) -> Any:
        return ops.addcmul(*operands, factor)

    numbers = number_case(s, build, expected, [(-4, 4)] * 3)
    return [Case("layouts", build, runs, expected), *numbers]


def rows() -> list[Operation]:
    return [
        Operation("lerp", lerp_cases, (*FLOATING, *COMPLEX)),
        Operation("where", where_cases, (*ANY, *FP4), [
            Refusal("Condition should be of DataType Bool, not float",
                    lambda fd: fd.ops.where(given(fd), given(fd), given(fd)))]),
        Operation("clamp", clamp_cases, (*NUMBERS, *FP4)),
        Operation("threshold", threshold_cases, (*NUMBERS, *FP4)),
        Operation("addcmul", addcmul_cases, (*NUMBERS, *COMPLEX, *FP4)),
    ]  # fmt: skip

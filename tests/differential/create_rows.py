"""Rows of tensors made from nothing, random ones included."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from case import (
    ANY,
    COMPLEX,
    E8M0,
    FLOATING,
    FP4,
    NARROW,
    NUMBERS,
    UNSIGNED,
    WHOLE,
    WIDE,
    Case,
    Operation,
    Refusal,
    Samples,
    nvf,
)
from pointwise_rows import given
from rare_dtypes import filled

from nvfuser_direct import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def number_of(dtype: torch.dtype) -> Any:
    if dtype == torch.bool:
        return True
    if dtype.is_complex:
        return 1.5 - 2j
    if dtype in (*UNSIGNED, *E8M0):
        return 2**64 - 7 if dtype in UNSIGNED else 4.0
    return -2.5 if dtype.is_floating_point else -7


def filled_cases(s: Samples) -> list[Case]:
    value = number_of(s.dtype)
    return [
        Case("known sizes", lambda ops: ops.full([3, 1, 5], value, s.element), [[]],
             lambda: filled((3, 1, 5), value, s.dtype)),
        Case("nothing", lambda ops: ops.full([3, 0], value, s.element), [[]],
             lambda: filled((3, 0), value, s.dtype)),
        Case("0-dim", lambda ops: ops.full([], value, s.element), [[]],
             lambda: filled((), value, s.dtype)),
        Case("sizes are inputs", lambda ops, n, v: ops.full([n, 2], v, s.element),
             [[5, value], [0, value], [50_001, value]],
             lambda n, v: filled((n, 2), v, s.dtype)),
    ]  # fmt: skip


def like_cases(name: str, value: Any) -> Callable[[Samples], list[Case]]:
    def make(s: Samples) -> list[Case]:
        more = [] if value is not None else [number_of(s.dtype)]
        fill = number_of(s.dtype) if value is None else value
        return [
            Case("views", lambda ops, x: getattr(ops, name)(x, *more),
                 [[x] for x in s.views()], lambda x: filled(x.shape, fill, x.dtype)),
        ]  # fmt: skip

    return make


def constant_cases(name: str, value: int) -> Callable[[Samples], list[Case]]:
    def make(s: Samples) -> list[Case]:
        return [
            Case("known sizes", lambda ops: getattr(ops, name)([3, 1, 5], s.element), [[]],
                 lambda: filled((3, 1, 5), value, s.dtype)),
            Case("sizes are inputs", lambda ops, n: getattr(ops, name)([n], s.element),
                 [[5], [0], [100_001]], lambda n: filled((n,), value, s.dtype)),
        ]  # fmt: skip

    return make


def iota_cases(s: Samples) -> list[Case]:
    def expected(n: int, start: Any = 0, step: Any = 1) -> torch.Tensor:
        wide = torch.float64 if s.dtype.is_floating_point else torch.int64
        # Parameters have the dtype of the elements; integers wrap.
        first, distance = (filled([], x, s.dtype).to(wide) for x in (start, step))
        return (torch.arange(n, dtype=wide) * distance + first).to(s.dtype)

    start, step = (0.5, -0.25) if s.dtype.is_floating_point else (3, -2)
    if s.dtype in UNSIGNED:
        start, step = 2**63 - 3, 2**62
    dtype = s.element
    return [
        Case("default", lambda ops: ops.iota(7, dtype=dtype), [[]], lambda: expected(7)),
        Case("constants", lambda ops, n: ops.iota(n, start, step, dtype), [[5], [0], [1001]],
             lambda n: expected(n, start, step)),
        Case("inputs", lambda ops, n, a, b: ops.iota(n, a, b, dtype),
             [[5, start, step], [333, step, start]], expected),
    ]  # fmt: skip


def arange_cases(s: Samples) -> list[Case]:
    dtype = s.element
    a, b, c = (0.5, 9.25, 0.75) if s.dtype.is_floating_point else (3, 30, 4)

    def expected(first: Any, end: Any, step: Any) -> torch.Tensor:
        dtype = torch.int64 if s.dtype in UNSIGNED else s.dtype
        return torch.arange(first, end, step, dtype=dtype).to(s.dtype)

    return [
        Case("constants", lambda ops: ops.arange(a, b, c, dtype), [[]],
             lambda: expected(a, b, c)),
        Case("down", lambda ops: ops.arange(b, a, -c, dtype), [[]],
             lambda: expected(b, a, -c)),
        Case("inputs", lambda ops, x, y, z: ops.arange(x, y, z, dtype), [[a, b, c], [b, a, -c]],
             expected),
    ]  # fmt: skip


def eye_cases(s: Samples) -> list[Case]:
    dtype = s.element
    return [
        Case("square", lambda ops: ops.eye(5, dtype=dtype), [[]],
             lambda: torch.eye(5).to(s.dtype)),
        Case("sizes are inputs", lambda ops, n, m: ops.eye(n, m, dtype),
             [[3, 7], [7, 3], [0, 4]], lambda n, m: torch.eye(n, m).to(s.dtype)),
    ]  # fmt: skip


def tensor_cases(s: Samples) -> list[Case]:
    dtype, v = s.element, number_of(s.dtype)
    return [
        Case("nested", lambda ops: ops.tensor([[v, 1, 0], [0, v, v]], dtype), [[]],
             lambda: torch.tensor([[v, 1, 0], [0, v, v]], dtype=s.dtype)),
        Case("0-dim", lambda ops: ops.tensor(v, dtype), [[]],
             lambda: torch.tensor(v, dtype=s.dtype)),
        Case("inputs", lambda ops, x, y: ops.tensor([x, y, x], dtype), [[v, v]],
             lambda x, y: torch.tensor([x, y, x], dtype=s.dtype)),
    ]  # fmt: skip


# ---- Random --------------------------------------------------------------------------------------

COUNT = 90_000  # numbers that a distribution is judged by


def is_uniform(low: float, high: float, shape: list[int]) -> Any:
    def check(results: list[torch.Tensor], _: list[Any]) -> None:
        x = results[0].double()
        assert list(x.shape) == shape
        assert ((x >= low) & (x <= high)).all()
        width, n = high - low, x.numel()
        if n >= COUNT and results[0].dtype not in NARROW:
            assert abs(x.mean() - (low + high) / 2) < 5 * width / math.sqrt(12 * n)
            assert abs(x.std() - width / math.sqrt(12)) < 0.01 * width
            assert_independent(x)

    return check


def is_normal(mean: float, std: float, shape: list[int]) -> Any:
    def check(results: list[torch.Tensor], _: list[Any]) -> None:
        x = results[0].double()
        assert list(x.shape) == shape
        n = x.numel()
        if n >= COUNT and results[0].dtype not in NARROW:
            assert abs(x.mean() - mean) < 5 * std / math.sqrt(n)
            assert abs(x.std() - std) < 0.02 * std
            inside = ((x - mean).abs() < std).double().mean()
            assert abs(inside - math.erf(math.sqrt(0.5))) < 0.01
            assert_independent(x)

    return check


def assert_independent(x: torch.Tensor) -> None:
    """Neighbours along rows and columns are not correlated."""
    centred = x - x.mean()
    for dim in range(x.ndim):
        count = x.shape[dim] - 1
        product = (centred.narrow(dim, 0, count) * centred.narrow(dim, 1, count)).mean()
        assert abs(product) < 5 * centred.var() / math.sqrt(x.numel())


def is_rounded(end: float) -> Any:
    """The first result is the second one in fewer bits, and below `end` all the same."""

    def check(results: list[torch.Tensor], _: list[Any]) -> None:
        narrow, wide = results
        numbers = torch.arange(256).to(torch.uint8).view(narrow.dtype).float()
        last = numbers[numbers < end].max()
        expected = wide.to(narrow.dtype).float()
        expected = torch.where(expected < end, expected, last)
        torch.testing.assert_close(narrow.float(), expected, rtol=0, atol=0)

    return check


def random_cases(name: str) -> Callable[[Samples], list[Case]]:
    """Functions of two parameters, with a seed."""
    kind = is_uniform if name == "uniform" else is_normal

    def make(s: Samples) -> list[Case]:
        dtype, found = nvf(s.dtype), []
        # Both bounds are rounded to the type; e8m0 has powers of two alone, without a sign.
        second = (0.5, 2.0) if s.dtype in E8M0 and name == "uniform" else (-3.0, 2.5)
        for a, b, shape in ((0.0, 1.0, [300, 301]), (*second, [7, 1, 33]), (2.0, 4.0, [91_003])):
            found.append(
                Case(f"{a}, {b}, {shape}",
                     lambda ops, a=a, b=b, shape=shape: getattr(ops, name)(
                         a, b, shape, rng_seed=5, rng_offset=len(shape), dtype=dtype),
                     [[]], check=kind(a, b, shape))
            )  # fmt: skip
        found.append(
            Case("seed is an input",
                 lambda ops, n, seed: getattr(ops, name)(0, 1, [n, 300], rng_seed=seed,
                                                         rng_offset=7, dtype=dtype),
                 [[301, 11]], check=kind(0.0, 1.0, [301, 300]))
        )  # fmt: skip
        if s.dtype in NARROW:
            found += [
                Case("as Float, rounded",
                     lambda ops, low=low: [
                         getattr(ops, name)(low, 2.0, [77, 3], rng_seed=8, rng_offset=1, dtype=d)
                         for d in (dtype, DataType.Float)],
                     [[]], check=is_rounded(2.0 if name == "uniform" else math.inf))
                for low in (0.0, -3.5)
                if low == 0 or s.dtype not in E8M0 or name != "uniform"
            ]  # fmt: skip
        return found

    return make


def standard_cases(name: str) -> Callable[[Samples], list[Case]]:
    """`rand` and `randn`, with and without a seed."""
    kind = is_uniform if name == "rand" else is_normal

    def make(s: Samples) -> list[Case]:
        dtype, shape = nvf(s.dtype), [300, 301]
        return [
            Case("seed", lambda ops: getattr(ops, name)(shape, dtype, 3, 4), [[]],
                 check=kind(0.0, 1.0, shape)),
            Case("generator", lambda ops: getattr(ops, name)(shape, dtype), [[]],
                 check=kind(0.0, 1.0, shape)),
        ]  # fmt: skip

    return make


def random_like_cases(name: str) -> Callable[[Samples], list[Case]]:
    kind = is_uniform if name == "rand_like" else is_normal

    def make(s: Samples) -> list[Case]:
        def check(results: list[torch.Tensor], inputs: list[Any]) -> None:
            kind(0.0, 1.0, list(inputs[0].shape))(results, inputs)

        return [
            Case("views", lambda ops, x: getattr(ops, name)(x), [[x] for x in s.views()],
                 check=check)
        ]  # fmt: skip

    return make


def dropout_cases(s: Samples) -> list[Case]:
    def check(results: list[torch.Tensor], inputs: list[Any]) -> None:
        out, mask = results
        x, p = inputs
        assert mask.dtype == torch.bool
        scale = 1 / (1 - p) if p < 1 else 1.0
        expected = (x.double() * mask * scale).to(out.dtype)
        torch.testing.assert_close(out, expected)
        if x.numel() > COUNT:
            assert abs(mask.double().mean() - (1 - p)) < 0.01

    runs = [[s.tensor(317, 331), p] for p in (0.0, 0.3, 1.0)] + [[s.tensor(7, 3).T, 0.5]]
    return [Case("p is an input", lambda ops, x, p: ops.dropout(x, p), runs, check=check)]


def rows() -> list[Operation]:
    def seed(name: str, *args: Any) -> Refusal:
        return Refusal(
            "rng_seed and rng_offset must be provided together!",
            lambda fd: getattr(fd.ops, name)(*args, rng_seed=1),
        )

    def kind(name: str, *args: Any) -> Refusal:
        return Refusal(
            "Random distributions only create floating point types!",
            lambda fd: getattr(fd.ops, name)(*args, dtype=DataType.Int),
        )

    def like(name: str) -> Refusal:
        return Refusal(
            "input must have floating point type, but got int64_t",
            lambda fd: getattr(fd.ops, name)(given(fd, 1, DataType.Int)),
        )

    counted: Sequence[torch.dtype] = (*WHOLE, *WIDE)
    return [
        Operation("full", filled_cases, (*ANY, *FP4)),
        Operation("full_like", like_cases("full_like", None), (*ANY, *FP4)),
        Operation("zeros", constant_cases("zeros", 0), (*ANY, *FP4)),
        Operation("ones", constant_cases("ones", 1), (*ANY, *FP4)),
        Operation("zeros_like", like_cases("zeros_like", 0), (*ANY, *FP4)),
        Operation("ones_like", like_cases("ones_like", 1), (*ANY, *FP4)),
        Operation("iota", iota_cases, NUMBERS, [
            Refusal("iota: step value must not equal zero.", lambda fd: fd.ops.iota(3, 0, 0)),
            Refusal("length must be integer, but get dtype double", lambda fd: fd.ops.iota(3.0)),
            Refusal("iota: start dtype does not match specified dtype argument, should be int64_t"
                    " but get double", lambda fd: fd.ops.iota(3, 0.5))]),
        Operation("arange", arange_cases, counted),
        Operation("eye", eye_cases, (*ANY, *FP4)),
        Operation("tensor", tensor_cases, (*WIDE, *NARROW, *WHOLE, torch.bool, *COMPLEX)),
        Operation("uniform", random_cases("uniform"), FLOATING,
                  [seed("uniform", 0, 1, [3]), kind("uniform", 0, 1, [3])]),
        Operation("normal", random_cases("normal"), FLOATING,
                  [seed("normal", 0, 1, [3]), kind("normal", 0, 1, [3])]),
        Operation("rand", standard_cases("rand"), FLOATING, [kind("rand", [3])]),
        Operation("randn", standard_cases("randn"), FLOATING, [kind("randn", [3])]),
        Operation("rand_like", random_like_cases("rand_like"), FLOATING, [like("rand_like")]),
        Operation("randn_like", random_like_cases("randn_like"), FLOATING, [like("randn_like")]),
        Operation("dropout", dropout_cases, FLOATING),
    ]  # fmt: skip

"""Rows of tensors made from nothing, random ones included."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from case import ANY, COMPLEX, FLOATS, INTEGERS, WIDE, Case, Operation, Refusal, Samples, nvf
from pointwise_rows import given

from nvfuser_direct import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def number_of(dtype: torch.dtype) -> Any:
    if dtype == torch.bool:
        return True
    if dtype.is_complex:
        return 1.5 - 2j
    return -2.5 if dtype.is_floating_point else -7


def filled_cases(s: Samples) -> list[Case]:
    value = number_of(s.dtype)
    return [
        Case("known sizes", lambda ops: ops.full([3, 1, 5], value, nvf(s.dtype)), [[]],
             lambda: torch.full((3, 1, 5), value, dtype=s.dtype)),
        Case("nothing", lambda ops: ops.full([3, 0], value, nvf(s.dtype)), [[]],
             lambda: torch.full((3, 0), value, dtype=s.dtype)),
        Case("0-dim", lambda ops: ops.full([], value, nvf(s.dtype)), [[]],
             lambda: torch.full((), value, dtype=s.dtype)),
        Case("sizes are inputs", lambda ops, n, v: ops.full([n, 2], v, nvf(s.dtype)),
             [[5, value], [0, value], [50_001, value]],
             lambda n, v: torch.full((n, 2), v, dtype=s.dtype)),
    ]  # fmt: skip


def like_cases(name: str, value: Any) -> Callable[[Samples], list[Case]]:
    def make(s: Samples) -> list[Case]:
        more = [] if value is not None else [number_of(s.dtype)]
        fill = number_of(s.dtype) if value is None else value
        return [
            Case("views", lambda ops, x: getattr(ops, name)(x, *more),
                 [[x] for x in s.views()], lambda x: torch.full(x.shape, fill, dtype=x.dtype)),
        ]  # fmt: skip

    return make


def constant_cases(name: str, value: int) -> Callable[[Samples], list[Case]]:
    def make(s: Samples) -> list[Case]:
        return [
            Case("known sizes", lambda ops: getattr(ops, name)([3, 1, 5], nvf(s.dtype)), [[]],
                 lambda: torch.full((3, 1, 5), value, dtype=s.dtype)),
            Case("sizes are inputs", lambda ops, n: getattr(ops, name)([n], nvf(s.dtype)),
                 [[5], [0], [100_001]], lambda n: torch.full((n,), value, dtype=s.dtype)),
        ]  # fmt: skip

    return make


def iota_cases(s: Samples) -> list[Case]:
    def expected(n: int, start: Any = 0, step: Any = 1) -> torch.Tensor:
        wide = torch.float64 if s.dtype.is_floating_point else torch.int64
        return (torch.arange(n, dtype=wide) * step + start).to(s.dtype)

    start, step = (0.5, -0.25) if s.dtype.is_floating_point else (3, -2)
    dtype = nvf(s.dtype)
    return [
        Case("default", lambda ops: ops.iota(7, dtype=dtype), [[]], lambda: expected(7)),
        Case("constants", lambda ops, n: ops.iota(n, start, step, dtype), [[5], [0], [1001]],
             lambda n: expected(n, start, step)),
        Case("inputs", lambda ops, n, a, b: ops.iota(n, a, b, dtype),
             [[5, start, step], [333, step, start]], expected),
    ]  # fmt: skip


def arange_cases(s: Samples) -> list[Case]:
    dtype = nvf(s.dtype)
    a, b, c = (0.5, 9.25, 0.75) if s.dtype.is_floating_point else (3, 30, 4)
    return [
        Case("constants", lambda ops: ops.arange(a, b, c, dtype), [[]],
             lambda: torch.arange(a, b, c, dtype=s.dtype)),
        Case("down", lambda ops: ops.arange(b, a, -c, dtype), [[]],
             lambda: torch.arange(b, a, -c, dtype=s.dtype)),
        Case("inputs", lambda ops, x, y, z: ops.arange(x, y, z, dtype), [[a, b, c], [b, a, -c]],
             lambda x, y, z: torch.arange(x, y, z, dtype=s.dtype)),
    ]  # fmt: skip


def eye_cases(s: Samples) -> list[Case]:
    dtype = nvf(s.dtype)
    return [
        Case("square", lambda ops: ops.eye(5, dtype=dtype), [[]],
             lambda: torch.eye(5, dtype=s.dtype)),
        Case("sizes are inputs", lambda ops, n, m: ops.eye(n, m, dtype),
             [[3, 7], [7, 3], [0, 4]], lambda n, m: torch.eye(n, m, dtype=s.dtype)),
    ]  # fmt: skip


def tensor_cases(s: Samples) -> list[Case]:
    dtype, v = nvf(s.dtype), number_of(s.dtype)
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
        if n >= COUNT:
            assert abs(x.mean() - (low + high) / 2) < 5 * width / math.sqrt(12 * n)
            assert abs(x.std() - width / math.sqrt(12)) < 0.01 * width
            assert_independent(x)

    return check


def is_normal(mean: float, std: float, shape: list[int]) -> Any:
    def check(results: list[torch.Tensor], _: list[Any]) -> None:
        x = results[0].double()
        assert list(x.shape) == shape
        n = x.numel()
        if n >= COUNT:
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


def random_cases(name: str) -> Callable[[Samples], list[Case]]:
    """Functions of two parameters, with a seed."""
    kind = is_uniform if name == "uniform" else is_normal

    def make(s: Samples) -> list[Case]:
        dtype, found = nvf(s.dtype), []
        for a, b, shape in ((0.0, 1.0, [300, 301]), (-3.0, 2.5, [7, 1, 33]), (2.0, 4.0, [91_003])):
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

    counted: Sequence[torch.dtype] = (*INTEGERS, *WIDE)
    return [
        Operation("full", filled_cases, ANY),
        Operation("full_like", like_cases("full_like", None), ANY),
        Operation("zeros", constant_cases("zeros", 0), ANY),
        Operation("ones", constant_cases("ones", 1), ANY),
        Operation("zeros_like", like_cases("zeros_like", 0), ANY),
        Operation("ones_like", like_cases("ones_like", 1), ANY),
        Operation("iota", iota_cases, counted, [
            Refusal("iota: step value must not equal zero.", lambda fd: fd.ops.iota(3, 0, 0)),
            Refusal("length must be integer, but get dtype double", lambda fd: fd.ops.iota(3.0)),
            Refusal("iota: start dtype does not match specified dtype argument, should be int64_t"
                    " but get double", lambda fd: fd.ops.iota(3, 0.5))]),
        Operation("arange", arange_cases, counted),
        Operation("eye", eye_cases, ANY),
        Operation("tensor", tensor_cases, (*WIDE, *INTEGERS, torch.bool, *COMPLEX)),
        Operation("uniform", random_cases("uniform"), FLOATS,
                  [seed("uniform", 0, 1, [3]), kind("uniform", 0, 1, [3])]),
        Operation("normal", random_cases("normal"), FLOATS,
                  [seed("normal", 0, 1, [3]), kind("normal", 0, 1, [3])]),
        Operation("rand", standard_cases("rand"), FLOATS, [kind("rand", [3])]),
        Operation("randn", standard_cases("randn"), FLOATS, [kind("randn", [3])]),
        Operation("rand_like", random_like_cases("rand_like"), FLOATS, [like("rand_like")]),
        Operation("randn_like", random_like_cases("randn_like"), FLOATS, [like("randn_like")]),
        Operation("dropout", dropout_cases, FLOATS),
    ]  # fmt: skip

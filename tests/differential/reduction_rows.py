"""Rows of reductions, moments and scans."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from case import (
    ANY,
    COMPLEX,
    E8M0,
    FLOATING,
    FLOATS,
    FP4,
    FP8,
    NARROW,
    NUMBERS,
    REAL,
    WHOLE,
    WIDE,
    Case,
    Operation,
    Refusal,
    Samples,
    exact,
    nvf,
    widened,
)
from pointwise_rows import given
from rare_dtypes import bits, filled, rounded, with_unsigned

from nvfuser_direct import BinaryOpType, DataType
from nvfuser_direct.validation import tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def slack(dtype: torch.dtype, count: int) -> dict[str, float | None]:
    """Tolerances of a result that so many elements were combined for; 8 bits need none."""
    if not (dtype.is_floating_point or dtype.is_complex) or dtype in NARROW:
        return {}
    # Kernels add 16-bit numbers in 16 bits, in an order of their own.
    atol, rtol = tolerances(nvf(dtype), count * (4 if dtype.itemsize == 2 else 1))
    least = 4e-6 if dtype.is_complex else 1e-6  # each product of complex numbers rounds six times
    return {"atol": atol, "rtol": max(rtol, least)}


def one_step(dtype: torch.dtype) -> dict[str, float | None]:
    """Tolerances that the next number of the dtype is within."""
    limits = torch.finfo(dtype)
    return {"atol": limits.smallest_normal * limits.eps, "rtol": limits.eps}


def cubes(tensor: Callable[..., torch.Tensor]) -> list[list[torch.Tensor]]:
    """Operands of three dimensions: odd, permuted, sliced, single."""
    return [
        [tensor(3, 5, 7)],
        [tensor(7, 5, 2).permute(2, 1, 0)],
        [tensor(4, 10, 9)[1:, ::2, 3:]],
        [tensor(1, 1, 1)],
        [tensor(2, 33, 65)],
    ]


def operands(s: Samples, name: str, low: float, high: float) -> Callable[..., torch.Tensor]:
    """A maker of tensors. With few bits, sums and products are exact in any order."""

    def sparse(*shape: int) -> torch.Tensor:
        """A few numbers among those that change nothing."""
        few = torch.tensor([1.0, -1, -1, 1, 1, -1, 1])
        values = torch.zeros(shape) if name == "sum" else torch.ones(shape)
        places = torch.randperm(values.numel(), generator=s.generator)[: len(few)]
        values.view(-1)[places] = (few if name == "sum" else 2 * few)[: len(places)]
        return values.to(s.dtype)

    if (s.dtype in NARROW or s.is_fp4) and name in ("sum", "prod"):
        return sparse
    return lambda *shape: s.tensor(*shape, low=low, high=high)


def combined(x: torch.Tensor, dims: list[int]) -> int:
    """How many elements make one of the result."""
    return math.prod(x.shape[dim] for dim in dims)


DIMS: list[list[int]] = [[0], [-1], [0, 2], [0, 1, 2]]


def reduction_cases(
    name: str,
    reduce: Callable[[torch.Tensor, list[int], bool], torch.Tensor],
    result: Callable[[torch.dtype], torch.dtype],
    low: float,
    high: float,
    identity: Any,
) -> Callable[[Samples], list[Case]]:
    def make(s: Samples) -> list[Case]:
        def function(x: torch.Tensor, dims: list[int], keepdim: bool) -> torch.Tensor:
            return rounded(reduce(exact(x), dims, keepdim), result(x.dtype))

        def case(dims: list[int], keepdim: bool, runs: list[Any], label: str, **how: Any) -> Case:
            return Case(
                f"{label}, dims {dims}, keepdim {keepdim}",
                lambda ops, x: getattr(ops, name)(x, dims, keepdim),
                runs,
                lambda x: function(x, dims, keepdim),
                **slack(s.dtype, max(combined(x, dims) for (x,) in runs)),
                **how,
            )

        if name == "sum" and s.dtype in E8M0:  # without a zero, sums of many depend on their order
            powers = torch.tensor([[1.0, 8, 2.0**-9], [2.0**40, 2.0**30, 1], [2, 2.0**-60, 0.5]])
            return [case([-1], False, [[powers.to(s.dtype)]], "apart")]
        tensor = operands(s, name, low, high)
        runs = cubes(tensor)
        single = [[tensor(4, 1, 5)]]
        expanded = [[tensor(2, 1, 5).expand(2, 4, 5)]]
        large = [[tensor(300, 331)], [tensor(331, 300).T]]
        if name == "prod" and s.dtype.is_complex:  # of 300 factors of size 1.4 is infinite
            large = [[x / x.abs()] for (x,) in large]
        cases = [case(dims, i % 2 == 1, runs, "cubes") for i, dims in enumerate(DIMS)]
        cases += [
            case([1], False, single, "broadcast"),
            case([-1], False, large, "large"),
            Case("all dimensions", lambda ops, x: getattr(ops, name)(x), runs,
                 lambda x: function(x, [0, 1, 2], False), **slack(s.dtype, 4400)),
            Case("one dimension", lambda ops, x: getattr(ops, name)(x, 1, True), runs[:2],
                 lambda x: function(x, [1], True), **slack(s.dtype, 300)),
            Case("no elements", lambda ops, x: getattr(ops, name)(x, [1]), [[s.tensor(3, 0, 4)]],
                 lambda x: filled((3, 4), identity(s.dtype), result(s.dtype)),
                 static=True),
            Case("no elements, seen at the launch", lambda ops, x: getattr(ops, name)(x, [1]),
                 [[s.tensor(3, 0, 4)]],
                 lambda x: filled((3, 4), identity(s.dtype), result(s.dtype))),
        ]  # fmt: skip
        if not s.is_fp4:  # which is not multiplied by a size
            cases.append(case([1, 2], True, expanded, "expanded", as_given=True))
        return cases

    return make


def folded(function: Callable[[torch.Tensor, int, bool], torch.Tensor]) -> Any:
    """A reduction of one dimension, for several."""

    def reduce(x: torch.Tensor, dims: list[int], keepdim: bool) -> torch.Tensor:
        for dim in sorted((d % x.ndim for d in dims), reverse=True):
            x = function(x, dim, keepdim)
        return x

    return reduce


def least(dtype: torch.dtype) -> Any:
    if dtype == torch.bool:
        return False
    if dtype in E8M0:
        return 2.0**-127
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def greatest(dtype: torch.dtype) -> Any:
    if dtype == torch.bool:
        return True
    if dtype in E8M0:
        return 2.0**127
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


def summed(dtype: torch.dtype) -> torch.dtype:
    is_whole = not (dtype.is_floating_point or dtype.is_complex)
    return torch.int64 if is_whole else dtype


def nan_if_float(identity: Callable[[torch.dtype], Any]) -> Callable[[torch.dtype], Any]:
    """The identity of functions that ignore NaN beside a number: NaN, where there is NaN."""
    return lambda dtype: math.nan if dtype.is_floating_point else identity(dtype)


def by_pairs(function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Any:
    """A reduction by a function of two operands."""

    def reduce(x: torch.Tensor, dim: int, keepdim: bool) -> torch.Tensor:
        return functools.reduce(function, x.split(1, dim)).squeeze(() if keepdim else dim)

    return folded(reduce)


def with_nan(make: Callable[[Samples], list[Case]], name: str, reduce: Any) -> Any:
    """And an operand that holds infinities and NaN."""

    def cases(s: Samples) -> list[Case]:
        found = make(s)
        if s.dtype.is_floating_point:
            x = s.special()
            found.append(
                Case("special", lambda ops, x: getattr(ops, name)(x, [1]),
                     [[x], [x[:, :6]], [torch.nan_to_num(exact(x), nan=0.0).to(s.dtype)],
                      [torch.full((5, 3), math.nan).to(s.dtype)],
                      [torch.full((5, 1), math.nan).to(s.dtype)]],
                     lambda x: rounded(reduce(exact(x), [1], False), x.dtype))
            )  # fmt: skip
        return found

    return cases


def reduction_rows() -> list[Operation]:
    def row(
        name: str, reduce: Any, result: Any, dtypes: Any, identity: Any, **bounds: float
    ) -> Any:
        low, high = bounds.get("low", -4.0), bounds.get("high", 4.0)
        make = reduction_cases(name, reduce, result, low, high, identity)
        if name not in ("sum", "prod"):
            make = with_nan(make, name, reduce)
        refusal = Refusal(
            "No reduction axis specified", lambda fd: getattr(fd.ops, name)(given(fd, 2), [])
        )
        return Operation(name, make, dtypes, [refusal])

    def same(dtype: torch.dtype) -> torch.dtype:
        return dtype

    def of_arrays(reduce: Any, function: Any) -> Any:
        return with_unsigned(reduce, lambda x, dims, k: function(x, tuple(dims), keepdims=k))

    multiplied = (*WIDE, *NARROW, *FP4, *WHOLE, torch.bool, *COMPLEX)
    product = folded(lambda x, dim, keepdim: torch.prod(bits(x), dim, keepdim))
    amax, amin = of_arrays(torch.amax, np.max), of_arrays(torch.amin, np.min)
    fmax = of_arrays(by_pairs(torch.fmax), np.max)
    fmin = of_arrays(by_pairs(torch.fmin), np.min)
    return [
        row("sum", lambda x, d, k: torch.sum(bits(x), d, k), summed, (*ANY, *FP4), lambda d: 0,
            low=-1.0, high=1.0),
        row("prod", product, summed, multiplied, lambda d: 1, low=0.9, high=1.1),
        row("max", amax, same, (*REAL, *FP4), least),
        row("min", amin, same, (*REAL, *FP4), greatest),
        row("fmax", fmax, same, NUMBERS, nan_if_float(least)),
        row("fmin", fmin, same, NUMBERS, nan_if_float(greatest)),
    ]  # fmt: skip


# ---- Moments -------------------------------------------------------------------------------------


def moment_cases(name: str, moments: Any) -> Callable[[Samples], list[Case]]:
    def make(s: Samples) -> list[Case]:
        def case(dims: list[int], keepdim: bool, correction: int, runs: list[Any]) -> Case:
            more = () if name == "mean" else (correction,)
            return Case(
                f"dims {dims}, keepdim {keepdim}, correction {correction}",
                lambda ops, x: getattr(ops, name)(x, dims, *more, keepdim),
                runs,
                lambda x: [m.to(x.dtype) for m in moments(exact(x), dims, correction, keepdim)],
                **slack(s.dtype, max(combined(x, dims) for (x,) in runs)),
            )

        runs = cubes(operands(s, name, -1.0, 1.0))
        runs.pop(3)  # of a single element the variance is NaN or infinite
        return [
            case([0], False, 1, runs[:1]),
            case([-1], True, 1, runs),
            case([0, 2], False, 0, runs),
            case([0, 1, 2], True, 0, runs),
            case([1, 2], True, 1, [[s.tensor(3, 1, 5, low=-1.0, high=1.0)]]),
        ]

    return make


def welford_cases(s: Samples) -> list[Case]:
    def expected(x: torch.Tensor, dims: list[int]) -> list[torch.Tensor]:
        wide = exact(x)
        mean = wide.mean(dims, keepdim=True)
        squares = ((wide - mean) ** 2).sum(dims)
        count = math.prod(x.shape[d] for d in dims)
        n = torch.full(squares.shape, count, dtype=torch.int64)
        return [rounded(mean.squeeze(dims), x.dtype), rounded(squares, x.dtype), n]

    runs = cubes(operands(s, "welford", -1.0, 1.0))
    # A mean between two numbers of 8 bits may be rounded to either: kernels know it in Float.
    allowed = one_step(s.dtype) if s.dtype in NARROW else slack(s.dtype, 2400)
    return [
        Case(f"dims {dims}", lambda ops, x, dims=dims: ops.welford(x, dims), runs,
             lambda x, dims=dims: expected(x, dims), **allowed)
        for dims in ([2], [0, 1], [0, 1, 2])
    ]  # fmt: skip


def moment_rows() -> list[Operation]:
    def mean(x: torch.Tensor, dims: list[int], _: int, keepdim: bool) -> list[torch.Tensor]:
        return [x.mean(dims, keepdim)]

    def var(x: torch.Tensor, dims: list[int], c: int, keepdim: bool) -> list[torch.Tensor]:
        return [torch.var(x, dims, correction=c, keepdim=keepdim)]

    def std(x: torch.Tensor, dims: list[int], c: int, keepdim: bool) -> list[torch.Tensor]:
        return [torch.std(x, dims, correction=c, keepdim=keepdim)]

    def both(x: torch.Tensor, dims: list[int], c: int, keepdim: bool) -> list[torch.Tensor]:
        return [*var(x, dims, c, keepdim), *mean(x, dims, c, keepdim)]

    negative = [
        Refusal("correction must be non-negative, but got -1",
                lambda fd, name=name: getattr(fd.ops, name)(given(fd, 2), [0], -1))
        for name in ("var", "var_mean")
    ]  # fmt: skip
    low = Refusal(
        "variance_mean is not supported for __half please upcast to float",
        lambda fd: fd.ops.var_mean(given(fd, 2, DataType.Half), [0]),
    )
    return [
        Operation("mean", moment_cases("mean", mean), (*WIDE, *COMPLEX)),
        Operation("var", moment_cases("var", var), WIDE, negative[:1]),
        Operation("standard_deviation", moment_cases("standard_deviation", std), WIDE),
        Operation("var_mean", moment_cases("var_mean", both), WIDE, [negative[1], low]),
        Operation("welford", welford_cases, (*FLOATS, *FP8), [
            Refusal("Tried to reduce a 0-dim tensor",
                    lambda fd: fd.ops.welford(given(fd, 0), []))]),
    ]  # fmt: skip


def sum_to_cases(s: Samples) -> list[Case]:
    def case(shape: list[int], *sizes: int) -> Case:
        result = s.dtype if list(sizes) == shape else summed(s.dtype)
        return Case(
            f"{sizes} to {shape}",
            lambda ops, x: ops.sum_to(x, shape),
            [[s.tensor(*sizes, low=-1.0, high=1.0)]],
            lambda x: bits(exact(x)).sum_to_size(shape).to(result),
            static=True,
            **slack(s.dtype, 64),
        )

    return [case([5], 3, 4, 5), case([4, 1], 3, 4, 5), case([1, 1, 1], 3, 4, 5), case([3, 4], 3, 4)]


def fused_multiply_sum_cases(s: Samples) -> list[Case]:
    def expected(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (exact(a) * exact(b)).sum([0, 2]).to(widened(a.dtype))

    runs = [[s.tensor(3, 5, 7), s.tensor(7, 5, 3).permute(2, 1, 0)]]
    return [
        Case("dims [0, 2]", lambda ops, a, b: ops.fused_multiply_sum(a, b, [0, 2]), runs, expected,
             **slack(widened(s.dtype), 64))
    ]  # fmt: skip


# ---- Scans ---------------------------------------------------------------------------------------


def stepwise(
    combine: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    x: torch.Tensor,
    dim: int,
    init: Any = None,
) -> torch.Tensor:
    """One element after the other, in Float where the dtype is narrower; each rounded once."""
    running = torch.float32 if x.is_floating_point() and x.itemsize <= 2 else x.dtype
    parts, last = [], None if init is None else torch.tensor(init, dtype=running)
    for part in x.to(running).unbind(dim):
        last = part if last is None else rounded(combine(exact(last), exact(part)), running)
        parts.append(rounded(last, x.dtype))
    return torch.stack(parts, dim) if parts else x.clone()


COMBINE: dict[str, tuple[Any, BinaryOpType]] = {
    "cumsum": (with_unsigned(torch.add, np.add), BinaryOpType.Add),
    "cumprod": (with_unsigned(torch.mul, np.multiply), BinaryOpType.Mul),
    "cummax": (with_unsigned(torch.maximum, np.maximum), BinaryOpType.Max),
    "cummin": (with_unsigned(torch.minimum, np.minimum), BinaryOpType.Min),
}


def scan_cases(name: str) -> Callable[[Samples], list[Case]]:
    combine = functools.partial(stepwise, COMBINE[name][0])

    def make(s: Samples) -> list[Case]:
        low, high = (0.8, 1.2) if name == "cumprod" else (-2.0, 2.0)
        bounds = {"low": low, "high": high}
        loose = slack(s.dtype, 64)
        matrices = [x for x in s.views(**bounds) if x.numel() < 10_000]
        matrices += [s.tensor(2000, 9, **bounds), s.tensor(2, 300, **bounds)]
        runs = [[x] for x in matrices]
        wide = slack(s.dtype, 2048)
        init = 2 if not s.dtype.is_floating_point else 1.5
        return [
            Case("last dimension", lambda ops, x: getattr(ops, name)(x, -1), runs,
                 lambda x: combine(x, -1), **wide),
            Case("first dimension", lambda ops, x: getattr(ops, name)(x, 0), runs,
                 lambda x: combine(x, 0), **wide),
            Case("initial value", lambda ops, x: getattr(ops, name)(x, 1, init), runs[:1],
                 lambda x: combine(x, 1, init), **loose),
            Case("broadcast", lambda ops, x: getattr(ops, name)(x, 1),
                 [[s.tensor(3, 1, 4, **bounds)]], lambda x: combine(x, 1), **loose),
        ]  # fmt: skip

    return make


def any_scan_cases(s: Samples) -> list[Case]:
    found = []
    references = {op: f for f, op in COMBINE.values()}
    references |= {
        BinaryOpType.FMax: with_unsigned(torch.fmax, np.maximum),
        BinaryOpType.FMin: with_unsigned(torch.fmin, np.minimum),
    }
    for op, function in references.items():
        x = s.tensor(3, 5, low=0.8, high=1.2)
        runs = [[x], [s.tensor(5, 4, low=0.8, high=1.2).T]]
        if s.dtype.is_floating_point and op not in (BinaryOpType.Add, BinaryOpType.Mul):
            runs.append([s.special()])
        found.append(
            Case(op.name, lambda ops, x, op=op: ops.scan(x, 1, op), runs,
                 lambda x, f=function: stepwise(f, x, 1), **slack(s.dtype, 8))
        )  # fmt: skip
    return found


def scan_rows() -> list[Operation]:
    expanded = Refusal(
        "Closed-form scan of expanded dimension is not yet implemented",
        lambda fd: fd.ops.cumsum(fd.ops.expand(fd.define_tensor([1]), [4]), 0),
    )
    dtypes: Sequence[torch.dtype] = NUMBERS
    rows = [Operation(name, scan_cases(name), dtypes) for name in COMBINE]
    rows[0].refusals.append(expanded)
    return [*rows, Operation("scan", any_scan_cases, dtypes)]


def rows() -> list[Operation]:
    return [
        *reduction_rows(),
        *moment_rows(),
        Operation("sum_to", sum_to_cases, (*WIDE, *WHOLE, *COMPLEX)),
        Operation("fused_multiply_sum", fused_multiply_sum_cases, FLOATING),
        *scan_rows(),
    ]

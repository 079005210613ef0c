"""Rows of the operations that compute an element of the result from one element of each operand."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from case import (
    ANY,
    COMPLEX,
    CONVERTIBLE,
    FLOATING,
    FLOATS,
    FP4,
    NARROW,
    NUMBERS,
    REAL,
    UNSIGNED,
    WHOLE,
    WIDE,
    Case,
    Operation,
    Refusal,
    Samples,
    as_float,
    common_dtype,
    converted,
    exact,
    nvf,
    widened,
)
from number_cases import NUMBER_TYPES, number_case
from rare_dtypes import UNSIGNED_FUNCTIONS, by_numpy, with_unsigned

from nvfuser_direct import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import FusionDefinition, TensorView

Function = "Callable[..., torch.Tensor]"
COARSE = 3e-5  # functions of complex numbers lose digits near their zeros and poles


def given(fd: FusionDefinition, rank: int = 1, dtype: DataType = DataType.Float) -> TensorView:
    """An operand of a call that fails."""
    return fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype)


# ---- One operand ---------------------------------------------------------------------------------


def unary_cases(
    name: str,
    reference: Function,
    result: Callable[[torch.dtype], torch.dtype],
    operand: Callable[[torch.dtype], torch.dtype],
    low: float,
    high: float,
    has_special: bool,
    takes_numbers: bool,
) -> Callable[[Samples], list[Case]]:
    def expected(x: torch.Tensor) -> torch.Tensor:
        return reference(exact(x.to(operand(x.dtype)))).to(result(x.dtype))

    def make(s: Samples) -> list[Case]:
        def build(ops: Any, x: Any) -> Any:
            return getattr(ops, name)(x)

        bounds = {"low": low, "high": high}
        matrices = s.views(**bounds)
        if has_special:
            matrices.append(s.special())
        loose = COARSE if s.dtype.is_complex else None
        common = {"build": build, "expected": expected, "rtol": loose, "atol": loose}
        numbers = number_case(s, build, expected, [(low, high)], rtol=loose, atol=loose)
        return [
            *(numbers if takes_numbers else []),
            Case("views", runs=[[x] for x in matrices], **common),
            Case("0-dim", runs=[[s.tensor(**bounds)]], **common),
            Case(
                "broadcast, expanded, of known size",
                runs=[[s.tensor(3, 1, 1, **bounds).expand(3, 1, 4)]],
                static=True,
                **common,
            ),
        ]

    return make


def unary(
    name: str,
    reference: Any = None,
    dtypes: Sequence[torch.dtype] = REAL,
    result: Callable[[torch.dtype], torch.dtype] = as_float,
    operand: Callable[[torch.dtype], torch.dtype] | None = None,
    low: float = -4.0,
    high: float = 4.0,
    has_special: bool = True,
    takes_numbers: bool = True,
    refusals: Sequence[Refusal] = (),
    left_out: dict[str, str] | None = None,
) -> Operation:
    if reference is None:
        reference = getattr(torch, name)
    reference = with_unsigned(reference, UNSIGNED_FUNCTIONS.get(name))
    make = unary_cases(
        name, reference, result, operand or result, low, high, has_special, takes_numbers
    )
    return Operation(name, make, dtypes, list(refusals), left_out or {})


def same(dtype: torch.dtype) -> torch.dtype:
    return dtype


def real_of(dtype: torch.dtype) -> torch.dtype:
    return torch.empty(0, dtype=dtype).abs().dtype if dtype.is_complex else dtype


def to_bool(dtype: torch.dtype) -> torch.dtype:
    return torch.bool


def erfcinv(y: torch.Tensor) -> torch.Tensor:
    """By bisection and Newton steps on erfc, which PyTorch has."""
    x = torch.special.ndtri(y / 2) * -math.sqrt(0.5)
    for _ in range(2):
        x = x + (torch.erfc(x) - y) * (math.sqrt(math.pi) / 2) * torch.exp(x * x)
    return x


def sign(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, 1, torch.where(x < 0, -1, 0)).to(x.dtype)


def bitceil(x: torch.Tensor) -> torch.Tensor:
    values = [1 << (int(v) - 1).bit_length() if v > 1 else 1 for v in x.flatten().tolist()]
    return torch.tensor(values, dtype=x.dtype).reshape(x.shape)


def bitwise_not(x: torch.Tensor) -> torch.Tensor:
    return torch.bitwise_not(x)


# Every dtype.
FLOAT_AND_COMPLEX = """acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 log log10 log1p log2
    reciprocal rsqrt sigmoid sin sinh sqrt tan tanh""".split()


def unary_rows() -> list[Operation]:
    wide_range = {"acosh": (1.0, 9.0), "atanh": (-0.95, 0.95), "acos": (-1.0, 1.0)}
    wide_range |= {"asin": (-1.0, 1.0), "reciprocal": (0.5, 4.0), "rsqrt": (0.1, 9.0)}
    wide_range |= dict.fromkeys(("log", "log2", "log10", "sqrt"), (0.1, 9.0))
    wide_range |= {"log1p": (-0.9, 9.0), "tan": (-1.4, 1.4)}
    wide_range["sigmoid"] = (-3.0, 3.0)  # the complex one has poles at odd multiples of pi i
    rows = []
    for name in FLOAT_AND_COMPLEX:
        low, high = wide_range.get(name, (-4.0, 4.0))
        rows.append(unary(name, dtypes=(*ANY, *FP4), low=low, high=high))
    rows += [
        unary("erf"),
        unary("erfc"),
        unary("erfinv", torch.special.erfinv, low=-0.95, high=0.95),
        unary("erfcinv", erfcinv, WIDE, low=0.05, high=1.95, has_special=False),
        unary("lgamma", low=0.1),
        unary("abs", dtypes=(*NUMBERS, *COMPLEX, *FP4), result=real_of, operand=same),
        unary("neg", dtypes=(*NUMBERS, *COMPLEX, *FP4), result=widened),
        unary("logical_not", dtypes=CONVERTIBLE, result=to_bool),
        unary("bitwise_not", bitwise_not, (*WHOLE, torch.bool), same, refusals=[
            Refusal("input must have integral or boolean type, but got float",
                    lambda fd: fd.ops.bitwise_not(given(fd)))]),
        unary("set", lambda x: x, (*ANY, *FP4), same),
        unary("segment_set", lambda x: x, (*ANY, *FP4), same),
        unary("sign", sign, (*NUMBERS, *FP4), same),
        unary("signbit", with_unsigned(torch.signbit, np.signbit),
              (*WIDE, *NARROW, *FP4, *WHOLE), to_bool, operand=widened),
        unary("silu", torch.nn.functional.silu, FLOATING, same, has_special=False),
        unary("relu", dtypes=(*NUMBERS, *FP4), result=same),
        unary("gelu", torch.nn.functional.gelu, FLOATING, widened, has_special=False,
              takes_numbers=False),
        unary("tanh_gelu", lambda x: torch.nn.functional.gelu(x, approximate="tanh"), FLOATING,
              widened, has_special=False, takes_numbers=False),
        unary("real", dtypes=ANY, result=real_of, operand=same),
        unary("imag", dtypes=COMPLEX, result=real_of, operand=same, refusals=[
            Refusal("imag not supported for non-complex tensors",
                    lambda fd: fd.ops.imag(given(fd)))]),
        unary("bitceil", bitceil, WHOLE, same, low=1, high=5000, has_special=False),
        unary("softplus", torch.nn.functional.softplus, FLOATING, widened, high=25.0,
              has_special=False, takes_numbers=False),
        unary("leaky_relu", torch.nn.functional.leaky_relu, FLOATING, widened, has_special=False,
              takes_numbers=False),
    ]  # fmt: skip
    rows += [unary(name, dtypes=(*FLOATING, *FP4, *UNSIGNED), result=same) for name in
             ("ceil", "floor", "round", "trunc", "frac")]  # fmt: skip
    rows += [
        unary(name, dtypes=(*NUMBERS, *FP4), result=to_bool, operand=same)
        for name in ("isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal")
    ]
    return rows


def saturated(x: torch.Tensor, to: torch.dtype) -> torch.Tensor:
    """In the range of e4m3, which has no infinity: older PyTorch makes NaN of what is beyond."""
    if to != torch.float8_e4m3fn or x.dtype == to:
        return x
    return x.clamp(torch.finfo(to).min, torch.finfo(to).max)


def cast_cases(s: Samples) -> list[Case]:
    def case(to: torch.dtype) -> Case:
        x = s.tensor(5, 7, low=0, high=100)
        matrices = [x, s.tensor(7, 3, low=0, high=100).T, s.tensor(0, 2)]
        if s.dtype.is_floating_point and (to.is_floating_point or to.is_complex):
            matrices.append(s.special())
        return Case(
            f"to {to}",
            lambda ops, x: ops.cast(x, dtype=nvf(to)),
            [[x] for x in matrices],
            lambda x: saturated(
                x.real if x.is_complex() and not to.is_complex and to != torch.bool else x, to
            ).to(to),
        )  # fmt: skip

    if s.dtype in NARROW or s.is_fp4:  # converted to and from other floats alone
        return [case(to) for to in (s.dtype, *FLOATS)]
    numbers = [number for to in NUMBER_TYPES for number in number_case(
        s, lambda ops, x, to=to: ops.cast(x, dtype=nvf(to)),
        lambda x, to=to: case(to).expected(x), [(0, 100)])]  # fmt: skip
    return [case(to) for to in (*CONVERTIBLE, *(NARROW if s.dtype in FLOATS else ()))] + numbers


def bitcast_cases(s: Samples) -> list[Case]:
    to = {8: torch.int64, 4: torch.int32}[s.dtype.itemsize]
    back = torch.float64 if to == torch.int64 else torch.float32
    return [
        Case(
            "to integers and back",
            lambda ops, x: [
                ops.bitcast(nvf(to), ops.set(x)),
                ops.bitcast(nvf(back), ops.bitcast(nvf(to), x)),
            ],
            [[s.tensor(3, 5)], [s.special()]],
            lambda x: [x.contiguous().view(to), x.contiguous().view(to).view(back)],
        )
    ]


def cast_rows() -> list[Operation]:
    def cast(source: DataType, target: DataType) -> Callable[[FusionDefinition], Any]:
        return lambda fd: fd.ops.cast(given(fd, 1, source), target)

    illegal = "Illegal Cast value from  DataType: "
    return [
        Operation("cast", cast_cases, (*ANY, *FP4), [
            Refusal(illegal + "int64_t to DataType: __e4m3",
                    cast(DataType.Int, DataType.Float8_e4m3fn)),
            Refusal(illegal + "uint64_t to DataType: __e5m2",
                    cast(DataType.UInt64, DataType.Float8_e5m2)),
            Refusal(illegal + "__e8m0 to DataType: bool",
                    cast(DataType.Float8_e8m0fnu, DataType.Bool)),
            Refusal(illegal + "__e4m3 to DataType: __e5m2",
                    cast(DataType.Float8_e4m3fn, DataType.Float8_e5m2))]),
        Operation("bitcast", bitcast_cases, WIDE, [
            Refusal("BitCast only works for types of the same size",
                    lambda fd: fd.ops.bitcast(DataType.Int, given(fd)))]),
    ]  # fmt: skip


# ---- Two operands --------------------------------------------------------------------------------


def pairs(s: Samples, other: torch.dtype, low: float, high: float, least: float) -> list[list[Any]]:
    """Matrices of unlike layouts; the second operand is at least `least` if that is given."""

    def second(*shape: int) -> torch.Tensor:
        return s.tensor(*shape, low=low if least is None else least, high=high, dtype=other)

    a = {"low": low, "high": high}
    return [
        [s.tensor(3, 5, **a), second(5, 3).T],
        [s.tensor(0, 4, **a), second(0, 4)],
        [s.tensor(8, 10, **a)[::2, 1:], second(1, 9).expand(4, 9)],
        [s.tensor(257, 129, **a), second(257, 129)],
    ]


def binary_cases(
    name: str,
    reference: Function,
    result: Callable[[torch.dtype], torch.dtype],
    low: float = -4.0,
    high: float = 4.0,
    least: float | None = None,
    numbers: Sequence[Any] = (),
    is_mixed: bool = True,
) -> Callable[[Samples], list[Case]]:
    def expected(a: Any, b: Any) -> torch.Tensor:
        dtype = common_dtype(a, b)
        wanted = result(dtype)
        held = wanted if wanted != torch.bool else dtype
        # Integers that become Float do so before the operation.
        return reference(*converted(held, a, b)).to(wanted)

    def make(s: Samples) -> list[Case]:
        def build(ops: Any, a: Any, b: Any) -> Any:
            return getattr(ops, name)(a, b)

        loose = COARSE if s.dtype.is_complex else None
        common = {"rtol": loose, "atol": loose}
        bounds = (low, high, least)
        limits = {"low": low, "high": high}
        second = {"low": low if least is None else least, "high": high}
        cases = [
            Case("layouts", build, pairs(s, s.dtype, *bounds), expected, **common),
            Case("ranks", build, [[s.tensor(4, 3, 5, **limits), s.tensor(5, **second)],
                                  [s.tensor(2, 0, 3, **limits), s.tensor(3, **second)]],
                 expected, **common),
            Case("broadcast", build, [[s.tensor(4, 1, **limits), s.tensor(1, 7, **second)],
                                      [s.tensor(3, 1, **limits), s.tensor(1, 2, **second)]],
                 expected, **common),
            Case("0-dim", build, [[s.tensor(4, 5, **limits), s.tensor(**second)]], expected,
                 **common),
        ]  # fmt: skip
        if s.dtype in UNSIGNED:
            a, b = torch.meshgrid([s.special()[0].long()] * 2, indexing="ij")
            runs = [[a.to(s.dtype), b.where(b != 0, 5).to(s.dtype)]]
            cases.append(Case("numbers of 64 bits", build, runs, expected))
        usable = [n for n in numbers if not s.is_fp4 and _goes_with(n, s.dtype)]
        for number in usable:
            cases += [
                Case(f"constant {number!r}", lambda ops, a, n=number: build(ops, a, n),
                     [[s.tensor(3, 5, **limits)]], lambda a, n=number: expected(a, n), **common),
                Case(f"number {number!r} first", lambda ops, n, b: build(ops, n, b),
                     [[number, s.tensor(3, 5, **second)]], expected, **common),
            ]  # fmt: skip
        others = {torch.float32: torch.float16, torch.float16: torch.bfloat16,
                  torch.int64: torch.int32, torch.float64: torch.float32}  # fmt: skip
        if is_mixed and not s.is_fp4 and s.dtype in others:
            mixed = pairs(s, others[s.dtype], *bounds)
            cases.append(Case(f"with {others[s.dtype]}", build, mixed, expected, **common))
        two = [(low, high), (second["low"], high)]
        return cases + number_case(s, build, expected, two, **common)

    return make


def _goes_with(number: Any, dtype: torch.dtype) -> bool:
    if dtype == torch.bool:
        return isinstance(number, bool)
    return not isinstance(number, complex) or widened(dtype) == dtype


def binary(
    name: str,
    reference: Any = None,
    dtypes: Sequence[torch.dtype] = (*NUMBERS, *FP4),
    result: Callable[[torch.dtype], torch.dtype] = same,
    refusals: Sequence[Refusal] = (),
    **more: Any,
) -> Operation:
    if reference is None:
        reference = getattr(torch, name)
    reference = with_unsigned(reference, UNSIGNED_FUNCTIONS.get(name))
    return Operation(name, binary_cases(name, reference, result, **more), dtypes, list(refusals))


def divided(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    is_whole = not (a.is_floating_point() or a.is_complex())
    return torch.div(a, b, rounding_mode="trunc") if is_whole else a / b


def nextafter(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Held in Double, but the neighbour is one in Float: so called for the original types."""
    return torch.nextafter(a, b)


def right_shifted(a: torch.Tensor, n: torch.Tensor, bits: int) -> torch.Tensor:
    mask = (1 << bits) - 1
    values = [
        ((x & mask) >> k) - (1 << bits if (x & mask) >> k >= 1 << (bits - 1) else 0)
        for x, k in zip(a.flatten().tolist(), n.flatten().tolist(), strict=True)
    ]
    return torch.tensor(values, dtype=a.dtype).reshape(a.shape)


def logical_right_shift_cases(s: Samples) -> list[Case]:
    bits = s.dtype.itemsize * 8

    def expected(a: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        if s.dtype in UNSIGNED:
            return by_numpy(np.right_shift, a, n)
        a, n = torch.broadcast_tensors(a, n)
        return right_shifted(a, n, bits)

    runs = pairs(s, s.dtype, -100, 100, None)[:3]
    runs = [[a, s.positions(*b.shape, below=bits, dtype=s.dtype)] for a, b in runs]
    special = s.special()
    runs += [[special, torch.full_like(special, n)] for n in (0, 1, bits - 1)]

    def build(ops: Any, a: Any, n: Any) -> Any:
        return ops.logical_right_shift(a, n)

    numbers = number_case(s, build, expected, [(-100, 100), (0, bits - 1)])
    return [Case("layouts", build, runs, expected), *numbers]


def nextafter_cases(s: Samples) -> list[Case]:
    special = s.special()
    runs = [*pairs(s, s.dtype, -4.0, 4.0, None), [special, special.flip(0)]]

    def build(ops: Any, a: Any, b: Any) -> Any:
        return ops.nextafter(a, b)

    numbers = number_case(s, build, torch.nextafter, [(-4, 4)] * 2)
    return [Case("layouts", build, runs, torch.nextafter), *numbers]


def scaled_cases(name: str) -> Callable[[Samples], list[Case]]:
    combine = operator.add if name == "add_alpha" else operator.sub

    def make(s: Samples) -> list[Case]:
        def expected(a: torch.Tensor, b: torch.Tensor, factor: Any = 3) -> torch.Tensor:
            dtype = common_dtype(a, b)
            wide = converted(dtype, a, b)
            if dtype in UNSIGNED:
                return by_numpy(lambda a, b: combine(a, b * factor), *wide)
            return combine(wide[0], wide[1] * factor).to(dtype)

        runs = pairs(s, s.dtype, -4, 4, None)
        number = 2 if s.dtype in WHOLE else 0.5
        return [
            Case("layouts", lambda ops, a, b: getattr(ops, name)(a, b, 3), runs, expected),
            Case("number", lambda ops, a, b, n: getattr(ops, name)(a, b, n),
                 [[*runs[0], number]], expected),
            *number_case(s, lambda ops, a, b: getattr(ops, name)(a, b, 3), expected, [(-4, 4)] * 2),
        ]  # fmt: skip

    return make


def complex_cases(s: Samples) -> list[Case]:
    runs = pairs(s, s.dtype, -4.0, 4.0, None)

    def build(ops: Any, a: Any, b: Any) -> Any:
        return ops.complex(a, b)

    numbers = number_case(s, build, torch.complex, [(-4, 4)] * 2)
    return [Case("layouts", build, runs, torch.complex), *numbers]


COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def binary_rows() -> list[Operation]:
    with_complex = (*NUMBERS, *COMPLEX, *FP4)
    whole = (*WHOLE, torch.bool)
    numbers = (3, 0.5)
    rows = [
        binary("add", dtypes=with_complex, numbers=(*numbers, 1 - 0.5j)),
        binary("sub", dtypes=with_complex, numbers=numbers),
        binary("mul", dtypes=with_complex, numbers=(*numbers, 2j)),
        binary("div", divided, with_complex, least=1, numbers=numbers),
        binary("truediv", lambda a, b: a / b, with_complex, as_float, least=1, numbers=numbers),
        binary("fmod", least=1, numbers=(3,)),
        binary("remainder", least=1, numbers=(3,)),
        binary("floor_divide", dtypes=NUMBERS, least=1, numbers=(3,)),
        binary("mod", lambda a, b: torch.fmod(a, b), WHOLE, least=1, numbers=(3,)),
        binary("pow", low=1, high=3, numbers=(2,)),
        binary("atan2", result=as_float, numbers=(0.5,)),
        binary("minimum", numbers=numbers),
        binary("maximum", numbers=numbers),
        binary("gcd", dtypes=WHOLE, low=-30, high=30, numbers=(12,), refusals=[
            Refusal("input must have integral type, but got float and float",
                    lambda fd: fd.ops.gcd(given(fd), given(fd)))]),
        binary("ceil_div", lambda a, b: -torch.div(-a, b, rounding_mode="floor"), WHOLE, low=0,
               high=90, least=1, numbers=(7,)),
        binary("ceilDiv", lambda a, b: -torch.div(-a, b, rounding_mode="floor"), WHOLE, low=0,
               high=90, least=1),
        binary("bitwise_left_shift", dtypes=WHOLE, low=0, high=9, numbers=(3,)),
        binary("bitwise_right_shift", dtypes=WHOLE, low=-90, high=9, least=0, numbers=(3,)),
        Operation("logical_right_shift", logical_right_shift_cases, WHOLE),
        Operation("nextafter", nextafter_cases, WIDE, [
            Refusal("Promoted type must be single or double precision float but found __half",
                    lambda fd: fd.ops.nextafter(given(fd, 1, DataType.Half),
                                                given(fd, 1, DataType.Half)))]),
        Operation("complex", complex_cases, WIDE, [
            Refusal("real and imag data type should be same in complex()",
                    lambda fd: fd.ops.complex(given(fd), given(fd, 1, DataType.Double)))]),
        Operation("add_alpha", scaled_cases("add_alpha"), NUMBERS),
        Operation("sub_alpha", scaled_cases("sub_alpha"), NUMBERS),
    ]  # fmt: skip
    rows += [
        binary(name, dtypes=with_complex if name in ("eq", "ne") else (*NUMBERS, *FP4),
               result=to_bool, numbers=numbers)
        for name in COMPARISONS
    ]  # fmt: skip
    rows += [
        binary(name, dtypes=CONVERTIBLE, result=to_bool, numbers=(True,))
        for name in ("logical_and", "logical_or")
    ]
    rows += [
        binary(f"bitwise_{name}", dtypes=whole, low=-90, high=90, numbers=(3, True), refusals=[
            Refusal(f"Integer or boolean input is required for bitwise_{name} but found",
                    lambda fd, name=name: getattr(fd.ops, f"bitwise_{name}")(given(fd), given(fd)))
        ])
        for name in ("and", "or", "xor")
    ]  # fmt: skip
    sizes = Refusal(
        "Expected sizes to match: 3 vs 4",
        lambda fd: fd.ops.add(fd.define_tensor([3]), fd.define_tensor([4])),
    )
    rows[0].refusals.append(sizes)
    return rows


def rows() -> list[Operation]:
    return [*unary_rows(), *cast_rows(), *binary_rows()]

"""One element of the result from one element of each operand, with PyTorch.

Operands are tensors or Python numbers in any mix, at least one of them a tensor: arithmetic on
scalars alone is the core's. Integer arithmetic is that of C: division and ``Mod`` truncate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from ._core import BinaryOpType as B
from ._core import DataType
from ._core import TernaryOpType as T
from ._core import UnaryOpType as U

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import torch

Scalar: TypeAlias = Any  # bool, int, float or complex
Value: TypeAlias = Any  # a tensor or a scalar


def _is_integer(value: torch.Tensor) -> bool:
    return not value.dtype.is_floating_point and not value.dtype.is_complex


def _all_integer(*values: torch.Tensor) -> bool:
    return all(_is_integer(value) for value in values)


def widened(value: Value) -> Value:
    """Floats of 8 bits compute in Float; the caller rounds the result, once."""
    if not (hasattr(value, "dtype") and value.dtype.is_floating_point and value.itemsize == 1):
        return value
    # PyTorch makes a signaling NaN of one of Float8_e8m0fnu, which fmax does not ignore.
    return value.float() * 1.0


def converted(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """In a dtype; what is too large for e4m3 is its largest number, not NaN as in older PyTorch."""
    import torch

    if value.dtype == dtype:
        return value
    if dtype == torch.float8_e4m3fn:
        largest = torch.finfo(dtype).max
        value = value.clamp(-largest, largest)
    return value.to(dtype)


def _is_unsigned(*values: torch.Tensor) -> bool:
    import torch

    return all(value.dtype == torch.uint64 for value in values)


def _is_bool(*values: torch.Tensor) -> bool:
    import torch

    return all(value.dtype == torch.bool for value in values)


def _any_tensor(*values: Value) -> bool:
    return any(hasattr(value, "dtype") for value in values)


def _as_tensor(value: Value, like: torch.Tensor) -> torch.Tensor:
    """A number as a tensor that promotes like a number: it takes the type of `like`."""
    import torch

    if hasattr(value, "dtype"):
        return value
    dtype = like.dtype
    if isinstance(value, float) and not (dtype.is_floating_point or dtype.is_complex):
        dtype = torch.get_default_dtype()
    elif isinstance(value, int) and not (
        dtype.is_floating_point or dtype.is_complex or dtype == torch.bool
    ):
        value = _wrapped(value, torch.iinfo(dtype))
    held = torch.float32 if dtype.is_floating_point and dtype.itemsize == 1 else dtype
    return converted(torch.tensor(value, dtype=held, device=like.device), dtype)


def _wrapped(value: int, limits: torch.iinfo) -> int:
    """An int at the width of a type, as beside a tensor in PyTorch and in kernels."""
    low, high = int(limits.min), int(limits.max)
    return (value - low) % (high - low + 1) + low


def filled(
    shape: Sequence[int], number: Scalar, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """Equal numbers, rounded to the type or wrapped to its width."""
    import torch

    like = torch.empty(0, dtype=dtype, device=device)
    return converted(_as_tensor(number, like), dtype).expand(shape).clone()


def _tensors(*values: Value) -> list[torch.Tensor]:
    like = next(value for value in values if hasattr(value, "dtype"))
    return [_as_tensor(value, like) for value in values]


# ---- Unary ---------------------------------------------------------------------------------------

# Operations by the name of the function that torch has for them.
_UNARY_NAMES = {
    U.Abs: "abs",
    U.Acos: "acos",
    U.Acosh: "acosh",
    U.Asin: "asin",
    U.Asinh: "asinh",
    U.Atan: "atan",
    U.Atanh: "atanh",
    U.Ceil: "ceil",
    U.Cos: "cos",
    U.Cosh: "cosh",
    U.Exp: "exp",
    U.Exp2: "exp2",
    U.Expm1: "expm1",
    U.Erf: "erf",
    U.Erfc: "erfc",
    U.Erfinv: "erfinv",
    U.Floor: "floor",
    U.Frac: "frac",
    U.Lgamma: "lgamma",
    U.Log: "log",
    U.Log10: "log10",
    U.Log1p: "log1p",
    U.Log2: "log2",
    U.Neg: "neg",
    U.Reciprocal: "reciprocal",
    U.Relu: "relu",
    U.Round: "round",
    U.Rsqrt: "rsqrt",
    U.Sigmoid: "sigmoid",
    U.Signbit: "signbit",
    U.Sin: "sin",
    U.Sinh: "sinh",
    U.Sqrt: "sqrt",
    U.Tan: "tan",
    U.Tanh: "tanh",
    U.Trunc: "trunc",
    U.LogicalNot: "logical_not",
    U.BitwiseNot: "bitwise_not",
    U.IsFinite: "isfinite",
    U.IsInf: "isinf",
    U.IsNan: "isnan",
    U.IsNegInf: "isneginf",
    U.IsPosInf: "isposinf",
    U.IsReal: "isreal",
    U.Real: "real",
    U.Imag: "imag",
}
# Integers are whole already.
_IDENTITY_ON_INTEGERS = {U.Ceil, U.Floor, U.Round, U.Trunc}
# PyTorch has them for integers, not for Bool. As in C, a Bool is 0 or 1, and a result is whether
# the number is nonzero.
_ARITHMETIC_OF_BOOL = {U.Abs, U.Neg, U.Relu}


def _bit_ceil(arg: torch.Tensor) -> torch.Tensor:
    """The smallest powers of two that are not less: all bits below the highest one, plus one."""
    ones = (arg - 1).clamp(min=0)
    shift = 1
    while shift < 8 * arg.element_size():
        ones |= ones >> shift
        shift *= 2
    return ones + 1


def _unary_tensor(op: U, arg: torch.Tensor) -> torch.Tensor:
    import torch

    if _is_integer(arg) and op in (U.Silu, U.Gelu):
        arg = arg.float()
    if _is_unsigned(arg):
        from . import _torch_unsigned

        return _torch_unsigned.unary(op, arg)
    if op in _IDENTITY_ON_INTEGERS and _is_integer(arg):
        return arg
    if op in _ARITHMETIC_OF_BOOL and _is_bool(arg):
        arg = arg.long()
    if op == U.Frac and _is_integer(arg):
        return torch.zeros_like(arg)
    if op == U.Silu:
        return torch.nn.functional.silu(arg)
    if op == U.Gelu:
        return torch.nn.functional.gelu(arg)
    if op == U.Erfcinv:
        # erfinv(1 - x) loses a small x; the quantile of the normal distribution does not.
        quantile = torch.special.ndtri(arg.double() / 2)
        return (0.0 - quantile * math.sqrt(0.5)).to(arg.dtype)
    if op == U.BitCeil:
        return _bit_ceil(arg)
    if op == U.Print:
        return arg
    if op == U.Imag and not arg.dtype.is_complex:
        return torch.zeros_like(arg)
    name = _UNARY_NAMES.get(op)
    if name is None:
        raise NotImplementedError(f"the evaluator does not know {op}")
    return getattr(torch, name)(arg)


def unary(op: U, arg: torch.Tensor, out_dtype: DataType) -> torch.Tensor:
    """`op` of one operand; the caller converts the result to `out_dtype`."""
    if op == U.Cast:
        return _cast(arg, out_dtype)
    if op == U.BitCast:
        from .pytorch_utils import nvfuser_dtype_to_torch_dtype

        return arg.view(nvfuser_dtype_to_torch_dtype(out_dtype))
    return _unary_tensor(op, widened(arg))


def _cast(arg: torch.Tensor, out_dtype: DataType) -> torch.Tensor:
    """The caller converts; here is what a plain conversion gets wrong."""
    import torch

    if arg.dtype.is_complex and out_dtype not in (
        DataType.ComplexFloat,
        DataType.ComplexDouble,
    ):
        return torch.real(arg) if out_dtype != DataType.Bool else arg != 0
    return arg != 0 if out_dtype == DataType.Bool else arg


# ---- Binary --------------------------------------------------------------------------------------


_BINARY_NAMES = {
    B.Add: "add",
    B.Sub: "sub",
    B.Mul: "mul",
    B.Fmod: "fmod",
    B.Mod: "fmod",
    B.Remainder: "remainder",
    B.Atan2: "atan2",
    B.Max: "maximum",
    B.Min: "minimum",
    B.FMax: "fmax",
    B.FMin: "fmin",
    B.Nextafter: "nextafter",
    B.Gcd: "gcd",
    B.Lshift: "bitwise_left_shift",
    B.Rshift: "bitwise_right_shift",
    B.BitwiseAnd: "bitwise_and",
    B.BitwiseOr: "bitwise_or",
    B.BitwiseXor: "bitwise_xor",
    B.LogicalAnd: "logical_and",
    B.LogicalOr: "logical_or",
    B.Eq: "eq",
    B.NE: "ne",
    B.LT: "lt",
    B.LE: "le",
    B.GT: "gt",
    B.GE: "ge",
    B.Complex: "complex",
}


# The same for two Bools; x / 0 is all ones and x % 0 is x, as in kernels.
_BINARY_OF_BOOL: dict[B, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    B.Sub: lambda a, b: a ^ b,
    B.Div: lambda a, b: a | ~b,
    B.Fmod: lambda a, b: a & ~b,
    B.Mod: lambda a, b: a & ~b,
    B.Remainder: lambda a, b: a & ~b,
}


def _integer_pow(base: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    """Negative exponents give the truncated reciprocal, as integer division does."""
    import torch

    positive = torch.pow(base, exponent.clamp(min=0))
    odd = exponent % 2 != 0
    reciprocal = torch.where(base == 1, 1, torch.where(base == -1, torch.where(odd, -1, 1), 0))
    return torch.where(exponent < 0, reciprocal.to(positive.dtype), positive)


def binary(op: B, lhs: Value, rhs: Value, out_dtype: DataType) -> torch.Tensor:
    """`op` of two operands; the caller converts the result to `out_dtype`."""
    import torch

    lhs, rhs = _tensors(widened(lhs), widened(rhs))
    if _is_unsigned(lhs, rhs):
        from . import _torch_unsigned

        return _torch_unsigned.binary(op, lhs, rhs)
    if op in _BINARY_OF_BOOL and _is_bool(lhs, rhs):
        return _BINARY_OF_BOOL[op](lhs, rhs)
    if op == B.Div:
        return torch.div(lhs, rhs, rounding_mode="trunc" if _all_integer(lhs, rhs) else None)
    if op == B.Pow:
        return _integer_pow(lhs, rhs) if _all_integer(lhs, rhs) else torch.pow(lhs, rhs)
    if op == B.CeilDiv:
        return -torch.div(-lhs, rhs, rounding_mode="floor")
    if op == B.Complex and lhs.dtype not in (torch.float32, torch.float64):
        lhs, rhs = lhs.double(), rhs.double()
    name = _BINARY_NAMES.get(op)
    if name is None:
        raise NotImplementedError(f"the evaluator does not know {op}")
    if op == B.Nextafter and out_dtype == DataType.Float and lhs.dtype != torch.float32:
        lhs, rhs = lhs.float(), rhs.float()  # the neighbour depends on the real type
    return getattr(torch, name)(lhs, rhs)


# ---- Ternary -------------------------------------------------------------------------------------


def ternary(op: T, a: Value, b: Value, c: Value) -> torch.Tensor:
    """`op` of three operands."""
    import torch

    if op == T.Where:
        b, c = _tensors(b, c) if _any_tensor(b, c) else _numbers_like(b, c, a.device)
        if not hasattr(a, "dtype"):
            b, c = torch.broadcast_tensors(b, c)
            return b if a else c
        if b.dtype == c.dtype == torch.uint64:
            return torch.where(a, b.view(torch.int64), c.view(torch.int64)).view(torch.uint64)
        return torch.where(a, b, c)
    a, b, c = widened(a), widened(b), widened(c)
    if hasattr(a, "dtype") and _is_unsigned(a):
        return _ternary_unsigned(op, *_tensors(a, b, c))
    if op in (T.Clamp, T.Lerp) and _is_bool(*(operands := _tensors(a, b, c))):
        a, b, c = (operand.long() for operand in operands)
    if op == T.Clamp:
        return torch.clamp(a, b, c)
    if op == T.Threshold:
        return torch.where(a <= b, _as_tensor(c, a), a)
    if op == T.Lerp:
        a, b, c = _tensors(a, b, c)
        return a + c * (b - a)
    raise NotImplementedError(f"the evaluator does not know {op}")


def _ternary_unsigned(op: T, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    from ._torch_unsigned import binary

    if op == T.Clamp:
        return binary(B.Min, binary(B.Max, a, b), c)
    if op == T.Threshold:
        return ternary(T.Where, binary(B.LE, a, b), c, a)
    if op == T.Lerp:
        return binary(B.Add, a, binary(B.Mul, c, binary(B.Sub, b, a)))
    raise NotImplementedError(f"the evaluator does not know {op} of UInt64")


def _numbers_like(b: Scalar, c: Scalar, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Two numbers as 0-dim tensors of the widest type of their class."""
    import torch

    if isinstance(b, complex) or isinstance(c, complex):
        dtype = torch.complex128
    elif isinstance(b, float) or isinstance(c, float):
        dtype = torch.float64
    elif isinstance(b, bool) and isinstance(c, bool):
        dtype = torch.bool
    else:
        dtype = torch.uint64 if max(b, c) >= 2**63 else torch.int64
    return (
        torch.tensor(b, dtype=dtype, device=device),
        torch.tensor(c, dtype=dtype, device=device),
    )

"""One element of the result from one element of each operand, with PyTorch or Python numbers.

Operands are tensors or Python numbers in any mix. Integer arithmetic is that of C: division and
``Mod`` truncate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ._core import BinaryOpType as B
from ._core import DataType, UserError
from ._core import TernaryOpType as T
from ._core import UnaryOpType as U

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

Scalar: TypeAlias = Any  # bool, int, float or complex
Value: TypeAlias = Any  # a tensor or a scalar

_BITS = {
    DataType.Char: 8,
    DataType.Byte: 8,
    DataType.Short: 16,
    DataType.UInt16: 16,
    DataType.Int32: 32,
    DataType.UInt32: 32,
    DataType.Int: 64,
    DataType.Index: 64,
    DataType.UInt64: 64,
}
_UNSIGNED = {DataType.Byte, DataType.UInt16, DataType.UInt32, DataType.UInt64}


def scalar_cast(value: Any, dtype: DataType) -> Scalar:
    """A Python number as a scalar of a type; integers wrap to its width."""
    if hasattr(value, "item"):
        value = value.item()
    if dtype == DataType.Bool:
        return bool(value)
    if dtype in _BITS:
        bits = _BITS[dtype]
        number = int(value.real if isinstance(value, complex) else value) & ((1 << bits) - 1)
        if dtype not in _UNSIGNED and number >> (bits - 1):
            number -= 1 << bits
        return number
    if dtype in (DataType.ComplexFloat, DataType.ComplexDouble):
        return complex(value)
    return float(value.real if isinstance(value, complex) else value)


def _is_integer(value: Value) -> bool:
    if hasattr(value, "dtype"):
        return not value.dtype.is_floating_point and not value.dtype.is_complex
    return isinstance(value, int)


def _all_integer(*values: Value) -> bool:
    return all(_is_integer(value) for value in values)


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
    return torch.tensor(value, dtype=dtype, device=like.device)


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

    if op in _IDENTITY_ON_INTEGERS and _is_integer(arg):
        return arg
    if op == U.Frac and _is_integer(arg):
        return torch.zeros_like(arg)
    if op == U.Silu:
        return torch.nn.functional.silu(arg)
    if op == U.Gelu:
        return torch.nn.functional.gelu(arg)
    if op == U.Erfcinv:
        return torch.erfinv(1 - arg)
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


def _unary_scalar(op: U, arg: Scalar) -> Scalar:
    import torch

    if op == U.Neg:
        return -arg
    if op == U.Abs:
        return abs(arg)
    if op == U.LogicalNot:
        return not arg
    if op == U.BitwiseNot:
        return ~arg
    wide = torch.complex128 if isinstance(arg, complex) else torch.float64
    if op in _IDENTITY_ON_INTEGERS and isinstance(arg, int):
        return arg
    return _unary_tensor(op, torch.tensor(arg, dtype=wide)).item()


def unary(op: U, arg: Value, out_dtype: DataType) -> Value:
    """`op` of one operand; the caller converts the result to `out_dtype`."""
    if not hasattr(arg, "dtype"):
        return scalar_cast(arg, out_dtype) if op == U.Cast else _unary_scalar(op, arg)
    if op == U.Cast:
        return _cast(arg, out_dtype)
    if op == U.BitCast:
        from .pytorch_utils import nvfuser_dtype_to_torch_dtype

        return arg.view(nvfuser_dtype_to_torch_dtype(out_dtype))
    return _unary_tensor(op, arg)


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


def _truncated_div(a: int, b: int) -> int:
    if b == 0:
        raise UserError("Integer division by zero detected")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _div_scalar(a: Scalar, b: Scalar) -> Scalar:
    if _all_integer(a, b):
        return _truncated_div(a, b)
    if b == 0:
        if isinstance(a, complex) or isinstance(b, complex):
            return complex(math.nan, math.nan)
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _ceil_div_scalar(a: int, b: int) -> int:
    if b == 0:
        raise UserError("Integer division by zero detected")
    return -((-a) // b)


def _pow_scalar(a: Scalar, b: Scalar) -> Scalar:
    if _all_integer(a, b) and b < 0:
        return int(a**b) if a in (1, -1) else 0
    if isinstance(a, complex) or isinstance(b, complex) or _all_integer(a, b):
        return a**b
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError):
        return math.nan if a < 0 else math.inf


def _truncated_mod(a: int, b: int) -> int:
    return a - b * _truncated_div(a, b)


def _floored_mod(a: int, b: int) -> int:
    if b == 0:
        raise UserError("Integer division by zero detected")
    return a % b


def _as_tensors(name: str, of_integers: Callable[[int, int], int]) -> Callable[[Any, Any], Scalar]:
    """PyTorch's function on two numbers: Python's differ for NaN, infinity and zero."""

    def compute(a: Scalar, b: Scalar) -> Scalar:
        import torch

        if _all_integer(a, b):
            return of_integers(a, b)
        operands = [torch.tensor(x, dtype=torch.float64) for x in (a, b)]
        return cast("Scalar", getattr(torch, name)(*operands).item())

    return compute


_BINARY_SCALAR: dict[B, Callable[[Any, Any], Scalar]] = {
    B.Add: lambda a, b: a + b,
    B.Sub: lambda a, b: a - b,
    B.Mul: lambda a, b: a * b,
    B.Div: _div_scalar,
    B.Mod: _as_tensors("fmod", _truncated_mod),
    B.Fmod: _as_tensors("fmod", _truncated_mod),
    B.Remainder: _as_tensors("remainder", _floored_mod),
    B.Pow: _pow_scalar,
    B.CeilDiv: _ceil_div_scalar,
    B.Max: _as_tensors("maximum", max),
    B.Min: _as_tensors("minimum", min),
    B.FMax: _as_tensors("fmax", max),
    B.FMin: _as_tensors("fmin", min),
    B.Atan2: math.atan2,
    B.Nextafter: math.nextafter,
    B.Gcd: math.gcd,
    B.Lshift: lambda a, b: a << b,
    B.Rshift: lambda a, b: a >> b,
    B.BitwiseAnd: lambda a, b: a & b,
    B.BitwiseOr: lambda a, b: a | b,
    B.BitwiseXor: lambda a, b: a ^ b,
    B.LogicalAnd: lambda a, b: bool(a) and bool(b),
    B.LogicalOr: lambda a, b: bool(a) or bool(b),
    B.Eq: lambda a, b: a == b,
    B.NE: lambda a, b: a != b,
    B.LT: lambda a, b: a < b,
    B.LE: lambda a, b: a <= b,
    B.GT: lambda a, b: a > b,
    B.GE: lambda a, b: a >= b,
    B.Complex: complex,
}

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


def _integer_pow(base: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    """Negative exponents give the truncated reciprocal, as integer division does."""
    import torch

    positive = torch.pow(base, exponent.clamp(min=0))
    odd = exponent % 2 != 0
    reciprocal = torch.where(base == 1, 1, torch.where(base == -1, torch.where(odd, -1, 1), 0))
    return torch.where(exponent < 0, reciprocal.to(positive.dtype), positive)


def binary(op: B, lhs: Value, rhs: Value, out_dtype: DataType) -> Value:
    """`op` of two operands; the caller converts the result to `out_dtype`."""
    if not _any_tensor(lhs, rhs):
        return _BINARY_SCALAR[op](lhs, rhs)
    import torch

    lhs, rhs = _tensors(lhs, rhs)
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


def ternary(op: T, a: Value, b: Value, c: Value) -> Value:
    """`op` of three operands."""
    import torch

    if not _any_tensor(a, b, c):
        if op == T.Where:
            return b if a else c
        if op == T.Clamp:
            return min(max(a, b), c)
        if op == T.Threshold:
            return c if a <= b else a
        if op == T.Lerp:
            return a + c * (b - a)
        raise NotImplementedError(f"the evaluator does not know {op}")
    if op == T.Where:
        if not _any_tensor(b, c):
            return torch.where(a, *_numbers_like(b, c, a.device))
        if not hasattr(a, "dtype"):
            b, c = torch.broadcast_tensors(*_tensors(b, c))
            return b if a else c
        return torch.where(a, *_tensors(b, c))
    if op == T.Clamp:
        return torch.clamp(a, b, c)
    if op == T.Threshold:
        return torch.where(a <= b, _as_tensor(c, a), a)
    if op == T.Lerp:
        a, b, c = _tensors(a, b, c)
        return a + c * (b - a)
    raise NotImplementedError(f"the evaluator does not know {op}")


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

"""Arithmetic on uint64 tensors, for which PyTorch has few operations: on the same bits as int64.

Sums, products and bitwise operations have the same bits for signed and unsigned numbers. With the
highest bit flipped, signed numbers are ordered as the unsigned ones were.
"""

from __future__ import annotations

import torch

from ._core import BinaryOpType as B
from ._core import UnaryOpType as U

_HIGHEST_BIT = -(2**63)

_SIGN_BLIND = {
    B.Add: torch.add,
    B.Sub: torch.sub,
    B.Mul: torch.mul,
    B.BitwiseAnd: torch.bitwise_and,
    B.BitwiseOr: torch.bitwise_or,
    B.BitwiseXor: torch.bitwise_xor,
    B.Lshift: torch.bitwise_left_shift,
    B.Eq: torch.eq,
    B.NE: torch.ne,
}
_ORDERED = {
    B.LT: torch.lt,
    B.LE: torch.le,
    B.GT: torch.gt,
    B.GE: torch.ge,
    B.Max: torch.maximum,
    B.Min: torch.minimum,
    B.FMax: torch.maximum,
    B.FMin: torch.minimum,
}
_TESTS = {
    U.IsFinite: torch.isfinite,
    U.IsInf: torch.isinf,
    U.IsNan: torch.isnan,
    U.IsNegInf: torch.isneginf,
    U.IsPosInf: torch.isposinf,
    U.IsReal: torch.isreal,
}
_IDENTITIES = {U.Abs, U.Relu, U.Ceil, U.Floor, U.Round, U.Trunc, U.Real, U.Print}


def flipped(bits: torch.Tensor) -> torch.Tensor:
    """int64 numbers with the order of the unsigned ones, from the bits of those, and back."""
    return bits ^ _HIGHEST_BIT


def unary(op: U, arg: torch.Tensor) -> torch.Tensor:
    """`op` of one uint64 tensor: what is no conversion to another type of number."""
    bits = arg.view(torch.int64)
    if op in _IDENTITIES:
        return arg
    if op in _TESTS:
        return _TESTS[op](bits)
    if op == U.Signbit:
        return torch.zeros_like(bits, dtype=torch.bool)
    if op == U.Frac:
        bits = torch.zeros_like(bits)
    elif op == U.Neg:
        bits = -bits
    elif op == U.BitwiseNot:
        bits = ~bits
    elif op == U.BitCeil:
        bits = _bit_ceil(bits)
    else:
        raise NotImplementedError(f"the evaluator does not know {op} of UInt64")
    return bits.view(torch.uint64)


def binary(op: B, lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    """`op` of two uint64 tensors."""
    a, b = lhs.view(torch.int64), rhs.view(torch.int64)
    if op in _SIGN_BLIND:
        result = _SIGN_BLIND[op](a, b)
    elif op in _ORDERED:
        result = _ORDERED[op](flipped(a), flipped(b))
        result = flipped(result) if result.dtype == torch.int64 else result
    elif op == B.Div:
        result = _quotient(a, b)
    elif op in (B.Mod, B.Fmod, B.Remainder):
        result = _remainder(a, b)
    elif op == B.CeilDiv:
        result = _quotient(a, b) + (_remainder(a, b) != 0).long()
    elif op == B.Rshift:
        result = _shifted_right(a, b)
    elif op == B.Pow:
        result = _power(a, b)
    elif op == B.Gcd:
        result = _gcd(a, b)
    else:
        raise NotImplementedError(f"the evaluator does not know {op} of UInt64")
    return result.view(torch.uint64) if result.dtype == torch.int64 else result


# ---- On the bits ---------------------------------------------------------------------------------


def _is_less(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return flipped(a) < flipped(b)


def _shifted_right(bits: torch.Tensor, count: torch.Tensor | int) -> torch.Tensor:
    """Filled with zeros; by one first, which leaves a number that has no sign."""
    count = torch.as_tensor(count, device=bits.device)
    return torch.where(count == 0, bits, ((bits >> 1) & (2**63 - 1)) >> (count - 1))


def _quotient(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    # Half of `a` has no sign. Twice its quotient leaves less than twice the divisor.
    quotient = torch.div(_shifted_right(a, 1), b, rounding_mode="trunc") * 2
    quotient += (~_is_less(a - quotient * b, b)).long()
    # A divisor from 2^63 on is in no number more than once.
    return torch.where(b < 0, (~_is_less(a, b)).long(), quotient)


def _remainder(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a - _quotient(a, b) * b


def _power(base: torch.Tensor, exponent: torch.Tensor) -> torch.Tensor:
    base, exponent = torch.broadcast_tensors(base, exponent)
    result = torch.ones_like(base)
    while exponent.any():
        result = torch.where(exponent & 1 != 0, result * base, result)
        base, exponent = base * base, _shifted_right(exponent, 1)
    return result


def _gcd(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a, b = torch.broadcast_tensors(a, b)
    while b.any():
        is_done = b == 0
        rest = _remainder(a, torch.where(is_done, 1, b))
        a, b = torch.where(is_done, a, b), torch.where(is_done, 0, rest)
    return a


def _bit_ceil(bits: torch.Tensor) -> torch.Tensor:
    """All bits below the highest one of x - 1, plus one; 2^64 wraps to 0."""
    ones = torch.where(bits == 0, 0, bits - 1)
    shift = 1
    while shift < 64:
        ones = ones | _shifted_right(ones, shift)
        shift *= 2
    return ones + 1

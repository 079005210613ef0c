"""
Operations. Each appends nodes to the active fusion and returns handles of the results.
"""

from collections.abc import Sequence
from typing import overload

import nvfuser_direct._core


@overload
def abs(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def abs(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Absolute value; the magnitude of a complex number.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def acos(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def acos(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Inverse cosine, in [0, pi].

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def acosh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def acosh(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Inverse hyperbolic cosine.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def asin(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def asin(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Inverse sine, in [-pi/2, pi/2].

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def asinh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def asinh(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Inverse hyperbolic sine.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def atan(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def atan(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Inverse tangent, in [-pi/2, pi/2].

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def atanh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def atanh(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Inverse hyperbolic tangent.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def ceil(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ceil(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Smallest integer that is not less.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def cos(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def cos(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Cosine of an angle in radians.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def cosh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def cosh(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Hyperbolic cosine.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def exp(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def exp(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    e to the power of x.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def exp2(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def exp2(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    2 to the power of x.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def expm1(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def expm1(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    exp(x) - 1, exact for small x.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def erf(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def erf(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Error function.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def erfc(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def erfc(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    1 - erf(x), exact for large x.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def erfinv(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def erfinv(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Inverse of erf.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def erfcinv(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def erfcinv(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Inverse of erfc.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def floor(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def floor(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Largest integer that is not greater.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def frac(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def frac(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    x - trunc(x).

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def lgamma(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lgamma(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Logarithm of the absolute value of the gamma function.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def log(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def log(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Natural logarithm.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def log10(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def log10(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Logarithm to base 10.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def log1p(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def log1p(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    log(1 + x), exact for small x.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def log2(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def log2(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Logarithm to base 2.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def neg(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def neg(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    -x.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def logical_not(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_not(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether x is zero.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def relu(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def relu(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    max(x, 0); NaN stays.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def reciprocal(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def reciprocal(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    1 / x.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def round(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def round(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Nearest integer, ties to even.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def rsqrt(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def rsqrt(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    1 / sqrt(x).

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def sigmoid(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sigmoid(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    1 / (1 + exp(-x)).

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def signbit(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def signbit(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether x is negative, -0.0 included.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def silu(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def silu(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    x * sigmoid(x).

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def sin(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sin(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Sine of an angle in radians.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def sinh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sinh(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Hyperbolic sine.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def sqrt(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sqrt(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Square root.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def tan(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def tan(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Tangent of an angle in radians.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def tanh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def tanh(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Hyperbolic tangent.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def trunc(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def trunc(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    x without its fraction, toward zero.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def isfinite(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def isfinite(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether x is neither infinite nor NaN.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def isinf(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def isinf(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether x is infinite.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def isnan(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def isnan(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether x is NaN.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def isneginf(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def isneginf(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether x is negative infinity.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def isposinf(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def isposinf(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether x is positive infinity.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def isreal(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def isreal(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether the imaginary part of x is zero.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def bitceil(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitceil(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Smallest power of two that is not less.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def print(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def print(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    x; a kernel prints every element it computes.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def bitwise_not(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_not(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    All bits inverted; the logical inverse of a Bool.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def real(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def real(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Real part; a real operand is copied.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def imag(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def imag(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Imaginary part.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def add(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def add(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def add(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def add(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a + b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def sub(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sub(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sub(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sub(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a - b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def mul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def mul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def mul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def mul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a * b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def div(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def div(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def div(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def div(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a / b; integers divide with truncation toward zero.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def truediv(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def truediv(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def truediv(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def truediv(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a / b; integers become Float.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def fmod(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def fmod(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def fmod(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def fmod(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Remainder of a / b with the sign of a.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def remainder(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def remainder(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def remainder(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def remainder(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a - b * floor(a / b): the remainder with the sign of b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def mod(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def mod(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def mod(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def mod(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Remainder of a division that truncates, as % in C.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def pow(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def pow(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def pow(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def pow(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a to the power of b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def atan2(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def atan2(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def atan2(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def atan2(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Angle of the point (b, a), in [-pi, pi].

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def nextafter(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def nextafter(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def nextafter(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def nextafter(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    The neighbour of a in the direction of b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def minimum(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def minimum(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def minimum(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def minimum(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    The smaller one; NaN if either is NaN.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def maximum(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def maximum(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def maximum(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def maximum(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    The greater one; NaN if either is NaN.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def gcd(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def gcd(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def gcd(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def gcd(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Greatest common divisor.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def ceilDiv(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ceilDiv(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ceilDiv(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ceilDiv(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a / b rounded up, for a >= 0 and b > 0.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def eq(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def eq(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def eq(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def eq(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a == b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def ne(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ne(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ne(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ne(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a != b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def lt(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lt(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lt(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lt(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a < b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def le(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def le(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def le(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def le(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a <= b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def gt(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def gt(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def gt(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def gt(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a > b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def ge(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ge(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ge(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def ge(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a >= b.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def logical_and(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_and(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_and(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_and(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether both are nonzero.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def logical_or(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_or(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_or(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_or(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Whether one is nonzero.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def bitwise_left_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_left_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_left_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_left_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a shifted left by b bits.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def bitwise_right_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_right_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_right_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_right_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a shifted right by b bits; the sign is kept.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def bitwise_and(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_and(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_and(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_and(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Bits that are set in both; `logical_and` of two Bools.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def bitwise_or(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_or(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_or(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_or(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Bits that are set in one; `logical_or` of two Bools.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def bitwise_xor(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_xor(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_xor(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def bitwise_xor(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    Bits that are set in exactly one; `ne` of two Bools.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

ceil_div = ceilDiv

@overload
def logical_right_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_right_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_right_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def logical_right_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    `a` shifted right by `n` bits, zeros coming in.

    Parameters
    ----------
    a, n : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def complex(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def complex(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    A complex number from its parts, both of one dtype: both tensors or both scalars.

    Parameters
    ----------
    real, imag : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def add_alpha(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def add_alpha(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def add_alpha(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def add_alpha(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a + s * b; s is a scalar.

    Parameters
    ----------
    a, b, s : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def sub_alpha(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sub_alpha(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sub_alpha(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sub_alpha(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a - s * b; s is a scalar.

    Parameters
    ----------
    a, b, s : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def lerp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lerp(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lerp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lerp(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lerp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lerp(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lerp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def lerp(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    start + weight * (end - start).

    Parameters
    ----------
    start, end, weight : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def where(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def where(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def where(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def where(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def where(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def where(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def where(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def where(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    `a` where `condition` is true, `b` elsewhere. The condition has dtype Bool; a tensor condition makes the result a tensor. Half branches give a half result.

    Parameters
    ----------
    condition, a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def clamp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike | None, arg2: nvfuser_direct._core.ScalarLike | None, /) -> nvfuser_direct._core.TensorView: ...

@overload
def clamp(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike | None, arg2: nvfuser_direct._core.ScalarLike | None, /) -> nvfuser_direct._core.Val:
    """
    `x` limited to [min, max].

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only, as all parameters.
    min, max : scalar Val, number or None
        Bounds; None does not limit.

    Returns
    -------
    TensorView or Val
        In the dtype of `x`.
    """

@overload
def threshold(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def threshold(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    `value` where x <= thresh, `x` elsewhere; `thresh` and `value` are scalars.

    Parameters
    ----------
    x, thresh, value : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def addcmul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def addcmul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def addcmul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def addcmul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def addcmul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def addcmul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def addcmul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def addcmul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    v1 + v2 * (v3 * alpha); alpha is a scalar.

    Parameters
    ----------
    v1, v2, v3, alpha : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def cast(arg: nvfuser_direct._core.TensorView, dtype: nvfuser_direct._core.DataType) -> nvfuser_direct._core.TensorView: ...

@overload
def cast(arg: nvfuser_direct._core.ScalarLike, dtype: nvfuser_direct._core.DataType) -> nvfuser_direct._core.Val:
    """
    Convert to another dtype; a copy if it is the same.

    Parameters
    ----------
    arg : TensorView, scalar Val or number
        Operand. A complex one loses its imaginary part in a real type, with a warning.
    dtype : DataType
        Type of the result.
    """

def bitcast(dtype: nvfuser_direct._core.DataType, x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    The bits of every element read as another type of the same size.

    Parameters
    ----------
    dtype : DataType
        Type of the result.
    x : TensorView
        Operand.
    """

@overload
def set(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def set(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    A copy.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

@overload
def segment_set(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def segment_set(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    A copy that asks for a kernel boundary here.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

def broadcast(arg: nvfuser_direct._core.TensorView, is_broadcast_dim: Sequence[bool]) -> nvfuser_direct._core.TensorView:
    """
    Insert dimensions of size one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    is_broadcast_dim : list[bool]
        Per dimension of the result: whether it is new. The others are those of `arg`, in order.
    """

def broadcast_in_dim(arg: nvfuser_direct._core.TensorView, shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], broadcast_dims: Sequence[int]) -> nvfuser_direct._core.TensorView:
    """
    Place the dimensions of a tensor in a larger shape and expand the others.

    Parameters
    ----------
    arg : TensorView
        Operand.
    shape : list[int or Val]
        Shape of the result.
    broadcast_dims : list[int]
        Position in `shape` of every dimension of `arg`.
    """

def expand(arg: nvfuser_direct._core.TensorView, shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...]) -> nvfuser_direct._core.TensorView:
    """
    Repeat dimensions of size one without copying.

    Parameters
    ----------
    arg : TensorView
        Operand.
    shape : list[int or Val]
        Shape of the result; -1 keeps a dimension. Missing leading dimensions are added.
    """

def expand_as(arg: nvfuser_direct._core.TensorView, other: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    `arg` expanded to the shape of `other`.

    Parameters
    ----------
    arg, other : TensorView
        Operands.
    """

def squeeze(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], squeeze_expanded: bool = False) -> nvfuser_direct._core.TensorView:
    """
    Remove dimensions of size one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to remove; negative values count from the end.
    squeeze_expanded : bool
        Whether an expanded dimension may go, too.
    """

def unsqueeze(arg: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
    """
    Insert one dimension of size one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Its position in the result; negative values count from the end.
    """

@overload
def reshape(arg: nvfuser_direct._core.TensorView, new_shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...]) -> nvfuser_direct._core.TensorView:
    """
    The elements in row-major order under a new shape.

    Parameters
    ----------
    arg : TensorView
        Operand.
    new_shape : list[int or Val]
        Shape of the result; one entry may be -1 and is then inferred.
    """

@overload
def reshape(arg: nvfuser_direct._core.TensorView, original_shape: Sequence[int], new_shape: Sequence[int]) -> nvfuser_direct._core.TensorView:
    """The form of older programs, which repeats the shape of `arg`."""

def flatten(arg: nvfuser_direct._core.TensorView, start_dim: int = 0, end_dim: int = -1) -> nvfuser_direct._core.TensorView:
    """
    Merge neighbouring dimensions.

    Parameters
    ----------
    arg : TensorView
        Operand.
    start_dim, end_dim : int
        First and last dimension, both included; negative values count from the end.
    """

def permute(arg: nvfuser_direct._core.TensorView, dims: Sequence[int]) -> nvfuser_direct._core.TensorView:
    """
    Change the order of the dimensions.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimension of `arg` that stands at each position of the result.
    """

@overload
def transpose(arg: nvfuser_direct._core.TensorView, dim0: int, dim1: int) -> nvfuser_direct._core.TensorView: ...

@overload
def transpose(arg: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    Swap two dimensions; without positions those of a matrix.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim0, dim1 : int
        Dimensions; negative values count from the end.
    """

def stride_order(arg: nvfuser_direct._core.TensorView, stride_order: Sequence[int]) -> nvfuser_direct._core.TensorView:
    """
    A copy with another order in memory.

    Parameters
    ----------
    arg : TensorView
        Operand.
    stride_order : list[int]
        Rank of every dimension's stride, 0 varies fastest.
    """

def size(arg: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.Val:
    """
    Extent of a dimension, the expanded one if it is expanded. Makes no node.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension; negative values count from the end.
    """

def shape(arg: nvfuser_direct._core.TensorView, /) -> list[nvfuser_direct._core.Val]:
    """
    All extents. Makes no node.

    Parameters
    ----------
    arg : TensorView
        Operand; positional only.
    """

@overload
def sum(arg: nvfuser_direct._core.TensorView, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Sum of the elements; integers and Bool are added as Int.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def sum(arg: nvfuser_direct._core.TensorView, dim: int, keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Sum of the elements; integers and Bool are added as Int.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimension with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def sum(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Sum of the elements; integers and Bool are added as Int.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimensions with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def prod(arg: nvfuser_direct._core.TensorView, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Product of the elements; integers and Bool multiply as Int.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def prod(arg: nvfuser_direct._core.TensorView, dim: int, keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Product of the elements; integers and Bool multiply as Int.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimension with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def prod(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Product of the elements; integers and Bool multiply as Int.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimensions with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def max(arg: nvfuser_direct._core.TensorView, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Greatest element; NaN if there is one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def max(arg: nvfuser_direct._core.TensorView, dim: int, keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Greatest element; NaN if there is one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimension with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def max(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Greatest element; NaN if there is one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimensions with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def min(arg: nvfuser_direct._core.TensorView, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Smallest element; NaN if there is one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def min(arg: nvfuser_direct._core.TensorView, dim: int, keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Smallest element; NaN if there is one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimension with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def min(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Smallest element; NaN if there is one.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimensions with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def fmax(arg: nvfuser_direct._core.TensorView, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Greatest element that is not NaN.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def fmax(arg: nvfuser_direct._core.TensorView, dim: int, keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Greatest element that is not NaN.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimension with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def fmax(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Greatest element that is not NaN.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimensions with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def fmin(arg: nvfuser_direct._core.TensorView, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Smallest element that is not NaN.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def fmin(arg: nvfuser_direct._core.TensorView, dim: int, keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Smallest element that is not NaN.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimension with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

@overload
def fmin(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], keepdim: bool = False, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    Smallest element that is not NaN.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimensions with size 1.
    dtype : DataType
        Convert to this type before reducing; Null: the type of the operand, Int for sums and products
        of integers and Bool.

    Returns
    -------
    TensorView
        Reduced dimensions are gone, or have size 1 with `keepdim`.
    """

def mean(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], keepdim: bool = False) -> nvfuser_direct._core.TensorView:
    """
    Sum of the elements over their number.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    keepdim : bool
        Keep the dimensions with size 1.
    """

def var(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], correction: int = 1, keepdim: bool = False) -> nvfuser_direct._core.TensorView:
    """
    Variance: squared deviations from the mean over (number - correction).

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    correction : int
        Subtracted from the number of elements.
    keepdim : bool
        Keep the dimensions with size 1.
    """

def standard_deviation(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], correction: int = 1, keepdim: bool = False) -> nvfuser_direct._core.TensorView:
    """
    Square root of `var`.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    correction : int
        Subtracted from the number of elements.
    keepdim : bool
        Keep the dimensions with size 1.
    """

def var_mean(arg: nvfuser_direct._core.TensorView, dims: Sequence[int], correction: int = 1, keepdim: bool = False) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Variance and mean in one pass over the elements.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.
    correction : int
        Subtracted from the number of elements.
    keepdim : bool
        Keep the dimensions with size 1.

    Returns
    -------
    var, mean : TensorView
    """

def welford(arg: nvfuser_direct._core.TensorView, dims: Sequence[int]) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Mean, sum of squared deviations and count, by one expression.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.

    Returns
    -------
    avg, var_sum, n : TensorView
        `n` has dtype Index.
    """

def full(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], fill_value: nvfuser_direct._core.ScalarLike, dtype: nvfuser_direct._core.DataType) -> nvfuser_direct._core.TensorView:
    """
    A tensor of equal elements.

    Parameters
    ----------
    shape : list[int or Val]
        Its shape.
    fill_value : scalar Val or number
        Every element, converted to `dtype`.
    dtype : DataType
        Type of the elements.
    """

def zeros(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float) -> nvfuser_direct._core.TensorView:
    """As `full` with 0."""

def ones(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float) -> nvfuser_direct._core.TensorView:
    """As `full` with 1."""

def full_like(arg: nvfuser_direct._core.TensorView, fill_value: nvfuser_direct._core.ScalarLike, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    A tensor of equal elements in the shape of another.

    Parameters
    ----------
    arg : TensorView
        Gives the shape.
    fill_value : scalar Val or number
        Every element.
    dtype : DataType
        Type of the elements; Null: that of `arg`.
    """

def zeros_like(arg: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """As `full_like` with 0."""

def ones_like(arg: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """As `full_like` with 1."""

def iota(length: nvfuser_direct._core.ScalarLike, start: nvfuser_direct._core.ScalarLike | None = None, step: nvfuser_direct._core.ScalarLike | None = None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Int) -> nvfuser_direct._core.TensorView:
    """
    start + i * step for i in [0, length).

    Parameters
    ----------
    length : scalar Val or int
        Number of elements.
    start, step : scalar Val, number or None
        First element (None: 0) and difference of neighbours (None: 1), of the class of `dtype`.
    dtype : DataType
        Type of the elements.
    """

def arange(start: nvfuser_direct._core.ScalarLike | None, end: nvfuser_direct._core.ScalarLike, step: nvfuser_direct._core.ScalarLike | None = None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Int) -> nvfuser_direct._core.TensorView:
    """
    start, start + step, ... before `end`.

    Parameters
    ----------
    start, end, step : scalar Val, number or None
        Bounds (start None: 0) and difference of neighbours (None: 1), of the class of `dtype`.
    dtype : DataType
        Type of the elements.
    """

@overload
def sign(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def sign(arg: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    1, 0 or -1, in the dtype of x.

    Parameters
    ----------
    x : TensorView, scalar Val or number
        Positional only.

    Returns
    -------
    TensorView or Val
        A tensor if an operand is one.
    """

def triu(arg: nvfuser_direct._core.TensorView, diagonal: nvfuser_direct._core.ScalarLike = 0) -> nvfuser_direct._core.TensorView:
    """
    The upper triangle of the last two dimensions, zeros below.

    Parameters
    ----------
    arg : TensorView
        Operand [.., M, N].
    diagonal : scalar Val or int
        An element stays where column >= row + diagonal.
    """

def softplus(x: nvfuser_direct._core.TensorView, beta: nvfuser_direct._core.ScalarLike = 1.0, threshold: nvfuser_direct._core.ScalarLike = 20.0) -> nvfuser_direct._core.TensorView:
    """
    log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.

    Parameters
    ----------
    x : TensorView
        Operand.
    beta, threshold : scalar Val or number
        See above.
    """

def gelu(x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """x times the normal distribution function of x, with erf."""

def tanh_gelu(x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """As `gelu`, approximated with tanh."""

def leaky_relu(x: nvfuser_direct._core.TensorView, negative_slope: nvfuser_direct._core.ScalarLike = 0.01) -> nvfuser_direct._core.TensorView:
    """
    x where it is not negative, negative_slope * x elsewhere.

    Parameters
    ----------
    x : TensorView
        Operand.
    negative_slope : scalar Val or number
        See above.
    """

def softmax(x: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
    """
    exp(x) over its sum along a dimension.

    Parameters
    ----------
    x : TensorView
        Operand.
    dim : int
        Dimension; negative values count from the end.
    """

def log_softmax(x: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
    """Logarithm of `softmax`."""

def layer_norm(x: nvfuser_direct._core.TensorView, num_norm_dims: int, weight: nvfuser_direct._core.TensorView | None = None, bias: nvfuser_direct._core.TensorView | None = None, eps: nvfuser_direct._core.ScalarLike = 1e-05) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions.

    Parameters
    ----------
    x : TensorView
        Operand.
    num_norm_dims : int
        How many of the last dimensions are normalized.
    weight, bias : TensorView or None
        Of these dimensions.
    eps : scalar Val or float
        See above.

    Returns
    -------
    output, mean, invstd : TensorView
        In `mean` and `invstd` the normalized dimensions have size 1.
    """

def rms_norm(x: nvfuser_direct._core.TensorView, num_norm_dims: int, weight: nvfuser_direct._core.TensorView | None = None, eps: nvfuser_direct._core.ScalarLike = 1e-05) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    x / sqrt(mean(x * x) + eps) * weight over the last dimensions.

    Parameters
    ----------
    x : TensorView
        Operand.
    num_norm_dims : int
        How many of the last dimensions are normalized.
    weight : TensorView or None
        Of these dimensions.
    eps : scalar Val or float
        See above.

    Returns
    -------
    output, invstd : TensorView
        In `invstd` the normalized dimensions have size 1.
    """

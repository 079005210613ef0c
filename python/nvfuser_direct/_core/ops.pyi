"""
Operations. Each appends nodes to the active fusion and returns handles of the results. One that raises an error appends none.
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
        Whether an expanded dimension may go as well.
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
def reshape(arg: nvfuser_direct._core.TensorView, new_shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], *, steps: Sequence[str] | None = None) -> nvfuser_direct._core.TensorView:
    """
    The elements in row-major order under a new shape.

    Parameters
    ----------
    arg : TensorView
        Operand.
    new_shape : list[int or Val]
        Shape of the result; one entry may be -1 and is then inferred.
    steps : list[str], optional
        The merges and splits, as ``explain_reshape`` has them in ``transforms``, where it takes the
        sizes of a run to find them. `new_shape` has the sizes that they make then. A run is refused in
        which a split has a rest.

    Raises
    ------
    UserError
        If the numbers of elements differ whatever the sizes are, if more than one size is -1, or if
        `steps` do not lead to `new_shape`.
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
    Greatest element that is not NaN; NaN if all are.

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
    Greatest element that is not NaN; NaN if all are.

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
    Greatest element that is not NaN; NaN if all are.

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
    Smallest element that is not NaN; NaN if all are.

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
    Smallest element that is not NaN; NaN if all are.

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
    Smallest element that is not NaN; NaN if all are.

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

def sum_to(arg: nvfuser_direct._core.TensorView, shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...]) -> nvfuser_direct._core.TensorView:
    """
    The sum that undoes a broadcast.

    Parameters
    ----------
    arg : TensorView
        Operand.
    shape : list[int or Val]
        Shape of the result: dimensions before it are summed and removed, dimensions that have size 1
        there are summed and keep size 1.
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
        Operand: Float, Double, or a narrow float with a sign, for which kernels accumulate in Float.
    dims : list[int]
        Dimensions to reduce; negative values count from the end.

    Returns
    -------
    avg, var_sum, n : TensorView
        `n` has dtype Index, the others that of the operand.

    Raises
    ------
    UserError
        If `arg` has another dtype, has no dimensions, or `dims` is empty.
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
def eye(rows: nvfuser_direct._core.ScalarLike, cols: nvfuser_direct._core.ScalarLike | None = None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float) -> nvfuser_direct._core.TensorView: ...

@overload
def eye(rows: nvfuser_direct._core.ScalarLike, dtype: nvfuser_direct._core.DataType) -> nvfuser_direct._core.TensorView:
    """
    A matrix with ones on the diagonal and zeros elsewhere.

    Parameters
    ----------
    rows, cols : scalar Val or int
        Its shape; without `cols` it is square.
    dtype : DataType
        Type of the elements.
    """

def tensor(array: object, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Null) -> nvfuser_direct._core.TensorView:
    """
    A tensor of given elements.

    Parameters
    ----------
    array : nested lists of scalar Vals and numbers
        The elements; a scalar alone makes a 0-dim tensor.
    dtype : DataType
        Type of the elements; Null: the one that holds all of them.

    Raises
    ------
    UserError
        If lists beside each other differ in length, or there is no element.
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

@overload
def floor_divide(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def floor_divide(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

@overload
def floor_divide(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

@overload
def floor_divide(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.Val:
    """
    a / b rounded down; integers stay integers.

    Parameters
    ----------
    a, b : TensorView, scalar Val or number
        Positional only. Tensors are broadcast together.

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

def cumsum(arg: nvfuser_direct._core.TensorView, dim: int, init: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """
    Sum of the elements up to each position.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension along which is combined; negative values count from the end.
    init : scalar Val or number, optional
        Everything is combined with it; nothing if it is not given.

    Returns
    -------
    TensorView
        Shape and dtype of `arg`. The running value of a sum or product of narrow floats is Float; each
        element is rounded once. A dimension of size one is copied.

    Raises
    ------
    UserError
        If `dim` is out of range or an expanded dimension.
    """

def cumprod(arg: nvfuser_direct._core.TensorView, dim: int, init: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """
    Product of the elements up to each position.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension along which is combined; negative values count from the end.
    init : scalar Val or number, optional
        Everything is combined with it; nothing if it is not given.

    Returns
    -------
    TensorView
        Shape and dtype of `arg`. The running value of a sum or product of narrow floats is Float; each
        element is rounded once. A dimension of size one is copied.

    Raises
    ------
    UserError
        If `dim` is out of range or an expanded dimension.
    """

def cummin(arg: nvfuser_direct._core.TensorView, dim: int, init: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """
    Smallest element up to each position.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension along which is combined; negative values count from the end.
    init : scalar Val or number, optional
        Everything is combined with it; nothing if it is not given.

    Returns
    -------
    TensorView
        Shape and dtype of `arg`. The running value of a sum or product of narrow floats is Float; each
        element is rounded once. A dimension of size one is copied.

    Raises
    ------
    UserError
        If `dim` is out of range or an expanded dimension.
    """

def cummax(arg: nvfuser_direct._core.TensorView, dim: int, init: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """
    Greatest element up to each position.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension along which is combined; negative values count from the end.
    init : scalar Val or number, optional
        Everything is combined with it; nothing if it is not given.

    Returns
    -------
    TensorView
        Shape and dtype of `arg`. The running value of a sum or product of narrow floats is Float; each
        element is rounded once. A dimension of size one is copied.

    Raises
    ------
    UserError
        If `dim` is out of range or an expanded dimension.
    """

def scan(arg: nvfuser_direct._core.TensorView, dim: int, op: nvfuser_direct._core.BinaryOpType, init: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """
    out[i] = op(init, arg[0], .., arg[i]) along one dimension.

    Parameters
    ----------
    arg : TensorView
        Operand.
    dim : int
        Dimension along which is combined; negative values count from the end.
    op : BinaryOpType
        Add, Mul, Max, Min, FMax or FMin.
    init : scalar Val or number, optional
        Everything is combined with it; nothing if it is not given.

    Returns
    -------
    TensorView
        As of `cumsum`.
    """

def topk(arg: nvfuser_direct._core.TensorView, k: nvfuser_direct._core.ScalarLike, dim: int = -1, largest: bool = True, sorted: bool = False) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    The largest elements along a dimension, and where they were.

    NaN is greater than every number. Among equal elements any may come.

    Parameters
    ----------
    arg : TensorView
        Operand, not complex.
    k : scalar Val or int
        How many, dtype Int.
    dim : int
        Dimension; negative values count from the end.
    largest : bool
        The largest; if not, the smallest.
    sorted : bool
        In order; if not, the order is not defined.

    Returns
    -------
    values, indices : TensorView
        `k` elements along `dim`; the indices have dtype Int.

    Raises
    ------
    UserError
        If `dim` is out of range, `k` is no Int or more than there are.
    """

def argsort(arg: nvfuser_direct._core.TensorView, dim: int, descending: bool = False, stable: bool = False) -> nvfuser_direct._core.TensorView:
    """
    The positions that bring a tensor into order along a dimension.

    NaN is greater than every number.

    Parameters
    ----------
    arg : TensorView
        Operand, not complex.
    dim : int
        Dimension; negative values count from the end.
    descending : bool
        The largest comes first.
    stable : bool
        Equal elements keep their order.

    Returns
    -------
    TensorView
        Shape of `arg`, dtype Int.
    """

def uniform(minval: nvfuser_direct._core.ScalarLike, maxval: nvfuser_direct._core.ScalarLike, shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], *, rng_seed: nvfuser_direct._core.ScalarLike | None = None, rng_offset: nvfuser_direct._core.ScalarLike | None = None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float) -> nvfuser_direct._core.TensorView:
    """
    Uniformly distributed random numbers.

    Parameters
    ----------
    minval, maxval : scalar Val or number
        Bounds; `maxval` itself does not occur.
    shape : list[int or Val]
        Shape of the result.
    rng_seed, rng_offset : scalar Val or int, optional
        With both, the result is a function of them and of the position in `shape`. Offsets are
        independent of each other. Without, both come from PyTorch's generator of the device at each run.
    dtype : DataType
        Double, Float, Half or BFloat16. 16-bit floats are drawn as Float and rounded.

    Raises
    ------
    UserError
        For another dtype, or one of `rng_seed` and `rng_offset` alone.
    """

def normal(mean: nvfuser_direct._core.ScalarLike, std: nvfuser_direct._core.ScalarLike, shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], *, rng_seed: nvfuser_direct._core.ScalarLike | None = None, rng_offset: nvfuser_direct._core.ScalarLike | None = None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float) -> nvfuser_direct._core.TensorView:
    """
    Normally distributed random numbers.

    Parameters
    ----------
    mean, std : scalar Val or number
        Mean and standard deviation.
    shape : list[int or Val]
        Shape of the result.
    rng_seed, rng_offset : scalar Val or int, optional
        With both, the result is a function of them and of the position in `shape`. Offsets are
        independent of each other. Without, both come from PyTorch's generator of the device at each run.
    dtype : DataType
        Double, Float, Half or BFloat16. 16-bit floats are drawn as Float and rounded.

    Raises
    ------
    UserError
        For another dtype, or one of `rng_seed` and `rng_offset` alone.
    """

def rand(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float, seed: nvfuser_direct._core.ScalarLike | None = None, offset: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """As `uniform` in [0, 1)."""

def randn(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float, seed: nvfuser_direct._core.ScalarLike | None = None, offset: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """As `normal` with mean 0 and standard deviation 1."""

def rand_like(x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    Random numbers in [0, 1), in the shape of another tensor.

    Parameters
    ----------
    x : TensorView
        Gives the shape and the dtype, which must be floating point.

    Returns
    -------
    TensorView
        Seed and offset come from PyTorch's generator of the device at each run.
    """

def randn_like(x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    Random numbers with mean 0 and standard deviation 1, in the shape of another tensor.

    Parameters
    ----------
    x : TensorView
        Gives the shape and the dtype, which must be floating point.

    Returns
    -------
    TensorView
        Seed and offset come from PyTorch's generator of the device at each run.
    """

@overload
def select(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView: ...

@overload
def select(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.ScalarLike, dim: int) -> nvfuser_direct._core.TensorView:
    """
    The slice at one position of a dimension, without that dimension.

    Parameters
    ----------
    arg : TensorView
        Operand [.., N, ..].
    index : Val, int or TensorView
        Position in [0, N), of an integer type, or a float that is cast to Index; a tensor has no
        dimensions. Negative positions are not wrapped.
    dim : int
        Dimension of `arg`; negative values count from the end.

    Returns
    -------
    TensorView
        [.., ..], dtype of `arg`.

    Raises
    ------
    UserError
        For an operand without dimensions.
    """

def index_select(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
    """
    Slices at several positions of a dimension: ``out[.., i, ..] = arg[.., index[i], ..]``.

    Parameters
    ----------
    arg : TensorView
        Where elements are looked up, [.., N, ..].
    index : TensorView
        Positions in [0, N), of an integer type, or floats that are cast to Index: [n], or the rank of
        `arg` with broadcasts beside `dim`, or no dimensions. Negative positions are not wrapped. A kernel takes the nearest element for a
        position out of range; the evaluator raises.
    dim : int
        Dimension of `arg`; negative values count from the end.

    Returns
    -------
    TensorView
        [.., n, ..], dtype of `arg`.

    Raises
    ------
    UserError
        For an operand without dimensions, or positions of another shape.
    """

def gather(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
    """
    Elements at positions of one dimension: ``out[i, j] = arg[index[i, j], j]`` for dim 0.

    Parameters
    ----------
    arg : TensorView
        Where elements are looked up, [.., N, ..].
    index : TensorView
        Positions in [0, N), of an integer type, or floats that are cast to Index. It has the rank of
        `arg`; its other dimensions are at most as large as those of `arg`. Negative positions are not wrapped. A kernel takes the nearest
        element for a position out of range; the evaluator raises.
    dim : int
        Dimension of `arg`; negative values count from the end.

    Returns
    -------
    TensorView
        The shape of `index`, dtype of `arg`.

    Raises
    ------
    UserError
        For different ranks, or a dimension out of range.
    """

def take_along_axis(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
    """
    As `gather`, where all other dimensions agree or are broadcast together.

    Parameters
    ----------
    arg : TensorView
        Where elements are looked up, [.., N, ..].
    index : TensorView
        Positions in [0, N), of an integer type, or floats that are cast to Index; the rank of `arg`.
    dim : int
        Dimension of `arg`; negative values count from the end.

    Returns
    -------
    TensorView
        The extent of `index` in `dim`, the common shape elsewhere; dtype of `arg`.

    Raises
    ------
    UserError
        For different ranks, sizes that do not agree, or a dimension out of range.
    """

@overload
def scatter(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, src: nvfuser_direct._core.TensorView, dim: int, accumulate_op: nvfuser_direct._core.BinaryOpType | None = None) -> nvfuser_direct._core.TensorView: ...

@overload
def scatter(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, src: nvfuser_direct._core.ScalarLike, dim: int, accumulate_op: nvfuser_direct._core.BinaryOpType | None = None) -> nvfuser_direct._core.TensorView:
    """
    A copy in which some elements are written: ``out[index[i, j], j] = src[i, j]`` for dim 0.

    Parameters
    ----------
    arg : TensorView
        Elements that `index` leaves alone, [.., N, ..].
    index : TensorView
        Positions in [0, N), of an integer type, or floats that are cast to Index. It has the rank of
        `arg`; its other dimensions are at most as large as those of `arg`. Negative positions are not wrapped. A kernel writes nothing for a
        position out of range; the evaluator raises.
    src : TensorView, Val or number
        What is written, converted to the dtype of `arg`: a tensor of that rank whose dimensions are at
        least those of `index`, or a scalar.
    dim : int
        Dimension of `arg`; negative values count from the end.
    accumulate_op : BinaryOpType, optional
        Combine elements with what was there: ``Add``, ``Mul``, ``Max`` or ``Min``. Evaluated; it has no
        kernel form. Without, the winner among several writers of one element is not defined.

    Returns
    -------
    TensorView
        Shape and dtype of `arg`.

    Raises
    ------
    UserError
        For different ranks, or a dimension out of range.
    """

def index_put_accumulate(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, value: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    A copy with rows added: ``out[index[i], ..] += value[i, ..]``.

    Evaluated; it has no kernel form.

    Parameters
    ----------
    arg : TensorView
        What is added to, [rows, ..].
    index : TensorView
        Row numbers in [0, rows), of an integer type, or floats that are cast to Index: [n] or [n, 1].
    value : TensorView
        Addends, [n, ..].

    Returns
    -------
    TensorView
        Shape and dtype of `arg`.

    Raises
    ------
    UserError
        For other ranks.
    """

def indexPutAccumulate(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, value: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    A copy with rows added: ``out[index[i], ..] += value[i, ..]``.

    Evaluated; it has no kernel form.

    Parameters
    ----------
    arg : TensorView
        What is added to, [rows, ..].
    index : TensorView
        Row numbers in [0, rows), of an integer type, or floats that are cast to Index: [n] or [n, 1].
    value : TensorView
        Addends, [n, ..].

    Returns
    -------
    TensorView
        Shape and dtype of `arg`.

    Raises
    ------
    UserError
        For other ranks.
    """

def embedding_fwd(input: nvfuser_direct._core.TensorView, weight: nvfuser_direct._core.TensorView, padding_idx: nvfuser_direct._core.ScalarLike | None = None, max_norm: nvfuser_direct._core.ScalarLike | None = None, norm_type: nvfuser_direct._core.ScalarLike | None = None, scale_grad_by_freq: nvfuser_direct._core.ScalarLike | None = None, sparse: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """
    Rows of a table: ``out[.., :] = weight[input[..], :]``.

    Evaluated; it has no kernel form. See ``torch.nn.functional.embedding`` for the options.

    Parameters
    ----------
    input : TensorView
        Row numbers, of an integer type, or floats that are cast to Index; at least one dimension.
    weight : TensorView
        The table, [rows, columns].
    padding_idx : Val or int, optional
        Row that gets no gradient.
    max_norm : Val or float, optional
        Rows of a larger norm are scaled down to it, in `weight` too.
    norm_type : Val or float, optional
        The p of that norm; 2.
    scale_grad_by_freq, sparse : Val or bool, optional
        For the backward pass; False.

    Returns
    -------
    TensorView
        [.., columns], dtype of `weight`.

    Raises
    ------
    UserError
        ``Expected input to be atleast 1D``, ``Expected weight to be 2D``.
    """

def slice(arg: nvfuser_direct._core.TensorView, start_indices: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], end_indices: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], strides: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...] | None = None, manual_normalization: bool = False, clip_ends: bool = True) -> nvfuser_direct._core.TensorView:
    """
    The elements with start <= position < end in each dimension.

    Parameters
    ----------
    arg : TensorView
        Operand of rank n.
    start_indices, end_indices : list[int or Val]
        n positions each. Scalars that turn out negative count from the end, and all are clipped to
        [0, extent]; constants are not negative.
    strides : list[int or Val], optional
        n times 1.
    manual_normalization : bool
        Whether the positions are in order already: nothing counts from the end, and nothing is clipped
        but an end whose start is 0.
    clip_ends : bool
        With manual_normalization: whether an end whose start is 0 is clipped. If not, a run is refused
        where the end is behind the operand, and the first element alone is a broadcast.

    Returns
    -------
    TensorView
        A copy if it is the whole operand. A dimension of extent 1 is a broadcast if that is provable.

    Raises
    ------
    UserError
        If the lists have other lengths than n, a constant start is negative or behind its end, a
        stride is not 1, or ends are not clipped without manual_normalization.
    """

def chunk(arg: nvfuser_direct._core.TensorView, chunks: int, dim: int = 0) -> list[nvfuser_direct._core.TensorView]:
    """
    Split a tensor in parts of equal extent.

    Parameters
    ----------
    arg : TensorView
        Operand; its extent along `dim` is a constant.
    chunks : int
        Number of parts, at most: each has ceil(extent / chunks) elements along `dim`, the last one
        what remains.
    dim : int
        Dimension; negative values count from the end.

    Returns
    -------
    list[TensorView]
        The parts in order.
    """

def pad(arg: nvfuser_direct._core.TensorView, pad_widths: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], value: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
    """
    Surround a tensor by a value.

    Parameters
    ----------
    arg : TensorView
        Operand of rank n.
    pad_widths : list[int or Val]
        Elements added before and behind each dimension, (left, right) pairs, the innermost dimension
        first; at most 2n. A negative width cuts off.
    value : scalar Val or number, optional
        The element outside of `arg`, of the same class of numbers; zero by default.

    Returns
    -------
    TensorView
        A copy if all widths are constants 0.

    Raises
    ------
    UserError
        If there are more than 2n widths or an odd number of them, or `value` is of another class.
    """

def cat(tensors: Sequence[nvfuser_direct._core.TensorView], dim: int = 0, manual_padding: bool = False) -> nvfuser_direct._core.TensorView:
    """
    Put tensors behind each other.

    Parameters
    ----------
    tensors : list[TensorView]
        Tensors of one dtype and rank, and of equal extents but along `dim`.
    dim : int
        Dimension along which they lie; negative values count from the end.
    manual_padding : bool
        Whether each is the result of a `pad` to the full extent already.

    Returns
    -------
    TensorView
        Its extent along `dim` is the sum of theirs. A copy of the one tensor if there is only one, or
        the others are provably empty.

    Raises
    ------
    UserError
        If there is no tensor, dtypes or ranks differ, or `dim` is out of range.
    """

def repeat(arg: nvfuser_direct._core.TensorView, repeats: Sequence[int]) -> nvfuser_direct._core.TensorView:
    """
    Repeat a tensor along its dimensions.

    Parameters
    ----------
    arg : TensorView
        Operand of rank n.
    repeats : list[int]
        n numbers, at least 1: the extent of dimension i becomes repeats[i] times as large.
    """

def view_as_real(arg: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    Complex elements as pairs.

    Parameters
    ----------
    arg : TensorView
        Complex operand.

    Returns
    -------
    TensorView
        Real and imaginary part along a new last dimension of extent 2.
    """

def dropout(x: nvfuser_direct._core.TensorView, p: nvfuser_direct._core.ScalarLike) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Set elements to zero with probability p, and multiply the others by 1 / (1 - p).

    Parameters
    ----------
    x : TensorView
        Operand.
    p : scalar Val or float
        Probability, in [0, 1].

    Returns
    -------
    output, mask : TensorView
        `mask` is Bool: elements that are kept. Seed and offset come from the framework's generator.
    """

def dropout_backward(dy: nvfuser_direct._core.TensorView, mask: nvfuser_direct._core.TensorView, scale: nvfuser_direct._core.ScalarLike) -> nvfuser_direct._core.TensorView:
    """
    Gradient of `dropout`: dy * mask * scale.

    Parameters
    ----------
    dy : TensorView
        Gradient of the output.
    mask : TensorView
        Of the forward pass.
    scale : scalar Val or float
        1 / (1 - p).
    """

def lstm(previous_cell: nvfuser_direct._core.TensorView, in_x: nvfuser_direct._core.TensorView, forget_x: nvfuser_direct._core.TensorView, cell_x: nvfuser_direct._core.TensorView, out_x: nvfuser_direct._core.TensorView) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    One step of a long short-term memory (Hochreiter and Schmidhuber 1997).

    Parameters
    ----------
    previous_cell : TensorView
        State before the step.
    in_x, forget_x, cell_x, out_x : TensorView
        What goes into the gates, in the shape of the state.

    Returns
    -------
    cell, hidden : TensorView
        State after the step, and its output.
    """

def batch_norm(x: nvfuser_direct._core.TensorView, weight: nvfuser_direct._core.TensorView | None = None, bias: nvfuser_direct._core.TensorView | None = None, running_mean: nvfuser_direct._core.TensorView | None = None, running_var: nvfuser_direct._core.TensorView | None = None, training: bool = True, momentum: nvfuser_direct._core.ScalarLike = 0.1, eps: nvfuser_direct._core.ScalarLike = 1e-05, channels_last: bool = False) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    (x - mean) / sqrt(var + eps) * weight + bias, with statistics of each channel.

    Parameters
    ----------
    x : TensorView
        [N, C, ..], with `channels_last` [N, .., C].
    weight, bias : TensorView or None
        [C].
    running_mean, running_var : TensorView or None
        [C], inputs of the fusion. With statistics of the input they are updated in place:
        (1 - momentum) * old + momentum * new, the variance without bias.
    training : bool
        Whether statistics are those of the input; otherwise the running ones.
    momentum : scalar Val or float
        See above.
    eps : scalar Val or float
        Added to the variance.
    channels_last : bool
        Where the channels are.

    Returns
    -------
    output, mean, invstd : TensorView
        The last two are None without statistics of the input.
    """

def instance_norm(x: nvfuser_direct._core.TensorView, weight: nvfuser_direct._core.TensorView | None = None, bias: nvfuser_direct._core.TensorView | None = None, running_mean: nvfuser_direct._core.TensorView | None = None, running_var: nvfuser_direct._core.TensorView | None = None, training: bool = True, momentum: nvfuser_direct._core.ScalarLike = 0.1, eps: nvfuser_direct._core.ScalarLike = 1e-05, channels_last: bool = False) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    `batch_norm` with statistics of each channel of each instance; mean and invstd are [N, C].

    Parameters
    ----------
    x : TensorView
        [N, C, ..], with `channels_last` [N, .., C].
    weight, bias : TensorView or None
        [C].
    running_mean, running_var : TensorView or None
        [C], inputs of the fusion. With statistics of the input they are updated in place:
        (1 - momentum) * old + momentum * new, the variance without bias.
    training : bool
        Whether statistics are those of the input; otherwise the running ones.
    momentum : scalar Val or float
        See above.
    eps : scalar Val or float
        Added to the variance.
    channels_last : bool
        Where the channels are.

    Returns
    -------
    output, mean, invstd : TensorView
        The last two are None without statistics of the input.
    """

def batch_norm_backward(dy: nvfuser_direct._core.TensorView, x: nvfuser_direct._core.TensorView, weight: nvfuser_direct._core.TensorView | None, mean: nvfuser_direct._core.TensorView, invstd: nvfuser_direct._core.TensorView, training: bool = True, channels_last: bool = False) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Gradients of `batch_norm`.

    Parameters
    ----------
    dy : TensorView
        Gradient of the output, in the shape of x.
    x : TensorView
        Operand of the forward pass.
    weight : TensorView or None
        [C].
    mean, invstd : TensorView
        Statistics that the forward pass used.
    training : bool
        Whether they are those of the input.
    channels_last : bool
        Where the channels are.

    Returns
    -------
    grad_input, grad_weight, grad_bias : TensorView
        The shape of x, [C] (None without weight) and [C].
    """

def instance_norm_backward(dy: nvfuser_direct._core.TensorView, x: nvfuser_direct._core.TensorView, weight: nvfuser_direct._core.TensorView | None, mean: nvfuser_direct._core.TensorView, invstd: nvfuser_direct._core.TensorView, training: bool = True, channels_last: bool = False) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Gradients of `instance_norm`.

    Parameters
    ----------
    dy : TensorView
        Gradient of the output, in the shape of x.
    x : TensorView
        Operand of the forward pass.
    weight : TensorView or None
        [C].
    mean, invstd : TensorView
        Statistics that the forward pass used.
    training : bool
        Whether they are those of the input.
    channels_last : bool
        Where the channels are.

    Returns
    -------
    grad_input, grad_weight, grad_bias : TensorView
        The shape of x, [C] (None without weight) and [C].
    """

def layer_norm_backward(dy: nvfuser_direct._core.TensorView, x: nvfuser_direct._core.TensorView, num_norm_dims: int, mean: nvfuser_direct._core.TensorView, invstd: nvfuser_direct._core.TensorView, weight: nvfuser_direct._core.TensorView | None = None, has_bias: bool = True) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Gradients of `layer_norm`.

    Parameters
    ----------
    dy : TensorView
        Gradient of the output, in the shape of x.
    x : TensorView
        Operand of the forward pass.
    num_norm_dims : int
        How many of the last dimensions were normalized.
    mean, invstd : TensorView
        Of the forward pass; the normalized dimensions have size 1.
    weight : TensorView or None
        Of the normalized dimensions.
    has_bias : bool
        Whether there was a bias.

    Returns
    -------
    grad_input, grad_weight, grad_bias : TensorView
        None for a parameter that is not there.
    """

def rms_norm_backward(dy: nvfuser_direct._core.TensorView, x: nvfuser_direct._core.TensorView, num_norm_dims: int, invstd: nvfuser_direct._core.TensorView, weight: nvfuser_direct._core.TensorView | None = None) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Gradients of `rms_norm`.

    Parameters
    ----------
    dy : TensorView
        Gradient of the output, in the shape of x.
    x : TensorView
        Operand of the forward pass.
    num_norm_dims : int
        How many of the last dimensions were normalized.
    invstd : TensorView
        Of the forward pass; the normalized dimensions have size 1.
    weight : TensorView or None
        Of the normalized dimensions.

    Returns
    -------
    grad_input, grad_weight : TensorView
        The latter None without weight.
    """

def gelu_backward(dy: nvfuser_direct._core.TensorView, x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """Gradient of `gelu` at x, times dy, the gradient of its result."""

def tanh_gelu_backward(dy: nvfuser_direct._core.TensorView, x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """Gradient of `tanh_gelu` at x, times dy, the gradient of its result."""

def tanh_backward(dy: nvfuser_direct._core.TensorView, tanh_x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """dy * (1 - tanh_x * tanh_x): gradient of `tanh` from its result."""

def softmax_backward(dy: nvfuser_direct._core.TensorView, y: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
    """
    Gradient of `softmax` along `dim` from its result y and the gradient dy of y.
    """

def log_softmax_backward(dy: nvfuser_direct._core.TensorView, y: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
    """
    Gradient of `log_softmax` along `dim` from its result y and the gradient dy of y.
    """

def matmul(arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    Product of matrices, as `torch.matmul`.

    Parameters
    ----------
    arg1 : TensorView
        [.., M, K] or [K].
    arg2 : TensorView
        [.., K, N] or [K], of the same dtype. Leading dimensions are broadcast together.

    Returns
    -------
    TensorView
        [.., M, N] in the dtype of the operands; vectors' dimensions are left out.
    """

def linear(arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, bias: nvfuser_direct._core.TensorView | None = None) -> nvfuser_direct._core.TensorView:
    """
    arg1 times the transpose of arg2, plus bias, as `torch.nn.functional.linear`.

    Parameters
    ----------
    arg1 : TensorView
        [*_i, K].
    arg2 : TensorView
        [*_w, N, K]; *_w is for dimensions of devices.
    bias : TensorView, optional
        [*_w, N].

    Returns
    -------
    TensorView
        [*_w, *_i, N].
    """

def fused_multiply_sum(a: nvfuser_direct._core.TensorView, b: nvfuser_direct._core.TensorView, dims: Sequence[int]) -> nvfuser_direct._core.TensorView:
    """
    sum(a * b) as one expression, for tensor cores; summed in Float if a is of lower precision.

    Parameters
    ----------
    a, b : TensorView
        Factors of one rank, and of one dtype or both of fp8.
    dims : list[int]
        Dimensions that are summed; negative values count from the end.
    """

def fusedMultiplySum(a: nvfuser_direct._core.TensorView, b: nvfuser_direct._core.TensorView, dims: Sequence[int]) -> nvfuser_direct._core.TensorView:
    """
    sum(a * b) as one expression, for tensor cores; summed in Float if a is of lower precision.

    Parameters
    ----------
    a, b : TensorView
        Factors of one rank, and of one dtype or both of fp8.
    dims : list[int]
        Dimensions that are summed; negative values count from the end.
    """

@overload
def grouped_mm(mat1: nvfuser_direct._core.TensorView, mat2: nvfuser_direct._core.TensorView, offsets: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    A product for each group.

    Parameters
    ----------
    mat1, mat2 : TensorView
        Of ranks 2 and 2: groups divide K and the result is [g, m, n]; 3 and 2: they divide the columns
        of [m, n]; 2 and 3: they divide its rows.
    offsets : TensorView
        [g], integers: where each group ends.

    Returns
    -------
    TensorView
        In the dtype of mat1.
    """

@overload
def grouped_mm(mat1: nvfuser_direct._core.TensorView, mat2: nvfuser_direct._core.TensorView, offsets: nvfuser_direct._core.TensorView, scale1: nvfuser_direct._core.TensorView | None, scale2: nvfuser_direct._core.TensorView | None, alpha: nvfuser_direct._core.TensorView | None = None, bias: nvfuser_direct._core.TensorView | None = None, beta: nvfuser_direct._core.TensorView | None = None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.BFloat16, output_block_scale_size: int = 0, output_block_scale_dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.BFloat16, output_gamma: bool = False) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    A product for each group, of scaled factors.

    Parameters
    ----------
    mat1, mat2, offsets : TensorView
        As in the short form.
    scale1, scale2 : TensorView
        Scales of the factors, of the rank of the factor or of the result, whichever is larger; both or
        None.
    alpha : TensorView, optional
        Factor of the product.
    bias, beta : TensorView, optional
        Addend and its factor.
    dtype : DataType
        Type of the result.
    output_block_scale_size : int
        Elements that share a scale of the result; 0: no such scales.
    output_block_scale_dtype : DataType
        Type of these scales.
    output_gamma : bool
        Whether a scale of the whole result is made as well.

    Returns
    -------
    out, block_scale, gamma : TensorView
        The last two are None unless asked for.
    """

def scaled_mm(mat1: nvfuser_direct._core.TensorView, mat2: nvfuser_direct._core.TensorView, scale1: nvfuser_direct._core.TensorView, scale2: nvfuser_direct._core.TensorView, alpha: nvfuser_direct._core.TensorView | None = None, bias: nvfuser_direct._core.TensorView | None = None, beta: nvfuser_direct._core.TensorView | None = None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.BFloat16, output_block_scale_size: int = 0, output_block_scale_dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.BFloat16, output_gamma: bool = False) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Product of quantized matrices with scales.

    Parameters
    ----------
    mat1 : TensorView
        [m, k].
    mat2 : TensorView
        [k, n].
    scale1, scale2 : TensorView
        Of dtype Float: one for the matrix, each row (column), or each block along k, row-major. If of
        an fp8 dtype: one for each block along k, in tiles of 128 x 4.
    alpha : TensorView, optional
        Factor of the product.
    bias, beta : TensorView, optional
        Addend and its factor.
    dtype : DataType
        Type of the result.
    output_block_scale_size : int
        Elements that share a scale of the result; 0: no such scales.
    output_block_scale_dtype : DataType
        Type of these scales.
    output_gamma : bool
        Whether a scale of the whole result is made as well.

    Returns
    -------
    out, block_scale, gamma : TensorView
        The last two are None unless asked for.
    """

def cutlass_nvfp4_grouped_mm(mat1: nvfuser_direct._core.TensorView | None, mat2: nvfuser_direct._core.TensorView | None, scale1: nvfuser_direct._core.TensorView | None, scale2: nvfuser_direct._core.TensorView | None, alpha: nvfuser_direct._core.TensorView | None, problem_sizes: nvfuser_direct._core.TensorView | None, expert_offsets: nvfuser_direct._core.TensorView | None, sf_offsets: nvfuser_direct._core.TensorView | None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.BFloat16) -> nvfuser_direct._core.TensorView:
    """
    A product of fp4 factors for each group (the experts of a mixture).

    Parameters
    ----------
    mat1 : TensorView
        [m, k], rows of all groups.
    mat2 : TensorView
        [g, k, n].
    scale1, scale2 : TensorView
        e4m3 scales for blocks of 16 along k, in tiles of 128 x 4: [rows, k / 16] and [g, n, k / 16].
    alpha : TensorView
        [g]: factor of each product.
    problem_sizes : TensorView
        [g, 3]: m, n, k of each group.
    expert_offsets, sf_offsets : TensorView
        [g]: first row of each group in mat1, and of its scales in scale1.
    dtype : DataType
        Type of the result.

    Returns
    -------
    TensorView
        [m, n].
    """

def sdpfa_fwd(query: nvfuser_direct._core.TensorView, key: nvfuser_direct._core.TensorView, value: nvfuser_direct._core.TensorView, bias: nvfuser_direct._core.TensorView | None = None, mask: nvfuser_direct._core.TensorView | None = None, dropout_p: nvfuser_direct._core.ScalarLike | None = None, is_causal: nvfuser_direct._core.ScalarLike | None = None, scale: nvfuser_direct._core.ScalarLike | None = None) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Scaled dot product attention: softmax(query key^T * scale + bias) value.

    Parameters
    ----------
    query, key, value : TensorView
        [N.., H, L, E], [N.., H, S, E] and [N.., H, S, Ev] of one dtype.
    bias : TensorView, optional
        Added to the products; broadcast to [N.., H, L, S].
    mask : TensorView, optional
        Bool, broadcast to [N.., H, L, S]: where it is False a product has no part.
    dropout_p : scalar, optional
        Probability that a weight is dropped; 0 by default.
    is_causal : scalar, optional
        Whether row i sees columns up to i only; False by default.
    scale : scalar, optional
        1 / sqrt(E) by default.

    Returns
    -------
    output, logsumexp, philox_seed, philox_offset : TensorView
        [N.., H, L, Ev] in the dtype of query; [N.., H, L] in Float; [2] and [] in UInt64.
    """

def sdpfa_bwd(grad_output: nvfuser_direct._core.TensorView, query: nvfuser_direct._core.TensorView, key: nvfuser_direct._core.TensorView, value: nvfuser_direct._core.TensorView, output: nvfuser_direct._core.TensorView, logsumexp: nvfuser_direct._core.TensorView, dropout_p: nvfuser_direct._core.ScalarLike | None, is_causal: nvfuser_direct._core.ScalarLike | None, philox_seed: nvfuser_direct._core.TensorView, philox_offset: nvfuser_direct._core.TensorView, scale: nvfuser_direct._core.ScalarLike | None) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Gradients of `sdpfa_fwd`.

    Parameters
    ----------
    grad_output : TensorView
        Gradient of `output`.
    query, key, value, output, logsumexp, philox_seed, philox_offset : TensorView
        Operands and results of the forward pass, of 4 or 5 dimensions.
    dropout_p, is_causal, scale : scalar or None
        As in the forward pass.

    Returns
    -------
    grad_query, grad_key, grad_value : TensorView
        In the shapes and the dtype of query, key and value.
    """

def nv_block_quantize(input: nvfuser_direct._core.TensorView, global_scale: nvfuser_direct._core.TensorView | None = None, swizzle_block_scales: bool = False, block_size: int = 16, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float4_e2m1fn) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    Quantize blocks of the innermost dimension with a scale each.

    NVFP4: Float4_e2m1fn in blocks of 16 with Float8_e4m3fn scales. MXFP8 (OCP Microscaling Formats 1.0):
    Float8_e4m3fn in blocks of 32 with Float8_e8m0fnu scales.

    Parameters
    ----------
    input : TensorView
        Float, Half or BFloat16; at least one dimension, the innermost a multiple of block_size.
    global_scale : TensorView, optional
        Float of no dimensions; for Float4_e2m1fn only. Block scales are multiplied with it.
    swizzle_block_scales : bool
        Whether scales lie in tiles of 128 x 4; for Float4_e2m1fn only.
    block_size : int
        16 for Float4_e2m1fn, 32 for Float8_e4m3fn.
    dtype : DataType
        Float4_e2m1fn or Float8_e4m3fn.

    Returns
    -------
    quantized, block_scales : TensorView
        The shape of input; the innermost extent divided by block_size.
    """

def nv_grouped_block_quantize(input: nvfuser_direct._core.TensorView, input_offsets: nvfuser_direct._core.TensorView, output_offsets: nvfuser_direct._core.TensorView, global_scale: nvfuser_direct._core.TensorView | None = None, block_size: int = 16, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float4_e2m1fn) -> tuple[nvfuser_direct._core.TensorView, nvfuser_direct._core.TensorView]:
    """
    As `nv_block_quantize` for groups of rows; the scales of each group lie padded to 128 rows and
    in tiles of 128 x 4.

    Parameters
    ----------
    input : TensorView
        [rows, columns].
    input_offsets, output_offsets : TensorView
        [g], integers: first row of each group in `input`, and of its scales.
    global_scale, block_size, dtype
        As there.

    Returns
    -------
    quantized, block_scales : TensorView
    """

def preprocess_grouped_matmul_input_sf(input: nvfuser_direct._core.TensorView, input_offsets: nvfuser_direct._core.TensorView, output_offsets: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
    """
    Scales of groups of rows in the layout that grouped products read: padded to 128 rows, in tiles
    of 128 x 4.

    Parameters
    ----------
    input : TensorView
        [rows, columns].
    input_offsets, output_offsets : TensorView
        [g], integers: first row of each group in `input` and in the result.

    Returns
    -------
    TensorView
        The shape of input; its storage has 127 more rows for each group and columns rounded up to 4.
    """

def wait_for_prior_grid(inputs: Sequence[nvfuser_direct._core.TensorView]) -> nvfuser_direct._core.TensorView:
    """
    Let the kernel begin while the grid before it in the stream still runs, and wait for it.

    The kernel waits before it touches global memory, but for loads that the older tensors are computed
    from. On GPUs before compute capability 9.0, and on the CPU target, grids run one after the other.

    Parameters
    ----------
    inputs : list[TensorView]
        First the tensor that is copied, which the prior grid may have written. Then tensors that are
        older than that grid, by what the caller knows: they may be loaded before the wait.

    Returns
    -------
    TensorView
        A copy of the first tensor.

    Raises
    ------
    UserError
        If the list is empty.
    """

def launch_dependent_grid(inputs: Sequence[nvfuser_direct._core.TensorView]) -> nvfuser_direct._core.TensorView:
    """
    Let a grid that waits for this one begin when all blocks have come here.

    That grid still sees all that this kernel writes, also later, since it waits for the kernel's end.

    Parameters
    ----------
    inputs : list[TensorView]
        First the tensor that is copied; all are computed, and the copy as well, before the signal.

    Returns
    -------
    TensorView
        A copy of the first tensor.

    Raises
    ------
    UserError
        If the list is empty.
    """

"""Modules of the extension, as what an attribute of an object can be."""

from collections.abc import Sequence
from typing import overload
import nvfuser_direct._core
from collections.abc import Iterable, Mapping, Sequence, Set


class OpsModule:
    """Operations. Each appends nodes to the active fusion and returns handles of the results. One that raises an error appends none."""

    @overload
    @staticmethod
    def abs(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def acos(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def acosh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def asin(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def asinh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def atan(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def atanh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def ceil(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def cos(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def cosh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def exp(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def exp2(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def expm1(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def erf(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def erfc(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def erfinv(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def erfcinv(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def floor(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def frac(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def lgamma(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def log(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def log10(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def log1p(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def log2(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def neg(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def logical_not(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def relu(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def reciprocal(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def round(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def rsqrt(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def sigmoid(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def signbit(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def silu(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def sin(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def sinh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def sqrt(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def tan(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def tanh(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def trunc(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def isfinite(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def isinf(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def isnan(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def isneginf(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def isposinf(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def isreal(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def bitceil(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def print(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def bitwise_not(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def real(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def imag(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def add(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def add(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def add(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def sub(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def sub(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def sub(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def mul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def mul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def mul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def div(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def div(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def div(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def truediv(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def truediv(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def truediv(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def fmod(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def fmod(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def fmod(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def remainder(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def remainder(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def remainder(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def mod(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def mod(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def mod(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def pow(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def pow(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def pow(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def atan2(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def atan2(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def atan2(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def nextafter(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def nextafter(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def nextafter(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def minimum(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def minimum(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def minimum(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def maximum(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def maximum(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def maximum(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def gcd(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def gcd(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def gcd(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def ceilDiv(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def ceilDiv(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def ceilDiv(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def eq(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def eq(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def eq(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def ne(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def ne(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def ne(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def lt(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def lt(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def lt(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def le(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def le(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def le(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def gt(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def gt(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def gt(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def ge(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def ge(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def ge(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def logical_and(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def logical_and(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def logical_and(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def logical_or(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def logical_or(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def logical_or(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def bitwise_left_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_left_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_left_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def bitwise_right_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_right_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_right_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def bitwise_and(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_and(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_and(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def bitwise_or(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_or(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_or(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def bitwise_xor(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_xor(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def bitwise_xor(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def logical_right_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def logical_right_shift(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def logical_right_shift(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def complex(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def add_alpha(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def add_alpha(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def add_alpha(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def sub_alpha(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def sub_alpha(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def sub_alpha(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def lerp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def lerp(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def lerp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def lerp(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def lerp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def lerp(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def lerp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def where(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def where(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def where(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def where(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def where(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def where(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def where(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def clamp(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike | None, arg2: nvfuser_direct._core.ScalarLike | None, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def threshold(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def addcmul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def addcmul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.TensorView, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def addcmul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def addcmul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.TensorView, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def addcmul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def addcmul(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, arg2: nvfuser_direct._core.ScalarLike, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def addcmul(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, arg2: nvfuser_direct._core.ScalarLike, arg3: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def cast(arg: nvfuser_direct._core.TensorView, dtype: nvfuser_direct._core.DataType) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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

    @staticmethod
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
    @staticmethod
    def set(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def segment_set(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
    def expand_as(arg: nvfuser_direct._core.TensorView, other: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
        """
        `arg` expanded to the shape of `other`.

        Parameters
        ----------
        arg, other : TensorView
            Operands.
        """

    @staticmethod
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

    @staticmethod
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
    @staticmethod
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
    @staticmethod
    def reshape(arg: nvfuser_direct._core.TensorView, original_shape: Sequence[int], new_shape: Sequence[int]) -> nvfuser_direct._core.TensorView:
        """The form of older programs, which repeats the shape of `arg`."""

    @staticmethod
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

    @staticmethod
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
    @staticmethod
    def transpose(arg: nvfuser_direct._core.TensorView, dim0: int, dim1: int) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
    def shape(arg: nvfuser_direct._core.TensorView, /) -> list[nvfuser_direct._core.Val]:
        """
        All extents. Makes no node.

        Parameters
        ----------
        arg : TensorView
            Operand; positional only.
        """

    @overload
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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
    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
    def zeros(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float) -> nvfuser_direct._core.TensorView:
        """As `full` with 0."""

    @staticmethod
    def ones(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float) -> nvfuser_direct._core.TensorView:
        """As `full` with 1."""

    @staticmethod
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

    @staticmethod
    def zeros_like(arg: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
        """As `full_like` with 0."""

    @staticmethod
    def ones_like(arg: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
        """As `full_like` with 1."""

    @staticmethod
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

    @staticmethod
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
    @staticmethod
    def eye(rows: nvfuser_direct._core.ScalarLike, cols: nvfuser_direct._core.ScalarLike | None = None, dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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

    @staticmethod
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
    @staticmethod
    def sign(arg: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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
    @staticmethod
    def floor_divide(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def floor_divide(arg0: nvfuser_direct._core.ScalarLike, arg1: nvfuser_direct._core.TensorView, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
    def floor_divide(arg0: nvfuser_direct._core.TensorView, arg1: nvfuser_direct._core.ScalarLike, /) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
    def gelu(x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
        """x times the normal distribution function of x, with erf."""

    @staticmethod
    def tanh_gelu(x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
        """As `gelu`, approximated with tanh."""

    @staticmethod
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

    @staticmethod
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

    @staticmethod
    def log_softmax(x: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
        """Logarithm of `softmax`."""

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
    def rand(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float, seed: nvfuser_direct._core.ScalarLike | None = None, offset: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
        """As `uniform` in [0, 1)."""

    @staticmethod
    def randn(shape: list[int | nvfuser_direct._core.Val] | tuple[int | nvfuser_direct._core.Val, ...], dtype: nvfuser_direct._core.DataType = nvfuser_direct._core.DataType.Float, seed: nvfuser_direct._core.ScalarLike | None = None, offset: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.TensorView:
        """As `normal` with mean 0 and standard deviation 1."""

    @staticmethod
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

    @staticmethod
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
    @staticmethod
    def select(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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
    @staticmethod
    def scatter(arg: nvfuser_direct._core.TensorView, index: nvfuser_direct._core.TensorView, src: nvfuser_direct._core.TensorView, dim: int, accumulate_op: nvfuser_direct._core.BinaryOpType | None = None) -> nvfuser_direct._core.TensorView: ...

    @overload
    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
    def gelu_backward(dy: nvfuser_direct._core.TensorView, x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
        """Gradient of `gelu` at x, times dy, the gradient of its result."""

    @staticmethod
    def tanh_gelu_backward(dy: nvfuser_direct._core.TensorView, x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
        """Gradient of `tanh_gelu` at x, times dy, the gradient of its result."""

    @staticmethod
    def tanh_backward(dy: nvfuser_direct._core.TensorView, tanh_x: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.TensorView:
        """dy * (1 - tanh_x * tanh_x): gradient of `tanh` from its result."""

    @staticmethod
    def softmax_backward(dy: nvfuser_direct._core.TensorView, y: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
        """
        Gradient of `softmax` along `dim` from its result y and the gradient dy of y.
        """

    @staticmethod
    def log_softmax_backward(dy: nvfuser_direct._core.TensorView, y: nvfuser_direct._core.TensorView, dim: int) -> nvfuser_direct._core.TensorView:
        """
        Gradient of `log_softmax` along `dim` from its result y and the gradient dy of y.
        """

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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
    @staticmethod
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
    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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

    @staticmethod
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


class ScheduleModule:
    """Propagate transforms, inline, schedule automatically."""

    @staticmethod
    def bounded_transform_backward(from_: nvfuser_direct._core.TensorView, pos: int, to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> None:
        """
        Replay leading loop axes on the tensors between `to`, upstream, and `from`.

        Parameters
        ----------
        from : TensorView
            The tensor whose transforms are replayed. The name is a reserved word: pass it by position.
        pos : int
            How many of its axes; -1 is all.
        to : list[TensorView]
            Where to stop; these are left as they are.
        propagate_parallel_type : bool
            Whether mapped axes also take the parallel types.
        """

    @staticmethod
    def bounded_transform_forward(from_: nvfuser_direct._core.TensorView, pos: int, to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> None:
        """As `bounded_transform_backward`, downstream."""

    @staticmethod
    def bounded_transform_both(from_: nvfuser_direct._core.TensorView, pos: int, backward_to: Sequence[nvfuser_direct._core.TensorView], forward_to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> None:
        """
        `bounded_transform_backward` to `backward_to` and `bounded_transform_forward` to `forward_to`.

        An empty list bounds nothing in its direction.
        """

    @staticmethod
    def transform_like(reference_tv: nvfuser_direct._core.TensorView, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> None:
        """
        Replay the loop transforms of a tensor on all that can be reached from it.

        Parameters
        ----------
        reference_tv : TensorView
            The tensor whose transforms are replayed.
        selected_tensors : list[TensorView]
            Change only these; all if empty.
        """

    @staticmethod
    def parallelize_like(reference_tv: nvfuser_direct._core.TensorView, pos: int = -1, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = [], selected_parallel_types: Set[nvfuser_direct._core.ParallelType] = ..., propagate_padding: bool = True) -> None:
        """
        Copy the parallel types of a tensor's axes to the axes that correspond.

        Parameters
        ----------
        reference_tv : TensorView
            The tensor whose types are copied.
        pos : int
            How many of its loop axes; -1 is all.
        selected_tensors : list[TensorView]
            Change only these; all if empty.
        selected_parallel_types : set[ParallelType]
            Copy only these; all if empty.
        propagate_padding : bool
            Whether to copy the padding to whole warps as well.
        """

    @staticmethod
    def inline_most(selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> None:
        """
        Compute every tensor as deep inside the loops of its consumers as is legal.

        Parameters
        ----------
        selected_tensors : list[TensorView]
            Change only these; all if empty.
        """

    @staticmethod
    def inline_at(reference_tv: nvfuser_direct._core.TensorView, pos: int = -1, best_effort: bool = False, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> None:
        """
        Inline tensors at the position that corresponds to one of the reference.

        Parameters
        ----------
        reference_tv : TensorView
            The tensor that `pos` counts the axes of.
        pos : int
            Number of loop axes to share; negative values count from the end, -1 is all.
        best_effort : bool
            Stop at the deepest legal position instead of raising an error.
        selected_tensors : list[TensorView]
            Change only these; all if empty.
        """

    @staticmethod
    def max_inline_position(tensor: nvfuser_direct._core.TensorView) -> int:
        """
        The deepest position at which a tensor and its siblings may be inlined.
        """

    @staticmethod
    def reset_inlining(fusion: nvfuser_direct._core.Fusion) -> None:
        """Undo all inlining."""

    @staticmethod
    def group_reductions(tvs: Sequence[nvfuser_direct._core.TensorView]) -> None:
        """
        Let reductions of one shape run as one, so that they share their barriers.

        Parameters
        ----------
        tvs : list[TensorView]
            Results of reductions with the same axes, transforms and parallel types, none of which depends
            on another. Operations, dtypes and identities may differ. The results of the
            `GroupedReductionOp` have the same order.

        Raises
        ------
        UserError
            If a tensor is not the result of a reduction, if the reductions are not alike, or if tensors are
            inlined where a tensor that depends on the group is inlined as well.
        """

    @staticmethod
    def warp_specialize(tv: nvfuser_direct._core.TensorView, number_of_stages: int, prefetch_distance: int, parallel_type: nvfuser_direct._core.ParallelType, num_registers: tuple[int, int] | None = None) -> None:
        """
        Let a group of threads do nothing but load a circular buffer.

        The group is launched besides the threads that compute, in front of them along `parallel_type`; one
        of its threads begins bulk copies. Stages have barriers in shared memory, at which the group waits
        until a stage may be overwritten, and all others until it has arrived. Barriers of the block and
        reductions count the threads that compute. Where one thread of the host runs all of them, a load
        runs `prefetch_distance` iterations before its reads.

        Parameters
        ----------
        tv : TensorView
            A copy with ``LoadStoreOpType.tma``, inlined into the serial loop that it is loaded ahead of.
        number_of_stages : int
            At least 2.
        prefetch_distance : int
            Iterations between a load and its read, less than `number_of_stages`; a negative one counts from
            `number_of_stages`.
        parallel_type : ParallelType
            Dimension of the block: the slowest one that is bound, or one that is slower. Faster ones have
            constant sizes.
        num_registers : tuple[int, int], optional
            Registers of a loading thread, and of a thread that computes; multiples of 8 between 24 and 256.
            Needs a block of constant size that is a multiple of 128.

        Raises
        ------
        UserError
            ``Unsupported stage number``, ``Invalid prefetch distance``, ``The number of registers for
            setmaxnreg must be between ..``, ``The number of registers for async warp group must be <= ..``;
            or as `TensorView.circular_buffer`.
        """

    @staticmethod
    def trivial(fusion: nvfuser_direct._core.Fusion) -> None:
        """
        Schedule a fusion so that it runs as one kernel, on any target and for any sizes.

        Parameters
        ----------
        fusion : Fusion
            Is scheduled in place.
        """

    @staticmethod
    def try_trivial(fusion: nvfuser_direct._core.Fusion) -> nvfuser_direct._core.Refusal | None:
        """
        As `trivial`; what that would raise is returned.

        Returns
        -------
        Refusal or None
            Why there is no such schedule, with the fusion scheduled in part; None: it has one.
        """

    @overload
    @staticmethod
    def find_wrong_split(tv: nvfuser_direct._core.TensorView, axis: int, factor: int) -> nvfuser_direct._core.Refusal | None: ...

    @overload
    @staticmethod
    def find_wrong_split(tv: nvfuser_direct._core.TensorView, axis: int, factor: nvfuser_direct._core.Val) -> nvfuser_direct._core.Refusal | None:
        """
        Ask whether ``TensorView.split`` can be called.

        Each function ``find_wrong_<method>`` has the arguments of a scheduling method, and changes nothing.

        Returns
        -------
        Refusal or None
            What the method would raise; None: it can be called.
        """

    @staticmethod
    def find_wrong_merge(tv: nvfuser_direct._core.TensorView, axis_o: int, axis_i: int) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.merge``; None: it can be called."""

    @staticmethod
    def find_wrong_flatten(tv: nvfuser_direct._core.TensorView, from_: int = 0, to: int = -1) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.flatten``; None: it can be called."""

    @staticmethod
    def find_wrong_reorder(tv: nvfuser_direct._core.TensorView, old2new: Mapping[int, int]) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.reorder``; None: it can be called."""

    @staticmethod
    def find_wrong_swizzle(tv: nvfuser_direct._core.TensorView, swizzle_type: nvfuser_direct._core.SwizzleType, x: int, y: int) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.swizzle``; None: it can be called."""

    @staticmethod
    def find_wrong_swizzle1d(tv: nvfuser_direct._core.TensorView, x: int, parallel_type: nvfuser_direct._core.ParallelType) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.swizzle1d``; None: it can be called."""

    @staticmethod
    def find_wrong_broadcast(tv: nvfuser_direct._core.TensorView, axis: int, extent: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.broadcast``; None: it can be called."""

    @staticmethod
    def find_wrong_resize(tv: nvfuser_direct._core.TensorView, axis: int, left: nvfuser_direct._core.ScalarLike, right: nvfuser_direct._core.ScalarLike, iter_type: nvfuser_direct._core.IterType | None = None) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.resize``; None: it can be called."""

    @staticmethod
    def find_wrong_parallel_type(axis: nvfuser_direct._core.IterDomain, parallel_type: nvfuser_direct._core.ParallelType) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``IterDomain.parallelize``; None: it can be called."""

    @staticmethod
    def find_wrong_padding(axis: nvfuser_direct._core.IterDomain, size: int | None = None) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``IterDomain.pad_to_multiple_of_warp``; None: it can be called.
        """

    @staticmethod
    def find_wrong_cluster(axis: nvfuser_direct._core.IterDomain) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``IterDomain.set_clustered_blocks``; None: it can be called.
        """

    @staticmethod
    def find_wrong_cache_after(tv: nvfuser_direct._core.TensorView, op_type: nvfuser_direct._core.LoadStoreOpType = nvfuser_direct._core.LoadStoreOpType.set, cache_op: nvfuser_direct._core.CacheOp = nvfuser_direct._core.CacheOp.unspecified, cached_uses: Sequence[nvfuser_direct._core.Expr] = []) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.cache_after``; None: it can be called."""

    @staticmethod
    def find_wrong_cache_before(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.cache_before``; None: it can be called."""

    @staticmethod
    def find_wrong_cache_fork(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.cache_fork``; None: it can be called."""

    @overload
    @staticmethod
    def find_wrong_rfactor(tv: nvfuser_direct._core.TensorView, axes: Sequence[int]) -> nvfuser_direct._core.Refusal | None: ...

    @overload
    @staticmethod
    def find_wrong_rfactor(tv: nvfuser_direct._core.TensorView, axes: Sequence[int], tvs: Sequence[nvfuser_direct._core.TensorView]) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.rfactor``; None: it can be called."""

    @staticmethod
    def find_wrong_memory_type(tv: nvfuser_direct._core.TensorView, memory_type: nvfuser_direct._core.MemoryType) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.set_memory_type``; None: it can be called."""

    @staticmethod
    def find_wrong_allocation_domain(tv: nvfuser_direct._core.TensorView, new_allocation_domain: Sequence[nvfuser_direct._core.IterDomain], new_contiguity: Sequence[bool | None]) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``TensorView.set_allocation_domain``; None: it can be called.
        """

    @staticmethod
    def find_wrong_loop_domain(tv: nvfuser_direct._core.TensorView, new_loop_domain: Sequence[nvfuser_direct._core.IterDomain]) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.set_loop_domain``; None: it can be called."""

    @staticmethod
    def find_wrong_commit_leaf_to_logical(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``TensorView.commit_leaf_to_logical``; None: it can be called.
        """

    @staticmethod
    def find_wrong_clear_reduction_iter_domains(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``TensorView.clear_reduction_iter_domains``; None: it can be called.
        """

    @staticmethod
    def find_wrong_inline_at(tv: nvfuser_direct._core.TensorView, pos: int) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``TensorView.inline_at`` without ``best_effort``; None: it can be called.
        """

    @staticmethod
    def find_wrong_compute_with(tv: nvfuser_direct._core.TensorView, pos: int) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``TensorView.compute_with`` without ``best_effort``; None: it can be called.
        """

    @staticmethod
    def find_wrong_circular_buffer(tv: nvfuser_direct._core.TensorView, number_of_stages: int, prefetch_distance: int = -1, type: nvfuser_direct._core.Pipelined | nvfuser_direct._core.WarpSpecialized = ...) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.circular_buffer``; None: it can be called."""

    @staticmethod
    def find_wrong_group(tvs: Sequence[nvfuser_direct._core.TensorView]) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``group_reductions``; None: it can be called."""

    @staticmethod
    def find_wrong_promote_reuse(tv: nvfuser_direct._core.TensorView, flag: bool = True) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.promote_reuse``; None: it can be called."""

    @staticmethod
    def find_wrong_set_cache_hint(tv: nvfuser_direct._core.TensorView, hint: nvfuser_direct._core.CacheHint) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.set_cache_hint``; None: it can be called."""

    @staticmethod
    def try_transform_like(reference_tv: nvfuser_direct._core.TensorView, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> nvfuser_direct._core.Refusal | None:
        """
        As `transform_like`; what that would raise is returned, and then nothing is changed.

        Returns
        -------
        Refusal or None
            Why it cannot be done; None: it is done.
        """

    @staticmethod
    def try_bounded_transform_backward(from_: nvfuser_direct._core.TensorView, pos: int, to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None:
        """As `bounded_transform_backward`; what that would raise is returned."""

    @staticmethod
    def try_bounded_transform_forward(from_: nvfuser_direct._core.TensorView, pos: int, to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None:
        """As `bounded_transform_forward`; what that would raise is returned."""

    @staticmethod
    def try_bounded_transform_both(from_: nvfuser_direct._core.TensorView, pos: int, backward_to: Sequence[nvfuser_direct._core.TensorView], forward_to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None:
        """As `bounded_transform_both`; what that would raise is returned."""

    @staticmethod
    def try_parallelize_like(reference_tv: nvfuser_direct._core.TensorView, pos: int = -1, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = [], selected_parallel_types: Set[nvfuser_direct._core.ParallelType] = ..., propagate_padding: bool = True) -> nvfuser_direct._core.Refusal | None:
        """
        As `parallelize_like`; what that would raise is returned, and then nothing is changed.
        """

    @staticmethod
    def try_inline_at(reference_tv: nvfuser_direct._core.TensorView, pos: int = -1, best_effort: bool = False, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> nvfuser_direct._core.Refusal | None:
        """
        As `inline_at`; what that would raise is returned, and then nothing is changed.
        """

    @staticmethod
    def find_wrong_mma_macro(tv: nvfuser_direct._core.TensorView, macro: nvfuser_direct._core.MmaMacro) -> nvfuser_direct._core.Refusal | None:
        """The refusal of ``TensorView.set_mma_macro``; None: it can be called."""

    @staticmethod
    def find_wrong_translation(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``TensorView.translate_to_mma``; None: it can be called.
        """

    @staticmethod
    def find_wrong_mma_swizzle(tv: nvfuser_direct._core.TensorView, operand: nvfuser_direct._core.MmaOperand | None = None, macro: nvfuser_direct._core.MmaMacro | None = None) -> nvfuser_direct._core.Refusal | None:
        """
        The refusal of ``TensorView.apply_mma_swizzle``; None: it can be called.
        """

    @staticmethod
    def fragment_layout(operand: nvfuser_direct._core.MmaOperand | None = None, macro: nvfuser_direct._core.MmaMacro | None = None) -> str:
        """
        Where the elements of a tile are, as text: ``lane.register`` for each.

        Parameters
        ----------
        operand : MmaOperand, optional
            ``A``: a line for each row of the first factor. ``B``: one for each column of the second factor.
            None: one for each row of the result.
        macro : MmaMacro, optional
            The instruction; None is ``Ampere_16_8_16``.

        Returns
        -------
        str
        """

    @staticmethod
    def can_schedule(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, inputs: Iterable[object], target: str | None = None) -> tuple[bool, str]:
        """
        Whether a scheduler takes a fusion, for inputs like these.

        Parameters
        ----------
        fusion : Fusion
            A definition without a schedule.
        scheduler_type : SchedulerType
            The scheduler that is asked.
        inputs : iterable
            Inputs of a run: their sizes, strides and addresses count.
        target : str, optional
            "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.

        Returns
        -------
        tuple[bool, str]
            The answer, and why it is no.
        """

    @staticmethod
    def find_compatible_schedulers(fusion: nvfuser_direct._core.Fusion, inputs: Iterable[object], target: str | None = None) -> list[nvfuser_direct._core.SchedulerType]:
        """
        The schedulers that take a fusion, in the order of preference.

        Parameters
        ----------
        fusion : Fusion
            A definition without a schedule.
        inputs : iterable
            Inputs of a run: their sizes, strides and addresses count.
        target : str, optional
            "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.
        """

    @staticmethod
    def compute_heuristics(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, inputs: Iterable[object], target: str | None = None) -> nvfuser_direct._core.HeuristicParams:
        """
        Find what a scheduler decides for a fusion, which stays as it is.

        Parameters
        ----------
        fusion : Fusion
            A definition without a schedule.
        scheduler_type : SchedulerType
            The scheduler that is asked.
        inputs : iterable
            Inputs of a run: their sizes, strides and addresses count.
        target : str, optional
            "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.

        Returns
        -------
        HeuristicParams
            Params to read, edit, and give to `schedule`.

        Raises
        ------
        UserError
            If the scheduler does not take the fusion, with its reason.
        """

    @staticmethod
    def estimate_cost(fusion: nvfuser_direct._core.Fusion, heuristic_params: nvfuser_direct._core.HeuristicParams, inputs: Iterable[object], target: str | None = None) -> nvfuser_direct._core.CostEstimate | None:
        """
        Estimate the cost of params for inputs like these.

        Parameters
        ----------
        fusion : Fusion
            A definition without a schedule.
        heuristic_params : HeuristicParams
            Of `compute_heuristics`, or edited.
        inputs : iterable
            Inputs of a run: their sizes, strides and addresses count.
        target : str, optional
            "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.

        Returns
        -------
        CostEstimate or None
            None where the scheduler has no model of costs, and for processors.
        """

    @overload
    @staticmethod
    def schedule(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, heuristic_params: nvfuser_direct._core.HeuristicParams) -> None:
        """
        Schedule a fusion in place, with the primitives that this module has.

        Parameters
        ----------
        fusion : Fusion
            A definition without a schedule.
        scheduler_type : SchedulerType
            The scheduler that is asked.
        inputs : iterable
            Inputs of a run, which params are computed from and returned.
        heuristic_params : HeuristicParams
            Instead of inputs: params that were computed before, or edited.
        target : str, optional
            "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.

        Raises
        ------
        UserError
            If the scheduler does not take the fusion, with its reason.
        """

    @overload
    @staticmethod
    def schedule(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, inputs: Iterable[object], target: str | None = None) -> nvfuser_direct._core.HeuristicParams: ...

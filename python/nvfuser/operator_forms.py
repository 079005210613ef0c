"""Operations with several forms: overloads, older spellings, and defaults that follow from others.

Whatever the form, the same statement is recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvfuser_direct import DataType, UserError, UserIndexError, UserTypeError

from .errors import user_error
from .handles import Scalar, Tensor, Vector
from .op_table import SCALAR, wrapped_dims
from .record import record
from .statements import KINDS, declare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from .definition import FusionDefinition

    Shape: TypeAlias = Vector | Sequence[int | Scalar]

declare(
    "at(vector: V!, index: int)",
    lambda vector, index: (SCALAR,),
    replay=lambda vector, index: vector[index],
)

_NOT_GIVEN: Any = object()


def _one_of(name: str, **spellings: Any) -> Any:
    """The value of a parameter that has several names."""
    given = [value for value in spellings.values() if value is not _NOT_GIVEN]
    if len(given) != 1:
        raise user_error(
            f"{name}() takes one of {', '.join(spellings)}",
            found=f"{len(given)} of them",
            kind=UserTypeError,
        )
    return given[0]


class OperatorForms:
    """Methods of `Operators` that are not written from the table alone."""

    __slots__ = ("_fd",)

    def __init__(self, fd: FusionDefinition) -> None:
        self._fd = fd

    def _reduce(
        self, name: str, arg: Any, dims: Any, keepdim: Any, dtype: Any, spellings: dict[str, Any]
    ) -> Any:
        if isinstance(dims, DataType):  # sum(t, DataType.Float)
            dims, dtype = None, dims
        for spelling in ("dim", "axis", "axes"):
            given = spellings.pop(spelling, None)
            if given is not None:
                dims = _one_of(name, dims=_NOT_GIVEN if dims is None else dims, **{spelling: given})
        if spellings:
            raise _unknown_argument(name, spellings)
        if dims is None:
            dims = range(arg.ndim) if isinstance(arg, Tensor) else ()
        elif not hasattr(dims, "__iter__"):
            dims = [dims]
        return record(self._fd, KINDS[name], [arg, dims, keepdim, dtype])

    def sum(
        self,
        arg: Tensor,
        dims: int | Sequence[int] | DataType | None = None,
        keepdim: bool = False,
        dtype: DataType = DataType.Null,
        **spellings: Any,
    ) -> Tensor:
        ""
        return self._reduce("sum", arg, dims, keepdim, dtype, spellings)

    def prod(
        self,
        arg: Tensor,
        dims: int | Sequence[int] | DataType | None = None,
        keepdim: bool = False,
        dtype: DataType = DataType.Null,
        **spellings: Any,
    ) -> Tensor:
        ""
        return self._reduce("prod", arg, dims, keepdim, dtype, spellings)

    def max(
        self,
        arg: Tensor,
        dims: int | Sequence[int] | DataType | None = None,
        keepdim: bool = False,
        dtype: DataType = DataType.Null,
        **spellings: Any,
    ) -> Tensor:
        ""
        return self._reduce("max", arg, dims, keepdim, dtype, spellings)

    def min(
        self,
        arg: Tensor,
        dims: int | Sequence[int] | DataType | None = None,
        keepdim: bool = False,
        dtype: DataType = DataType.Null,
        **spellings: Any,
    ) -> Tensor:
        ""
        return self._reduce("min", arg, dims, keepdim, dtype, spellings)

    def var(
        self,
        arg: Tensor,
        dims: Sequence[int] = _NOT_GIVEN,
        correction: int = _NOT_GIVEN,
        keepdim: bool = False,
        *,
        axes: Sequence[int] = _NOT_GIVEN,
    ) -> Tensor:
        ""
        dims = _one_of("var", dims=dims, axes=axes)
        correction = _one_of("var", correction=correction)
        return record(self._fd, KINDS["var"], [arg, dims, correction, keepdim])

    def var_mean(
        self,
        arg: Tensor,
        dims: Sequence[int] = _NOT_GIVEN,
        correction: int = 1,
        keepdim: bool = False,
        *,
        axes: Sequence[int] = _NOT_GIVEN,
    ) -> tuple[Tensor, Tensor]:
        ""
        dims = _one_of("var_mean", dims=dims, axes=axes)
        return record(self._fd, KINDS["var_mean"], [arg, dims, correction, keepdim])

    def broadcast_in_dim(
        self,
        arg: Tensor,
        shape: Shape = _NOT_GIVEN,
        broadcast_dims: Sequence[int] = _NOT_GIVEN,
        *,
        output_shape: Shape = _NOT_GIVEN,
    ) -> Tensor:
        ""
        if shape is not _NOT_GIVEN and output_shape is not _NOT_GIVEN:
            # broadcast_in_dim(t, dims, output_shape=...) has no meaning: the first is the shape.
            raise _unknown_argument("broadcast_in_dim", {"output_shape": output_shape})
        shape = _one_of("broadcast_in_dim", shape=shape, output_shape=output_shape)
        broadcast_dims = _one_of("broadcast_in_dim", broadcast_dims=broadcast_dims)
        return record(self._fd, KINDS["broadcast_in_dim"], [arg, shape, broadcast_dims])

    def reshape(
        self,
        arg: Tensor,
        *shapes: Shape,
        new_shape: Shape = _NOT_GIVEN,
        original_shape: Sequence[int] = _NOT_GIVEN,
    ) -> Tensor:
        ""
        # reshape(t, original_shape, new_shape) claims the sizes of t, which is not looked at.
        given = [shape for shape in (*shapes, original_shape, new_shape) if shape is not _NOT_GIVEN]
        if not 1 <= len(given) <= 2 or (len(given) == 1 and original_shape is not _NOT_GIVEN):
            raise user_error(
                "reshape() takes a tensor and its new shape",
                found=f"{len(given)} shapes",
                kind=UserTypeError,
            )
        return record(self._fd, KINDS["reshape"], [arg, given[-1]])

    def squeeze(
        self,
        arg: Tensor,
        *dims_of_call: Any,
        dims: Sequence[int] = _NOT_GIVEN,
        squeeze_expanded: bool = False,
        original_shape: Sequence[int] = _NOT_GIVEN,
    ) -> Tensor:
        ""
        # squeeze(t, original_shape, dims) is older than squeeze(t, dims, squeeze_expanded).
        positional = list(dims_of_call)
        if len(positional) == 2 and isinstance(positional[1], bool):
            squeeze_expanded = positional.pop()
        given = [*positional, *(x for x in (original_shape, dims) if x is not _NOT_GIVEN)]
        if not 1 <= len(given) <= 2:
            raise user_error(
                "squeeze() takes a tensor and its dims", found=f"{len(given)} lists",
                kind=UserTypeError,
            )  # fmt: skip
        return record(self._fd, KINDS["squeeze"], [arg, given[-1], squeeze_expanded])

    def permute(self, arg: Tensor, dims: Sequence[int]) -> Tensor:
        ""
        if isinstance(arg, Tensor):
            dims = _wrapped(arg, dims, "permute")
        return record(self._fd, KINDS["permute"], [arg, dims])

    def stride_order(self, arg: Tensor, stride_order: Sequence[int]) -> Tensor:
        ""
        if isinstance(arg, Tensor):
            stride_order = _wrapped(arg, stride_order, "stride_order")
        return record(self._fd, KINDS["stride_order"], [arg, stride_order])

    def slice(
        self,
        arg: Tensor,
        start_indices: Shape,
        end_indices: Shape,
        strides: Shape | None = None,
        manual_normalization: bool = False,
    ) -> Tensor:
        ""
        if strides is None:
            strides = [1] * len(start_indices)
        return record(
            self._fd,
            KINDS["slice"],
            [arg, start_indices, end_indices, strides, manual_normalization],
        )

    def full(
        self,
        shape: Shape = _NOT_GIVEN,
        fill_value: Scalar = _NOT_GIVEN,
        dtype: DataType = _NOT_GIVEN,
        *,
        size: Shape = _NOT_GIVEN,
        arg: Scalar = _NOT_GIVEN,
    ) -> Tensor:
        ""
        shape = _one_of("full", shape=shape, size=size)
        fill_value = _one_of("full", fill_value=fill_value, arg=arg)
        dtype = _one_of("full", dtype=dtype)
        return record(self._fd, KINDS["full"], [shape, fill_value, dtype])

    # The dtype is a keyword now; scripts for the first releases give it by position.
    def uniform(
        self,
        minval: Scalar,
        maxval: Scalar,
        shape: Shape,
        dtype: DataType = DataType.Float,
        *,
        rng_seed: Scalar | None = None,
        rng_offset: Scalar | None = None,
    ) -> Tensor:
        ""
        values = [minval, maxval, shape, rng_seed, rng_offset, dtype]
        return record(self._fd, KINDS["uniform"], values)

    def normal(
        self,
        mean: Scalar,
        std: Scalar,
        shape: Shape,
        dtype: DataType = DataType.Float,
        *,
        rng_seed: Scalar | None = None,
        rng_offset: Scalar | None = None,
    ) -> Tensor:
        ""
        values = [mean, std, shape, rng_seed, rng_offset, dtype]
        return record(self._fd, KINDS["normal"], values)

    def grouped_mm(
        self,
        mat1: Tensor,
        mat2: Tensor,
        offsets: Tensor,
        scale1: Tensor | None = _NOT_GIVEN,
        scale2: Tensor | None = _NOT_GIVEN,
        alpha: Tensor | None = None,
        bias: Tensor | None = None,
        beta: Tensor | None = None,
        dtype: DataType = DataType.BFloat16,
        output_block_scale_size: int = 0,
        output_block_scale_dtype: DataType = DataType.BFloat16,
        output_gamma: bool = False,
    ) -> Any:
        ""
        if scale1 is _NOT_GIVEN and scale2 is _NOT_GIVEN:
            return record(self._fd, KINDS["grouped_mm"], [mat1, mat2, offsets])
        scales = [None if scale is _NOT_GIVEN else scale for scale in (scale1, scale2)]
        return record(
            self._fd,
            KINDS["grouped_mm_scaled"],
            [mat1, mat2, offsets, *scales, alpha, bias, beta, dtype, output_block_scale_size,
             output_block_scale_dtype, output_gamma],
        )  # fmt: skip

    def sdpfa_bwd(
        self,
        grad_output: Tensor,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        output: Tensor,
        logsumexp: Tensor,
        dropout_p: Scalar | None = None,
        is_causal: Scalar | None = None,
        philox_seed: Tensor = _NOT_GIVEN,
        philox_offset: Tensor = _NOT_GIVEN,
        scale: Scalar | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        ""
        philox_seed = _one_of("sdpfa_bwd", philox_seed=philox_seed)
        philox_offset = _one_of("sdpfa_bwd", philox_offset=philox_offset)
        return record(
            self._fd,
            KINDS["sdpfa_bwd"],
            [grad_output, query, key, value, output, logsumexp, dropout_p, is_causal, philox_seed,
             philox_offset, scale],
        )  # fmt: skip

    def at(self, vector: Vector, index: int) -> Scalar:
        ""
        if not isinstance(vector, Vector):
            raise user_error(
                f"at(): argument 'vector' must be a Vector, but got {type(vector).__name__}",
                kind=UserTypeError,
            )
        if not -vector.size <= index < vector.size:
            # An IndexError ends a loop over the vector.
            raise user_error(
                f"Tried to access out of boundary index {index}. total index: {vector.size}",
                kind=UserIndexError,
            )
        return record(self._fd, KINDS["at"], [vector, index % vector.size])


def _wrapped(arg: Tensor, dims: Sequence[int], what: str) -> tuple[int, ...]:
    dims = tuple(dims)
    return dims if not dims else wrapped_dims(dims, arg.ndim, what)


def _unknown_argument(name: str, arguments: dict[str, Any]) -> UserError:
    return user_error(
        f"{name}() got an unexpected keyword argument '{next(iter(arguments))}'",
        kind=UserTypeError,
    )

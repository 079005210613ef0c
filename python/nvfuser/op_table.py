"""Every operation, once: its signature, the ranks of its results, and what is checked at once.

The notation is that of `statements`. Importing this module fills `statements.KINDS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvfuser_direct import DataType, UserIndexError, is_floating_point, ops

from .errors import user_error
from .handles import Scalar, Tensor, Vector
from .statements import declare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .trie import Result

SCALAR: Result = (Scalar, None)
ABSENT: Result = None


def tensor(ndim: int) -> Result:
    """A result of that rank."""
    return (Tensor, ndim)


def _tensors(*ndims: int) -> tuple[Result, ...]:
    return tuple((Tensor, ndim) for ndim in ndims)


def _like_first(arg: Any, *_: Any) -> tuple[Result, ...]:
    return (tensor(arg.ndim) if isinstance(arg, Tensor) else SCALAR,)


def _pointwise(*operands: Any) -> tuple[Result, ...]:
    ranks = [operand.ndim for operand in operands if isinstance(operand, Tensor)]
    return (tensor(max(ranks)) if ranks else SCALAR,)


def _without_dims(arg: Tensor, dims: Sequence[int], keepdim: bool = False, *_: Any) -> int:
    if keepdim:
        return arg.ndim
    return arg.ndim - len({dim % arg.ndim if arg.ndim else dim for dim in dims})


def _length(shape: Any) -> int:
    return shape.size if isinstance(shape, Vector) else len(shape)


# -- checks that are made when a statement is written --


def wrapped_dims(dims: Sequence[int], ndim: int, what: str) -> tuple[int, ...]:
    """`dims` counted from the front; an error unless each dimension is there once."""
    if len(dims) != ndim:
        raise user_error(
            f"Operator {what} expects `{'dims' if what == 'permute' else what}` argument to have "
            "the same length as input!",
            expected=f"{ndim} numbers",
            found=f"{list(dims)}",
        )
    wrapped = []
    for dim in dims:
        if not -ndim <= dim < ndim:
            raise user_error(
                f"{what} argument is out of range, expects >= {-ndim} and < {ndim}, but got: {dim}",
                kind=UserIndexError,
            )
        wrapped.append(dim % ndim)
    if len(set(wrapped)) != ndim:
        raise user_error(
            f"{what} got duplicated entries: {list(dims)}",
            expected="every dimension once",
            found=f"{list(dims)}",
        )
    return tuple(wrapped)


def _check_gather_like(arg1: Tensor, index: Tensor, dim: int, what: str) -> None:
    if arg1.ndim != index.ndim:
        raise user_error(
            f"Tensor arguments have different dimensions {arg1.ndim} and {index.ndim}",
            node=f"{what}({arg1!r}, {index!r})",
        )
    _check_dim(arg1, dim)


def _check_dim(arg: Tensor, dim: int) -> None:
    if not -arg.ndim <= dim < arg.ndim:
        raise user_error(
            f"Tensor arguments have dimension {arg.ndim} so dim argument must satisfy "
            f"{-arg.ndim} <= dim < {arg.ndim}, but received {dim}",
            kind=UserIndexError,
        )


def _check_gather(arg1: Tensor, index: Tensor, dim: int) -> None:
    _check_gather_like(arg1, index, dim, "gather")


def _check_take_along_axis(arg1: Tensor, index: Tensor, dim: int) -> None:
    _check_gather_like(arg1, index, dim, "take_along_axis")


def _check_scatter(arg1: Tensor, index: Tensor, src: Any, dim: int) -> None:
    if isinstance(src, Tensor) and not arg1.ndim == index.ndim == src.ndim:
        raise user_error(
            f"Tensor arguments have different dimensions {arg1.ndim}, {index.ndim} and {src.ndim}"
        )
    _check_gather_like(arg1, index, dim, "scatter")


def _check_cat(tensors: Sequence[Tensor], dim: int, manual_padding: bool) -> None:
    if not tensors:
        raise user_error(
            "Attempting to concatenate empty list of tensors", expected="at least one tensor"
        )


def _check_broadcast_in_dim(arg: Tensor, shape: Any, broadcast_dims: Sequence[int]) -> None:
    if len(broadcast_dims) > _length(shape):
        raise user_error(
            "broadcast_dims vector size is too big for output shape!",
            expected=f"at most {_length(shape)} broadcast_dims",
            found=f"{len(broadcast_dims)}",
        )


def _check_pad(arg: Tensor, pad_widths: Any, value: Any) -> None:
    if _length(pad_widths) > 2 * arg.ndim:
        raise user_error(
            "Number of pad widths must be at most twice the input dimension",
            expected=f"at most {2 * arg.ndim} widths",
            found=f"{_length(pad_widths)}",
        )


def _check_slice(arg: Tensor, start: Any, end: Any, strides: Any, manual: bool) -> None:
    starts, ends, steps = _length(start), _length(end), _length(strides)
    if starts != steps:
        raise user_error(
            f"Slice start_indices and strides don't match! Start Indices: {starts} Strides: {steps}"
        )
    if arg.ndim != starts:
        raise user_error(
            "Number of tensor dimensions does not match slice dimensions! "
            f"Tensor-dims: {arg.ndim} Slice-dims: {starts}"
        )
    if starts != ends:
        raise user_error(
            "Slice indexing attribute dimensions don't match! "
            f"Start Indices: {starts} End Indices: {ends}"
        )


def check_random(rng_seed: Any, rng_offset: Any) -> None:
    """A seed comes with an offset."""
    if (rng_seed is None) != (rng_offset is None):
        raise user_error("rng_seed and rng_offset must be provided together!")


def _check_distribution(
    a: Any, b: Any, shape: Any, rng_seed: Any, rng_offset: Any, dtype: DataType
) -> None:
    check_random(rng_seed, rng_offset)
    if not is_floating_point(dtype):
        raise user_error(
            f"Random distributions only create floating point types! {dtype}",
            expected="a floating point dtype",
            found=str(dtype),
        )


def _check_random_like(arg: Any, rng_seed: Any, rng_offset: Any) -> None:
    check_random(rng_seed, rng_offset)


# -- ranks that take a rule --


def _matmul_rank(a: Tensor, b: Tensor) -> int:
    if a.ndim == 1 and b.ndim == 1:
        return 0
    if a.ndim == 1 or b.ndim == 1:
        return max(a.ndim, b.ndim) - 1
    return max(a.ndim, b.ndim)


def _scaled_results(ndim: int, block_size: int, gamma: bool) -> tuple[Result, ...]:
    return (
        tensor(ndim),
        tensor(ndim) if block_size > 0 else ABSENT,
        tensor(0) if gamma else ABSENT,
    )


def _batch_norm_results(arg: Tensor, *rest: Any) -> tuple[Result, ...]:
    running_mean, training = rest[2], rest[6]
    statistics = tensor(1) if training or running_mean is None else ABSENT
    return (tensor(arg.ndim), statistics, statistics)


# -- replays where the core's function takes other arguments --


def _replay_batch_norm(
    arg: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: Any, eps: Any, training: Any,
    channels_last: Any,
) -> Any:  # fmt: skip
    return ops.batch_norm(arg, weight, bias, mean, var, training, momentum, eps, channels_last)


def _replay_random(function: Any) -> Any:
    def replay(a: Any, b: Any, shape: Any, seed: Any, offset: Any, dtype: Any) -> Any:
        return function(a, b, shape, rng_seed=seed, rng_offset=offset, dtype=dtype)

    return replay


def _replay_random_like(name: str) -> Any:
    """Without a seed the core's function; with one the distribution over the shape of `arg`."""

    def replay(arg: Any, seed: Any, offset: Any) -> Any:
        if seed is None:
            return getattr(ops, name)(arg)
        draw = ops.uniform if name == "rand_like" else ops.normal
        return draw(
            0.0, 1.0, tuple(ops.shape(arg)), rng_seed=seed, rng_offset=offset, dtype=arg.dtype()
        )

    return replay


def _replay_slice(arg: Any, start: Any, end: Any, strides: Any, manual: Any) -> Any:
    return ops.slice(arg, start, end, strides, manual)


# -- the table --

UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh exp exp2 expm1 erf erfc erfinv erfcinv
floor frac lgamma log log10 log1p log2 neg logical_not bitwise_not relu reciprocal round rsqrt set
segment_set sign sigmoid signbit silu sin sinh sqrt tan tanh trunc isfinite isinf isnan isneginf
isposinf isreal real imag""".split()
BINARY = """add sub mul div truediv fmod remainder mod pow atan2 nextafter minimum maximum gcd eq ne
lt le gt ge logical_and logical_or bitwise_and bitwise_or bitwise_xor bitwise_left_shift
bitwise_right_shift logical_right_shift complex""".split()
for _name in UNARY:
    declare(f"{_name}(x: A, /)", _like_first)
for _name in BINARY:
    declare(f"{_name}(a: A, b: A, /)", _pointwise)
declare("lerp(start: A, end: A, weight: A, /)", _pointwise)
declare("where(condition: A, a: A, b: A, /)", _pointwise)
declare("clamp(x: A, min: A? = None, max: A? = None, /)", _like_first)
declare("threshold(x: A, threshold: A, value: A, /)", _like_first)
declare("addcmul(v1: A, v2: A, v3: A, alpha: A, /)", lambda *v: _pointwise(*v[:3]))
for _name in ("add_alpha", "sub_alpha"):
    declare(f"{_name}(a: A, b: A, s: A, /)", lambda *v: _pointwise(*v[:2]))
for _name in ("rand_like", "randn_like"):
    declare(
        f"{_name}(arg: T, rng_seed: S?~ = None, rng_offset: S?~ = None)",
        _like_first,
        check=_check_random_like,
        replay=_replay_random_like(_name),
    )

declare("cast(arg: A, dtype: dtype)", _like_first)
declare("triu(input: T, diagonal: L = 0)", _like_first)

for _name in ("sum", "prod", "max", "min"):
    declare(
        f"{_name}(arg: T, dims: ints, keepdim: flag = False, dtype: dtype = DataType.Null)",
        lambda *v: (tensor(_without_dims(*v)),),
    )
declare(
    "var(arg: T, dims: ints, correction: int, keepdim: flag = False)",
    lambda arg, dims, correction, keepdim: (tensor(_without_dims(arg, dims, keepdim)),),
)
declare(
    "var_mean(arg: T, dims: ints, correction: int = 1, keepdim: flag = False)",
    lambda arg, dims, correction, keepdim: (tensor(_without_dims(arg, dims, keepdim)),) * 2,
)
declare("welford(arg: T, dims: ints)", lambda *v: (tensor(_without_dims(*v)),) * 3)
for _name in ("cumsum", "cumprod", "cummin", "cummax"):
    declare(f"{_name}(arg: T, dim: int)", _like_first)

declare("broadcast(arg: T, is_broadcast_dim: flags)", lambda arg, flags: _tensors(len(flags)))
declare(
    "broadcast_in_dim(arg: T, shape: V, broadcast_dims: ints)",
    lambda arg, shape, dims: _tensors(_length(shape)),
    check=_check_broadcast_in_dim,
)
declare("expand(arg: T, shape: V)", lambda arg, shape: _tensors(max(_length(shape), arg.ndim)))
declare("reshape(arg: T, new_shape: V)", lambda arg, shape: _tensors(_length(shape)))
declare("permute(arg: T, dims: ints)", _like_first)
declare("stride_order(arg: T, stride_order: ints)", _like_first)
declare(
    "squeeze(arg: T, dims: ints, squeeze_expanded: flag = False)",
    lambda arg, dims, expanded: _tensors(_without_dims(arg, dims)),
)
declare(
    "slice(arg: T, start_indices: Vw, end_indices: Vw, strides: Vw, "
    "manual_normalization: flag = False)",
    _like_first,
    check=_check_slice,
    replay=_replay_slice,
)
declare("pad(arg: T, pad_widths: Vw!, value: S? = None)", _like_first, check=_check_pad)
declare(
    "cat(tensors: Ts, dim: int = 0, manual_padding: flag = False)",
    lambda tensors, dim, manual: _tensors(tensors[0].ndim),
    check=_check_cat,
)
declare("size(arg: T, dim: int)", lambda *v: (SCALAR,))
declare("shape(arg: T, /)", lambda arg: ((Vector, arg.ndim),))
declare(
    "tensor_sizes(arg: T, /)", lambda arg: (SCALAR,) * arg.ndim, replay=lambda arg: ops.shape(arg)
)

declare("index_select(arg: T, index: T, dim: int)", _like_first)
declare("select(arg: T, index: A, dim: int)", lambda arg, *_: _tensors(max(arg.ndim - 1, 0)))
declare("gather(arg1: T, index: T, dim: int)", _like_first, check=_check_gather)
declare("take_along_axis(arg1: T, index: T, dim: int)", _like_first, check=_check_take_along_axis)
declare("scatter(arg1: T, index: T, src: A, dim: int)", _like_first, check=_check_scatter)
declare("index_put_accumulate(acc: T, index: T, value: T)", _like_first)
declare(
    "embedding_fwd(input: T, weight: T, padding_idx: S? = None, max_norm: S? = None, "
    "norm_type: S? = None, scale_grad_by_freq: S? = None, sparse: S? = None)",
    lambda input, *_: _tensors(input.ndim + 1),
)
declare(
    "preprocess_grouped_matmul_input_sf(input: T, input_offsets: T, output_offsets: T)",
    _like_first,
)

declare("full(shape: V, fill_value: S!, dtype: dtype)", lambda shape, *_: _tensors(_length(shape)))
declare("iota(length: S, start: S?, step: S?, dtype: dtype = DataType.Int)", lambda *v: _tensors(1))
for _name, _first, _second in (("uniform", "minval", "maxval"), ("normal", "mean", "std")):
    declare(
        f"{_name}({_first}: S, {_second}: S, shape: V, *, rng_seed: S?~ = None, "
        "rng_offset: S?~ = None, dtype: dtype = DataType.Float)",
        lambda a, b, shape, *_: _tensors(_length(shape)),
        check=_check_distribution,
        replay=_replay_random(getattr(ops, _name)),
    )

declare(
    "topk(arg: T, k: S, dim: int = -1, largest: flag = True, sorted: flag = False)",
    lambda arg, *_: _tensors(arg.ndim, arg.ndim),
)
declare("argsort(arg: T, dim: int, descending: flag = False, stable: flag = False)", _like_first)

declare("matmul(arg1: T, arg2: T)", lambda a, b: _tensors(_matmul_rank(a, b)))
declare(
    "linear(arg1: T, arg2: T, bias: T? = None)",
    lambda a, b, bias: _tensors(a.ndim + b.ndim - 2),
)
_SCALED = (
    "alpha: T? = None, bias: T? = None, beta: T? = None, dtype: dtype = DataType.BFloat16, "
    "output_block_scale_size: int = 0, output_block_scale_dtype: dtype = DataType.BFloat16, "
    "output_gamma: flag = False)"
)


def _grouped_rank(mat1: Tensor, mat2: Tensor) -> int:
    return 3 if mat1.ndim == 2 and mat2.ndim == 2 else 2


declare(
    "grouped_mm(mat1: T, mat2: T, offsets: T)", lambda a, b, offsets: _tensors(_grouped_rank(a, b))
)
declare(
    f"grouped_mm(mat1: T, mat2: T, offsets: T, scale1: T?, scale2: T?, {_SCALED}",
    lambda *v: _scaled_results(_grouped_rank(v[0], v[1]), v[9], v[11]),
    name="grouped_mm_scaled",
)
declare(
    f"scaled_mm(mat1: T, mat2: T, scale1: T, scale2: T, {_SCALED}",
    lambda *v: _scaled_results(_matmul_rank(v[0], v[1]), v[8], v[10]),
)
declare(
    "cutlass_nvfp4_grouped_mm(mat1: T, mat2: T, scale1: T, scale2: T, alpha: T, problem_sizes: T, "
    "expert_offsets: T, sf_offsets: T, dtype: dtype = DataType.BFloat16)",
    lambda *v: _tensors(2),
)
declare(
    "sdpfa_fwd(query: T, key: T, value: T, bias: T? = None, mask: T? = None, dropout_p: S? = None, "
    "is_causal: S? = None, scale: S? = None)",
    lambda query, *_: _tensors(query.ndim, query.ndim - 1, 1, 0),
)
declare(
    "sdpfa_bwd(grad_output: T, query: T, key: T, value: T, output: T, logsumexp: T, "
    "dropout_p: S?, is_causal: S?, philox_seed: T, philox_offset: T, scale: S?)",
    lambda grad, query, key, value, *_: _tensors(query.ndim, key.ndim, value.ndim),
)
declare(
    "batch_norm(arg: T, weight: T?, bias: T?, running_mean: T?, running_var: T?, momentum: S, "
    "eps: S, training: flag, channels_last: flag = False)",
    _batch_norm_results,
    replay=_replay_batch_norm,
)
declare(
    "nv_block_quantize(input: T, global_scale: T? = None, swizzle_block_scales: flag = False, "
    "block_size: int = 16, dtype: dtype = DataType.Float4_e2m1fn)",
    lambda input, *_: _tensors(input.ndim, input.ndim),
)
declare(
    "nv_grouped_block_quantize(input: T, input_offsets: T, output_offsets: T, "
    "global_scale: T? = None, block_size: int = 16, dtype: dtype = DataType.Float4_e2m1fn)",
    lambda input, *_: _tensors(input.ndim, input.ndim),
)

"""Expressions of the IR as statements: a function for every class of expressions.

Forms are those of the printed definitions of segments: promotions are casts, kept dimensions of
reductions are broadcasts, slices and concatenations are given as they were normalized.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvfuser_direct import DataType, UserNotImplementedError
from nvfuser_direct._core import internal

from .errors import user_error
from .ir_tensors import axes_of, sizes_of, stated_dtype, stride_order_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Expr, TensorView, Val

    from .ir_writer import StatementWriter

    Write = Callable[[StatementWriter, Any], Any]

STATEMENTS: dict[str, Write] = {}  # by `Expr.op_name()`


def statement(name: str) -> Callable[[Write], Write]:
    """Register what expressions of a class are written as."""

    def register(write: Write) -> Write:
        STATEMENTS[name] = write
        return write

    return register


def untranslatable(expr: Expr) -> Exception:
    """The error for an expression that no statement makes."""
    return user_error(
        f"{expr.op_name()} has no definition form",
        node=str(expr).strip(),
        expected="an expression that a function of fd.ops makes",
        found=internal.function_of(expr) or expr.op_name(),
        fix="leave it out of definitions that are written from their IR",
        kind=UserNotImplementedError,
    )


def is_same_value(expr: Any) -> bool:
    """Whether an expression on tensors gives its operand: a copy in the same order of memory."""
    if expr.op_name() != "LoadStoreOp" or not expr.out.is_tensor():
        return False
    return not _is_permuted(expr.out) and not _is_laid_out(expr.out) and not _is_resized(expr)


def _is_permuted(tensor: TensorView) -> bool:
    return bool(tensor.has_root())


def _is_laid_out(tensor: TensorView) -> bool:
    return bool(tensor.has_allocation())


def _is_resized(expr: Any) -> bool:
    pairs = zip(sizes_of(expr.arg), sizes_of(expr.out), strict=False)
    return any(not before.same_as(after) for before, after in pairs)


def _dims(flags: list[bool]) -> list[int]:
    return [i for i, flag in enumerate(flags) if flag]


def _reduced_dims(tensor: TensorView) -> list[int]:
    return _dims([axis.is_reduction() for axis in tensor.get_logical_domain()])


def scalars_read(expr: Any) -> list[Val]:
    """The scalars that the statement of an expression on tensors has as operands."""
    name = expr.op_name()
    found: list[Val] | None = {
        "WelfordOp": [],
        "ScanOp": [],
        "GroupedBlockQuantizationOp": [],
        "PreprocessGroupedMatmulInputSf": [],
    }.get(name)
    if found is None:
        found = [value for value in expr.inputs() if not value.is_tensor()]
    is_resized = name == "LoadStoreOp" and not expr.out.has_root() and _is_resized(expr)
    if is_resized or name in ("ReshapeOp", "ExpandOp"):
        found = sizes_of(expr.output(0))
    return found


# -- elementwise --


@statement("UnaryOp")
def _unary(w: StatementWriter, expr: Any) -> Any:
    name = internal.function_of(expr)
    if name == "cast":
        return _cast(w, expr)
    return getattr(w.ops, name)(w.operand(expr.arg))


def _cast(w: StatementWriter, expr: Any) -> Any:
    return w.ops.cast(w.operand(expr.arg), dtype=stated_dtype(expr.out.dtype()))


@statement("BinaryOp")
def _binary(w: StatementWriter, expr: Any) -> Any:
    # Only sizes behind a split are rounded up, and those of a reshape are exact.
    name = internal.function_of(expr)
    name = "div" if name == "ceilDiv" else name
    return getattr(w.ops, name)(w.operand(expr.lhs), w.operand(expr.rhs))


@statement("TernaryOp")
def _ternary(w: StatementWriter, expr: Any) -> Any:
    operands = w.operands([expr.in1, expr.in2, expr.in3])
    return getattr(w.ops, internal.function_of(expr))(*operands)


@statement("LoadStoreOp")
def _copy(w: StatementWriter, expr: Any) -> Any:
    if not expr.out.is_tensor():
        return _cast(w, expr)
    if _is_permuted(expr.out):
        root = [axis.name() for axis in expr.out.get_root_domain()]
        dims = [root.index(axis.name()) for axis in expr.out.get_logical_domain()]
        permuted = w.ops.permute(w.operand(expr.arg), dims=dims)
        order = stride_order_of(expr.out)
        return w.ops.stride_order(permuted, stride_order=order) if order else permuted
    if _is_laid_out(expr.out):
        order = stride_order_of(expr.out) or list(reversed(range(expr.out.ndim)))
        return w.ops.stride_order(w.operand(expr.arg), stride_order=order)
    if _is_resized(expr):
        return w.ops.expand(w.operand(expr.arg), shape=w.vector(sizes_of(expr.out)))
    return w.ops.set(w.operand(expr.arg))


# -- shapes --


@statement("BroadcastOp")
def _broadcast(w: StatementWriter, expr: Any) -> Any:
    return w.ops.broadcast(w.operand(expr.arg), is_broadcast_dim=list(expr.flags))


@statement("SqueezeOp")
def _squeeze(w: StatementWriter, expr: Any) -> Any:
    removed = [axis for axis, flag in zip(axes_of(expr.arg), expr.flags, strict=True) if flag]
    if any(not axis.is_broadcast() for axis in removed):
        # Only a reshape to no dimensions removes ordinary ones of size one.
        return w.ops.reshape(w.operand(expr.arg), new_shape=w.vector([]))
    return w.ops.squeeze(w.operand(expr.arg), dims=_dims(expr.flags), squeeze_expanded=True)


@statement("ExpandOp")
def _expand(w: StatementWriter, expr: Any) -> Any:
    return w.ops.expand(w.operand(expr.arg), shape=w.vector(sizes_of(expr.out)))


@statement("ReshapeOp")
def _reshape(w: StatementWriter, expr: Any) -> Any:
    return w.ops.reshape(w.operand(expr.arg), new_shape=w.vector(sizes_of(expr.out)))


@statement("SliceOp")
def _slice(w: StatementWriter, expr: Any) -> Any:
    return w.ops.slice(
        w.operand(expr.arg),
        start_indices=w.vector(expr.starts),
        end_indices=w.vector(expr.stops),
        strides=w.vector(expr.steps),
        manual_normalization=True,
    )


@statement("PadOp")
def _pad(w: StatementWriter, expr: Any) -> Any:
    # The node has the first dimension first, the call the last one.
    pairs = list(zip(expr.widths[::2], expr.widths[1::2], strict=True))
    widths = [width for pair in reversed(pairs) for width in pair]
    return w.ops.pad(w.operand(expr.arg), w.vector(widths), w.operand(expr.value))


@statement("CatOp")
def _cat(w: StatementWriter, expr: Any) -> Any:
    return w.ops.cat(w.operands(expr.args), dim=expr.dim, manual_padding=True)


@statement("RepeatOp")
def _repeat(w: StatementWriter, expr: Any) -> Any:
    return w.ops.repeat(w.operand(expr.arg), list(expr.repeats))


@statement("ViewAsScalar")
def _view_as_scalar(w: StatementWriter, expr: Any) -> Any:
    return w.ops.view_as_real(w.operand(expr.arg))


# -- reductions and scans --


@statement("ReductionOp")
def _reduction(w: StatementWriter, expr: Any) -> Any:
    name = internal.function_of(expr)
    dtype = expr.out.dtype() if name in ("sum", "prod") else DataType.Null
    return getattr(w.ops, name)(
        w.operand(expr.arg), dims=_reduced_dims(expr.out), keepdim=False, dtype=dtype
    )


@statement("WelfordOp")
def _welford(w: StatementWriter, expr: Any) -> Any:
    return w.ops.welford(w.operand(expr.in_avg), dims=_reduced_dims(expr.out_avg))


@statement("ScanOp")
def _scan(w: StatementWriter, expr: Any) -> Any:
    return getattr(w.ops, internal.function_of(expr))(w.operand(expr.arg), dim=expr.dim)


@statement("TopKOp")
def _topk(w: StatementWriter, expr: Any) -> Any:
    operands = w.operands([expr.arg, expr.k])
    return w.ops.topk(*operands, dim=expr.dim, largest=expr.largest, sorted=expr.sorted)


@statement("ArgsortOp")
def _argsort(w: StatementWriter, expr: Any) -> Any:
    return w.ops.argsort(
        w.operand(expr.arg), dim=expr.dim, descending=expr.descending, stable=expr.stable
    )


# -- tensors of scalars --


@statement("FullOp")
def _full(w: StatementWriter, expr: Any) -> Any:
    shape = w.vector(expr.shape)
    return w.ops.full(shape=shape, fill_value=w.operand(expr.fill_value), dtype=expr.out.dtype())


@statement("IotaOp")
def _iota(w: StatementWriter, expr: Any) -> Any:
    return w.ops.iota(*w.operands([expr.length, expr.start, expr.step]), dtype=expr.out.dtype())


@statement("EyeOp")
def _eye(w: StatementWriter, expr: Any) -> Any:
    return w.ops.eye(*w.operands([expr.rows, expr.columns]), dtype=expr.out.dtype())


@statement("RNGOp")
def _random(w: StatementWriter, expr: Any) -> Any:
    draw = w.ops.uniform if "niform" in expr.op.name else w.ops.normal
    parameters = w.operands(expr.parameters) or [
        w.constant(number, DataType.Double) for number in (0.0, 1.0)
    ]
    shape = w.vector(expr.shape)
    more = {}
    if expr.seed is not None:
        more = {"rng_seed": w.operand(expr.seed), "rng_offset": w.operand(expr.offset)}
    return draw(*parameters, shape=shape, **more, dtype=expr.out.dtype())


# -- indexing --


@statement("SelectOp")
@statement("IndexSelectOp")
@statement("GatherOp")
def _look_up(w: StatementWriter, expr: Any) -> Any:
    names = {"SelectOp": "select", "IndexSelectOp": "index_select", "GatherOp": "gather"}
    name = names[expr.op_name()]
    if name == "gather" and expr.exact_sizes:
        name = "take_along_axis"
    return getattr(w.ops, name)(w.operand(expr.arg), w.operand(expr.index), dim=expr.dim)


@statement("ScatterOp")
def _scatter(w: StatementWriter, expr: Any) -> Any:
    if expr.accumulate:
        raise untranslatable(expr)
    return w.ops.scatter(*w.operands([expr.arg, expr.index, expr.src]), dim=expr.dim)


@statement("IndexPutAccumulateOp")
def _put(w: StatementWriter, expr: Any) -> Any:
    return w.ops.index_put_accumulate(*w.operands([expr.arg, expr.index, expr.value]))


@statement("EmbeddingFwdOp")
def _embedding(w: StatementWriter, expr: Any) -> Any:
    return w.ops.embedding_fwd(
        *w.operands(
            [
                expr.arg,
                expr.weight,
                expr.padding_idx,
                expr.max_norm,
                expr.norm_type,
                expr.scale_grad_by_freq,
                expr.sparse,
            ]
        )
    )


# -- matrices and attention --


@statement("MatmulOp")
def _matmul(w: StatementWriter, expr: Any) -> Any:
    return w.ops.matmul(*w.operands([expr.a, expr.b]))


@statement("LinearOp")
def _linear(w: StatementWriter, expr: Any) -> Any:
    bias = [expr.bias] if expr.bias is not None else []
    return w.ops.linear(*w.operands([expr.a, expr.b, *bias]))


@statement("GroupedMmaOp")
def _grouped_mm(w: StatementWriter, expr: Any) -> Any:
    operands = w.operands([expr.mat1, expr.mat2, expr.offsets])
    if len(expr.inputs()) == 3 and expr.out.dtype() == expr.mat1.dtype():
        return w.ops.grouped_mm(*operands)
    operands += w.operands([expr.scale1, expr.scale2, expr.alpha, expr.bias, expr.beta])
    return w.ops.grouped_mm(*operands, **_scales(expr))


@statement("ScaledMmaOp")
def _scaled_mm(w: StatementWriter, expr: Any) -> Any:
    values = [expr.mat1, expr.mat2, expr.scale1, expr.scale2, expr.alpha, expr.bias, expr.beta]
    return w.ops.scaled_mm(*w.operands(values), **_scales(expr))


def _scales(expr: Any) -> dict[str, Any]:
    """The arguments by which products with block scales describe their results."""
    found: dict[str, Any] = {"dtype": expr.out.dtype()}
    if expr.out_block_scale is not None:
        inner = [tensor.get_logical_domain()[-1] for tensor in (expr.out, expr.out_block_scale)]
        sizes = [int(axis.extent().value()) for axis in inner]
        found["output_block_scale_size"] = -(-sizes[0] // sizes[1])
        found["output_block_scale_dtype"] = expr.out_block_scale.dtype()
    if expr.out_gamma is not None:
        found["output_gamma"] = True
    return found


@statement("CutlassNvfp4GroupedMmaOp")
def _cutlass_grouped_mm(w: StatementWriter, expr: Any) -> Any:
    return w.ops.cutlass_nvfp4_grouped_mm(*w.operands(expr.inputs()), dtype=expr.out.dtype())


@statement("SdpaFwdOp")
def _attention(w: StatementWriter, expr: Any) -> Any:
    values = [expr.query, expr.key, expr.value, expr.bias, expr.mask]
    return w.ops.sdpfa_fwd(*w.operands([*values, expr.dropout_p, expr.is_causal, expr.scale]))


@statement("SdpaBwdOp")
def _attention_backward(w: StatementWriter, expr: Any) -> Any:
    values = [expr.grad_output, expr.query, expr.key, expr.value, expr.out, expr.logsumexp]
    values += [expr.dropout_p, expr.is_causal, expr.philox_seed, expr.philox_offset, expr.scale]
    return w.ops.sdpfa_bwd(*w.operands(values))


# -- numbers of few bits --


@statement("BlockQuantizationOp")
def _quantize(w: StatementWriter, expr: Any) -> Any:
    return w.ops.nv_block_quantize(
        *w.operands([expr.arg, expr.global_scale]),
        swizzle_block_scales=expr.swizzled,
        block_size=expr.block_size,
        dtype=expr.quantized.dtype(),
    )


@statement("GroupedBlockQuantizationOp")
def _grouped_quantize(w: StatementWriter, expr: Any) -> Any:
    values = [expr.arg, expr.input_offsets, expr.output_offsets, expr.global_scale]
    return w.ops.nv_grouped_block_quantize(
        *w.operands(values), block_size=expr.block_size, dtype=expr.quantized.dtype()
    )


@statement("PreprocessGroupedMatmulInputSf")
def _preprocess(w: StatementWriter, expr: Any) -> Any:
    values = [expr.arg, expr.input_offsets, expr.output_offsets]
    return w.ops.preprocess_grouped_matmul_input_sf(*w.operands(values))

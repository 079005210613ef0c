"""Comparing the outputs of a fusion with references.

Tolerances depend on the type of an output and on how many elements were combined on the way to it.
The tables were measured on random inputs in [0, 1); an entry is the largest error seen for sums of
that many elements.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ._core import DataType, TensorView, UserTypeError, tensor_outputs
from .evaluator import Evaluator, evaluate, flatten_inputs
from .pytorch_utils import as_torch, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import torch

    from ._core import Fusion, Val

# Reduction sizes 4, 8, 16, ... and their errors.
_SIZES = tuple(4 << i for i in range(20))
_FLOAT_ERRORS = (
    1.68222e-06, 2.23704e-06, 2.95788e-06, 4.4778e-06, 6.75395e-06, 8.57934e-06, 1.30594e-05,
    2.19122e-05, 3.3451e-05, 5.78476e-05, 0.000108292, 0.00012207, 0.000136882, 0.000248561,
    0.000407594, 0.000500901, 0.000923019, 0.00156909, 0.00223107, 0.00343043,
)  # fmt: skip
_HALF_ERRORS = (
    0.00390625, 0.0078125, 0.0078125, 0.0155334, 0.0156269, 0.0312042, 0.0312548, 0.0619979,
    0.0625103, 0.124686, 0.12501, 0.24945, 0.250049, 0.498946, 0.500071, 0.985087, 1.00006,
    1.99234, 2.00032, 3.99073,
)  # fmt: skip

_FLOAT_LIKE = {
    DataType.Float,
    DataType.Double,
    DataType.ComplexFloat,
    DataType.ComplexDouble,
}
_COARSE = {
    DataType.BFloat16,
    DataType.Float8_e4m3fn,
    DataType.Float8_e5m2,
    DataType.Float8_e8m0fnu,
    DataType.Float4_e2m1fn,
}


def tolerances(dtype: DataType, reduction_size: int) -> tuple[float, float]:
    """Absolute and relative tolerance for a type and a number of combined elements."""
    if dtype in _FLOAT_LIKE:
        errors, factor = _FLOAT_ERRORS, 1
    elif dtype == DataType.Half:
        errors, factor = _HALF_ERRORS, 1
    elif dtype in _COARSE:
        errors, factor = _HALF_ERRORS, 10
    else:
        return 0.0, 0.0
    if reduction_size <= 1:
        return errors[0], errors[1]
    at = next((i for i, size in enumerate(_SIZES) if size >= reduction_size), len(_SIZES))
    error = errors[at + 1] if at + 1 < len(errors) else 2 * errors[-1]
    return error * factor, error * factor * 0.01


def _visible(fusion: Fusion) -> list[TensorView]:
    return [v for v in fusion.outputs() if not (fusion.alias_of(v) or (None, False))[1]]


def _reduction_sizes(evaluator: Evaluator, fusion: Fusion) -> dict[Val, int]:
    """Per computed tensor: the product of the reduced extents on the longest way to it."""
    sizes: dict[Val, int] = {}
    for expr in fusion.exprs():
        before = max((sizes.get(value, 1) for value in expr.inputs()), default=1)
        for tensor in tensor_outputs(expr):
            reduced = [axis.extent() for axis in tensor.logical() if axis.is_reduction()]
            sizes[tensor] = before * math.prod(int(evaluator.scalar(size)) for size in reduced)
    return sizes


def get_val_tolerances(fusion: Fusion, args: Iterable[Any]) -> list[tuple[float, float]]:
    """``(atol, rtol)`` for every visible output.

    Parameters
    ----------
    fusion : Fusion
        The definition, scheduled or not.
    args : iterable
        Its inputs.
    """
    evaluator = Evaluator(fusion, _torch_args(args))
    sizes = _reduction_sizes(evaluator, fusion)
    return [tolerances(tv.dtype(), sizes.get(tv, 1)) for tv in _visible(fusion)]


def copies(inputs: Iterable[Any]) -> list[Any]:
    """`inputs` with tensors of their own."""

    def copy(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [copy(item) for item in value]
        return as_torch(value).clone() if is_tensor(value) else value

    return [copy(value) for value in inputs]


def _torch_args(args: Iterable[Any]) -> list[Any]:
    return [as_torch(arg) if is_tensor(arg) else arg for arg in flatten_inputs(args)]


def _reference_outputs(fusion: Fusion, args: Sequence[Any]) -> list[torch.Tensor]:
    import torch

    return evaluate(fusion, args, dtype_override=torch.float64)


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    import torch

    if tensor.dtype.is_complex:
        return tensor.to(torch.complex128)
    return tensor.to(torch.float64)


def validate_with_auto_inferred_outputs(
    fusion: Fusion, fusion_outputs: Sequence[torch.Tensor], args: Iterable[Any]
) -> None:
    """Compare outputs with an evaluation of the fusion in double precision.

    Parameters
    ----------
    fusion : Fusion
        The definition, scheduled or not.
    fusion_outputs : sequence of torch.Tensor
        Its visible outputs.
    args : iterable
        Its inputs, as they were before the run.

    Raises
    ------
    RuntimeError
        If counts, shapes or values differ.
    """
    args = _torch_args(args)
    fusion_outputs = [as_torch(output) for output in fusion_outputs]
    outputs = _visible(fusion)
    if len(fusion_outputs) != len(outputs):
        raise RuntimeError("Number of outputs don't match.")
    if len(args) != len(fusion.inputs()):
        raise RuntimeError("Number of inputs don't match.")
    references = _reference_outputs(fusion, args)
    limits = get_val_tolerances(fusion, args)
    checks = zip(outputs, fusion_outputs, references, limits, strict=True)
    for index, (tv, actual, expected, limit) in enumerate(checks):
        _check_output(f"output {index}, {tv}", tv.dtype(), actual, expected, limit)


def _check_output(
    what: str,
    dtype: DataType,
    actual: torch.Tensor,
    expected: torch.Tensor,
    limit: tuple[float, float],
) -> None:
    """Raise a RuntimeError if `actual` is not `expected`, up to `limit`: atol and rtol."""
    import torch

    if actual.shape != expected.shape:
        raise RuntimeError(
            f"Validation error in {what}: shape {list(actual.shape)}, "
            f"expected {list(expected.shape)}"
        )
    if not (actual.dtype.is_floating_point or actual.dtype.is_complex):
        if not torch.equal(actual, expected.to(actual.dtype)):
            raise RuntimeError(
                f"Values are not equal and are not a floating type. Validation error in {what}"
            )
        return
    atol, rtol = limit
    actual, expected = _widened(actual), _widened(expected.to(actual.device))
    if torch.allclose(actual, expected, atol=atol, rtol=rtol, equal_nan=True):
        return
    if dtype == DataType.Float8_e8m0fnu and _within_factor_of_two(actual, expected):
        return
    error = (actual - expected).abs().nan_to_num(nan=float("inf")).max().item()
    raise RuntimeError(
        f"Validation error in {what}. Detected max abs error of: {error} "
        f"absolute tolerance was set to {atol} and relative tolerance set to {rtol}"
    )


def _within_factor_of_two(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    return bool(((actual <= 2 * expected) & (expected <= 2 * actual)).all())


def compare_with_references(
    fusion: Fusion,
    outputs: Sequence[torch.Tensor],
    references: Sequence[torch.Tensor],
    args: Iterable[Any],
) -> None:
    """Compare outputs with references that the caller gives.

    Raises
    ------
    AssertionError
        If counts, shapes or values differ.
    UserTypeError
        If a reference is no tensor.
    """
    import torch

    if len(references) != len(outputs):
        raise AssertionError(f"Expected {len(outputs)} reference outputs for validation.")
    for index, reference in enumerate(references):
        _check_reference(index, reference)
    outputs = [as_torch(output) for output in outputs]
    references = [as_torch(reference) for reference in references]
    limits = get_val_tolerances(fusion, args)
    if len(limits) != len(outputs):
        raise AssertionError(
            f"Missing tolerance values, expected {len(outputs)}, got {len(limits)}"
        )
    for actual, expected, (atol, rtol) in zip(outputs, references, limits, strict=True):
        if actual.shape != expected.shape:
            raise AssertionError("Mismatch in reference and fusion output dimensions")
        if actual.dtype.is_floating_point or actual.dtype.is_complex:
            wide, wide_expected = _widened(actual), _widened(expected)
            if not torch.allclose(wide, wide_expected, atol=atol, rtol=rtol, equal_nan=True):
                error = (wide - wide_expected).abs().max().item()
                raise AssertionError(
                    f"Max error: {error}, Absolute tolerance: {atol}, Relative tolerance: {rtol}"
                )
        elif not torch.equal(actual, expected.to(actual.dtype)):
            raise AssertionError(
                "Mismatch in reference and fusion output values for non-floating point datatypes"
            )


def _check_reference(index: int, reference: object) -> None:
    if not is_tensor(reference):
        raise UserTypeError(
            "A reference output has to be a tensor\n"
            f"  node:     the reference of output {index}\n"
            "  expected: a tensor of PyTorch, or of another framework\n"
            f"  found:    {reference!r}\n"
            "  fix:      give a tensor for each output, or no references: the fusion is then "
            "evaluated"
        )


__all__ = [
    "compare_with_references",
    "copies",
    "get_val_tolerances",
    "tolerances",
    "validate_with_auto_inferred_outputs",
]

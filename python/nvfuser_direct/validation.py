"""Comparing the outputs of a fusion with references.

Tolerances depend on the type of an output and on how many elements were combined on the way to it.
The tables were measured on random inputs in [0, 1); an entry is the largest error seen for sums of
that many elements.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ._core import (
    DataType,
    ScanOp,
    TensorDomain,
    TensorView,
    UserTypeError,
    tensor_outputs,
)
from .evaluator import Evaluator, flatten_inputs
from .opaque import opaque
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
    """Per computed tensor: the product of the combined extents on the longest way to it.

    Reductions combine along reduced axes, scans along theirs.
    """
    sizes: dict[Val, int] = {}
    for expr in fusion.exprs():
        before = max((sizes.get(value, 1) for value in expr.inputs()), default=1)
        for tensor in tensor_outputs(expr):
            combined = [axis.extent() for axis in tensor.logical() if axis.is_reduction()]
            if isinstance(expr, ScanOp):
                axes = TensorDomain.no_reductions(tensor.logical())
                combined.append(axes[expr.dim].maybe_expanded_extent())
            sizes[tensor] = before * math.prod(int(evaluator.scalar(size)) for size in combined)
    return sizes


def _limits(evaluator: Evaluator, fusion: Fusion) -> list[tuple[float, float]]:
    sizes = _reduction_sizes(evaluator, fusion)
    return [tolerances(tv.dtype(), sizes.get(tv, 1)) for tv in _visible(fusion)]


@opaque
def get_val_tolerances(fusion: Fusion, args: Iterable[Any]) -> list[tuple[float, float]]:
    """``(atol, rtol)`` for every visible output.

    Parameters
    ----------
    fusion : Fusion
        The definition, scheduled or not.
    args : iterable
        Its inputs.
    """
    return _limits(Evaluator(fusion, _torch_args(args)), fusion)


def copies(inputs: Iterable[Any]) -> list[Any]:
    """`inputs` with tensors of their own."""

    def copy(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [copy(item) for item in value]
        return as_torch(value).clone() if is_tensor(value) else value

    return [copy(value) for value in inputs]


def _torch_args(args: Iterable[Any]) -> list[Any]:
    return [as_torch(arg) if is_tensor(arg) else arg for arg in flatten_inputs(args)]


@opaque
def validate_with_auto_inferred_outputs(
    fusion: Fusion, fusion_outputs: Sequence[torch.Tensor], args: Iterable[Any]
) -> None:
    """Compare outputs with an evaluation of the fusion.

    The evaluation computes in the dtypes of the fusion. An output that differs from it by more than
    the tolerance is judged by a second one, in double precision: the output may be a few times as
    far from that as the first evaluation is, and the tolerance on top. Where values of 16 bits or
    fewer stand between, a third one does not round these: nearly halfway between two of them, a
    kernel and an evaluation may round to either.

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
    import torch

    args = _torch_args(args)
    outputs = _visible(fusion)
    if len(fusion_outputs) != len(outputs):
        raise RuntimeError("Number of outputs don't match.")
    if len(args) != len(fusion.inputs()):
        raise RuntimeError("Number of inputs don't match.")
    actual = [as_torch(output) for output in fusion_outputs]
    device = actual[0].device if actual else None
    evaluator = Evaluator(fusion, args, device=device)
    limits = _limits(evaluator, fusion)
    own = _visible_values(evaluator, fusion)
    checks = [
        _Check(f"output {i}, {tv}", tv.dtype(), actual[i], own[i], limits[i])
        for i, tv in enumerate(outputs)
    ]
    suspects = [i for i, check in enumerate(checks) if not check.agrees()]
    random = evaluator.drawn
    del evaluator
    error = None
    for rounds_narrow in (True, False) if _has_narrow_values(fusion) else (True,):
        if not suspects:
            return
        wide = Evaluator(
            fusion,
            args,
            torch.float64,
            rounds_narrow=rounds_narrow,
            device=device,
            random=random,
        )
        exact = _visible_values(wide, fusion)
        suspects = [i for i in suspects if not checks[i].is_right(exact[i])]
        error = checks[suspects[0]].error(exact[suspects[0]]) if suspects else None
        del wide, exact
    if error is not None:
        raise error


def _has_narrow_values(fusion: Fusion) -> bool:
    """Whether any tensor holds floats of 16 bits or fewer."""
    narrow = _COARSE | {DataType.Half}
    return any(tensor.dtype() in narrow for tensor in fusion.tensors())


def _visible_values(evaluator: Evaluator, fusion: Fusion) -> list[torch.Tensor]:
    values = zip(fusion.outputs(), evaluator.outputs(), strict=True)
    return [value for val, value in values if not (fusion.alias_of(val) or (None, False))[1]]


class _Check(NamedTuple):
    """An output beside its evaluation.

    Parameters
    ----------
    what : str
        How an error names it.
    dtype : DataType
        Its type.
    actual, own : torch.Tensor
        The output, and what the fusion's expressions give in their own dtypes.
    limit : tuple[float, float]
        Absolute and relative tolerance.
    """

    what: str
    dtype: DataType
    actual: torch.Tensor
    own: torch.Tensor
    limit: tuple[float, float]

    def agrees(self) -> bool:
        """Whether both are the same up to the tolerance."""
        from . import comparison

        if self.actual.shape != self.own.shape:
            raise RuntimeError(
                f"Validation error in {self.what}: shape {list(self.actual.shape)}, "
                f"expected {list(self.own.shape)}"
            )
        if not comparison.is_float(self.actual):
            return comparison.equal(self.actual, self.own)
        return comparison.is_near(self.actual, self.own, self.limit, self.dtype)

    def is_right(self, exact: torch.Tensor) -> bool:
        """Whether the exact result says that the output is right."""
        from . import comparison

        if not comparison.is_float(self.actual):
            return comparison.equal(self.actual, self.own, exact)
        return comparison.is_near(
            self.actual, exact, self.limit, self.dtype
        ) or comparison.is_as_near(self.actual, self.own, exact, self.limit)

    def error(self, exact: torch.Tensor) -> RuntimeError:
        """The error to raise for an output that is not right."""
        from . import comparison

        if not comparison.is_float(self.actual):
            return RuntimeError(
                f"Values are not equal and are not a floating type. Validation error in {self.what}"
            )
        atol, rtol = self.limit
        return RuntimeError(
            f"Validation error in {self.what}. Detected max abs error of: "
            f"{comparison.max_distance(self.actual, exact)} "
            f"absolute tolerance was set to {atol} and relative tolerance set to {rtol}\n"
            "  expected: on top of the tolerance at most "
            f"{comparison.ERROR_MULTIPLE} times the error that an evaluation in the fusion's own "
            "dtypes has at elements of like size\n"
            "  found:    the max abs error of that evaluation is "
            f"{comparison.max_distance(self.own.to(self.actual.device), exact)}; both errors are "
            "distances from an evaluation in float64"
        )


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
    from . import comparison

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
    dtypes = [tv.dtype() for tv in _visible(fusion)]
    for actual, expected, (atol, rtol), dtype in zip(
        outputs, references, limits, dtypes, strict=True
    ):
        if actual.shape != expected.shape:
            raise AssertionError("Mismatch in reference and fusion output dimensions")
        if not comparison.is_float(actual):
            if not comparison.equal(actual, expected):
                raise AssertionError(
                    "Mismatch in reference and fusion output values for non-floating point "
                    "datatypes"
                )
        elif not comparison.is_near(actual, expected, (atol, rtol), dtype):
            raise AssertionError(
                f"Max error: {comparison.max_distance(actual, expected)}, Absolute tolerance: "
                f"{atol}, Relative tolerance: {rtol}"
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

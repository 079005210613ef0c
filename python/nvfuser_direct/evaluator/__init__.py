"""The fallback evaluator: runs a fusion's expressions through PyTorch.

It serves where there is no kernel, and as the reference that results are compared with. Schedules
do not change what it computes: caches, factored reductions and permuted copies are expressions like
any other.

A tensor is held with the shape of its logical domain without reductions. Where an expression's
result has a root domain, the value passes through the transforms between root and logical domain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from ..opaque import opaque
from .core import Evaluator as Evaluator

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch


def flatten_inputs(inputs: Iterable[Any]) -> list[Any]:
    """`inputs` with one level of lists and tuples opened: how vectors of scalars are passed."""
    flat: list[Any] = []
    for item in _core.internal.input_list(inputs):
        if isinstance(item, list | tuple):
            flat.extend(item)
        else:
            flat.append(item)
    return flat


@opaque
def evaluate(
    fusion: _core.Fusion,
    inputs: Iterable[Any],
    dtype_override: torch.dtype | None = None,
) -> list[torch.Tensor]:
    """Evaluate a fusion with PyTorch; inputs are only read.

    Parameters
    ----------
    fusion : Fusion
        What to evaluate; scheduled or not.
    inputs : iterable
        Tensors and Python numbers, in the order of ``fusion.inputs()``.
    dtype_override : torch.dtype, optional
        Compute all floating point in this type; for references use ``torch.float64``.

    Returns
    -------
    list[torch.Tensor]
        The visible outputs.
    """
    evaluator = Evaluator(fusion, flatten_inputs(inputs), dtype_override)
    hidden = [(fusion.alias_of(val) or (None, False))[1] for val in fusion.outputs()]
    return [v for v, is_hidden in zip(evaluator.outputs(), hidden, strict=True) if not is_hidden]

"""Cases whose operands are numbers alone, so that the result is a number as well.

A fusion returns tensors: the result fills one, and is the operand of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from case import Case, Samples, nvf

if TYPE_CHECKING:
    from collections.abc import Callable

# Types that Python's numbers have as scalars of a fusion.
NUMBER_TYPES = (torch.float64, torch.int64, torch.bool, torch.complex128)


def number_case(
    s: Samples,
    build: Callable[..., Any],
    expected: Callable[..., torch.Tensor],
    bounds: list[tuple[float, float]],
    extra: list[list[Any]] | None = None,
    **more: Any,
) -> list[Case]:
    """One case, or none if Python has no number of the dtype.

    Parameters
    ----------
    build, expected : callable
        Of the numbers; `expected` gets them as 0-dim tensors.
    bounds : list of (low, high)
        Of each operand.
    extra : list
        Further runs.
    """
    if s.dtype not in NUMBER_TYPES:
        return []
    runs = [[s.tensor(low=low, high=high).item() for low, high in bounds] for _ in range(3)]
    runs += extra or []

    def reference(*numbers: Any) -> torch.Tensor:
        return expected(*(torch.tensor(number, dtype=s.dtype) for number in numbers))

    result = reference(*runs[0]).dtype

    def filled(ops: Any, *numbers: Any) -> list[Any]:
        number = build(ops, *numbers)
        tensor = ops.full([3], number, nvf(result))
        return [tensor, ops.where(ops.eq(tensor, number), number, tensor)]

    def references(*numbers: Any) -> list[torch.Tensor]:
        tensor = reference(*numbers).expand(3)
        return [tensor, tensor]

    return [Case("numbers alone", filled, runs, references, **more)]

"""Legal dtypes: where an operation takes a dtype at definition, a kernel and the evaluator do.

The table is generated: every operation on elements, every dtype.
"""

from __future__ import annotations

from typing import Any

import pointwise_rows
import pytest
import ternary_rows
import torch
from case import ANY, SHORT, nvf

from nvfuser_direct import FusionDefinition, UserError, evaluate

# They take more than operands; the differential rows have each pair of theirs.
NOT_PLAIN = {"cast", "bitcast", "print", "clamp", "threshold", "where", "addcmul", "add_alpha",
             "sub_alpha"}  # fmt: skip
NAMES = [row.name for row in (*pointwise_rows.rows(), *ternary_rows.rows())]
PLAIN = [name for name in NAMES if name not in NOT_PLAIN]
OTHERS = {
    "clamp": lambda ops, x, _: ops.clamp(x, 0, 1),
    "threshold": lambda ops, x, _: ops.threshold(x, 1, 0),
    "where": lambda ops, x, y: ops.where(ops.eq(x, y), x, y),
    "addcmul": lambda ops, x, y: ops.addcmul(x, y, x, 1),
    "add_alpha": lambda ops, x, y: ops.add_alpha(x, y, 1),
    "sub_alpha": lambda ops, x, y: ops.sub_alpha(x, y, 1),
    "sum": lambda ops, x, _: ops.sum(x, 0),
    "prod": lambda ops, x, _: ops.prod(x, 0),
    "max": lambda ops, x, _: ops.max(x, 0),
    "min": lambda ops, x, _: ops.min(x, 0),
    "cumsum": lambda ops, x, _: ops.cumsum(x, 0),
    "cumprod": lambda ops, x, _: ops.cumprod(x, 0),
    "cummax": lambda ops, x, _: ops.cummax(x, 0),
    "cummin": lambda ops, x, _: ops.cummin(x, 0),
}


def apply(ops: Any, name: str, x: Any, y: Any) -> Any:
    """The operation on as many operands as it takes."""
    if name in OTHERS:
        return OTHERS[name](ops, x, y)
    function = getattr(ops, name)
    for operands in ([x], [x, y], [x, y, x]):
        try:
            return function(*operands)
        except UserError:
            raise
        except TypeError:
            continue
    raise AssertionError(f"{name} takes neither one, two nor three operands")


def legal_names(dtype: torch.dtype) -> list[str]:
    names = []
    for name in (*PLAIN, *OTHERS):
        fd = FusionDefinition()
        with fd:
            x, y = (fd.define_tensor([-1], contiguity=True, dtype=nvf(dtype)) for _ in range(2))
            try:
                apply(fd.ops, name, x, y)
            except UserError:
                continue
        names.append(name)
    return names


def inputs(dtype: torch.dtype) -> list[torch.Tensor]:
    """All pairs of small numbers."""
    numbers = torch.tensor([0, 1] if dtype == torch.bool else [1, 2, 4])
    return [x.flatten().to(dtype) for x in torch.meshgrid(numbers, numbers, indexing="ij")]


def defined(names: list[str], dtype: torch.dtype) -> FusionDefinition:
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1], contiguity=True, dtype=nvf(dtype)) for _ in range(2))
        for name in names:
            fd.add_output(apply(fd.ops, name, x, y))
    return fd


@pytest.mark.parametrize("dtype", ANY, ids=lambda d: SHORT[str(d).removeprefix("torch.")])
def test_kernels_and_the_evaluator_take_what_definitions_take(target, dtype) -> None:
    names = legal_names(dtype)
    assert len(names) > 20
    fd = defined(names, dtype)
    given = [x.to(target) for x in inputs(dtype)]
    computed = fd.execute(given)
    assert fd.fec.get_most_recent_scheduled_ir(), "no kernel"
    evaluated = evaluate(fd.fusion, given)
    for name, x, y in zip(names, computed, evaluated, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape), name
        assert dtype != torch.bool or x.dtype != torch.bool or torch.equal(x, y), name


@pytest.mark.parametrize("name", ["isneginf", "isposinf"])
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_a_sign_of_infinity_needs_an_order(name, dtype) -> None:
    with FusionDefinition() as fd:
        z = fd.define_tensor([-1], contiguity=True, dtype=nvf(dtype))
        with pytest.raises(RuntimeError, match="is not defined for complex numbers"):
            getattr(fd.ops, name)(z)

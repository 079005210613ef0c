"""A fusion with a tensor that is neither an input nor computed is refused by all that runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    DataType,
    Fusion,
    FusionGuard,
    KernelExecutor,
    SchedulerType,
    UserError,
    _core,
    ops,
    schedule,
    segment,
)
from nvfuser_direct.evaluator import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

INPUTS = [torch.ones(3)]

CALLS: dict[str, Callable[[Fusion], object]] = {
    "execute": lambda fusion: _core.FusionExecutorCache(fusion).execute(INPUTS),
    "lower": lambda fusion: fusion.lower(target="cpu"),
    "compile": lambda fusion: KernelExecutor().compile(fusion, INPUTS),
    "evaluate": lambda fusion: evaluate(fusion, INPUTS),
    "segment": lambda fusion: segment(fusion, INPUTS),
    "schedule": lambda fusion: schedule.schedule(fusion, SchedulerType.pointwise, INPUTS),
}


def undefined(shape: list[int], is_output: bool) -> Fusion:
    fusion = Fusion()
    guard = FusionGuard(fusion)
    fusion.add_input(_core.define_tensor([-1]))
    tensor = _core.define_tensor(shape, dtype=DataType.Float)
    fusion.add_output(tensor if is_output else ops.neg(tensor))
    del guard
    return fusion


@pytest.mark.parametrize("is_output", [True, False])
@pytest.mark.parametrize("shape", [[], [-1], [4]], ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_a_tensor_without_elements_is_refused(call: str, shape: list[int], is_output: bool) -> None:
    with pytest.raises(UserError, match="neither an input nor computed"):
        CALLS[call](undefined(shape, is_output))

"""Every operation, and random definitions, written again from their IR: the same is computed."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from cut_definitions import copied, reread

from nvfuser import FusionCache, FusionDefinition, Tensor

sys.path.insert(0, str(Path(__file__).parents[1] / "frontend"))
from operation_calls import CALLS, make_inputs
from random_definitions import RandomDefinition

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    from nvfuser_direct.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable

# They draw from the framework's generator, as the run of the definition itself does.
RANDOM = ("rand_like", "randn_like", "uniform", "normal")


def run_written(fd: FusionDefinition, inputs: list[Any]) -> list[torch.Tensor]:
    """The outputs, by definitions that are written from the resolved fusion."""
    fd._setup_segmentation(inputs)
    plan = fd._segment_plan
    values = dict(zip(fd.inputs(), inputs, strict=True))
    sizes = [size for x in inputs if isinstance(x, torch.Tensor) for size in x.shape]
    values.update(zip(fd.extents(), sizes, strict=True))
    for number in range(len(plan.groups)):
        piece = FusionDefinition()
        indices = fd._build_segment(piece, number)
        assert reread(repr(piece)).id() == piece.id()
        made = evaluated(piece, [values[indices[own]] for own in piece.inputs()])
        values.update({indices[own]: out for own, out in zip(piece.outputs(), made, strict=True)})
    fd._finalize_segmentation()
    return [values[index] for index in plan.returned]


def evaluated(fd: FusionDefinition, inputs: list[Any]) -> list[torch.Tensor]:
    """The returned outputs, by the evaluator: operations are compared, not kernels."""
    replayed = fd._complete_entry().build()
    found = Evaluator(replayed.fusion, copied(inputs)).outputs()
    visible = [
        out
        for tensor, out in zip(replayed.fusion.outputs(), found, strict=False)
        if replayed.fusion.alias_of(tensor) is None or not replayed.fusion.alias_of(tensor)[1]
    ]
    return visible if len(found) == len(replayed.fusion.outputs()) else found


def check(define: Callable[[FusionDefinition], None], inputs: list[Any]) -> None:
    with FusionDefinition() as fd:
        define(fd)
    expected = evaluated(fd, inputs)
    found = run_written(fd, inputs)
    for own, reference in zip(found, expected, strict=True):
        assert own.dtype == reference.dtype
        torch.testing.assert_close(own, reference, equal_nan=True)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_an_operation_has_a_definition_form(name: str, rng: torch.Generator) -> None:
    """ "written from its IR" """
    if name in RANDOM:
        return
    _check_call(name, make_inputs(rng))


def _check_call(name: str, tensors: dict[str, torch.Tensor]) -> None:
    def define(fd: FusionDefinition) -> None:
        handles = {
            key: fd.define_tensor(sizes=list(x.shape), strides=list(x.stride()), dtype=_dtype(x))
            for key, x in tensors.items()
        }
        made = CALLS[name](fd.ops, handles, fd.define_scalar)
        for out in made if isinstance(made, tuple | list) else [made]:
            if isinstance(out, Tensor):
                fd.add_output(out)

    check(define, list(tensors.values()))


def _dtype(x: torch.Tensor) -> Any:
    from nvfuser.pytorch_utils import torch_dtype_to_nvfuser_dtype

    return torch_dtype_to_nvfuser_dtype(x.dtype)


@pytest.mark.parametrize("batch", range(5))
def test_random_definitions_have_a_definition_form(batch: int) -> None:
    """segmentation.md 5, on 200 definitions of many kinds of statements"""
    for seed in range(40 * batch, 40 * batch + 40):
        spec = RandomDefinition(seed)
        with FusionDefinition() as fd:
            spec.write(fd)
        inputs = spec.inputs()
        expected = evaluated(fd, inputs)
        found = run_written(fd, inputs)
        for own, reference in zip(found, expected, strict=True):
            torch.testing.assert_close(own, reference, equal_nan=True, msg=f"seed {seed}")
        FusionCache.reset()

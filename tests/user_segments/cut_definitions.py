"""Definitions to cut, and what is checked of every cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nvfuser import DataType, FusionDefinition
from nvfuser.segmentation import ArgumentManager

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Build = Callable[[FusionDefinition], Any]


def define(build: Build) -> FusionDefinition:
    """A definition; what `build` returns becomes outputs."""
    with FusionDefinition() as fd:
        made = build(fd)
        for out in made if isinstance(made, list) else [made]:
            if out is not None:
                fd.add_output(out)
    return fd


def matrix(fd: FusionDefinition, rank: int = 2, dtype: DataType = DataType.Float) -> Any:
    """A contiguous input."""
    return fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype)


def constant(fd: FusionDefinition, value: float) -> Any:
    return fd.define_scalar(value)


def randn(*shape: int, target: str = "cpu", dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype).to(target)


def copied(inputs: Sequence[Any]) -> list[Any]:
    """Inputs that a run may write into, laid out alike."""
    return [
        torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device).copy_(x)
        if isinstance(x, torch.Tensor)
        else x
        for x in inputs
    ]


def maps(fd: FusionDefinition) -> list[dict[int, int]]:
    return [fd.segment_index_space_maps[segment] for segment in fd.segments]


def reread(text: str) -> FusionDefinition:
    """A definition by a printed one."""
    namespace: dict[str, Any] = {"FusionDefinition": FusionDefinition, "DataType": DataType}
    exec(text, namespace)
    (function,) = (value for name, value in namespace.items() if name.startswith("nvfuser_"))
    with FusionDefinition() as fd:
        function(fd)
    return fd


def check_structure(fd: FusionDefinition) -> None:
    """Check what holds for every cut: the maps are of inputs and outputs, every value is there when
    it is read, and a printed segment reaches the same id."""
    available = {*fd.inputs(), *fd.extents()}
    last: dict[int, int] = {}
    for position, segment in enumerate(fd.segments):
        indices = fd.segment_index_space_maps[segment]
        assert set(indices) == {*segment.inputs(), *segment.outputs()}
        own_inputs = [indices[own] for own in segment.inputs()]
        assert set(own_inputs) <= available, "a value is read before it is made"
        last.update(dict.fromkeys(own_inputs, position))
        available |= {indices[own] for own in segment.outputs()}
        assert reread(repr(segment)).id() == segment.id()
    assert fd.map_value_to_last_used_segment == last
    assert set(fd._segment_outputs) <= available


def check_cut(
    build: Build, inputs: Sequence[Any], count: int | None = None, **tolerances: float
) -> FusionDefinition:
    """Cut a definition, and compare runs of its segments with that of the whole.

    Parameters
    ----------
    count : int, optional
        How many segments there have to be; 1: `segment` returns none.
    """
    whole = define(build)
    before = copied(inputs)
    expected = whole.execute(before)
    fd = define(build)
    assert fd.id() == whole.id()
    segments = fd.segment(inputs)
    if count is not None:
        assert max(len(segments), 1) == count
    if not segments:
        assert not hasattr(fd, "segments")
        return fd
    check_structure(fd)
    for run in (fd.execute, lambda given: run_by_hand(fd, given)):
        given = copied(inputs)
        found = run(given)
        assert len(found) == len(expected)
        for own, reference in zip([*found, *given], [*expected, *before], strict=True):
            if isinstance(own, torch.Tensor):
                assert own.dtype == reference.dtype
                torch.testing.assert_close(own, reference, equal_nan=True, **tolerances)
            else:
                assert own == reference
    return fd


def run_by_hand(fd: FusionDefinition, inputs: Sequence[Any]) -> list[torch.Tensor]:
    """One segment after another."""
    manager = ArgumentManager(fd, inputs)
    for position, segment in enumerate(fd.segments):
        manager.put(position, segment.execute(manager.arguments(position)))
    return manager.outputs()

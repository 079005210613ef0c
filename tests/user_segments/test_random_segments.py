"""Random definitions: their segments run one by one give what the whole gives.

NVFUSER_TEST_SEGMENTED=n tries n definitions instead of 500 (50 on a GPU, where kernels take longer
to compile).
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from cut_definitions import check_structure

from nvfuser import FusionCache, FusionDefinition
from nvfuser.ir_writer import StatementWriter
from nvfuser.segmentation import ArgumentManager
from nvfuser_direct.evaluator import Evaluator

sys.path.insert(0, str(Path(__file__).parents[1] / "segment"))
from random_plans import SpecMaker

if TYPE_CHECKING:
    from nvfuser_direct import Fusion

BATCHES = 10
CUDA_BLOCK_BYTES = 512  # PyTorch's allocator rounds up to it
TOLERANCES = {"atol": 1e-5, "rtol": 1e-5}  # float64, with casts to float32 and back


def written(fusion: Fusion) -> FusionDefinition:
    """A fusion as a definition of the frontend."""
    with FusionDefinition() as fd:
        writer = StatementWriter(fd)
        for value in fusion.inputs():
            writer.tensor_input(value)
        for expr in fusion.exprs():
            if expr.output(0).is_tensor():
                writer.expression(expr, keeps=True)
        for tensor in fusion.outputs():
            writer.output(tensor)
    return fd


def run_and_watch(fd: FusionDefinition, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Run one segment after another. The table does not keep a value that is no output and that no
    later segment reads; nothing else than the table keeps values."""
    manager = ArgumentManager(fd, inputs)
    kept = {*fd._segment_outputs, *fd.extents()}
    for position, segment in enumerate(fd.segments):
        given = manager.arguments(position)
        watched = {
            index: weakref.ref(manager.values[index])
            for index in (fd.segment_index_space_maps[segment][own] for own in segment.inputs())
            if isinstance(manager.values[index], torch.Tensor) and index not in fd.inputs()
        }
        manager.put(position, segment.execute(given))
        del given
        later = {
            index
            for other in fd.segments[position + 1 :]
            for own, index in fd.segment_index_space_maps[other].items()
            if own in other.inputs()
        }
        unread = {index for index in fd.inputs() if index not in fd.map_value_to_last_used_segment}
        assert set(manager.values) - kept - unread <= later
        for index, ref in watched.items():
            if index not in later and index not in kept:
                alive = ref()
                assert alive is None or _is_base_of(alive, manager)
    return manager.outputs()


def check_memory(fd: FusionDefinition, inputs: list[torch.Tensor]) -> None:
    """Behind every segment the device holds what the table holds, and nothing else. It may hold
    less: a view of an input, or of another value, looks like memory of its own.

    Requires: the segments ran before, so that they compile nothing and have their counters.
    """
    gc.collect()
    before = torch.cuda.memory_allocated()
    given = {x.untyped_storage().data_ptr() for x in inputs}
    manager = ArgumentManager(fd, inputs)
    for position, segment in enumerate(fd.segments):
        manager.put(position, segment.execute(manager.arguments(position)))
        storages = [v.untyped_storage() for v in manager.values.values() if hasattr(v, "dtype")]
        sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
        promised = sum(
            -(-size // CUDA_BLOCK_BYTES) * CUDA_BLOCK_BYTES
            for address, size in sizes.items()
            if address not in given
        )
        assert torch.cuda.memory_allocated() - before <= promised, f"behind segment {position}"


def _is_base_of(tensor: torch.Tensor, manager: ArgumentManager) -> bool:
    """Whether a view of the tensor is still needed."""
    begin = tensor.data_ptr()
    end = begin + max(tensor.numel() * tensor.element_size(), 1)
    return any(
        isinstance(value, torch.Tensor) and begin <= value.data_ptr() < end
        for value in manager.values.values()
    )


def check_seed(seed: int, target: str) -> int:
    """The number of segments."""
    maker = SpecMaker(seed)
    spec = maker.make(2 + seed % 14)
    original, _ = spec.build()
    inputs = [x.to(target) for x in spec.inputs]
    expected = Evaluator(original.fusion, inputs).outputs()
    fd = written(original.fusion)
    segments = fd.segment(inputs)
    if not segments:
        return 1
    check_structure(fd)
    for found in (fd.execute(inputs), run_and_watch(fd, inputs)):
        assert len(found) == len(expected)
        for own, reference in zip(found, expected, strict=True):
            torch.testing.assert_close(own, reference, equal_nan=True, **TOLERANCES)
    if target == "cuda":
        check_memory(fd, inputs)
    if seed % 10 == 0:
        for own, reference in zip(found, written(original.fusion).execute(inputs), strict=True):
            torch.testing.assert_close(own, reference, equal_nan=True, **TOLERANCES)
    return len(segments)


def seeds_of(batch: int, target: str) -> range:
    count = int(os.environ.get("NVFUSER_TEST_SEGMENTED", "50" if target == "cuda" else "500"))
    return range(batch, count, BATCHES)  # every batch has definitions of all lengths


@pytest.mark.parametrize("batch", range(BATCHES))
def test_segments_of_random_definitions(target, batch) -> None:
    """segmentation.md 1, 3, 4 and 12.5 on random fusions"""
    failed: dict[int, Any] = {}
    counts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds_of(batch, target):
            try:
                counts.append(check_seed(seed, target))
            except Exception as error:
                failed[seed] = f"{type(error).__name__}: {str(error)[:600]}"
            FusionCache.reset()
    assert not failed, "\n".join(f"seed {seed}: {text}" for seed, text in failed.items())
    assert sum(count > 1 for count in counts) * 3 > len(counts), "most are one segment"

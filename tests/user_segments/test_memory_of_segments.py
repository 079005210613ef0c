"""Tensors between segments are freed behind their last reader."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from cut_definitions import constant, define, matrix, randn

from nvfuser import DataType, FusionDefinition


def three_sums(fd: FusionDefinition):
    x = matrix(fd, 4, DataType.Double)
    value = fd.ops.sum(fd.ops.add(x, constant(fd, 1.0)), [0])
    return fd.ops.sum(fd.ops.sum(value, [-1]), [0])


class Watch:
    """Wraps `execute` of segments; sees which results are alive before each launch."""

    def __init__(self, fd: FusionDefinition) -> None:
        self.made: list[list[weakref.ref[torch.Tensor]]] = []
        self.alive_before: list[list[int]] = []
        for segment in fd.segments:
            segment.execute = self.wrap(segment.execute)

    def wrap(self, execute):
        def run(inputs, **options):
            gc.collect()
            self.alive_before.append(
                [k for k, refs in enumerate(self.made) if any(ref() is not None for ref in refs)]
            )
            outputs = execute(inputs, **options)
            self.made.append([weakref.ref(out) for out in outputs])
            return outputs

        return run


def test_a_boundary_value_dies_with_its_last_reader() -> None:
    """segmentation.md 4, step 3: each segment of a chain sees only its own input alive"""

    def build(fd):
        value = matrix(fd)
        for _ in range(4):
            value = fd.ops.segment_set(fd.ops.exp(fd.ops.neg(value)))
        return fd.ops.neg(value)

    x = randn(50, 40)
    fd = define(build)
    segments = fd.segment([x])
    watch = Watch(fd)
    fd.execute([x])
    expected = [[], *([k] for k in range(len(segments) - 1))]
    assert watch.alive_before == expected


def test_a_value_lives_until_its_last_reader() -> None:
    """A value that the last of several segments reads"""

    def build(fd):
        x = matrix(fd)
        early = fd.ops.segment_set(fd.ops.exp(x))
        late = fd.ops.segment_set(fd.ops.neg(early))
        return fd.ops.add(fd.ops.segment_set(fd.ops.sin(late)), early)

    x = randn(50, 40)
    fd = define(build)
    fd.segment([x])
    watch = Watch(fd)
    (out,) = fd.execute([x])
    assert watch.alive_before[-1][0] == 0
    torch.testing.assert_close(out, torch.sin(-torch.exp(x)) + torch.exp(x))


def test_three_sums(target) -> None:
    """Right, and 3 segments"""
    x = randn(32, 64, 8, 128, target=target, dtype=torch.float64)
    fd = define(three_sums)
    assert len(fd.segment([x])) == 3
    torch.testing.assert_close(fd.execute([x])[0], (x + 1).sum(0).sum(-1).sum(0))


def test_bytes_alive_during_three_sums(target) -> None:
    """The bytes alive at most, counted by storage: "the input, which the caller
    holds; the first sum; the second sum" """
    fd = define(three_sums)
    x = randn(32, 64, 8, 128, target=target, dtype=torch.float64)
    segments = fd.segment([x])
    alive: dict[int, int] = {x.untyped_storage().data_ptr(): x.untyped_storage().nbytes()}
    peaks = []

    def watched(execute):
        def run(inputs, **options):
            outputs = execute(inputs, **options)
            for out in outputs:
                storage = out.untyped_storage()
                alive[storage.data_ptr()] = storage.nbytes()
                weakref.finalize(out, alive.pop, storage.data_ptr(), None)
            peaks.append(sum(alive.values()))
            return outputs

        return run

    for segment in segments:
        segment.execute = watched(segment.execute)
    (out,) = fd.execute([x])
    sums = [32 * 64 * 8 * 128, 64 * 8 * 128, 64 * 8, 8]
    expected = [sums[0] + sums[1], sums[0] + sums[1] + sums[2], sums[0] + sums[2] + sums[3]]
    assert peaks == [8 * elements for elements in expected]
    assert max(peaks) == (32 * 64 * 8 * 128 + 64 * 8 * 128 + 64 * 8) * 8
    assert out.shape == (8,)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_peak_memory_of_three_sums() -> None:
    """Exactly the input, the first sum and the second"""
    fd = define(three_sums)
    x = randn(32, 64, 8, 128, target="cuda", dtype=torch.float64)
    fd.segment([x])
    fd.execute([x])  # compiles
    gc.collect()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated() - x.numel() * x.element_size()
    torch.cuda.reset_peak_memory_stats()
    fd.execute([x])
    peak = torch.cuda.max_memory_allocated() - before
    assert peak == (32 * 64 * 8 * 128 + 64 * 8 * 128 + 64 * 8) * 8

"""A segment that needs a size which another one reduced over takes it from an argument."""

from __future__ import annotations

import torch

from nvfuser_direct import DataType, FusionDefinition, segment


def variance_of_copies() -> FusionDefinition:
    """The mean minus the variance, three times: scaled behind the reduction, by its size."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, -1], contiguity=True)
        mean, sums, _ = fd.ops.welford(fd.ops.squeeze(x, dims=[0]), dims=[0])
        count = fd.ops.cast(fd.ops.size(x, 1), dtype=DataType.Double)
        variance = fd.ops.mul(sums, fd.ops.reciprocal(count))
        copies = fd.ops.expand(fd.ops.broadcast(variance, [True, True]), [3, 1])
        copies = fd.ops.maximum(copies, copies)
        fd.add_output(fd.ops.sub(fd.ops.broadcast(mean, [True, True]), copies))
    return fd


def test_a_variance_that_another_segment_scales(target: str) -> None:
    fd = variance_of_copies()
    values = torch.rand(1, 300, generator=torch.Generator().manual_seed(0))
    inputs = [values.to(target)]
    last = segment(fd.fusion, inputs).groups[-1]
    assert any(tensor.rank() == 2 for tensor in last.fusion.inputs())
    exact = values.double()
    expected = (exact.mean() - exact.var(correction=0)).expand(3, 1)
    (found,) = fd.execute(inputs)
    torch.testing.assert_close(found.cpu().double(), expected, atol=1e-5, rtol=0)

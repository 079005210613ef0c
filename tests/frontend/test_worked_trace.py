"""Definitions walk through the trie: the worked trace of the documentation."""

from __future__ import annotations

import torch

from nvfuser import FusionCache, FusionDefinition


def scaled_row_sum(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor([-1, -1], contiguity=True)
    s1 = fd.define_scalar(0.5)
    t2 = fd.ops.mul(t0, s1)
    t3 = fd.ops.sum(t2, [1])
    fd.add_output(t3)


def test_equal_definitions_have_one_id(target: str) -> None:
    """The worked trace, and what the cache reports of it."""
    with FusionDefinition() as a:
        scaled_row_sum(a)
    with FusionDefinition() as b:
        scaled_row_sum(b)
    with FusionDefinition() as c:
        t0 = c.define_tensor([-1, -1], contiguity=True)
        s1 = c.define_scalar(0.5)
        t2 = c.ops.mul(t0, s1)
        c.add_output(t2)
    assert (a.id(), b.id(), c.id()) == (0, 0, 1)
    assert repr(a) == repr(b)
    assert repr(b) == (
        "\n"
        "def nvfuser_fusion_id0(fd : FusionDefinition) -> None :\n"
        "    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], "
        "dtype=DataType.Float, is_cpu=False)\n"
        "    S1 = fd.define_scalar(0.500000, dtype=DataType.Double)\n"
        "    T2 = fd.ops.mul(T0, S1)\n"
        "    T3 = fd.ops.sum(T2, dims=[1], keepdim=False, dtype=DataType.Null)\n"
        "    fd.add_output(T3)\n"
        "\n"
    )
    assert FusionCache.get().num_fusions() == 2
    assert FusionCache.get().stats() == (
        "Total Fusions: 2\n"
        "Cache Hits by Fusion Id:\n"
        "\t0 -> 1 hits\n"
        "\t1 -> 0 hits\n"
        "Cache Lookups: 3 Cache Hits: 1 Hit Rate: 33.3333%\n"
    )
    assert (a.inputs(), a.outputs(), a.extents()) == ([0], [3], [-1, -2])
    x = torch.randn(7, 5, device=target)
    (out,) = FusionDefinition(0).execute([x])
    torch.testing.assert_close(out, (x * 0.5).sum(1))

"""LRUCache and LruFusionCache."""

from __future__ import annotations

import threading

import pytest
import torch

from nvfuser_direct import FusionDefinition, LRUCache, LruFusionCache


def build(factor: float) -> FusionDefinition:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.mul(fd.define_tensor([-1]), factor))
    return fd


def test_equal_definitions_share_an_executor_cache() -> None:
    cache = LRUCache(10)
    first = cache.cache_compile(build(2.0).fusion)
    assert cache.cache_compile(build(2.0).fusion) is first
    assert cache.cache_compile(build(3.0).fusion) is not first
    assert cache.num_fusions() == 2


def test_statistics() -> None:
    cache = LRUCache(100)
    assert cache.stats() == "Max Fusions Allowed: 100\nThe fusion cache is empty.\n"
    for factor in (2.0, 3.0) * 5:
        cache.cache_compile(build(factor).fusion)
    assert cache.stats() == (
        "Max Fusions Allowed: 100\n"
        "Total Fusions in Cache: 2\n"
        "Total Unique Fusions Compiled: 2\n"
        "Cache Hits by LRU ordering:\n"
        "\t0 -> 4 hits\n"
        "\t1 -> 4 hits\n"
        "Cache Lookups: 10\n"
        "Cache Hits: 8\n"
        "Hit Rate: 80%\n"
    )


def test_the_least_recently_used_one_goes() -> None:
    cache = LRUCache(2)
    first = cache.cache_compile(build(1.0).fusion)
    second = cache.cache_compile(build(2.0).fusion)
    assert cache.cache_compile(build(1.0).fusion) is first
    cache.cache_compile(build(3.0).fusion)
    assert cache.cache_compile(build(1.0).fusion) is first
    assert cache.cache_compile(build(2.0).fusion) is not second


def test_an_empty_cache_is_refused() -> None:
    with pytest.raises(ValueError, match="max_fusions must be"):
        LRUCache(0)


def test_the_decorator() -> None:
    @LruFusionCache(max_fusions=4)
    def make(factor: float) -> FusionDefinition:
        """Multiply."""
        return build(factor)

    x = torch.arange(4.0)
    for _ in range(3):
        assert torch.equal(make(2.0).execute([x])[0], x * 2)
    assert make.__doc__ == "Multiply."
    assert make.num_fusions() == 1
    assert "Hit Rate: 66.6667%" in make.stats()
    assert make(2.0).fec is make(2.0).fec
    assert make(2.0).fusion is make(2.0).fec.fusion()


def test_what_is_no_fusion_is_refused() -> None:
    for wrong in (None, FusionDefinition()):
        with pytest.raises(TypeError, match="expected a Fusion, but got "):
            LRUCache(2).cache_compile(wrong)  # type: ignore[arg-type]

    @LruFusionCache()
    def make() -> FusionDefinition:
        return build(2.0).fusion  # type: ignore[return-value]

    with pytest.raises(TypeError, match="make returned Fusion; what LruFusionCache decorates"):
        make()


def test_threads_share_one_cache() -> None:
    cache = LRUCache(8)
    found: list[object] = []

    def work() -> None:
        for factor in (1.0, 2.0, 3.0):
            found.append(cache.cache_compile(build(factor).fusion))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 3

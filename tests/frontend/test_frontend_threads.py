"""Threads define and execute at once: ids are stable, and nothing is compiled twice."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser import FusionCache, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 32


def together(work: Callable[[int], Any]) -> list[Any]:
    """`work` in many threads, which start at the same moment."""
    start = threading.Barrier(THREADS)

    def run(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def chain(kind: int) -> FusionDefinition:
    """One of several definitions that share their first statements."""
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        for name in ("neg", "exp", "sin")[: 1 + kind % 3]:
            t = getattr(fd.ops, name)(t)
        t = fd.ops.mul(t, fd.define_scalar(float(kind)))
        fd.add_output(t)
    return fd


def test_equal_and_different_definitions(target: str) -> None:
    """16, issue: 32 threads define and execute; ids stable, each compiled once."""
    x = torch.linspace(-1, 1, 60, device=target).reshape(6, 10)
    kinds = 8

    def work(number: int) -> list[tuple[int, int | None, torch.Tensor]]:
        seen = []
        for step in range(16):
            kind = (number + step) % kinds
            fd = chain(kind)
            seen.append((kind, fd.id(), fd.execute([x])[0]))
        return seen

    results = [item for one in together(work) for item in one]
    ids = {kind: {i for k, i, _ in results if k == kind} for kind in range(kinds)}
    assert all(len(found) == 1 for found in ids.values())
    assert {i for found in ids.values() for i in found} == set(range(kinds))
    cache = FusionCache.get()
    assert cache.num_fusions() == kinds
    for entry in cache._generation.entries:
        assert entry.fec is not None
        assert entry.fec.stats().compiled == 1
        assert entry.fec.stats().runtimes == 1
    for kind, _, out in results:
        expected = -x
        if kind % 3 >= 1:
            expected = expected.exp()
        if kind % 3 >= 2:
            expected = expected.sin()
        torch.testing.assert_close(out, expected * kind, rtol=1e-5, atol=1e-5)
    generation = cache._generation
    assert generation.lookups == THREADS * 16
    assert generation.hits == generation.lookups - kinds
    assert sum(entry.hits for entry in generation.entries) == generation.hits


def test_a_definition_that_fails_fails_in_every_thread() -> None:
    """The loser sees no half-built entry, and the same text."""

    def work(number: int) -> str:
        fd = FusionDefinition()
        fd._setup_definition()
        for _ in range(20):
            fd.define_tensor([-1])
        fd.add_output(fd.ops.sum(fd.define_tensor([-1]), [4]))
        with pytest.raises(RuntimeError) as caught:
            fd._finalize_definition()
        return str(caught.value)

    assert len(set(together(work))) == 1
    assert FusionCache.get().num_fusions() == 1


def test_one_object_is_executed_by_many_threads(target: str) -> None:
    """Different objects of one id at once; one kernel for an input class."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(t0, [1]))

    def work(number: int) -> bool:
        x = torch.full((number % 5 + 1, 100), float(number), device=target)
        (out,) = FusionDefinition(fd.id()).execute([x])
        return torch.allclose(out, x.sum(1))

    assert all(together(work))
    assert FusionCache.get().num_fusions() == 1


def test_user_schedules_are_written_by_many_threads(target: str) -> None:
    """Adding a user schedule is atomic."""

    class Negates(FusionDefinition):
        def definition(self) -> None:
            self.t0 = self.define_tensor([-1, -1], contiguity=True)
            self.t1 = self.ops.neg(self.t0)
            self.add_output(self.t1)

        def schedule(self) -> None:
            self.sched.merge(self.t1, 0)
            self.sched.transform_like(self.t1)
            self.sched.inline_most()

    def work(number: int) -> bool:
        x = torch.full((number % 4 + 1, 10), float(number), device=target)
        fd = Negates()
        return all(torch.equal(fd.execute([x])[0], -x) for _ in range(3))

    assert all(together(work))
    (entry,) = FusionCache.get()._generation.entries
    assert len(entry.user_schedules) == 4


def test_a_reset_beside_definitions_is_detected() -> None:
    """They end with an error, or with an id of the new cache; never with a stale one."""
    stop = threading.Event()

    def define() -> list[str]:
        texts = []
        while not stop.is_set():
            try:
                fd = chain(1)
                fd.execute([torch.ones(2, 2)])
            except RuntimeError as error:
                texts.append(str(error).splitlines()[0])
        return texts

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(define) for _ in range(4)]
        for _ in range(30):
            FusionCache.reset()
        stop.set()
        texts = {text for future in futures for text in future.result()}
    assert texts <= {"The definition belongs to a FusionCache that was reset."}

"""A printed definition is a program that records the same statements."""

from __future__ import annotations

from typing import Any

from random_definitions import RandomDefinition

import nvfuser
from nvfuser import FusionCache, FusionDefinition


def read_back(text: str) -> FusionDefinition:
    """The definition that a printed one writes."""
    namespace: dict[str, Any] = dict(vars(nvfuser))
    exec(text, namespace)
    (name,) = (name for name in namespace if name.startswith("nvfuser_fusion_id"))
    with FusionDefinition() as fd:
        namespace[name](fd)
    return fd


def test_random_definitions_are_read_back_to_their_ids() -> None:
    """13, issue: 1,000 random definitions, printed, read back, same id."""
    written = []
    for seed in range(1000):
        with FusionDefinition() as fd:
            RandomDefinition(seed).write(fd)
        written.append(fd)
    count = FusionCache.get().num_fusions()
    assert count > 950
    for fd in written:
        read = read_back(repr(fd))
        assert read.id() == fd.id(), repr(fd)
        assert repr(read) == repr(fd)
    assert FusionCache.get().num_fusions() == count


def test_equal_seeds_write_equal_definitions() -> None:
    """The same statements, the same id."""
    for seed in range(50):
        ids = []
        for _ in range(2):
            with FusionDefinition() as fd:
                RandomDefinition(seed).write(fd)
            ids.append(fd.id())
        assert ids[0] == ids[1]

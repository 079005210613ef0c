"""Caches of compiled fusions: the same definition is compiled once."""

from __future__ import annotations

import functools
import operator
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from . import _core
from .executor_cache import FusionExecutorCache
from .fusion_definition import FusionDefinition
from .opaque import opaque

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._core import Fusion


class _Key:
    """A fusion as a key: two are the same if the fusions are equal."""

    def __init__(self, fusion: Fusion) -> None:
        if not isinstance(fusion, _core.Fusion):
            raise TypeError(f"expected a Fusion, but got {type(fusion).__name__}")
        self.fusion = fusion
        self._hash = fusion.hash()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.fusion == other.fusion


class _Entry:
    def __init__(self, executor: FusionExecutorCache) -> None:
        self.executor = executor
        self.hits = 0


@opaque
class LRUCache:
    """Compiled fusions by definition; the least recently used one goes first. Thread-safe.

    Parameters
    ----------
    max_fusions : int
        How many are kept, at least 1.
    """

    def __init__(self, max_fusions: int) -> None:
        if operator.index(max_fusions) <= 0:
            raise ValueError(f"max_fusions must be positive, but got {max_fusions}")
        self._max_fusions = max_fusions
        self._lock = threading.Lock()
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()  # most recently used last
        self._num_lookups = 0
        self._num_hits = 0

    def cache_compile(self, fusion: Fusion) -> FusionExecutorCache:
        """Find the executor cache of an equal fusion, or make one.

        Parameters
        ----------
        fusion : Fusion
            The definition. On a miss it belongs to the cache and must not be changed any more.

        Returns
        -------
        FusionExecutorCache
            The same object for equal fusions, while it is kept.
        """
        key = _Key(fusion)
        with self._lock:
            self._num_lookups += 1
            entry = self._entries.get(key)
            if entry is not None:
                self._num_hits += 1
                entry.hits += 1
                self._entries.move_to_end(key)
                return entry.executor
            if len(self._entries) == self._max_fusions:
                self._entries.popitem(last=False)
            num_misses = self._num_lookups - self._num_hits
            entry = _Entry(FusionExecutorCache(fusion, fusion_id=num_misses - 1))
            self._entries[key] = entry
            return entry.executor

    def num_fusions(self) -> int:
        """How many fusions are kept."""
        with self._lock:
            return len(self._entries)

    def stats(self) -> str:
        """The lookups and hits, as text."""
        with self._lock:
            lines = [f"Max Fusions Allowed: {self._max_fusions}"]
            if not self._entries:
                lines.append("The fusion cache is empty.")
            else:
                hits = [entry.hits for entry in reversed(self._entries.values())]
                lines += [
                    f"Total Fusions in Cache: {len(hits)}",
                    f"Total Unique Fusions Compiled: {self._num_lookups - self._num_hits}",
                    "Cache Hits by LRU ordering:",
                    *(f"\t{i} -> {count} hits" for i, count in enumerate(hits)),
                    f"Cache Lookups: {self._num_lookups}",
                    f"Cache Hits: {self._num_hits}",
                    f"Hit Rate: {100 * self._num_hits / self._num_lookups:g}%",
                ]
        return "\n".join(lines) + "\n"


class LruFusionCache:
    """Decorator for functions that return a `FusionDefinition`: equal ones share their kernels.

    >>> @LruFusionCache(max_fusions=32)
    ... def scaled(factor):
    ...     with FusionDefinition() as fd:
    ...         fd.add_output(fd.ops.mul(fd.define_tensor([-1]), factor))
    ...     return fd
    >>> (out,) = scaled(2.0).execute([torch.randn(8)])

    The decorated function has the methods ``stats`` and ``num_fusions`` of `LRUCache`.

    Parameters
    ----------
    max_fusions : int
        How many fusions are kept.
    """

    def __init__(self, max_fusions: int = 16384) -> None:
        self._cache = LRUCache(max_fusions)

    def __call__(self, define: Callable[..., FusionDefinition]) -> Callable[..., FusionDefinition]:
        """Wrap `define`."""

        @opaque
        @functools.wraps(define)
        def define_cached(*args: Any, **kwargs: Any) -> FusionDefinition:
            fd = define(*args, **kwargs)
            if not isinstance(fd, FusionDefinition):
                raise TypeError(
                    f"{define.__name__} returned {type(fd).__name__}; "
                    "what LruFusionCache decorates returns a FusionDefinition"
                )
            fd.fec = self._cache.cache_compile(fd.fusion)
            fd._fusion = None  # from now on it is the executor cache's
            return fd

        define_cached.stats = self._cache.stats  # type: ignore[attr-defined]
        define_cached.num_fusions = self._cache.num_fusions  # type: ignore[attr-defined]
        return define_cached

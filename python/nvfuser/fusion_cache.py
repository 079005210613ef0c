"""FusionCache: the definitions of this process, and which id each of them has."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar

from .entry import Entry
from .environment import dumps_definitions, print_text
from .errors import RESET, user_error
from .printing import definition_text, statement_lines
from .trie import Trie

if TYPE_CHECKING:
    from collections.abc import Collection

    from .trie import Node

MAX_FUSIONS = 16384


class Generation:
    """Everything that a reset drops: trie, entries and counts. `lock` guards all but the trie."""

    def __init__(self) -> None:
        self.trie = Trie()
        self.entries: list[Entry] = []
        self.lookups = 0
        self.hits = 0
        self.is_reset = False
        self.lock = threading.RLock()

    def check_alive(self) -> None:
        """Raise if the cache was reset since."""
        if self.is_reset:
            raise user_error(
                RESET,
                found="an object that was made before",
                fix="define the fusion again",
            )

    def complete(self, node: Node, spelled_out: Collection[int], max_fusions: int) -> Entry:
        """The entry of a definition that ends at `node`: a hit, or a new id."""
        with self.lock:
            entry = node.entry
            if entry is not None:
                self.hits += 1
                entry.hits += 1
            else:
                if len(self.entries) >= max_fusions:
                    raise user_error(
                        f"The number of fusions in nvfuser has exceeded {max_fusions}fusions.",
                        expected=f"at most {max_fusions} definitions",
                        fix="FusionCache.get(max_fusions=...), or FusionCache.reset()",
                    )
                entry = self.add(len(self.entries), node, spelled_out)
                if dumps_definitions():
                    print_text(definition_text(node, entry.id, spelled_out))
        entry.build()  # outside of the lock: other threads complete other definitions meanwhile
        return entry

    def add(self, fusion_id: int, node: Node, spelled_out: Collection[int]) -> Entry:
        """A new entry, with the next id. The caller holds the lock."""
        entry = Entry(fusion_id, node, self, spelled_out)
        self.entries.append(entry)
        node.entry = entry
        return entry


class FusionCache:
    """The definitions of this process: a trie of their statements, and an id for each.

    There is one, which `FusionCache.get` returns.
    """

    _instance: ClassVar[FusionCache | None] = None
    _creation_lock: ClassVar[threading.RLock] = threading.RLock()

    def __init__(self) -> None:
        self._max_fusions = MAX_FUSIONS
        self._selected_device: int | None = None
        self._generation = Generation()

    @staticmethod
    def get(
        max_fusions: int = MAX_FUSIONS,
        selected_device: int | None = None,
        load_from_default_workspace: bool = True,
    ) -> FusionCache:
        """The cache of this process, which the first call makes.

        Parameters
        ----------
        max_fusions : int
            How many definitions it may hold; every call sets it.
        selected_device : int, optional
            Rank that names the file of the default workspace.
        load_from_default_workspace : bool
            Whether the first call reads that file.
        """
        cache = FusionCache._instance
        if cache is None:
            cache = FusionCache._create(selected_device, load_from_default_workspace, max_fusions)
        cache._set_max_fusions(max_fusions)
        return cache

    @staticmethod
    def _create(
        selected_device: int | None = None, load: bool = True, max_fusions: int = MAX_FUSIONS
    ) -> FusionCache:
        with FusionCache._creation_lock:
            if FusionCache._instance is None:
                cache = FusionCache()
                cache._selected_device = selected_device
                cache._max_fusions = max_fusions
                FusionCache._instance = cache
                if load:
                    from .serialization import load_default_workspace

                    load_default_workspace(cache)
            return FusionCache._instance

    def _set_max_fusions(self, max_fusions: int) -> None:
        with self._generation.lock:
            count = len(self._generation.entries)
            if max_fusions < count:
                raise user_error(
                    "The max fusions is set less than the number of fusions in the cache.",
                    expected=f"at least {count}",
                    found=f"{max_fusions}",
                )
            self._max_fusions = max_fusions

    @staticmethod
    def reset() -> None:
        """Drop everything; ids start again at 0. Objects that were made before are invalid.

        The limit and the device stay.
        """
        cache = FusionCache._instance
        if cache is None:
            return
        old = cache._generation
        with old.lock:
            old.is_reset = True
            for entry in old.entries:
                entry.quick_run = None
            cache._generation = Generation()

    def num_fusions(self) -> int:
        """How many ids were given, failed definitions included."""
        return len(self._generation.entries)

    def stats(self) -> str:
        """Look-ups and hits, as text."""
        generation = self._generation
        with generation.lock:
            lines = [f"Total Fusions: {len(generation.entries)}"]
            if generation.entries:
                lines.append("Cache Hits by Fusion Id:")
                lines += [f"\t{entry.id} -> {entry.hits} hits" for entry in generation.entries]
                rate = 100 * generation.hits / generation.lookups if generation.lookups else 0
                lines.append(
                    f"Cache Lookups: {generation.lookups} Cache Hits: {generation.hits} "
                    f"Hit Rate: {rate:g}%"
                )
        return "\n".join(lines) + "\n"

    def print_stats(self) -> None:
        """Print `stats`."""
        print(self.stats(), end="")

    def __repr__(self) -> str:
        lines = ["Fusions by id:"]
        for entry in list(self._generation.entries):
            lines.append(f"{entry.id}:")
            lines += [f"    {line}" for line in statement_lines(entry.node, entry.spelled_out)]
        return "\n".join(lines) + "\n"

    def serialize(self, filename: str) -> None:
        """Write the definitions, and the kernels of those that were executed, to a file.

        Parameters
        ----------
        filename : str
            The file.
        """
        from .serialization import serialize

        serialize(self, filename)

    def deserialize(self, filename: str) -> None:
        """Fill this cache, which has to be empty, from a file.

        Parameters
        ----------
        filename : str
            What `serialize` wrote, with this version, compiler and kind of device.
        """
        from .serialization import deserialize

        deserialize(self, filename)

    def _entry(self, fusion_id: int) -> Entry:
        entries = self._generation.entries
        if not 0 <= fusion_id < len(entries):
            raise user_error(
                f"Invalid scheduler query for id: {fusion_id}",
                expected=f"one of {len(entries)} ids",
                found=f"{fusion_id}",
            )
        return entries[fusion_id]

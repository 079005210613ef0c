"""The entry of a fusion id: the IR, the compiled kernels, and schedules that users wrote."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from nvfuser_direct import FusionExecutorCache, UserError

from .errors import user_error
from .replay import Replayed, replay

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from .fusion_cache import Generation
    from .trie import Node
    from .user_schedule import UserSchedule


class Entry:
    """A complete definition. It may be used by many threads and objects at once.

    Attributes
    ----------
    id : int
        The fusion id.
    node : Node
        The last statement.
    generation : Generation
        The cache contents that it belongs to, up to a reset.
    spelled_out : frozenset[int]
        Constants and vectors that the first definition wrote as statements.
    hits : int
        How many definitions found it, guarded by the lock of the generation.
    user_schedules : dict
        By signature of inputs.
    """

    def __init__(
        self, fusion_id: int, node: Node, generation: Generation, spelled_out: Collection[int]
    ) -> None:
        self.id = fusion_id
        self.node = node
        self.generation = generation
        self.spelled_out = frozenset(spelled_out)
        self.hits = 0
        self.user_schedules: dict[Any, UserSchedule] = {}
        self.last_schedule: UserSchedule | None = None
        self.fec: FusionExecutorCache | None = None
        # Runs without a look at anything else: kernels are there, and no schedule of a user.
        self.quick_run: Callable[[Any], list[Any]] | None = None
        self._lock = threading.RLock()
        self._replayed: Replayed | None = None
        self._error: UserError | None = None

    def build(self) -> Replayed:
        """The IR, which is built at the first call.

        Raises
        ------
        UserError
            If it cannot be built; every call raises the same text.
        """
        if self._replayed is None:
            with self._lock:
                if self._error is not None:
                    raise type(self._error)(str(self._error))
                if self._replayed is None:
                    try:
                        self._replayed = replay(self.node, self.spelled_out)
                    except UserError as error:
                        self._error = error
                        raise
        return self._replayed

    @property
    def is_failed(self) -> bool:
        return self._error is not None

    def executor_cache(self) -> FusionExecutorCache:
        """The kernels; made at the first call, with the IR."""
        if self.fec is None:
            replayed = self.build()
            with self._lock:
                if self.fec is None:
                    fec = FusionExecutorCache(replayed.fusion, self.id)
                    fec.set_definition_is_printed()
                    self.fec = fec
        return self.fec

    def check_can_run(self) -> None:
        """A fusion returns tensors, and at least one is computed."""
        replayed = self.build()
        if replayed.has_scalar_output:
            raise user_error(
                f"Fusion {self.id} has a scalar among its outputs, and only tensors are returned.",
                fix="make a tensor of it: fd.ops.full(shape=[], fill_value=scalar, dtype=...)",
            )
        if not replayed.fusion.outputs():
            raise user_error(
                f"Fusion {self.id} has no outputs.", fix="fd.add_output(tensor) in its definition"
            )

    def inputs(self) -> list[int]:
        """State indices of the inputs."""
        indices = []
        for node in self.node.path():
            is_input = node.key[0] == "define_tensor"
            is_input |= node.key[0] == "define_scalar" and node.key[1] is None
            if is_input:
                indices.append(node.index)
        return indices

    def outputs(self) -> list[int]:
        """State indices of the outputs that are returned, in order of add_output."""
        return [
            node.key[1]
            for node in self.node.path()
            if node.key[0] == "add_output" and node.key[2] is None
        ]

    def extents(self) -> list[int]:
        """A negative number for every dimension of every tensor input."""
        ranks = [node.extra for node in self.node.path() if node.key[0] == "define_tensor"]
        return [-1 - i for i in range(sum(ranks))]

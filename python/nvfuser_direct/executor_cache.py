"""FusionExecutorCache: run a fusion that nobody scheduled.

The core does it (csrc/host/executor_cache.h); here is what only Python needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from .opaque import opaque, register

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._core import Fusion


@opaque
class FusionExecutorCache(_core.FusionExecutorCache):
    """Compiles a fusion when it first meets a kind of device, then runs it. Thread-safe.

    Parameters
    ----------
    fusion : Fusion
        The definition, which belongs to the cache from now on and must not be changed any more.
    fusion_id : int
        Part of the names of kernels.
    auto_schedule : bool
        Whether to schedule the fusion; if not it is compiled as it is.
    """

    def __init__(self, fusion: Fusion, fusion_id: int = 0, auto_schedule: bool = True) -> None:
        register()
        super().__init__(fusion, fusion_id, auto_schedule)

    def is_compiled(self, inputs: Iterable[object], device: int = 0) -> bool:
        """Whether a run with these inputs would compile nothing; not if they do not fit."""
        try:
            return self.is_known(inputs)
        except _core.UserError:
            return False

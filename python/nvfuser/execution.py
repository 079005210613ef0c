"""Running a definition, and looking at what ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch


class RunMethods:
    """What `FusionDefinition` has for runs."""

    def execute(self: Any, inputs: Iterable[Any]) -> list[torch.Tensor]:
        if self._entry is None and self._given_id is None:
            self._define_by_method()
        entry = self._complete_entry()
        entry.check_can_run()
        return entry.executor_cache().run(inputs)

    def fusion_ir(self: Any) -> str:
        """The IR, without a schedule."""
        return self._complete_entry().build().fusion.print_math()

"""The warning of a process that imports both `nvfuser` and `nvfuser_direct`.

This package imports the other one for itself. So a later ``import nvfuser_direct`` of the user only
looks a module up. Python then asks the module's spec whether it is still being initialized; that
question is where the second import shows.
"""

from __future__ import annotations

import sys
import warnings
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

_PACKAGES = ("nvfuser", "nvfuser_direct")
_TEXT = "Be careful! {} is imported already: handles of the two packages do not mix."


class _WatchedSpec(ModuleSpec):
    """A spec that notes the first import by code outside of the two packages."""

    @property
    def _initializing(self) -> bool:
        frame = sys._getframe(1)
        importer = frame.f_globals.get("__name__", "")
        # Pickles also look modules up, in frames that name no module.
        is_statement = self.name in frame.f_code.co_names
        if is_statement and importer.partition(".")[0] not in _PACKAGES:
            self.__class__ = ModuleSpec  # type: ignore[assignment]
            warnings.warn(_TEXT.format("nvfuser"), UserWarning, stacklevel=2)
        return False

    @_initializing.setter
    def _initializing(self, value: Any) -> None:
        pass


def warn_of_second_import(other: ModuleType, was_imported: bool) -> None:
    """Warn once: now if the user imported `other` before, else when the user does.

    Parameters
    ----------
    other : module
        ``nvfuser_direct``.
    was_imported : bool
        Whether it was there before this package imported it.
    """
    if was_imported:
        warnings.warn(_TEXT.format("nvfuser_direct"), UserWarning, stacklevel=3)
    elif type(other.__spec__) is ModuleSpec:
        other.__spec__.__class__ = _WatchedSpec

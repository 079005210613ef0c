"""Copying a definition into a blank one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import user_error

if TYPE_CHECKING:
    from .definition import FusionDefinition


def clone(source: FusionDefinition, target: FusionDefinition) -> None:
    """Write the statements of a complete definition into a blank one, and complete it.

    Parameters
    ----------
    source : FusionDefinition
        A complete definition.
    target : FusionDefinition
        A blank one, which gets the same id.
    """
    if source.id() is None:
        raise user_error("FusionDefinition definition does not exist!", fix="complete it first")
    if target.id() is not None:
        raise user_error(
            "Expected an incomplete definition before translation.",
            found=f"definition {target.id()}",
        )
    entry = source._complete_entry()
    with target:
        target._node = entry.node
        target._spelled_out = set(entry.spelled_out)

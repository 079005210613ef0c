"""Fusions from the text of their translation."""

from __future__ import annotations

from typing import Any

import nvfuser_direct
from nvfuser_direct import FusionDefinition


def rebuilt(text: str) -> FusionDefinition:
    """The fusion that executing the text defines."""
    namespace: dict[str, Any] = dict(vars(nvfuser_direct))
    exec(text, namespace)
    with FusionDefinition() as fd:
        namespace["nvfuser_fusion"](fd)
    return fd

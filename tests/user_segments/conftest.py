"""Every test of segments starts with an empty cache of definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nvfuser import FusionCache

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """No definitions before and behind each test."""
    FusionCache.get(load_from_default_workspace=False)
    FusionCache.reset()
    yield
    FusionCache.reset()

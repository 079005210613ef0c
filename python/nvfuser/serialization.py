"""The cache as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .fusion_cache import FusionCache


def load_default_workspace(cache: FusionCache) -> None:
    """Fill a new cache from the file that `serialize` wrote."""


def serialize(*args: object) -> None:
    raise NotImplementedError


def deserialize(*args: object) -> None:
    raise NotImplementedError


def enable_automatic_serialization() -> None:
    raise NotImplementedError


def disable_automatic_serialization() -> None:
    raise NotImplementedError

"""The version under the name that scripts for this API import it by."""

from __future__ import annotations

from .version import Version as Version
from .version import __version__ as __version__
from .version import version as version

__all__ = ["Version", "__version__", "version"]

"""The version: that of `nvfuser_direct`, and where the build came from."""

from __future__ import annotations

from nvfuser_direct import Version
from nvfuser_direct import __version__ as _release

# A release has no commit behind it; comparisons ignore what follows the plus.
__version__ = Version(f"{str.__str__(_release)}+git0")


def version() -> Version:
    """The version of this package, ``m.n.p+git<commit>``."""
    return __version__

"""The version: that of `nvfuser_direct`, and where the build came from."""

from __future__ import annotations

from nvfuser_direct import Version, _core
from nvfuser_direct import __version__ as _release

# Sources in a package know no commit: what follows the plus names the build, and comparisons
# ignore it.
__version__ = Version(f"{str.__str__(_release)}+git{_core.internal.build_id()[:7] or '0'}")


def version() -> Version:
    """The version of this package, ``m.n.p+git<build>``."""
    return __version__

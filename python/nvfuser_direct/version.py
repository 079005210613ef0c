"""The version, comparable with strings and with ``packaging`` versions."""

from __future__ import annotations

from packaging.version import InvalidVersion
from packaging.version import Version as _ReleaseVersion

_TEXT = "0.3.0"


class Version(str):
    """A version string that compares as a version.

    Text behind a ``+`` (the commit of a development build) takes no part in comparisons.
    """

    __slots__ = ()

    @staticmethod
    def _release(value: object) -> _ReleaseVersion:
        if isinstance(value, _ReleaseVersion):
            return _ReleaseVersion(value.public)
        if isinstance(value, str):
            try:
                return _ReleaseVersion(str.__str__(value).split("+")[0])
            except InvalidVersion:
                raise ValueError(f"can't convert {value!r} to Version") from None
        raise ValueError(f"can't convert {value!r} to Version")

    def __eq__(self, other: object) -> bool:
        return self._release(self) == self._release(other)

    def __ne__(self, other: object) -> bool:
        return self._release(self) != self._release(other)

    def __lt__(self, other: object) -> bool:
        return self._release(self) < self._release(other)

    def __le__(self, other: object) -> bool:
        return self._release(self) <= self._release(other)

    def __gt__(self, other: object) -> bool:
        return self._release(self) > self._release(other)

    def __ge__(self, other: object) -> bool:
        return self._release(self) >= self._release(other)

    def __hash__(self) -> int:
        return hash(self._release(self))


__version__ = Version(_TEXT)


def version() -> Version:
    """The version of this package."""
    return __version__

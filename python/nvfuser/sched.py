from __future__ import annotations

from typing import Any


class SchedOperators:
    def __init__(self, fd: Any) -> None:
        self._fd = fd


class ScheduleMethods:
    pass

"""PythonProfiler: what the runs of a block cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from .opaque import opaque

if TYPE_CHECKING:
    from types import TracebackType

    from ._core import FusionProfile


@opaque
class PythonProfiler:
    """Context manager that profiles the runs of its thread.

    >>> with PythonProfiler() as prof:
    ...     fd.execute(inputs)
    >>> prof.profile.kernel_time_ms

    Parameters
    ----------
    auto_scheduled : bool
        True: every run is a profile of its own, and the last one is kept. False, for
        `KernelExecutor`: all launches of the block are one profile, with the scheduler ``user``.
    """

    def __init__(self, auto_scheduled: bool = True) -> None:
        self._auto_scheduled = _core.internal.flag(auto_scheduled)

    def __enter__(self) -> PythonProfiler:
        if not self._auto_scheduled:
            _core.internal.open_profiled_run("user")
        _core.internal.start_profiling()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _core.internal.stop_profiling()
        if kind is not None:
            _core.reset_profiler()
        elif not self._auto_scheduled:
            _core.internal.close_profiled_run()

    @property
    def profile(self) -> FusionProfile:
        """The last run: `get_fusion_profile`."""
        return _core.get_fusion_profile()

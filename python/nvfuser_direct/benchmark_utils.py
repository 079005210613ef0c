"""Timers for benchmarks: calling one returns the seconds that it has counted so far.

A benchmark calls its timer before and after what it measures; the difference is the time.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import importlib
import time
from typing import TYPE_CHECKING, Any

from . import _core
from ._pytorch import has_pytorch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .fusion_definition import FusionDefinition


class Timer:
    """Wall-clock time, counted between an odd call and the even one that follows it."""

    def __init__(self) -> None:
        self.current_time = 0.0
        self._started_at: float | None = None

    def __call__(self) -> float:
        """Start or stop; returns the seconds counted."""
        now = self._now()
        if self._started_at is None:
            self._started_at = now
        else:
            self.current_time += now - self._started_at
            self._started_at = None
        return self.current_time

    def _now(self) -> float:
        _synchronize()
        return time.perf_counter()

    def cleanup(self) -> None:
        """Nothing to release."""


class FusionProfileTimer:
    """Host time of a fusion's runs, as its profile has it.

    Every second call adds the host time of the last run.
    """

    def __init__(self) -> None:
        self.current_time = 0.0
        self.fd: FusionDefinition | None = None
        self._is_running = False

    def set_fd(self, fd: FusionDefinition) -> None:
        """The fusion that is measured."""
        self.fd = fd

    def __call__(self) -> float:
        """Start or stop; returns the seconds counted."""
        if self._is_running:
            _core.internal.stop_profiling()
            self.current_time += _core.get_fusion_profile().host_time_ms / 1e3
        else:
            _core.internal.start_profiling()
        self._is_running = not self._is_running
        return self.current_time

    def cleanup(self) -> None:
        """Stop profiling."""
        if self._is_running:
            _core.internal.stop_profiling()
            self._is_running = False
        _core.reset_profiler()


class CuptiProfiler:
    """Kernels of this process, traced by CUPTI; needs the package ``cupti-python``.

    Only one can exist: CUPTI has one set of callbacks in a process.
    """

    _exists = False

    def __init__(self) -> None:
        if CuptiProfiler._exists:
            raise RuntimeError("Only one instance of CuptiProfiler is allowed.")
        self._cupti = _import_cupti()
        self._kernels: list[tuple[str, float]] = []
        cupti_call_safe(
            self._cupti.activity_register_callbacks, self._request_buffer, self._take_records
        )
        CuptiProfiler._exists = True

    def start(self) -> None:
        """Trace kernels from now on."""
        self._kernels.clear()
        cupti_call_safe(self._cupti.activity_enable, self._kind)

    def stop(self) -> list[tuple[str, float]]:
        """Name and seconds of every kernel since `start`."""
        _synchronize()
        cupti_call_safe(self._cupti.activity_disable, self._kind)
        cupti_call_safe(self._cupti.activity_flush_all, 0)
        return list(self._kernels)

    def teardown_cupti(self) -> None:
        """Detach CUPTI; another profiler may be made then."""
        if CuptiProfiler._exists:
            cupti_call_safe(self._cupti.finalize)
            CuptiProfiler._exists = False

    @property
    def _kind(self) -> Any:
        return self._cupti.ActivityKind.CONCURRENT_KERNEL

    @staticmethod
    def _request_buffer() -> tuple[int, int]:
        buffer_bytes, any_number_of_records = 8 * 1024 * 1024, 0
        return buffer_bytes, any_number_of_records

    def _take_records(self, activities: Any) -> None:
        for activity in activities:
            if activity.kind == self._kind:
                seconds = (activity.end - activity.start) / 1e9
                self._kernels.append((demangle_kernel_name(activity.name), seconds))


class CuptiTimer:
    """Time of kernels on the device; calls start and stop in turn."""

    def __init__(self) -> None:
        self.current_time = 0.0
        self.cupti_profiler = CuptiProfiler()
        self._is_running = False

    def __call__(self) -> float:
        """Start or stop; returns the seconds counted."""
        if self._is_running:
            self.current_time += sum(seconds for _, seconds in self.cupti_profiler.stop())
        else:
            self.cupti_profiler.start()
        self._is_running = not self._is_running
        return self.current_time

    def cleanup(self) -> None:
        """Release CUPTI."""
        self.cupti_profiler.teardown_cupti()


def cupti_call_safe(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``; an error of CUPTI becomes a RuntimeError that says what to do."""
    try:
        return function(*args)
    except Exception as error:
        raise RuntimeError(
            f"CUPTI failed in {function.__name__}: {error}. Other profilers (nsys, ncu, "
            "torch.profiler) cannot run at the same time."
        ) from error


def demangle_kernel_name(mangled_name: str) -> str:
    """The C++ name of a symbol; the symbol itself if it is none."""
    demangle = _demangler()
    if demangle is None or not mangled_name.startswith("_Z"):
        return mangled_name
    status = ctypes.c_int()
    result = demangle(mangled_name.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not result:
        return mangled_name
    try:
        return ctypes.cast(result, ctypes.c_char_p).value.decode()  # type: ignore[union-attr]
    finally:
        _libc().free(ctypes.c_void_p(result))


@functools.cache
def _demangler() -> Any:
    """``__cxa_demangle`` of the C++ library that this package is linked with."""
    path = ctypes.util.find_library("stdc++") or "libstdc++.so.6"
    try:
        function = ctypes.CDLL(path).__cxa_demangle
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return function


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _import_cupti() -> Any:
    try:
        return importlib.import_module("cupti.cupti")
    except ImportError as error:
        raise RuntimeError("CUPTI is not there: pip install cupti-python") from error


def _synchronize() -> None:
    if not has_pytorch():
        return  # results of others are there when a call returns
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()

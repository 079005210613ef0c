"""A script of tests that run calls on a GPU that is not there: a driver that keeps a log (see
fake_driver.c), and a package of the name of CuPy, whose arrays are said to be on that GPU.

Run it with the driver's folder in LD_LIBRARY_PATH, and the names of what to run.
"""

from __future__ import annotations

import ctypes
import sys
import types
from typing import Any

CUDA = 2  # kDLCUDA


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


class ndarray:
    """Elements in memory of the host; never freed."""

    __module__ = "cupy"

    def __init__(self, elements: int, *, is_float: bool = True) -> None:
        self.memory = (ctypes.c_uint8 * (elements * (4 if is_float else 1) + 512))()
        self.address = (ctypes.addressof(self.memory) + 255) // 256 * 256
        self.size = (ctypes.c_int64 * 1)(elements)
        self.stride = (ctypes.c_int64 * 1)(1)
        code, bits = (2, 32) if is_float else (1, 8)
        self.managed = DLManagedTensor(
            DLTensor(self.address, CUDA, 0, 1, code, bits, 1, self.size, self.stride, 0)
        )
        KEPT.append(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, *, stream: int | None = None) -> object:
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)


KEPT: list[Any] = []


class Device:
    def __init__(self, index: int) -> None:
        self.index = index

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def fake_cupy() -> types.ModuleType:
    module = types.ModuleType("cupy")
    module.ndarray = ndarray  # type: ignore[attr-defined]
    module.empty = lambda size, dtype: ndarray(size, is_float=False)  # type: ignore[attr-defined]
    module.from_dlpack = lambda exporter: exporter  # type: ignore[attr-defined]
    module.cuda = types.SimpleNamespace(  # type: ignore[attr-defined]
        Device=Device, get_current_stream=lambda index: types.SimpleNamespace(ptr=STREAM[0])
    )
    return module


STREAM = [0]


def address_of(exporter: Any) -> int:
    capsule = exporter.__dlpack__(stream=-1)
    return DLTensor.from_address(pointer_of(capsule, b"dltensor")).data


class Log:
    """The calls of the driver since the log was read last."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.driver.fake_log.restype = ctypes.c_char_p

    def take(self) -> list[str]:
        lines = self.driver.fake_log().decode().splitlines()
        self.driver.fake_clear()
        return lines

    def capture(self, *, is_on: bool) -> None:
        """Have all streams captured from now on, or no longer."""
        self.driver.fake_capture(int(is_on))


sys.modules["cupy"] = fake_cupy()

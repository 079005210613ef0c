"""Between PyTorch's types and devices and this package's. PyTorch is imported when first needed."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, cast

from ._core import DataType, UserTypeError, UserValueError
from ._pytorch import require_pytorch

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

# Element types by the names that PyTorch gives them. Names a PyTorch lacks are skipped.
_TORCH_NAMES = {
    "complex128": DataType.ComplexDouble,
    "complex64": DataType.ComplexFloat,
    "float64": DataType.Double,
    "float32": DataType.Float,
    "float16": DataType.Half,
    "bfloat16": DataType.BFloat16,
    "float8_e4m3fn": DataType.Float8_e4m3fn,
    "float8_e5m2": DataType.Float8_e5m2,
    "float8_e8m0fnu": DataType.Float8_e8m0fnu,
    "float4_e2m1fn_x2": DataType.Float4_e2m1fn_x2,
    "int64": DataType.Int,
    "int32": DataType.Int32,
    "bool": DataType.Bool,
    "int8": DataType.Char,
    "int16": DataType.Short,
    "uint8": DataType.Byte,
    "uint16": DataType.UInt16,
    "uint32": DataType.UInt32,
    "uint64": DataType.UInt64,
}

_PYTHON_TYPES = {
    complex: DataType.ComplexDouble,
    float: DataType.Double,
    int: DataType.Int,
    bool: DataType.Bool,
}


@functools.cache
def _from_torch() -> dict[torch.dtype, DataType]:
    require_pytorch("A dtype of PyTorch")
    import torch

    return {getattr(torch, n): t for n, t in _TORCH_NAMES.items() if hasattr(torch, n)}


@functools.cache
def _to_torch() -> dict[DataType, torch.dtype]:
    import torch

    table = {t: d for d, t in _from_torch().items()}
    table[DataType.Index] = torch.int64
    return table


def torch_dtype_to_nvfuser_dtype(dtype: torch.dtype | type) -> DataType:
    """The element type of a PyTorch dtype, or the type of a Python number class.

    Raises
    ------
    KeyError
        If there is no counterpart.
    """
    table: dict[Any, DataType] = _PYTHON_TYPES if isinstance(dtype, type) else _from_torch()
    if dtype not in table:
        raise KeyError(
            f"{dtype!r} has no DataType; those with one are {', '.join(map(str, table))}"
        )
    return table[dtype]


def nvfuser_dtype_to_torch_dtype(dtype: DataType) -> torch.dtype:
    """The PyTorch dtype of an element type; Index is int64.

    Raises
    ------
    KeyError
        If there is no counterpart.
    """
    return _to_torch()[dtype]


def python_scalar_to_nvfuser_dtype(value: float | complex | bool) -> DataType:
    """The type a Python number has in a fusion."""
    return _PYTHON_TYPES[type(value)]


def is_tensor(value: object) -> bool:
    """Whether it is a tensor, of PyTorch or another framework."""
    return hasattr(value, "__dlpack__")


def as_torch(tensor: Any) -> torch.Tensor:
    """The PyTorch tensor that shares the memory of a tensor of any framework."""
    if isinstance(tensor, getattr(sys.modules.get("torch"), "Tensor", ())):
        return cast("torch.Tensor", tensor)
    require_pytorch("Reading the elements of a tensor outside of a kernel")
    import torch

    if not is_tensor(tensor):
        raise UserTypeError(
            "Expected a tensor of PyTorch, or of another framework (with __dlpack__), but got "
            f"{type(tensor).__name__}"
        )
    return torch.from_dlpack(tensor)


def describe_tensor(tensor: torch.Tensor) -> dict[str, Any]:
    """The arguments of `define_tensor` that say what a tensor is like.

    Parameters
    ----------
    tensor : torch.Tensor
        A CUDA or CPU tensor; a 0-dim CPU tensor is a scalar passed by value.

    Raises
    ------
    UserTypeError
        For what is no tensor of PyTorch.
    ValueError
        For a tensor without sizes and strides, or on another device.
    """
    require_pytorch("from_pytorch")
    import torch

    if not isinstance(tensor, torch.Tensor):
        raise UserTypeError(f"Expected a torch.Tensor, but got {type(tensor).__name__}")
    if tensor.layout != torch.strided or tensor.is_nested:
        kind = "nested" if tensor.is_nested else str(tensor.layout)
        raise UserValueError(
            f"Expected a tensor with sizes and strides, but got one that is {kind}: "
            "pass a dense copy"
        )
    if tensor.device.type not in ("cuda", "cpu"):
        raise ValueError(
            f"Found unsupported device {tensor.device}, "
            "only scalar CPU or CUDA tensors are supported"
        )
    return {
        "sizes": list(tensor.size()),
        "strides": list(tensor.stride()),
        "dtype": torch_dtype_to_nvfuser_dtype(tensor.dtype),
        "is_cpu": tensor.device.type == "cpu" and tensor.ndim == 0,
    }


def get_device_properties() -> dict[str, Any] | None:
    """Facts about the current CUDA device; None where there is none.

    Memory sizes are in bytes, clocks in kHz, the bus width in bits and the bandwidth in GB/s.
    """
    require_pytorch("Asking for the properties of a device")
    import torch

    if not torch.cuda.is_available():
        return None
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    memory_clock_khz = getattr(properties, "memory_clock_rate", 0)
    bus_width_bits = getattr(properties, "memory_bus_width", 0)
    return {
        "gpu_name": properties.name,
        "gpu_compute_capability_major": properties.major,
        "gpu_compute_capability_minor": properties.minor,
        "gpu_gmem_bytes": properties.total_memory,
        "gpu_sm_count": properties.multi_processor_count,
        "gpu_max_threads_per_block": getattr(properties, "max_threads_per_block", 1024),
        "gpu_smem_bytes_per_block": properties.shared_memory_per_block,
        "gpu_regs_per_block": getattr(properties, "regs_per_multiprocessor", 65536),
        "gpu_clock_rate_khz": getattr(properties, "clock_rate", 0),
        "gpu_l2_bytes": properties.L2_cache_size,
        "gpu_mem_clock_khz": memory_clock_khz,
        "gpu_mem_bus_width": bus_width_bits,
        "gpu_max_threads_per_sm": properties.max_threads_per_multi_processor,
        # Two transfers per clock; kHz times bytes is kB/s.
        "gpu_peak_bandwidth_gbps": 2 * memory_clock_khz * (bus_width_bits // 8) / 1e6,
    }


def __getattr__(name: str) -> Any:
    # Computed when asked for: importing this module starts no CUDA context.
    if name == "DEVICE_PROPERTIES":
        value = get_device_properties()
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "DEVICE_PROPERTIES"])


def retry_on_oom_or_skip_test(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a test: when device memory runs out, free caches and try once more, then skip."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        import pytest
        import torch

        try:
            return func(*args, **kwargs)
        except torch.cuda.OutOfMemoryError:
            pass
        torch.cuda.empty_cache()
        try:
            return func(*args, **kwargs)
        except torch.cuda.OutOfMemoryError as error:
            pytest.skip(f"not enough device memory: {error}")

    return wrapper

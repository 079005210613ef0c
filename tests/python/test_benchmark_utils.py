"""Timers for benchmarks."""

from __future__ import annotations

import importlib.util
import time

import pytest
import torch

from nvfuser_direct import FusionDefinition, get_fusion_profile
from nvfuser_direct._core import internal
from nvfuser_direct.benchmark_utils import (
    CuptiTimer,
    FusionProfileTimer,
    Timer,
    cupti_call_safe,
    demangle_kernel_name,
)


def test_timers_count_between_pairs_of_calls() -> None:
    timer = Timer()
    assert timer() == 0
    time.sleep(0.01)
    counted = timer()
    assert counted >= 0.01
    time.sleep(0.01)
    assert timer() == counted
    assert timer() > counted
    timer.cleanup()


def test_the_profile_timer_adds_host_times() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    timer = FusionProfileTimer()
    timer.set_fd(fd)
    expected = 0.0
    for _ in range(2):
        assert timer() == expected
        fd.execute([torch.ones(4)])
        expected += get_fusion_profile().host_time_ms / 1e3
        assert timer() == pytest.approx(expected)
    assert not internal.is_profiling()
    timer()
    timer.cleanup()
    assert not internal.is_profiling()


def test_kernel_names_are_readable() -> None:
    assert demangle_kernel_name("_Z6kernelIfEvPT_i") == "void kernel<float>(float*, int)"
    for name in ("nvfuser_none_f0_c0_r0_g0", "_Zno_symbol", ""):
        assert demangle_kernel_name(name) == name


def test_errors_of_cupti_say_what_to_do() -> None:
    def fails() -> None:
        raise ValueError("busy")

    assert cupti_call_safe(max, 1, 2) == 2
    with pytest.raises(RuntimeError, match=r"CUPTI failed in fails: busy\. Other profilers"):
        cupti_call_safe(fails)


def test_cupti_is_optional() -> None:
    if importlib.util.find_spec("cupti") is not None:
        pytest.skip("cupti-python is installed")
    with pytest.raises(RuntimeError, match="pip install cupti-python"):
        CuptiTimer()


@pytest.mark.gpu
def test_kernels_are_timed_by_cupti() -> None:
    pytest.importorskip("cupti")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    x = torch.ones(1 << 20, device="cuda")
    timer = CuptiTimer()
    try:
        timer()
        x.add_(1)
        assert timer() > 0
        with pytest.raises(RuntimeError, match="Only one instance"):
            CuptiTimer()
    finally:
        timer.cleanup()


# ---- pytorch_utils -------------------------------------------------------------------------------


def test_dtypes_of_pytorch_and_python() -> None:
    from nvfuser_direct import DataType, pytorch_utils

    for torch_dtype, dtype in (
        (torch.cdouble, DataType.ComplexDouble),
        (torch.cfloat, DataType.ComplexFloat),
        (torch.double, DataType.Double),
        (torch.half, DataType.Half),
        (torch.bfloat16, DataType.BFloat16),
        (torch.float8_e4m3fn, DataType.Float8_e4m3fn),
        (torch.float8_e5m2, DataType.Float8_e5m2),
        (torch.long, DataType.Int),
        (torch.int, DataType.Int32),
        (torch.bool, DataType.Bool),
        (complex, DataType.ComplexDouble),
        (float, DataType.Double),
        (int, DataType.Int),
        (bool, DataType.Bool),
    ):
        assert pytorch_utils.torch_dtype_to_nvfuser_dtype(torch_dtype) == dtype
    for value, dtype in ((1j, "ComplexDouble"), (1.0, "Double"), (1, "Int"), (True, "Bool")):
        assert pytorch_utils.python_scalar_to_nvfuser_dtype(value) == getattr(DataType, dtype)
    with pytest.raises(KeyError, match=r"torch\.qint8"):
        pytorch_utils.torch_dtype_to_nvfuser_dtype(torch.qint8)


def test_device_properties() -> None:
    from nvfuser_direct import pytorch_utils

    properties = pytorch_utils.get_device_properties()
    assert properties == pytorch_utils.DEVICE_PROPERTIES
    if not torch.cuda.is_available():
        assert properties is None
        return
    names = (
        "gpu_name gpu_compute_capability_major gpu_compute_capability_minor gpu_gmem_bytes "
        "gpu_sm_count gpu_max_threads_per_block gpu_smem_bytes_per_block gpu_regs_per_block "
        "gpu_clock_rate_khz gpu_l2_bytes gpu_mem_clock_khz gpu_mem_bus_width "
        "gpu_max_threads_per_sm gpu_peak_bandwidth_gbps"
    )
    assert set(properties) == set(names.split())
    assert properties["gpu_peak_bandwidth_gbps"] > 0

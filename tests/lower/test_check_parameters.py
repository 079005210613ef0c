"""check_parameters: a kernel can be passed so many tensors, and not more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    MemoryType,
    TensorView,
    UserNotImplementedError,
    _core,
    compile_cuda_source,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "codegen"))
from device_sources import assemble, nvrtc, sources_used

MOST = 32764  # bytes


def negated(number: int) -> FusionDefinition:
    """`number` matrices and as many results, each with a pointer and four numbers."""
    with FusionDefinition() as fd:
        for _ in range(number):
            fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1], contiguity=True)))
    _core.schedule.trivial(fd.fusion)
    return fd


def added(number: int) -> FusionDefinition:
    """The sum of `number` tensors with eight dimensions: with the result, 136 bytes each."""
    with FusionDefinition() as fd:
        total: TensorView | None = None
        for _ in range(number):
            x = fd.define_tensor([-1] * 8)
            total = x if total is None else fd.ops.add(total, x)
        assert total is not None
        fd.add_output(total)
    _core.schedule.trivial(fd.fusion)
    return fd


def test_more_than_fit_are_refused_with_the_way_out() -> None:
    fd = negated(500)
    with pytest.raises(UserNotImplementedError, match="so many inputs and outputs") as error:
        fd.fusion.lower(target="cuda")
    text = str(error.value)
    assert "500 inputs, 500 outputs and 0 tensors between them" in text
    assert f"at most {MOST} bytes" in text
    assert "40000 bytes, with indices of 64 bits" in text
    assert "cut the fusion into several, or lower it with 32-bit indices" in text


def test_narrow_indices_take_less_room() -> None:
    kernel = negated(500).fusion.lower(target="cuda", index_type=DataType.Int32)
    assert len(kernel.buffers()) == 500


def test_a_processor_has_no_limit() -> None:
    assert len(negated(500).fusion.lower(target="cpu").buffers()) == 500


def test_tensors_in_global_memory_count() -> None:
    number = 300
    assert 2 * number * 40 < MOST < 3 * number * 40
    with FusionDefinition() as fd:
        for _ in range(number):
            between = fd.ops.relu(fd.define_tensor([-1, -1], contiguity=True))
            between.set_memory_type(MemoryType.Global)
            fd.add_output(fd.ops.neg(between))
    with pytest.raises(UserNotImplementedError, match=f"and {number} tensors between them"):
        fd.fusion.lower(target="cuda")


def test_the_limit_is_exact() -> None:
    each = 8 + 16 * 8
    most = MOST // each
    added(most - 1).fusion.lower(target="cuda")
    with pytest.raises(UserNotImplementedError, match=f"{(most + 1) * each} bytes"):
        added(most).fusion.lower(target="cuda")


@pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")
def test_what_just_fits_compiles() -> None:
    text = added(MOST // 136 - 1).fusion.print_kernel(target="cuda")
    source = assemble("cuda", sources_used("cuda", text), text)
    assert compile_cuda_source(source)

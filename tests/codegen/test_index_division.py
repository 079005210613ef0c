"""CUDA kernels divide indices that are not negative as unsigned numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from cuda_kernels import has_nvrtc
from machine_code import entry_body, instructions

from nvfuser_direct import DataType, FusionDefinition, ParallelType

if TYPE_CHECKING:
    from nvfuser_direct import Fusion


def bound(fusion: FusionDefinition) -> Fusion:
    """All outputs in threads of 128, one element each."""
    with fusion as fd:
        (out,) = fd.fusion.outputs()
        for _ in range(out.ndim - 1):
            out.merge(0)
        out.split(0, 128)
        out.axis(0).parallelize(ParallelType.grid_x)
        out.axis(1).parallelize(ParallelType.block_x)
        fd.sched.transform_like(out)
        fd.sched.parallelize_like(out)
        fd.sched.inline_most()
    return fd.fusion


def divides_unsigned(text: str) -> bool:
    return re.search(r"\bindex_(quotient|remainder)\(", text) is not None


def permuted() -> Fusion:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * 3, contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.permute(x, [2, 0, 1])))
    return bound(fd)


def test_sizes_divide_as_unsigned_numbers() -> None:
    text = permuted().print_kernel(target="cuda", comments=False)
    assert "index_remainder(" in text
    assert "index_quotient(" in text
    assert not re.search(r" [/%] i\d", text)


def test_positions_are_divided_by_constants_as_they_are() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64, 6], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.permute(x, [1, 0])))
    text = bound(fd).print_kernel(target="cuda", comments=False)
    assert re.search(r" [/%] 64\b", text)
    assert not divides_unsigned(text)


def test_a_processor_has_its_own_functions() -> None:
    assert not divides_unsigned(permuted().print_kernel(target="cpu", comments=False))


def test_numbers_of_a_user_keep_their_sign() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        n = fd.define_scalar(dtype=DataType.Int)
        fd.add_output(fd.ops.div(x, fd.ops.div(n, fd.ops.size(x, 0))))
    assert not divides_unsigned(bound(fd).print_kernel(target="cuda", comments=False))


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(("index", "bits"), [(DataType.Int32, 32), (DataType.Int, 64)], ids=str)
def test_machine_code_has_no_steps_for_signs(index: DataType, bits: int) -> None:
    ptx = permuted().compile_cuda(index).ptx
    divisions = [
        text for text in instructions(entry_body(ptx)) if re.search(r"\b(div|rem)\.[su]", text)
    ]
    assert divisions
    assert {re.search(r"\.([su]\d+)\b", text)[1] for text in divisions} <= {f"u{bits}", "u32"}

"""A value rounded to BFloat16 and read as a Float again is one instruction, where all that reads it
takes it as a Float."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text, has_nvrtc

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, SchedulerType, schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion, TensorView

BF16, HALF, FLOAT = DataType.BFloat16, DataType.Half, DataType.Float
NAME = "rounded_to_bfloat("
SIZE = 4096


def scheduled(
    build: Callable[[FusionDefinition, TensorView, TensorView], list[TensorView]],
    target: str = "cuda",
    dtype: DataType = BF16,
) -> Fusion:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1], contiguity=True, dtype=dtype) for _ in range(2))
        for result in build(fd, fd.ops.cast(a, FLOAT), fd.ops.cast(b, FLOAT)):
            fd.add_output(result)
    torch_type = torch.bfloat16 if dtype == BF16 else torch.float16
    inputs = [torch.empty(SIZE, dtype=torch_type) for _ in range(2)]
    schedule.schedule(fd.fusion, SchedulerType.pointwise, inputs, target)
    return fd.fusion


def rounded(fd: FusionDefinition, x: TensorView, dtype: DataType = BF16) -> TensorView:
    return fd.ops.cast(fd.ops.cast(x, dtype), FLOAT)


def scaled_and_shifted(fd: FusionDefinition, a: TensorView, b: TensorView) -> list[TensorView]:
    """As PyTorch computes a * b + a: each result is rounded."""
    product = rounded(fd, fd.ops.mul(a, b))
    return [fd.ops.cast(fd.ops.add(product, a), BF16)]


def read_twice(fd: FusionDefinition, a: TensorView, b: TensorView) -> list[TensorView]:
    product = fd.ops.cast(fd.ops.mul(a, b), BF16)
    wide = fd.ops.cast(product, FLOAT)
    return [fd.ops.cast(fd.ops.mul(wide, fd.ops.relu(product)), BF16)]


def kept(fd: FusionDefinition, a: TensorView, b: TensorView) -> list[TensorView]:
    """The element is an output as well."""
    product = fd.ops.cast(fd.ops.mul(a, b), BF16)
    return [product, fd.ops.cast(fd.ops.add(fd.ops.cast(product, FLOAT), a), BF16)]


def chosen(fd: FusionDefinition, a: TensorView, b: TensorView) -> list[TensorView]:
    """The element is read as it is."""
    product = fd.ops.cast(fd.ops.mul(a, b), BF16)
    other = fd.ops.cast(fd.ops.sub(a, b), BF16)
    return [fd.ops.where(fd.ops.gt(a, b), product, other)]


def of_halves(fd: FusionDefinition, a: TensorView, b: TensorView) -> list[TensorView]:
    return [fd.ops.cast(fd.ops.add(rounded(fd, fd.ops.mul(a, b), HALF), a), HALF)]


@pytest.mark.parametrize(
    ("build", "roundings", "elements"),
    [(scaled_and_shifted, 1, ["output"]), (read_twice, 2, ["relu", "output"])],
)
def test_all_readers_take_a_float(build, roundings, elements):
    text = cuda_text(scheduled(build))
    assert text.count(NAME) == roundings
    assert text.count("cast<__bfloat>(") == len(elements)


@pytest.mark.parametrize("build", [kept, chosen])
def test_elements_that_something_reads_as_they_are(build):
    assert NAME not in cuda_text(scheduled(build))


def test_halves_have_no_such_instruction():
    assert NAME not in cuda_text(scheduled(of_halves, dtype=HALF))


def test_processors_convert_both_ways():
    assert NAME not in scheduled(scaled_and_shifted, "cpu").print_kernel(target="cpu")


def test_a_sum_that_goes_on_is_rounded_as_it_is_then():
    """The variable that is rounded has other values later."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = rounded(fd, fd.ops.sum(x, [1]))
        fd.add_output(fd.ops.mul(total, 0.5))
    schedule.schedule(fd.fusion, SchedulerType.reduction, [torch.empty(64, 300)], "cuda")
    assert "cast<float>(" in cuda_text(fd.fusion)


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_one_instruction_rounds():
    compiled = scheduled(scaled_and_shifted).compile_cuda()
    assert "cvt.rn.bf16x2.f32" in compiled.ptx


@pytest.mark.parametrize("build", [scaled_and_shifted, read_twice, kept, chosen])
def test_values(target, build):
    """Those of the definition, bit for bit: NaN, infinities, ties and numbers that overflow too."""
    special = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 3.3e38, 1e-40, 1.0078125]
    a, b = (torch.randn(SIZE).bfloat16() for _ in range(2))
    a[: len(special)] = torch.tensor(special).bfloat16()
    b[: len(special)] = torch.tensor([1.0, 2.0, 1.0, 0.5, 3.0, 1.01, 1.0, 1.00390625]).bfloat16()
    product = (a.float() * b.float()).bfloat16()
    expected = {
        scaled_and_shifted: lambda: [(product.float() + a.float()).bfloat16()],
        read_twice: lambda: [(product.float() * torch.relu(product).float()).bfloat16()],
        kept: lambda: [product, (product.float() + a.float()).bfloat16()],
        chosen: lambda: [torch.where(a > b, product, (a.float() - b.float()).bfloat16())],
    }[build]()
    fusion = scheduled(build, target)
    executor = KernelExecutor()
    inputs = [a.to(target), b.to(target)]
    executor.compile(fusion, inputs)
    for found, wanted in zip(executor.run(inputs), expected, strict=True):
        torch.testing.assert_close(found.cpu(), wanted, rtol=0, atol=0, equal_nan=True)

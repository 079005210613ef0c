"""fp8 in kernels: conversions agree with PyTorch for every code, and near every rounding point."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, ParallelType

FORMATS = {
    DataType.Float8_e4m3fn: torch.float8_e4m3fn,
    DataType.Float8_e5m2: torch.float8_e5m2,
    DataType.Float8_e8m0fnu: torch.float8_e8m0fnu,
}


def convert(value: torch.Tensor, from_dtype: DataType, to_dtype: DataType) -> torch.Tensor:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=from_dtype)
        y = fd.ops.cast(x, dtype=to_dtype)
        fd.add_output(y)
        y.split(0, 128)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [value])
    (result,) = executor.run([value])
    return result


def rounded(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """As PyTorch rounds; of its versions, some let e4m3 overflow to NaN where others saturate."""
    if dtype == torch.float8_e4m3fn:
        value = value.clamp(-448, 448)
    return value.to(dtype)


def codes(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(256, dtype=torch.int32).to(torch.uint8).view(dtype)


@pytest.mark.parametrize("dtype", FORMATS, ids=lambda d: d.name)
def test_every_code_becomes_its_float(dtype: DataType, target: str) -> None:
    value = codes(FORMATS[dtype])
    result = convert(value.to(target), dtype, DataType.Float).cpu()
    torch.testing.assert_close(result, value.float(), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", FORMATS, ids=lambda d: d.name)
def test_floats_are_rounded_as_in_pytorch(dtype: DataType, target: str) -> None:
    points = codes(FORMATS[dtype]).float()
    points = points[points.isfinite()].double().sort().values
    middle = (points[1:] + points[:-1]) / 2  # ties
    near = torch.cat([points, middle]).float()
    up = torch.nextafter(near, torch.full_like(near, torch.inf))
    down = torch.nextafter(near, torch.full_like(near, -torch.inf))
    special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-45, 3e38, -3e38, 65536])
    value = torch.cat([near, up, down, special, torch.randn(1000) * 100])
    expected = rounded(value, FORMATS[dtype])
    result = convert(value.to(target), DataType.Float, dtype).cpu()
    same = result.view(torch.uint8) == expected.view(torch.uint8)
    same |= result.float().isnan() & expected.float().isnan()
    assert same.all(), (value[~same][:5], result[~same][:5], expected[~same][:5])


@pytest.mark.parametrize("dtype", FORMATS, ids=lambda d: d.name)
def test_vectorized_copy(dtype: DataType, target: str) -> None:
    value = codes(FORMATS[dtype]).repeat(3).to(target)
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=dtype)
        y = fd.ops.set(x)
        fd.add_output(y)
        y.split(0, 16)
        y.split(0, 32)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
        y.axis(2).parallelize(ParallelType.vectorize)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [value])
    (result,) = executor.run([value])
    assert torch.equal(result.view(torch.uint8), value.view(torch.uint8))


@pytest.mark.parametrize("dtype", FORMATS, ids=lambda d: d.name)
def test_constants(dtype: DataType, target: str) -> None:
    values = [0.3, 1.75, -3.1, 449.0, 470.0, 60000.0, 1e9, torch.nan]
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=dtype)
        for value in values:
            fd.add_output(fd.ops.full([2], value, dtype))
        fd.add_output(fd.ops.set(x))
    *results, _ = fd.execute([codes(FORMATS[dtype]).to(target)])
    for value, result in zip(values, results, strict=True):
        expected = rounded(torch.full((2,), value), FORMATS[dtype]).float()
        torch.testing.assert_close(result.float().cpu(), expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", FORMATS, ids=lambda d: d.name)
def test_an_iota_is_rounded_once(dtype: DataType, target: str) -> None:
    with FusionDefinition() as fd:
        fd.define_tensor([1], contiguity=True)  # not read: it says where to run
        fd.add_output(fd.ops.iota(100, 1.0, 0.25, dtype))
    (result,) = fd.execute([torch.empty(1, device=target)])
    expected = rounded(1 + torch.arange(100) * 0.25, FORMATS[dtype])
    assert torch.equal(result.cpu().view(torch.uint8), expected.view(torch.uint8))


def test_the_sign_of_every_power_of_two_is_1(target: str) -> None:
    powers = codes(torch.float8_e8m0fnu)[:-1]  # the last one is NaN
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Float8_e8m0fnu)
        fd.add_output(fd.ops.sign(x))
    (result,) = fd.execute([powers.to(target)])
    assert (result.cpu().float() == 1).all()


@pytest.mark.parametrize(
    ("dtype", "end"),
    [
        (dtype, end)
        for dtype in FORMATS
        for end in (1.0, 4.0, -0.5, 0.0)
        if end > 0 or dtype != DataType.Float8_e8m0fnu  # which has no numbers there
    ],
)
def test_random_numbers_are_rounded_and_stay_below_the_bound(
    dtype: DataType, end: float, target: str
) -> None:
    begin = 1.0 if end == 4.0 else end - 1.0  # no number of e8m0fnu lies between 3 and 4
    with FusionDefinition() as fd:
        fd.define_tensor([1], contiguity=True)
        for kind in (dtype, DataType.Float):
            x = fd.ops.uniform(begin, end, [4000], rng_seed=3, rng_offset=1, dtype=kind)
            fd.add_output(x)
    result, wide = (x.cpu() for x in fd.execute([torch.empty(1, device=target)]))
    numbers = codes(FORMATS[dtype]).float()
    last = numbers[numbers < end].max()
    expected = wide.to(FORMATS[dtype]).float()
    assert torch.equal(result.float(), torch.where(expected < end, expected, last))

"""Types that tensor cores multiply, and how close their products are."""

from __future__ import annotations

import torch

from nvfuser_direct import DataType

BF16, HALF = DataType.BFloat16, DataType.Half
E4M3, E5M2 = DataType.Float8_e4m3fn, DataType.Float8_e5m2
TF32, INT8 = DataType.Float, DataType.Char
TORCH = {
    TF32: torch.float32,
    INT8: torch.int8,
    BF16: torch.bfloat16,
    HALF: torch.float16,
    E4M3: torch.float8_e4m3fn,
    E5M2: torch.float8_e5m2,
}
FP8 = [(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3), (E5M2, E5M2)]

# Relative to the sum of the absolute values of the terms: a GPU reads 10 bits behind the point of a
# tf32, and may keep fewer bits of sums of fp8 than a Float has.
GPU_ERRORS = {TF32: 4e-3, E4M3: 1e-2, E5M2: 1e-2}


def check_doubled_product(
    out: torch.Tensor, x: torch.Tensor, w: torch.Tensor, dtype: DataType
) -> None:
    """`out` is twice the product of the rows of `x` and of `w`."""
    exact = 2 * (x.double() @ w.double().t())
    if dtype == INT8:
        assert torch.equal(out, exact.int())
        return
    error = 1e-5 if out.device.type == "cpu" else GPU_ERRORS.get(dtype, 1e-5)
    terms = 2 * (x.double().abs() @ w.double().abs().t())
    assert ((out.double() - exact).abs() <= error * terms + 1e-6).all()

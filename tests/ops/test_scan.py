"""csrc/ops/scan.cpp: running sums and the like."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import BinaryOpType, DataType, FusionDefinition, evaluate

D = DataType
NAMES = ["cumsum", "cumprod", "cummin", "cummax"]
TYPES = {
    torch.float32: D.Float,
    torch.float64: D.Double,
    torch.float16: D.Half,
    torch.bfloat16: D.BFloat16,
    torch.int64: D.Int,
    torch.int32: D.Int32,
}


def tensor(fd, shape, dtype=D.Float):
    return fd.define_tensor(shape, contiguity=True, dtype=dtype)


def expected(name: str, x: torch.Tensor, dim: int) -> torch.Tensor:
    """PyTorch's result, every step rounded to the type."""
    if x.numel() and x.dtype in (torch.float16, torch.bfloat16) and name in ("cumsum", "cumprod"):
        parts = list(x.unbind(dim))
        for i in range(1, len(parts)):
            parts[i] = parts[i - 1] + parts[i] if name == "cumsum" else parts[i - 1] * parts[i]
        return torch.stack(parts, dim)
    result = getattr(torch, name)(x, dim)
    return (result if isinstance(result, torch.Tensor) else result.values).to(x.dtype)


def test_the_text_names_op_and_initial_value(fd, math) -> None:
    assert math(fd.ops.cumsum(tensor(fd, [4, 8]), 1)) == (
        "T1_g_float[iS2{4}, iS3{8}] = scan(T0_g_float[iS0{4}, iS1{8}],"
        "        dim=1,        op_type=add,        init=float(0))\n"
    )


@pytest.mark.parametrize(
    ("name", "dtype", "initial"),
    [
        ("cumsum", D.Half, "__half(0)"),
        ("cumprod", D.Double, "double(1)"),
        ("cummin", D.Float, "float(inf)"),
        ("cummax", D.Float, "float(-inf)"),
        ("cummin", D.Int, "9223372036854775807"),
        ("cummax", D.Int32, "-2147483648"),
        ("cummax", D.Bool, "false"),
    ],
)
def test_the_initial_value_is_the_identity(fd, math, name, dtype, initial) -> None:
    text = math(getattr(fd.ops, name)(tensor(fd, [4], dtype), 0))
    assert f"init={initial})" in text


@pytest.mark.parametrize("dtype", [D.Half, D.BFloat16, D.Int32, D.Bool, D.ComplexFloat])
def test_the_dtype_stays(fd, dtype) -> None:
    assert fd.ops.cumsum(tensor(fd, [4], dtype), 0).dtype() == dtype


def test_negative_dims_wrap(fd, math) -> None:
    assert "dim=0," in math(fd.ops.cumsum(tensor(fd, [4, 8]), -2))


@pytest.mark.parametrize(("shape", "dim"), [([4, 8], 2), ([4, 8], -3), ([], 0)])
def test_a_dim_out_of_range_is_an_error(fd, shape, dim) -> None:
    with pytest.raises((RuntimeError, IndexError), match="Tried to access out of boundary index"):
        fd.ops.cumsum(tensor(fd, shape), dim)


def test_a_broadcast_is_copied(fd, math) -> None:
    assert "Set( " in math(fd.ops.cumsum(tensor(fd, [4, 1]), 1))


def test_a_broadcast_is_combined_with_an_initial_value(fd) -> None:
    fd.add_output(fd.ops.cumprod(tensor(fd, [4, 1]), 1, init=3.0))
    x = torch.randn(4, 1)
    torch.testing.assert_close(evaluate(fd.fusion, [x])[0], x * 3)


def test_an_expanded_dimension_is_an_error(fd) -> None:
    x = fd.ops.expand(tensor(fd, [4, 1]), [4, 8])
    with pytest.raises(
        RuntimeError, match="Closed-form scan of expanded dimension is not yet implemented"
    ):
        fd.ops.cumsum(x, 1)


def test_only_associative_operations_scan(fd) -> None:
    with pytest.raises(RuntimeError, match="A scan with Sub has no meaning of its own"):
        fd.ops.scan(tensor(fd, [4]), 0, BinaryOpType.Sub)


def test_complex_numbers_have_no_smallest(fd) -> None:
    with pytest.raises(RuntimeError, match="Max is not defined for complex numbers"):
        fd.ops.cummax(tensor(fd, [4], D.ComplexFloat), 0)


def test_scan_takes_the_operation(fd, math) -> None:
    assert "op_type=fmax" in math(fd.ops.scan(tensor(fd, [4]), 0, BinaryOpType.FMax))


@pytest.mark.parametrize("shape", [(1,), (2, 3), (5, 1, 4), (0, 3), (3, 0), (33, 65)])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_values(target, rng, name, dtype, shape) -> None:
    x = torch.randint(-2, 3, shape, generator=rng).to(dtype).to(target)
    for dim in range(len(shape)):
        with FusionDefinition() as fd:
            t = fd.define_tensor([-1] * len(shape), contiguity=True, dtype=TYPES[dtype])
            fd.add_output(getattr(fd.ops, name)(t, dim))
        for outputs in (fd.execute([x]), evaluate(fd.fusion, [x])):
            torch.testing.assert_close(outputs[0], expected(name, x, dim), rtol=0, atol=0)


def sums_of(x: torch.Tensor) -> torch.Tensor:
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True, dtype=TYPES[x.dtype])
        fd.add_output(fd.ops.cumsum(t, 1))
    return fd.execute([x])[0]


def serial_sums(x: torch.Tensor) -> torch.Tensor:
    running, parts = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device), []
    for column in x.unbind(1):
        running = running + column
        parts.append(running)
    return torch.stack(parts, 1)


def test_sums_are_as_exact_as_those_of_a_serial_scan(target, rng) -> None:
    """A scan over threads adds in another order, which loses no more."""
    x = torch.rand(7, 300, generator=rng).to(target)
    exact = x.double().cumsum(1)
    error = (sums_of(x).double() - exact).abs().max()
    serial = (serial_sums(x).double() - exact).abs().max()
    assert error <= 1.5 * serial


@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
def test_long_running_sums_and_products_are_about_as_exact_as_pytorchs(op, rng) -> None:
    """On a processor, where both run in double precision and round each result once."""
    x = torch.rand(100_000, generator=rng) * 2e-5 + (0.99999 if op == "cumprod" else 0.0)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1], contiguity=True)
        fd.add_output(getattr(fd.ops, op)(t, 0))
    exact = getattr(torch, op)(x.double(), 0)
    own = (getattr(torch, op)(x, 0).double() / exact - 1).abs().max()
    assert (fd.execute([x])[0].double() / exact - 1).abs().max() <= 4 * own


def test_running_sums_go_on_beyond_2_to_the_24() -> None:
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.cumsum(t, 0))
    (total,) = fd.execute([torch.ones(2**24 + 8)])
    assert total[-1] == 2**24 + 8


def test_sums_of_halves_are_rounded_once(target, rng) -> None:
    """Numbers of few bits: sums in Float are exact in any order, and those in Half are not."""
    x = (torch.randint(0, 64, (7, 300), generator=rng) / 32).half().to(target)
    exact = x.double().cumsum(1)
    assert not torch.equal(serial_sums(x).double(), exact)
    torch.testing.assert_close(sums_of(x), exact.half(), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["cummin", "cummax"])
def test_nan_stays(target, name) -> None:
    x = torch.tensor([1.0, 3.0, float("nan"), 2.0, float("inf"), -float("inf")], device=target)
    with FusionDefinition() as fd:
        fd.add_output(getattr(fd.ops, name)(tensor(fd, [-1]), 0))
    for outputs in (fd.execute([x]), evaluate(fd.fusion, [x])):
        torch.testing.assert_close(outputs[0], expected(name, x, 0), equal_nan=True)


def test_an_initial_value_that_is_computed(target) -> None:
    x = torch.arange(12.0, device=target).reshape(3, 4)
    with FusionDefinition() as fd:
        t = tensor(fd, [-1, -1])
        c = fd.define_scalar(None, dtype=D.Double)
        fd.add_output(fd.ops.cumsum(t, 0, init=fd.ops.mul(c, 2.0)))
        fd.add_output(fd.ops.cummax(t, 1, init=c))
    for outputs in (fd.execute([x, 2.5]), evaluate(fd.fusion, [x, 2.5])):
        torch.testing.assert_close(outputs[0], x.cumsum(0) + 5)
        torch.testing.assert_close(outputs[1], x.clamp(min=2.5).cummax(1).values)


def test_permuted_and_expanded_operands(target) -> None:
    x = torch.randn(3, 5, 4, device=target).permute(2, 0, 1)
    y = torch.randn(1, 5, device=target).expand(3, 5)
    with FusionDefinition() as fd:
        a, b = fd.from_pytorch(x), fd.from_pytorch(y)
        fd.add_output(fd.ops.cumsum(a, 0))
        fd.add_output(fd.ops.cumsum(b, 1))
        fd.add_output(fd.ops.cummin(fd.ops.permute(a, [1, 2, 0]), 1))
    outputs = fd.execute([x, y])
    torch.testing.assert_close(outputs[0], x.cumsum(0))
    torch.testing.assert_close(outputs[1], y.cumsum(1))
    torch.testing.assert_close(outputs[2], x.permute(1, 2, 0).cummin(1).values)


def test_among_other_operations(target) -> None:
    x = torch.randn(6, 7, device=target)
    with FusionDefinition() as fd:
        t = tensor(fd, [-1, -1])
        a = fd.ops.cumsum(fd.ops.mul(t, 2.0), 1)
        b = fd.ops.cummax(fd.ops.cumsum(a, 0), 1)
        fd.add_output(fd.ops.sum(a, [1]))
        fd.add_output(fd.ops.add(b, fd.ops.broadcast(fd.ops.sum(t, [0]), [True, False])))
        fd.add_output(fd.ops.neg(a))
    a = (2 * x).cumsum(1)
    outputs = fd.execute([x])
    torch.testing.assert_close(outputs[0], a.sum(1), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(outputs[1], a.cumsum(0).cummax(1).values + x.sum(0))
    torch.testing.assert_close(outputs[2], -a)

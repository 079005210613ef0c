"""Validation: what it accepts, what it finds, and what it needs for that."""

from __future__ import annotations

import re

import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition
from nvfuser_direct.evaluator import Evaluator, evaluate

validate = nvf.validate_with_auto_inferred_outputs


def chain_of_linears() -> FusionDefinition:
    with FusionDefinition() as fd:
        x, v, w = (fd.define_tensor([-1, -1], dtype=DataType.BFloat16) for _ in range(3))
        fd.add_output(fd.ops.linear(fd.ops.linear(x, v), w))
    return fd


# ---- Rounding is no error ------------------------------------------------------------------------


def test_products_of_narrow_products_are_right(target: str, rng: torch.Generator) -> None:
    """Rounding of what lies in between moves results by far more than the tolerance."""
    inputs = [(4 * torch.randn(512, 512, generator=rng)).bfloat16().to(target) for _ in range(3)]
    fd = chain_of_linears()
    (out,) = fd.validate(inputs)
    (exact,) = evaluate(fd.fusion, inputs, dtype_override=torch.float64)
    ((atol, _),) = nvf.get_val_tolerances(fd.fusion, inputs)
    assert (out - exact).abs().max() > atol


def test_what_a_kernel_rounds_otherwise_is_right(rng: torch.Generator) -> None:
    """Products of floats that were added up in another order."""
    with FusionDefinition() as fd:
        x, w = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.linear(x, w))
    x, w = (torch.randn(64, 4096, generator=rng) for _ in range(2))
    parts = torch.stack([x[:, i::64] @ w[:, i::64].t() for i in range(64)])
    validate(fd.fusion, [parts.sum(0)], [x, w])
    with pytest.raises(RuntimeError, match="Validation error in output 0"):
        validate(fd.fusion, [parts[1:].sum(0)], [x, w])


def test_what_flips_when_it_is_rounded_may_flip(target: str) -> None:
    """A bool is right if either evaluation gives it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1])
        fd.add_output(fd.ops.eq(fd.ops.mul(fd.ops.mul(x, 1 / 3), 3.0), x))
    x = torch.arange(1.0, 200.0, device=target)
    (out,) = fd.validate([x])
    for dtype in (None, torch.float64):
        validate(fd.fusion, evaluate(fd.fusion, [x], dtype_override=dtype), [x])
    with pytest.raises(RuntimeError, match="Values are not equal and are not a floating type"):
        validate(fd.fusion, [~out], [x])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_values_between_two_narrow_ones_may_be_rounded_to_either(dtype: torch.dtype) -> None:
    """A wide output shows that a narrow value before it was rounded up instead of down."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1])
        narrow = fd.ops.cast(
            fd.ops.mul(x, x), nvf.pytorch_utils.torch_dtype_to_nvfuser_dtype(dtype)
        )
        fd.add_output(fd.ops.mul(fd.ops.cast(narrow, nvf.DataType.Float), 3.0))
    step = torch.finfo(dtype).eps
    x = (torch.ones(64) + step / 2).sqrt()  # squares are about halfway between 1 and the next
    for rounded in (1.0, 1.0 + step):
        validate(fd.fusion, [torch.full_like(x, 3.0 * rounded)], [x])
    for wrong in (1.0 - 4 * step, 1.0 + 4 * step):
        with pytest.raises(RuntimeError, match="Validation error in output 0"):
            validate(fd.fusion, [torch.full_like(x, 3.0 * wrong)], [x])


def test_running_sums_of_narrow_floats_are_right(target: str, rng: torch.Generator) -> None:
    """A kernel and PyTorch add them in different orders, and round each once."""
    x = torch.rand(8, 5000, generator=rng).half().to(target)
    with FusionDefinition() as fd:
        running = fd.ops.cumsum(fd.from_pytorch(x), 1)
        fd.add_output(fd.ops.cast(running, nvf.DataType.Float))
    fd.validate([x])


# ---- Errors are found ----------------------------------------------------------------------------


def test_the_message_has_both_errors(rng: torch.Generator) -> None:
    fd = chain_of_linears()
    inputs = [torch.randn(256, 256, generator=rng).bfloat16() for _ in range(3)]
    (out,) = fd.execute(inputs)
    wrong = out.clone()
    wrong[3, 5] += 1000
    with pytest.raises(RuntimeError, match="Validation error in output 0, T") as raised:
        validate(fd.fusion, [wrong], inputs)
    text = str(raised.value)
    detected = float(re.search(r"Detected max abs error of: (\S+) abs", text)[1])
    own = float(re.search(r"max abs error of that evaluation is (\S+);", text)[1])
    assert 990 < detected < 1010
    assert 0 < own < 100
    assert "at most 4 times the error" in text


def test_small_elements_are_not_hidden_by_the_errors_of_large_ones() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.exp(fd.define_tensor([-1])))
    x = torch.linspace(-10, 80, 10000)
    (out,) = fd.validate([x])
    wrong = out.clone()
    wrong[100] += 5.0
    with pytest.raises(RuntimeError, match="Validation error in output 0"):
        validate(fd.fusion, [wrong], [x])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none_have_to_be_expected(value: float) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.mul(fd.define_tensor([-1]), 2.0))
    x = torch.ones(40)
    wrong = x * 2
    wrong[7] = value
    with pytest.raises(RuntimeError, match="Validation error in output 0"):
        validate(fd.fusion, [wrong], [x])
    x[7] = value
    validate(fd.fusion, [x * 2], [x])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.uint64])
def test_unsigned_outputs_are_compared(dtype: torch.dtype) -> None:
    x = torch.tensor([1, 2, 200]).to(dtype)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(fd.from_pytorch(x)))
    fd.validate([x])
    with pytest.raises(RuntimeError, match="Values are not equal"):
        validate(fd.fusion, [torch.tensor([1, 2, 201]).to(dtype)], [x])


# ---- Tolerances ----------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["cumsum", "cumprod", "cummax"])
def test_scans_count_like_reductions(op: str) -> None:
    x = torch.ones(2, 1024)

    def limits(name: str) -> list[tuple[float, float]]:
        with FusionDefinition() as fd:
            t0 = fd.from_pytorch(x)
            fd.add_output(fd.ops.sum(t0, [1]) if name == "sum" else getattr(fd.ops, name)(t0, 1))
        return nvf.get_val_tolerances(fd.fusion, [x])

    assert limits(op) == limits("sum")


# ---- Devices -------------------------------------------------------------------------------------


def test_fusions_without_tensor_inputs_are_validated() -> None:
    """On whatever device they run; references may be on the host."""
    with FusionDefinition() as fd:
        n = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.full([4, n], 1.5, DataType.Float))
        fd.add_output(fd.ops.iota(n, 0, 2, DataType.Int))
        fd.add_output(fd.ops.uniform(0.0, 1.0, [n], dtype=DataType.Float))
    filled, counted, drawn = fd.validate([1000])
    assert filled.device == counted.device == drawn.device
    assert counted.tolist() == list(range(0, 2000, 2))


def test_references_on_the_host_are_compared(target: str) -> None:
    x = torch.arange(6.0, device=target)
    with FusionDefinition() as fd:
        t0 = fd.from_pytorch(x)
        fd.add_output(fd.ops.neg(t0))
        fd.add_output(fd.ops.cast(t0, DataType.Int))
    fd.validate([x], [-x.cpu(), x.long().cpu()])


def test_evaluated_fusions_without_tensor_inputs_run_where_kernels_do() -> None:
    with FusionDefinition() as fd:
        ones = fd.ops.full([4, 4], 1.0, DataType.Float)
        fd.add_output(fd.ops.matmul(ones, ones))
    (out,) = fd.validate([])
    assert out.device.type == ("cuda" if torch.cuda.is_available() else "cpu")


# ---- Memory --------------------------------------------------------------------------------------


def test_an_evaluation_keeps_what_is_still_read() -> None:
    """The last tensor of a chain; wide copies of inputs are made when they are read."""
    x = torch.ones(1000)
    with FusionDefinition() as fd:
        first, last = fd.from_pytorch(x), fd.from_pytorch(x)
        value = first
        for _ in range(10):
            value = fd.ops.exp(fd.ops.neg(value))
        fd.add_output(fd.ops.add(value, last))
    evaluator = Evaluator(fd.fusion, [x, x], torch.float64)
    held = [v for v in evaluator._values.values() if isinstance(v, torch.Tensor)]
    assert [v.dtype for v in held] == [torch.float64]
    assert held[0] is evaluator.outputs()[0]


def test_nothing_is_widened_while_results_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    overrides: list[object] = []

    class Recording(Evaluator):
        def __init__(self, fusion, inputs, dtype_override=None, **options) -> None:
            overrides.append(dtype_override)
            super().__init__(fusion, inputs, dtype_override, **options)

    monkeypatch.setattr("nvfuser_direct.validation.Evaluator", Recording)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.exp(fd.define_tensor([-1])))
    x = torch.linspace(-1, 1, 100)
    validate(fd.fusion, [x.exp()], [x])
    assert overrides == [None]
    with pytest.raises(RuntimeError, match="Validation error"):
        validate(fd.fusion, [x], [x])
    assert overrides == [None, None, torch.float64]

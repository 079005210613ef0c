"""Activations that are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from pass_case import check_pass, check_unchanged, defined

from nvfuser_direct import DataType, FusionDefinition, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    Form = Callable[[Any, Any], Any]

NAME = "use_sigmoid"
TOLERANCE = 2.0e-6


def one_plus_exp(ops: Any, x: Any) -> Any:
    return ops.add(1.0, ops.exp(ops.neg(x)))


def one_plus_tanh(ops: Any, x: Any) -> Any:
    return ops.add(ops.tanh(x), 1.0)


FORMS: dict[str, tuple[Form, Form]] = {
    "1 / (1 + exp(-x))": (
        lambda ops, x: ops.div(1.0, one_plus_exp(ops, x)),
        lambda ops, x: ops.sigmoid(x),
    ),
    "reciprocal of 1 + exp(-x)": (
        lambda ops, x: ops.reciprocal(one_plus_exp(ops, x)),
        lambda ops, x: ops.sigmoid(x),
    ),
    "x / (1 + exp(-x))": (
        lambda ops, x: ops.div(x, one_plus_exp(ops, x)),
        lambda ops, x: ops.silu(x),
    ),
    "x * sigmoid(x)": (
        lambda ops, x: ops.mul(ops.sigmoid(x), x),
        lambda ops, x: ops.silu(x),
    ),
    "x * (1 / (1 + exp(-x)))": (
        lambda ops, x: ops.mul(x, ops.reciprocal(one_plus_exp(ops, x))),
        lambda ops, x: ops.silu(x),
    ),
    "0.5 * (1 + tanh(x))": (
        lambda ops, x: ops.mul(0.5, one_plus_tanh(ops, x)),
        lambda ops, x: ops.sigmoid(ops.mul(x, 2.0)),
    ),
    "0.5 * (1 + tanh(0.25 * x))": (
        lambda ops, x: ops.mul(one_plus_tanh(ops, ops.mul(0.25, x)), 0.5),
        lambda ops, x: ops.sigmoid(ops.mul(x, 0.5)),
    ),
    "0.5 * (x * (1 + tanh(x)))": (
        lambda ops, x: ops.mul(0.5, ops.mul(x, one_plus_tanh(ops, x))),
        lambda ops, x: ops.mul(x, ops.sigmoid(ops.mul(x, 2.0))),
    ),
}


@pytest.mark.parametrize("text", FORMS)
def test_a_form_is_recognized(text: str) -> None:
    written, short = FORMS[text]

    def before(fd: FusionDefinition) -> None:
        fd.add_output(written(fd.ops, fd.define_tensor([64])))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(short(fd.ops, fd.define_tensor([64])))

    check_pass(NAME, before, expected, tolerance=TOLERANCE)


@pytest.mark.parametrize("dtype", [DataType.Float, DataType.BFloat16])
def test_gelu_by_tanh_is_a_product_with_a_sigmoid(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.tanh_gelu(fd.define_tensor([4096], dtype=dtype)))
    fusion = fd.fusion.optimize(passes=["merge_equal_exprs", NAME], verify=True)
    operations = [str(getattr(expr, "op", "")) for expr in fusion.exprs()]
    assert sum("Tanh" in operation for operation in operations) == 0
    assert sum("Sigmoid" in operation for operation in operations) == 1
    torch_dtype = torch.float32 if dtype == DataType.Float else torch.bfloat16
    x = torch.linspace(-12, 12, 4096).to(torch_dtype)
    [found], [was] = evaluate(fusion, [x]), evaluate(fd.fusion, [x])
    exact = torch.nn.functional.gelu(x.double(), approximate="tanh")
    assert ((found - exact).abs() <= 2.0**-22 * x.double().abs()).all()
    is_small = (x > -7) & (x < -3)  # 1 + tanh(u) is a difference of numbers near 1
    assert (found - exact)[is_small].abs().max() < (was - exact)[is_small].abs().max()


def test_other_numbers_and_types_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([64])
        y = fd.define_tensor([64])
        fd.add_output(fd.ops.div(1.0, fd.ops.add(2.0, fd.ops.exp(fd.ops.neg(x)))))
        fd.add_output(fd.ops.div(1.0, fd.ops.add(1.0, fd.ops.exp(x))))
        fd.add_output(fd.ops.mul(0.25, one_plus_tanh(fd.ops, x)))
        fd.add_output(fd.ops.mul(y, fd.ops.sigmoid(x)))
        fd.add_output(fd.ops.div(y, one_plus_exp(fd.ops, x)))
        z = fd.define_tensor([64], dtype=DataType.Double)
        fd.add_output(fd.ops.div(1.0, one_plus_exp(fd.ops, z)))

    check_unchanged(NAME, definition)


def test_results_are_as_near_as_before(rng: torch.Generator) -> None:
    x = torch.cat([torch.linspace(-100, 100, 5000), torch.randn(5000, generator=rng)])
    for written, _ in FORMS.values():

        def definition(fd: FusionDefinition, written: Form = written) -> None:
            fd.add_output(written(fd.ops, fd.define_tensor([10000])))

        fusion = defined(definition)
        [found] = evaluate(fusion.optimize(passes=[NAME]), [x])
        [was] = evaluate(fusion, [x])
        torch.testing.assert_close(found, was, rtol=TOLERANCE, atol=1.6e-6)

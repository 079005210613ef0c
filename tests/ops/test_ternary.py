"""csrc/ops/ternary.cpp: operations on the elements of three operands."""

from __future__ import annotations

import itertools
import re

import pytest

from nvfuser_direct import DataType

D = DataType


def tensor(fd, dtype=D.Float, shape=(4,)):
    return fd.define_tensor(list(shape), contiguity=True, dtype=dtype)


def test_where_takes_every_mix(fd) -> None:
    conditions = [tensor(fd, D.Bool), fd.define_scalar(None, dtype=D.Bool)]
    branches = [tensor(fd), fd.define_scalar(None, dtype=D.Double)]
    for condition, a, b in itertools.product(conditions, branches, branches):
        out = fd.ops.where(condition, a, b)
        assert out.is_tensor() == any(v.is_tensor() for v in (condition, a, b))


def test_where_keeps_halves(fd) -> None:
    c, x = tensor(fd, D.Bool), tensor(fd, D.Half)
    assert fd.ops.where(c, x, x).dtype() == D.Half
    assert fd.ops.where(c, x, 1.0).dtype() == D.Half
    assert fd.ops.where(c, x, tensor(fd, D.BFloat16)).dtype() == D.Float


def test_where_needs_a_bool_condition(fd) -> None:
    with pytest.raises(RuntimeError, match="Condition should be of DataType Bool, not float"):
        fd.ops.where(tensor(fd), tensor(fd), tensor(fd))


def test_lerp_promotes_all_three(fd, math) -> None:
    out = fd.ops.lerp(tensor(fd, D.Half), tensor(fd), 0.5)
    assert out.dtype() == D.Float
    assert "lerp(" in math(out)


def test_clamp_without_a_bound_uses_the_extreme_value(fd, math) -> None:
    assert math(fd.ops.clamp(tensor(fd), None, 2.0)) == (
        "T1_g_float[iS1{4}] = clamp(T0_g_float[iS0{4}], float(-inf), double(2));\n"
    )


def test_clamp_of_integers_casts_bounds_to_their_class(fd, math) -> None:
    out = fd.ops.clamp(tensor(fd, D.Int), 1.5, None)
    assert out.dtype() == D.Int
    text = math(out)
    assert "__to_int64(double(1.5));" in text
    assert text.endswith(", 9223372036854775807);\n")


def test_threshold_keeps_the_dtype(fd) -> None:
    assert fd.ops.threshold(tensor(fd, D.Half), 0.0, 1.0).dtype() == D.Half


def test_mixed_ranks_are_broadcast_together(fd, math) -> None:
    out = fd.ops.where(tensor(fd, D.Bool), tensor(fd, shape=(2, 4)), 0.0)
    assert out.ndim == 2
    assert "broadcast( T0_g_bool" in math(out)


def test_addcmul_is_two_products_and_a_sum(fd, math) -> None:
    x = tensor(fd)
    text = math(fd.ops.addcmul(x, x, x, 0.5))
    assert [line.split(" = ")[1].split(" ")[1] for line in text.splitlines()] == ["*", "*", "+"]


def test_addcmul_computes_in_the_common_type_of_its_tensors(fd) -> None:
    x, n = tensor(fd), tensor(fd, D.Int)
    assert fd.ops.addcmul(x, n, n, 1.5).dtype() == D.Float
    assert fd.ops.addcmul(n, n, n, 2).dtype() == D.Int
    assert fd.ops.addcmul(tensor(fd, D.Half), n, n, 1.5).dtype() == D.Float


def test_bounds_need_an_order(fd) -> None:
    z = tensor(fd, D.ComplexFloat)
    with pytest.raises(RuntimeError, match="Clamp is not defined for complex numbers"):
        fd.ops.clamp(z, None, None)
    with pytest.raises(RuntimeError, match="Threshold is not defined for complex numbers"):
        fd.ops.threshold(z, 1.0, 0.0)


BOUNDS = "For Clamp operation: Min and Max values should be Scalars."
LIMITS = "For Threshold operation: Thresh and Value values should be Scalars."
FACTOR = "Alpha value should be a Scalar Valtype and not"


@pytest.mark.parametrize(
    ("text", "define"),
    [
        (BOUNDS, lambda ops, x: ops.clamp(x, x, None)),
        (BOUNDS, lambda ops, x: ops.clamp(x, None, x)),
        (BOUNDS, lambda ops, x: ops.clamp(2.0, 1.0, x)),
        (LIMITS, lambda ops, x: ops.threshold(x, x, 1.0)),
        (LIMITS, lambda ops, x: ops.threshold(x, 1.0, x)),
        (FACTOR, lambda ops, x: ops.addcmul(x, x, 1.0, x)),
        (FACTOR, lambda ops, x: ops.add_alpha(x, x, x)),
        (FACTOR, lambda ops, x: ops.sub_alpha(1.0, x, x)),
    ],
)
def test_tensors_are_no_bounds_and_no_factors(fd, text: str, define) -> None:
    with pytest.raises(RuntimeError, match=re.escape(text)):
        define(fd.ops, tensor(fd))

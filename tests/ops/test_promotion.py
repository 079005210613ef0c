"""csrc/ops/promotion.cpp: the dtype in which operands meet, and the casts that bring them there."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType, FusionDefinition

D = DataType


def tensor(fd: FusionDefinition, dtype: DataType, rank: int = 1):
    return fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype)


def scalar(fd: FusionDefinition, dtype: DataType):
    return fd.define_scalar(None, dtype=dtype)


def dtype_of(value) -> DataType:
    return value.dtype() if callable(value.dtype) else value.dtype


PAIRS = [
    (D.Float, D.Float, D.Float),
    (D.Half, D.Half, D.Float),
    (D.BFloat16, D.BFloat16, D.Float),
    (D.Float8_e4m3fn, D.Float8_e4m3fn, D.Float),
    (D.Float4_e2m1fn, D.Float4_e2m1fn, D.Float),
    (D.Half, D.BFloat16, D.Float),
    (D.Half, D.Float, D.Float),
    (D.Half, D.Int, D.Float),
    (D.Double, D.Half, D.Double),
    (D.Float, D.Bool, D.Float),
    (D.Double, D.Float, D.Double),
    (D.Double, D.ComplexFloat, D.ComplexDouble),
    (D.Float, D.ComplexFloat, D.ComplexFloat),
    (D.ComplexFloat, D.ComplexDouble, D.ComplexDouble),
    (D.Int, D.Int32, D.Int),
    (D.Int32, D.Int32, D.Int32),
    (D.Bool, D.Int, D.Int),
    (D.Bool, D.Int32, D.Int32),
    (D.Int, D.Index, D.Index),
]


@pytest.mark.parametrize(("a", "b", "expected"), PAIRS)
def test_tensors_meet_in_the_pairwise_type(fd, a, b, expected) -> None:
    assert fd.ops.add(tensor(fd, a), tensor(fd, b)).dtype() == expected
    assert fd.ops.add(tensor(fd, b), tensor(fd, a)).dtype() == expected


STRONG_AND_WEAK = [
    (D.Float, D.Double, D.Float),
    (D.Float, D.Int, D.Float),
    (D.Half, D.Int, D.Float),
    (D.Half, D.Double, D.Float),
    (D.Double, D.Float, D.Double),
    (D.Int, D.Double, D.Double),
    (D.Int, D.Half, D.Float),
    (D.Int32, D.Int, D.Int32),
    (D.Int32, D.Bool, D.Int32),
    (D.UInt64, D.Int, D.UInt64),
    (D.Bool, D.Int, D.Int),
    (D.Bool, D.Double, D.Double),
    (D.Float, D.ComplexDouble, D.ComplexFloat),
    (D.Double, D.ComplexFloat, D.ComplexDouble),
    (D.Int, D.ComplexFloat, D.ComplexFloat),
    (D.ComplexFloat, D.Double, D.ComplexFloat),
]


@pytest.mark.parametrize(("strong", "weak", "expected"), STRONG_AND_WEAK)
def test_a_scalar_never_widens_a_tensor_of_its_class(fd, strong, weak, expected) -> None:
    assert fd.ops.mul(tensor(fd, strong), scalar(fd, weak)).dtype() == expected


@pytest.mark.parametrize(("strong", "weak", "expected"), STRONG_AND_WEAK)
def test_a_zero_dim_tensor_is_weaker_than_a_tensor_with_dimensions(
    fd, strong, weak, expected
) -> None:
    if weak == D.Half:  # counts as Float only where it is a scalar; here it is widened at the end
        expected = D.Float
    assert fd.ops.mul(tensor(fd, strong), tensor(fd, weak, rank=0)).dtype() == expected


def test_mixing_without_a_rule_is_an_error(fd) -> None:
    with pytest.raises(
        RuntimeError, match="Expected promotable DataTypes but got: uint64_t and int64_t"
    ):
        fd.ops.add(tensor(fd, D.UInt64), tensor(fd, D.Int))
    with pytest.raises(RuntimeError, match="Expected promotable DataTypes but got"):
        fd.ops.add(tensor(fd, D.Float4_e2m1fn), tensor(fd, D.Float))


def test_a_half_tensor_has_no_complex_partner(fd) -> None:
    with pytest.raises(RuntimeError, match="Only support Float and Double, current type:__half"):
        fd.ops.add(tensor(fd, D.Half), scalar(fd, D.ComplexDouble))


def test_half_operands_are_cast_by_nodes_and_the_result_stays_float(fd, math) -> None:
    x = tensor(fd, D.Half)
    assert math(fd.ops.mul(x, x)) == (
        "T1_l_float[iS1{i0}] = __half2float(T0_g___half[iS0{i0}]);\n"
        "T2_l_float[iS2{i0}] = __half2float(T0_g___half[iS0{i0}]);\n"
        "T3_g_float[iS3{i0}] = T1_l_float[iS1{i0}] * T2_l_float[iS2{i0}];\n"
    )


def test_a_constant_of_the_class_of_the_tensor_is_not_cast(fd, math) -> None:
    assert math(fd.ops.mul(tensor(fd, D.Float), 2.0)) == (
        "T1_g_float[iS1{i0}] = T0_g_float[iS0{i0}] * double(2);\n"
    )


def test_a_constant_of_another_class_is_cast_by_a_node(fd, math) -> None:
    assert math(fd.ops.mul(tensor(fd, D.Float), 2)) == (
        "f3 = __to_float(2);\nT1_g_float[iS1{i0}] = T0_g_float[iS0{i0}] * f3;\n"
    )

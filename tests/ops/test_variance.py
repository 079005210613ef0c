"""csrc/ops/variance.cpp: mean, variance, Welford."""

from __future__ import annotations

import warnings

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, evaluate
from nvfuser_direct.pytorch_utils import torch_dtype_to_nvfuser_dtype

D = DataType


def tensor(fd, shape, dtype=D.Float, contiguity=True):
    return fd.define_tensor(shape, contiguity=contiguity, dtype=dtype)


def test_var_is_made_of_two_sums(fd, math) -> None:
    text = math(fd.ops.var(tensor(fd, [-1, 8]), [1]))
    assert text.count("reduction( ") == 2
    assert "reciprocal(" in text
    assert "double(1) * " in text
    assert "where(" in text


@pytest.mark.parametrize("name", ["var", "var_mean"])
def test_a_negative_correction_is_an_error(fd, name) -> None:
    with pytest.raises(RuntimeError, match="correction must be non-negative, but got -1"):
        getattr(fd.ops, name)(tensor(fd, [4]), [0], correction=-1)


def test_welford_makes_three_results_with_one_definition(fd, math) -> None:
    avg, var_sum, n = fd.ops.welford(tensor(fd, [4, 8]), [1])
    assert [t.dtype() for t in (avg, var_sum, n)] == [D.Float, D.Float, D.Index]
    assert avg.definition() is var_sum.definition() is n.definition()
    assert math(avg, var_sum) == (
        "T1_g_float[iS2{4}, rS3{8}](Avg),\n"
        "T2_g_float[iS4{4}, rS5{8}](Var),\n"
        "T3_l_nvfuser_index_t[iS6{4}, rS7{8}](Count)\n"
        " = Welford ( T0_g_float[iS0{4}, iS1{8}](Avg), \n"
        "  allreduce = false )\n"
    )


def test_welford_needs_axes(fd) -> None:
    with pytest.raises(RuntimeError, match="Tried to reduce a 0-dim tensor"):
        fd.ops.welford(tensor(fd, []), [0])
    with pytest.raises(RuntimeError, match="No reduction axis specified"):
        fd.ops.welford(tensor(fd, [4]), [])


def test_welford_of_an_expanded_dimension_is_an_error(fd) -> None:
    with pytest.raises(
        RuntimeError,
        match="Cannot reduce an axis that is marked as broadcasted as it has an undetermined size",
    ):
        fd.ops.welford(tensor(fd, [7], contiguity=[None]), [0])


@pytest.mark.parametrize("name", ["welford", "var_mean"])
def test_a_scheduled_tensor_is_not_reduced(fd, name) -> None:
    x = fd.ops.exp(tensor(fd, [8]))
    x.split(0, 4)
    with pytest.raises(
        RuntimeError,
        match="Reducing a tensor once it's gone under transformations is not permitted at this "
        "time",
    ):
        getattr(fd.ops, name)(x, [0])


def test_var_mean_uses_welford(fd, math) -> None:
    var, mean = fd.ops.var_mean(tensor(fd, [4, 8]), [1], keepdim=True)
    assert (var.ndim, mean.ndim) == (2, 2)
    text = math(var, mean)
    assert text.count("Welford (") == 1
    assert text.count("broadcast( ") == 2


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (D.Half, "__half"),
        (D.BFloat16, "__bfloat"),
        (D.Float8_e4m3fn, "__e4m3"),
        (D.Float8_e5m2, "__e5m2"),
        (D.Float8_e8m0fnu, "__e8m0"),
    ],
)
def test_var_mean_of_low_precision_is_an_error(fd, dtype, text) -> None:
    with pytest.raises(
        RuntimeError, match=f"variance_mean is not supported for {text} please upcast to float"
    ):
        fd.ops.var_mean(tensor(fd, [4], dtype), [0])


@pytest.mark.parametrize("dtype", [D.Int, D.UInt64, D.Bool, D.Float4_e2m1fn])
def test_var_mean_needs_quotients(fd, dtype) -> None:
    with pytest.raises(RuntimeError, match=r"variance_mean is not supported for \w+ please upcast"):
        fd.ops.var_mean(tensor(fd, [4], dtype), [0])


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (D.Float8_e8m0fnu, "__e8m0"),
        (D.UInt64, "uint64_t"),
        (D.Bool, "bool"),
        (D.ComplexFloat, "std::complex<float>"),
    ],
)
def test_welford_needs_fractions_and_a_sign(fd, dtype, text) -> None:
    with pytest.raises(
        RuntimeError, match=f"welford is not supported for {text} please upcast to float"
    ):
        fd.ops.welford(tensor(fd, [4], dtype), [0])


def test_var_mean_over_dimensions_of_size_one_needs_no_welford(fd, math) -> None:
    var, mean = fd.ops.var_mean(tensor(fd, [4, 1]), [1])
    text = math(var, mean)
    assert "Welford" not in text
    assert "full({4}, float(0));" in text
    assert str(mean.definition()).count("squeeze") == 1


def test_var_mean_of_complex_combines_its_parts(fd, math) -> None:
    var, mean = fd.ops.var_mean(tensor(fd, [4, 8], D.ComplexFloat), [1])
    assert (var.dtype(), mean.dtype()) == (D.Float, D.ComplexFloat)
    assert math(var, mean).count("Welford (") == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("shape", [[3, 0], [-1, -1]], ids=["constant", "symbolic"])
@pytest.mark.parametrize("keepdim", [False, True])
def test_moments_of_no_elements_are_nan(dtype, shape, keepdim) -> None:
    x = torch.empty(3, 0, dtype=dtype)
    with FusionDefinition() as fd:
        operand = tensor(fd, shape, torch_dtype_to_nvfuser_dtype(dtype))
        for result in fd.ops.var_mean(operand, [1], 0, keepdim):
            fd.add_output(result)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = torch.var_mean(x, 1, correction=0, keepdim=keepdim)
    for results in (fd.execute([x]), evaluate(fd.fusion, [x])):
        torch.testing.assert_close(results, list(expected), equal_nan=True)


def test_the_number_of_elements_is_asked_for_only_where_it_is_not_known(fd, math) -> None:
    known = fd.ops.var_mean(tensor(fd, [4, 8]), [1])
    asked = fd.ops.var_mean(tensor(fd, [4, -1]), [1])
    assert "Welford" in str(known[1].definition())
    assert "Welford" not in str(asked[1].definition())


def test_var_mean_of_a_zero_dim_tensor_is_a_formula(fd, math) -> None:
    var, mean = fd.ops.var_mean(tensor(fd, []), [0])
    assert "Welford" not in math(var, mean)


def test_mean_divides_by_the_number_of_elements(fd, math) -> None:
    text = math(fd.ops.mean(tensor(fd, [4, -1]), [0, 1]))
    assert text.count(" * ") == 2
    assert " / d" in text

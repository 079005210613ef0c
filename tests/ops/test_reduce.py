"""csrc/ops/reduce.cpp: sum, prod, max, min, fmax, fmin."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition
from nvfuser_direct.pytorch_utils import torch_dtype_to_nvfuser_dtype

D = DataType


def tensor(fd, shape, dtype=D.Float, contiguity=True):
    return fd.define_tensor(shape, contiguity=contiguity, dtype=dtype)


def test_the_worked_example_prints_as_documented(fd, math) -> None:
    t0 = tensor(fd, [4, 8])
    t1 = fd.ops.mul(t0, 2.0)
    t2 = fd.ops.sum(t1, [1])
    math(t2)
    assert fd.fusion.print_math() == (
        "Inputs:\n"
        "  T0_g_float[iS0{4}, iS1{8}]\n"
        "Outputs:\n"
        "  T2_g_float[iS4{4}, rS5{8}]\n"
        "\n"
        "%kernel_math {\n"
        "T1_l_float[iS2{4}, iS3{8}]\n"
        "   = T0_g_float[iS0{4}, iS1{8}]\n"
        "   * double(2);\n"
        "T2_g_float[iS4{4}, rS5{8}]\n"
        "   = reduction( T1_l_float[iS2{4}, iS3{8}], op = add, initial value = float(0), "
        "allreduce = false )\n"
        "} // %kernel_math \n\n"
    )


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize(
    ("operand", "result"),
    [(D.Bool, D.Int), (D.Int32, D.Int), (D.Int, D.Int), (D.Half, D.Half), (D.Float, D.Float)],
)
def test_sums_and_products_of_integers_are_int(fd, name, operand, result) -> None:
    assert getattr(fd.ops, name)(tensor(fd, [4, 8], operand), [1]).dtype() == result


def test_a_dtype_is_cast_to_before_reducing(fd, math) -> None:
    text = math(fd.ops.sum(tensor(fd, [4], D.Half), [0], dtype=D.Float))
    assert text.startswith("T1_l_float[iS1{4}] = __half2float(T0_g___half[iS0{4}]);\n")
    assert "reduction( T1_l_float" in text


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_take_no_dtype(fd, name) -> None:
    function = getattr(fd.ops, name)
    assert function(tensor(fd, [4], D.Half), [0]).dtype() == D.Half
    with pytest.raises(RuntimeError, match=r"A dtype other than Null is not currently supported\."):
        function(tensor(fd, [4]), [0], dtype=D.Float)


@pytest.mark.parametrize(
    ("name", "dtype", "initial"),
    [
        ("sum", D.Float, "float(0)"),
        ("prod", D.Double, "double(1)"),
        ("max", D.Float, "float(-inf)"),
        ("min", D.Half, "__half(inf)"),
        ("max", D.Bool, "false"),
        ("min", D.Bool, "true"),
        ("max", D.Int32, "-2147483648"),
        ("min", D.Int, "9223372036854775807"),
        ("max", D.Float8_e4m3fn, "__e4m3(-448)"),
        ("max", D.Float8_e8m0fnu, "__e8m0(5.87747175e-39)"),
        ("min", D.Float8_e8m0fnu, "__e8m0(1.70141183e+38)"),
        ("fmax", D.Float, "float(nan)"),
        ("fmin", D.Half, "__half(nan)"),
        ("fmax", D.Int32, "-2147483648"),
    ],
)
def test_the_initial_value_is_the_identity(fd, math, name, dtype, initial) -> None:
    text = math(getattr(fd.ops, name)(tensor(fd, [4, 8], dtype), [1]))
    assert f"initial value = {initial}, allreduce = false )" in text


def test_the_three_forms(fd) -> None:
    x = tensor(fd, [-1, -1, -1])
    assert fd.ops.sum(x).ndim == 0
    assert fd.ops.sum(x, -1).ndim == 2
    assert fd.ops.sum(x, dim=0, keepdim=True).ndim == 3
    assert fd.ops.sum(x, dims=[0, -1]).ndim == 1
    assert fd.ops.sum(x, (0, 2), keepdim=True).ndim == 3


def test_repeated_axes_count_once(fd, math) -> None:
    assert math(fd.ops.sum(tensor(fd, [4, 8]), [1, -1])).startswith("T1_g_float[iS2{4}, rS3{8}]")


def test_no_axis_is_an_error(fd) -> None:
    for call in (
        lambda: fd.ops.sum(tensor(fd, [4]), []),
        lambda: fd.ops.max(tensor(fd, [])),
    ):
        with pytest.raises(RuntimeError, match="No reduction axis specified"):
            call()


def test_an_axis_out_of_range_is_an_error(fd) -> None:
    with pytest.raises(
        (RuntimeError, IndexError),
        match=r"Tried to access out of boundary index 2\. total index: 2",
    ):
        fd.ops.sum(tensor(fd, [4, 8]), [2])


def test_a_zero_dim_operand_is_copied(fd, math) -> None:
    assert "Set( " in math(fd.ops.sum(tensor(fd, []), [0]))


def test_an_empty_reduction_is_its_identity(fd, math) -> None:
    x = tensor(fd, [4, 0, 3])
    assert math(fd.ops.max(x, [1]), fd.ops.sum(x, [1, 2], keepdim=True)) == (
        "T1_g_float[iS3{4}, iS4{3}] = full({4, 3}, float(-inf));\n"
        "T2_g_float[iS5{4}, bS6{1}, bS7{1}] = full({4, 1, 1}, float(0));\n"
    )


def test_keepdim_is_a_broadcast(fd, math) -> None:
    assert math(fd.ops.max(tensor(fd, [4, 8]), 1, keepdim=True)).endswith(
        "T2_g_float[iS4{4}, bS5{1}] = broadcast( T1_l_float[iS2{4}, rS3{8}], "
        "flags = {false, true} )\n"
    )


def test_a_dimension_of_size_one_is_squeezed(fd, math) -> None:
    x = tensor(fd, [4, 1, 8])
    assert math(fd.ops.sum(x, [1])) == (
        "T1_g_float[iS3{4}, iS4{8}] = squeeze( T0_g_float[iS0{4}, bS1{1}, iS2{8}], "
        "flags = {false, true, false} )\n"
    )


def test_only_dimensions_of_size_one_with_keepdim_restore_them(fd, math) -> None:
    text = math(fd.ops.max(tensor(fd, [4, 1]), [1], keepdim=True))
    assert "reduction" not in text
    assert "broadcast( T1_l_float[iS2{4}], flags = {false, true} )" in text


EXPANDED = [4, 7, 3]
EXPANDED_CONTIGUITY = (True, None, True)


def test_a_sum_counts_repeated_elements(fd, math) -> None:
    x = tensor(fd, EXPANDED, contiguity=list(EXPANDED_CONTIGUITY))
    text = math(fd.ops.sum(x, [1, 2], keepdim=True))
    kinds = [line.split(" = ", 1)[1] for line in text.splitlines()]
    assert kinds[0].startswith("squeeze( ")
    assert kinds[1].startswith("reduction( ")
    assert kinds[2].startswith("broadcast( ")
    assert kinds[3] == "__to_float(7);"
    assert " * f" in kinds[4]
    assert kinds[5].startswith("broadcast( ")


def test_a_product_raises_repeated_elements_to_their_number(fd, math) -> None:
    x = tensor(fd, EXPANDED, contiguity=list(EXPANDED_CONTIGUITY))
    assert "pow(" in math(fd.ops.prod(x, [1]))


def test_an_extreme_ignores_repeated_elements(fd, math) -> None:
    x = tensor(fd, EXPANDED, contiguity=list(EXPANDED_CONTIGUITY))
    assert math(fd.ops.max(x, [1])).count(" = ") == 2  # the squeeze and its flags


def test_a_repeated_half_sum_stays_half(fd) -> None:
    x = tensor(fd, [7], D.Half, contiguity=[None])
    assert fd.ops.sum(x, [0]).dtype() == D.Half


def test_sum_to_a_shape_of_other_sizes_is_an_error(fd, math) -> None:
    x = tensor(fd, [4, 3])
    with pytest.raises(RuntimeError, match=r"Expected sizes to match: 5 vs 3\."):
        fd.ops.sum_to(x, [5])
    assert "[bS4{1}, iS5{3}]" in math(fd.ops.sum_to(x, [1, 3]))


@pytest.mark.parametrize("name", ["max", "min"])
def test_complex_numbers_have_no_extreme(fd, name) -> None:
    with pytest.raises(RuntimeError, match="is not defined for complex numbers"):
        getattr(fd.ops, name)(tensor(fd, [4], D.ComplexFloat), 0)


def results_of(name, x):
    """The reduction of the last dimension by a kernel and by the evaluator."""
    with FusionDefinition() as fd:
        dtype = torch_dtype_to_nvfuser_dtype(x.dtype)
        t = fd.define_tensor([-1] * x.ndim, contiguity=True, dtype=dtype)
        fd.add_output(getattr(fd.ops, name)(t, -1))
    return [run([x])[0].float() for run in (fd.execute, fd.fusion.evaluate)]


FLOATS = [torch.float32, torch.float64, torch.float16, torch.float8_e5m2, torch.float8_e8m0fnu]


@pytest.mark.parametrize("size", [0, 1, 2, 300])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_without_a_number_there_is_none(target, name, dtype, size) -> None:
    x = torch.full((3, size), float("nan")).to(dtype).to(target)
    for result in results_of(name, x):
        assert result.isnan().all()


@pytest.mark.parametrize("size", [2, 300])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_not_a_number_is_ignored_beside_one(target, rng, name, dtype, size) -> None:
    x = torch.rand((3, size), generator=rng) + 0.5
    x[:, torch.randperm(size, generator=rng)[: size // 2]] = float("nan")
    x = x.to(dtype).to(target)
    worst = -float("inf") if name == "fmax" else float("inf")
    numbers = x.float().nan_to_num(nan=worst)
    expected = numbers.amax(-1) if name == "fmax" else numbers.amin(-1)
    for result in results_of(name, x):
        torch.testing.assert_close(result, expected, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["max", "min"])
def test_powers_of_two_have_a_smallest_and_a_largest(target, rng, name) -> None:
    exponents = torch.randint(-127, 128, (5, 33), generator=rng)
    x = (2.0**exponents).to(torch.float8_e8m0fnu).to(target)
    expected = x.float().amax(-1) if name == "max" else x.float().amin(-1)
    for result in results_of(name, x):
        torch.testing.assert_close(result, expected, rtol=0, atol=0)

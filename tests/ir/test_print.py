"""The documented text of every kind of statement."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType, Fusion, FusionDefinition, FusionGuard, TensorView, ops


def text_of(define) -> str:
    with FusionDefinition() as fd:
        return str(define(fd))


def definition_text(define) -> str:
    with FusionDefinition() as fd:
        return str(define(fd).definition())


def test_worked_example() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, 8], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.mul(t0, 2.0), [1]))
    expected = """\
Inputs:
  T0_g_float[iS0{4}, iS1{8}]
Outputs:
  T2_g_float[iS4{4}, rS5{8}]

%kernel_math {
T1_l_float[iS2{4}, iS3{8}]
   = T0_g_float[iS0{4}, iS1{8}]
   * double(2);
T2_g_float[iS4{4}, rS5{8}]
   = reduction( T1_l_float[iS2{4}, iS3{8}], op = add, initial value = float(0), allreduce = false )
} // %kernel_math
"""
    # The last line of the format has a trailing space, and an empty line follows.
    assert fd.fusion.print_math() == expected.rstrip("\n") + " \n\n"


def test_print_math_leaves_out_what_no_output_needs() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        fd.ops.exp(t0)
        fd.add_output(fd.ops.neg(t0))
    assert "expf" not in fd.fusion.print_math()
    assert "expf" in fd.fusion.print_math(from_outputs_only=False)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (DataType.Bool, "b0"),
        (DataType.Double, "d0"),
        (DataType.Float, "f0"),
        (DataType.Half, "f0"),
        (DataType.Int, "i0"),
        (DataType.Index, "i0"),
        (DataType.UInt64, "i0"),
        (DataType.ComplexFloat, "c0"),
    ],
)
def test_symbolic_scalars_have_a_prefix_by_dtype(dtype: DataType, expected: str) -> None:
    assert text_of(lambda fd: fd.define_scalar(dtype)) == expected


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (True, None, "true"),
        (False, None, "false"),
        (4, None, "4"),
        (-3, None, "-3"),
        (0.1, None, "double(0.10000000000000001)"),
        (0.0, DataType.Float, "float(0)"),
        (0.1, DataType.Float, "float(0.100000001)"),
        (2.0, None, "double(2)"),
        (1 + 2j, None, "std::complex<double>(1,2)"),
    ],
)
def test_constants_round_trip(value, dtype, expected: str) -> None:
    assert text_of(lambda fd: fd.define_scalar(value, dtype)) == expected


@pytest.mark.parametrize(
    ("dtype", "word"),
    [
        (DataType.Bool, "bool"),
        (DataType.Double, "double"),
        (DataType.Float, "float"),
        (DataType.Half, "__half"),
        (DataType.BFloat16, "__bfloat"),
        (DataType.Float8_e4m3fn, "__e4m3"),
        (DataType.Float8_e5m2, "__e5m2"),
        (DataType.Float8_e8m0fnu, "__e8m0"),
        (DataType.Float4_e2m1fn, "__e2m1"),
        (DataType.Int, "int64_t"),
        (DataType.Int32, "int"),
        (DataType.Index, "nvfuser_index_t"),
        (DataType.UInt64, "uint64_t"),
        (DataType.Char, "int8_t"),
        (DataType.Short, "int16_t"),
        (DataType.Byte, "uint8_t"),
        (DataType.UInt16, "uint16_t"),
        (DataType.UInt32, "uint32_t"),
        (DataType.ComplexFloat, "std::complex<float>"),
        (DataType.ComplexDouble, "std::complex<double>"),
    ],
)
def test_tensor_text_has_memory_and_dtype(dtype: DataType, word: str) -> None:
    assert text_of(lambda fd: fd.define_tensor([4], dtype=dtype)) == f"T0_g_{word}[iS0{{4}}]"


def test_new_tensors_are_local_and_inputs_global() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        t1 = fd.ops.neg(t0)
    assert str(t0) == "T0_g_float[iS0{i0}, iS1{i1}]"
    assert str(t1) == "T1_l_float[iS2{i0}, iS3{i1}]"


def test_broadcast_and_expanded_axes() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([1, -1], contiguity=[None, None])
    broadcast, expanded = t0.get_loop_domain()
    assert str(broadcast) == "bS0{1}"
    assert str(expanded) == "bS1{1 ex i1}"
    assert expanded.extent().is_one()
    assert str(expanded.expanded_extent()) == "i1"


def test_reduction_axes_print_r() -> None:
    with FusionDefinition() as fd:
        t1 = fd.ops.sum(fd.define_tensor([4, -1]), [1])
    assert [str(axis) for axis in t1.get_logical_domain()] == ["iS2{4}", "rS3{i1}"]
    assert str(t1.domain()) == "[iS2{4}, rS3{i1}]"


@pytest.mark.parametrize(
    ("define", "expected"),
    [
        (
            lambda fd, t: fd.ops.neg(t),
            "T1_l_float[iS2{4}, iS3{8}]\n   = -T0_g_float[iS0{4}, iS1{8}];\n",
        ),
        (
            lambda fd, t: fd.ops.exp(t),
            "T1_l_float[iS2{4}, iS3{8}]\n   = expf(T0_g_float[iS0{4}, iS1{8}]);\n",
        ),
        (
            lambda fd, t: fd.ops.round(t),
            "T1_l_float[iS2{4}, iS3{8}]\n   = nearbyintf(T0_g_float[iS0{4}, iS1{8}]);\n",
        ),
        (
            lambda fd, t: fd.ops.relu(t),
            "T1_l_float[iS2{4}, iS3{8}]\n   = relu(T0_g_float[iS0{4}, iS1{8}]);\n",
        ),
        (
            lambda fd, t: fd.ops.isnan(t),
            "T1_l_bool[iS2{4}, iS3{8}]\n   = isnan(T0_g_float[iS0{4}, iS1{8}]);\n",
        ),
        (
            lambda fd, t: fd.ops.cast(t, DataType.Half),
            "T1_l___half[iS2{4}, iS3{8}]\n   = __float2half(T0_g_float[iS0{4}, iS1{8}]);\n",
        ),
        (
            lambda fd, t: fd.ops.set(t),
            "T1_l_float[iS2{4}, iS3{8}]\n"
            "   = Set( T0_g_float[iS0{4}, iS1{8}], cache_op=Streaming )\n",
        ),
        (
            lambda fd, t: fd.ops.pow(t, 2.0),
            "T1_l_float[iS2{4}, iS3{8}]\n   = pow(T0_g_float[iS0{4}, iS1{8}]\n  , double(2));\n",
        ),
        (
            lambda fd, t: fd.ops.atan2(t, 2.0),
            "T1_l_float[iS2{4}, iS3{8}]\n   = atan2f(T0_g_float[iS0{4}, iS1{8}]\n  , double(2));\n",
        ),
        (
            lambda fd, t: fd.ops.threshold(t, 0.0, 1.0),
            "T1_l_float[iS2{4}, iS3{8}]\n"
            "   = threshold(T0_g_float[iS0{4}, iS1{8}]\n  , double(0)\n  , double(1));\n",
        ),
        (
            lambda fd, t: fd.ops.broadcast(t, [True, False, False]),
            "T1_l_float[bS2{1}, iS3{4}, iS4{8}]\n"
            "   = broadcast( T0_g_float[iS0{4}, iS1{8}], flags = {true, false, false} )\n",
        ),
        (
            lambda fd, t: fd.ops.max(t, 1),
            "T1_l_float[iS2{4}, rS3{8}]\n   = reduction( T0_g_float[iS0{4}, iS1{8}], op = max, "
            "initial value = float(-inf), allreduce = false )\n",
        ),
    ],
)
def test_tensor_expressions(define, expected: str) -> None:
    def build(fd: FusionDefinition):
        return define(fd, fd.define_tensor([4, 8], contiguity=True))

    assert definition_text(build) == expected


def test_permuted_copies_say_so() -> None:
    text = definition_text(lambda fd: fd.ops.permute(fd.define_tensor([4, 8]), [1, 0]))
    assert "= Set.Permute( T0_g_float[iS0{4}, iS1{8}]" in text


def test_squeeze() -> None:
    text = definition_text(lambda fd: fd.ops.squeeze(fd.define_tensor([4, 1]), [1]))
    assert text == (
        "T1_l_float[iS2{4}]\n   = squeeze( T0_g_float[iS0{4}, bS1{1}], flags = {false, true} )\n"
    )


def test_expand_and_reshape_are_one_line() -> None:
    text = definition_text(lambda fd: fd.ops.expand(fd.define_tensor([4, 1]), [4, 8]))
    assert text == "T1_l_float[iS2{4}, bS3{1 ex 8}] = expand( T0_g_float[iS0{4}, bS1{1}] )\n"
    text = definition_text(lambda fd: fd.ops.reshape(fd.define_tensor([4, 8]), [32]))
    assert text.endswith("{32}rf] = reshape( T0_g_float[iS0{4}, iS1{8}] )\n")


def test_linear_has_an_operand_on_each_line() -> None:
    def linear(fd: FusionDefinition, *bias_shape: int) -> TensorView:
        x, weight = fd.define_tensor([4, 8]), fd.define_tensor([2, 8])
        bias = [fd.define_tensor([size]) for size in bias_shape]
        return fd.ops.linear(x, weight, *bias)

    operands = "linear(T0_g_float[iS0{4}, iS1{8}],\nT1_g_float[iS2{2}, iS3{8}]"
    assert definition_text(linear).endswith(f"   = {operands})\n")
    with_bias = definition_text(lambda fd: linear(fd, 2))
    assert with_bias.endswith(f"   = {operands},\nT2_g_float[iS4{{2}}])\n")


def test_full_and_iota() -> None:
    text = definition_text(lambda fd: fd.ops.full([2, 3], 1.5, DataType.Float))
    assert text.endswith("   = full({2, 3}, float(1.5));\n")
    text = definition_text(lambda fd: fd.ops.full([], 1.5, DataType.Float))
    assert text.endswith("   = full({}float(1.5));\n")
    text = definition_text(lambda fd: fd.ops.iota(10, 0, 1))
    assert text.endswith("   = iota(10, 0, 1, int64_t);\n")


def test_welford_has_five_lines() -> None:
    text = definition_text(lambda fd: fd.ops.welford(fd.define_tensor([4, 8]), [1])[0])
    assert text.startswith(
        "T1_l_float[iS2{4}, rS3{8}](Avg),\n"
        "T2_l_float[iS4{4}, rS5{8}](Var),\n"
        "T3_l_nvfuser_index_t[iS6{4}, rS7{8}](Count)\n"
        " = Welford ( T0_g_float[iS0{4}, iS1{8}](Avg), "
    )
    assert text.rstrip("\n").endswith("  allreduce = false )")


def test_scalar_expressions_are_one_line() -> None:
    assert definition_text(lambda fd: fd.ops.neg(fd.define_scalar())) == "d1 = -d0;\n"

    def add(fd: FusionDefinition):
        return fd.ops.add(fd.define_scalar(), fd.define_scalar())

    assert definition_text(add) == "d2 = d0 + d1;\n"


def test_computed_scalars_print_inline_in_parentheses() -> None:
    def size(fd: FusionDefinition):
        return fd.ops.ceilDiv(fd.define_scalar(DataType.Int), fd.define_scalar(4))

    with FusionDefinition() as fd:
        assert size(fd).to_inline_string() == "( ceilDiv(i0, 4) )"


def test_tensor_expressions_have_no_inline_form() -> None:
    with FusionDefinition() as fd:
        definition = fd.ops.neg(fd.define_tensor([4])).definition()
    with pytest.raises(RuntimeError, match="Tensor op can not be printed inline"):
        definition.to_inline_string()


def test_counters_are_per_kind() -> None:
    fusion = Fusion()
    guard = FusionGuard(fusion)
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        t1 = ops.neg(t0)
    assert (t0.name(), t1.name(), t1.definition().name()) == (0, 1, 0)
    assert t0.axis(0).extent().name() == 0
    assert t0.domain().name() == 0
    del guard

"""replace_sizes: axes that are equal by the math have one extent."""

from __future__ import annotations

from pass_text import check_pass, check_unchanged, text_around

from nvfuser_direct import DataType, FusionDefinition

NAME = "replace_sizes"


def sum_of(first: list[int], second: list[int]) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor(first, contiguity=True)
        y = fd.define_tensor(second, contiguity=True)
        fd.add_output(fd.ops.add(x, y))
    return fd


def test_equal_axes_of_two_inputs_get_the_size_of_the_first() -> None:
    check_pass(
        sum_of([-1], [-1]),
        NAME,
        """
        T0_g_float[iS0{i0}]
        T1_g_float[iS1{i2}]
        Outputs:
        T2_g_float[iS2{i0}]
        %kernel {
        T2_g_float[iS2{i0}]
        = T0_g_float[iS0{i0}]
        + T1_g_float[iS1{i2}];
        """,
        """
        T0_g_float[iS0{i0}]
        T1_g_float[iS1{i0}]
        Outputs:
        T2_g_float[iS2{i0}]
        %kernel {
        T2_g_float[iS2{i0}]
        = T0_g_float[iS0{i0}]
        + T1_g_float[iS1{i0}];
        """,
    )


def test_a_constant_size_takes_the_place_of_a_symbol() -> None:
    check_pass(
        sum_of([-1], [16]),
        NAME,
        """
        T0_g_float[iS0{i0}]
        T1_g_float[iS1{16}]
        Outputs:
        T2_g_float[iS2{16}]
        %kernel {
        T2_g_float[iS2{16}]
        = T0_g_float[iS0{i0}]
        + T1_g_float[iS1{16}];
        """,
        """
        T0_g_float[iS0{16}]
        T1_g_float[iS1{16}]
        Outputs:
        T2_g_float[iS2{16}]
        %kernel {
        T2_g_float[iS2{16}]
        = T0_g_float[iS0{16}]
        + T1_g_float[iS1{16}];
        """,
    )


def test_extents_made_of_replaced_sizes_are_made_anew() -> None:
    fd = sum_of([-1], [-1])
    with fd:
        fd.fusion.inputs()[1].split(0, 4)
    check_pass(
        fd,
        NAME,
        """
        T0_g_float[iS0{i0}]
        T1_g_float[iS3{(ceilDiv(i2, 4))}, iS4{4}]
        Outputs:
        T2_g_float[iS2{i0}]
        %kernel {
        T2_g_float[iS2{i0}]
        = T0_g_float[iS0{i0}]
        + T1_g_float[iS3{(ceilDiv(i2, 4))}, iS4{4}];
        """,
        """
        T0_g_float[iS0{i0}]
        T1_g_float[iS3{(ceilDiv(i0, 4))}, iS4{4}]
        Outputs:
        T2_g_float[iS2{i0}]
        %kernel {
        T2_g_float[iS2{i0}]
        = T0_g_float[iS0{i0}]
        + T1_g_float[iS3{(ceilDiv(i0, 4))}, iS4{4}];
        """,
    )


def test_sizes_that_are_equal_already_stay() -> None:
    check_unchanged(sum_of([8], [8]), NAME)


def test_tensors_of_indices_have_elements_of_64_bits() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.iota(8, dtype=DataType.Index))
    before, after = text_around(fd, NAME)
    assert "nvfuser_index_t" in before
    assert "nvfuser_index_t" not in after
    assert "int64_t" in after

"""reduce_in_registers: every reduction accumulates in registers, in a type that is wide enough."""

from __future__ import annotations

from pass_text import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition, MemoryType

NAME = "reduce_in_registers"


def row_sum(dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True, dtype=dtype)
        fd.add_output(fd.ops.sum(x, [1]))
    return fd


def test_a_reduction_into_an_output_is_copied_from_registers() -> None:
    check_pass(
        row_sum(),
        NAME,
        """
        T0_g_float[iS0{8}, iS1{64}]
        Outputs:
        T1_g_float[iS2{8}, rS3{64}]
        %kernel {
        T1_g_float[iS2{8}, rS3{64}]
        = reduction(T0_g_float[iS0{8}, iS1{64}], op = add)
        """,
        """
        T0_g_float[iS0{8}, iS1{64}]
        Outputs:
        T1_g_float[iS4{8}] produce_pos(1)
        %kernel {
        T2_l_float[iS2{8}, rS3{64}] ca_pos(1)
        = reduction(T0_g_float[iS0{8}, iS1{64}], op = add)
        T1_g_float[iS4{8}] produce_pos(1)
        = Set(T2_l_float[iS2{8}, rS3{64}] ca_pos(1))
        """,
    )


def test_a_sum_of_half_is_float_until_it_is_rounded_once() -> None:
    check_pass(
        row_sum(DataType.Half),
        NAME,
        """
        T0_g___half[iS0{8}, iS1{64}]
        Outputs:
        T1_g___half[iS2{8}, rS3{64}]
        %kernel {
        T1_g___half[iS2{8}, rS3{64}]
        = reduction(T0_g___half[iS0{8}, iS1{64}], op = add)
        """,
        """
        T0_g___half[iS0{8}, iS1{64}]
        Outputs:
        T1_g___half[iS4{8}] produce_pos(1)
        %kernel {
        T3_l_float[iS2{8}, rS3{64}] ca_pos(1)
        = reduction(T0_g___half[iS0{8}, iS1{64}], op = add)
        T2_l___half[iS5{8}] ca_pos(1) produce_pos(1)
        = __float2half(T3_l_float[iS2{8}, rS3{64}] ca_pos(1));
        T1_g___half[iS4{8}] produce_pos(1)
        = Set(T2_l___half[iS5{8}] ca_pos(1) produce_pos(1))
        """,
    )


def test_a_reduction_into_shared_memory_is_copied_from_registers() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        total = fd.ops.sum(x, [1])
        fd.add_output(fd.ops.neg(total))
        total.set_memory_type(MemoryType.shared)
    check_pass(
        fd,
        NAME,
        """
        T0_g_float[iS0{8}, iS1{64}]
        Outputs:
        T2_g_float[iS4{8}]
        %kernel {
        T1_s_float[iS2{8}, rS3{64}]
        = reduction(T0_g_float[iS0{8}, iS1{64}], op = add)
        T2_g_float[iS4{8}]
        = -T1_s_float[iS2{8}, rS3{64}];
        """,
        """
        T0_g_float[iS0{8}, iS1{64}]
        Outputs:
        T2_g_float[iS4{8}]
        %kernel {
        T3_l_float[iS2{8}, rS3{64}] ca_pos(1)
        = reduction(T0_g_float[iS0{8}, iS1{64}], op = add)
        T1_s_float[iS5{8}] produce_pos(1)
        = Set(T3_l_float[iS2{8}, rS3{64}] ca_pos(1))
        T2_g_float[iS4{8}]
        = -T1_s_float[iS5{8}] produce_pos(1);
        """,
    )


def test_a_reduction_that_is_in_registers_already_stays() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.sum(x, [1])))
    check_unchanged(fd, NAME)


def test_expressions_that_reduce_nothing_stay() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        fd.add_output(fd.ops.neg(x))
    check_unchanged(fd, NAME)

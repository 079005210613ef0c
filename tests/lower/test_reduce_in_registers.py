"""reduce_in_registers: every reduction accumulates in registers, in a type that is wide enough."""

from __future__ import annotations

import re

from pass_text import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition, MemoryType, ParallelType

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


def two_stages(memory: MemoryType) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        total = fd.ops.sum(x, [0])
        fd.add_output(total)
        total.split(0, 8)
        total.rfactor([1]).set_memory_type(memory)
    return fd


def test_stored_partial_results_are_combined_in_double() -> None:
    check_pass(
        two_stages(MemoryType.Global),
        NAME,
        """
        T0_g_float[iS0{64}]
        Outputs:
        T1_g_float[rS7{8}]
        %kernel {
        T2_g_float[iS5{8}rf, rS6{8}rf]
        = reduction(T0_g_float[iS0{64}], op = add)
        T1_g_float[rS7{8}]
        = reduction(T2_g_float[iS5{8}rf, rS6{8}rf], op = add)
        """,
        """
        T0_g_float[iS0{64}]
        Outputs:
        T1_g_float[]
        %kernel {
        T3_l_float[iS5{8}rf, rS6{8}rf] ca_pos(1)
        = reduction(T0_g_float[iS0{64}], op = add)
        T2_g_float[iS8{8}] produce_pos(1)
        = Set(T3_l_float[iS5{8}rf, rS6{8}rf] ca_pos(1))
        T5_l_double[rS7{8}]
        = reduction(T2_g_float[iS8{8}] produce_pos(1), op = add)
        T4_l_float[]
        = __to_float(T5_l_double[rS7{8}]);
        T1_g_float[]
        = Set(T4_l_float[])
        """,
    )


def kernel_of(fd: FusionDefinition) -> str:
    return str(fd.fusion.lower(until=NAME))


def test_partial_results_of_doubles_are_stored_as_doubles() -> None:
    """Those of the elements are Float, and so are results of more than sums."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        for build in (fd.ops.sum, fd.ops.max):
            result = build(x, [0])
            fd.add_output(result)
            for factor in (16, 4):
                result.split(0, factor)
                result.rfactor([1]).set_memory_type(MemoryType.Global)
    text = kernel_of(fd)
    stored = sorted(set(re.findall(r"(T\d+)_g_(\w+)\[", text)))
    assert [dtype for _, dtype in stored].count("double") == 1, text
    assert re.findall(r"_[lg]_(\w+)\[[^=]*= reduction\([^=]*op = max", text) == ["float"] * 3


def test_what_is_handed_on_elsewhere_stays_float() -> None:
    assert "double" not in kernel_of(two_stages(MemoryType.Shared))
    assert "double" not in kernel_of(two_stages(MemoryType.Local))
    threads = two_stages(MemoryType.Global)
    threads.fusion.outputs()[0].axis(-1).parallelize(ParallelType.block_x)
    assert "double" not in kernel_of(threads)


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

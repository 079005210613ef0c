"""Names in kernels: those of the fusion where it has no gaps, and none that its history decides."""

from __future__ import annotations

import re

import pytest

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    MemoryType,
    ParallelType,
    call_with_options,
)


def scaled_sum(*, has_gaps: bool = False) -> FusionDefinition:
    """`T0 * d5 + T1` in blocks of 4 rows. Gaps: numbers that nothing in the kernel has."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        if has_gaps:
            fd.ops.exp(fd.ops.add(x, 1.0))
        y = fd.define_tensor([-1, -1], contiguity=[True, False])
        factor = fd.define_scalar(DataType.Double)
        fd.add_output(out := fd.ops.add(fd.ops.mul(x, factor), y))
        out.split(0, 4)
        fd.sched.transform_like(out)
        out.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.parallelize_like(out)
        fd.sched.inline_most()
    return fd


def names_in(text: str, letters: str) -> set[str]:
    return set(re.findall(rf"\b[{letters}]\d+", text))


def test_a_kernel_has_the_names_of_its_fusion() -> None:
    fusion = scaled_sum().fusion
    text = fusion.print_kernel()
    assert "(Tensor<float, 2, 2> T0, Tensor<float, 2, 2> T1, double d5, Tensor<float" in text
    assert names_in(text, "Td") == names_in(fusion.print_math(), "Td")
    assert text.startswith("// Codegen generated code\n")


def test_sizes_have_the_names_of_the_fusion() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, 8], contiguity=[True, None, True])
        y = fd.define_tensor([1, -1, 8], contiguity=[None, True, True])
        z = fd.define_tensor([-1, -1, 8], contiguity=[None, True, True])  # expanded
        fd.add_output(fd.ops.add(fd.ops.add(x, y), z))
        fd.sched.inline_most()
    text = fd.fusion.print_kernel()
    for tensor, dim in ((x, 0), (y, 1)):
        name = tensor.size(dim).to_inline_string()
        assert f"const nvfuser_index_t {name} = {str(tensor)[:2]}.logical_size[{dim}];" in text


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_gaps_are_closed_and_told(target: str) -> None:
    fusion, plain = scaled_sum(has_gaps=True).fusion, scaled_sum().fusion
    text = fusion.print_kernel(target=target)
    head = "// Codegen generated code; T1, T2, T3, d5 = T3, T4, T5, d6 of the fusion\n"
    assert text.startswith(head)
    source = fusion.print_kernel(target=target, comments=False)
    assert source == plain.print_kernel(target=target, comments=False)
    assert source.startswith("// Codegen generated code\n")


def test_comments_use_the_names_of_the_kernel() -> None:
    with FusionDefinition() as fd:
        fd.define_scalar(2.0)
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(out := fd.ops.neg(x))
        out.split(0, 4)
        fd.sched.inline_most()
    assert "( ceilDiv(i1, 4) )" in str(out)
    text = fd.fusion.print_kernel()
    assert text.startswith("// Codegen generated code; i0 = i1 of the fusion\n")
    assert "{( ceilDiv(i0, 4) )}" in text


def test_strides_are_those_of_the_renamed_tensor() -> None:
    text = scaled_sum(has_gaps=True).fusion.print_kernel()
    assert "T1.alloc_stride[1]" in text
    assert "T3.alloc_stride" not in text


def test_numbers_of_the_fusion_are_an_option() -> None:
    fusion = scaled_sum(has_gaps=True).fusion
    text = call_with_options(fusion.print_kernel, [], ["var_name_remapping"])
    assert "Tensor<float, 2, 2> T3, double d6, Tensor<float, 2, 2> T5)" in text
    assert "T3.alloc_stride[1]" in text
    assert text.startswith("// Codegen generated code\n")


def test_bank_conflicts_take_sizes_by_their_names_in_the_kernel() -> None:
    with FusionDefinition() as fd:
        fd.define_scalar(2.0)
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(out := fd.ops.neg(x))
        x.cache_after().set_memory_type(MemoryType.shared)
        out.axis(1).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(out)
    kernel = fd.fusion.lower()
    assert kernel.bank_conflicts(sizes={"i0": 4, "i1": 32, "blockDim.x": 32})

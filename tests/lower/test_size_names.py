"""Sums of many sizes: computed once, under a name, so that kernels grow with their operands."""

from __future__ import annotations

import re

import pytest
import torch

from nvfuser_direct import FusionDefinition, _core


def concatenation(number: int) -> FusionDefinition:
    """`number` matrices behind each other, scheduled as `execute` does."""
    with FusionDefinition() as fd:
        operands = [fd.define_tensor([-1, -1], contiguity=True) for _ in range(number)]
        fd.add_output(fd.ops.cat(operands, 0))
    _core.schedule.trivial(fd.fusion)
    return fd


def longest_sum(text: str) -> int:
    """Sizes in the longest sum or difference of a kernel's text, comments left out."""
    code = re.sub(r" // .*", "", text)
    return max(len(found.split()) // 2 + 1 for found in re.findall(r"i\d+(?: [-+] i\d+)+", code))


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_no_sum_of_sizes_grows_with_the_operands(kind: str) -> None:
    assert longest_sum(concatenation(40).fusion.print_kernel(target=kind)) <= 12


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_text_grows_with_the_operands(kind: str) -> None:
    # Both have so many parameters that CUDA declares them as constants.
    few, many = (len(concatenation(n).fusion.print_kernel(target=kind)) for n in (80, 160))
    assert many < 2.2 * few


def test_eight_sizes_need_no_name() -> None:
    assert not concatenation(8).fusion.lower().print_kernel_ir().count("= Set(")


def test_names_of_more_are_declared_first_and_only_if_they_are_used() -> None:
    text = concatenation(20).fusion.print_kernel()
    head, body = text.split("for (", 1)
    declared = re.findall(r"const nvfuser_index_t (i\d+) = (?!T\d+\.)", head)
    code = re.sub(r" // .*", "", head + body)
    unused = [name for name in declared if len(re.findall(rf"\b{name}\b", code)) < 2]
    assert len(declared) >= 2
    assert not unused


@pytest.mark.parametrize("number", [9, 20])
def test_concatenation_of_many_is_right(number: int) -> None:
    with FusionDefinition() as fd:
        operands = [fd.define_tensor([-1, -1], contiguity=True) for _ in range(number)]
        fd.add_output(fd.ops.cat(operands, 0))
    inputs = [torch.randn(i % 4, 5) for i in range(number)]
    (result,) = fd.execute(inputs)
    assert torch.equal(result, torch.cat(inputs))

"""Tensors without elements."""

from __future__ import annotations

import torch
from pass_case import check_pass, check_unchanged, defined

from nvfuser_direct import DataType, FusionDefinition, evaluate

NAME = "remove_empty"


def test_what_has_no_elements_is_not_computed() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([0, 4], contiguity=True)
        fd.add_output(fd.ops.exp(fd.ops.neg(x)))

    def expected(fd: FusionDefinition) -> None:
        fd.define_tensor([0, 4], contiguity=True)
        fd.add_output(fd.ops.full([0, 4], 0.0, DataType.Float))

    check_pass(NAME, before, expected)


def test_a_reduction_of_nothing_is_its_initial_value() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, 4], contiguity=True)
        y = fd.define_tensor([0, 4], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.add(x, y), [0]))

    definition = defined(before)
    fusion = definition.optimize(passes=["unify_extents", NAME], verify=True)
    [full] = fusion.exprs()
    assert full.fill_value.value() == 0
    inputs = [torch.empty(0, 4), torch.empty(0, 4)]
    assert torch.equal(evaluate(fusion, inputs)[0], torch.zeros(4))


def test_a_cat_has_operands_with_elements_only() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([0, 4], contiguity=True)
        y = fd.define_tensor([3, 4], contiguity=True)
        z = fd.define_tensor([2, 4], contiguity=True)
        fd.add_output(fd.ops.cat([x, y, z], 0))

    def expected(fd: FusionDefinition) -> None:
        fd.define_tensor([0, 4], contiguity=True)
        y = fd.define_tensor([3, 4], contiguity=True)
        z = fd.define_tensor([2, 4], contiguity=True)
        fd.add_output(fd.ops.cat([y, z], 0))

    check_pass(NAME, before, expected)


def test_what_has_elements_stays() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([3, 4], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.exp(x), [0]))
        fd.add_output(fd.ops.full([0, 4], 0.0, DataType.Float))

    check_unchanged(NAME, definition)


def test_random_numbers_behind_an_empty_tensor_are_those_they_were() -> None:
    def definition(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.neg(fd.ops.uniform(0.0, 1.0, [0, 4])))
        fd.add_output(fd.ops.uniform(0.0, 1.0, [4]))

    check_unchanged(NAME, definition)

"""Tensors that meet themselves along two axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from pass_case import check_pass, check_unchanged, defined

from nvfuser_direct import DataType, FusionDefinition, IdMappingMode, evaluate
from nvfuser_direct.idm import IdModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion

NAME = "separate_uses"


def outer(ops: Any, x: Any) -> Any:
    return ops.mul(ops.broadcast(x, [False, True]), ops.broadcast(x, [True, False]))


MEETINGS: dict[str, tuple[Callable[[Any, Any], Any], list[int]]] = {
    "x + x.T": (lambda ops, x: ops.add(x, ops.permute(x, [1, 0])), [4, 4]),
    "x[:, None] * x[None, :]": (outer, [4]),
    "of what was computed": (lambda ops, x: outer(ops, ops.exp(ops.neg(x))), [4]),
    "three ways": (
        lambda ops, x: ops.add(
            ops.add(x, ops.permute(x, [1, 0, 2])), ops.permute(ops.exp(x), [2, 1, 0])
        ),
        [3, 3, 3],
    ),
}


def is_separate(fusion: Fusion) -> bool:
    """Whether no tensor has two axes in one group."""
    graph = IdModel(fusion).maybe_build_graph(IdMappingMode.exact)
    return all(
        len({graph.group(axis) for axis in tensor.logical()}) == len(tensor.logical())
        for tensor in fusion.tensors()
    )


@pytest.mark.parametrize("text", MEETINGS)
def test_each_use_has_a_tensor_of_its_own(text: str) -> None:
    meet, shape = MEETINGS[text]

    def definition(fd: FusionDefinition) -> None:
        fd.add_output(meet(fd.ops, fd.define_tensor(shape, contiguity=True)))

    before = defined(definition)
    fusion = before.optimize(passes=[NAME], verify=True)
    assert not is_separate(before)
    assert is_separate(fusion)
    x = torch.randn(shape)
    inputs = [[x][argument] for argument in fusion.arguments()]
    assert torch.equal(evaluate(fusion, inputs)[0], evaluate(before, [x])[0])
    text = fusion.print_math()
    fusion.run_pass(NAME)
    assert fusion.print_math() == text


def test_cheap_producers_are_computed_for_each_use() -> None:
    def mask(fd: FusionDefinition, rows: Any, columns: Any) -> None:
        row = fd.ops.broadcast(rows, [False, True])
        column = fd.ops.broadcast(columns, [True, False])
        fd.add_output(fd.ops.ge(row, column))

    def before(fd: FusionDefinition) -> None:
        positions = fd.ops.iota(8, 0, 1)
        mask(fd, positions, positions)

    def expected(fd: FusionDefinition) -> None:
        mask(fd, fd.ops.iota(8, 0, 1), fd.ops.iota(8, 0, 1))

    check_pass(NAME, before, expected)


def test_an_input_is_read_as_two_tensors() -> None:
    def definition(fd: FusionDefinition) -> None:
        fd.define_scalar(DataType.Double)
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(x, fd.ops.permute(x, [1, 0])))

    fusion = defined(definition).optimize(passes=[NAME], verify=True)
    assert fusion.arguments() == [0, 1, 1]
    _, x, again = fusion.inputs()
    assert again.shape() == x.shape()
    assert again.domain().contiguity() == x.domain().contiguity()


def test_readers_that_agree_share_a_tensor() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], contiguity=True)
        y = fd.ops.permute(x, [1, 0])
        fd.add_output(fd.ops.add(fd.ops.add(x, y), fd.ops.mul(fd.ops.exp(x), fd.ops.neg(y))))

    fusion = defined(definition).optimize(passes=[NAME], verify=True)
    assert fusion.arguments() == [0, 0]
    assert len(fusion.exprs()) == 6


def test_what_meets_itself_along_one_axis_stays() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], contiguity=True)
        y = fd.ops.broadcast(fd.ops.sum(x, [1]), [False, True])
        fd.add_output(fd.ops.div(x, y))
        fd.add_output(fd.ops.permute(x, [1, 0]))
        fd.add_output(fd.ops.mul(x, x))

    check_unchanged(NAME, definition)


def test_what_is_not_cheap_stays_one_tensor() -> None:
    def definition(fd: FusionDefinition) -> None:
        fd.add_output(outer(fd.ops, fd.ops.sum(fd.define_tensor([4, 3], contiguity=True), [1])))
        fd.add_output(outer(fd.ops, fd.ops.uniform(0.0, 1.0, [4])))

    fusion = defined(definition).optimize(passes=[NAME], verify=True)
    names = [type(expr).__name__ for expr in fusion.exprs()]
    assert names.count("ReductionOp") == names.count("RNGOp") == 1


def test_an_input_that_is_written_in_place_stays_one_tensor() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], contiguity=True)
        fd.add_output(fd.ops.add(x, fd.ops.permute(x, [1, 0])), x)

    assert defined(definition).optimize(passes=[NAME], verify=True).arguments() == [0]


def test_operands_of_matrix_products_stay_one_tensor() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], contiguity=True)
        fd.add_output(fd.ops.matmul(x, fd.ops.permute(x, [1, 0])))

    check_unchanged(NAME, definition)


LOOK_UPS: dict[str, Callable[[Any, Any], Any]] = {
    "gather": lambda ops, x: ops.gather(x, x, 1),
    "take_along_axis": lambda ops, x: ops.take_along_axis(x, x, 0),
    "what was computed": lambda ops, x: ops.take_along_axis(ops.abs(x), ops.abs(x), 1),
    "a cast that folds": lambda ops, x: ops.take_along_axis(x, ops.cast(x, DataType.Int), 0),
}


@pytest.mark.parametrize("text", LOOK_UPS)
def test_a_look_up_in_its_own_indices_is_a_kernel(text: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        fd.add_output(LOOK_UPS[text](fd.ops, x))
    given = torch.randint(0, 6, (6, 6))
    assert torch.equal(fd.execute([given])[0], evaluate(fd.fusion, [given])[0])
    assert fd.fec.explain([given]).startswith("segment 0: pointwise")

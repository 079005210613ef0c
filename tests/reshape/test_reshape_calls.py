"""How a reshape is called, what is decided at definition, and what a run resolves."""

from __future__ import annotations

import pytest
import torch
from reshape_cases import EMPTY_SHAPES, inferred, whole_numbers

from nvfuser_direct import DataType, FusionDefinition, concretize, find_concretization


def axis_kinds(tensor) -> str:
    """The first letter of each axis: i, b, or ? for one that is not decided."""
    return "".join(str(axis)[0] for axis in tensor.get_logical_domain())


def test_forms_of_the_list_of_sizes(target, rng) -> None:
    """reshape.md 1: lists, tuples, numbers and scalars mixed, another tensor's shape, a vector"""
    x, other = whole_numbers([4, 6], target, rng), whole_numbers([3, 8], target, rng)
    for sizes in (
        lambda fd, t, o, v: [3, 8],
        lambda fd, t, o, v: (3, 8),
        lambda fd, t, o, v: [v[0], 8],
        lambda fd, t, o, v: (3, v[1]),
        lambda fd, t, o, v: o.shape(),
        lambda fd, t, o, v: v,
        lambda fd, t, o, v: [v[0], -1],
        lambda fd, t, o, v: [fd.ops.div(t.size(1), 2), fd.ops.mul(t.size(0), 2)],
    ):
        with FusionDefinition() as fd:
            t = fd.define_tensor([-1, -1])
            o = fd.define_tensor([-1, -1])
            vector = fd.define_vector(2)
            fd.add_output(fd.ops.reshape(t, sizes(fd, t, o, vector)))
        assert torch.equal(fd.execute([x, other, [3, 8]])[0], x.reshape(3, 8))


def test_the_old_spelling_checks_actual_sizes(target, rng) -> None:
    """reshape.md 1 and 10.3: `original_shape` is checked where the transforms depend on it"""
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(t, [5, 8], [5, 2, 4]))
    x = whole_numbers([5, 8], target, rng)
    assert torch.equal(fd.execute([x])[0], x.reshape(5, 2, 4))
    longer = whole_numbers([7, 8], target, rng)  # a dimension that is kept
    assert torch.equal(fd.execute([longer])[0], longer.reshape(7, 2, 4))
    with pytest.raises(RuntimeError, match="Total element counts across view operation must match"):
        fd.execute([whole_numbers([5, 12], target, rng)])


def test_flatten(target, rng) -> None:
    """reshape.md 1: a range of dimensions as one; one dimension is the tensor itself"""
    x = whole_numbers([2, 3, 4, 5], target, rng)
    for start, end in ((0, -1), (1, 2), (-2, -1), (0, 1)):
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.flatten(fd.define_tensor([-1] * 4), start, end))
        assert torch.equal(fd.execute([x])[0], x.flatten(start, end))
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1] * 4)
        assert fd.ops.flatten(t, 2, 2) is t


def test_reductions_of_the_operand_do_not_count(target, rng) -> None:
    """reshape.md 1, last paragraph, and 10.2: `[2, r3, 5]` flattened to `[10]`"""
    x = whole_numbers([2, 3, 5], target, rng)
    with FusionDefinition() as fd:
        total = fd.ops.sum(fd.define_tensor([-1] * 3), [1])
        with pytest.raises(RuntimeError, match="Invalid end_dim"):
            fd.ops.flatten(total, 0, 2)
        fd.add_output(fd.ops.flatten(total))
    assert torch.equal(fd.execute([x])[0], x.sum(1).flatten())


def test_constant_sizes_are_decided_at_definition() -> None:
    """reshape.md 2: static; "Equal shapes → set" """
    with FusionDefinition() as fd:
        t = fd.define_tensor([2, 3])
        out = fd.ops.reshape(t, [3, 2])
        assert axis_kinds(out) == "ii"
        assert fd.ops.reshape(t, [2, 3]).definition().op_name() == "LoadStoreOp"
        fd.add_output(out)
    assert not fd.fusion.print_math().count("?S")


def test_other_sizes_are_decided_in_a_run() -> None:
    """reshape.md 2: symbolic axes, also of readers, unless another operand decides"""
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1])
        sizes = fd.define_vector(2)
        out = fd.ops.reshape(t, sizes)
        assert axis_kinds(out) == "??"
        assert [size.definition().input(0) for size in out.shape()] == sizes
        assert axis_kinds(fd.ops.neg(out)) == "??"
        assert axis_kinds(fd.ops.add(fd.define_tensor([-1, -1]), out)) == "ii"
        assert axis_kinds(fd.ops.sum(out, [0])) == "r?"


def test_expanded_extents_of_the_operand_count(target, rng) -> None:
    """reshape.md 2 and 3: the number of elements counts expanded extents in full"""
    x = whole_numbers([4, 1], target, rng).expand(4, 6)
    with FusionDefinition() as fd:
        t = fd.from_pytorch(x, static_sizes=True)
        fd.add_output(fd.ops.reshape(t, [3, -1]))
        fd.add_output(fd.ops.reshape(t, [fd.define_scalar(DataType.Int), -1]))
    for out in fd.execute([x, 3]):
        assert torch.equal(out, x.reshape(3, 8))


def test_rank_zero(target, rng) -> None:
    """reshape.md 3: an empty list asks for rank 0; rank 0 becomes ones; 10.2"""
    x, y = whole_numbers([], target, rng), whole_numbers([2, 3, 4], target, rng)
    with FusionDefinition() as fd:
        a = fd.define_tensor([])
        b = fd.define_tensor([-1, -1, -1])
        ones = fd.ops.reshape(a, [1, 1, 1])
        fd.add_output(fd.ops.mul(ones, b))
        fd.add_output(fd.ops.reshape(fd.ops.neg(ones), []))
        fd.add_output(fd.ops.reshape(ones, []))
    product, negative, same = fd.execute([x, y])
    assert torch.equal(product, x * y)
    assert torch.equal(negative, -x)
    assert torch.equal(same, x)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.ops.reshape(fd.define_tensor([-1, -1, -1]), [])))
    assert torch.equal(fd.execute([x.reshape(1, 1, 1)])[0], -x)


def resolved(build, *inputs):
    """The math of a definition, resolved for these inputs."""
    with FusionDefinition() as fd:
        fd.add_output(build(fd))
    fusion = fd.fusion
    return concretize(fusion, find_concretization(fusion, inputs))


def test_the_nodes_of_a_resolved_reshape() -> None:
    """reshape.md 4.1 and 4.5: squeeze, reshape, broadcast; factor outside, ceilDiv inside"""

    def build(fd):
        x = fd.define_tensor([-1, -1, -1, 1], [True, True, True, None])
        return fd.ops.reshape(x, fd.define_vector(5))

    fusion = resolved(build, torch.empty(3, 17, 80, 1), 51, 1, 2, 4, 10)
    names = [expr.op_name() for expr in fusion.exprs()]
    assert names == ["SqueezeOp", "ReshapeOp", "BroadcastOp"]
    text = fusion.print_transforms()
    assert "Outer split" in text
    assert "ceilDiv" in text
    middle = fusion.exprs()[1].output(0)
    assert len(middle.get_root_domain()) == 3
    assert all("rf" in str(axis) for axis in middle.get_root_domain())


def test_kept_dimensions_stay_expanded_and_touched_ones_do_not() -> None:
    """reshape.md 4.1: "an expanded one becomes an ordinary iteration dim" """
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 5, 6], [True, True, None])
        assert [str(a) for a in fd.ops.reshape(x, [40, 3]).get_root_domain()][2] == "iS5{6}rf"
        assert "{1 ex 6}" in str(fd.ops.reshape(x, [20, 6]).get_logical_domain()[1])


def test_reshapes_in_a_row_resolve_in_order(target, rng) -> None:
    """reshape.md 5: "Reshapes of reshapes are resolved in definition order", also as outputs"""
    with FusionDefinition() as fd:
        first = fd.ops.reshape(fd.define_tensor([-1, -1]), fd.define_vector(2))
        second = fd.ops.reshape(first, fd.define_vector(1))
        fd.add_output(first)
        fd.add_output(fd.ops.neg(second))
    x = whole_numbers([4, 3], target, rng)
    first, second = fd.execute([x, 3, 4, 12])
    assert torch.equal(first, x.reshape(3, 4))
    assert torch.equal(second, -x.reshape(12))


READERS = [
    ("binary", lambda fd, y: fd.ops.add(y, fd.define_tensor([-1, -1])), [3, 1], [3, 5],
     lambda y, z: y + z),
    ("sum", lambda fd, y: fd.ops.sum(y, [1]), [3, 1], None, lambda y: y.sum(1)),
    ("var", lambda fd, y: fd.ops.var(y, [1], correction=0), [3, 1], None,
     lambda y: torch.zeros_like(y[:, 0])),
    ("squeeze", lambda fd, y: fd.ops.squeeze(y, [1]), [3, 1], None, lambda y: y[:, 0]),
    ("expand", lambda fd, y: fd.ops.expand(y, [-1, fd.define_scalar(7)]), [3, 1], None,
     lambda y: y.expand(3, 7)),
    ("slice", lambda fd, y: fd.ops.slice(y, [0, 0], [2, 1]), [3, 1], None, lambda y: y[:2]),
    ("pad", lambda fd, y: fd.ops.pad(y, [1, 1]), [3, 1], None,
     lambda y: torch.nn.functional.pad(y, [1, 1])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("build", "sizes", "other", "expected"),
    [row[1:] for row in READERS],
    ids=[r[0] for r in READERS],
)
def test_readers_of_a_dimension_that_came_out_as_one(
    target, rng, build, sizes, other, expected
) -> None:
    """reshape.md 5, table of readers"""
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1]), fd.define_vector(2))
        fd.add_output(build(fd, y))
    x = whole_numbers([3], target, rng)
    more = [] if other is None else [whole_numbers(other, target, rng)]
    (out,) = fd.execute([x, *sizes, *more])
    torch.testing.assert_close(out, expected(x.reshape(sizes), *more))


def test_a_trivial_reshape_of_a_reduction_disappears() -> None:
    """reshape.md 5: "the reader takes the reduction result itself" """

    def build(fd):
        total = fd.ops.sum(fd.define_tensor([-1, -1]), [1])
        return fd.ops.neg(fd.ops.reshape(total, fd.define_vector(1)))

    fusion = resolved(build, torch.empty(3, 4), 3)
    assert "ReshapeOp" not in [expr.op_name() for expr in fusion.exprs()]


def test_one_iteration_producer_makes_an_iteration() -> None:
    """reshape.md 5, step 5"""

    def build(fd):
        y = fd.ops.reshape(fd.define_tensor([-1]), fd.define_vector(2))
        z = fd.ops.reshape(fd.define_tensor([-1]), fd.define_vector(2))
        return fd.ops.add(y, z)

    x = torch.empty(3)
    one, row = (3, 1), (1, 3)
    assert axis_kinds(resolved(build, x, *one, x, *row).outputs()[0]) == "ii"
    assert axis_kinds(resolved(build, x, *one, x, *one).outputs()[0]) == "ib"


@pytest.mark.parametrize("form", ["constant", "symbolic", "scalars"])
@pytest.mark.parametrize(("shape", "new"), EMPTY_SHAPES, ids=str)
def test_empty_operands(target, rng, shape, new, form) -> None:
    """reshape.md 7: the result has the requested sizes, and nothing reads the operand"""
    x = whole_numbers(shape, target, rng)
    with FusionDefinition() as fd:
        t = fd.define_tensor(shape if form == "constant" else [-1] * len(shape))
        sizes = fd.define_vector(len(new)) if form == "scalars" else new
        y = fd.ops.reshape(t, sizes)
        fd.add_output(fd.ops.relu(y))
        fd.add_output(fd.ops.sum(fd.ops.exp(y), list(range(len(new)))))
    out, total = fd.execute([x, *(new if form == "scalars" else [])])
    assert list(out.shape) == inferred(shape, new)
    assert total.item() == 0


@pytest.mark.parametrize("dims", [[0], [1], [2], [0, 1], [0, 1, 2]], ids=str)
def test_minus_one_beside_a_zero_is_zero(target, dims) -> None:
    """reshape.md 7: "A `-1` means 0", also where only a reduction of the result is an output"""
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1, -1, -1]), [0, -1, 0])
        fd.add_output(fd.ops.sum(y, dims))
    (out,) = fd.execute([torch.zeros(2, 3, 0, 5, device=target)])
    assert list(out.shape) == [0] * (3 - len(dims))


def test_minus_one_beside_a_zero_that_arrives(target) -> None:
    """reshape.md 7: the sizes of a run decide"""
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1]), [fd.define_scalar(dtype=DataType.Int), -1])
        fd.add_output(y)
        fd.add_output(fd.ops.sum(y, [0]))
        fd.add_output(fd.ops.sum(y, [1]))

    def shapes(size: int, *shape: int) -> list[list[int]]:
        return [list(out.shape) for out in fd.execute([torch.zeros(shape, device=target), size])]

    assert shapes(0, 0, 5) == [[0, 0], [0], [0]]
    assert shapes(3, 0, 5) == [[3, 0], [0], [3]]
    assert shapes(3, 2, 6) == [[3, 4], [4], [3]]


def test_minus_one_beside_a_zero_needs_an_empty_operand(target) -> None:
    """reshape.md 9: "element counts differ" """
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1]), [0, -1])
        fd.add_output(fd.ops.exp(y))
    with pytest.raises(RuntimeError, match="Total element counts across view operation must match"):
        fd.execute([torch.ones(3, 4, device=target)])


@pytest.mark.parametrize("new", [[0, 1, 7], [1, 0]])
def test_new_ones_of_an_empty_result_are_broadcasts(target, rng, new) -> None:
    """reshape.md 7: "New dims of size 1 are broadcast dims" """
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1]), fd.define_vector(len(new)))
        fd.add_output(fd.ops.add(y, fd.define_tensor([-1] * len(new))))
    other = whole_numbers([5 if size == 1 else size for size in new], target, rng)
    (out,) = fd.execute([whole_numbers([0, 3], target, rng), *new, other])
    assert out.shape == other.shape


@pytest.mark.parametrize(("op", "identity"), [("sum", 0), ("prod", 1), ("max", -torch.inf)])
def test_reductions_of_nothing(target, rng, op, identity) -> None:
    """reshape.md 7: "a reduction of one over a non-empty result gives its identity" """
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1]), fd.define_vector(2))
        fd.add_output(getattr(fd.ops, op)(y, [1]))
    (out,) = fd.execute([whole_numbers([0, 3], target, rng), 4, 0])
    assert out.tolist() == [identity] * 4

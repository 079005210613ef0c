"""Shapes that only the inputs of a run tell: reshapes."""

from __future__ import annotations

import pytest
import torch
from small_integers import values

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor


def count_specializations(fd) -> int:
    return fd.fec.stats().specializations


def define_reshape(rank, new_rank, before=None, after=None, declared=None):
    """x reshaped to sizes that are scalar inputs."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(declared or [-1] * rank)
        sizes = fd.define_vector(new_rank)
        y = before(fd, x) if before else x
        y = fd.ops.reshape(y, sizes)
        fd.add_output(after(fd, y) if after else y)
    return fd


def declared_with_ones(shape):
    return [1 if size == 1 else -1 for size in shape]


def contiguity_of(declared):
    return [None if size == 1 else True for size in declared]


def reshape_both(shape, new_shape, target, ones=False, constant=False):
    """The result of a reshape, its operand, and the definition."""
    declared = declared_with_ones(shape) if ones else [-1] * len(shape)
    with FusionDefinition() as fd:
        x = fd.define_tensor(declared, contiguity=contiguity_of(declared))
        sizes = list(new_shape) if constant else fd.define_vector(len(new_shape))
        fd.add_output(fd.ops.neg(fd.ops.reshape(fd.ops.add(x, 1.0), sizes)))
    x = values(shape, target)
    (out,) = fd.execute([x] if constant else [x, *new_shape])
    return out, x


SHAPES = [
    ([1, 19, 1, 12, 7, 1, 99], [1, 19, 1, 3, 2772]),
    ([19, 12, 7, 99], [19, 3, 2772]),
    ([3, 17, 80, 1], [51, 1, 2, 4, 10]),
    ([3, 17, 80, 1], [51, 2, 4, 1, 10]),
    ([3, 17, 80, 1, 9], [51, 1, 2, 4, 10, 9]),
    ([3, 17, 80, 1, 9], [51, 2, 4, 1, 10, 9]),
    ([2, 3, 4, 5], [1, 6, 1, 2, 2, 5, 1]),
    ([2, 3, 4, 5], [1, 6, 1, 2, 2, 5]),
    ([22, 22, 2], [22, 11, 1, 1, 4]),
    ([22, 1, 22, 1], [484]),
    ([37, 9, 7, 6, 10], [333, 2, 2, 3, 35]),
    ([1, 1, 3333, 1], [1, 1, 3333, 1]),
    ([1, 3333, 1], [3333]),
    ([1, 3333, 1], [1, 303, 11, 1]),
    ([1, 333], [1, 1, 1, 111, 1, 3]),
    ([1, 333, 1], [1, 37, 9]),
    ([1, 27454, 1, 2], [1, 7844, 1, 7]),
    ([1, 7844, 1, 7], [1, 27454, 2]),
    ([1, 27454, 2], [1, 7844, 7]),
    ([8, 1, 1, 8, 1, 8], [8, 2, 4, 1, 8]),
    ([3, 4, 5], [5, 3, 4]),
    ([5, 1, 3], [5, 3, 1]),
    ([1, 1], []),
    ([], [1, 1]),
    ([1], [1]),
]


@pytest.mark.parametrize("ones", [False, True], ids=["ordinary", "broadcast"])
@pytest.mark.parametrize(("shape", "new_shape"), SHAPES)
def test_scalar_sizes(target, shape, new_shape, ones) -> None:
    out, x = reshape_both(shape, new_shape, target, ones=ones)
    torch.testing.assert_close(out, -(x + 1).reshape(new_shape), rtol=0, atol=0)


@pytest.mark.parametrize(("shape", "new_shape"), SHAPES)
def test_constant_sizes_of_a_symbolic_operand(target, shape, new_shape) -> None:
    """Also with each size in turn to be inferred."""
    for inferred in [None, *range(len(new_shape))]:
        sizes = [-1 if i == inferred else size for i, size in enumerate(new_shape)]
        out, x = reshape_both(shape, sizes, target, constant=True)
        torch.testing.assert_close(out, -(x + 1).reshape(new_shape), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("shape", "new_shape", "result"),
    [
        ([2, 3, 0, 5], [6, 0, 5], [6, 0, 5]),
        ([2, 3, 0, 5], [0, 7, 0], [0, 7, 0]),
        ([2, 3, 0, 5], [0, -1, 0], [0, 0, 0]),
        ([0, 1, 2, 3, 4], [5, 0], [5, 0]),
        ([0], [1, -1], [1, 0]),
    ],
)
@pytest.mark.parametrize("constant", [False, True], ids=["scalars", "constants"])
def test_empty_tensors(target, shape, new_shape, result, constant) -> None:
    out, _ = reshape_both(shape, new_shape, target, constant=constant)
    assert list(out.shape) == result


def test_an_inferred_size_of_an_empty_tensor(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        y = fd.ops.reshape(x, [fd.define_scalar(DataType.Int), -1])
        fd.add_output(fd.ops.relu(y))
    (out,) = fd.execute([values([0, 3], target), 0])
    assert list(out.shape) == [0, 0]
    (out,) = fd.execute([values([0, 3], target), 7])
    assert list(out.shape) == [7, 0]


def test_reductions_of_an_empty_result(target) -> None:
    fd = define_reshape(2, 2, after=lambda fd, y: fd.ops.sum(y, [1]))
    (out,) = fd.execute([values([0, 3], target), 4, 0])
    assert torch.equal(out, torch.zeros(4, device=target))


def test_kernels_are_shared_by_pattern(target) -> None:
    fd = define_reshape(4, 4)
    sequence = [
        ([8, 12, 7, 9], [8, 12, 7, 9], 1),
        ([8, 12, 7, 5], [8, 12, 7, 5], 1),
        ([8, 12, 7, 9], [8, 3, 4, 63], 2),
        ([8, 12, 7, 9], [8, 3, 28, 9], 3),
        ([8, 12, 7, 5], [8, 3, 28, 5], 3),
        ([8, 15, 7, 9], [8, 3, 35, 9], 3),
        ([8, 0, 7, 9], [7, 8, 0, 9], 4),
        ([8, 0, 7, 9], [7, 8, -1, 9], 4),
        ([8, 0, 7, 9], [7, 8, 0, 0], 5),
        ([8, 0, 7, 9], [47, 0, 13, 0], 6),
    ]
    for shape, new_shape, count in sequence:
        x = values(shape, target)
        (out,) = fd.execute([x, *new_shape])
        expected = [0 if size == -1 else size for size in new_shape]
        assert torch.equal(out, x.reshape(expected) if x.numel() else x.new_zeros(expected))
        assert count_specializations(fd) == count


@pytest.mark.parametrize(
    "chain",
    [
        ([4, 3], [3, 4], [12]),
        ([4, 3], [3, 1, 4], [12, 1]),
        ([4, 3], [12], [3, 4]),
        ([4, 3], [1, 2, 1, 3, 2], [3, 4]),
        ([1, 5], [5, 1], [1, 5]),
        ([1, 1], [1], [1, 1, 1]),
        ([0, 3], [3, 0], [0, 1, 7]),
    ],
)
def test_chains(target, chain) -> None:
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1] * len(chain[0]), contiguity=True)
        for shape in chain[1:]:
            y = fd.ops.relu(fd.ops.reshape(y, fd.define_vector(len(shape))))
        fd.add_output(y)
    x = values(chain[0], target)
    (out,) = fd.execute([x, *(size for shape in chain[1:] for size in shape)])
    assert torch.equal(out, x.relu().reshape(chain[-1]))


@pytest.mark.parametrize(
    ("shape", "new_shape", "other"),
    [
        ([4, 3], [3, 4], [3, 4]),
        ([4, 3], [12, 1], [12, 5]),
        ([4, 3], [12, 1], [12, 1]),
        ([4, 3], [1, 12], [7, 12]),
        ([1, 1], [1, 1], [3, 4]),
    ],
)
def test_the_other_operand_may_resolve_a_broadcast(target, shape, new_shape, other) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 1] if shape == [1, 1] else [-1, -1])
        z = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.reshape(x, fd.define_vector(2))
        fd.add_output(fd.ops.add(fd.ops.add(y, z), y))
    x, z = values(shape, target), values(other, target, seed=1)
    (out,) = fd.execute([x, z, *new_shape])
    y = x.reshape(new_shape)
    assert torch.equal(out, y + z + y)


def test_a_size_that_does_not_match_is_found(target) -> None:
    """An ordinary dimension is no broadcast, also behind a reshape."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.reshape(x, fd.define_vector(2)), z))
    for shape, new_shape in (([5, 1], [5, 1]), ([2, 6], [4, 3])):
        with pytest.raises(RuntimeError, match="Expected sizes to match"):
            fd.execute([values(shape, target), values([5, 7], target), *new_shape])


def test_a_product_of_sizes_is_held_against_another_size(target) -> None:
    """Also where the reshape itself does not depend on sizes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.reshape(x, [-1]), z))
    x, z = values([2, 3], target), values([6], target, seed=1)
    assert torch.equal(fd.execute([x, z])[0], x.reshape(-1) + z)
    for size in (1, 5, 7):
        with pytest.raises(RuntimeError, match="Expected sizes to match"):
            fd.execute([x, values([size], target)])


def test_pad_behind_a_reshape(target) -> None:
    fd = define_reshape(2, 2, after=lambda fd, y: fd.ops.pad(y, [1, 1, 1, 1]))
    for shape, new_shape in (([4, 3], [3, 4]), ([4, 3], [12, 1]), ([1, 1], [1, 1])):
        x = values(shape, target)
        (out,) = fd.execute([x, *new_shape])
        assert torch.equal(out, torch.nn.functional.pad(x.reshape(new_shape), (1, 1, 1, 1)))


def test_slice_behind_a_reshape(target) -> None:
    fd = define_reshape(2, 2, after=lambda fd, y: fd.ops.slice(y, [0, 0], [2, 1]))
    for shape, new_shape in (([4, 3], [3, 4]), ([4, 3], [12, 1]), ([1, 1], [1, 1])):
        x = values(shape, target)
        (out,) = fd.execute([x, *new_shape])
        assert torch.equal(out, x.reshape(new_shape)[:2, :1])


def test_repeat_behind_a_reshape(target) -> None:
    """A dimension that is not repeated follows the operand, however its size is written."""
    with FusionDefinition() as fd:
        x = fd.ops.pad(fd.define_tensor([-1, -1]), [0, 1, 0, 0])
        y = fd.ops.reshape(x, [1, -1, x.size(1)])  # n * m / m and m
        fd.add_output(fd.ops.repeat(fd.ops.select(y, 0, dim=2), [3, 1]))
    for shape in ([4, 5], [1, 2], [1, 1], [0, 3]):
        x = values(shape, target)
        assert torch.equal(fd.execute([x])[0], x[:, 0].repeat(3, 1))


@pytest.mark.parametrize("dims", [[0], [1], [0, 1]])
@pytest.mark.parametrize("name", ["sum", "max", "prod", "var_mean", "welford"])
def test_reductions_of_a_reshape(target, name, dims) -> None:
    def reduce(fd, y):
        if name == "var_mean":
            var, mean = fd.ops.var_mean(y, dims, correction=0)
            return fd.ops.add(var, mean)
        if name == "welford":
            avg, var, count = fd.ops.welford(y, dims)
            return fd.ops.add(fd.ops.add(avg, var), fd.ops.cast(count, DataType.Float))
        return getattr(fd.ops, name)(y, dims)

    def expected(y):
        if name == "var_mean":
            return y.var(dims, correction=0) + y.mean(dims)
        if name == "welford":
            count = y.numel() // y.mean(dims).numel()
            return y.mean(dims) + count * y.var(dims, correction=0) + count
        if name == "sum":
            return y.sum(dims)
        if name == "max":
            return y.amax(dims)
        return y.prod(dims[-1]) if len(dims) == 1 else y.prod()

    fd = define_reshape(2, 2, after=reduce)
    for shape, new_shape in (([4, 3], [3, 4]), ([4, 3], [12, 1]), ([4, 3], [1, 12])):
        x = values(shape, target)
        (out,) = fd.execute([x, *new_shape])
        torch.testing.assert_close(out, expected(x.reshape(new_shape)))


def test_softmax_before_and_after(target) -> None:
    fd = define_reshape(
        2, 3, before=lambda fd, x: fd.ops.softmax(x, 1), after=lambda fd, y: fd.ops.softmax(y, 2)
    )
    for shape, new_shape in (([4, 6], [2, 4, 3]), ([4, 6], [24, 1, 1]), ([6, 1], [1, 2, 3])):
        x = values(shape, target)
        (out,) = fd.execute([x, *new_shape])
        torch.testing.assert_close(out, x.softmax(1).reshape(new_shape).softmax(2))


def test_a_reduced_operand(target) -> None:
    fd = define_reshape(3, 2, before=lambda fd, x: fd.ops.sum(x, [1]))
    for new_shape in ([6, 2], [12, 1], [1, 12], [3, 4]):
        x = values([3, 5, 4], target)
        (out,) = fd.execute([x, *new_shape])
        assert torch.equal(out, x.sum(1).reshape(new_shape))


def test_group_norm(target) -> None:
    """[n, c, h, w] -> [n, c/g, g, h, w] and back, all sizes symbolic."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1, -1], contiguity=True)
        n, c, h, w = x.shape()
        groups = fd.ops.reshape(x, [n, fd.ops.div(c, 4), 4, h, w])
        total = fd.ops.sum(groups, [2, 3, 4], keepdim=True)
        fd.add_output(fd.ops.reshape(fd.ops.sub(groups, total), x.shape()))
    for shape in ([2, 8, 3, 3], [1, 4, 1, 1], [3, 12, 2, 5]):
        x = values(shape, target)
        (out,) = fd.execute([x])
        groups = x.reshape(shape[0], shape[1] // 4, 4, *shape[2:])
        assert torch.equal(out, (groups - groups.sum([2, 3, 4], keepdim=True)).reshape(shape))


# ---- The list of sizes ---------------------------------------------------------------------------


def test_numbers_and_scalars_mixed(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(x, (fd.ops.size(x, 0), fd.define_scalar(DataType.Int), 2)))
    x = values([3, 4], target)
    assert torch.equal(fd.execute([x, 2])[0], x.reshape(3, 2, 2))
    x = values([5, 12], target)
    assert torch.equal(fd.execute([x, 6])[0], x.reshape(5, 6, 2))
    assert count_specializations(fd) == 2


def test_the_shape_of_another_tensor(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        like = fd.define_tensor([-1, -1], contiguity=True)
        third = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.reshape(x, like.shape()), fd.ops.add(like, third)))
    for shape, new_shape in (
        ([3, 4], [4, 3]),
        ([2, 6], [4, 3]),
        ([3, 4], [3, 4]),
        ([12, 1], [2, 6]),
    ):
        x, like, third = (
            values(s, target, seed=i) for i, s in enumerate((shape, new_shape, new_shape))
        )
        assert torch.equal(fd.execute([x, like, third])[0], x.reshape(new_shape) + like + third)


def test_a_vector_input_is_a_list(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(x, fd.define_vector(3)))
    x = values([4, 6], target)
    assert torch.equal(fd.execute([x, [2, 3, 4]])[0], x.reshape(2, 3, 4))
    assert torch.equal(fd.execute([x, (2, 12, 1)])[0], x.reshape(2, 12, 1))


@pytest.mark.parametrize(
    ("original", "new_shape", "actual", "result"),
    [
        ([2, 10, 40], [2, 10, 4, 10], [2, 10, 40], [2, 10, 4, 10]),
        ([2, 10, 40], [2, 10, 4, 10], [3, 7, 40], [3, 7, 4, 10]),
        ([3, 4], [4, 3], [3, 4], [4, 3]),
        ([3, 4, 5], [12, -1], [3, 4, 6], [12, 6]),
    ],
)
def test_old_spelling(target, original, new_shape, actual, result) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(original), contiguity=True)
        fd.add_output(fd.ops.reshape(x, original, new_shape))
    x = values(actual, target)
    assert torch.equal(fd.execute([x])[0], x.reshape(result))


def test_old_spelling_checks_actual_sizes(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(x, [3, 4], [4, 3]))
    with pytest.raises(RuntimeError, match="Total element counts across view operation must match"):
        fd.execute([values([3, 5], target)])


# ---- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "new_shape", "message"),
    [
        (
            [2, 3],
            [4, 2],
            r"Total element counts across view operation must match: 6 vs 8, "
            r"reshaping \[2, 3\] to \[4, 2\]",
        ),
        ([2, 3], [-1, 2], "Values of -1 passed to reshape must be constant at definition."),
        ([2, 3], [-3, -2], "Total element counts across view operation must match"),
        ([2, 0], [3, 4], "Output shape must have at least one 0 when input shape does"),
        ([2, 3], [0, 2], "Total element counts across view operation must match: 6 vs 0"),
    ],
)
def test_errors_of_sizes(shape, new_shape, message) -> None:
    fd = define_reshape(2, 2)
    with pytest.raises(RuntimeError, match=message):
        fd.execute([values(shape, "cpu"), *new_shape])


def test_an_inexact_quotient() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(x, [-1, fd.define_scalar(DataType.Int)]))
    x = values([2, 3], "cpu")
    assert torch.equal(fd.execute([x, 3])[0], x)
    for size in (4, 0):
        with pytest.raises(RuntimeError, match="Total element counts across view operation"):
            fd.execute([x, size])


def test_two_inferred_sizes() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        with pytest.raises(RuntimeError, match="A maximum of one value of -1 can be provided"):
            fd.ops.reshape(x, [-1, 2, -1])


def test_rank_zero_has_one_element() -> None:
    fd = define_reshape(0, 1, declared=[])
    x = torch.tensor(3.0)
    assert torch.equal(fd.execute([x, 1])[0], x.reshape(1))
    with pytest.raises(RuntimeError, match="Zero-dim tensors may only be reshaped to tensors"):
        fd.execute([x, 2])


def test_squeeze_of_a_dimension_that_came_out_larger(target) -> None:
    fd = define_reshape(2, 2, after=lambda fd, y: fd.ops.squeeze(y, [1]))
    x = values([2, 3], target)
    assert torch.equal(fd.execute([x, 6, 1])[0], x.reshape(6))
    with pytest.raises(RuntimeError, match=r"must concretize to IterType::Broadcast but found"):
        fd.execute([x, 2, 3])


def test_a_kernel_of_its_own_needs_a_resolved_reshape() -> None:
    fd = define_reshape(2, 2)
    with pytest.raises(RuntimeError, match="A kernel cannot have a reshape that is not resolved"):
        KernelExecutor().compile(fd.fusion, [values([2, 3], "cpu"), 3, 2])


# ---- Caching -------------------------------------------------------------------------------------


def test_a_definition_without_symbolic_axes_is_its_own() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(x, [-1]))
    x = values([3, 4], "cpu")
    assert torch.equal(fd.execute([x])[0], x.reshape(-1))
    assert count_specializations(fd) == 1


def test_inspection_finds_the_kernel_of_the_sizes() -> None:
    fd = define_reshape(2, 2)
    x = values([4000, 3], "cpu")
    fd.execute([x, 3, 4000])
    assert fd.fec.is_compiled([x, 3, 4000])
    assert fd.fec.is_compiled([values([8000, 3], "cpu"), 3, 8000])  # scheduled alike
    assert not fd.fec.is_compiled([x, 2, 6000])
    assert "reshape" in fd.fec.get_most_recent_scheduled_ir()


def test_parts_whose_size_turns_out_to_be_1_lie_behind_each_other(target) -> None:
    """The parts are padded by the size that is fixed."""
    with FusionDefinition() as fd:
        n = fd.define_scalar(None, dtype=DataType.Int)
        x = fd.define_tensor([-1, -1])
        y = fd.ops.reshape(x, [-1, n, fd.ops.size(x, 1)])
        fd.add_output(fd.ops.cat([fd.ops.neg(y), y], 1))
    x = values((6, 2), target)
    for size in (1, 3, 1):
        (out,) = fd.execute([size, x])
        y = x.view(-1, size, 2)
        assert torch.equal(out, torch.cat([-y, y], 1))

"""How many segments fusions of a given shape have, and what crosses between them."""

from __future__ import annotations

import pytest
import torch
from cut_definitions import check_cut, constant, define, maps, matrix, randn

from nvfuser import DataType, FusionDefinition, SchedulerType
from nvfuser.segmentation import ArgumentManager

HALF, BF16, FLOAT = DataType.Half, DataType.BFloat16, DataType.Float


def crossing(fd: FusionDefinition) -> list[str]:
    """The lines that define what segments read of each other."""
    lines = []
    for segment, indices in fd.segment_index_space_maps.items():
        for line in repr(segment).splitlines():
            name, _, rest = line.strip().partition(" = ")
            is_input = rest.startswith("fd.define_tensor") and int(name[1:]) in segment.inputs()
            if is_input and indices[int(name[1:])] not in fd.inputs():
                lines.append(rest)
    return lines


# -- 12.1 --


def test_unrelated_chains(target) -> None:
    """Inputs `[10, 20]` and `[15]`"""

    def build(fd):
        a, b = matrix(fd), matrix(fd, 1)
        return [fd.ops.exp(fd.ops.neg(a)), fd.ops.exp(fd.ops.neg(b))]

    check_cut(build, [randn(10, 20, target=target), randn(15, target=target)], 2)


def test_one_input_broadcast_in_two_ways(target) -> None:
    """`[4, 4]` against `[3, 4, 4]` and `[2, 8, 4, 4]`"""

    def build(fd):
        x, a, b = matrix(fd), matrix(fd, 3), matrix(fd, 4)
        return [
            fd.ops.add(fd.ops.broadcast(x, [True, False, False]), a),
            fd.ops.add(fd.ops.broadcast(x, [True, True, False, False]), b),
        ]

    shapes = [(4, 4), (3, 4, 4), (2, 8, 4, 4)]
    check_cut(build, [randn(*shape, target=target) for shape in shapes], 2)


def test_a_segment_set_between_two_operations(target) -> None:
    """Relu, `segment_set`, neg; the second is neg alone; 8.5"""

    def build(fd):
        return fd.ops.neg(fd.ops.segment_set(fd.ops.relu(matrix(fd))))

    fd = check_cut(build, [randn(7, 9, target=target)], 2)
    first, second = fd.segments
    assert "ops.relu" in repr(first)
    assert repr(second).count("fd.ops.") == 1
    assert "segment_set" not in repr(first)
    assert maps(fd) == [{0: 0, 1: 1}, {0: 1, 1: 3}], "the boundary has the lowest index, relu's"


def test_a_segment_set_that_is_an_output_and_is_read(target) -> None:
    """segmentation.md 12.1; 11.2: "the statement is written as `fd.ops.set`" """

    def build(fd):
        kept = fd.ops.segment_set(matrix(fd))
        return [kept, fd.ops.mul(kept, constant(fd, 2.0))]

    fd = check_cut(build, [randn(7, 9, target=target)], 2)
    assert "fd.ops.set(T0)" in repr(fd.segments[0])


@pytest.mark.parametrize("outputs", [1, 2])
def test_two_segment_sets_of_one_value(target, outputs) -> None:
    """ "two `segment_set`s of the same value, each read further"; into one
    output, and into two"""

    def build(fd):
        value = fd.ops.exp(matrix(fd))
        left, right = fd.ops.segment_set(value), fd.ops.segment_set(value)
        read = [fd.ops.neg(left), fd.ops.sin(right)]
        return read if outputs == 2 else fd.ops.add(*read)

    fd = check_cut(build, [randn(7, 9, target=target)], 2)
    assert repr(fd.segments[0]).count("fd.ops.exp") == 1
    assert {"fd.ops.neg", "fd.ops.sin"} <= set(repr(fd.segments[1]).replace("(", " ").split())


def test_relu_as_output_and_a_permuted_tail(target) -> None:
    """ "permute tail views the boundary value" """

    def build(fd):
        relu = fd.ops.relu(matrix(fd))
        cut = fd.ops.segment_set(relu)
        return [relu, fd.ops.permute(cut, [1, 0]), fd.ops.exp(fd.ops.neg(cut))]

    x = randn(7, 9, target=target)
    fd = check_cut(build, [x])
    relu, permuted, _ = fd.execute([x])
    assert permuted.data_ptr() == relu.data_ptr()


def test_a_sum_that_is_an_output_and_divided_by(target) -> None:
    """ "pointwise tail with a boundary asked for" """

    def build(fd):
        x = matrix(fd)
        total = fd.ops.sum(x, [1], keepdim=True)
        return [total, fd.ops.div(x, fd.ops.segment_set(total))]

    check_cut(build, [randn(30, 40, target=target).abs() + 1], 2)


def test_reduction_then_another_space(target) -> None:
    """Add 1, max over dim 0, add `[n]`, add `[m, n]`"""

    def build(fd):
        x, y, z = matrix(fd), matrix(fd, 1), matrix(fd)
        total = fd.ops.max(fd.ops.add(x, constant(fd, 1.0)), [0])
        return fd.ops.add(fd.ops.add(total, y), z)

    shapes = [(33, 16), (16,), (20, 16)]
    check_cut(build, [randn(*shape, target=target) for shape in shapes], 2)


def test_reduction_then_softmax(target) -> None:
    """`[32, 64, 8]`; "the second is vectorized" """

    def build(fd):
        total = fd.ops.sum(fd.ops.add(matrix(fd, 3), constant(fd, 1.0)), [2])
        shifted = fd.ops.sub(total, fd.ops.max(total, [1], keepdim=True))
        powers = fd.ops.exp(shifted)
        return fd.ops.div(powers, fd.ops.sum(powers, [1], keepdim=True))

    x = randn(32, 64, 8, target=target)
    fd = check_cut(build, [x], 2, atol=1e-4, rtol=1e-4)
    manager = ArgumentManager(fd, [x])
    manager.put(0, fd.segments[0].execute(manager.arguments(0)))
    second = fd.segments[1]
    second._setup_schedule(manager.arguments(1))
    params = second.sched.compute_reduction_heuristics()
    second._drop_schedule()
    assert params.unroll_factor_inner_reduction > 1
    assert params.vectorize_inner_reduction == (target == "cuda")


def test_two_sums_in_a_row(target) -> None:
    """`[2, 5]`; "the profile reports 2"; profile of the whole run"""

    def build(fd):
        total = fd.ops.sum(fd.ops.add(matrix(fd), constant(fd, 1.0)), [-1])
        return fd.ops.sum(total, [-1])

    x = randn(2, 5, target=target)
    fd = check_cut(build, [x], 2)
    fd.execute([x], profile=True)
    assert fd.profile().segments == 2


def test_a_long_chain_of_nested_reductions(target) -> None:
    """ "reductions over nested dims with pointwise between" """

    def build(fd):
        total = fd.ops.sum(fd.ops.exp(matrix(fd, 3)), [2])
        return fd.ops.exp(fd.ops.sum(fd.ops.relu(fd.ops.neg(total)), [1]))

    check_cut(build, [randn(6, 5, 40, target=target)], 2, atol=1e-4, rtol=1e-4)


def test_reductions_beside_each_other(target) -> None:
    """Horizontal, over different dims, and of unrelated inputs"""

    def same_dims(fd):
        x = matrix(fd)
        return [fd.ops.sum(fd.ops.exp(x), [1]), fd.ops.sum(fd.ops.neg(x), [1])]

    def other_dims(fd):
        x = matrix(fd)
        return [fd.ops.sum(x, [0]), fd.ops.sum(x, [1])]

    def unrelated(fd):
        x, y = matrix(fd), matrix(fd)
        return [fd.ops.sum(x, [0]), fd.ops.sum(y, [1])]

    x, y = randn(40, 30, target=target), randn(20, 50, target=target)
    check_cut(same_dims, [x], 1, atol=1e-4, rtol=1e-4)
    fd = check_cut(other_dims, [x], atol=1e-4, rtol=1e-4)
    assert len(getattr(fd, "segments", [])) <= 2
    check_cut(unrelated, [x, y], atol=1e-4, rtol=1e-4)


def test_a_straight_line_with_all_outputs(target) -> None:
    """Add, permute, mul"""

    def build(fd):
        total = fd.ops.add(matrix(fd), constant(fd, 1.0))
        turned = fd.ops.permute(total, [1, 0])
        return [total, turned, fd.ops.mul(turned, constant(fd, 2.0))]

    check_cut(build, [randn(12, 20, target=target)], 1)


def test_views_of_a_computed_value_share_its_memory(target) -> None:
    """Two reshapes of one value; "many outputs that are views"; 8.6"""

    def build(fd):
        value = fd.ops.exp(matrix(fd))
        return [
            fd.ops.reshape(value, [6, 4]),
            fd.ops.reshape(value, [24]),
            fd.ops.permute(value, [1, 0]),
        ]

    x = randn(3, 8, target=target)
    fd = check_cut(build, [x], 2)
    outputs = fd.execute([x])
    assert len({out.data_ptr() for out in outputs}) == 1


def test_a_view_of_the_input_beside_a_computed_output(target) -> None:
    """ "no extra segment for the non-view" """

    def build(fd):
        x = matrix(fd)
        return [fd.ops.permute(x, [1, 0]), fd.ops.exp(fd.ops.neg(x))]

    fd = define(build)
    assert len(fd.segment([randn(3, 8, target=target)])) <= 2
    check_cut(build, [randn(3, 8, target=target)])


# -- 12.2 --


def test_chains_of_inputs_do_not_cross(target) -> None:
    """Chains of unary operations of different length, then a binary one"""

    def build(fd):
        x, y = matrix(fd), matrix(fd)
        return fd.ops.add(fd.ops.neg(fd.ops.sin(fd.ops.exp(x))), fd.ops.relu(y))

    check_cut(build, [randn(5, 6, target=target), randn(5, 6, target=target)], 1)


def test_chains_up_to_an_add_before_a_segment_set(target) -> None:
    """`Half` inputs, cast, neg, sin, add, `segment_set`, output"""

    def build(fd):
        x, y = matrix(fd, dtype=HALF), matrix(fd, dtype=HALF)
        left = fd.ops.sin(fd.ops.neg(fd.ops.cast(x, FLOAT)))
        return fd.ops.segment_set(fd.ops.add(left, fd.ops.cast(y, FLOAT)))

    inputs = [randn(5, 6, target=target, dtype=torch.float16) for _ in range(2)]
    check_cut(build, inputs, 1)


def test_a_cheap_value_is_computed_where_it_is_read(target) -> None:
    """Neg of an input read by sum over 0 and sum over 1, where no kernel
    computes both"""

    def build(fd):
        value = fd.ops.neg(matrix(fd, 3))
        return [fd.ops.sum(value, [0]), fd.ops.sum(value, [1])]

    fd = check_cut(build, [randn(40, 30, 20, target=target)], 2, atol=1e-4, rtol=1e-4)
    assert all("ops.neg" in repr(segment) for segment in fd.segments)
    assert crossing(fd) == []


def test_a_value_used_twice_in_one_expression(target) -> None:
    """`add(x, x)` is one value"""

    def build(fd):
        value = fd.ops.neg(matrix(fd))
        return fd.ops.segment_set(fd.ops.add(value, value))

    check_cut(build, [randn(5, 6, target=target)], 1)


@pytest.mark.parametrize("squeezes", [False, True], ids=["cast", "squeeze"])
@pytest.mark.parametrize(("dims", "count"), [(((0,), (1,)), 3), (((1,), (1,)), 2)])
def test_the_narrow_value_crosses(target, dims, count, squeezes) -> None:
    """`segment_set` of a `bfloat16` input, an up-cast or squeeze, two sums"""

    def build(fd):
        if squeezes:
            x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True])
            value = fd.ops.squeeze(fd.ops.segment_set(x), [1])
        else:
            value = fd.ops.cast(fd.ops.segment_set(matrix(fd, dtype=BF16)), FLOAT)
        return [fd.ops.sum(fd.ops.exp(value), list(d)) for d in dims]

    x = (
        randn(40, 1, 30, target=target)
        if squeezes
        else randn(40, 30, target=target, dtype=torch.bfloat16)
    )
    fd = check_cut(build, [x], count, atol=1e-2, rtol=1e-2)
    readers = [s for s in fd.segments if "ops.sum" in repr(s)]
    assert all(("squeeze" if squeezes else "ops.cast") in repr(reader) for reader in readers)
    assert all(("BFloat16" in line) != squeezes for line in crossing(fd))


def test_constants_never_cross(target) -> None:
    """`full` used by two segments"""

    def build(fd):
        x, y = matrix(fd), matrix(fd, 1)
        half = fd.ops.full([], fd.define_scalar(0.5), FLOAT)
        return [fd.ops.mul(x, half), fd.ops.mul(y, half)]

    fd = check_cut(build, [randn(5, 6, target=target), randn(7, target=target)], 2)
    assert all("ops.full" in repr(segment) for segment in fd.segments)


def test_nested_sums_in_another_order_of_memory(target) -> None:
    """Sum over 2, 0, 0 of `[3, 32, 17]`, permuted memory order; 1: no
    reduction dimensions cross"""

    def build(fd):
        x = fd.define_tensor([-1, -1, -1], contiguity=True, stride_order=[0, 2, 1])
        return fd.ops.sum(fd.ops.sum(fd.ops.sum(x, [2]), [0]), [0])

    x = randn(32, 17, 3, target=target).permute(2, 0, 1)
    fd = check_cut(build, [x], 3, atol=1e-4, rtol=1e-4)
    shapes = [line.split("shape=")[1].split("]")[0] + "]" for line in crossing(fd)]
    assert set(shapes) <= {"[-1, -1]", "[-1]"}


def test_a_boundary_in_its_own_order_of_memory(target) -> None:
    """Allocation order, then reshape `[2, 3, 5]` to `[6, 5]`; 11.4"""

    def build(fd):
        value = fd.ops.stride_order(fd.ops.exp(matrix(fd, 3)), [0, 2, 1])
        cut = fd.ops.segment_set(value)
        return [value, fd.ops.neg(fd.ops.reshape(cut, [6, 5]))]

    x = randn(2, 3, 5, target=target)
    fd = check_cut(build, [x], 2)
    value, flat = fd.execute([x])
    assert value.stride() == (1, 10, 2)
    assert torch.equal(flat, -value.reshape(6, 5))
    assert any("stride_order=[0, 2, 1]" in line for line in crossing(fd))


def test_sizes_of_another_input(target) -> None:
    """`[16, 128, 768]` reshaped to `[16, 12, 128, 64]`'s sizes, permuted"""

    def build(fd):
        x, other = matrix(fd, 3), matrix(fd, 4)
        sizes = [fd.ops.size(other, dim) for dim in (0, 2, 1, 3)]
        turned = fd.ops.permute(fd.ops.reshape(x, sizes), [0, 2, 1, 3])
        return [fd.ops.neg(turned), fd.ops.sum(x, [0]), fd.ops.exp(other)]

    inputs = [randn(16, 128, 768, target=target), randn(16, 12, 128, 64, target=target)]
    fd = check_cut(build, inputs, 3, atol=1e-4, rtol=1e-4)
    for segment in fd.segments:
        if "ops.sum" in repr(segment):
            assert fd.segment_index_space_maps[segment][0] == 0


# -- 12.4 --


RESHAPES = [
    ([6, 4], [3, 8], True),
    ([2, 3, 4], [2, 2, 6], True),
    ([2, 12], [2, 2, 6], False),
]


@pytest.mark.parametrize("sliced", [False, True], ids=["one", "slices"])
@pytest.mark.parametrize(("left", "right", "conflict"), RESHAPES)
def test_reshapes_of_one_dimension(target, left, right, conflict, sliced) -> None:
    """Two reshapes of `[24]`, or of the slices 0:24 and 12:36 of `[36]`"""

    def build(fd):
        x = fd.define_tensor([36 if sliced else 24], contiguity=True)
        value = fd.ops.sin(x)
        parts = [value, value]
        if sliced:
            parts = [fd.ops.slice(value, [a], [a + 24], [1]) for a in (0, 12)]
        return [
            fd.ops.exp(fd.ops.reshape(parts[0], left)),
            fd.ops.neg(fd.ops.reshape(parts[1], right)),
        ]

    fd = check_cut(build, [randn(36 if sliced else 24, target=target)])
    assert (len(getattr(fd, "segments", [])) > 1) == conflict


def test_a_value_meets_a_reshape_of_itself(target) -> None:
    """`x [4, 8] + reshape(reshape(x, [32]), [4, 8])`"""

    def build(fd):
        x = matrix(fd)
        flat = fd.ops.reshape(fd.ops.neg(x), [32])
        return fd.ops.add(x, fd.ops.reshape(flat, [4, 8]))

    check_cut(build, [randn(4, 8, target=target)])


def test_reshapes_in_a_row(target) -> None:
    """`[4, 8]` to `[8, 4]` to `[32]`, no other reader"""

    def build(fd):
        return fd.ops.exp(fd.ops.reshape(fd.ops.reshape(matrix(fd), [8, 4]), [32]))

    check_cut(build, [randn(4, 8, target=target)], 1)


DIMS = [[0], [0, 1], [0, 1, 2], [-1], [-1, -2], [-1, -2, -3], [0, 2, 4], [1, 3]]


@pytest.mark.parametrize("dims", DIMS, ids=str)
def test_sums_behind_a_reshape(target, dims) -> None:
    """`[2, 128, 16, 16]` (`Half`), cast, `[2, 32, 4, 16, 16]`, sum"""

    def build(fd):
        x = fd.define_tensor([2, 128, 16, 16], contiguity=True, dtype=HALF)
        value = fd.ops.reshape(fd.ops.cast(x, FLOAT), [2, 32, 4, 16, 16])
        return fd.ops.sum(value, dims)

    x = randn(2, 128, 16, 16, target=target, dtype=torch.float16)
    check_cut(build, [x], 1, atol=1e-3, rtol=1e-3)


def test_group_norm_with_scale_and_bias(target) -> None:
    """Group norm; "1 is better" than 2"""

    def build(fd):
        x = fd.define_tensor([2, 128, 16, 16], contiguity=True)
        scale, bias = (fd.define_tensor([128], contiguity=True) for _ in range(2))
        value = fd.ops.reshape(x, [2, 32, 4, 16, 16])
        var, mean = fd.ops.var_mean(value, [2, 3, 4], correction=0, keepdim=True)
        shifted = fd.ops.sub(value, mean)
        normal = fd.ops.mul(shifted, fd.ops.rsqrt(fd.ops.add(var, constant(fd, 1e-5))))
        normal = fd.ops.reshape(normal, [2, 128, 16, 16])
        wide = [fd.ops.broadcast_in_dim(t, [2, 128, 16, 16], [1]) for t in (scale, bias)]
        return fd.ops.add(fd.ops.mul(normal, wide[0]), wide[1])

    inputs = [randn(2, 128, 16, 16, target=target), *(randn(128, target=target) for _ in range(2))]
    fd = check_cut(build, inputs, atol=1e-4, rtol=1e-4)
    assert len(getattr(fd, "segments", [])) <= 2


# -- more rows --


def test_forwarding_stops_before_an_output(target) -> None:
    """Two chains from two inputs, each ending in an output"""

    def build(fd):
        x, y = matrix(fd), matrix(fd)
        left, right = fd.ops.neg(fd.ops.sin(x)), fd.ops.exp(fd.ops.relu(y))
        return [left, right, fd.ops.add(left, right)]

    check_cut(build, [randn(5, 6, target=target), randn(5, 6, target=target)])


def test_a_cheap_value_and_its_slice(target) -> None:
    """ "the forwarded neg lands in the slice's segment" """

    def build(fd):
        value = fd.ops.neg(matrix(fd))
        part = fd.ops.slice(value, [0, 1], [3, 5], [1, 1])
        return [part, fd.ops.sum(value, [0])]

    fd = check_cut(build, [randn(40, 30, target=target)], 2, atol=1e-4, rtol=1e-4)
    assert all("ops.neg" in repr(segment) for segment in fd.segments)
    assert crossing(fd) == []


def test_a_slice_alone_of_a_cheap_value_is_one_segment(target) -> None:
    """The same without another reader; 8.2, "forward" """

    def build(fd):
        value = fd.ops.exp(fd.ops.neg(matrix(fd)))
        return fd.ops.slice(value, [0, 1], [3, 5], [1, 1])

    check_cut(build, [randn(40, 30, target=target)], 1)


SLICES = [
    ("a part and the whole that conflict", ([0, 24], [2, 12]), ([0, 36], [4, 9]), False),
    ("equal reshapes of two parts", ([0, 24], [6, 4]), ([12, 36], [6, 4]), True),
    ("a part and the whole that refine", ([0, 24], [2, 12]), ([0, 36], [2, 18]), True),
    ("two parts of other sizes", ([0, 24], [2, 12]), ([12, 24], [2, 6]), True),
]


@pytest.mark.parametrize(
    ("left", "right", "is_one"), [r[1:] for r in SLICES], ids=[r[0] for r in SLICES]
)
def test_reshapes_of_slices_of_one_dimension(target, left, right, is_one) -> None:
    """Rows of slices of `[36]`; one kernel has loops for each of them"""

    def build(fd):
        value = fd.ops.sin(fd.define_tensor([36], contiguity=True))
        outs = []
        for (start, stop), shape in (left, right):
            part = fd.ops.slice(value, [start], [stop], [1])
            outs.append(fd.ops.exp(fd.ops.reshape(part, shape)))
        return outs

    fd = check_cut(build, [randn(36, target=target)])
    assert (not getattr(fd, "segments", [])) == is_one


def test_reshapes_of_slices_of_all_dimensions(target) -> None:
    """Slices of `[4, 5, 6]`, both to `[5, 3, 4]`"""

    def build(fd):
        x = fd.define_tensor([4, 5, 6], contiguity=True)
        parts = [fd.ops.slice(x, [i] * 3, [i + n for n in (3, 4, 5)], [1] * 3) for i in (0, 1)]
        return [fd.ops.exp(fd.ops.reshape(part, [5, 3, 4])) for part in parts]

    check_cut(build, [randn(4, 5, 6, target=target)], 1)


@pytest.mark.parametrize("dims", DIMS, ids=str)
def test_normalization_behind_a_reshape(target, dims) -> None:
    """ "the same, then broadcast back, divide, cast to `Half`" """

    def build(fd):
        x = fd.define_tensor([2, 128, 16, 16], contiguity=True, dtype=HALF)
        value = fd.ops.reshape(fd.ops.cast(x, FLOAT), [2, 32, 4, 16, 16])
        total = fd.ops.sum(fd.ops.exp(value), dims, keepdim=True)
        return fd.ops.cast(fd.ops.div(value, total), HALF)

    x = randn(2, 128, 16, 16, target=target, dtype=torch.float16)
    check_cut(build, [x], 1, atol=1e-3, rtol=1e-2)


def test_group_norm_with_scale_and_bias_first(target) -> None:
    """Scale and bias reshaped to `[32, 4]` and applied first: "an
    inner-persistent kernel, and a tail without kernel" """

    def build(fd):
        x = fd.define_tensor([2, 128, 16, 16], contiguity=True)
        scale, bias = (fd.define_tensor([128], contiguity=True) for _ in range(2))
        value = fd.ops.reshape(x, [2, 32, 4, 16, 16])
        var, mean = fd.ops.var_mean(value, [2, 3, 4], correction=0, keepdim=True)
        normal = fd.ops.mul(
            fd.ops.sub(value, mean), fd.ops.rsqrt(fd.ops.add(var, constant(fd, 1e-5)))
        )
        wide = [
            fd.ops.broadcast_in_dim(fd.ops.reshape(t, [32, 4]), [2, 32, 4, 16, 16], [1, 2])
            for t in (scale, bias)
        ]
        return fd.ops.reshape(fd.ops.add(fd.ops.mul(normal, wide[0]), wide[1]), [2, 128, 16, 16])

    inputs = [randn(2, 128, 16, 16, target=target), *(randn(128, target=target) for _ in range(2))]
    fd = check_cut(build, inputs, 2, atol=1e-4, rtol=1e-4)
    norm = fd.segments[0]
    norm._setup_schedule(inputs)
    assert norm.sched.find_compatible_schedulers()[0] == SchedulerType.inner_persistent
    norm._drop_schedule()
    tail = repr(fd.segments[-1])
    assert tail.count("fd.ops.") == tail.count("fd.ops.size") + 1
    assert "fd.ops.reshape(T0" in tail

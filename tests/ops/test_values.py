"""Values of operations by the fallback evaluator: composites and shapes against PyTorch."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nvfuser_direct import DataType, FusionDefinition, evaluate

D = DataType
TYPES = {torch.float32: D.Float, torch.int64: D.Int, torch.int32: D.Int32, torch.bool: D.Bool}


def define(fd, x: torch.Tensor):
    return fd.define_tensor(
        sizes=list(x.shape), strides=list(x.stride()), dtype=TYPES[x.dtype], static_sizes=True
    )


def run(fd, inputs, *outputs):
    for output in outputs:
        fd.add_output(output)
    return evaluate(fd.fusion, inputs)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_logical_right_shift_fills_with_zeros(fd, dtype) -> None:
    bits = torch.iinfo(dtype).bits
    x = torch.tensor([-1, -8, 7, 1 << (bits - 2), -(1 << (bits - 1)), 0], dtype=dtype)
    for n in (0, 1, 3, bits - 1):
        fd_out = fd.ops.logical_right_shift(define(fd, x), n)
        fd.add_output(fd_out)
    results = evaluate(fd.fusion, [x] * 4)
    for n, result in zip((0, 1, 3, bits - 1), results, strict=True):
        expected = [(int(v) % (1 << bits)) >> n for v in x]
        assert [int(v) % (1 << bits) for v in result] == expected


def test_sign(fd) -> None:
    x = torch.tensor([-2.5, 0.0, 3.0, -0.0])
    (out,) = run(fd, [x], fd.ops.sign(define(fd, x)))
    torch.testing.assert_close(out, torch.sign(x))


@pytest.mark.parametrize("diagonal", [-2, 0, 1, 5])
def test_triu(fd, diagonal) -> None:
    x = torch.randn(2, 3, 4)
    (out,) = run(fd, [x], fd.ops.triu(define(fd, x), diagonal))
    torch.testing.assert_close(out, torch.triu(x, diagonal))


@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", [[0], [1, -1], [0, 1, 2]])
def test_variance_and_mean(fd, dims, keepdim, correction) -> None:
    x = torch.randn(4, 5, 6)
    tv = define(fd, x)
    var, mean = fd.ops.var_mean(tv, dims, correction, keepdim)
    results = run(fd, [x], fd.ops.var(tv, dims, correction, keepdim), var, mean)
    expected = torch.var_mean(x, dims, correction=correction, keepdim=keepdim)
    for result, reference in zip(results, (expected[0], *expected), strict=True):
        torch.testing.assert_close(result, reference)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", [[0], [1], [2], [0, 1], [1, 2], [0, 1, 2]])
def test_reductions_over_ordinary_expanded_and_unit_dimensions(fd, name, keepdim, dims) -> None:
    x = torch.randn(4, 1, 1).expand(4, 3, 1)
    (out,) = run(fd, [x], getattr(fd.ops, name)(define(fd, x), dims, keepdim))
    reference = {"sum": torch.sum, "max": torch.amax, "min": torch.amin}
    if name == "prod":
        expected = x
        for dim in sorted(dims, reverse=True):
            expected = torch.prod(expected, dim, keepdim)
    else:
        expected = reference[name](x, dims, keepdim)
    torch.testing.assert_close(out, expected)


SHAPES = [
    ([1, 19, 1, 12, 7, 1, 99], [1, 19, 1, 3, 2772]),
    ([3, 17, 80, 1], [51, 1, 2, 4, 10]),
    ([3, 17, 80, 1, 9], [51, 2, 4, 1, 10, 9]),
    ([2, 3, 4, 5], [1, 6, 1, 2, 2, 5, 1]),
    ([22, 22, 2], [22, -1, 1, 1, 4]),
    ([37, 9, 7, 6, 10], [333, 2, -1, 3, 35]),
    ([1, 333], [1, 1, 1, 111, 1, 3]),
    ([8, 1, 1, 8, 1, 8], [8, 2, 4, 1, -1]),
    ([3, 4, 5], [5, 3, 4]),
    ([5, 1, 3], [5, 3, 1]),
    ([1, 1], []),
    ([], [1, 1]),
    ([2, 3, 0, 5], [0, -1, 0]),
]


@pytest.mark.parametrize(("old", "new"), SHAPES)
def test_reshape_keeps_row_major_order(fd, old, new) -> None:
    x = torch.arange(torch.Size(old).numel(), dtype=torch.int64).reshape(old)
    (out,) = run(fd, [x], fd.ops.reshape(define(fd, x), new))
    expected = x.reshape([0 if n == -1 else n for n in new] if 0 in old else new)
    torch.testing.assert_close(out, expected)


def factorings(count: int) -> st.SearchStrategy[list[int]]:
    """Shapes of `count` elements, ones included."""

    @st.composite
    def draw_shape(draw):
        rest, shape = count, []
        while rest > 1:
            divisors = [d for d in range(1, rest + 1) if rest % d == 0]
            shape.append(draw(st.sampled_from(divisors)))
            rest //= shape[-1]
        return shape + [1] * draw(st.integers(0, 2))

    return draw_shape()


@given(data=st.data(), count=st.sampled_from([1, 2, 6, 12, 30, 64, 360]))
@settings(deadline=None, max_examples=150)
def test_any_two_factorings_reshape_into_each_other(data, count) -> None:
    old = data.draw(st.permutations(data.draw(factorings(count))))
    new = data.draw(st.permutations(data.draw(factorings(count))))
    is_ordinary = data.draw(st.booleans())
    x = torch.arange(count).reshape(old)
    with FusionDefinition() as fd:
        if is_ordinary:
            tv = fd.ops.expand(
                fd.define_tensor([-1] * len(old), contiguity=True, dtype=D.Int), list(old)
            )
        else:
            tv = define(fd, x)
        (out,) = run(fd, [x], fd.ops.reshape(tv, list(new)))
    torch.testing.assert_close(out, x.reshape(new))


def test_a_symbolic_reshape_keeps_row_major_order(fd) -> None:
    x = torch.arange(5 * 32).reshape(5, 32)
    tv = fd.define_tensor([-1, -1], contiguity=True, dtype=D.Int)
    (out,) = run(fd, [x], fd.ops.flatten(tv))
    torch.testing.assert_close(out, x.flatten())


def test_a_symbolic_dimension_left_of_a_constant_is_split_inside(fd) -> None:
    x = torch.arange(3 * 32).reshape(3, 32)
    tv = fd.define_tensor([-1, 32], contiguity=True, dtype=D.Int)
    (out,) = run(fd, [x], fd.ops.reshape(tv, [-1, 8]))
    torch.testing.assert_close(out, x.reshape(-1, 8))


@pytest.mark.parametrize("permutation", list(itertools.permutations(range(3))))
def test_permute_and_stride_order(fd, permutation) -> None:
    x = torch.randn(2, 3, 4)
    tv = define(fd, x)
    permuted, ordered = run(
        fd, [x], fd.ops.permute(tv, permutation), fd.ops.stride_order(tv, permutation)
    )
    torch.testing.assert_close(permuted, x.permute(permutation))
    torch.testing.assert_close(ordered, x)


def test_where_clamp_threshold_lerp_and_addcmul(fd) -> None:
    x, y = torch.randn(2, 5), torch.randn(5)
    a, b = define(fd, x), define(fd, y)
    results = run(
        fd,
        [x, y],
        fd.ops.where(fd.ops.gt(a, b), a, 0.0),
        fd.ops.clamp(a, -0.5, None),
        fd.ops.threshold(a, 0.1, 7.0),
        fd.ops.lerp(a, b, 0.25),
        fd.ops.addcmul(a, a, b, 0.5),
    )
    expected = [
        torch.where(x > y, x, 0.0),
        torch.clamp(x, min=-0.5),
        torch.nn.functional.threshold(x, 0.1, 7.0),
        x + 0.25 * (y - x),
        torch.addcmul(x, x, y, value=0.5),
    ]
    for result, reference in zip(results, expected, strict=True):
        torch.testing.assert_close(result, reference)


def test_expand_and_broadcast_in_dim(fd) -> None:
    x = torch.randn(1, 4)
    tv = define(fd, x)
    expanded, placed = run(
        fd, [x], fd.ops.expand(tv, [2, 3, -1]), fd.ops.broadcast_in_dim(tv, [3, 5, 4], [0, 2])
    )
    torch.testing.assert_close(expanded, x.expand(2, 3, -1))
    torch.testing.assert_close(placed, x[:, None, :].expand(3, 5, 4))


@pytest.mark.parametrize(("start", "end", "step"), [(0, 10, 3), (10, 0, -5), (-3, 4, 2)])
def test_arange(fd, start, end, step) -> None:
    (out,) = run(fd, [], fd.ops.arange(start, end, step))
    torch.testing.assert_close(out, torch.arange(start, end, step))


def test_broadcast_in_dim_places_dimensions_in_any_order(fd) -> None:
    x = torch.randn(3, 4)
    (out,) = run(fd, [x], fd.ops.broadcast_in_dim(define(fd, x), [4, 2, 3], [2, 0]))
    assert torch.equal(out, x.T[:, None, :].expand(4, 2, 3))
    assert torch.equal(fd.execute([x])[0], out)


def test_silu_of_complex_numbers(target) -> None:
    x = torch.tensor([1 + 2j, 0j, -3.5 + 0.25j, 20 - 1j], dtype=torch.complex64, device=target)
    with FusionDefinition() as fd:
        z = fd.define_tensor([-1], contiguity=True, dtype=D.ComplexFloat)
        fd.add_output(fd.ops.silu(z))
    torch.testing.assert_close(fd.execute([x])[0], torch.nn.functional.silu(x))

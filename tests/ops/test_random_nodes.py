"""csrc/ops/random.cpp: what nodes random tensors are made of. Their values: tests/runtime."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType, RNGOp

D = DataType


def tensor(fd, shape, dtype=D.Float):
    return fd.define_tensor(shape, contiguity=True, dtype=dtype)


def test_constants_decide_the_distribution(fd, math) -> None:
    text = math(
        fd.ops.uniform(0, 1, [2, 3]),
        fd.ops.uniform(0.0, 1.0, [2, 3]),
        fd.ops.uniform(-1.0, 1.0, [2, 3]),
        fd.ops.normal(0, 1, [2]),
        fd.ops.normal(0.0, 2.0, [2], dtype=D.Double),
        fd.ops.rand([2]),
        fd.ops.randn([2], D.Half),
    )
    assert [line.split(" = ")[1] for line in text.splitlines()] == [
        "rng_uniform({2, 3}, float);",
        "rng_uniform({2, 3}, float);",
        "rng_uniform_range({2, 3}, double(-1), double(1), float);",
        "rng_normal_standard({2}, float);",
        "rng_normal_general({2}, double(0), double(2), double);",
        "rng_uniform({2}, float);",
        "rng_normal_standard({2}, __half);",
    ]


def test_the_seed_is_printed(fd, math) -> None:
    seed = fd.define_scalar(None, dtype=D.Int)
    assert "rng_uniform({2}, float, i0);" in math(
        fd.ops.uniform(0, 1, [2], rng_seed=seed, rng_offset=7)
    )


def test_like_another_tensor(fd, math) -> None:
    x = tensor(fd, [4, 1, -1], D.Half)
    out = fd.ops.rand_like(x)
    assert out.dtype() == D.Half
    text = math(out, fd.ops.randn_like(x))
    assert "rng_uniform({4, 1, i2}, __half);" in text
    assert "rng_normal_standard({4, 1, i2}, __half);" in text
    assert out.get_logical_domain()[1].is_broadcast()


def test_sizes_make_the_axes(fd) -> None:
    n = fd.define_scalar(None, dtype=D.Int)
    a, b, c = fd.ops.uniform(0, 1, [1, 4, n]).get_logical_domain()
    assert a.is_broadcast()
    assert str(b).startswith("iS")
    assert str(c).startswith("?S")


@pytest.mark.parametrize("op", ["rand_like", "randn_like"])
def test_like_needs_floats(fd, op) -> None:
    with pytest.raises(RuntimeError, match="input must have floating point type, but got int64_t"):
        getattr(fd.ops, op)(tensor(fd, [4], D.Int))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        getattr(fd.ops, op)(fd.define_scalar(1.0))


@pytest.mark.parametrize("op", ["rand_like", "randn_like"])
def test_fp4_is_not_drawn(fd, op) -> None:
    with pytest.raises(
        RuntimeError, match="Random distributions only create floating point types! __e2m1"
    ):
        getattr(fd.ops, op)(tensor(fd, [4], D.Float4_e2m1fn))


@pytest.mark.parametrize("op", ["uniform", "normal"])
def test_documented_errors(fd, op) -> None:
    make = getattr(fd.ops, op)
    for keyword in ("rng_seed", "rng_offset"):
        with pytest.raises(
            RuntimeError, match="rng_seed and rng_offset must be provided together!"
        ):
            make(0, 1, [2], **{keyword: 1})
    with pytest.raises(
        RuntimeError, match="Random distributions only create floating point types! int64_t"
    ):
        make(0, 1, [2], dtype=D.Int)
    with pytest.raises(
        RuntimeError,
        match="Expected int extent argument to factory function but found constant value",
    ):
        make(0, 1, [fd.define_scalar(2.5)])
    with pytest.raises(RuntimeError, match="The value -3 at index 0 was neither symbolic"):
        make(0, 1, [-3])
    with pytest.raises(RuntimeError, match="rng_seed and rng_offset must be integers"):
        make(0, 1, [2], rng_seed=1.5, rng_offset=0)
    with pytest.raises(RuntimeError, match="distribution is a real number"):
        make(1j, 1, [2])
    with pytest.raises(TypeError, match="incompatible function arguments"):
        make(0, 1, [2], 1, 2)


def test_each_tensor_without_seed_has_its_own_part_of_the_stream(fd) -> None:
    outs = [
        fd.ops.rand([2]),
        fd.ops.uniform(0, 1, [2], rng_seed=1, rng_offset=2),
        fd.ops.randn([2]),
        fd.ops.rand_like(tensor(fd, [3])),
    ]
    definitions = [out.definition() for out in outs]
    assert all(isinstance(d, RNGOp) for d in definitions)
    assert [d.stream for d in definitions if d.seed is None] == [0, 1, 2]

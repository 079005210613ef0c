"""csrc/ops/operands.cpp: implicit broadcasting and the domains of results."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType, FusionDefinition, ParallelType


def test_a_lower_rank_gets_leading_broadcast_dimensions(fd, math) -> None:
    x = fd.define_tensor([-1, -1], contiguity=True)
    y = fd.define_tensor([-1], contiguity=True)
    assert math(fd.ops.add(x, y)) == (
        "T2_l_float[bS3{1}, iS4{i3}] = broadcast( T1_g_float[iS2{i3}], flags = {true, false} )\n"
        "T3_g_float[iS5{i0}, iS6{i1}] = T0_g_float[iS0{i0}, iS1{i1}] "
        "+ T2_l_float[bS3{1}, iS4{i3}];\n"
    )


def test_a_broadcast_dimension_takes_the_concrete_extent_without_a_node(fd, math) -> None:
    x = fd.define_tensor([1, -1], contiguity=True)
    y = fd.define_tensor([-1, 1], contiguity=True)
    text = math(fd.ops.add(x, y))
    assert text.startswith("T2_g_float[iS4{i3}, iS5{i1}] = ")
    assert "broadcast" not in text


def test_two_broadcasts_give_the_expanded_one(fd, math) -> None:
    x = fd.define_tensor([1], contiguity=True)
    y = fd.define_tensor([7], contiguity=[None])
    assert math(fd.ops.add(x, y)).startswith("T2_g_float[bS2{1 ex 7}] = ")


def test_a_constant_extent_wins_over_a_symbolic_one(fd, math) -> None:
    x = fd.define_tensor([-1, -1], contiguity=True)
    y = fd.define_tensor([4, -1], contiguity=True)
    assert math(fd.ops.add(x, y)).startswith("T2_g_float[iS4{4}, iS5{i1}] = ")


def test_an_iteration_wins_over_an_expanded_broadcast(fd, math) -> None:
    x = fd.define_tensor([5], contiguity=[None])
    y = fd.define_tensor([-1], contiguity=True)
    assert math(fd.ops.add(x, y)).startswith("T2_g_float[iS2{5}] = ")


def test_different_constants_are_an_error(fd) -> None:
    x = fd.define_tensor([3], contiguity=True)
    y = fd.define_tensor([4], contiguity=True)
    with pytest.raises(RuntimeError, match=r"Expected sizes to match: 3 vs 4\.") as error:
        fd.ops.add(x, y)
    assert f"node:     {y.axis(0)}, made at test_operands.py:" in str(error.value)


def test_an_iteration_wins_over_a_symbolic_dimension(fd, math) -> None:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.ops.full([fd.define_scalar(None, dtype=DataType.Int)], 1.0, DataType.Float)
    text = math(fd.ops.add(y, x))
    assert "?S" in text
    assert "_g_float[iS2{i0}] = " in text


def test_an_operand_of_another_fusion_is_an_error(fd) -> None:
    with FusionDefinition() as other:
        foreign = other.define_tensor([-1], contiguity=True)
        foreign_scalar = other.define_scalar(None, dtype=DataType.Double)
        del other
        with FusionDefinition() as inner:
            own = inner.define_tensor([-1], contiguity=True)
            for call in (
                lambda: inner.ops.exp(foreign),
                lambda: inner.ops.add(own, foreign),
                lambda: inner.ops.add(own, foreign_scalar),
                lambda: inner.ops.sum(foreign, [0]),
                lambda: inner.ops.broadcast(foreign, [True, False]),
                lambda: inner.ops.reshape(foreign, [-1]),
                lambda: inner.ops.full([2], foreign_scalar, DataType.Double),
            ):
                with pytest.raises(RuntimeError, match="was not found in the active fusion"):
                    call()


def test_a_parallelized_dimension_is_not_expected(fd) -> None:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.ops.exp(x)
    y.axis(0).parallelize(ParallelType.block_x)
    with pytest.raises(RuntimeError, match=r"threadIdx\.x is not expected when building ops\."):
        fd.ops.exp(y)

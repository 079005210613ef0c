"""Dimensions that are declared -1 and have size 1 in a run: squeezed, expanded, reshaped away.

There is a kernel for each of them: without the evaluator, a missing one is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text, has_nvrtc

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    concretize,
    find_concretization,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nvfuser_direct import TensorView, Val

INT = DataType.Int


def values(*shape: int, target: str) -> torch.Tensor:
    """Small integers, so that sums are exact."""
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(-8, 8, shape, generator=generator).float().to(target)


def by_kernel(
    build: Callable[..., TensorView | list[TensorView]], rank: int, numbers: int = 0
) -> Callable[..., list[torch.Tensor]]:
    """Runs `build(ops, x, *scalars)`, where all sizes of `x` are open."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * rank, contiguity=True)
        made = build(fd.ops, x, *(fd.define_scalar(INT) for _ in range(numbers)))
        for tensor in made if isinstance(made, list) else [made]:
            fd.add_output(tensor)
    return lambda *inputs: fd.execute(list(inputs), _disable_options=["fallback"])


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1)])
def test_one_element_becomes_rank_zero(target: str, shape: tuple[int, ...]) -> None:
    x = values(*shape, target=target)
    plain, computed = by_kernel(
        lambda ops, x: [ops.reshape(x, []), ops.neg(ops.reshape(ops.add(x, 1.0), []))], len(shape)
    )(x)
    assert torch.equal(plain, x.reshape(()))
    assert torch.equal(computed, -(x + 1).reshape(()))


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (1, 1), (1, 0), (1, 1000)])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_expand_of_an_ordinary_one(target: str, shape: tuple[int, int], size: int) -> None:
    """Before and behind a computation, and reduced."""

    def build(ops: Any, x: TensorView, *sizes: Val) -> list[TensorView]:
        y = ops.expand(x, list(sizes))
        z = ops.expand(ops.neg(x), list(sizes))
        return [ops.add(y, 1.0), z, ops.sum(z, [0]), ops.sum(z, [1]), ops.sum(z, [0, 1])]

    x = values(*shape, target=target)
    sizes = [size, shape[1]] if shape[0] == 1 else [shape[0], size]
    y = x.expand(sizes)
    outs = by_kernel(build, 2, 2)(x, *sizes)
    for out, expected in zip(outs, [y + 1, -y, -y.sum(0), -y.sum(1), -y.sum()], strict=True):
        assert torch.equal(out, expected)


def test_a_definition_serves_ones_and_other_sizes(target: str) -> None:
    """A choice for a run with sizes of 1 is open again in the next."""
    run = by_kernel(lambda ops, x, n, m: ops.mul(ops.expand(x, [n, m]), 2.0), 2, 2)
    for shape, sizes in (
        ((1, 5), (4, 5)),
        ((4, 5), (4, 5)),
        ((4, 1), (4, 5)),
        ((1, 1), (4, 5)),
        ((1, 7), (3, 7)),
        ((3, 7), (3, 7)),
        ((1, 7), (1, 7)),
    ):
        x = values(*shape, target=target)
        assert torch.equal(run(x, *sizes)[0], x.expand(sizes) * 2)


@pytest.mark.parametrize("columns", [1, 5, 0])
def test_squeeze_of_what_is_one_when_it_runs(target: str, columns: int) -> None:
    """The axis follows the operand's, and is no broadcast."""

    def build(ops: Any, x: TensorView, n: Val) -> list[TensorView]:
        y = ops.expand(ops.neg(x), [n, x.size(1)])
        return [ops.squeeze(y, [0]), ops.add(ops.squeeze(y, [0]), 1.0)]

    x = values(1, columns, target=target)
    first, second = by_kernel(build, 2, 1)(x, 1)
    assert torch.equal(first, -x.squeeze(0))
    assert torch.equal(second, 1 - x.squeeze(0))


def test_a_squeezed_slice(target: str) -> None:
    def build(ops: Any, x: TensorView, first: Val, end: Val) -> TensorView:
        row = ops.slice(ops.neg(x), [first, 0], [end, x.size(1)])
        return ops.squeeze(row, [0])

    x = values(6, 5, target=target)
    run = by_kernel(build, 2, 2)
    for row in (0, 3, 5):
        assert torch.equal(run(x, row, row + 1)[0], -x[row])
    with pytest.raises(RuntimeError, match="must concretize to IterType::Broadcast"):
        run(x, 1, 3)


def test_sizes_that_are_fixed_stay_numbers(target: str) -> None:
    """The size and the scalar that fix a dimension at 1 are also operands of others."""

    def build(ops: Any, x: TensorView, n: Val) -> list[TensorView]:
        y = ops.squeeze(ops.expand(x, [n, x.size(1)]), [0])
        return [ops.mul(y, n), ops.mul(y, x.size(0)), ops.full([2], ops.add(n, x.size(0)), INT)]

    x = values(1, 5, target=target)
    first, second, total = by_kernel(build, 2, 1)(x, 1)
    assert torch.equal(first, x[0])
    assert torch.equal(second, x[0])
    assert total.tolist() == [2, 2]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("n", [7, 1, 0])
def test_ordinary_and_removable_ones_leave_one_dimension(target: str, place: int, n: int) -> None:
    """[1 ordinary, 1 removable, n] -> [n], with the removable one in every place."""
    shape = [1, n]
    shape.insert(place, 1)
    declared = [1 if dim == place else -1 for dim in range(3)]
    with FusionDefinition() as fd:
        x = fd.define_tensor(declared, contiguity=[None if d == 1 else True for d in declared])
        last = x.size(max(dim for dim in range(3) if dim != place))
        fd.add_output(fd.ops.reshape(fd.ops.neg(x), [last]))
        fd.add_output(fd.ops.reshape(x, [-1]))
        fd.add_output(fd.ops.neg(fd.ops.reshape(x, [1, last, 1])))
    x = values(*shape, target=target)
    outs = fd.execute([x], _disable_options=["fallback"])
    for out, expected in zip(outs, [-x.reshape(n), x.reshape(n), -x.reshape(1, n, 1)], strict=True):
        assert torch.equal(out, expected)


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("reduces", [False, True])
def test_they_compile_for_cuda(reduces: bool) -> None:
    """Also where there is no GPU."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.expand(fd.ops.neg(x), [fd.define_scalar(INT), x.size(1)])
        fd.add_output(fd.ops.sum(y, [0]) if reduces else fd.ops.add(y, 1.0))
    fusion = fd.fusion.clone()
    concretize(fusion, find_concretization(fusion, [torch.ones(1, 5), 4]))
    schedule.trivial(fusion)
    cuda_text(fusion)


def test_a_one_of_a_dynamic_shape_is_repeated(target) -> None:
    """A constant 1 in a shape of scalars is a broadcast in the end, whatever it meets first."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        size = fd.define_scalar(INT)
        column = fd.ops.reshape(x, [size, 1, -1])
        row = fd.ops.reshape(x, [1, size, -1])
        repeated = fd.ops.expand(fd.ops.broadcast(fd.define_tensor([-1]), [True, False]), [5, -1])
        fd.add_output(fd.ops.add(column, repeated))
        fd.add_output(fd.ops.add(column, row))
    x, v = values(3, 4, target=target), values(4, target=target)
    outputs = fd.execute([x, 3, v])
    assert torch.equal(outputs[0], x.reshape(3, 1, 4) + v.expand(5, 4))
    assert torch.equal(outputs[1], x.reshape(3, 1, 4) + x.reshape(1, 3, 4))

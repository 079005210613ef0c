"""Norms beside rotations, and norms of groups: kernels that keep rows are not cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from segment_runs import define

from nvfuser_direct import DataType, FusionDefinition, segment

if TYPE_CHECKING:
    from nvfuser_direct import TensorView

FLOAT, BF16 = DataType.Float, DataType.BFloat16
BATCH, HEADS = 2, 3
EPS = 1e-6


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator)


class Layers:
    """Layers over tensors [batch, heads, length, width] in float32."""

    def __init__(self, fd: FusionDefinition, shape: list[int]) -> None:
        self.ops, self.shape = fd.ops, shape

    def wide(self, x: TensorView, dims: list[int]) -> TensorView:
        return self.ops.broadcast_in_dim(self.ops.cast(x, FLOAT), self.shape, dims)

    def rotated(self, x: TensorView, cos: TensorView, sin: TensorView) -> TensorView:
        ops, width = self.ops, self.shape[-1]
        first = ops.slice(x, [0, 0, 0, 0], [*self.shape[:3], width // 2])
        second = ops.slice(x, [0, 0, 0, width // 2], self.shape)
        turned = ops.cat([ops.neg(second), first], -1)
        return ops.add(ops.mul(x, self.wide(cos, [2, 3])), ops.mul(turned, self.wide(sin, [2, 3])))

    def normal(self, x: TensorView, weight: TensorView) -> TensorView:
        ops = self.ops
        squares = ops.mean(ops.mul(x, x), [-1], True)
        scale = ops.rsqrt(ops.add(squares, EPS))
        return ops.mul(ops.mul(x, scale), self.wide(weight, [3]))


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


def normal(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * weight


def rotation_and_norm(shape: list[int], is_norm_first: bool) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape, contiguity=True, dtype=BF16)
        cos, sin = (fd.define_tensor(shape[2:], contiguity=True, dtype=BF16) for _ in range(2))
        weight = fd.define_tensor(shape[3:], contiguity=True, dtype=BF16)
        layers = Layers(fd, shape)
        value = fd.ops.cast(x, FLOAT)
        if is_norm_first:
            value = layers.rotated(layers.normal(value, weight), cos, sin)
        else:
            value = layers.normal(layers.rotated(value, cos, sin), weight)
        fd.add_output(fd.ops.cast(value, BF16))
    return fd


@pytest.mark.parametrize("is_norm_first", [False, True], ids=["rotation first", "norm first"])
@pytest.mark.parametrize(("length", "width"), [(16, 32), (5, 6), (1, 8)])
def test_a_rotation_and_a_norm_are_two(
    target: str, length: int, width: int, is_norm_first: bool
) -> None:
    shape = [BATCH, HEADS, length, width]
    fd = rotation_and_norm(shape, is_norm_first)
    shapes = [shape, shape[2:], shape[2:], shape[3:]]
    inputs = [randn(*s, seed=i).to(target, torch.bfloat16) for i, s in enumerate(shapes)]
    (found,) = fd.execute(inputs)
    schedulers = [piece.scheduler.name for piece in fd.fec.last_pieces()]
    expected = ["resize", "inner_persistent"]
    assert schedulers == (expected[::-1] if is_norm_first else expected)
    x, cos, sin, weight = (t.double() for t in inputs)
    if is_norm_first:
        wanted = rotated(normal(x, weight), cos, sin)
    else:
        wanted = normal(rotated(x, cos, sin), weight)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-2, atol=1e-2)


def test_what_a_rotation_makes_crosses_once() -> None:
    """Not its square, which the norm computes from it."""
    fd = rotation_and_norm([BATCH, HEADS, 16, 32], is_norm_first=False)
    fusion = fd.fusion.optimize()
    inputs = [torch.empty(s, dtype=torch.bfloat16) for s in
              ([BATCH, HEADS, 16, 32], [16, 32], [16, 32], [32])]  # fmt: skip
    plan = segment(fusion, [inputs[i] for i in fusion.arguments()])
    assert len({edge.tensor.name() for edge in plan.edges}) == 1


def test_weights_that_are_repeated_over_rows_are_read_as_they_are(target: str) -> None:
    """broadcast_in_dim repeats them; the rows that they meet are those of the norm."""
    x, weight = randn(33, 20), randn(20, seed=1)

    def build(fd, x, weight):
        mean = fd.ops.mean(x, [1], True)
        wide = fd.ops.broadcast_in_dim(weight, [33, 20], [1])
        return fd.ops.mul(fd.ops.sub(x, mean), wide)

    inputs = [x.to(target), weight.to(target)]
    fd = define(build, inputs)
    (found,) = fd.execute(inputs)
    assert [piece.scheduler.name for piece in fd.fec.last_pieces()] == ["inner_persistent"]
    exact = (x.double() - x.double().mean(1, keepdim=True)) * weight.double()
    torch.testing.assert_close(found.cpu().double(), exact, rtol=1e-5, atol=1e-5)


def test_weights_that_are_repeated_into_a_sum(target: str) -> None:
    x, weight = randn(33, 20), randn(20, seed=1)

    def build(fd, x, weight):
        return fd.ops.sum(fd.ops.mul(x, fd.ops.broadcast_in_dim(weight, [33, 20], [1])), [1])

    inputs = [x.to(target), weight.to(target)]
    fd = define(build, inputs)
    (found,) = fd.execute(inputs)
    assert [piece.scheduler.name for piece in fd.fec.last_pieces()] == ["reduction"]
    torch.testing.assert_close(
        found.cpu().double(), (x.double() * weight.double()).sum(1), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("is_output", [False, True], ids=["computed with", "an output"])
def test_repeated_statistics(target: str, is_output: bool) -> None:
    """Elements of a sum, repeated over rows that no input has."""
    x = randn(33, 20)

    def build(fd, x):
        wide = fd.ops.broadcast_in_dim(fd.ops.sum(x, [1]), [4, 33], [1])
        return wide if is_output else fd.ops.exp(fd.ops.neg(fd.ops.mul(wide, wide)))

    inputs = [x.to(target)]
    fd = define(build, inputs)
    (found,) = fd.execute(inputs)
    total = x.double().sum(1).expand(4, 33)
    expected = total if is_output else torch.exp(-total * total)
    torch.testing.assert_close(found.cpu().double(), expected, rtol=1e-4, atol=1e-4)


def test_a_group_norm_with_scale_and_bias_first_has_a_tail_without_kernel(target: str) -> None:
    """segmentation.md 12.4"""
    x, scale, bias = randn(2, 128, 16, 16), randn(128, seed=1), randn(128, seed=2)

    def build(fd, x, scale, bias):
        ops, grouped = fd.ops, [2, 32, 4, 16, 16]
        value = ops.reshape(x, grouped)
        var, mean = ops.var_mean(value, [2, 3, 4], correction=0, keepdim=True)
        value = ops.mul(ops.sub(value, mean), ops.rsqrt(ops.add(var, 1e-5)))
        scale, bias = (
            ops.broadcast_in_dim(ops.reshape(t, [32, 4]), grouped, [1, 2]) for t in (scale, bias)
        )
        return ops.reshape(ops.add(ops.mul(value, scale), bias), [2, 128, 16, 16])

    inputs = [t.to(target) for t in (x, scale, bias)]
    fd = define(build, inputs, static_sizes=True)
    plan = segment(fd.fusion, inputs)
    assert [group.kind for group in plan.groups] in (["kernel"], ["kernel", "view"])
    assert plan.groups[0].scheduler.name == "inner_persistent"
    (found,) = fd.execute(inputs)
    expected = torch.nn.functional.group_norm(x.double(), 32, scale.double(), bias.double(), 1e-5)
    torch.testing.assert_close(found.cpu().double(), expected, rtol=1e-4, atol=1e-4)

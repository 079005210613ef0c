"""Definitions as they were written for the first releases, each with what PyTorch makes of it.

They are kept in their spelling: `symbolic_sizes` and `contiguous`, numbers of dimensions,
`define_constant`, `axes`, shapes of the operand beside the new one, `output_shape`, `fd.print_ir`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from nvfuser import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser import FusionDefinition

    Define = Callable[[FusionDefinition], Any]
    Tensors = list[Any]


@dataclass
class OldScript:
    """A definition, inputs for it, and what it computes of them."""

    define: Define
    inputs: Callable[[torch.Generator], Tensors]
    reference: Callable[..., Any]
    check_values: bool = True


SCRIPTS: dict[str, OldScript] = {}


def script(
    reference: Callable[..., Any], *inputs: Any, values: bool = True
) -> Callable[[Define], Define]:
    """Register a definition. Inputs are shapes of random floats, or functions of a generator."""

    def add(define: Define) -> Define:
        def make(rng: torch.Generator) -> Tensors:
            return [
                make(rng) if callable(make) else torch.randn(make, generator=rng) for make in inputs
            ]

        SCRIPTS[define.__name__] = OldScript(define, make, reference, values)
        return define

    return add


def halves(*shape: int) -> Callable[[torch.Generator], torch.Tensor]:
    return lambda rng: torch.randn(shape, generator=rng).half()


def integers(high: int, *shape: int) -> Callable[[torch.Generator], torch.Tensor]:
    return lambda rng: torch.randint(0, high, shape, generator=rng)


def number(value: Any) -> Callable[[torch.Generator], Any]:
    return lambda rng: value


# -- pointwise --


@script(lambda a, b: torch.relu(a + b), (7, 9), (7, 9))
def add_relu(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.define_tensor(2)
    fd.add_output(fd.ops.relu(fd.ops.add(t0, t1)))


@script(lambda a: a * 3.0 + 1.0, (33,))
def scale_shift(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(1)
    c0 = fd.define_constant(3.0)
    c1 = fd.define_constant(val=1.0)
    fd.add_output(fd.ops.add(fd.ops.mul(t0, c0), c1))


@script(lambda a, s: a * s, (4, 5), number(2.5))
def scale_by_input(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True])
    s0 = fd.define_scalar()
    fd.add_output(fd.ops.mul(t0, s0))


@script(lambda a, s: a + s, lambda rng: torch.arange(12).reshape(3, 4), number(7))
def add_integer_input(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2, DataType.Int)
    s0 = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(t0 + s0)


@script(lambda a: torch.where(a > 0, a, torch.exp(a) - 1), (6, 11))
def elu(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True])
    zero = fd.define_constant(0.0)
    one = fd.define_constant(1.0)
    t1 = fd.ops.sub(fd.ops.exp(t0), one)
    fd.add_output(fd.ops.where(fd.ops.gt(t0, zero), t0, t1))


@script(lambda a, b: torch.lerp(a, b, 0.3), (5, 3), (5, 3))
def lerp(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.define_tensor(2)
    fd.add_output(fd.ops.lerp(t0, t1, fd.define_constant(0.3)))


@script(lambda a: a.clamp(-0.5, 0.5), (17,))
def clamp(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(1)
    low = fd.define_constant(-0.5)
    high = fd.define_constant(0.5)
    fd.add_output(fd.ops.clamp(t0, low, high))


@script(lambda a: torch.nn.functional.threshold(a, 0.1, -1.0), (8, 2))
def threshold(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    fd.add_output(fd.ops.threshold(t0, fd.define_constant(0.1), fd.define_constant(-1.0)))


@script(lambda a, b, c: torch.addcmul(a, b, c, value=0.1), (4, 4), (4, 4), (4, 4))
def addcmul(fd: FusionDefinition) -> None:
    a, b, c = fd.define_tensor(2), fd.define_tensor(2), fd.define_tensor(2)
    fd.add_output(fd.ops.addcmul(a, b, c, fd.define_constant(0.1)))


@script(lambda a, b: (a & b, a | b, a ^ b), integers(100, 6), integers(100, 6))
def bits(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(1, DataType.Int)
    t1 = fd.define_tensor(1, DataType.Int)
    fd.add_output(t0 & t1)
    fd.add_output(t0 | t1)
    fd.add_output(t0 ^ t1)


@script(lambda a, b: (a << b, a >> b), integers(100, 6), integers(5, 6))
def shifts(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(1, DataType.Int)
    t1 = fd.define_tensor(1, DataType.Int)
    fd.add_output(t0 << t1)
    fd.add_output(t0 >> t1)


@script(lambda a, b: (a < b, a <= b, a > b, a >= b), (5, 5), (5, 5))
def comparisons(fd: FusionDefinition) -> None:
    t0, t1 = fd.define_tensor(2), fd.define_tensor(2)
    for out in (t0 < t1, t0 <= t1, t0 > t1, t0 >= t1):
        fd.add_output(out)


# -- casts --


@script(lambda a: (a.float() * 2).half(), halves(9, 4))
def half_in_half_out(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True], dtype=DataType.Half)
    t1 = fd.ops.cast(t0, dtype=DataType.Float)
    t2 = fd.ops.mul(t1, fd.define_constant(2.0))
    fd.add_output(fd.ops.cast(t2, dtype=DataType.Half))


@script(lambda a: (a.double(), a.long(), a.bool()), (6,))
def casts(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(1)
    for dtype in (DataType.Double, DataType.Int, DataType.Bool):
        fd.add_output(fd.ops.cast(t0, dtype))


@script(lambda a: a.float().sum(1), halves(5, 70))
def sum_of_halves(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2, DataType.Half)
    t1 = fd.ops.cast(t0, DataType.Float)
    fd.add_output(fd.ops.sum(t1, axes=[1]))


# -- reductions --


@script(lambda a: a.sum(1), (13, 35))
def sum_axes(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True])
    fd.add_output(fd.ops.sum(t0, axes=[1], keepdim=False))


@script(lambda a: a.sum(0, keepdim=True), (13, 35))
def sum_axis_kept(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    fd.add_output(fd.ops.sum(t0, axes=[0], keepdim=True))


@script(lambda a: (a.amax(1), a.amin(1)), (13, 35))
def extremes(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    fd.add_output(fd.ops.max(t0, axes=[1]))
    fd.add_output(fd.ops.min(t0, axes=[-1]))


@script(lambda a: a.prod(0), (5, 6))
def product(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    fd.add_output(fd.ops.prod(t0, axes=[0]))


@script(lambda a: a.sum(), (5, 6, 7))
def sum_of_all(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(3)
    fd.add_output(fd.ops.sum(t0, axes=[0, 1, 2]))


@script(lambda a: a.var(1, correction=1), (6, 40))
def variance(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    fd.add_output(fd.ops.var(t0, axes=[1], correction=1, keepdim=False))


@script(lambda a: torch.var_mean(a, 1, correction=0, keepdim=True), (6, 40))
def variance_and_mean(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    var, mean = fd.ops.var_mean(t0, axes=[1], correction=0, keepdim=True)
    fd.add_output(var)
    fd.add_output(mean)


# -- broadcasts --


@script(lambda a, b: a[:, None] + b, (8,), (8, 5))
def broadcast_vector(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(1)
    t1 = fd.define_tensor(2)
    t2 = fd.ops.broadcast(t0, is_broadcast_dim=[False, True])
    fd.add_output(fd.ops.add(t2, t1))


@script(lambda a, b: a.expand(3, 4) + b, (4,), (3, 4))
def broadcast_to_shape(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(1)
    t1 = fd.define_tensor(2)
    t2 = fd.ops.broadcast_in_dim(t0, output_shape=[3, 4], broadcast_dims=[1])
    fd.add_output(fd.ops.add(t2, t1))


@script(lambda a, b: a + b, (3, 1, 5), (3, 4, 5))
def broadcast_of_one(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, 1, -1], contiguous=[True, True, True])
    t1 = fd.define_tensor(symbolic_sizes=[-1, -1, -1], contiguous=[True, True, True])
    fd.add_output(fd.ops.add(t0, t1))


@script(lambda a, b: a.expand(b.shape) * b, (6,), (2, 6))
def broadcast_to_sizes(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(1)
    t1 = fd.define_tensor(2)
    sizes = fd.ops.tensor_sizes(t1)
    t2 = fd.ops.broadcast_in_dim(t0, output_shape=sizes, broadcast_dims=[1])
    fd.add_output(fd.ops.mul(t2, t1))


# -- views --


@script(lambda a: torch.relu(a).reshape(2, 12), (4, 6))
def reshape_with_both_shapes(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True])
    t1 = fd.ops.relu(t0)
    fd.add_output(fd.ops.reshape(t1, [4, 6], [2, 12]))


@script(lambda a: a.reshape(6, 4) * 2, (4, 6))
def reshape_named(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.ops.reshape(t0, original_shape=[4, 6], new_shape=[6, 4])
    fd.add_output(fd.ops.mul(t1, fd.define_constant(2.0)))


@script(lambda a: a.reshape(5, 7) + 1, (5, 1, 7))
def squeeze_with_shape(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, 1, -1], contiguous=[True, True, True])
    t1 = fd.ops.squeeze(t0, [5, 1, 7], [1])
    fd.add_output(fd.ops.add(t1, fd.define_constant(1.0)))


@script(lambda a: a.permute(2, 0, 1).exp(), (3, 4, 5))
def permute(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(3)
    fd.add_output(fd.ops.exp(fd.ops.permute(t0, dims=[2, 0, 1])))


@script(lambda a: a[1:3, 2:5] * 2, (4, 6))
def slices(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.ops.slice(t0, start_indices=[1, 2], end_indices=[3, 5], strides=[1, 1])
    fd.add_output(fd.ops.mul(t1, fd.define_constant(2.0)))


@script(lambda a, b: torch.cat([a, b], 1), (3, 4), (3, 5))
def concatenate(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.define_tensor(2)
    fd.add_output(fd.ops.cat([t0, t1], dim=1))


@script(lambda a: torch.nn.functional.pad(a, (1, 2, 0, 3)), (3, 4))
def pad(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    fd.add_output(fd.ops.pad(t0, [1, 2, 0, 3]))


# -- indexing --


@script(lambda a, i: a.index_select(0, i), (9, 4), integers(9, 6))
def index_select(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.define_tensor(1, DataType.Int)
    fd.add_output(fd.ops.index_select(t0, t1, dim=0))


@script(lambda a, i: a.gather(1, i), (5, 8), integers(8, 5, 3))
def gather(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.define_tensor(2, DataType.Int)
    fd.add_output(fd.ops.gather(t0, t1, dim=1))


@script(lambda a, i: torch.take_along_dim(a, i, 1), (5, 8), integers(8, 5, 8))
def take_along_axis(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.define_tensor(2, DataType.Int)
    fd.add_output(fd.ops.take_along_axis(t0, t1, dim=1))


# -- norms --


@script(lambda a: torch.softmax(a, 1), (6, 50))
def softmax(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True])
    t1 = fd.ops.max(t0, axes=[1])
    t2 = fd.ops.broadcast(t1, is_broadcast_dim=[False, True])
    t3 = fd.ops.exp(fd.ops.sub(t0, t2))
    t4 = fd.ops.sum(t3, axes=[1])
    t5 = fd.ops.broadcast(t4, is_broadcast_dim=[False, True])
    fd.add_output(fd.ops.div(t3, t5))


@script(
    lambda a, w, b: torch.nn.functional.layer_norm(a, (30,), w, b, eps=1e-5), (6, 30), (30,), (30,)
)
def layer_norm(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True])
    weight = fd.define_tensor(1)
    bias = fd.define_tensor(1)
    var, mean = fd.ops.var_mean(t0, axes=[1], correction=0, keepdim=True)
    t1 = fd.ops.sub(t0, mean)
    t2 = fd.ops.mul(t1, fd.ops.rsqrt(fd.ops.add(var, fd.define_constant(1e-5))))
    w = fd.ops.broadcast_in_dim(weight, output_shape=[6, 30], broadcast_dims=[1])
    b = fd.ops.broadcast_in_dim(bias, output_shape=[6, 30], broadcast_dims=[1])
    fd.add_output(fd.ops.add(fd.ops.mul(t2, w), b))


@script(lambda a, w: a * torch.rsqrt((a * a).mean(1, keepdim=True) + 1e-6) * w, (5, 32), (32,))
def rms_norm(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    weight = fd.define_tensor(1)
    t1 = fd.ops.sum(fd.ops.mul(t0, t0), axes=[1])
    t2 = fd.ops.div(t1, fd.define_constant(32.0))
    t3 = fd.ops.rsqrt(fd.ops.add(t2, fd.define_constant(1e-6)))
    t4 = fd.ops.broadcast(t3, is_broadcast_dim=[False, True])
    t5 = fd.ops.broadcast(weight, is_broadcast_dim=[True, False])
    fd.add_output(fd.ops.mul(fd.ops.mul(t0, t4), t5))


def _batch_norm(
    x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, mean: torch.Tensor, var: torch.Tensor
) -> torch.Tensor:
    return torch.nn.functional.batch_norm(x, mean, var, w, b, training=True, momentum=0.1, eps=1e-5)


@script(_batch_norm, (4, 3, 5, 5), (3,), (3,), (3,), lambda rng: torch.rand(3, generator=rng))
def batch_norm(fd: FusionDefinition) -> None:
    x = fd.define_tensor(4)
    w, b, mean, var = (fd.define_tensor(1) for _ in range(4))
    momentum = fd.define_constant(0.1)
    eps = fd.define_constant(1e-5)
    out, _, _ = fd.ops.batch_norm(x, w, b, mean, var, momentum, eps, True)
    fd.add_output(out)


# -- creation and random --


@script(lambda a: a + 2.5, (4, 3))
def full_by_old_names(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.ops.full(size=[4, 3], arg=fd.define_constant(2.5), dtype=DataType.Float)
    fd.add_output(fd.ops.add(t0, t1))


@script(lambda: torch.arange(2, 12, 2))
def iota(fd: FusionDefinition) -> None:
    length = fd.define_constant(5)
    fd.add_output(fd.ops.iota(length, fd.define_constant(2), fd.define_constant(2), DataType.Int))


@script(lambda a: torch.empty_like(a).normal_(1.0, 2.0), (400, 100), values=False)
def normal(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    mean, std = fd.define_constant(1.0), fd.define_constant(2.0)
    t1 = fd.ops.normal(mean, std, fd.ops.tensor_sizes(t0), DataType.Float)
    fd.add_output(fd.ops.set(t1))


@script(lambda a: torch.empty_like(a).uniform_(-1.0, 3.0), (400, 100), values=False)
def uniform(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    low, high = fd.define_constant(-1.0), fd.define_constant(3.0)
    t1 = fd.ops.uniform(low, high, fd.ops.tensor_sizes(t0), DataType.Float)
    fd.add_output(fd.ops.set(t1))


# -- several outputs, and outputs in the memory of inputs --


@script(lambda a, b: (a + b, a * b, a), (4, 5), (4, 5))
def several_outputs(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(2)
    t1 = fd.define_tensor(2)
    fd.add_output(fd.ops.add(t0, t1))
    fd.add_output(fd.ops.mul(t0, t1))
    fd.add_output(t0)


def _update(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a.add_(b)
    return a * 2


@script(_update, (4, 5), (4, 5))
def output_updates_an_input(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True])
    t1 = fd.define_tensor(symbolic_sizes=[-1, -1], contiguous=[True, True])
    t2 = fd.ops.add(t0, t1)
    fd.add_output(t2, t0)
    fd.add_output(fd.ops.mul(t2, fd.define_constant(2.0)))


@script(lambda a: a.permute(0, 2, 1) + 1, (3, 4, 5))
def output_in_an_order(fd: FusionDefinition) -> None:
    t0 = fd.define_tensor(3)
    t1 = fd.ops.add(t0, fd.define_constant(1.0))
    fd.add_output(fd.ops.permute(t1, [0, 2, 1]), stride_order=[2, 0, 1])

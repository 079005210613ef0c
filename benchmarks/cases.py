"""The cases of the suite: each a fusion, its inputs, and the same in PyTorch.

A case is a dataclass with three functions. ``define`` makes the fusion for sizes, ``inputs`` makes
tensors on a device, ``eager`` computes the same with PyTorch, in the types that a user would write.
Sizes are larger than the caches of the device.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

BF16, FLOAT, INT = DataType.BFloat16, DataType.Float, DataType.Int
EPS = 1e-5


@dataclass(frozen=True)
class Case:
    """One row of the suite.

    Attributes
    ----------
    name : str
        As in the table.
    define : callable
        ``define(fd)`` adds inputs, math and outputs.
    inputs : callable
        ``inputs(device)`` returns what a call takes.
    eager : callable
        ``eager(*inputs)`` returns a tensor or a tuple of them.
    rtol : float
        Largest difference from eager, relative to the largest element of each output.
    floor : str
        The bound of the score where it is not a copy of the same bytes.
    """

    name: str
    define: Callable[[FusionDefinition], None]
    inputs: Callable[[str], list[torch.Tensor]]
    eager: Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]
    rtol: float = 1e-2
    is_memory_bound: bool = True
    compares_values: bool = True  # not where random numbers are drawn
    floor: str = field(default="")


def randn(*shape: int, dtype: torch.dtype = torch.bfloat16) -> Callable[[str], torch.Tensor]:
    return lambda device: torch.randn(shape, device=device, dtype=dtype)


def make(*tensors: Callable[[str], torch.Tensor]) -> Callable[[str], list[torch.Tensor]]:
    return lambda device: [tensor(device) for tensor in tensors]


class Math:
    """Shorthands for definitions: casts, broadcasts of rows and columns."""

    def __init__(self, fd: FusionDefinition) -> None:
        self.fd, self.ops = fd, fd.ops

    def tensor(self, *sizes: int, dtype: DataType = BF16) -> TensorView:
        return self.fd.define_tensor(list(sizes), contiguity=True, dtype=dtype)

    def wide(self, x: TensorView) -> TensorView:
        return self.ops.cast(x, FLOAT)

    def narrow(self, x: TensorView, dtype: DataType) -> TensorView:
        return x if dtype == FLOAT else self.ops.cast(x, dtype)

    def row(self, x: TensorView) -> TensorView:
        """[C] -> [1, C]"""
        return self.ops.broadcast(x, [True, False])

    def column(self, x: TensorView) -> TensorView:
        """[R] -> [R, 1]"""
        return self.ops.broadcast(x, [False, True])

    def mean(self, x: TensorView, size: int) -> TensorView:
        """Over the last of two dimensions: [R, C] -> [R, 1]"""
        return self.column(self.ops.mul(self.ops.sum(x, [1]), 1.0 / size))


# ---- Maps ----------------------------------------------------------------------------------------


def pointwise_fma(n: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        a, b = m.tensor(-1, dtype=FLOAT), m.tensor(-1, dtype=FLOAT)
        fd.add_output(fd.ops.relu(fd.ops.add(fd.ops.mul(a, b), 1.0)))

    f32 = torch.float32
    return Case(
        "pointwise_fma_f32",
        define,
        make(randn(n, dtype=f32), randn(n, dtype=f32)),
        lambda a, b: torch.relu(a * b + 1.0),
        rtol=1e-6,
    )


def bias_gelu(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x, b = m.tensor(-1, -1, dtype=dtype), m.tensor(-1, dtype=dtype)
        h = m.narrow(fd.ops.add(m.wide(x), m.row(m.wide(b))), dtype)
        h = m.wide(h)
        k = math.sqrt(2 / math.pi)
        u = fd.ops.mul(h, fd.ops.add(fd.ops.mul(fd.ops.mul(h, h), k * 0.044715), k))
        y = fd.ops.mul(fd.ops.mul(h, 0.5), fd.ops.add(fd.ops.tanh(u), 1.0))
        fd.add_output(m.narrow(y, dtype))

    torch_dtype = TORCH[dtype]
    return Case(
        name,
        define,
        make(randn(rows, cols, dtype=torch_dtype), randn(cols, dtype=torch_dtype)),
        lambda x, b: F.gelu((x + b).float(), approximate="tanh").to(x.dtype),
        rtol=RTOL[dtype],
    )


def silu_mul(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        a, b = m.tensor(-1, -1, dtype=dtype), m.tensor(-1, -1, dtype=dtype)
        s = m.narrow(fd.ops.silu(m.wide(a)), dtype)
        fd.add_output(m.narrow(fd.ops.mul(m.wide(s), m.wide(b)), dtype))

    torch_dtype = TORCH[dtype]
    return Case(
        name,
        define,
        make(randn(rows, cols, dtype=torch_dtype), randn(rows, cols, dtype=torch_dtype)),
        lambda a, b: F.silu(a.float()).to(a.dtype) * b,
        rtol=RTOL[dtype],
    )


TORCH = {BF16: torch.bfloat16, FLOAT: torch.float32}
RTOL = {BF16: 1e-2, FLOAT: 1e-5}


def scale_bias_relu_nhwc(n: int, c: int, h: int, w: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x = fd.define_tensor(
            [-1, -1, -1, -1], contiguity=True, dtype=BF16, stride_order=[3, 0, 2, 1]
        )
        s, b = m.tensor(-1), m.tensor(-1)
        over = [True, False, True, True]
        y = m.narrow(fd.ops.mul(m.wide(x), m.wide(fd.ops.broadcast(s, over))), BF16)
        y = m.narrow(fd.ops.add(m.wide(y), m.wide(fd.ops.broadcast(b, over))), BF16)
        fd.add_output(fd.ops.stride_order(fd.ops.relu(y), [3, 0, 2, 1]))

    def inputs(device: str) -> list[torch.Tensor]:
        x = torch.randn(n, c, h, w, device=device, dtype=torch.bfloat16)
        return [
            x.to(memory_format=torch.channels_last),
            torch.randn(c, device=device, dtype=torch.bfloat16),
            torch.randn(c, device=device, dtype=torch.bfloat16),
        ]

    return Case(
        "scale_bias_relu_nhwc_bf16",
        define,
        inputs,
        lambda x, s, b: torch.relu(x * s.view(1, -1, 1, 1) + b.view(1, -1, 1, 1)),
    )


# ---- Norms ---------------------------------------------------------------------------------------


def rmsnorm(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x, w = m.tensor(-1, cols, dtype=dtype), m.tensor(cols, dtype=dtype)
        wide = m.wide(x)
        rstd = fd.ops.rsqrt(fd.ops.add(m.mean(fd.ops.mul(wide, wide), cols), EPS))
        y = fd.ops.mul(fd.ops.mul(wide, rstd), m.row(m.wide(w)))
        fd.add_output(m.narrow(y, dtype))

    torch_dtype = TORCH[dtype]

    def eager(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        return (wide * rstd * w.float()).to(x.dtype)

    return Case(
        name,
        define,
        make(randn(rows, cols, dtype=torch_dtype), randn(cols, dtype=torch_dtype)),
        eager,
        rtol=RTOL[dtype],
    )


def normalized(m: Math, wide: TensorView, cols: int) -> tuple[TensorView, TensorView]:
    """(x - mean) / std, and 1 / std; [R, C] and [R, 1]."""
    ops = m.ops
    centred = ops.sub(wide, m.mean(wide, cols))
    rstd = ops.rsqrt(ops.add(m.mean(ops.mul(centred, centred), cols), EPS))
    return ops.mul(centred, rstd), rstd


def layernorm(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x = m.tensor(-1, cols, dtype=dtype)
        w, b = m.tensor(cols, dtype=dtype), m.tensor(cols, dtype=dtype)
        y, _ = normalized(m, m.wide(x), cols)
        y = fd.ops.add(fd.ops.mul(y, m.row(m.wide(w))), m.row(m.wide(b)))
        fd.add_output(m.narrow(y, dtype))

    torch_dtype = TORCH[dtype]
    vector = randn(cols, dtype=torch_dtype)
    return Case(
        name,
        define,
        make(randn(rows, cols, dtype=torch_dtype), vector, vector),
        lambda x, w, b: F.layer_norm(x, (cols,), w, b, EPS),
        rtol=RTOL[dtype],
    )


def layernorm_bwd(rows: int, cols: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x, dy, w = m.tensor(-1, cols), m.tensor(-1, cols), m.tensor(cols)
        xhat, rstd = normalized(m, m.wide(x), cols)
        g = m.wide(dy)
        a = fd.ops.mul(g, m.row(m.wide(w)))
        inner = fd.ops.add(m.mean(a, cols), fd.ops.mul(xhat, m.mean(fd.ops.mul(a, xhat), cols)))
        fd.add_output(m.narrow(fd.ops.mul(rstd, fd.ops.sub(a, inner)), BF16))
        fd.add_output(m.narrow(fd.ops.sum(fd.ops.mul(g, xhat), [0]), BF16))
        fd.add_output(m.narrow(fd.ops.sum(g, [0]), BF16))

    def eager(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        wide, g = x.float(), dy.float()
        centred = wide - wide.mean(-1, keepdim=True)
        rstd = torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + EPS)
        xhat = centred * rstd
        a = g * w.float()
        inner = a.mean(-1, keepdim=True) + xhat * (a * xhat).mean(-1, keepdim=True)
        dx = rstd * (a - inner)
        return dx.to(x.dtype), (g * xhat).sum(0).to(x.dtype), g.sum(0).to(x.dtype)

    return Case(
        f"layernorm_bwd_bf16_{rows}x{cols}",
        define,
        make(randn(rows, cols), randn(rows, cols), randn(cols)),
        eager,
    )


def rmsnorm_bwd(rows: int, cols: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x, dy, w = m.tensor(-1, cols), m.tensor(-1, cols), m.tensor(cols)
        wide, g = m.wide(x), m.wide(dy)
        rstd = fd.ops.rsqrt(fd.ops.add(m.mean(fd.ops.mul(wide, wide), cols), EPS))
        xhat = fd.ops.mul(wide, rstd)
        a = fd.ops.mul(g, m.row(m.wide(w)))
        inner = fd.ops.mul(xhat, m.mean(fd.ops.mul(a, xhat), cols))
        fd.add_output(m.narrow(fd.ops.mul(rstd, fd.ops.sub(a, inner)), BF16))
        fd.add_output(m.narrow(fd.ops.sum(fd.ops.mul(g, xhat), [0]), BF16))

    def eager(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        wide, g = x.float(), dy.float()
        rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        xhat = wide * rstd
        a = g * w.float()
        dx = rstd * (a - xhat * (a * xhat).mean(-1, keepdim=True))
        return dx.to(x.dtype), (g * xhat).sum(0).to(x.dtype)

    return Case(
        f"rmsnorm_bwd_bf16_{rows}x{cols}",
        define,
        make(randn(rows, cols), randn(rows, cols), randn(cols)),
        eager,
    )


def softmax(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        wide = m.wide(m.tensor(-1, cols, dtype=dtype))
        e = fd.ops.exp(fd.ops.sub(wide, m.column(fd.ops.max(wide, [1]))))
        fd.add_output(m.narrow(fd.ops.div(e, m.column(fd.ops.sum(e, [1]))), dtype))

    torch_dtype = TORCH[dtype]
    return Case(
        name,
        define,
        make(randn(rows, cols, dtype=torch_dtype)),
        lambda x: torch.softmax(x.float(), -1).to(x.dtype),
        rtol=RTOL[dtype],
    )


def softmax_bwd(rows: int, cols: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        g, y = m.wide(m.tensor(-1, cols)), m.wide(m.tensor(-1, cols))
        total = m.column(fd.ops.sum(fd.ops.mul(g, y), [1]))
        fd.add_output(m.narrow(fd.ops.mul(y, fd.ops.sub(g, total)), BF16))

    def eager(g: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        wide_g, wide_y = g.float(), y.float()
        total = (wide_g * wide_y).sum(-1, keepdim=True)
        return (wide_y * (wide_g - total)).to(g.dtype)

    return Case(
        f"softmax_bwd_bf16_{rows}x{cols}",
        define,
        make(randn(rows, cols), randn(rows, cols)),
        eager,
    )


def add_layernorm(rows: int, cols: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x, r, w, b = m.tensor(-1, cols), m.tensor(-1, cols), m.tensor(cols), m.tensor(cols)
        total = m.narrow(fd.ops.add(m.wide(x), m.wide(r)), BF16)
        fd.add_output(total)
        y, _ = normalized(m, m.wide(total), cols)
        y = fd.ops.add(fd.ops.mul(y, m.row(m.wide(w))), m.row(m.wide(b)))
        fd.add_output(m.narrow(y, BF16))

    def eager(
        x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, b: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        total = x + r
        return total, F.layer_norm(total, (cols,), w, b, EPS)

    return Case(
        f"add_layernorm_bf16_{rows}x{cols}",
        define,
        make(randn(rows, cols), randn(rows, cols), randn(cols), randn(cols)),
        eager,
    )


def dropout_add_layernorm(rows: int, cols: int) -> Case:
    keep = 0.9

    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x, r, w, b = m.tensor(-1, cols), m.tensor(-1, cols), m.tensor(cols), m.tensor(cols)
        wide = m.wide(x)
        noise = fd.ops.uniform(0.0, 1.0, [x.size(0), x.size(1)], dtype=FLOAT)
        dropped = fd.ops.mul(fd.ops.where(fd.ops.lt(noise, keep), wide, 0.0), 1.0 / keep)
        y, _ = normalized(m, fd.ops.add(dropped, m.wide(r)), cols)
        y = fd.ops.add(fd.ops.mul(y, m.row(m.wide(w))), m.row(m.wide(b)))
        fd.add_output(m.narrow(y, BF16))

    return Case(
        f"dropout_add_layernorm_bf16_{rows}x{cols}",
        define,
        make(randn(rows, cols), randn(rows, cols), randn(cols), randn(cols)),
        lambda x, r, w, b: F.layer_norm(F.dropout(x, 1 - keep) + r, (cols,), w, b, EPS),
        compares_values=False,
    )


def cross_entropy(rows: int, cols: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x, target = m.tensor(-1, cols), m.tensor(-1, dtype=INT)
        wide = m.wide(x)
        largest = fd.ops.max(wide, [1])
        e = fd.ops.exp(fd.ops.sub(wide, m.column(largest)))
        logsum = fd.ops.add(fd.ops.log(fd.ops.sum(e, [1])), largest)
        chosen = fd.ops.squeeze(fd.ops.take_along_axis(x, m.column(target), 1), [1])
        loss = fd.ops.sub(logsum, m.wide(chosen))
        fd.add_output(fd.ops.mul(fd.ops.sum(loss, [0]), 1.0 / rows))

    def inputs(device: str) -> list[torch.Tensor]:
        return [
            torch.randn(rows, cols, device=device, dtype=torch.bfloat16),
            torch.randint(0, cols, (rows,), device=device),
        ]

    return Case(
        f"cross_entropy_fwd_bf16_{rows}x{cols}",
        define,
        inputs,
        lambda x, target: F.cross_entropy(x.float(), target),
        rtol=1e-4,
    )


def batchnorm(name: str, n: int, c: int, h: int, w: int, *, channels_last: bool) -> Case:
    order = {"stride_order": [3, 0, 2, 1]} if channels_last else {}

    def define(fd: FusionDefinition) -> None:
        m, ops = Math(fd), fd.ops
        x = fd.define_tensor([n, c, h, w], contiguity=True, dtype=BF16, **order)
        weight, bias = m.tensor(c, dtype=FLOAT), m.tensor(c, dtype=FLOAT)
        over = [True, False, True, True]
        wide = m.wide(x)
        scale = 1.0 / (n * h * w)
        mean = ops.broadcast(ops.mul(ops.sum(wide, [0, 2, 3]), scale), over)
        centred = ops.sub(wide, mean)
        var = ops.mul(ops.sum(ops.mul(centred, centred), [0, 2, 3]), scale)
        rstd = ops.broadcast(ops.rsqrt(ops.add(var, EPS)), over)
        y = ops.mul(ops.mul(centred, rstd), ops.broadcast(weight, over))
        y = m.narrow(ops.add(y, ops.broadcast(bias, over)), BF16)
        fd.add_output(ops.stride_order(y, [3, 0, 2, 1]) if channels_last else y)

    def inputs(device: str) -> list[torch.Tensor]:
        x = torch.randn(n, c, h, w, device=device, dtype=torch.bfloat16)
        memory = torch.channels_last if channels_last else torch.contiguous_format
        return [
            x.to(memory_format=memory),
            torch.randn(c, device=device),
            torch.randn(c, device=device),
        ]

    return Case(
        name,
        define,
        inputs,
        lambda x, weight, bias: F.batch_norm(x, None, None, weight, bias, True, 0.1, EPS),
        floor="0.667: all data is read before the first element is known" if channels_last else "",
    )


def groupnorm(n: int, c: int, h: int, w: int, groups: int) -> Case:
    size = c // groups * h * w

    def define(fd: FusionDefinition) -> None:
        m, ops = Math(fd), fd.ops
        x = m.tensor(n, c, h, w)
        weight, bias = m.tensor(c), m.tensor(c)
        over = [True, False, True, True]
        rows = m.wide(ops.reshape(x, [n * groups, size]))
        y, _ = normalized(m, rows, size)
        y = ops.reshape(y, [n, c, h, w])
        y = ops.mul(y, ops.broadcast(m.wide(weight), over))
        y = ops.add(y, ops.broadcast(m.wide(bias), over))
        fd.add_output(m.narrow(ops.silu(y), BF16))

    return Case(
        "groupnorm_fwd_bf16",
        define,
        make(randn(n, c, h, w), randn(c), randn(c)),
        lambda x, weight, bias: F.silu(F.group_norm(x, groups, weight, bias, EPS)),
    )


# ---- Transposes, sums, resizes, products ---------------------------------------------------------


def transpose(n: int, dtype: DataType = FLOAT) -> Case:
    def define(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.permute(Math(fd).tensor(-1, -1, dtype=dtype), [1, 0]))

    return Case(
        "transpose_f32",
        define,
        make(randn(n, n, dtype=TORCH[dtype])),
        lambda a: a.t().contiguous(),
        rtol=0.0,
    )


def transpose_add(name: str, n: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        a, b = m.tensor(-1, -1, dtype=dtype), m.tensor(-1, -1, dtype=dtype)
        y = fd.ops.add(m.wide(fd.ops.permute(a, [1, 0])), m.wide(b))
        fd.add_output(m.narrow(y, dtype))

    square = randn(n, n, dtype=TORCH[dtype])
    return Case(name, define, make(square, square), lambda a, b: a.t() + b, rtol=RTOL[dtype])


def total(name: str, shape: tuple[int, ...], dims: list[int], dtype: DataType = FLOAT) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x = m.tensor(*[-1] * len(shape), dtype=dtype)
        fd.add_output(m.narrow(fd.ops.sum(m.wide(x), dims), dtype))

    return Case(
        name,
        define,
        make(randn(*shape, dtype=TORCH[dtype])),
        lambda x: x.float().sum(dims).to(x.dtype),
        rtol=max(RTOL[dtype], 1e-4),
    )


def rope(batch: int, heads: int, seq: int, dim: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m, ops = Math(fd), fd.ops
        half = dim // 2
        q = m.tensor(batch, heads, seq, dim)
        cos, sin = m.tensor(seq, dim), m.tensor(seq, dim)
        first = ops.slice(q, [0, 0, 0, 0], [batch, heads, seq, half])
        second = ops.slice(q, [0, 0, 0, half], [batch, heads, seq, dim])
        rotated = ops.cat([m.narrow(ops.neg(m.wide(second)), BF16), first], dim=3)
        over = [True, True, False, False]
        a = m.narrow(ops.mul(m.wide(q), m.wide(ops.broadcast(cos, over))), BF16)
        b = m.narrow(ops.mul(m.wide(rotated), m.wide(ops.broadcast(sin, over))), BF16)
        fd.add_output(m.narrow(ops.add(m.wide(a), m.wide(b)), BF16))

    def eager(q: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        first, second = q.chunk(2, -1)
        return q * cos + torch.cat([-second, first], -1) * sin

    return Case(
        "rope_bf16",
        define,
        make(randn(batch, heads, seq, dim), randn(seq, dim), randn(seq, dim)),
        eager,
    )


def cat_slice_pad(rows: int, first: int, second: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        a, b = m.tensor(rows, first), m.tensor(rows, second)
        fd.add_output(fd.ops.pad(fd.ops.cat([a, b], dim=1), [64, 64]))

    return Case(
        "cat_slice_pad_bf16",
        define,
        make(randn(rows, first), randn(rows, second)),
        lambda a, b: F.pad(torch.cat([a, b], 1), (64, 64)),
        rtol=0.0,
    )


def matmul(n: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        fd.add_output(fd.ops.linear(m.tensor(-1, -1), m.tensor(-1, -1)))

    return Case(
        f"matmul_bf16_{n}",
        define,
        make(randn(n, n), randn(n, n)),
        F.linear,
        is_memory_bound=False,
    )


def matmul_bias_gelu(n: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        y = fd.ops.linear(m.tensor(-1, -1), m.tensor(-1, -1))
        h = fd.ops.add(m.wide(y), m.row(m.wide(m.tensor(-1))))
        fd.add_output(m.narrow(fd.ops.tanh_gelu(h), BF16))

    return Case(
        f"matmul_bias_gelu_bf16_{n}",
        define,
        make(randn(n, n), randn(n, n), randn(n)),
        lambda a, w, b: F.gelu((F.linear(a, w) + b).float(), approximate="tanh").to(a.dtype),
        is_memory_bound=False,
    )


def cuda_cases() -> list[Case]:
    """Larger than the caches of a GPU."""
    return [
        pointwise_fma(1 << 28),
        bias_gelu("bias_gelu_bf16", 16384, 16384),
        silu_mul("silu_mul_bf16", 16384, 14336),
        scale_bias_relu_nhwc(128, 64, 112, 112),
        *[
            rmsnorm(f"rmsnorm_fwd_bf16_{rows}x{cols}", rows, cols)
            for rows, cols in ((32768, 4096), (8192, 16384), (2048, 65536))
        ],
        *[
            layernorm(f"layernorm_fwd_bf16_{rows}x{cols}", rows, cols)
            for rows, cols in ((32768, 4096), (32768, 768), (8192, 16384))
        ],
        layernorm_bwd(16384, 4096),
        rmsnorm_bwd(16384, 4096),
        *[
            softmax(f"softmax_fwd_bf16_{rows}x{cols}", rows, cols)
            for rows, cols in ((32768, 4096), (4096, 32768), (1024, 262144))
        ],
        softmax_bwd(16384, 4096),
        add_layernorm(16384, 4096),
        dropout_add_layernorm(16384, 4096),
        cross_entropy(8192, 128256),
        batchnorm("batchnorm_train_nchw_bf16", 256, 64, 112, 112, channels_last=False),
        batchnorm("batchnorm_train_nhwc_bf16", 256, 64, 112, 112, channels_last=True),
        groupnorm(64, 320, 64, 64, 32),
        transpose_add("transpose_add_bf16", 16384),
        transpose(16384),
        total("sum_inner_f32", (65536, 8192), [1]),
        total("sum_outer_f32", (65536, 8192), [0]),
        total("sum_all_f32", (1 << 29,), [0]),
        total("sum_outer_bf16_skinny", (1 << 20, 256), [0], BF16),
        rope(8, 32, 8192, 128),
        cat_slice_pad(8192, 8192, 4096),
        matmul_bias_gelu(8192),
        matmul(8192),
    ]


def cpu_cases() -> list[Case]:
    """Float, larger than the caches of a processor."""
    n = 4096
    return [
        pointwise_fma(1 << 24),
        bias_gelu("gelu_bias_f32", n, n, FLOAT),
        silu_mul("silu_mul_f32", n, n, FLOAT),
        rmsnorm("rmsnorm_f32", n, n, FLOAT),
        layernorm("layernorm_f32", n, n, FLOAT),
        softmax("softmax_f32", n, n, FLOAT),
        total("sum_inner_f32", (n, n), [1]),
        total("sum_outer_f32", (n, n), [0]),
        transpose_add("transpose_add_f32", n, FLOAT),
    ]

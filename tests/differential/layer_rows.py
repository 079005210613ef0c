"""Rows of layers and their gradients; references are PyTorch's, in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from case import FLOATING, WIDE, Case, Operation, Samples, exact, widened

if TYPE_CHECKING:
    from collections.abc import Callable

LOW = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 5e-5, torch.float64: 1e-9}


def case(name: str, build: Any, runs: list[Any], expected: Any) -> Case:
    """Results have the types that the layer computes in, or those of its operands."""

    def rounded(*operands: Any) -> list[Any]:
        first = next(t for t in operands if isinstance(t, torch.Tensor))
        results = expected(*[exact(t) if isinstance(t, torch.Tensor) else t for t in operands])
        results = list(results) if isinstance(results, tuple | list) else [results]
        return [r.to(widened(first.dtype)) if r.is_floating_point() else r for r in results]

    tolerance = LOW[widened(runs[0][0].dtype)] * 4
    return Case(name, build, runs, rounded, rtol=tolerance, atol=tolerance)


def gradients(
    function: Callable[..., torch.Tensor], dy: torch.Tensor, *inputs: torch.Tensor
) -> Any:
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    function(*leaves).backward(dy)
    return [leaf.grad for leaf in leaves]


def row(name: str, make: Callable[[Samples], list[Case]], dtypes: Any = FLOATING) -> Operation:
    return Operation(name, make, dtypes)


# ---- Softmax and activations ---------------------------------------------------------------------


def softmax_cases(name: str) -> Callable[[Samples], list[Case]]:
    function = getattr(torch, name)

    def make(s: Samples) -> list[Case]:
        runs = [[x] for x in s.views() if x.numel() > 0]
        return [
            case(f"dim {d}", lambda ops, x, d=d: getattr(ops, name)(x, d), runs,
                 lambda x, d=d: function(x, d))
            for d in (-1, 0)
        ]  # fmt: skip

    return make


def softmax_backward_cases(name: str) -> Callable[[Samples], list[Case]]:
    function = getattr(torch, name)

    def make(s: Samples) -> list[Case]:
        x, dy = s.tensor(7, 33), s.tensor(33, 7).T
        return [
            case(f"dim {d}", lambda ops, dy, y, d=d: getattr(ops, f"{name}_backward")(dy, y, d),
                 [[dy, function(exact(x), d).to(s.dtype)]],
                 lambda dy, y, d=d: softmax_gradient(name, dy, y, d))
            for d in (-1, 0)
        ]  # fmt: skip

    return make


def softmax_gradient(name: str, dy: torch.Tensor, y: torch.Tensor, dim: int) -> torch.Tensor:
    """From the rounded result, which is what the operation gets."""
    if name == "softmax":
        return y * (dy - (dy * y).sum(dim, keepdim=True))
    return dy - torch.exp(y) * dy.sum(dim, keepdim=True)


def activation_backward_cases(name: str, function: Any) -> Callable[[Samples], list[Case]]:
    def make(s: Samples) -> list[Case]:
        runs = [[s.tensor(7, 33), s.tensor(33, 7).T], [s.tensor(0, 3), s.tensor(0, 3)]]

        def expected(dy: torch.Tensor, x: torch.Tensor) -> Any:
            return gradients(function, dy, x)

        return [case("layouts", lambda ops, dy, x: getattr(ops, name)(dy, x), runs, expected)]

    return make


def tanh_backward_cases(s: Samples) -> list[Case]:
    runs = [[s.tensor(7, 33), s.tensor(33, 7, low=-0.9, high=0.9).T]]
    return [
        case("layouts", lambda ops, dy, y: ops.tanh_backward(dy, y), runs,
             lambda dy, y: dy * (1 - y * y))
    ]  # fmt: skip


def dropout_backward_cases(s: Samples) -> list[Case]:
    runs = [[s.tensor(7, 33), s.tensor(7, 33, dtype=torch.bool), 1.25]]
    return [
        case("layouts", lambda ops, dy, m, scale: ops.dropout_backward(dy, m, scale), runs,
             lambda dy, m, scale: dy * m * scale)
    ]  # fmt: skip


# ---- Norms ---------------------------------------------------------------------------------------

EPS = 1e-5


def statistics(x: torch.Tensor, dims: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    var, mean = torch.var_mean(x, dims, correction=0, keepdim=True)
    return mean, (var + EPS).rsqrt()


def layer_norm_cases(s: Samples) -> list[Case]:
    def expected(x: torch.Tensor, *parameters: torch.Tensor) -> Any:
        shape = x.shape[-1:]
        return [F.layer_norm(x, shape, *parameters, eps=EPS), *statistics(x, [x.ndim - 1])]

    w, b = s.tensor(17), s.tensor(17)
    return [
        case("plain", lambda ops, x: ops.layer_norm(x, 1), [[s.tensor(5, 17)], [s.tensor(17, 5).T]],
             expected),
        case("parameters", lambda ops, x, w, b: ops.layer_norm(x, 1, w, b),
             [[s.tensor(5, 17), w, b], [s.tensor(1, 17).expand(3, 17), w, b]], expected),
    ]  # fmt: skip


def rms_norm_cases(s: Samples) -> list[Case]:
    def expected(x: torch.Tensor, w: torch.Tensor | None = None) -> Any:
        invstd = (x.square().mean(-1, keepdim=True) + EPS).rsqrt()
        return [x * invstd * (1 if w is None else w), invstd]

    return [
        case("plain", lambda ops, x: ops.rms_norm(x, 1), [[s.tensor(5, 17)], [s.tensor(17, 5).T]],
             expected),
        case("weight", lambda ops, x, w: ops.rms_norm(x, 1, w),
             [[s.tensor(5, 17), s.tensor(17)]], expected),
    ]  # fmt: skip


def layer_norm_backward_cases(s: Samples) -> list[Case]:
    x, dy, w = s.tensor(5, 17), s.tensor(17, 5).T, s.tensor(17)
    mean, invstd = statistics(x, [1])

    def expected(dy: Any, x: Any, mean: Any, invstd: Any, w: Any) -> Any:
        return gradients(lambda *t: F.layer_norm(t[0], (17,), t[1], t[2], EPS), dy, x, w, w)

    def build(ops: Any, dy: Any, x: Any, mean: Any, invstd: Any, w: Any) -> Any:
        return ops.layer_norm_backward(dy, x, 1, mean, invstd, w, True)

    return [case("parameters", build, [[dy, x, mean, invstd, w]], expected)]


def rms_norm_backward_cases(s: Samples) -> list[Case]:
    x, dy, w = s.tensor(5, 17), s.tensor(17, 5).T, s.tensor(17)
    invstd = (x.square().mean(-1, keepdim=True) + EPS).rsqrt()

    def expected(dy: Any, x: Any, invstd: Any, w: Any) -> Any:
        return gradients(lambda *t: F.rms_norm(t[0], (17,), t[1], EPS), dy, x, w)

    def build(ops: Any, dy: Any, x: Any, invstd: Any, w: Any) -> Any:
        return ops.rms_norm_backward(dy, x, 1, invstd, w)

    return [case("weight", build, [[dy, x, invstd, w]], expected)]


def channel_norm_cases(name: str) -> Callable[[Samples], list[Case]]:
    dims = [0, 2, 3] if name == "batch_norm" else [2, 3]

    def make(s: Samples) -> list[Case]:
        def expected(x: torch.Tensor, w: Any = None, b: Any = None) -> Any:
            mean, invstd = statistics(x, dims)
            shape = (1, -1, 1, 1)
            out = (x - mean) * invstd
            if w is not None:
                out = out * w.reshape(shape) + b.reshape(shape)
            return [out, mean.squeeze(dims), invstd.squeeze(dims)]

        def last(x: torch.Tensor, w: Any, b: Any) -> Any:
            out, mean, invstd = expected(x.movedim(-1, 1), w, b)
            return [out.movedim(1, -1), mean, invstd]

        w, b = s.tensor(3), s.tensor(3)
        x, y = s.tensor(4, 3, 5, 7), s.tensor(7, 5, 3, 4).permute(3, 2, 1, 0)
        return [
            case("plain", lambda ops, x: getattr(ops, name)(x), [[x], [y]], expected),
            case("parameters", lambda ops, *t: getattr(ops, name)(*t), [[x, w, b]], expected),
            case("channels last", lambda ops, *t: getattr(ops, name)(*t, channels_last=True),
                 [[s.tensor(4, 5, 7, 3), w, b]], last),
        ]  # fmt: skip

    return make


def channel_norm_backward_cases(name: str) -> Callable[[Samples], list[Case]]:
    dims = [0, 2] if name == "batch_norm" else [2]

    def make(s: Samples) -> list[Case]:
        x, dy, w = s.tensor(4, 3, 9), s.tensor(4, 3, 9), s.tensor(3)
        mean, invstd = (t.squeeze(dims) for t in statistics(x, dims))

        def function(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            if name == "batch_norm":
                return F.batch_norm(x, None, None, w, b, True, 0.1, EPS)
            return F.instance_norm(x, None, None, w, b, True, 0.1, EPS)

        def expected(dy: Any, x: Any, w: Any, mean: Any, invstd: Any) -> Any:
            return gradients(function, dy, x, w, w)

        def build(ops: Any, *t: Any) -> Any:
            return getattr(ops, f"{name}_backward")(*t)

        return [case("parameters", build, [[dy, x, w, mean, invstd]], expected)]

    return make


def lstm_cases(s: Samples) -> list[Case]:
    def expected(c: Any, i: Any, f: Any, g: Any, o: Any) -> Any:
        cell = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return [cell, torch.sigmoid(o) * torch.tanh(cell)]

    runs = [[s.tensor(3, 8) for _ in range(4)] + [s.tensor(8, 3).T]]
    return [case("layouts", lambda ops, *t: ops.lstm(*t), runs, expected)]


def rows() -> list[Operation]:
    def tanh_gelu(x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x, approximate="tanh")

    return [
        row("softmax", softmax_cases("softmax")),
        row("log_softmax", softmax_cases("log_softmax")),
        row("softmax_backward", softmax_backward_cases("softmax")),
        row("log_softmax_backward", softmax_backward_cases("log_softmax")),
        row("gelu_backward", activation_backward_cases("gelu_backward", F.gelu)),
        row("tanh_gelu_backward", activation_backward_cases("tanh_gelu_backward", tanh_gelu)),
        row("tanh_backward", tanh_backward_cases),
        row("dropout_backward", dropout_backward_cases),
        row("layer_norm", layer_norm_cases, WIDE),
        row("layer_norm_backward", layer_norm_backward_cases, WIDE),
        row("rms_norm", rms_norm_cases, WIDE),
        row("rms_norm_backward", rms_norm_backward_cases, WIDE),
        row("batch_norm", channel_norm_cases("batch_norm"), WIDE),
        row("batch_norm_backward", channel_norm_backward_cases("batch_norm"), WIDE),
        row("instance_norm", channel_norm_cases("instance_norm"), WIDE),
        row("instance_norm_backward", channel_norm_backward_cases("instance_norm"), WIDE),
        row("lstm", lstm_cases),
    ]

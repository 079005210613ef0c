"""A call of every operation, for `fd.ops` of both packages.

Calls are given the operations, the tensors of `INPUTS`, and a function that makes a scalar of a
number: a Scalar here, the number itself in `nvfuser_direct`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nvfuser import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[[Any, dict[str, Any], Callable[[Any], Any]], Any]

SHAPES: dict[str, tuple[tuple[int, ...], torch.dtype]] = {
    "x": ((4, 6), torch.float32),
    "y": ((4, 6), torch.float32),
    "p": ((4, 6), torch.float32),  # in (0, 1)
    "d": ((4, 6), torch.float64),
    "i": ((4, 6), torch.int64),  # 0 to 3
    "b": ((4, 6), torch.bool),
    "c": ((4, 6), torch.complex64),
    "v": ((6,), torch.float32),
    "k": ((3,), torch.int64),  # 0 to 3
    "m": ((6, 5), torch.float32),
    "w": ((5, 6), torch.float32),
    "n": ((2, 3, 4, 4), torch.float32),
    "f": ((3,), torch.float32),
    "g": ((3,), torch.float32),  # in (0, 1)
    "o": ((1, 6), torch.float32),
}


def make_inputs(rng: torch.Generator) -> dict[str, torch.Tensor]:
    """Tensors by name."""
    inputs = {}
    for name, (shape, dtype) in SHAPES.items():
        if dtype is torch.int64:
            inputs[name] = torch.randint(0, 4, shape, generator=rng)
        elif dtype is torch.bool:
            inputs[name] = torch.rand(shape, generator=rng) > 0.5
        elif name in "pg":
            inputs[name] = torch.rand(shape, generator=rng) * 0.9 + 0.05
        else:
            inputs[name] = torch.randn(shape, generator=rng, dtype=dtype)
    return inputs


CALLS: dict[str, Call] = {}


def _unary(names: str, operand: str) -> None:
    for name in names.split():
        CALLS[name] = lambda ops, t, s, name=name: getattr(ops, name)(t[operand])


_unary("abs atan asinh ceil cos cosh exp exp2 expm1 erf erfc floor frac lgamma neg relu", "x")
_unary("logical_not round set segment_set sign sigmoid signbit silu sin sinh tan tanh trunc", "x")
_unary("isfinite isinf isnan isneginf isposinf isreal", "x")
_unary("acos asin atanh erfinv erfcinv log log10 log1p log2 reciprocal rsqrt sqrt", "p")
_unary("bitwise_not", "i")
_unary("real imag", "c")
CALLS["acosh"] = lambda ops, t, s: ops.acosh(ops.add(t["p"], s(1.0)))


def _binary(names: str, a: str, b: str) -> None:
    for name in names.split():
        CALLS[name] = lambda ops, t, s, name=name: getattr(ops, name)(t[a], t[b])
        CALLS[f"{name} with a scalar"] = lambda ops, t, s, name=name: getattr(ops, name)(
            t[a], s(2 if t[a] is t.get("i") else 0.5)
        )


_binary("add sub mul div truediv fmod remainder atan2 minimum maximum", "x", "p")
_binary("eq ne lt le gt ge logical_and logical_or", "x", "y")
_binary("pow", "p", "y")
_binary("bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift", "i", "i")
_binary("logical_right_shift gcd", "i", "i")
CALLS["mod"] = lambda ops, t, s: ops.mod(t["i"], s(3))
CALLS["nextafter"] = lambda ops, t, s: ops.nextafter(t["x"], t["y"])
CALLS["complex"] = lambda ops, t, s: ops.complex(t["x"], t["y"])
CALLS["add_alpha"] = lambda ops, t, s: ops.add_alpha(t["x"], t["y"], s(0.3))
CALLS["sub_alpha"] = lambda ops, t, s: ops.sub_alpha(t["x"], s(0.7), s(0.3))
CALLS["lerp"] = lambda ops, t, s: ops.lerp(t["x"], t["y"], t["p"])
CALLS["where"] = lambda ops, t, s: ops.where(t["b"], t["x"], s(0.0))
CALLS["clamp"] = lambda ops, t, s: ops.clamp(t["x"], s(-0.5), s(0.5))
CALLS["clamp on one side"] = lambda ops, t, s: ops.clamp(t["x"], None, s(0.5))
CALLS["threshold"] = lambda ops, t, s: ops.threshold(t["x"], s(0.2), s(-1.0))
CALLS["addcmul"] = lambda ops, t, s: ops.addcmul(t["x"], t["y"], t["p"], s(0.2))
CALLS["cast"] = lambda ops, t, s: ops.cast(t["x"], dtype=DataType.Half)
CALLS["triu"] = lambda ops, t, s: ops.triu(t["x"], diagonal=1)

for _name in ("sum", "prod", "max", "min"):
    CALLS[_name] = lambda ops, t, s, name=_name: getattr(ops, name)(t["x"])
    CALLS[f"{_name} of a dim"] = lambda ops, t, s, name=_name: getattr(ops, name)(t["x"], dim=-1)
    CALLS[f"{_name} of dims"] = lambda ops, t, s, name=_name: getattr(ops, name)(
        t["n"], dims=[0, 2], keepdim=True
    )
CALLS["sum in double"] = lambda ops, t, s: ops.sum(t["x"], [0], dtype=DataType.Double)
CALLS["sum of all in double"] = lambda ops, t, s: ops.sum(t["x"], dtype=DataType.Double)
CALLS["var"] = lambda ops, t, s: ops.var(t["x"], dims=[1], correction=1, keepdim=True)
CALLS["var_mean"] = lambda ops, t, s: ops.var_mean(t["x"], dims=[1], correction=0)
CALLS["welford"] = lambda ops, t, s: ops.welford(t["x"], dims=[1])[:2]
CALLS["cumsum"] = lambda ops, t, s: ops.cumsum(t["x"], dim=1)
CALLS["cumprod"] = lambda ops, t, s: ops.cumprod(t["p"], dim=0)
CALLS["cummin"] = lambda ops, t, s: ops.cummin(t["x"], dim=1)
CALLS["cummax"] = lambda ops, t, s: ops.cummax(t["x"], dim=-1)

CALLS["broadcast"] = lambda ops, t, s: ops.broadcast(t["v"], is_broadcast_dim=[True, False])
CALLS["broadcast_in_dim"] = lambda ops, t, s: ops.broadcast_in_dim(
    t["v"], shape=[3, 6], broadcast_dims=[1]
)
CALLS["expand"] = lambda ops, t, s: ops.add(t["x"], ops.expand(t["o"], [4, 6]))
CALLS["reshape"] = lambda ops, t, s: ops.reshape(t["x"], new_shape=(3, 8))
CALLS["permute"] = lambda ops, t, s: ops.permute(t["n"], dims=[0, -1, 1, 2])
CALLS["stride_order"] = lambda ops, t, s: ops.stride_order(t["x"], stride_order=[0, 1])
CALLS["squeeze"] = lambda ops, t, s: ops.squeeze(t["o"], dims=[0])
CALLS["slice"] = lambda ops, t, s: ops.slice(t["x"], [1, 0], [3, 5])
CALLS["slice with strides"] = lambda ops, t, s: ops.slice(t["x"], (1, 0), (3, 5), (1, 1))
CALLS["pad"] = lambda ops, t, s: ops.pad(t["x"], [1, 2], s(0.5))
CALLS["cat"] = lambda ops, t, s: ops.cat([t["x"], t["y"]], dim=1)

CALLS["index_select"] = lambda ops, t, s: ops.index_select(t["x"], t["k"], dim=0)
CALLS["select"] = lambda ops, t, s: ops.select(t["x"], ops.cast(s(2), dtype=DataType.Int), 0)
CALLS["select by a tensor"] = lambda ops, t, s: ops.select(t["x"], ops.max(t["k"]), dim=1)
CALLS["topk"] = lambda ops, t, s: ops.topk(
    t["x"], ops.cast(s(2), dtype=DataType.Int), dim=1, largest=False, sorted=True
)
CALLS["embedding_fwd"] = lambda ops, t, s: ops.embedding_fwd(t["i"], t["x"])
CALLS["sdpfa_fwd"] = lambda ops, t, s: ops.sdpfa_fwd(
    t["n"], t["n"], t["n"], None, None, s(0.0), s(False), None
)[:1]
CALLS["gather"] = lambda ops, t, s: ops.gather(t["x"], t["i"], dim=1)
CALLS["take_along_axis"] = lambda ops, t, s: ops.take_along_axis(t["x"], t["i"], dim=0)
CALLS["full"] = lambda ops, t, s: ops.full([2, 3], s(1.5), DataType.Float)
CALLS["iota"] = lambda ops, t, s: ops.iota(s(5), s(2), s(3), dtype=DataType.Int)
CALLS["iota without start"] = lambda ops, t, s: ops.iota(s(5), None, None)
CALLS["argsort"] = lambda ops, t, s: ops.argsort(t["x"], dim=1, descending=True, stable=True)
CALLS["matmul"] = lambda ops, t, s: ops.matmul(t["x"], t["m"])
CALLS["matmul of a vector"] = lambda ops, t, s: ops.matmul(t["x"], t["v"])
CALLS["linear"] = lambda ops, t, s: ops.linear(t["x"], t["w"])
CALLS["cast of a scalar"] = lambda ops, t, s: ops.mul(t["x"], ops.cast(s(2), dtype=DataType.Float))
CALLS["scatter"] = lambda ops, t, s: ops.scatter(t["x"], t["i"], s(9.0), 1)
CALLS["batch_norm in evaluation"] = lambda ops, t, s: _batch_norm(ops, t, s)


def _batch_norm(ops: Any, t: dict[str, Any], s: Callable[[Any], Any]) -> Any:
    keywords = {"weight": t["f"], "bias": None, "running_mean": t["f"], "running_var": t["g"]}
    keywords |= {"momentum": s(0.1), "eps": s(1e-5), "training": False}
    return ops.batch_norm(t["n"], **keywords)[0]

"""Axes whose size comes out as 1 are broadcasts in large runs: nothing divides by their sizes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

    Build = Callable[[FusionDefinition, list[TensorView]], TensorView | list[TensorView]]
    Expect = Callable[..., torch.Tensor | list[torch.Tensor]]


def defined(ranks: list[int], build: Build) -> FusionDefinition:
    with FusionDefinition() as fd:
        tensors = [fd.define_tensor([-1] * rank, contiguity=True) for rank in ranks]
        outs = build(fd, tensors)
        for out in outs if isinstance(outs, list) else [outs]:
            fd.add_output(out)
    return fd


def normalized(fd: FusionDefinition, x: TensorView, dims: list[int]) -> TensorView:
    """x minus its mean, over its deviation: sizes are numbers of the computation as well."""
    over = [dim in dims for dim in range(x.ndim)]
    count = x.size(dims[0])
    for dim in dims[1:]:
        count = fd.ops.mul(count, x.size(dim))
    count = fd.ops.cast(count, DataType.Float)
    mean = fd.ops.div(fd.ops.sum(x, dims), count)
    apart = fd.ops.sub(x, fd.ops.broadcast(mean, over))
    variance = fd.ops.div(fd.ops.sum(fd.ops.mul(apart, apart), dims), count)
    scale = fd.ops.rsqrt(fd.ops.add(variance, 1e-5))
    return fd.ops.mul(apart, fd.ops.broadcast(scale, over))


def exactly_normalized(x: torch.Tensor, dims: list[int]) -> torch.Tensor:
    apart = x - x.mean(dims, keepdim=True)
    return apart * (apart.square().mean(dims, keepdim=True) + 1e-5).rsqrt()


CASES: dict[str, tuple[list[tuple[int, ...]], Build, Expect]] = {
    "a sum beside others": (
        [(1, 43, 30_011, 1)],
        lambda fd, ts: fd.ops.sum(ts[0], [1, 3]),
        lambda x: x.sum([1, 3]),
    ),
    "a sum over units alone": (
        [(1031, 1, 1025)],
        lambda fd, ts: fd.ops.sum(ts[0], [1]),
        lambda x: x.sum([1]),
    ),
    "dimensions that are kept": (
        [(1031, 1, 1025, 1)],
        lambda fd, ts: fd.ops.max(ts[0], [0, 3], keepdim=True),
        lambda x: x.amax([0, 3], keepdim=True),
    ),
    "a permute": (
        [(20, 1, 56, 1013, 3)],
        lambda fd, ts: fd.ops.mul(fd.ops.permute(ts[0], [3, 2, 4, 0, 1]), 2.0),
        lambda x: (x * 2).permute(3, 2, 4, 0, 1),
    ),
    "two operands": (
        [(513, 1, 2049), (513, 1, 2049)],
        lambda fd, ts: fd.ops.add(ts[0], fd.ops.neg(ts[1])),
        lambda x, y: x - y,
    ),
    "an operand of lower rank": (
        [(1, 1031, 1025), (1025,)],
        lambda fd, ts: fd.ops.mul(ts[0], fd.ops.broadcast(ts[1], [True, True, False])),
        lambda x, w: x * w,
    ),
    "a norm": (
        [(1, 517, 2051)],
        lambda fd, ts: normalized(fd, ts[0], [0, 2]),
        lambda x: exactly_normalized(x, [0, 2]),
    ),
    "statistics": (
        [(1, 67, 31, 515)],
        lambda fd, ts: list(fd.ops.var_mean(ts[0], [0, 2, 3], 0)),
        lambda x: [x.var([0, 2, 3], correction=0), x.mean([0, 2, 3])],
    ),
    "a unit that is reduced and one that is broadcast": (
        [(1031, 1, 1025)],
        lambda fd, ts: fd.ops.add(
            ts[0], fd.ops.broadcast(fd.ops.sum(ts[0], [1]), [False, True, False])
        ),
        lambda x: x + x.sum([1], keepdim=True),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_results(case: str, target: str, rng: torch.Generator) -> None:
    shapes, build, expect = CASES[case]
    fd = defined([len(shape) for shape in shapes], build)
    for sizes in (shapes, [tuple(max(size, 2) for size in shape) for shape in shapes]):
        inputs = [torch.randn(shape, generator=rng) + 1 for shape in sizes]
        found = fd.execute([x.to(target) for x in inputs])
        wanted = expect(*[x.double() for x in inputs])
        wanted = wanted if isinstance(wanted, list) else [wanted]
        for own, exact in zip(found, wanted, strict=True):
            assert own.shape == exact.shape
            assert own.is_contiguous()
            torch.testing.assert_close(own.cpu().double(), exact, rtol=1e-4, atol=1e-3)
        assert fd.fec.stats().specializations == 2


def test_no_loop_runs_over_a_unit() -> None:
    fd = defined([4], lambda fd, ts: fd.ops.sum(ts[0], [1, 3]))
    fd.execute([torch.randn(1, 43, 30_011, 1)])
    text = re.search(r"^  T0_g_float\[(.*?)\]", fd.fec.get_most_recent_scheduled_ir(), re.M)
    assert text is not None
    assert len(re.findall(r"\bbS\d+\{1\}", text[1])) == 2
    assert set(re.findall(r"\bi\d+\b", text[1])) == {"i1", "i2"}


@pytest.mark.parametrize(
    ("shape", "build"),
    [
        ((1, 43, 311, 1), lambda fd, ts: fd.ops.sum(ts[0], [1, 3])),
        ((1, 1 << 20, 1), lambda fd, ts: fd.ops.neg(ts[0])),
        ((2, 515, 1029), lambda fd, ts: fd.ops.neg(ts[0])),
        ((1, 1031, 1025), lambda fd, ts: fd.ops.slice(ts[0], [0, 1, 0], [1, 1031, 1025])),
    ],
    ids=["few elements", "one axis beside units", "no units", "a part"],
)
def test_all_others_stay_as_they_are(shape: tuple[int, ...], build: Build) -> None:
    fd = defined([len(shape)], build)
    fd.execute([torch.randn(shape)])
    assert fd.fec.stats().specializations == 1


def test_an_axis_of_one_element_does_not_meet_a_longer_one() -> None:
    fd = defined([3, 3], lambda fd, ts: fd.ops.add(ts[0], ts[1]))
    with pytest.raises(UserError):
        fd.execute([torch.randn(1, 1031, 1025), torch.randn(2, 1031, 1025)])
    x = torch.randn(1, 1031, 1025)
    torch.testing.assert_close(fd.execute([x, x])[0], x + x)


def test_memory_behind_a_unit_need_not_be_contiguous(rng: torch.Generator) -> None:
    x = torch.randn(1031, 3, 1025, generator=rng)[:, 1:2]
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1] * 3, contiguity=[False, True, True])
        fd.add_output(fd.ops.sum(t, [1]))
    torch.testing.assert_close(fd.execute([x])[0], x.sum(1))
    assert fd.fec.stats().specializations == 2


def test_an_input_that_is_updated_stays_as_it_is(rng: torch.Generator) -> None:
    x = torch.randn(1, 1031, 1025, generator=rng)
    wanted = x + 1
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1] * 3, contiguity=True)
        fd.add_output(fd.ops.add(t, 1.0), t)
    fd.execute([x])
    torch.testing.assert_close(x, wanted)
    assert fd.fec.stats().specializations == 1

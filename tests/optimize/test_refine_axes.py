"""Reshapes behind reductions: all tensors have the parts of axes that they divide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.nn.functional as F
from pass_case import check_pass, check_unchanged

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    SchedulerType,
    concretize,
    find_concretization,
    segment,
)

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "refine_axes"


def normalized(fd: FusionDefinition, x: Any, dims: list[int], size: int) -> Any:
    ops = fd.ops
    over = [i in dims for i in range(len(x.shape()))]
    mean = ops.broadcast(ops.mul(ops.sum(x, dims), 1 / size), over)
    centred = ops.sub(x, mean)
    var = ops.mul(ops.sum(ops.mul(centred, centred), dims), 1 / size)
    return ops.mul(centred, ops.broadcast(ops.rsqrt(ops.add(var, 1e-5)), over))


def test_groups_of_channels_become_axes() -> None:
    def before(fd: FusionDefinition) -> None:
        x, w = fd.define_tensor([4, 6, 5]), fd.define_tensor([6])
        y = normalized(fd, fd.ops.reshape(x, [12, 10]), [1], 10)
        y = fd.ops.mul(fd.ops.reshape(y, [4, 6, 5]), fd.ops.broadcast(w, [True, False, True]))
        fd.add_output(y)

    def expected(fd: FusionDefinition) -> None:
        x, w = fd.define_tensor([4, 6, 5]), fd.define_tensor([6])
        y = normalized(fd, fd.ops.reshape(x, [4, 3, 2, 5]), [2, 3], 10)
        parts = fd.ops.broadcast(fd.ops.reshape(w, [3, 2]), [True, False, False, True])
        fd.add_output(fd.ops.reshape(fd.ops.mul(y, parts), [4, 6, 5]))

    check_pass(NAME, before, expected, tolerance=1e-6)


def test_statistics_with_unknown_sizes() -> None:
    """Heads are normed for themselves; rows of unknown number are not divided."""

    def before(fd: FusionDefinition) -> None:
        x, w = fd.define_tensor([-1, 12]), fd.define_tensor([12])
        rows = fd.ops.size(x, 0)
        y = normalized(fd, fd.ops.reshape(x, [rows, 3, 4]), [2], 4)
        y = fd.ops.mul(fd.ops.reshape(y, [rows, 12]), fd.ops.broadcast(w, [True, False]))
        fd.add_output(y)

    def expected(fd: FusionDefinition) -> None:
        x, w = fd.define_tensor([-1, 12]), fd.define_tensor([12])
        rows = fd.ops.size(x, 0)
        y = normalized(fd, fd.ops.reshape(x, [rows, 3, 4]), [2], 4)
        y = fd.ops.mul(y, fd.ops.broadcast(fd.ops.reshape(w, [3, 4]), [True, False, False]))
        fd.add_output(fd.ops.reshape(y, [rows, 12]))

    check_pass(NAME, before, expected, tolerance=1e-6)


def test_statistics_that_are_returned_and_permuted_rows() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([6, 4])
        parts = fd.ops.reshape(x, [2, 3, 4])
        largest = fd.ops.max(parts, [1])
        fd.add_output(largest)
        low = fd.ops.sub(parts, fd.ops.broadcast(largest, [False, True, False]))
        rows = fd.ops.permute(fd.ops.reshape(low, [6, 4]), [1, 0])
        fd.add_output(fd.ops.exp(rows))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([6, 4])
        parts = fd.ops.reshape(x, [2, 3, 4])
        largest = fd.ops.max(parts, [1])
        fd.add_output(largest)
        low = fd.ops.sub(parts, fd.ops.broadcast(largest, [False, True, False]))
        rows = fd.ops.exp(fd.ops.permute(low, [2, 0, 1]))
        fd.add_output(fd.ops.reshape(rows, [4, 6]))

    check_pass(NAME, before, expected)


def no_reduction(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.exp(fd.ops.reshape(fd.ops.neg(x), [4, 6]))


def last_reshape(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.reshape(normalized(fd, x, [1], 4), [4, 6])


def no_common_parts(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.exp(fd.ops.reshape(normalized(fd, x, [1], 4), [4, 6]))


def slices(fd: FusionDefinition, x: Any) -> Any:
    rows = fd.ops.exp(fd.ops.reshape(normalized(fd, x, [1], 4), [24]))
    return fd.ops.slice(rows, [3], [20])


def updates(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.exp(fd.ops.reshape(normalized(fd, x, [1], 4), [24]))


@pytest.mark.parametrize("build", [no_reduction, last_reshape, no_common_parts, slices])
def test_what_stays_as_it_is(build: Callable[..., Any]) -> None:
    def before(fd: FusionDefinition) -> None:
        fd.add_output(build(fd, fd.define_tensor([6, 4])))

    check_unchanged(NAME, before)


def test_updated_inputs_keep_their_axes() -> None:
    def before(fd: FusionDefinition) -> None:
        x, y = fd.define_tensor([6, 4]), fd.define_tensor([24])
        fd.add_output(updates(fd, x), y)

    check_unchanged(NAME, before)


@pytest.mark.parametrize(
    ("shape", "groups"), [((2, 6, 4, 4), 3), ((3, 8, 5, 3), 2), ((1, 4, 1, 7), 4)], ids=str
)
def test_group_norms_are_one_kernel(target: str, shape: tuple[int, ...], groups: int) -> None:
    n, c, h, w = shape
    size = c // groups * h * w
    with FusionDefinition() as fd:
        x = fd.define_tensor(list(shape), contiguity=True, dtype=DataType.BFloat16)
        weight, bias = (fd.define_tensor([c], contiguity=True) for _ in range(2))
        rows = fd.ops.cast(fd.ops.reshape(x, [n * groups, size]), DataType.Float)
        y = fd.ops.reshape(normalized(fd, rows, [1], size), list(shape))
        over = [True, False, True, True]
        y = fd.ops.mul(y, fd.ops.broadcast(weight, over))
        y = fd.ops.add(y, fd.ops.broadcast(bias, over))
        fd.add_output(fd.ops.cast(y, DataType.BFloat16))
    x = torch.randn(shape, dtype=torch.bfloat16, device=target)
    weight, bias = torch.randn(c, device=target), torch.randn(c, device=target)
    (found,) = fd.execute([x, weight, bias])
    expected = F.group_norm(x.double(), groups, weight.double(), bias.double(), 1e-5)
    torch.testing.assert_close(found.double(), expected, rtol=1.6e-2, atol=1e-2)
    schedulers = [piece.scheduler for piece in fd.fec.last_pieces()]
    assert schedulers.count(SchedulerType.inner_persistent) == 1
    without_kernel = {SchedulerType.none, SchedulerType.expr_eval}
    assert set(schedulers) - {SchedulerType.inner_persistent} <= without_kernel
    assert "view, no kernel" in fd.fec.explain([x, weight, bias]) or len(schedulers) == 1


@pytest.mark.parametrize("is_open", [False, True])
def test_norms_of_heads_read_vectors(target: str, is_open: bool) -> None:
    """Heads are parts of the innermost axis of an input, which it has no axes for."""
    b, s, h, d = 3, 40, 4, 64
    with FusionDefinition() as fd:
        ops = fd.ops
        x = fd.define_tensor([-1 if is_open else b, s, h * d], contiguity=True)
        w = fd.define_tensor([h * d], contiguity=True)
        rows = ops.size(x, 0) if is_open else b
        y = ops.reshape(x, [rows, s, h, d])
        mean = ops.mul(ops.sum(ops.mul(y, y), [3]), 1 / d)
        rstd = ops.broadcast(ops.rsqrt(ops.add(mean, 1e-6)), [False, False, False, True])
        y = ops.reshape(ops.mul(y, rstd), [rows, s, h * d])
        fd.add_output(ops.mul(y, ops.broadcast(w, [True, True, False])))
    x, w = torch.randn(b, s, h * d, device=target), torch.randn(h * d, device=target)
    (found,) = fd.execute([x, w])
    heads = x.double().view(b, s, h, d)
    heads = heads * torch.rsqrt(heads.square().mean(-1, keepdim=True) + 1e-6)
    expected = heads.view(b, s, h * d) * w.double()
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, [x, w])).optimize()
    inputs = [[x, w][i] for i in fusion.arguments()]
    rows_of, view = segment(fusion, inputs, "cuda").groups
    assert rows_of.scheduler == SchedulerType.inner_persistent
    assert rows_of.params.vector_widths == [4, 4, 4]
    assert view.kind == "view"


def test_a_slice_of_what_has_parts_is_a_slice() -> None:
    """It reads a tensor that was made anew, and none of its own axes has parts."""
    with FusionDefinition() as fd:
        rows = fd.ops.sum(fd.define_tensor([6, 3, 5]), [2])
        pairs = fd.ops.sin(fd.ops.reshape(fd.ops.sum(rows, [1]), [3, 2]))
        fd.add_output(fd.ops.reshape(rows, [18]))
        fd.add_output(pairs)
        fd.add_output(fd.ops.slice(pairs, [0, 0], [2, 2]))
    x = torch.randn(6, 3, 5)
    assert "Resize" in fd.fusion.optimize().print_transforms()
    flat, pairs, part = fd.execute([x])
    torch.testing.assert_close(flat, x.sum(2).flatten())
    torch.testing.assert_close(part, x.sum((1, 2)).reshape(3, 2).sin()[:2])
    torch.testing.assert_close(part, pairs[:2])

"""Every scheduler through `execute`, for shapes and layouts of inputs of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition
from nvfuser_direct.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView


def pointwise(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    return [fd.ops.mul(fd.ops.add(x, 1.0), x)]


def row_sums(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    return [fd.ops.sum(fd.ops.mul(x, x), [1])]


def column_sums(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    return [fd.ops.sum(fd.ops.mul(x, x), [0])]


def sum_of_all(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    return [fd.ops.sum(x, [0, 1])]


def softmax_of(dim: int) -> Callable:
    def build(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
        powers = fd.ops.exp(fd.ops.sub(x, fd.ops.max(x, [dim], keepdim=True)))
        return [fd.ops.div(powers, fd.ops.sum(powers, [dim], keepdim=True))]

    return build


def norm_backward(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    """Sums over a row, which the row meets again, and over all rows of what is computed."""
    centred = fd.ops.sub(x, fd.ops.mean(x, [1], keepdim=True))
    return [centred, fd.ops.sum(fd.ops.mul(centred, x), [0])]


def transpose(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    return [fd.ops.add(fd.ops.permute(x, [1, 0]), 1.0)]


def pad(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    return [fd.ops.mul(fd.ops.pad(x, [3, 1]), 2.0)]


def running_sum(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    return [fd.ops.cumsum(fd.ops.add(x, 1.0), 1)]


def view(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
    return [fd.ops.permute(x, [1, 0])]


KINDS: dict[str, Callable] = {
    "pointwise": pointwise,
    "row_sums": row_sums,
    "column_sums": column_sums,
    "sum_of_all": sum_of_all,
    "softmax_of_rows": softmax_of(1),
    "softmax_of_columns": softmax_of(0),
    "norm_backward": norm_backward,
    "transpose": transpose,
    "pad": pad,
    "running_sum": running_sum,
    "view": view,
}
SCHEDULERS = {
    "pointwise": {"pointwise"},
    "row_sums": {"reduction"},
    "column_sums": {"reduction"},
    "sum_of_all": {"reduction"},
    "softmax_of_rows": {"inner_persistent"},
    "softmax_of_columns": {"outer_persistent"},
    "transpose": {"transpose", "pointwise"},  # as large as it is worth a tile
    "pad": {"resize"},
    "running_sum": {"greedy"},
}
SHAPES = [(130, 257), (64, 1024), (3, 5000), (700, 6)]


def laid_out(kind: str, rows: int, columns: int) -> torch.Tensor:
    """A matrix of that shape, whose memory is of a kind."""
    generator = torch.Generator().manual_seed(rows)

    def randn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    match kind:
        case "plain":
            return randn(rows, columns)
        case "misaligned":
            return randn(rows * columns + 1)[1:].view(rows, columns)
        case "sliced":
            return randn(rows + 2, columns + 3)[1:-1, 2:-1]
        case "every other":
            return randn(rows, 2 * columns)[:, ::2]
        case "columns first":
            return randn(columns, rows).t()
        case "repeated rows":
            return randn(1, columns).expand(rows, columns)
        case "repeated columns":
            return randn(rows, 1).expand(rows, columns)
    raise ValueError(kind)


LAYOUTS = ["plain", "misaligned", "sliced", "every other", "columns first", "repeated rows",
           "repeated columns"]  # fmt: skip


def moved(x: torch.Tensor, target: str) -> torch.Tensor:
    """With the same strides and start, on another device."""
    flat = torch.empty(0).set_(x.untyped_storage()).to(target)
    return flat.as_strided(x.shape, x.stride(), x.storage_offset())


def run(build: Callable, x: torch.Tensor) -> FusionDefinition:
    with FusionDefinition() as fd:
        tensor = fd.define_tensor(list(x.shape), list(x.stride()), dtype=DataType.Float)
        for out in build(fd, tensor):
            fd.add_output(out)
    found = fd.execute([x])
    expected = Evaluator(fd.fusion, [x.cpu().double().to(x.device)]).outputs()
    for own, reference in zip(found, expected, strict=True):
        scale = max(1.0, float(reference.abs().max()))
        torch.testing.assert_close(own.double(), reference.double(), rtol=1e-4, atol=1e-5 * scale)
    return fd


@pytest.mark.sanitize
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", list(KINDS))
def test_shapes_of_every_scheduler(target: str, kind: str, shape: tuple[int, int]) -> None:
    fd = run(KINDS[kind], laid_out("plain", *shape).to(target))
    runners = {piece.scheduler.name for piece in fd.fec.last_pieces()}
    assert runners <= SCHEDULERS.get(kind, runners)


@pytest.mark.sanitize
@pytest.mark.parametrize("layout", LAYOUTS[1:])
@pytest.mark.parametrize("kind", list(KINDS))
def test_layouts_of_every_scheduler(target: str, kind: str, layout: str) -> None:
    if kind == "running_sum" and layout == "repeated columns":
        pytest.skip("no scan runs along a repeated element: the operation refuses it")
    run(KINDS[kind], moved(laid_out(layout, 34, 260), target))


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["pointwise", "row_sums", "column_sums", "softmax_of_rows",
                                  "transpose", "pad"])  # fmt: skip
def test_more_than_two_to_the_31_elements(kind: str) -> None:
    """Positions do not fit in 32 bits. Results are compared at both ends."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    rows, columns = 2**16 + 8, 2**15 + 8
    with FusionDefinition() as fd:
        tensor = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        wide = fd.ops.cast(tensor, DataType.Float)
        for out in KINDS[kind](fd, wide):
            fd.add_output(fd.ops.cast(out, DataType.BFloat16))
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    assert x.numel() > 2**31
    (found,) = fd.execute([x])
    for part in (slice(0, 4), slice(-4, None)):
        rows_of = {"transpose": (slice(None), part), "column_sums": (slice(None), part)}
        own = x[rows_of.get(kind, (part, slice(None)))]
        with FusionDefinition() as small:
            tensor = small.define_tensor([-1, -1], dtype=DataType.Double)
            for out in KINDS[kind](small, tensor):
                small.add_output(out)
        (expected,) = Evaluator(small.fusion, [own.double()]).outputs()
        torch.testing.assert_close(found[part].double(), expected, rtol=2e-2, atol=2e-2)

"""Every scheduler through `execute`, for shapes and layouts of inputs of all kinds."""

from __future__ import annotations

import os
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


LARGE = 2**16 + 8, 2**15 + 8  # more than 2^31 elements: positions do not fit in 32 bits
# Where results hang together: the part of the input that the first rows of the result need.
PARTS: dict[str, Callable] = {
    "column_sums": lambda x, part: x[:, part],
    "softmax_of_columns": lambda x, part: x[:, part],
    "transpose": lambda x, part: x[:, part],
    "norm_backward": lambda x, part: x[part],
}


def compare_ends(kind: str, x: torch.Tensor, found: torch.Tensor, read: Callable) -> None:
    """The first and the last rows of the result (columns, where these are computed together)."""
    for part in (slice(0, 4), slice(-4, None)):
        own = PARTS.get(kind, lambda x, part: x[part])(x, part)
        with FusionDefinition() as small:
            tensor = small.define_tensor([-1, -1], dtype=DataType.Double)
            small.add_output(KINDS[kind](small, tensor)[0])
        (expected,) = Evaluator(small.fusion, [own.double()]).outputs()
        result = found[:, part] if kind == "softmax_of_columns" else found[part]
        read(result, expected)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("sum_of_all", "view")])
def test_more_than_two_to_the_31_elements(kind: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    needed = 3 * 2 * LARGE[0] * LARGE[1] + 2**30
    if torch.cuda.mem_get_info()[0] < needed:
        pytest.skip(f"{needed >> 30} GiB of memory are not free")
    with FusionDefinition() as fd:
        tensor = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        for out in KINDS[kind](fd, fd.ops.cast(tensor, DataType.Float)):
            fd.add_output(fd.ops.cast(out, DataType.BFloat16))
    x = torch.randn(LARGE, device="cuda", dtype=torch.bfloat16)
    found = fd.execute([x])[0]
    scale = LARGE[1] ** 0.5 if kind == "running_sum" else 1.0
    compare_ends(
        kind, x, found,
        lambda own, exact: torch.testing.assert_close(
            own.double(), exact, rtol=2e-2, atol=2e-2 * scale
        ),
    )  # fmt: skip


@pytest.mark.gpu
def test_the_sum_of_more_than_two_to_the_31_elements() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    with FusionDefinition() as fd:
        tensor = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Bool)
        fd.add_output(fd.ops.sum(fd.ops.cast(tensor, DataType.Double), [0, 1]))
    x = torch.ones(LARGE, device="cuda", dtype=torch.bool)
    assert fd.execute([x])[0].item() == x.numel()


# A result of each kind is compared with a number that tells its elements apart.
LIMITS = {"transpose": 1.5, "running_sum": 1.5 * LARGE[1], "column_sums": 0.5 * LARGE[0],
          "row_sums": 0.5 * LARGE[1], "softmax_of_columns": 1 / LARGE[0]}  # fmt: skip


@pytest.mark.skipif(
    "NVFUSER_TEST_LARGE" not in os.environ, reason="NVFUSER_TEST_LARGE=1 runs it: 6 GiB, minutes"
)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "view"])
def test_more_than_two_to_the_31_bytes_on_a_processor(kind: str) -> None:
    """Elements are bytes, and so are results."""
    limit = LIMITS.get(kind, 1 / LARGE[1])
    with FusionDefinition() as fd:
        tensor = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Bool)
        for out in KINDS[kind](fd, fd.ops.cast(tensor, DataType.Float)):
            fd.add_output(out if kind == "sum_of_all" else fd.ops.gt(out, limit))
    x = torch.rand(LARGE[1], generator=torch.Generator().manual_seed(0)).lt(0.5).repeat(LARGE[0], 1)
    x[-1].logical_not_()
    found = fd.execute([x])[0]
    if kind == "sum_of_all":
        torch.testing.assert_close(found.item(), float(x.sum()), rtol=1e-6, atol=0)
        return
    compare_ends(kind, x, found, lambda own, exact: torch.testing.assert_close(own, exact > limit))

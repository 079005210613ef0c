"""The scheduler of scans and scatters: values, schedules as text, choices, refusals, segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from scheduled_runs import check_close, check_prints_as_python, check_runs, define, exact, scheduled

from nvfuser_direct import (
    BinaryOpType,
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    schedule,
    segment,
)
from nvfuser_direct.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import HeuristicParams

GREEDY = SchedulerType.greedy


def randoms(shape: tuple[int, ...], dtype: torch.dtype = torch.float64, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    if not dtype.is_floating_point:
        return torch.randint(-100, 100, shape, generator=generator).to(dtype)
    return torch.randn(shape, generator=generator).to(dtype)


def check_for_gpu(fd: FusionDefinition, inputs: list[Any], target: str) -> HeuristicParams:
    """The schedule for a GPU, on any target."""
    here = [x.to(target) for x in inputs]
    fusion, params = scheduled(fd, GREEDY, here, "cuda")
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    for own, reference in zip(executor.run(here), exact(fd.fusion, here), strict=True):
        check_close(own, reference)
    return params


def scanned(dim: int) -> Callable:
    """A scan between maps."""
    return lambda fd, x: fd.ops.mul(fd.ops.cumsum(fd.ops.neg(x), dim), 2.0)


# -- scans --

SHAPES = [((37, 1000), 1), ((37, 1000), 0), ((3, 5, 64), 1), ((5, 8, 3), 0), ((1, 70), 1),
          ((70, 1), 0), ((2000,), 0), ((4, 1), 0), ((300, 6), 1)]  # fmt: skip


@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_scans_between_maps(target: str, shape: tuple[int, ...], dim: int) -> None:
    inputs = [randoms(shape)]
    check_runs(define(scanned(dim), inputs), GREEDY, inputs, target)


@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_scans_as_on_a_gpu(target: str, shape: tuple[int, ...], dim: int) -> None:
    inputs = [randoms(shape)]
    check_for_gpu(define(scanned(dim), inputs), inputs, target)


@pytest.mark.parametrize("shape", [(0, 16), (16, 0)], ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_empty(target: str, shape: tuple[int, int], dim: int) -> None:
    inputs = [randoms(shape)]
    check_runs(define(scanned(dim), inputs), GREEDY, inputs, target)


def test_operands_that_are_strided_expanded_or_broadcast(target: str) -> None:
    inputs = [randoms((50, 40)).t(), randoms((1, 50)).expand(40, 50), randoms((40, 1))]

    def build(fd, x, y, z):
        return fd.ops.add(fd.ops.cumsum(fd.ops.mul(x, y), 1), z)

    fd = define(build, inputs)
    check_runs(fd, GREEDY, inputs, target)


def test_scans_of_scans_and_their_operands_are_outputs(target: str) -> None:
    inputs = [randoms((20, 300))]

    def build(fd, x):
        once = fd.ops.cumsum(x, 1)
        return [once, fd.ops.cumsum(fd.ops.sin(once), 1), fd.ops.neg(x)]

    fd = define(build, inputs)
    check_runs(fd, GREEDY, inputs, target)
    check_for_gpu(fd, inputs, target)


@pytest.mark.parametrize("shape", [(1000,), (24,), (6, 100), (100, 6)], ids=str)
@pytest.mark.parametrize("new_dims", [[True], [True, True], [False, True]], ids=str)
@pytest.mark.parametrize("is_scan_first", [False, True])
def test_an_output_with_broadcasts_beside_a_scan(
    target: str, shape: tuple[int, ...], new_dims: list[bool], *, is_scan_first: bool
) -> None:
    """They read the same loads, and only one of them has loops over the broadcasts."""
    flags = new_dims + [False] * (len(shape) - new_dims.count(False))

    def build(fd, x):
        outputs = [fd.ops.broadcast(x, flags), fd.ops.cumsum(x, 0)]
        return outputs[::-1] if is_scan_first else outputs

    inputs = [randoms(shape)]
    fd = define(build, inputs)
    check_runs(fd, GREEDY, inputs, target)
    check_for_gpu(fd, inputs, target)


@pytest.mark.parametrize("new_dim", [0, 1])
def test_a_row_is_read_by_a_scan_of_it_and_by_a_scan_of_many(target: str, new_dim: int) -> None:
    """Its broadcasts have a loop nest each."""
    flags = [new_dim == 0, new_dim == 1]
    inputs = [randoms((50,)), randoms((30, 50) if new_dim == 0 else (50, 30))]

    def build(fd, x, y):
        many = fd.ops.cumsum(fd.ops.mul(y, fd.ops.broadcast(x, flags)), 1 - new_dim)
        return fd.ops.add(many, fd.ops.broadcast(fd.ops.cumsum(x, 0), flags))

    fd = define(build, inputs)
    check_runs(fd, GREEDY, inputs, target)
    check_for_gpu(fd, inputs, target)


def test_a_scan_of_gathered_rows(target: str) -> None:
    rows = torch.randint(0, 9, (33,), generator=torch.Generator().manual_seed(1))
    inputs = [randoms((9, 64)), rows]
    fd = define(lambda fd, x, at: fd.ops.cumsum(fd.ops.index_select(x, at, 0), 1), inputs)
    check_runs(fd, GREEDY, inputs, target)
    check_for_gpu(fd, inputs, target)


# -- choices --


def choice(shape: tuple[int, ...], dim: int, dtype: torch.dtype = torch.float32) -> Any:
    inputs = [randoms(shape, dtype)]
    fd = define(scanned(dim), inputs)
    return schedule.compute_heuristics(fd.fusion, GREEDY, inputs, "cuda")


def test_threads_of_a_block_scan_long_rows() -> None:
    params = choice((64, 8192), 1)
    assert params.scans_innermost_axis
    assert params.scans_over_threads
    assert params.scan_items == 4
    assert params.lparams.bdimx == 128
    assert params.vector_widths == [4, 4]


def test_short_rows_share_a_block() -> None:
    params = choice((640, 64), 1)
    assert (params.lparams.bdimx, params.lparams.bdimy) == (16, 8)


@pytest.mark.parametrize(("shape", "dim"), [((2,), 0), ((1, 2), 1), ((2, 1), 0)])
def test_a_block_has_no_threads_for_axes_that_are_not_there(
    shape: tuple[int, ...], dim: int
) -> None:
    fd = define(scanned(dim), [randoms(shape)])
    fusion, params = scheduled(fd, GREEDY, [randoms(shape)], "cuda")
    kernel = fusion.print_kernel(target="cuda")
    assert params.lparams.bdimy == 1
    assert params.lparams.bdimx == 1 or "threadIdx.x" in kernel


def test_columns_enough_are_scanned_by_a_thread_each() -> None:
    params = choice((4, 1 << 18), 0)
    assert not params.scans_innermost_axis
    assert not params.scans_over_threads
    assert params.kept_lanes == 4


def test_few_columns_are_scanned_by_several_threads() -> None:
    params = choice((4096, 64), 0)
    assert params.scans_over_threads
    assert params.lparams.bdimy == 16
    assert params.lparams.bdimx == 32


# -- scatters --


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64], ids=str)
def test_scatters_with_maps_around(target: str, dim: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(3)
    at = torch.stack([torch.randperm(20, generator=generator)[:6] for _ in range(6)])
    at = at.t().contiguous() if dim == 0 else at
    shape = (20, 6) if dim == 0 else (6, 20)
    inputs = [randoms(shape, dtype), at, randoms((6, 6), dtype, seed=1)]

    def build(fd, x, at, src):
        return fd.ops.neg(fd.ops.scatter(fd.ops.add(x, x), at, fd.ops.abs(src), dim))

    check_runs(define(build, inputs), GREEDY, inputs, target)


# -- refusals --


def refusal(build: Callable, *inputs: torch.Tensor) -> str:
    taken, why = schedule.can_schedule(define(build, inputs).fusion, GREEDY, inputs)
    assert not taken
    return why


def test_maps_are_for_pointwise() -> None:
    why = refusal(lambda fd, x: fd.ops.neg(x), randoms((4, 8)))
    assert "No scan and no scatter to schedule" in why


def test_scatters_that_combine_are_evaluated() -> None:
    def build(fd, x, at):
        return fd.ops.scatter(x, at, fd.ops.neg(x), 0, BinaryOpType.Add)

    at = torch.zeros(4, 8, dtype=torch.int64)
    assert "a scatter has writers that meet" in refusal(build, randoms((4, 8)), at)


def test_an_operand_that_is_the_source_as_well_is_not_overwritten() -> None:
    build = lambda fd, x, at: fd.ops.scatter(x, at, x, 0)  # noqa: E731
    x, at = randoms((2, 3)), torch.tensor([[1, 0, 1], [0, 1, 0]])
    fd = define(build, [x, at], static_sizes=True)
    taken, why = schedule.can_schedule(fd.fusion.optimize(), GREEDY, [x, at])  # without copies
    assert not taken
    assert "a scatter reads what it overwrites" in why
    (out,) = fd.execute([x, at])
    torch.testing.assert_close(out, x.scatter(0, at, x), rtol=0, atol=0)


def test_an_update_of_one_element_is_evaluated() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([1], dtype=DataType.Double)
        at = fd.define_tensor([1], dtype=DataType.Int)
        fd.add_output(fd.ops.scatter(x, at, 3.0, 0), x)
    data = randoms((1,))
    inputs = [data, torch.zeros(1, dtype=torch.int64)]
    taken, why = schedule.can_schedule(fd.fusion, GREEDY, inputs)
    assert not taken
    assert "an update of one element has no loop" in why
    fd.execute(inputs)
    assert data.item() == 3.0


def test_one_element_that_updates_one_of_many_is_evaluated() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=[True, None], dtype=DataType.Double)
        at = fd.define_tensor([1, 1], dtype=DataType.Int)
        fd.add_output(fd.ops.scatter(x, at, 3.0, 0), x)
    data = randoms((10, 1))
    wanted = data.clone()
    wanted[7] = 3.0
    inputs = [data, torch.full((1, 1), 7)]
    taken, why = schedule.can_schedule(fd.fusion, GREEDY, inputs)
    assert not taken
    assert "an update of one element has no loop" in why
    fd.execute(inputs)
    torch.testing.assert_close(data, wanted, rtol=0, atol=0)
    assert GREEDY not in [piece.scheduler for piece in fd.fec.last_pieces()]


def test_a_scatter_of_what_is_computed_from_its_input_is_copied_into_it(target: str) -> None:
    """Another thread would read an element that the scatter has written."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Double)
        at = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.scatter(x, at, fd.ops.neg(x), 0), x)
    data = randoms((30, 40)).to(target)
    at = torch.stack([torch.randperm(30) for _ in range(40)], 1).to(target)
    taken, why = schedule.can_schedule(fd.fusion, GREEDY, [data, at])
    assert not taken
    assert why.endswith("because : an input is updated in place while other threads read it")
    wanted = data.scatter(0, at, -data)
    fd.execute([data, at])
    torch.testing.assert_close(data, wanted, rtol=0, atol=0)
    assert GREEDY in [piece.scheduler for piece in fd.fec.last_pieces()]


@pytest.mark.parametrize("source", ["given", "negated"])
def test_a_scatter_updates_the_input_that_it_overwrites(target: str, source: str) -> None:
    """The overwritten tensor is the input, or computed from it alone."""
    with FusionDefinition() as fd:
        x, src = (fd.define_tensor([-1], contiguity=True, dtype=DataType.Double) for _ in range(2))
        at = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        overwritten = fd.ops.neg(x) if source == "negated" else x
        fd.add_output(fd.ops.scatter(overwritten, at, src, 0), x)
    data, values = (randoms((300,), seed=seed).to(target) for seed in (1, 2))
    at = torch.randperm(300).to(target)[:100]
    inputs = [data, values[:100], at]
    taken, why = schedule.can_schedule(fd.fusion, GREEDY, inputs)
    assert taken, why
    before = -data if source == "negated" else data.clone()
    fd.execute(inputs)
    torch.testing.assert_close(data, before.scatter(0, at, values[:100]), rtol=0, atol=0)
    assert [piece.scheduler for piece in fd.fec.last_pieces()] == [GREEDY]


@pytest.mark.parametrize("shape", [(4, 4, 1), (1, 37, 50), (300, 1, 6)], ids=str)
@pytest.mark.parametrize("is_update_last", [False, True])
@pytest.mark.parametrize("scheduled_for", ["cpu", "cuda"])
def test_an_update_has_an_axis_of_size_1_of_its_own(
    target: str, shape: tuple[int, ...], *, is_update_last: bool, scheduled_for: str
) -> None:
    """Loops over it and over that of the other output are as long: it is updated once."""
    dim = shape.index(1)
    with FusionDefinition() as fd:
        x = fd.define_tensor([1 if size == 1 else -1 for size in shape], contiguity=True)
        summed = fd.ops.cumsum(x, (dim + 1) % 3)
        wide = fd.ops.broadcast(
            fd.ops.neg(fd.ops.squeeze(summed, [dim])), [i == dim for i in range(3)]
        )
        outputs = [(wide, x), (fd.ops.tanh(summed), None)]
        for out, updated in reversed(outputs) if is_update_last else outputs:
            fd.add_output(out, updated)
    data = randoms(shape, torch.float32).to(target)
    copies = [data.clone(), data.clone()]
    wanted = Evaluator(fd.fusion, [data.clone()]).outputs()
    fusion, params = scheduled(fd, GREEDY, copies[:1], scheduled_for)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, copies[:1])
    results = [
        executor.run(copies[:1], params.lparams, params.cparams),
        fd.execute(copies[1:]),
    ]
    for copy, (out,) in zip(copies, results, strict=True):
        check_close(copy, wanted[1 if is_update_last else 0])
        check_close(out, wanted[0 if is_update_last else 1])
    assert [piece.scheduler for piece in fd.fec.last_pieces()] == [GREEDY]


def test_two_axes_are_two_kernels() -> None:
    def build(fd, x):
        return fd.ops.cumsum(fd.ops.cumsum(x, 0), 1)

    assert "two axes are scanned" in refusal(build, randoms((4, 8)))


@pytest.mark.parametrize("new_dim", [0, 1])
@pytest.mark.parametrize("computed", ["scanned", "a map"])
def test_a_row_that_several_nests_would_compute_is_refused(new_dim: int, computed: str) -> None:
    flags = [new_dim == 0, new_dim == 1]
    inputs = [randoms((50,)), randoms((30, 50) if new_dim == 0 else (50, 30))]

    def build(fd, x, y):
        row = fd.ops.cumsum(x, 0) if computed == "scanned" else fd.ops.sin(x)
        again = fd.ops.neg(row) if computed == "scanned" else fd.ops.cumsum(row, 0)
        scaled = fd.ops.mul(fd.ops.broadcast(row, flags), y)
        return fd.ops.add(scaled, fd.ops.broadcast(again, flags))

    fd = define(build, inputs)
    taken, why = schedule.can_schedule(fd.fusion, GREEDY, inputs)
    assert not taken
    assert why.endswith("because : a row is repeated in several loop nests")
    (out,) = fd.execute(inputs)
    check_close(out, Evaluator(fd.fusion, inputs).outputs()[0])
    assert {piece.scheduler for piece in fd.fec.last_pieces()} <= {GREEDY, SchedulerType.pointwise}
    assert not any(piece.refused for piece in fd.fec.last_pieces())


def test_reductions_are_refused() -> None:
    def build(fd, x):
        return fd.ops.sum(fd.ops.cumsum(x, 0), [1])

    assert "no support for reduction ops" in refusal(build, randoms((4, 8)))


def test_a_scanned_axis_is_not_reshaped() -> None:
    def build(fd, x):
        return fd.ops.flatten(fd.ops.cumsum(x, 0), 0, 1)

    assert "a scanned axis has no loop of its own" in refusal(build, randoms((4, 8)))


# -- segments --


def kinds(build: Callable, *inputs: torch.Tensor) -> list[str]:
    plan = segment(define(build, inputs).fusion, inputs)
    return [group.scheduler.name for group in plan.groups]


def test_a_scan_shares_a_segment_with_maps() -> None:
    assert kinds(scanned(1), randoms((8, 16))) == ["greedy"]


def test_scans_along_two_axes_are_two_segments() -> None:
    def build(fd, x):
        return fd.ops.cumsum(fd.ops.sin(fd.ops.cumsum(x, 0)), 1)

    assert kinds(build, randoms((8, 16))) == ["greedy", "greedy"]


def test_a_scan_is_cut_from_a_reduction() -> None:
    def build(fd, x):
        return fd.ops.sum(fd.ops.cumsum(x, 1), [1])

    assert kinds(build, randoms((8, 16))) == ["greedy", "reduction"]


def test_a_scatter_has_a_segment_of_its_own() -> None:
    def build(fd, x, at):
        return fd.ops.exp(fd.ops.scatter(fd.ops.sin(x), at, fd.ops.neg(x), 0))

    at = torch.arange(8)[:, None].expand(8, 16).contiguous()
    assert "greedy" in kinds(build, randoms((8, 16)), at)

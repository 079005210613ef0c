"""The scheduler of reductions: values, schedules as text, params, and what it refuses."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import check_close, check_prints_as_python, check_runs, define

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    UserError,
    evaluate,
    schedule,
    translate_fusion,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import ReductionParams

REDUCTION = SchedulerType.reduction
F = DataType.Float
NVF = {
    torch.float32: DataType.Float,
    torch.float64: DataType.Double,
    torch.float16: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
}


@pytest.fixture(params=["cuda", "cpu"])
def made_for(request: pytest.FixtureRequest) -> str:
    """The target of the schedule. A schedule for one computes the same on the other."""
    return request.param


def positive(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    """Sums of these lose no digits."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(shape, generator=generator, dtype=torch.float64) + 0.5).to(dtype)


def check(
    fd: FusionDefinition,
    inputs: Sequence[torch.Tensor],
    target: str,
    made_for: str,
    expected: Sequence[torch.Tensor] | None = None,
) -> ReductionParams:
    """Schedule, print, compile, run, and compare with the evaluator unless something is given."""
    here = [x.to(target) for x in inputs]
    fusion = fd.fusion.clone()
    params = schedule.schedule(fusion, REDUCTION, here, made_for)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    found = executor.run(here, params.lparams, params.cparams)
    wanted = evaluate(fd.fusion, here) if expected is None else expected
    for own, reference in zip(found, wanted, strict=True):
        check_close(own, reference)
    return params


def reduced(op: str, dims: list[int], keepdim: bool = False) -> Callable:
    """In float, rounded to the type of the operand."""

    def build(fd, x):
        wide = x if x.dtype() in (F, DataType.Double) else fd.ops.cast(x, F)
        y = getattr(fd.ops, op)(wide, dims, keepdim)
        return y if y.dtype() == x.dtype() else fd.ops.cast(y, x.dtype())

    return build


# -- values --

SHAPES = {
    "rows": ((33, 1000), [1]),
    "short rows": ((1000, 7), [1]),
    "rows of one": ((50, 1), [1]),
    "one long row": ((1, 70000), [1]),
    "few long rows": ((3, 20001), [1]),
    "all": ((12345,), [0]),
    "all of two": ((100, 130), [0, 1]),
    "columns": ((1000, 256), [0]),
    "odd columns": ((1001, 37), [0]),
    "long columns": ((20000, 8), [0]),
    "wide columns": ((2051, 2053), [0]),
    "few rows of columns": ((5, 3000), [0]),
    "one column": ((5000, 1), [0]),
    "one row": ((1, 300), [0]),
    "sides": ((20, 30, 40), [0, 2]),
    "middle": ((20, 30, 40), [1]),
    "outer and middle": ((20, 30, 64), [0, 1]),
    "every second": ((4, 5, 6, 8), [0, 2]),
    "every other": ((4, 5, 6, 8), [1, 3]),
    "no rows": ((0, 12), [1]),
    "no elements": ((12, 0), [1]),
    "no elements in columns": ((0, 12), [0]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(target: str, made_for: str, shape: str) -> None:
    size, dims = SHAPES[shape]
    x = positive(*size)
    fd = define(reduced("sum", dims), [x])
    if all(size[d] == 1 for d in dims):  # a squeeze
        assert not schedule.can_schedule(fd.fusion, REDUCTION, [x], made_for)[0]
        return
    check(fd, [x], target, made_for, [x.double().sum(dims)])


def moments(dims: list[int], scale: float) -> Callable:
    """Mean and variance, as sums of elements and of squared differences from the mean."""

    def build(fd, x):
        ops = fd.ops
        wide = x if x.dtype() == F else ops.cast(x, F)
        mean = ops.mul(ops.sum(wide, dims, True), scale)
        difference = ops.sub(wide, mean)
        return mean, ops.mul(ops.sum(ops.mul(difference, difference), dims, True), scale)

    return build


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("shape", "dims"),
    [((40000, 16), [0]), ((30011, 3), [0]), ((300, 3, 401), [0, 2]), ((200, 4, 1000), [0, 2])],
    ids=str,
)
def test_moments_in_one_pass(
    target: str, shape: tuple[int, ...], dims: list[int], dtype: torch.dtype
) -> None:
    generator = torch.Generator().manual_seed(0)
    x = (torch.randn(shape, generator=generator, dtype=torch.float64) + 10).to(dtype)
    fd = define(moments(dims, 1.0 / math.prod(shape[d] for d in dims)), [x])
    wide = x.double()
    mean = wide.mean(dims, keepdim=True)
    check(fd, [x], target, "cuda", [mean, (wide - mean).square().mean(dims, keepdim=True)])


@pytest.mark.parametrize(
    ("shape", "dims", "threads"),
    [
        ((1, 43, 5000, 1), [1, 3], (1, 256)),
        ((3000, 2, 10, 2), [0, 3], (8, 20)),
        ((40, 600, 3), [0, 2], (4, 64)),
        ((5000, 2, 3), [0, 2], (128, 2)),
    ],
    ids=str,
)
def test_results_that_lie_between_what_is_summed_have_neighbouring_threads(
    target: str, shape: tuple[int, ...], dims: list[int], threads: tuple[int, int]
) -> None:
    x = positive(*shape)
    with FusionDefinition() as fd:
        operand = fd.define_tensor([-1] * len(shape), contiguity=True)  # none is a broadcast
        fd.add_output(fd.ops.sum(operand, dims))
    params = check(fd, [x], target, "cuda", [x.double().sum(dims)])
    assert (params.lparams.bdimx, params.lparams.bdimy) == threads


def test_moments_have_one_pass_only_where_elements_do_not_stay_on_chip() -> None:
    def is_taken(*shape: int, made_for: str = "cuda") -> bool:
        x = torch.empty(shape)
        fd = define(moments([0], 1.0 / shape[0]), [x])
        return schedule.can_schedule(fd.fusion, REDUCTION, [x], made_for)[0]

    assert is_taken(1 << 20, 64)
    assert not is_taken(64, 1 << 16)
    assert not is_taken(1 << 20, 64, made_for="cpu")


def test_differences_that_are_read_otherwise_are_no_moments() -> None:
    def build(fd, x):
        ops = fd.ops
        difference = ops.sub(x, ops.mean(x, [0], True))
        return ops.sum(ops.mul(difference, difference), [0]), ops.max(difference, [0])

    x = torch.empty(1 << 20, 64)
    fd = define(build, [x])
    assert not schedule.can_schedule(fd.fusion, REDUCTION, [x], "cuda")[0]


@pytest.mark.parametrize("count", [7, 70001, 65536])
def test_two_sums_of_one_cast(target: str, made_for: str, count: int) -> None:
    """Also where elements are loaded one by one."""

    def build(fd, x):
        wide = fd.ops.cast(x, F)
        return fd.ops.sum(wide, [0]), fd.ops.sum(fd.ops.mul(wide, wide), [0])

    x = positive(count, dtype=torch.bfloat16)
    fd = define(build, [x])
    check(fd, [x], target, made_for, [x.double().sum(), x.double().square().sum()])


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str
)
@pytest.mark.parametrize(
    ("op", "dims"), [("sum", [0]), ("sum", [1]), ("max", [0]), ("min", [1]), ("mean", [0, 1])]
)
def test_dtypes(target: str, made_for: str, dtype: torch.dtype, op: str, dims: list[int]) -> None:
    x = positive(65, 264, dtype=dtype)
    wide = x.double()
    expected = {
        "sum": wide.sum(dims),
        "mean": wide.mean(dims),
        "max": wide.amax(dims),
        "min": wide.amin(dims),
    }[op]
    check(define(reduced(op, dims), [x]), [x], target, made_for, [expected.to(dtype)])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32], ids=str)
@pytest.mark.parametrize("dims", [[0], [1]], ids=str)
def test_integers(target: str, made_for: str, dtype: torch.dtype, dims: list[int]) -> None:
    x = torch.randint(-1000, 1000, (70, 130), dtype=dtype)
    fd = define(lambda fd, x: (fd.ops.sum(x, dims), fd.ops.max(x, dims)), [x])
    check(fd, [x], target, made_for)


@pytest.mark.parametrize("dims", [[0], [2], [0, 2]], ids=str)
def test_reduced_dimensions_are_kept(target: str, made_for: str, dims: list[int]) -> None:
    x = positive(12, 7, 40)
    fd = define(reduced("sum", dims, keepdim=True), [x])
    check(fd, [x], target, made_for, [x.double().sum(dims, keepdim=True)])


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "transposed": lambda x: x.t(),
    "every second column": lambda x: x[:, ::2],
    "every second row": lambda x: x[::2],
    "without the first column": lambda x: x[:, 1:],
    "without the first rows": lambda x: x[3:],
    "part of the columns": lambda x: x[:, : x.shape[1] // 2],
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dims", [[0], [1]], ids=str)
def test_layouts(
    target: str, made_for: str, layout: str, dtype: torch.dtype, dims: list[int]
) -> None:
    """A tensor that is not aligned is not vectorized."""
    x = LAYOUTS[layout](positive(64, 128, dtype=dtype).to(target))
    fd = define(reduced("sum", dims), [x])
    fusion = fd.fusion.clone()
    params = schedule.schedule(fusion, REDUCTION, [x], made_for)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    (found,) = executor.run([x], params.lparams, params.cparams)
    check_close(found, x.double().sum(dims).to(dtype))


def test_several_reductions_share_a_kernel(target: str, made_for: str) -> None:
    def build(fd, x, y):
        product = fd.ops.mul(x, y)
        return fd.ops.sum(product, [1]), fd.ops.max(x, [1]), fd.ops.sum(fd.ops.neg(y), [1])

    inputs = [positive(37, 500, seed=seed) for seed in range(2)]
    x, y = (t.double() for t in inputs)
    expected = [(x * y).sum(1), x.amax(1), -y.sum(1)]
    check(define(build, inputs), inputs, target, made_for, expected)


@pytest.mark.parametrize("dims", [[0], [1]], ids=str)
def test_results_of_grids_that_meet(target: str, made_for: str, dims: list[int]) -> None:
    """Each of few results is shared by several blocks."""
    x = positive(*((3, 70000) if dims == [1] else (70000, 3)))
    fd = define(lambda fd, x: fd.ops.div(fd.ops.sum(x, dims), fd.ops.max(x, dims)), [x])
    params = check(fd, [x], target, made_for, [x.double().sum(dims) / x.double().amax(dims)])
    assert params.blocks_per_reduction > 1


@pytest.mark.parametrize("shape", [(40, 300), (3, 9000), (9000, 16)], ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_moments(target: str, made_for: str, shape: tuple[int, int], dim: int) -> None:
    x = positive(*shape)
    fd = define(lambda fd, x: fd.ops.welford(x, [dim])[:2], [x])
    wide = x.double()
    deviations = (wide - wide.mean(dim, keepdim=True)).square().sum(dim)
    check(fd, [x], target, made_for, [wide.mean(dim), deviations])


def test_operands_are_computed_and_stored(target: str, made_for: str) -> None:
    def build(fd, x, b):
        y = fd.ops.mul(x, fd.ops.broadcast(b, [True, False]))
        return y, fd.ops.sum(y, [1])

    x, b = positive(33, 130), positive(130, seed=1)
    product = x.double() * b.double()
    check(define(build, [x, b]), [x, b], target, made_for, [product, product.sum(1)])


@pytest.mark.parametrize("dims", [[0, 1], [1, 2], [0, 1, 2]], ids=str)
def test_operands_that_lack_some_of_the_reduced_axes(
    target: str, made_for: str, dims: list[int]
) -> None:
    def build(fd, x, b):
        return fd.ops.sum(fd.ops.mul(x, fd.ops.broadcast(b, [True, True, False])), dims)

    x, b = positive(24, 10, 60), positive(60, seed=1)
    expected = (x.double() * b.double()).sum(dims)
    check(define(build, [x, b]), [x, b], target, made_for, [expected])


@pytest.mark.parametrize("dim", [0, 1])
def test_results_meet_inputs_of_their_shape(target: str, made_for: str, dim: int) -> None:
    x = positive(48, 64)
    b = positive(x.shape[1 - dim], seed=1)
    fd = define(lambda fd, x, b: fd.ops.mul(fd.ops.sum(x, [dim]), b), [x, b])
    check(fd, [x, b], target, made_for, [x.double().sum(dim) * b.double()])


@pytest.mark.parametrize("dims", [[0], [1], [0, 1], [2], [1, 2, 3], [0, 2, 4], [1, 3]], ids=str)
def test_reshaped_operands(target: str, made_for: str, dims: list[int]) -> None:
    x = positive(2, 32, 4, 4, dtype=torch.float16)
    with FusionDefinition() as fd:
        tx = fd.define_tensor([2, 32, 4, 4], contiguity=True, dtype=DataType.Half)
        y = fd.ops.reshape(fd.ops.cast(tx, F), [2, 8, 4, 4, 4])
        fd.add_output(fd.ops.sum(y, dims))
    check(fd, [x], target, made_for, [x.double().view(2, 8, 4, 4, 4).sum(dims)])


def test_chosen_elements_leave_the_loads(target: str, made_for: str) -> None:
    """A gather reads an input."""

    def build(fd, x, y, index):
        chosen = fd.ops.take_along_axis(y, fd.ops.broadcast(index, [False, True]), 1)
        return fd.ops.sub(fd.ops.sum(x, [1]), fd.ops.squeeze(chosen, [1]))

    inputs = [positive(20, 64), positive(20, 64, seed=1), torch.randint(0, 64, (20,))]
    x, y, index = inputs
    expected = x.double().sum(1) - y.double().gather(1, index[:, None])[:, 0]
    check(define(build, inputs), inputs, target, made_for, [expected])


# -- how exact --


@pytest.mark.parametrize("size", [700, 2**13, 2**16 - 37, 2**20])
def test_sums_are_as_exact_as_pairwise_sums(target: str, size: int) -> None:
    fd = define(lambda fd, x: fd.ops.sum(x, [0]), [positive(size)])
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, REDUCTION, [positive(size).to(target)])
    executor = KernelExecutor()
    executor.compile(fusion, [positive(size).to(target)])
    own, pairs = [], []
    for seed in range(20):
        x = torch.randn(size, generator=torch.Generator().manual_seed(seed)) + 1e3
        exact = x.double().sum()
        parts = x
        while parts.numel() > 1:
            parts = torch.nn.functional.pad(parts, (0, parts.numel() % 2))
            parts = parts[0::2] + parts[1::2]
        for errors, found in ((own, executor.run([x.to(target)])[0].cpu()), (pairs, parts[0])):
            errors.append(((found.double() - exact).abs() / (exact.abs() * 2**-24)).item())
    assert sum(own) <= 1.5 * sum(pairs) + 1
    assert max(own) < 2


# -- what is chosen --


def chosen(x: torch.Tensor, dims: list[int], made_for: str = "cuda") -> ReductionParams:
    fd = define(reduced("sum", dims), [x])
    return schedule.compute_heuristics(fd.fusion, REDUCTION, [x], made_for)


def test_short_rows_share_a_block() -> None:
    params = chosen(torch.empty(10000, 64), [1])
    assert (params.lparams.bdimx, params.lparams.bdimy) == (16, 8)
    assert params.multiple_reds_per_blk


def test_few_rows_are_shared_by_blocks() -> None:
    params = chosen(torch.empty(4, 1 << 20), [1])
    assert params.cross_grid_inner_reduction
    assert params.blocks_per_reduction == params.lparams.gdimy > 100


@pytest.mark.parametrize("rows", [1, 64], ids=str)
def test_blocks_that_share_rows_are_there_at_once(rows: int) -> None:
    """Their shares are equal: blocks that begin when others end would leave memory idle. Threads
    with eight vectors loaded need some 48 registers."""
    params = chosen(torch.empty(rows, 1 << 26 if rows == 1 else 1 << 20), [1])
    most_of_sm = 65536 // (params.lparams.bdimx * 48)
    assert 132 * most_of_sm // 2 < rows * params.blocks_per_reduction <= 132 * most_of_sm


def test_rows_of_columns_share_accumulators() -> None:
    """A task of a processor adds several rows to its columns at once, fewer of several inputs."""

    def of_product(fd, *inputs):
        product = functools.reduce(fd.ops.mul, inputs)
        return fd.ops.sum(product, [0])

    x = positive(1000, 2048)
    for inputs, rows in (1, 8), (2, 4), (3, 2):
        fd = define(of_product, [x] * inputs)
        params = schedule.compute_heuristics(fd.fusion, REDUCTION, [x] * inputs, "cpu")
        assert params.unroll_factor_inner_reduction == rows
        check(fd, [x] * inputs, "cpu", "cpu", [(x.double() ** inputs).sum([0])])
    few = define(reduced("sum", [0]), [x[:3]])
    assert (
        schedule.compute_heuristics(
            few.fusion, REDUCTION, [x[:3]], "cpu"
        ).unroll_factor_inner_reduction
        == 2
    )


def test_columns_are_neighbours_of_threads() -> None:
    params = chosen(torch.empty(4096, 4096), [0])
    assert not params.fastest_dim
    assert (params.unroll_factor_iter_dom, params.lparams.bdimx) == (4, 32)


def test_short_sums_of_many_columns_have_rounds_of_loads() -> None:
    """A thread adds up many of them: the others of its block have columns of their own."""
    params = chosen(torch.empty(63, 1_638_421), [0])
    assert (params.lparams.bdimx, params.lparams.bdimy) == (128, 2)
    few_columns = chosen(torch.empty(63, 20_001), [0])
    assert few_columns.lparams.bdimx == 32


def test_edited_params_are_applied(target: str) -> None:
    x = positive(64, 1000).to(target)
    fd = define(reduced("sum", [1]), [x])
    params = schedule.compute_heuristics(fd.fusion, REDUCTION, [x], "cuda")
    params.unroll_factor_top_of_vectorization = 2
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, REDUCTION, params)
    assert "2" in translate_fusion(fusion, schedule=True)
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    check_close(executor.run([x], params.lparams)[0], x.double().sum(1))


def test_loads_stand_before_the_first_use() -> None:
    fd = define(reduced("sum", [1]), [torch.empty(4096, 8192)])
    schedule.schedule(fd.fusion, REDUCTION, [torch.empty(4096, 8192)], "cuda")
    text = cuda_text(fd.fusion)
    assert "i7 < 8; ++i7" in text  # a loop of its own for eight vectors
    assert text.index("load_vector<4") < text.index("T4[i3] + T2")


# -- what is refused --


def reason(build: Callable, *inputs: torch.Tensor) -> str:
    fd = define(build, inputs)
    accepted, text = schedule.can_schedule(fd.fusion, REDUCTION, inputs, "cpu")
    assert not accepted
    return text


def test_a_reshape_there_and_back_has_the_loops_of_its_operand(target: str) -> None:
    """The sum of what is reshaped back is over the same axes as that of the operand."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([12, 40], contiguity=True)
        back = fd.ops.reshape(fd.ops.reshape(x, [480]), [12, 40])
        for out in (fd.ops.max(x, [0, 1]), fd.ops.sub(x, back), fd.ops.sum(back, [0, 1])):
            fd.add_output(out)
    check_runs(fd, REDUCTION, [positive(12, 40)], target)


def test_fusions_without_reductions_are_refused() -> None:
    text = reason(lambda fd, x: fd.ops.neg(x), positive(4, 5))
    assert text == ("Scheduler _reduction_ ***rejected*** because : No reduction op to schedule")


def test_reductions_over_different_axes_are_refused() -> None:
    text = reason(lambda fd, x: (fd.ops.sum(x, [0]), fd.ops.sum(x, [1])), positive(4, 5))
    assert "Un-mapped multi-reduction: " in text


def test_elements_that_meet_their_sum_are_refused() -> None:
    text = reason(
        lambda fd, x: fd.ops.div(x, fd.ops.broadcast(fd.ops.sum(x, [1]), [False, True])),
        positive(4, 5),
    )
    assert text.endswith("need persistent buffers that reduction scheduler doesn't handle")


def test_other_elements_that_meet_a_sum_are_refused() -> None:
    text = reason(
        lambda fd, x, y: (
            fd.ops.add(x, y),
            fd.ops.div(y, fd.ops.broadcast(fd.ops.sum(x, [1]), [False, True])),
        ),
        positive(4, 5),
        positive(4, 5),
    )
    assert text.endswith("has unsupported post reduction fusion")


def test_axes_that_no_reduction_has_are_refused() -> None:
    text = reason(lambda fd, x, y: (fd.ops.sum(x, [1]), fd.ops.neg(y)), positive(4, 5), positive(3))
    assert text.endswith("Output contains ID that's not scheduled by reference tv.")


def test_a_second_schedule_is_refused() -> None:
    x = positive(4, 5)
    fd = define(reduced("sum", [1]), [x])
    schedule.schedule(fd.fusion, REDUCTION, [x], "cpu")
    with pytest.raises(UserError, match="has a schedule already"):
        schedule.schedule(fd.fusion, REDUCTION, [x], "cpu")


def test_what_is_merged_again_has_no_loops_over_what_is_reduced(target: str, made_for: str) -> None:
    """`met` has the loops of the input that it meets; `merged` would need those of its parts."""
    x = positive(8, dtype=torch.float64)
    with FusionDefinition() as fd:
        tensor = fd.define_tensor([8], dtype=DataType.Double)
        parts = fd.ops.reshape(tensor, [4, 2])
        sine = fd.ops.sin(parts)
        met = fd.ops.add(fd.ops.tanh(tensor), fd.ops.reshape(parts, [8]))
        merged = fd.ops.reshape(sine, [8])
        for out in (fd.ops.max(sine, [1]), merged, met):
            fd.add_output(out)
    taken, why = schedule.can_schedule(fd.fusion, REDUCTION, [x], made_for)
    assert not taken
    assert why.endswith("because : View may interfere with reduction scheduling.")
    results = fd.execute([x.to(target)])
    expected = [x.reshape(4, 2).sin().amax(1), x.sin(), x.tanh() + x]
    for own, reference in zip(results, expected, strict=True):
        check_close(own.cpu(), reference)
    assert not any(piece.refused for piece in fd.fec.last_pieces())

"""The schedulers of norms, which keep rows or columns on chip: values, schedules as text, params,
and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
import torch.nn.functional as F
from cuda_kernels import cuda_text
from scheduled_runs import check_prints_as_python, define

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, SchedulerType, schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import ReductionParams, TensorView

INNER, OUTER = SchedulerType.inner_persistent, SchedulerType.outer_persistent
FLOAT = DataType.Float
# For values around 1, from which others like them were subtracted.
TOLERANCES = {
    torch.float64: (1e-12, 1e-12),
    torch.float32: (2e-5, 2e-5),
    torch.float16: (2e-3, 4e-3),
    torch.bfloat16: (1.6e-2, 3e-2),
}
DTYPES = list(TOLERANCES)


@pytest.fixture(params=["cuda", "cpu"])
def made_for(request: pytest.FixtureRequest) -> str:
    """The target of the schedule. A schedule for one computes the same on the other."""
    return request.param


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def check(
    scheduler: SchedulerType,
    build: Callable,
    inputs: Sequence[torch.Tensor],
    target: str,
    made_for: str,
    expected: Sequence[torch.Tensor],
) -> ReductionParams:
    """Schedule, print, compile, run, and compare with what was computed in float64."""
    here = [x.to(target) for x in inputs]
    fusion = define(build, here).fusion
    params = schedule.schedule(fusion, scheduler, here, made_for)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    found = executor.run(here, params.lparams, params.cparams)
    for own, reference in zip(found, expected, strict=True):
        rtol, atol = TOLERANCES[own.dtype]
        torch.testing.assert_close(own.cpu().double(), reference.double(), rtol=rtol, atol=atol)
    return params


def wide(fd: FusionDefinition, x: TensorView) -> TensorView:
    return x if x.dtype() in (FLOAT, DataType.Double) else fd.ops.cast(x, FLOAT)


def narrow(fd: FusionDefinition, y: TensorView, x: TensorView) -> TensorView:
    return y if y.dtype() == x.dtype() else fd.ops.cast(y, x.dtype())


def softmax(dims: list[int]) -> Callable:
    def build(fd, x):
        ops, w = fd.ops, wide(fd, x)
        e = ops.exp(ops.sub(w, ops.max(w, dims, True)))
        return narrow(fd, ops.div(e, ops.sum(e, dims, True)), x)

    return build


def centred(fd: FusionDefinition, x: TensorView, dims: list[int]) -> tuple[TensorView, TensorView]:
    """x - mean and 1 / std."""
    c = fd.ops.sub(x, fd.ops.mean(x, dims, True))
    var = fd.ops.mean(fd.ops.mul(c, c), dims, True)
    return c, fd.ops.rsqrt(fd.ops.add(var, 1e-5))


def norm(dims: list[int]) -> Callable:
    def build(fd, x):
        c, rstd = centred(fd, wide(fd, x), dims)
        return narrow(fd, fd.ops.mul(c, rstd), x)

    return build


def normalized(x: torch.Tensor, dims: list[int]) -> torch.Tensor:
    c = x.double() - x.double().mean(dims, keepdim=True)
    return c * torch.rsqrt(c.square().mean(dims, keepdim=True) + 1e-5)


# -- rows --

ROWS = [(33, 1000), (5, 7), (1, 512), (300, 64), (2, 20000), (40, 4096), (1000, 2), (7, 1001)]


@pytest.mark.parametrize("shape", ROWS, ids=str)
def test_softmax_of_rows(target: str, made_for: str, shape: tuple[int, int]) -> None:
    x = random(*shape)
    check(INNER, softmax([1]), [x], target, made_for, [x.double().softmax(1)])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(33, 264), (6, 5001)], ids=str)
def test_norms_of_rows(
    target: str, made_for: str, shape: tuple[int, int], dtype: torch.dtype
) -> None:
    x = random(*shape, dtype=dtype)
    check(INNER, norm([1]), [x], target, made_for, [normalized(x, [1])])


@pytest.mark.parametrize("dims", [[1, 2], [2], [0, 2], [0, 1, 2]], ids=str)
def test_norms_over_several_dimensions(target: str, made_for: str, dims: list[int]) -> None:
    x = random(6, 10, 36)
    check(INNER, norm(dims), [x], target, made_for, [normalized(x, dims)])


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "every second column": lambda x: x[:, ::2],
    "every second row": lambda x: x[::2],
    "without the first column": lambda x: x[:, 1:],
    "without the first rows": lambda x: x[3:],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(target: str, made_for: str, layout: str) -> None:
    x = LAYOUTS[layout](random(24, 256, dtype=torch.bfloat16))
    check(INNER, norm([1]), [x], target, made_for, [normalized(x, [1])])


def test_weights_and_statistics(target: str, made_for: str) -> None:
    """Outputs of several shapes, inputs that all rows share."""

    def build(fd, x, w, b):
        ops = fd.ops
        mean = ops.mean(wide(fd, x), [1])
        c, rstd = centred(fd, wide(fd, x), [1])
        over = [True, False]
        y = ops.mul(ops.mul(c, rstd), ops.broadcast(wide(fd, w), over))
        y = ops.add(y, ops.broadcast(wide(fd, b), over))
        return narrow(fd, y, x), mean, ops.squeeze(rstd, [1])

    x, w, b = random(37, 520), random(520, seed=1), random(520, seed=2)
    expected = [
        normalized(x, [1]) * w.double() + b.double(),
        x.double().mean(1),
        torch.rsqrt(x.double().var(1, correction=0) + 1e-5),
    ]
    check(INNER, build, [x, w, b], target, made_for, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_sums_that_are_stored_and_normalized(
    target: str, made_for: str, dtype: torch.dtype
) -> None:
    def build(fd, x, r):
        total = narrow(fd, fd.ops.add(wide(fd, x), wide(fd, r)), x)
        c, rstd = centred(fd, wide(fd, total), [1])
        return total, narrow(fd, fd.ops.mul(c, rstd), x)

    x, r = random(20, 768, dtype=dtype), random(20, 768, dtype=dtype, seed=1)
    total = (x.float() + r.float()).to(dtype)
    check(INNER, build, [x, r], target, made_for, [total, normalized(total, [1])])


def test_softmax_backward(target: str, made_for: str) -> None:
    def build(fd, g, y):
        total = fd.ops.sum(fd.ops.mul(g, y), [1], True)
        return fd.ops.mul(y, fd.ops.sub(g, total))

    g, y = random(24, 1000), random(24, 1000, seed=1).softmax(1)
    wide_g, wide_y = g.double(), y.double()
    expected = wide_y * (wide_g - (wide_g * wide_y).sum(1, keepdim=True))
    check(INNER, build, [g, y], target, made_for, [expected])


def test_layernorm_backward_without_weights(target: str, made_for: str) -> None:
    """Four reductions in two rounds."""

    def build(fd, x, g):
        c, rstd = centred(fd, x, [1])
        xhat = fd.ops.mul(c, rstd)
        both = fd.ops.mul(xhat, fd.ops.mean(fd.ops.mul(g, xhat), [1], True))
        inner = fd.ops.add(fd.ops.mean(g, [1], True), both)
        return fd.ops.mul(rstd, fd.ops.sub(g, inner))

    x, g = random(24, 1000), random(24, 1000, seed=1)
    leaf = x.double().requires_grad_()
    F.layer_norm(leaf, (1000,), eps=1e-5).backward(g.double())
    check(INNER, build, [x, g], target, made_for, [leaf.grad])


def test_cross_entropy_of_rows(target: str, made_for: str) -> None:
    """A target is looked up beside the row."""

    def build(fd, x, t):
        ops, w = fd.ops, wide(fd, x)
        largest = ops.max(w, [1])
        e = ops.exp(ops.sub(w, ops.broadcast(largest, [False, True])))
        total = ops.add(ops.log(ops.sum(e, [1])), largest)
        chosen = ops.take_along_axis(x, ops.broadcast(t, [False, True]), 1)
        return ops.sub(total, ops.squeeze(wide(fd, chosen), [1]))

    x, t = random(20, 1000, dtype=torch.bfloat16), torch.randint(0, 1000, (20,))
    expected = F.cross_entropy(x.double(), t, reduction="none")
    check(INNER, build, [x, t], target, made_for, [expected])


def test_elements_of_another_input_meet_the_sum(target: str, made_for: str) -> None:
    def build(fd, x, y):
        total = fd.ops.sum(fd.ops.exp(x), [1], True)
        return fd.ops.add(x, y), fd.ops.div(y, total)

    x, y = random(20, 300), random(20, 300, seed=1)
    total = x.double().exp().sum(1, keepdim=True)
    check(INNER, build, [x, y], target, made_for, [x.double() + y.double(), y.double() / total])


def test_moments_in_one_pass(target: str, made_for: str) -> None:
    def build(fd, x):
        mean, deviations, _ = fd.ops.welford(x, [1])
        over = [False, True]
        rstd = fd.ops.rsqrt(fd.ops.add(fd.ops.mul(deviations, 1 / 1000), 1e-5))
        return fd.ops.mul(fd.ops.sub(x, fd.ops.broadcast(mean, over)), fd.ops.broadcast(rstd, over))

    x = random(21, 1000)
    check(INNER, build, [x], target, made_for, [normalized(x, [1])])


def test_updates_in_place(target: str, made_for: str) -> None:
    x = random(16, 256).to(target)
    expected = normalized(x.cpu(), [1])
    with FusionDefinition() as fd:
        tx = fd.define_tensor([-1, -1], contiguity=True)
        c, rstd = centred(fd, tx, [1])
        fd.add_output(fd.ops.mul(c, rstd), tx)
    params = schedule.schedule(fd.fusion, INNER, [x], made_for)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x])
    executor.run([x], params.lparams, params.cparams)
    torch.testing.assert_close(x.cpu().double(), expected, rtol=2e-5, atol=2e-5)


# -- rows that are read again --


def reads_again(params: ReductionParams) -> bool:
    return params.project_persistent_buffers and not params.persistent_kernel


@pytest.mark.parametrize("columns", [60000, 60001])
def test_rows_that_one_block_does_not_hold_are_kept_by_a_cluster(target: str, columns: int) -> None:
    x = random(132, columns)
    params = check(INNER, softmax([1]), [x], target, "cuda", [x.double().softmax(1)])
    assert params.persistent_kernel
    assert params.blocks_per_cluster > 1


def test_rows_that_no_cluster_holds_are_read_in_each_pass() -> None:
    x = torch.empty(132, 3_000_001)
    params = schedule.compute_heuristics(define(softmax([1]), [x]).fusion, INNER, [x], "cuda")
    assert reads_again(params)
    assert params.lparams.bdimx == 1024


def test_tasks_read_long_rows_again(target: str) -> None:
    x = random(16, 70001)
    params = check(INNER, softmax([1]), [x], target, "cpu", [x.double().softmax(1)])
    assert params.project_persistent_buffers


def test_long_rows_with_several_outputs(target: str, made_for: str) -> None:
    """Outputs, and a weight of all rows, are computed in the passes that need them."""

    def build(fd, x, w):
        c, rstd = centred(fd, wide(fd, x), [1])
        y = fd.ops.mul(fd.ops.mul(c, rstd), fd.ops.broadcast(wide(fd, w), [True, False]))
        return narrow(fd, c, x), narrow(fd, y, x)

    x, w = random(132, 66000, dtype=torch.bfloat16), random(66000, seed=1)
    mean = x.double().mean(1, keepdim=True)
    expected = [x.double() - mean, normalized(x, [1]) * w.double()]
    check(INNER, build, [x, w], target, made_for, expected)


def test_random_numbers_are_not_drawn_again() -> None:
    def build(fd, x):
        noise = fd.ops.uniform(0.0, 1.0, [x.size(0), x.size(1)], dtype=FLOAT)
        return softmax([1])(fd, fd.ops.add(x, noise))

    text = reason(INNER, build, torch.empty(200, 3_000_000))
    assert text.endswith("not enough registers or shared memory for persistence")


# -- columns --


@pytest.mark.parametrize("shape", [(33, 1000), (7, 5), (64, 300), (1000, 64), (500, 8)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_softmax_of_columns(
    target: str, made_for: str, shape: tuple[int, int], dtype: torch.dtype
) -> None:
    x = random(*shape, dtype=dtype)
    check(OUTER, softmax([0]), [x], target, made_for, [x.double().softmax(0)])


@pytest.mark.parametrize("dims", [[0], [1], [0, 1]], ids=str)
def test_norms_of_columns(target: str, made_for: str, dims: list[int]) -> None:
    x = random(9, 30, 36)
    check(OUTER, norm(dims), [x], target, made_for, [normalized(x, dims)])


def test_statistics_are_stored_without_the_axis_that_was_reduced(
    target: str, made_for: str
) -> None:
    """The broadcast shares a loop over the elements with what meets them; what reads it besides
    has no such loop."""

    def build(fd: FusionDefinition, x: TensorView) -> list[TensorView]:
        total = fd.ops.broadcast(fd.ops.sum(x, [1]), [False, True, False, False])
        return [fd.ops.sub(x, total), fd.ops.squeeze(fd.ops.sin(total), [1])]

    x = random(2, 3, 8, 4, dtype=torch.float64)
    total = x.sum(1, keepdim=True)
    check(OUTER, build, [x], target, made_for, [x - total, total.sin().squeeze(1)])


def test_transposed_rows_are_columns(target: str, made_for: str) -> None:
    x = random(100, 40).t()
    check(OUTER, softmax([1]), [x], target, made_for, [x.double().softmax(1)])


def test_batch_norm_of_channels_last(target: str, made_for: str) -> None:
    def build(fd, x, w, b):
        return fd.ops.batch_norm(x, w, b, channels_last=True)[0]

    x, w, b = random(5, 6, 7, 24), random(24, seed=1), random(24, seed=2)
    expected = normalized(x, [0, 1, 2]) * w.double() + b.double()
    check(OUTER, build, [x, w, b], target, made_for, [expected])


# -- what is chosen --


def chosen(shape: tuple[int, int], dtype: torch.dtype = torch.bfloat16) -> tuple[int, ...]:
    """Threads of a row, rows of a block, vectors of a thread, lanes of a vector."""
    x = torch.empty(shape, dtype=dtype)
    fd = define(norm([1]), [x])
    params = schedule.compute_heuristics(fd.fusion, INNER, [x], "cuda")
    assert params.persistent_kernel
    lparams = params.lparams
    batches = params.batches_per_block_inner_reduction
    return lparams.bdimx, lparams.bdimy, batches, params.unroll_factor_inner_reduction


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (64, (8, 16, 1, 8)),
        (768, (32, 4, 3, 8)),
        (1000, (32, 4, 4, 8)),
        (4096, (128, 1, 4, 8)),
        (5120, (160, 1, 4, 8)),
        (16384, (512, 1, 4, 8)),
        (32768, (512, 1, 8, 8)),
    ],
)
def test_threads_of_rows(columns: int, expected: tuple[int, ...]) -> None:
    assert chosen((32768, columns)) == expected


def test_few_rows_have_more_threads() -> None:
    assert chosen((16, 4096)) == (512, 1, 1, 8)


@pytest.mark.parametrize(
    ("dtype", "columns", "registers", "keeps_inputs"),
    [
        (torch.bfloat16, 4096, 255, False),  # many blocks fit, whatever the compiler takes
        (torch.bfloat16, 16384, 64, False),
        (torch.bfloat16, 32768, 64, True),
        (torch.bfloat16, 65536, 64, True),
        (torch.float32, 16384, 64, False),  # nothing is smaller than what is computed
    ],
)
def test_long_rows_are_kept_as_they_are_stored(
    dtype: torch.dtype, columns: int, registers: int, keeps_inputs: bool
) -> None:
    """A register holds two elements, so that several blocks fit on a multiprocessor."""
    x = torch.empty((32768, columns), dtype=dtype)
    params = schedule.compute_heuristics(define(norm([1]), [x]).fusion, INNER, [x], "cuda")
    assert params.persistent_kernel
    assert params.project_persistent_buffers == keeps_inputs
    assert params.cparams.maxrregcount == registers


@pytest.mark.parametrize("columns", [32768, 32008, 20001])
def test_rows_that_are_kept_as_they_are_stored(target: str, columns: int) -> None:
    """The second input is needed in one pass, the third is a weight of all rows. Rows of odd length
    are shifted: their vectors are packed as well."""

    def build(fd, x, r, w):
        ops = fd.ops
        y = softmax([1])(fd, wide(fd, x))
        y = ops.add(ops.mul(y, ops.broadcast(wide(fd, w), [True, False])), wide(fd, r))
        return narrow(fd, y, x)

    x, r = (random(140, columns, dtype=torch.bfloat16, seed=i) for i in range(2))
    w = random(columns, dtype=torch.bfloat16, seed=2)
    expected = x.double().softmax(1) * w.double() + r.double()
    params = check(INNER, build, [x, r, w], target, "cuda", [expected])
    assert params.project_persistent_buffers
    assert params.shifts_rows == (columns % 2 == 1)
    assert params.persistent_kernel


def test_packed_rows_stay_packed_on_a_gpu() -> None:
    """A compiler that sees both conversions of an element keeps the float."""
    x = torch.empty(4096, 32768, dtype=torch.bfloat16)
    fd = define(softmax([1]), [x])
    schedule.schedule(fd.fusion, INNER, [x], "cuda")
    lines = [line.strip() for line in cuda_text(fd.fusion).splitlines()]
    reductions = [i for i, line in enumerate(lines) if line.startswith("block_reduce")]
    assert len(reductions) == 2
    assert all(lines[i - 1].startswith("keep_packed<64>(") for i in reductions)


def test_kernels_compile_for_a_gpu() -> None:
    x = torch.empty(4096, 4096, dtype=torch.bfloat16)
    fd = define(softmax([1]), [x])
    schedule.schedule(fd.fusion, INNER, [x], "cuda")
    text = cuda_text(fd.fusion)
    assert text.count("block_reduce") == 2
    assert "store_vector<8" in text


# -- what is refused --


def reason(scheduler: SchedulerType, build: Callable, *inputs: torch.Tensor) -> str:
    fd = define(build, inputs)
    accepted, text = schedule.can_schedule(fd.fusion, scheduler, inputs, "cuda")
    assert not accepted
    return text


def test_reductions_alone_are_refused() -> None:
    text = reason(INNER, lambda fd, x: fd.ops.sum(x, [1]), random(4, 5))
    assert text == (
        "Scheduler _inner_persistent_ ***rejected*** because : no persistent buffer identified"
    )


def test_a_value_out_of_a_row_without_other_axes_is_refused() -> None:
    def build(fd, x):
        largest = fd.ops.neg(fd.ops.max(x, [0], True))
        return [fd.ops.add(x, largest), fd.ops.squeeze(largest, [0])]

    assert "a value is squeezed out of what is computed with a row" in reason(
        INNER, build, random(40)
    )


def test_maps_are_refused() -> None:
    text = reason(OUTER, lambda fd, x: fd.ops.neg(x), random(4, 5))
    assert text.endswith("No reduction op to schedule")


@pytest.mark.parametrize(("scheduler", "dims"), [(INNER, [0]), (OUTER, [1])])
def test_reductions_of_the_other_side_are_refused(
    scheduler: SchedulerType, dims: list[int]
) -> None:
    text = reason(scheduler, softmax(dims), random(4, 5))
    assert text.endswith("scheduler_type doesn't match with reduction type")


@pytest.mark.parametrize(
    ("scheduler", "shape"), [(INNER, (2, 9_000_000)), (OUTER, (300000, 4))], ids=str
)
def test_what_does_not_fit_on_chip_is_refused(
    scheduler: SchedulerType, shape: tuple[int, int]
) -> None:
    dims = [1] if scheduler == INNER else [0]
    text = reason(scheduler, softmax(dims), torch.empty(shape))
    assert text.endswith("not enough registers or shared memory for persistence")


def test_empty_rows_are_refused() -> None:
    text = reason(INNER, softmax([1]), torch.empty(4, 0))
    assert text.endswith("there is nothing to keep")


def rows_of(columns: int, *, is_declared: bool) -> ReductionParams:
    """Params of a GPU for rows whose length the definition says, or a run."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns if is_declared else -1], [True, True], DataType.Half)
        fd.add_output(softmax([1])(fd, x))
    inputs = [torch.empty(20_000, columns, dtype=torch.float16)]
    return schedule.compute_heuristics(fd.fusion, INNER, inputs, "cuda")


@pytest.mark.parametrize("columns", [67, 155, 317, 401, 1657, 4433])
def test_rows_of_one_length_leave_few_threads_idle(columns: int) -> None:
    """No other length shares the kernel: a thread has no more elements than its share."""
    params = rows_of(columns, is_declared=True)
    threads, elements = params.lparams.bdimx, params.batches_per_block_inner_reduction
    assert elements * threads - columns < threads
    shared = rows_of(columns, is_declared=False)
    assert elements <= shared.batches_per_block_inner_reduction


@pytest.mark.parametrize("columns", [155, 1657])
@pytest.mark.parametrize("rows", [1, 7])
def test_values_of_rows_of_one_length(target: str, made_for: str, rows: int, columns: int) -> None:
    x = random(rows, columns, dtype=torch.float16)

    def build(fd: FusionDefinition) -> None:
        y = fd.define_tensor([-1, columns], [True, True], DataType.Half)
        fd.add_output(softmax([1])(fd, y))

    with FusionDefinition() as fd:
        build(fd)
    here = [x.to(target)]
    params = schedule.schedule(fd.fusion, INNER, here, made_for)
    executor = KernelExecutor()
    executor.compile(fd.fusion, here)
    (y,) = executor.run(here, params.lparams, params.cparams)
    rtol, atol = TOLERANCES[torch.float16]
    torch.testing.assert_close(y.cpu().double(), torch.softmax(x.double(), 1), rtol=rtol, atol=atol)


def test_columns_of_wide_elements_fit_a_task(target: str) -> None:
    """A task keeps 32 rows of 64 columns; of 8 bytes each they are too large for local arrays."""

    def build(fd: FusionDefinition, x: TensorView) -> TensorView:
        y = fd.ops.reshape(x, [6, 36])
        return fd.ops.sub(y, fd.ops.sum(y, [0], keepdim=True))

    x = random(6, 6, 6, dtype=torch.float64).to(target)
    fusion = define(build, [x], static_sizes=True).fusion
    schedule.schedule(fusion, OUTER, [x], "cpu")
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    y = x.reshape(6, 36)
    torch.testing.assert_close(executor.run([x])[0], y - y.sum(0, keepdim=True))


def squeezed_rows_about_maximum(fd: FusionDefinition, x: TensorView) -> TensorView:
    """The kept axis of `x` has one element. The maximum meets the rows along it, after it was
    squeezed from them."""
    top = fd.ops.max(fd.ops.sin(x), [0])
    return fd.ops.sin(fd.ops.mul(top, fd.ops.squeeze(x, [1])))


@pytest.mark.parametrize("size", [6, 8, 3000])
def test_rows_take_their_loops_from_what_they_share_with_the_reduction(
    target: str, made_for: str, size: int
) -> None:
    x = random(size, 1, dtype=torch.float64)
    expected = (x.sin().max(0).values * x.squeeze(1)).sin()
    check(INNER, squeezed_rows_about_maximum, [x], target, made_for, [expected])

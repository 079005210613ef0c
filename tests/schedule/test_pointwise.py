"""The scheduler of maps: values, schedules as text, params, and what it refuses."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import check_close, check_prints_as_python, check_runs, define, scheduled

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    PointwiseParams,
    SchedulerType,
    UserError,
    schedule,
)
from nvfuser_direct.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable

POINTWISE = SchedulerType.pointwise


def randoms(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.randint(-100, 100, shape, generator=generator).to(dtype)
    if dtype.is_complex:
        return torch.randn(shape, dtype=dtype, generator=generator)
    return torch.randn(shape, generator=generator).to(dtype)


def mul_add(fd, a, b):
    return fd.ops.add(fd.ops.mul(a, b), a)


def bias_silu(fd, x, b):
    """A row vector, computed in float and rounded."""
    ops = fd.ops
    wide = ops.cast(x, DataType.Float)
    bias = ops.broadcast(ops.cast(b, DataType.Float), [True, False])
    return ops.cast(ops.silu(ops.add(wide, bias)), x.dtype())


# -- values --


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
        torch.bool, torch.complex64, torch.complex128,
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("shape", [(4096,), (1021,), (33, 1000), (3, 5, 64)], ids=str)
def test_dtypes_and_sizes(target: str, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    inputs = [randoms(shape, dtype, seed) for seed in range(2)]
    build = (lambda fd, a, b: fd.ops.logical_and(a, b)) if dtype == torch.bool else mul_add
    check_runs(define(build, inputs), POINTWISE, inputs, target)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 7), (7, 1), (2, 8), (5, 1000), (1000, 5), (300, 256)], ids=str
)
def test_a_row_vector_beside_a_matrix(
    target: str, dtype: torch.dtype, shape: tuple[int, int]
) -> None:
    x, b = randoms(shape, dtype), randoms(shape[1:], dtype, 1)
    fd = FusionDefinition()
    with fd:
        tx = fd.define_tensor([-1, -1], contiguity=True, dtype=NVF[dtype])
        tb = fd.define_tensor([-1], contiguity=True, dtype=NVF[dtype])
        fd.add_output(bias_silu(fd, tx, tb))
    check_runs(fd, POINTWISE, [x, b], target)


NVF = {
    torch.float32: DataType.Float,
    torch.bfloat16: DataType.BFloat16,
    torch.float16: DataType.Half,
    torch.float64: DataType.Double,
    torch.int64: DataType.Int,
}


@pytest.mark.parametrize("shape", [(64, 512), (37, 129)])
@pytest.mark.parametrize(
    "column", [(True, False), (False, True), (True, True)], ids=["rows", "columns", "both"]
)
def test_declared_broadcasts(
    target: str, shape: tuple[int, int], column: tuple[bool, bool]
) -> None:
    x = randoms(shape, torch.float32)
    b = randoms(
        tuple(1 if flag else n for flag, n in zip(column, shape, strict=True)), torch.float32
    )

    def build(fd, x, b):
        return fd.ops.relu(fd.ops.add(fd.ops.mul(x, b), b))

    check_runs(define(build, [x, b]), POINTWISE, [x, b], target)


@pytest.mark.parametrize("middle", [1, 3])
def test_broadcast_of_a_middle_axis(target: str, middle: int) -> None:
    x, y = randoms((8, middle, 64), torch.float32), randoms((8, 1, 64), torch.float32)
    check_runs(define(lambda fd, x, y: fd.ops.mul(x, y), [x, y]), POINTWISE, [x, y], target)


def test_expanded_inputs(target: str) -> None:
    y = randoms((16, 128), torch.float32).to(target)
    here = [y[:, :1].expand(16, 128), y]
    fd = define(lambda fd, x, y: fd.ops.add(x, y), here)
    fusion, _ = scheduled(fd, POINTWISE, here)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    check_close(executor.run(here)[0], here[0] + here[1])


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "transposed": lambda x: x.t(),
    "every second column": lambda x: x[:, ::2],
    "every second row": lambda x: x[::2],
    "without the first column": lambda x: x[:, 1:],
    "without the first rows": lambda x: x[3:],
    "part of the columns": lambda x: x[:, : x.shape[1] // 2],
    "misaligned": lambda x: x.reshape(-1)[1:].reshape(1, -1),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_inputs(target: str, dtype: torch.dtype, layout: str) -> None:
    """Tensors that are not aligned are not vectorized; the rest are."""
    x = LAYOUTS[layout](randoms((64, 128), dtype).to(target))
    y = randoms(tuple(x.shape), dtype, 1).to(target)
    fd = define(lambda fd, x, y: fd.ops.add(x, y), [x, y])
    fusion, params = scheduled(fd, POINTWISE, [x, y])
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [x, y])
    (found,) = executor.run([x, y])
    check_close(found, x.to(found.dtype) + y.to(found.dtype))
    assert isinstance(params, PointwiseParams)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (4, 0, 3)])
def test_empty_tensors(target: str, shape: tuple[int, ...]) -> None:
    inputs = [randoms(shape, torch.float32, seed) for seed in range(2)]
    fd = FusionDefinition()
    with fd:
        tensors = [fd.define_tensor([-1] * len(shape), contiguity=True) for _ in inputs]
        fd.add_output(mul_add(fd, *tensors))
    check_runs(fd, POINTWISE, inputs, target)


def test_scalars_and_tensors_without_dimensions(target: str) -> None:
    x, scale = randoms((100, 24), torch.float32), torch.tensor(1.5)
    fd = FusionDefinition()
    with fd:
        tx = fd.define_tensor([-1, -1], contiguity=True)
        ts = fd.define_tensor([])
        factor = fd.define_scalar(DataType.Double)
        scaled = fd.ops.mul(tx, fd.ops.broadcast(ts, [True, True]))
        fd.add_output(fd.ops.mul(scaled, factor))
    check_runs(fd, POINTWISE, [x, scale, 2.0], target, [x * 3.0])


def test_an_output_that_is_read(target: str) -> None:
    x = randoms((50, 64), torch.float32)

    def build(fd, x):
        y = fd.ops.exp(x)
        return y, fd.ops.add(y, x)

    check_runs(define(build, [x]), POINTWISE, [x], target)


def test_several_outputs_and_types(target: str) -> None:
    x, mask = randoms((40, 96), torch.bfloat16), randoms((40, 96), torch.bool)

    def build(fd, x, mask):
        ops = fd.ops
        y = ops.where(mask, ops.cast(x, DataType.Float), 0.0)
        return y, ops.cast(y, DataType.Double), ops.gt(y, 0.5)

    check_runs(define(build, [x, mask]), POINTWISE, [x, mask], target)


def test_created_tensors(target: str) -> None:
    fd = FusionDefinition()
    with fd:
        n = fd.define_scalar(DataType.Int)
        numbers = fd.ops.iota(n, 3, 2, dtype=DataType.Int)
        fd.add_output(fd.ops.mul(numbers, 2))
    here = [1001]
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, POINTWISE, here, target)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    check_close(executor.run(here)[0].cpu(), (torch.arange(1001) * 2 + 3) * 2)


RESHAPES = {
    "merged": lambda ops, x: ops.relu(ops.reshape(ops.exp(x), [12 * 40, 16])),
    "split": lambda ops, x: ops.relu(ops.reshape(ops.exp(x), [12, 40, 4, 4])),
    "merged and split": lambda ops, x: ops.relu(ops.reshape(ops.exp(x), [24, 320])),
    "undone": lambda ops, x: ops.reshape(ops.relu(ops.reshape(x, [480, 16])), [12, 40, 16]),
    "beside the whole": lambda ops, x: (ops.exp(x), ops.reshape(ops.exp(x), [12, 640])),
    "permuted": lambda ops, x: ops.exp(ops.permute(ops.relu(x), [2, 0, 1])),
    "squeezed": lambda ops, x: ops.squeeze(ops.exp(ops.broadcast(x, [0, 1, 0, 0])), [1]),
}


@pytest.mark.parametrize("reshape", RESHAPES)
def test_reshapes(target: str, reshape: str) -> None:
    x = randoms((12, 40, 16), torch.float32)
    fd = FusionDefinition()
    with fd:
        t = fd.define_tensor([12, 40, 16], contiguity=True)
        outs = RESHAPES[reshape](fd.ops, t)
        for out in outs if isinstance(outs, tuple) else (outs,):
            fd.add_output(out)
    check_runs(fd, POINTWISE, [x], target)


def test_lookups_of_inputs(target: str) -> None:
    table, rows = randoms((30, 64), torch.float32), torch.arange(17) % 30

    def build(fd, table, rows):
        return fd.ops.exp(fd.ops.index_select(table, rows, 0))

    check_runs(define(build, [table, rows]), POINTWISE, [table, rows], target)


def test_a_looked_up_input_that_is_read_beside(target: str) -> None:
    table, columns = randoms((30, 64), torch.float32), torch.arange(64).flip(0)

    def build(fd, table, columns):
        return fd.ops.add(table, fd.ops.index_select(table, columns, 1))

    check_runs(define(build, [table, columns]), POINTWISE, [table, columns], target)


def test_an_input_that_is_updated(target: str) -> None:
    x = randoms((33, 64), torch.float32).to(target)
    fd = FusionDefinition()
    with fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(t, 1.0), t)
    expected = x.clone() + 1
    fusion, _ = scheduled(fd, POINTWISE, [x])
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    executor.run([x])
    check_close(x, expected)


@pytest.mark.parametrize("scheduled_for", ["cpu", "cuda"])
def test_a_single_element_that_is_updated(target: str, scheduled_for: str) -> None:
    x = randoms((1,), torch.float32).to(target)
    with FusionDefinition() as fd:
        t = fd.define_tensor([1])
        fd.add_output(fd.ops.add(t, 1.0), t)
    expected = x.clone() + 1
    fusion, _ = scheduled(fd, POINTWISE, [x], scheduled_for)
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    executor.run([x])
    check_close(x, expected)


def updated_by_transpose(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.neg(fd.ops.permute(x, [1, 0])), x)


def updated_by_reshape(fd: FusionDefinition) -> None:
    x = fd.define_tensor([16, 16], contiguity=True)
    row = fd.ops.neg(fd.ops.reshape(fd.ops.permute(x, [1, 0]), [256]))
    fd.add_output(fd.ops.reshape(row, [16, 16]), x)


def updated_by_the_transpose_of_another(fd: FusionDefinition) -> None:
    x, y = (fd.define_tensor([-1, -1], contiguity=True) for _ in range(2))
    fd.add_output(fd.ops.permute(y, [1, 0]), x)
    fd.add_output(fd.ops.add(x, y))


MOVED_UPDATES = [updated_by_transpose, updated_by_reshape, updated_by_the_transpose_of_another]


@pytest.mark.parametrize("build", MOVED_UPDATES)
@pytest.mark.parametrize("scheduled_for", ["cpu", "cuda"])
def test_an_update_over_other_axes_than_are_read_is_refused(
    build: Callable[[FusionDefinition], None], scheduled_for: str
) -> None:
    with FusionDefinition() as fd:
        build(fd)
    inputs = [torch.ones(16, 16) for _ in fd.fusion.inputs()]
    accepted, why = schedule.can_schedule(fd.fusion, POINTWISE, inputs, scheduled_for)
    assert not accepted
    assert why.endswith("because : an input is updated in place while other threads read it")
    with pytest.raises(UserError, match="readers of the same element, whose thread writes it"):
        schedule.schedule(fd.fusion, POINTWISE, inputs, scheduled_for)


@pytest.mark.parametrize("build", MOVED_UPDATES)
def test_an_update_over_other_axes_than_are_read_is_copied_behind_a_kernel(
    build: Callable[[FusionDefinition], None], target: str
) -> None:
    with FusionDefinition() as fd:
        build(fd)
    inputs = [torch.randn(16, 16).to(target) for _ in fd.fusion.inputs()]
    wanted, *others = Evaluator(fd.fusion, [x.clone() for x in inputs]).outputs()
    found = fd.execute(inputs)
    check_close(inputs[0], wanted)
    for own, other in zip(found, others, strict=True):
        check_close(own, other)


@pytest.mark.parametrize("scheduled_for", ["cpu", "cuda"])
def test_a_single_element_is_updated_over_an_axis_of_its_own(
    target: str, scheduled_for: str
) -> None:
    """The update has another axis of size 1 than its input: each loop runs once."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 1])
        negated = fd.ops.neg(fd.ops.squeeze(x, [0]))
        fd.add_output(fd.ops.broadcast(negated, [True, False]), x)
        fd.add_output(fd.ops.exp(x))
    data = randoms((1, 1), torch.float32).to(target)
    before = data.clone()
    fusion, params = scheduled(fd, POINTWISE, [data], scheduled_for)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [data])
    (out,) = executor.run([data], params.lparams, params.cparams)
    check_close(data, -before)
    check_close(out, before.exp())


def test_random_numbers_are_those_of_another_schedule(target: str) -> None:
    x = randoms((20, 128), torch.float32).to(target)
    fd = FusionDefinition()
    with fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        noise = fd.ops.uniform(
            0.0, 1.0, [t.size(0), t.size(1)], rng_seed=1, rng_offset=0, dtype=DataType.Float
        )
        fd.add_output(fd.ops.add(t, noise))
    (expected,) = fd.execute([x])
    other = FusionDefinition()
    with other:
        t = other.define_tensor([-1, -1], contiguity=True)
        noise = other.ops.uniform(
            0.0, 1.0, [t.size(0), t.size(1)], rng_seed=1, rng_offset=0, dtype=DataType.Float
        )
        other.add_output(other.ops.add(t, noise))
    check_runs(other, POINTWISE, [x.cpu()], target, [expected.cpu()])


# -- schedules --


def test_kernels_of_a_gpu_compile_without_one() -> None:
    x, b = torch.empty(256, 4096, dtype=torch.bfloat16), torch.empty(4096, dtype=torch.bfloat16)
    fd = define(bias_silu, [x, b])
    fusion, params = scheduled(fd, POINTWISE, [x, b], "cuda")
    assert params.vectorization_factor == 8
    text = cuda_text(fusion)
    assert "threadIdx.x" in text


@pytest.mark.parametrize(("number", "lanes"), [(8, 4), (32, 4), (33, 2), (100, 1)])
def test_vectors_of_all_operands_fit_into_registers(number: int, lanes: int) -> None:
    inputs = [torch.empty(1024, 4096) for _ in range(number)]

    def add_all(fd, *operands):
        return functools.reduce(fd.ops.add, operands)

    _, params = scheduled(define(add_all, inputs), POINTWISE, inputs, "cuda")
    assert params.vectorization_factor == lanes


def test_params_are_applied_as_they_are_edited() -> None:
    x = randoms((64, 128), torch.float32)
    fd = define(lambda fd, x: fd.ops.exp(x), [x])
    params = schedule.compute_heuristics(fd.fusion, POINTWISE, [x], "cuda")
    assert schedule.compute_heuristics(fd.fusion, POINTWISE, [x], "cuda") == params
    assert params.hash() == schedule.compute_heuristics(fd.fusion, POINTWISE, [x], "cuda").hash()
    edited = PointwiseParams()
    assert edited != params
    edited.vectorization_factor = 2
    edited.unroll_factor_inner = 2
    edited.lparams.bdimx = 64
    fusion = fd.fusion.clone()
    assert schedule.schedule(fusion, POINTWISE, edited) is None
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    check_close(executor.run([x])[0], x.exp())


def test_params_print() -> None:
    x, b = torch.empty(4096, 4096), torch.empty(4096)
    fd = define(lambda fd, x, b: fd.ops.add(x, b), [x, b])
    text = repr(schedule.compute_heuristics(fd.fusion, POINTWISE, [x, b], "cuda"))
    lines = text.splitlines()
    assert lines[0] == ""
    assert lines[1] == "===== Pointwise Parameters ========"
    assert lines[-1] == "===================================="
    assert "2D Schedule" in lines
    assert "vectorization_factor: 4" in lines


# -- what is refused --


def reason(build: Callable, *inputs: torch.Tensor) -> str:
    fd = define(build, inputs)
    can, text = schedule.can_schedule(fd.fusion, POINTWISE, inputs)
    assert not can
    assert POINTWISE not in schedule.find_compatible_schedulers(fd.fusion, inputs)
    with pytest.raises(UserError, match="Could not schedule fusion with the SchedulerType: pointw"):
        schedule.compute_heuristics(fd.fusion, POINTWISE, inputs)
    headline = "Scheduler _pointwise_ ***rejected*** because : "
    assert text.startswith(headline)
    return text.removeprefix(headline)


def rows_and_matrix(fd, x, y):
    y = fd.ops.exp(y)
    return fd.ops.add(x, fd.ops.broadcast(y, [True, False])), y


def test_refusals() -> None:
    x, y = torch.ones(8, 8), torch.ones(8)
    square = torch.ones(8, 8)
    assert reason(lambda fd, x: fd.ops.sum(x, [0]), x) == "no support for reduction ops"
    assert (
        reason(lambda fd, x, y: fd.ops.matmul(x, y), x, square) == "Matmul ops are not supported."
    )
    assert reason(lambda fd, x: fd.ops.cumsum(x, 0), x) == "Has unsupported ops"
    assert reason(lambda fd, x: fd.ops.slice(x, [0, 0], [4, 4]), x) == "no support for resize ops"
    assert reason(rows_and_matrix, x, y) == "outputs have different shapes"
    assert reason(lambda fd, x, y: (fd.ops.exp(x), fd.ops.exp(y)), x, torch.ones(5)) == (
        "cannot find reference tensor"
    )
    assert "own transpose" in reason(lambda fd, x: fd.ops.add(x, fd.ops.permute(x, [1, 0])), x)


def test_a_fusion_with_a_schedule_is_refused() -> None:
    x = torch.ones(8, 8)
    fd = define(lambda fd, x: fd.ops.exp(x), [x])
    fusion, _ = scheduled(fd, POINTWISE, [x])
    assert schedule.can_schedule(fusion, POINTWISE, [x]) == (
        False,
        "Scheduler _pointwise_ ***rejected*** because : the fusion has a schedule already",
    )


def test_an_output_in_host_memory_is_refused() -> None:
    with FusionDefinition() as fd:
        s = fd.define_tensor([], dtype=DataType.Float, is_cpu=True)
        fd.add_output(fd.ops.expand(fd.ops.broadcast(s, [True]), [2]))
        fd.add_output(s)
    accepted, why = schedule.can_schedule(fd.fusion, POINTWISE, [torch.tensor(0.5)])
    assert not accepted
    assert why.endswith("because : an output lies in host memory")
    with pytest.raises(UserError, match="a scalar of the host") as refused:
        schedule.schedule(fd.fusion, POINTWISE, [torch.tensor(0.5)])
    assert "outputs that a kernel writes to device memory" in str(refused.value)
    expanded, scalar = fd.execute([torch.tensor(0.5)])
    assert expanded.tolist() == [0.5, 0.5]
    assert scalar.item() == 0.5


def update_by_expanded(fd: FusionDefinition) -> None:
    """One element for each row is written into a matrix."""
    rows = fd.define_tensor([-1, 1], contiguity=[True, None])
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.expand(fd.ops.neg(rows), [-1, x.size(1)]), x)


@pytest.mark.parametrize("scheduler", [POINTWISE, SchedulerType.transpose, SchedulerType.resize])
def test_an_expanded_tensor_that_updates_an_input_is_refused(scheduler: SchedulerType) -> None:
    with FusionDefinition() as fd:
        update_by_expanded(fd)
    inputs = [torch.ones(3, 1), torch.ones(3, 4)]
    accepted, why = schedule.can_schedule(fd.fusion, scheduler, inputs)
    assert not accepted
    if scheduler == POINTWISE:
        assert why.endswith("because : an expanded tensor is written into an input")


def test_an_expanded_tensor_updates_an_input(target: str) -> None:
    with FusionDefinition() as fd:
        update_by_expanded(fd)
    rows, x = torch.randn(3, 1).to(target), torch.zeros(3, 4, device=target)
    fd.execute([rows, x])
    assert torch.equal(x, -rows.expand(3, 4))

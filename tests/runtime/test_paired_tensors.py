"""fp4 at the border: the framework's tensors hold pairs, a fusion's single elements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, ParallelType, UserError
from nvfuser_direct.evaluator import Evaluator

if TYPE_CHECKING:
    from nvfuser_direct import TensorView

FP4 = DataType.Float4_e2m1fn
PAIRS = DataType.Float4_e2m1fn_x2
MAGNITUDES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def random_pairs(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    raw = torch.randint(0, 256, shape, generator=generator, dtype=torch.int32)
    return raw.to(torch.uint8).view(torch.float4_e2m1fn_x2)


def numbers(packed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The elements of pairs along `dim`, as float32."""
    raw = packed.cpu().view(torch.uint8).movedim(dim, -1)
    codes = torch.stack([raw & 15, raw >> 4], -1).flatten(-2).movedim(-1, dim)
    magnitude = MAGNITUDES[(codes & 7).long()]
    return torch.where(codes >= 8, -magnitude, magnitude)


def to_float(fd: FusionDefinition, x: TensorView) -> None:
    """An output that reads single elements, each where it is needed."""
    y = fd.ops.cast(x, dtype=DataType.Float)
    fd.add_output(y)
    for axis in range(y.ndims()):
        y.axis(axis).parallelize([ParallelType.grid_x, ParallelType.block_x][min(axis, 1)])
        if axis == 1:
            break


def run(fd: FusionDefinition, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor.run(inputs)


def assert_read(packed: torch.Tensor, dim: int = -1, **options: bool) -> None:
    """A fusion made from the tensor reads its elements, in a kernel and evaluated."""
    with FusionDefinition() as fd:
        to_float(fd, fd.from_pytorch(packed, **options))
    (result,) = run(fd, [packed])
    assert torch.equal(result.cpu(), numbers(packed, dim))
    (evaluated,) = Evaluator(fd.fusion, [packed]).outputs()
    assert torch.equal(evaluated.cpu(), numbers(packed, dim))


def raises(text: str) -> pytest.RaisesExc:
    return pytest.raises(UserError, match=re.escape(text))


# ---- inputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (1, 1), (4, 1), (1, 4), (2, 3, 4)])
@pytest.mark.parametrize("static_sizes", [False, True])
def test_the_innermost_size_doubles(shape, static_sizes, target) -> None:
    assert_read(random_pairs(*shape).to(target), static_sizes=static_sizes)


def test_other_strides_double(target) -> None:
    assert_read(random_pairs(6, 10).to(target)[1::2, 2:7])
    assert_read(random_pairs(4, 6, 8).to(target).transpose(0, 1))


def test_columns_may_be_innermost(target) -> None:
    assert_read(random_pairs(5, 3).to(target).t(), dim=0)
    assert_read(random_pairs(2, 5, 3).to(target).movedim(2, 1), dim=1)


def test_expanded_dimensions(target) -> None:
    assert_read(random_pairs(1, 6).to(target).expand(4, 6))
    assert_read(random_pairs(3, 1, 6).to(target).expand(3, 4, 6))


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)])
def test_no_elements(shape, target) -> None:
    packed = random_pairs(*shape).to(target)
    with FusionDefinition() as fd:
        to_float(fd, fd.define_tensor([-1] * len(shape), contiguity=True, dtype=FP4))
    (result,) = run(fd, [packed])
    assert list(result.shape) == [*shape[:-1], 2 * shape[-1]]


def test_one_kernel_serves_all_sizes() -> None:
    with FusionDefinition() as fd:
        to_float(fd, fd.define_tensor([-1, -1], contiguity=True, dtype=FP4))
    executor = KernelExecutor()
    executor.compile(fd.fusion, [random_pairs(2, 3)])
    for shape in [(2, 3), (1, 1), (5, 8), (2, 3)]:
        packed = random_pairs(*shape)
        (result,) = executor.run([packed])
        assert torch.equal(result, numbers(packed))


def test_sizes_beside_dynamic_shapes_count_elements(target) -> None:
    packed = random_pairs(4, 16).to(target)
    with FusionDefinition() as fd:
        x = fd.from_pytorch(packed, static_sizes=True)
        rows = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.reshape(fd.ops.cast(x, DataType.Float), [rows, -1]))
    (out,) = fd.execute([packed, 8])
    assert torch.equal(out.cpu(), numbers(packed).reshape(8, 16))


def test_a_packed_definition_has_known_innermost_size() -> None:
    with FusionDefinition() as fd:
        to_float(fd, fd.define_tensor([-1, 4], contiguity=True, dtype=PAIRS))
    packed = random_pairs(3, 4)
    (result,) = run(fd, [packed])
    assert torch.equal(result, numbers(packed))
    with raises("Tried to bind to a constant value: 8 as 10"):
        run(fd, [random_pairs(3, 5)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.float8_e4m3fn])
def test_tensors_of_other_types_are_refused(dtype) -> None:
    with FusionDefinition() as fd:
        to_float(fd, fd.define_tensor([-1], contiguity=True, dtype=FP4))
    with raises("to be bound to a tensor of dtype __e2m1_x2, but got a tensor of dtype"):
        run(fd, [torch.zeros(4).to(dtype)])


def test_pairs_are_no_tensor_of_another_type() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1], contiguity=True)))
    with raises("to be bound to a tensor of dtype float, but got a tensor of dtype __e2m1_x2"):
        run(fd, [random_pairs(4)])


def test_pairs_have_to_be_neighbours() -> None:
    with FusionDefinition() as fd:
        to_float(fd, fd.define_tensor([-1, -1], contiguity=False, dtype=FP4))
    with raises("Input 0 has pairs of fp4 that are not next to each other"):
        run(fd, [random_pairs(4, 6)[:, ::2]])
    with raises("Input 0 has pairs of fp4 that are not next to each other"):
        run(fd, [random_pairs(4, 6).t()])


def test_contiguity_counts_elements() -> None:
    with FusionDefinition() as fd:
        to_float(fd, fd.define_tensor([-1, -1], contiguity=True, dtype=FP4))
    with raises("to have contiguous dimension 0"):
        run(fd, [random_pairs(4, 6)[:, :5]])


def test_a_single_number_is_no_tensor() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([], contiguity=[], dtype=FP4)
        fd.add_output(fd.ops.cast(x, dtype=DataType.Float))
    with raises("Input 0 is a single fp4 number, which is no tensor outside of a kernel"):
        run(fd, [random_pairs(1).reshape(())])


# ---- outputs -------------------------------------------------------------------------------------


def quantized(fd: FusionDefinition, rank: int, order: list[int] | None = None) -> None:
    """A cast to fp4 that is stored in pairs; `order`: of the dimensions in memory."""
    x = fd.define_tensor([-1] * rank, contiguity=False)
    y = fd.ops.cast(x, dtype=FP4)
    fd.add_output(y)
    if order is not None:
        y.set_allocation_domain([y.axis(i) for i in order], True)
    converted = y.cache_before()
    for tensor in (converted, y):
        if order is not None:
            tensor.reorder(order)
        while tensor.ndims() > 1:
            tensor.merge(0, 1)
        tensor.split(0, 2)
        tensor.axis(0).parallelize(ParallelType.grid_x)
    y.axis(1).parallelize(ParallelType.vectorize)
    fd.sched.inline_at(converted, 1)


def on_grid(*shape: int) -> torch.Tensor:
    """Numbers that fp4 holds."""
    return numbers(random_pairs(*shape[:-1], shape[-1] // 2))


@pytest.mark.parametrize("shape", [(2,), (8,), (3, 4), (2, 3, 6), (1, 2)])
def test_outputs_have_half_the_innermost_size(shape, target) -> None:
    with FusionDefinition() as fd:
        quantized(fd, len(shape))
    value = on_grid(*shape).to(target)
    (result,) = run(fd, [value])
    assert result.dtype == torch.float4_e2m1fn_x2
    assert list(result.shape) == [*shape[:-1], shape[-1] // 2]
    assert torch.equal(numbers(result), value.cpu())


def test_the_allocation_domain_says_what_is_innermost(target) -> None:
    with FusionDefinition() as fd:
        quantized(fd, 2, order=[1, 0])
    value = on_grid(5, 4).t().to(target)
    (result,) = run(fd, [value])
    assert list(result.shape) == [2, 5]
    assert result.stride() == (1, 2)
    assert torch.equal(numbers(result, 0), value.cpu())
    (evaluated,) = Evaluator(fd.fusion, [value]).outputs()
    assert torch.equal(evaluated.cpu().view(torch.uint8), result.cpu().view(torch.uint8))


@pytest.mark.parametrize("transform", ["split", "merge"])
def test_memory_axes_may_be_parts_of_what_users_see(transform, target) -> None:
    with FusionDefinition() as fd:
        y = fd.ops.cast(fd.define_tensor([-1, 4], contiguity=True), dtype=FP4)
        fd.add_output(y)
        converted = y.cache_before()
        if transform == "split":
            y.split(1, 2)
        else:
            y.merge(0, 1)
        y.set_allocation_domain(y.get_loop_domain(), True)
        if transform == "merge":
            y.split(0, 2)
        fd.sched.transform_like(y)
        y.axis(-1).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(converted, y.ndims() - 1)
    value = on_grid(5, 4).to(target)
    (result,) = run(fd, [value])
    assert result.shape == (5, 2)
    assert torch.equal(numbers(result), value.cpu())
    (evaluated,) = Evaluator(fd.fusion, [value]).outputs()
    assert torch.equal(evaluated.cpu().view(torch.uint8), result.cpu().view(torch.uint8))


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)])
def test_outputs_without_elements(shape, target) -> None:
    with FusionDefinition() as fd:
        quantized(fd, len(shape))
    (result,) = run(fd, [torch.zeros(shape, device=target)])
    assert list(result.shape) == [*shape[:-1], shape[-1] // 2]


def test_odd_sizes_have_no_pairs() -> None:
    with FusionDefinition() as fd:
        quantized(fd, 2)
    with raises("An output of dtype __e2m1 needs an even size in its innermost dimension"):
        run(fd, [torch.zeros(4, 3)])
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.cast(fd.define_tensor([-1], contiguity=True), dtype=FP4))
    with raises("An output of dtype __e2m1 needs an even size in its innermost dimension"):
        fd.execute([torch.zeros(3)])


def test_elements_expanded_in_memory_have_no_pairs() -> None:
    with FusionDefinition() as fd:
        x = fd.ops.cast(fd.define_tensor([-1], contiguity=True), dtype=FP4)
        y = fd.ops.set(fd.ops.expand(fd.ops.broadcast(x, [False, True]), [-1, 4]))
        fd.add_output(y)
        y.split(0, 2)
        y.reorder([0, 2, 1])
        fd.sched.transform_like(y)
        y.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_most([t for t in fd.fusion.tensors() if not t.is_fusion_output()])
    with raises("An output of dtype __e2m1 cannot be expanded in its innermost dimension"):
        run(fd, [torch.zeros(8)])
    (evaluated,) = Evaluator(fd.fusion, [torch.tensor([1.0, 2.0])]).outputs()
    assert numbers(evaluated).tolist() == [[1.0] * 4, [2.0] * 4]


def test_an_input_is_updated_in_place(target) -> None:
    packed = random_pairs(3, 4).to(target)
    expected = -numbers(packed)
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=FP4)
        y = fd.ops.cast(fd.ops.neg(x), dtype=FP4)
        fd.add_output(y, x)
        loaded, computed = x.cache_after(), y.cache_before()
        inner = [t for t in fd.fusion.tensors() if not t.is_fusion_input() and t is not y]
        for tensor in (*inner, y):
            tensor.merge(0, 1)
            tensor.split(0, 2)
            tensor.axis(0).parallelize(ParallelType.grid_x)
        for tensor in (loaded, y):
            tensor.axis(1).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(y, 1)
        fd.sched.inline_at(loaded, 1)
        assert computed in inner
        fd.sched.inline_most([t for t in inner if t is not loaded])
    run(fd, [packed])
    assert torch.equal(numbers(packed), expected)


def test_pairs_may_not_be_shared_with_what_is_updated() -> None:
    memory = random_pairs(8)
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=FP4)
        y = fd.define_tensor([-1], contiguity=True, dtype=FP4)
        z = fd.ops.set(y)
        fd.add_output(z, x)
        z.split(0, 2)
        z.axis(1).parallelize(ParallelType.vectorize)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [memory[:4], memory[4:]])
    executor.run([memory[:4], memory[4:]])
    with raises("shares memory with input 1"):
        executor.run([memory[:4], memory[3:7]])

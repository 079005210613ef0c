"""csrc/ops/index.cpp: positions that a tensor holds."""

from __future__ import annotations

import contextlib

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    BinaryOpType,
    DataType,
    FusionDefinition,
    IterType,
    evaluate,
    schedule,
)

D = DataType
TYPES = {
    torch.float32: D.Float,
    torch.float64: D.Double,
    torch.float16: D.Half,
    torch.bfloat16: D.BFloat16,
    torch.int64: D.Int,
    torch.int32: D.Int32,
    torch.bool: D.Bool,
    torch.complex64: D.ComplexFloat,
}


def tensor(fd, shape, dtype=D.Float):
    contiguity = [None if size == 1 else True for size in shape]
    return fd.define_tensor(shape, contiguity=contiguity, dtype=dtype)


def shape(t):
    return [str(size) for size in t.shape()]


# ---- Shapes, types and texts ---------------------------------------------------------------------


def test_select_drops_the_dimension(fd, math):
    y = fd.ops.select(tensor(fd, [3, 4], D.Half), 2, -1)
    assert y.dtype() == D.Half
    assert math(y) == (
        "T1_g___half[iS2{3}] = select( T0_g___half[iS0{3}, iS1{4}], axis = iS1{4}, index = 2 )\n"
    )


def test_index_select_broadcasts_its_positions(fd, math):
    y = fd.ops.index_select(tensor(fd, [3, 4]), tensor(fd, [5], D.Int), 0)
    assert math(y) == (
        "T2_l_int64_t[iS3{5}, bS4{1}] = broadcast( T1_g_int64_t[iS2{5}], flags = {false, true} )\n"
        "T3_g_float[iS5{5}, iS6{4}] = indexSelect( T0_g_float[iS0{3}, iS1{4}], dim = 0, "
        "T2_l_int64_t[iS3{5}, bS4{1}] )\n"
    )


def test_index_select_takes_positions_of_full_rank(fd):
    y = fd.ops.index_select(tensor(fd, [3, 4]), tensor(fd, [1, 6], D.Int32), 1)
    assert shape(y) == ["3", "6"]


def test_index_select_of_one_position_keeps_the_dimension(fd, math):
    y = fd.ops.index_select(tensor(fd, [3, 4]), tensor(fd, [], D.Int), 1)
    assert shape(y) == ["3", "1"]
    assert "select(" in math(y)


def test_gather_has_the_shape_of_its_positions(fd, math):
    y = fd.ops.gather(tensor(fd, [3, 4]), tensor(fd, [2, 6], D.Int), 1)
    assert [axis.iter_type() for axis in y.get_logical_domain()] == [IterType.GatherScatter] * 2
    assert math(y) == (
        "T2_g_float[nS4{2}, nS5{6}] = torchGather( T0_g_float[iS0{3}, iS1{4}], dim = 1, "
        "T1_g_int64_t[iS2{2}, iS3{6}] )\n"
    )
    z = fd.ops.neg(y)
    assert [axis.iter_type() for axis in z.get_logical_domain()] == [IterType.Iteration] * 2


def test_take_along_axis_aligns_the_other_dimensions(fd, math):
    y = fd.ops.take_along_axis(tensor(fd, [3, 4]), tensor(fd, [3, 6], D.Int), -1)
    assert math(y) == (
        "T2_g_float[iS4{3}, iS5{6}] = takeAlongAxis( T0_g_float[iS0{3}, iS1{4}], "
        "T1_g_int64_t[iS2{3}, iS3{6}], dim = 1 )\n"
    )
    assert shape(fd.ops.take_along_axis(tensor(fd, [1, 4]), tensor(fd, [3, 6], D.Int), 1)) == [
        "3",
        "6",
    ]
    assert shape(fd.ops.take_along_axis(tensor(fd, [3, 4]), tensor(fd, [1, 6], D.Int), 1)) == [
        "3",
        "6",
    ]


def test_scatter_has_the_shape_of_its_operand_and_the_loops_of_its_positions(fd):
    y = fd.ops.scatter(tensor(fd, [3, 4]), tensor(fd, [2, 6], D.Int), 1.0, 1)
    assert shape(y) == ["3", "4"]
    assert [axis.iter_type() for axis in y.get_logical_domain()] == [IterType.GatherScatter] * 2
    assert [str(axis.extent()) for axis in y.get_loop_domain()] == ["2", "6"]
    assert not y.definition().exact_sizes
    z = fd.ops.scatter(tensor(fd, [3, 4]), tensor(fd, [3, 6], D.Int), tensor(fd, [3, 6]), 1)
    assert z.definition().exact_sizes
    assert z.get_loop_domain()[0] == z.get_logical_domain()[0]


def test_scatter_text(fd, math):
    x, index = tensor(fd, [4]), tensor(fd, [3], D.Int)
    y = fd.ops.scatter(x, index, tensor(fd, [3]), 0)
    z = fd.ops.scatter(x, index, 2.0, 0, accumulate_op=BinaryOpType.Mul)
    assert math(y, z) == (
        "T3_g_float[iS4{3}] = scatter(in = T0_g_float[iS0{4}], dim = 0, src = T2_g_float[iS2{3}], "
        "idx = T1_g_int64_t[iS1{3}] )\n"
        "T4_g_float[iS6{3}] = scatter(in = T0_g_float[iS0{4}], dim = 0, src = double(2), "
        "idx = T1_g_int64_t[iS1{3}], accumulate = mul )\n"
    )


def test_embedding_has_the_shape_of_its_input_and_a_row(fd):
    y = fd.ops.embedding_fwd(tensor(fd, [2, 3], D.Int), tensor(fd, [7, 5], D.BFloat16))
    assert shape(y) == ["2", "3", "5"]
    assert y.dtype() == D.BFloat16
    definition = y.definition()
    assert definition.norm_type.value() == 2.0
    assert definition.scale_grad_by_freq.value() is False
    assert definition.padding_idx is None


# ---- Errors --------------------------------------------------------------------------------------


def test_ranks_must_agree(fd):
    x, index = tensor(fd, [3, 4]), tensor(fd, [3], D.Int)
    for read in (fd.ops.gather, fd.ops.take_along_axis):
        with pytest.raises(RuntimeError, match="arguments have different dimensions 2 and 1"):
            read(x, index, 0)
    with pytest.raises(RuntimeError, match="different dimensions 2, 1 and 2"):
        fd.ops.scatter(x, index, x, 0)
    with pytest.raises(RuntimeError, match="different dimensions 2 and 1"):
        fd.ops.scatter(x, index, 1.0, 0)
    with pytest.raises(RuntimeError, match="different dimensions 2 and 1"):
        fd.ops.index_put_accumulate(x, index, tensor(fd, [3]))
    with pytest.raises(RuntimeError, match="index_tv must be a 1d or scalar tensor"):
        fd.ops.index_select(x, tensor(fd, [3, 4], D.Int), 0)
    with pytest.raises(RuntimeError, match=r"row numbers are \[n\] or \[n, 1\]"):
        fd.ops.index_put_accumulate(x, tensor(fd, [3, 2], D.Int), x)


def test_dimensions_are_in_range(fd):
    x, index = tensor(fd, [3, 4]), tensor(fd, [3, 4], D.Int)
    text = (
        "Tensor arguments have dimension 2 so dim argument must satisfy -2 <= dim < 2, "
        "but received {}"
    )
    for dim in (2, -3):
        with pytest.raises(RuntimeError, match=text.format(dim)):
            fd.ops.gather(x, index, dim)
        with pytest.raises(RuntimeError, match=text.format(dim)):
            fd.ops.take_along_axis(x, index, dim)
        with pytest.raises(RuntimeError, match=text.format(dim)):
            fd.ops.scatter(x, index, 0.0, dim)
    with pytest.raises(RuntimeError, match="out of boundary index"):
        fd.ops.select(x, 0, 2)
    with pytest.raises(RuntimeError, match="out of boundary index"):
        fd.ops.index_select(x, tensor(fd, [3], D.Int), 2)


def test_an_operand_has_dimensions(fd):
    x, index = tensor(fd, []), tensor(fd, [], D.Int)
    for name, call in {
        "torch.gather": lambda: fd.ops.gather(x, index, 0),
        "take_along_axis": lambda: fd.ops.take_along_axis(x, index, 0),
        "scatter": lambda: fd.ops.scatter(x, index, 0.0, 0),
        "select": lambda: fd.ops.select(x, 0, 0),
    }.items():
        with pytest.raises(RuntimeError, match=f"{name} can not be applied to 0d tensor."):
            call()
    text = "lookup_tv argument for indexSelect cannot be a 0-D tensor."
    with pytest.raises(RuntimeError, match=text):
        fd.ops.index_select(x, index, 0)
    with pytest.raises(RuntimeError, match="Expected input to be atleast 1D, got: 0"):
        fd.ops.embedding_fwd(index, tensor(fd, [3, 4]))
    with pytest.raises(RuntimeError, match="Expected weight to be 2D, got: 1"):
        fd.ops.embedding_fwd(tensor(fd, [3], D.Int), tensor(fd, [3]))


@pytest.mark.parametrize("dtype", [D.Bool, D.ComplexFloat, D.Float8_e4m3fn])
def test_positions_are_integers(fd, dtype):
    x = tensor(fd, [3], dtype)
    for call in (
        lambda: fd.ops.gather(x, x, 0),
        lambda: fd.ops.take_along_axis(x, x, 0),
        lambda: fd.ops.index_select(x, x, 0),
        lambda: fd.ops.scatter(x, x, x, 0),
        lambda: fd.ops.index_put_accumulate(x, x, x),
        lambda: fd.ops.select(x, True, 0),
        lambda: fd.ops.embedding_fwd(x, tensor(fd, [3, 4])),
    ):
        with pytest.raises(RuntimeError, match="Expected positions of an integer type"):
            call()


def test_positions_that_promotion_made_floats_are_cast(target):
    """As in a cross entropy that ignores some targets."""
    x = torch.randn(4, 7, device=target)
    positions = torch.tensor([[3], [-100], [0], [2]], device=target)
    with FusionDefinition() as fd:
        logits = fd.define_tensor([-1, -1], contiguity=True)
        at = fd.define_tensor([-1, 1], contiguity=[True, None], dtype=D.Int)
        safe = fd.ops.where(fd.ops.eq(at, -100), 0.0, at)
        assert safe.dtype() == D.Double
        rows = fd.ops.squeeze(safe, [1])
        outputs = [
            fd.ops.gather(logits, safe, 1),
            fd.ops.take_along_axis(logits, safe, 1),
            fd.ops.index_select(logits, rows, 1),
            fd.ops.scatter(logits, safe, fd.define_scalar(9.0), 1),
            fd.ops.select(logits, 2.0, 0),
            fd.ops.embedding_fwd(rows, logits),
        ]
        for out in outputs:
            fd.add_output(out)
    found = fd.execute([x, positions])
    index = positions.where(positions != -100, 0)
    expected = [
        x.gather(1, index),
        x.take_along_dim(index, 1),
        x[:, index.flatten()],
        x.scatter(1, index, 9.0),
        x[2],
        x[index.flatten()],
    ]
    for result, reference in zip(found, expected, strict=True):
        torch.testing.assert_close(result, reference)


def test_select_takes_one_position_in_range(fd):
    x = tensor(fd, [3])
    with pytest.raises(RuntimeError, match="select takes one position"):
        fd.ops.select(x, tensor(fd, [2], D.Int), 0)
    for position in (-1, 3):
        with pytest.raises(RuntimeError, match="select: position out of range"):
            fd.ops.select(x, position, 0)


def test_sizes_of_take_along_axis_agree(fd):
    with pytest.raises(RuntimeError, match="Expected sizes to match: 3 vs 2"):
        fd.ops.take_along_axis(tensor(fd, [3, 4]), tensor(fd, [2, 4], D.Int), 1)


# ---- Values --------------------------------------------------------------------------------------


def execute(define, *inputs, symbolic=True):
    """The outputs of a kernel (or the evaluator) and those of the evaluator."""
    with FusionDefinition() as fd:
        args = []
        for x in inputs:
            sizes = [-1 if symbolic and n != 1 else n for n in x.shape]
            args.append(
                fd.define_tensor(
                    sizes,
                    contiguity=[None if n == 1 else False for n in x.shape],
                    dtype=TYPES[x.dtype],
                )
            )
        fd.add_output(define(fd.ops, *args))
    return fd.execute(inputs)[0], evaluate(fd.fusion, inputs)[0], fd


def check_cuda_kernel(fd):
    """NVRTC takes what the fusion becomes for a GPU, if it has a kernel form."""
    fusion = fd.fusion.clone()
    schedule.trivial(fusion)
    with contextlib.suppress(NotImplementedError):
        cuda_text(fusion)


def check(define, reference, *inputs):
    for symbolic in (True, False):
        out, evaluated, fd = execute(define, *inputs, symbolic=symbolic)
        check_cuda_kernel(fd)
        torch.testing.assert_close(out, reference, rtol=0, atol=0)
        torch.testing.assert_close(evaluated, reference, rtol=0, atol=0)


def random(*sizes, dtype=torch.float32, device="cpu"):
    generator = torch.Generator().manual_seed(sum(sizes) + len(sizes))
    values = torch.randint(-9, 10, sizes, generator=generator)
    return (values > 0 if dtype == torch.bool else values.to(dtype)).to(device)


def positions(*sizes, below, device="cpu", dtype=torch.int64):
    generator = torch.Generator().manual_seed(sum(sizes))
    return torch.randint(0, max(below, 1), sizes, generator=generator).to(dtype).to(device)


SHAPES = [(1, 1, 1), (3, 4, 5), (7, 1, 2), (2, 33, 129)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index_dtype", [torch.int64, torch.int32])
def test_reads_of_every_type(target, dtype, index_dtype):
    x = random(5, 7, dtype=dtype, device=target)
    index = positions(3, 7, below=5, device=target, dtype=index_dtype)
    check(lambda ops, x, i: ops.gather(x, i, 0), x.gather(0, index.long()), x, index)


@pytest.mark.parametrize("dtype", TYPES)
def test_writes_of_every_type(target, dtype):
    x, src = random(5, 7, dtype=dtype, device=target), random(1, 7, dtype=dtype, device=target)
    index = positions(1, 7, below=5, device=target)
    check(lambda ops, x, i, s: ops.scatter(x, i, s, 0), x.scatter(0, index, src), x, index, src)


@pytest.mark.parametrize("sizes", SHAPES)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_every_dimension(target, sizes, dim):
    x = random(*sizes, device=target)
    smaller = [*sizes]
    smaller[dim] = 6
    index = positions(*smaller, below=sizes[dim], device=target)
    vector = positions(9, below=sizes[dim], device=target)
    check(lambda ops, x, i: ops.gather(x, i, dim), x.gather(dim, index), x, index)
    check(
        lambda ops, x, i: ops.take_along_axis(x, i, dim),
        torch.take_along_dim(x, index, dim),
        x,
        index,
    )
    check(lambda ops, x, i: ops.index_select(x, i, dim), x.index_select(dim, vector), x, vector)
    last = sizes[dim] - 1
    check(lambda ops, x: ops.select(x, last, dim), x.select(dim, last), x)


@pytest.mark.parametrize("layout", ["permuted", "expanded", "sliced"])
def test_operands_of_any_layout(target, layout):
    x = random(6, 4, device=target)
    index = positions(3, 4, below=4, device=target)
    if layout == "permuted":
        x, index = x.T.contiguous().T, index.T.contiguous().T
    elif layout == "sliced":
        x, index = random(6, 8, device=target)[:, ::2], positions(3, 8, below=4)[:, ::2].to(target)
    else:
        x = random(6, 1, device=target).expand(6, 4)
        with FusionDefinition() as fd:
            a = fd.define_tensor([6, 4], contiguity=[True, None])
            i = fd.define_tensor([3, 4], contiguity=True, dtype=D.Int)
            fd.add_output(fd.ops.gather(a, i, 1))
            fd.add_output(fd.ops.scatter(a, i, 5.0, 1))
        outs = fd.execute([x, index])
        torch.testing.assert_close(outs[0], x.gather(1, index))
        torch.testing.assert_close(outs[1], x.scatter(1, index, 5.0))
        return
    check(lambda ops, x, i: ops.gather(x, i, 1), x.gather(1, index), x, index)
    src = torch.full_like(index, 5, dtype=x.dtype)
    check(lambda ops, x, i: ops.scatter(x, i, 5.0, 1), x.scatter(1, index, src), x, index)


def test_expanded_positions_read_one_row_for_each_element(target):
    x, index = random(6, 4, device=target), positions(1, 4, below=4, device=target)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], contiguity=True)
        i = fd.define_tensor([1, -1], contiguity=[None, True], dtype=D.Int)
        wide = fd.ops.expand(i, [6, -1])
        fd.add_output(fd.ops.gather(a, wide, 1))
        fd.add_output(fd.ops.take_along_axis(a, i, 1))
        fd.add_output(fd.ops.scatter(a, wide, 3.0, 1))
    outs = fd.execute([x, index])
    torch.testing.assert_close(outs[0], x.gather(1, index.expand(6, 4)))
    torch.testing.assert_close(outs[1], x.gather(1, index.expand(6, 4)))
    torch.testing.assert_close(outs[2], x.scatter(1, index.expand(6, 4), 3.0))


def test_operands_and_positions_that_are_computed(target):
    x = random(37, 20, device=target)
    index = positions(37, 9, below=19, device=target)

    def define(ops, x, i):
        scaled = ops.mul(x, 2.0)
        looked_up = ops.take_along_axis(scaled, ops.add(i, 1), 1)
        return ops.sub(looked_up, ops.broadcast(ops.sum(looked_up, [1]), [False, True]))

    expected = torch.take_along_dim(2 * x, index + 1, 1)
    check(define, expected - expected.sum(1, keepdim=True), x, index)


def test_a_scatter_between_other_operations(target):
    x, src = random(50, 3, device=target), random(20, 3, device=target)
    index = torch.stack([torch.randperm(50)[:20] for _ in range(3)], 1).to(target)

    def define(ops, x, i, s):
        moved = ops.scatter(ops.neg(x), i, ops.mul(s, 2.0), 0)
        return ops.add(ops.gather(moved, i, 0), s)

    expected = (-x).scatter(0, index, 2 * src).gather(0, index) + src
    check(define, expected, x, index, src)


def test_a_source_may_be_larger(target):
    x, src = random(9, 5, device=target), random(4, 6, device=target)
    index = torch.stack([torch.randperm(9)[:3] for _ in range(5)], 1).to(target)
    check(lambda ops, x, i, s: ops.scatter(x, i, s, 0), x.scatter(0, index, src), x, index, src)
    check(
        lambda ops, x, i, s: ops.scatter(x, i, ops.neg(s), 0),
        x.scatter(0, index, -src),
        x,
        index,
        src,
    )


def test_a_source_of_another_type_is_converted(target):
    x, src = random(9, device=target), random(3, device=target, dtype=torch.int32)
    index = torch.randperm(9)[:3].to(target)
    check(
        lambda ops, x, i, s: ops.scatter(x, i, s, 0),
        x.scatter(0, index, src.float()),
        x,
        index,
        src,
    )


def test_the_operand_of_a_scatter_is_used_again(target):
    x = random(9, device=target)
    index = torch.randperm(9)[:3].to(target)

    def define(ops, x, i):
        y = ops.neg(x)
        return ops.add(ops.scatter(y, i, 4.0, 0), y)

    check(define, (-x).scatter(0, index, 4.0) - x, x, index)


@pytest.mark.parametrize("op", ["Add", "Mul", "Max", "Min"])
def test_accumulation_is_evaluated(target, op):
    x, src = random(6, 4, device=target), random(5, 4, device=target)
    index = positions(5, 4, below=6, device=target)
    reduce = {"Add": "sum", "Mul": "prod", "Max": "amax", "Min": "amin"}[op]
    check(
        lambda ops, x, i, s: ops.scatter(x, i, s, 0, getattr(BinaryOpType, op)),
        x.scatter_reduce(0, index, src, reduce),
        x,
        index,
        src,
    )


def test_rows_are_added(target):
    x, value = random(6, 4, device=target), random(9, 4, device=target)
    index = positions(9, below=6, device=target)
    expected = x.index_put((index,), value, accumulate=True)
    for i in (index, index[:, None]):
        check(lambda ops, x, i, v: ops.index_put_accumulate(x, i, v), expected, x, i, value)


def test_accumulation_has_no_kernel_form(fd):
    x, index = tensor(fd, [4]), tensor(fd, [3], D.Int)
    fd.add_output(fd.ops.scatter(x, index, 1.0, 0, BinaryOpType.Add))
    with pytest.raises(NotImplementedError, match="ScatterOp has no kernel form"):
        fd.fusion.print_kernel()


@pytest.mark.parametrize("max_norm", [None, 1.5])
def test_embedding(target, max_norm):
    weight, index = random(11, 4, device=target), positions(2, 3, below=11, device=target)
    before = weight.clone()
    reference = torch.nn.functional.embedding(index, weight.clone(), None, max_norm)
    out, evaluated, _ = execute(
        lambda ops, i, w: ops.embedding_fwd(i, w, max_norm=max_norm), index, weight
    )
    torch.testing.assert_close(out, reference)
    torch.testing.assert_close(evaluated, reference)
    torch.testing.assert_close(weight, before)


def test_nothing_is_read_or_written(target):
    none = torch.zeros(0, 4, dtype=torch.int64, device=target)
    x = random(5, 4, device=target)
    check(lambda ops, x, i: ops.gather(x, i, 0), x[:0], x, none)
    check(lambda ops, x, i: ops.scatter(x, i, 1.0, 0), x, x, none)


def test_the_evaluator_refuses_positions_out_of_range():
    x, index = random(5), torch.tensor([5])
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], contiguity=True)
        i = fd.define_tensor([-1], contiguity=True, dtype=D.Int)
        fd.add_output(fd.ops.index_select(a, i, 0))
    with pytest.raises(IndexError, match="index out of range"):
        evaluate(fd.fusion, [x, index])

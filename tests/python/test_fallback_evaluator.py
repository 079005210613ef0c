"""The fallback evaluator: the reference of all numeric tests, so it is checked against PyTorch."""

from __future__ import annotations

import math
import re

import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition, MemoryType, UserError, evaluate, ops


def run(define, *inputs, **kwargs) -> torch.Tensor:
    with FusionDefinition() as fd:
        fd.add_output(define(fd, *[_define(fd, x) for x in inputs]))
    return evaluate(fd.fusion, inputs, **kwargs)[0]


def _define(fd: FusionDefinition, value):
    if isinstance(value, torch.Tensor):
        return fd.from_pytorch(value)
    return fd.define_scalar(nvf.pytorch_utils.python_scalar_to_nvfuser_dtype(value))


def check(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert actual.dtype == expected.dtype
    torch.testing.assert_close(actual, expected, equal_nan=True)


UNARY = [
    "abs", "acos", "asin", "asinh", "atan", "ceil", "cos", "cosh", "exp", "exp2", "expm1",
    "erf", "erfc", "erfinv", "floor", "frac", "lgamma", "log", "log10", "log1p", "log2", "neg",
    "logical_not", "relu", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "signbit", "sin",
    "sinh", "sqrt", "tan", "tanh", "trunc", "isfinite", "isinf", "isnan", "isneginf",
    "isposinf", "isreal",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    x = torch.tensor([-2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, torch.inf, torch.nan])
    actual = run(lambda fd, a: getattr(fd.ops, name)(a), x)
    check(actual, getattr(torch, name)(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_inverse_of_erfc_keeps_small_arguments(target: str, dtype: torch.dtype) -> None:
    """In kernels and in the evaluator: erfinv(1 - x) would lose them."""
    small = [1e-30, 1e-20] if dtype == torch.float32 else [1e-300, 1e-200, 1e-30]
    y = torch.tensor([*small, 1e-10, 0.25, 1.0, 1.75, 0.0, 2.0, 2.5, torch.nan], dtype=dtype)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.erfcinv(fd.from_pytorch(y)))
    for out in (evaluate(fd.fusion, [y])[0], fd.execute([y.to(target)])[0].cpu()):
        assert out[-4:-2].tolist() == [torch.inf, -torch.inf]
        assert out[-2:].isnan().all()
        torch.testing.assert_close(
            torch.special.erfc(out[:-4].double()), y[:-4].double(), rtol=2e-4, atol=0
        )


BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "truediv": torch.true_divide,
    "fmod": torch.fmod,
    "remainder": torch.remainder,
    "pow": torch.pow,
    "atan2": torch.atan2,
    "nextafter": torch.nextafter,
    "minimum": torch.minimum,
    "maximum": torch.maximum,
    "eq": torch.eq,
    "ne": torch.ne,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, rng: torch.Generator) -> None:
    x = torch.randn(6, 5, generator=rng)
    y = torch.randn(5, generator=rng)
    x[0, 0] = torch.nan
    y[2] = x[1, 2]
    check(run(lambda fd, a, b: getattr(fd.ops, name)(a, b), x, y), BINARY[name](x, y))


def test_integers_divide_as_in_c() -> None:
    a = torch.tensor([7, -7, 7, -7])
    b = torch.tensor([2, 2, -2, -2])
    check(run(lambda fd, x, y: fd.ops.div(x, y), a, b), torch.tensor([3, -3, -3, 3]))
    check(run(lambda fd, x, y: fd.ops.mod(x, y), a, b), torch.tensor([1, -1, 1, -1]))
    check(run(lambda fd, x, y: fd.ops.remainder(x, y), a, b), torch.tensor([1, 1, -1, -1]))


def test_scalars_promote_like_numbers() -> None:
    x = torch.tensor([1.0, 2.0])
    check(run(lambda fd, a: fd.ops.add(a, 0.1), x), x + 0.1)
    check(run(lambda fd, a: fd.ops.add(a, 1), torch.tensor([1, 2])), torch.tensor([2, 3]))
    check(run(lambda fd, a, s: fd.ops.mul(a, s), x, 3.0), x * 3)


def test_scalar_expressions() -> None:
    def define(fd, a, s):
        scalar = fd.ops.ceilDiv(fd.ops.add(s, 3), 4)
        return fd.ops.add(a, scalar)

    check(run(define, torch.tensor([1, 2]), 6), torch.tensor([4, 5]))


def test_half_computes_in_float() -> None:
    x = torch.tensor([1.0, 2.5], dtype=torch.float16)
    check(run(lambda fd, a: fd.ops.add(a, a), x), (x.float() + x.float()))


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", [[0], [1], [0, 2], [0, 1, 2]])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_reductions(name: str, dims: list[int], keepdim: bool, rng: torch.Generator) -> None:
    x = torch.randn(3, 4, 5, generator=rng, dtype=torch.float64)
    actual = run(lambda fd, a: getattr(fd.ops, name)(a, dims, keepdim), x)
    expected = x
    if name in ("max", "min"):
        expected = getattr(torch, f"a{name}")(x, dims, keepdim)
    else:
        for dim in reversed(dims):
            expected = getattr(torch, name)(expected, dim, keepdim=keepdim)
    check(actual, expected)


def test_reductions_of_integers_and_bool() -> None:
    x = torch.tensor([[1, 2], [3, 4]], dtype=torch.int32)
    check(run(lambda fd, a: fd.ops.sum(a, [1]), x), torch.tensor([3, 7]))
    mask = torch.tensor([[True, False], [False, False]])
    check(run(lambda fd, a: fd.ops.sum(a, [1]), mask), torch.tensor([1, 0]))
    check(run(lambda fd, a: fd.ops.max(a, [1]), mask), torch.tensor([True, False]))


def test_empty_reductions_give_the_identity() -> None:
    x = torch.empty(3, 0)
    check(run(lambda fd, a: fd.ops.sum(a, [1]), x), torch.zeros(3))
    check(run(lambda fd, a: fd.ops.max(a, [1]), x), torch.full((3,), -torch.inf))


@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("name", ["var", "var_mean"])
def test_variance(name: str, correction: int, rng: torch.Generator) -> None:
    x = torch.randn(4, 9, generator=rng, dtype=torch.float64)

    def define(fd, a):
        result = getattr(fd.ops, name)(a, [1], correction)
        return result[0] if isinstance(result, tuple) else result

    check(run(define, x), x.var(1, correction=correction))


def test_shapes(rng: torch.Generator) -> None:
    x = torch.randn(2, 3, 4, generator=rng)
    check(run(lambda fd, a: fd.ops.permute(a, [2, 0, 1]), x), x.permute(2, 0, 1))
    check(run(lambda fd, a: fd.ops.broadcast(a, [False, True, False, False]), x), x.unsqueeze(1))
    check(run(lambda fd, a: fd.ops.squeeze(a, [1]), x[:, :1]), x[:, 0])
    check(run(lambda fd, a: fd.ops.expand(a, [2, 5, 4]), x[:, :1]), x[:, :1].expand(2, 5, 4))
    static = lambda fd, a: fd.ops.reshape(fd.define_tensor([2, 3, 4]), [6, 4])  # noqa: E731
    with FusionDefinition() as fd:
        fd.add_output(static(fd, None))
    check(evaluate(fd.fusion, [x])[0], x.reshape(6, 4))


def test_where_clamp_threshold(rng: torch.Generator) -> None:
    x = torch.randn(10, generator=rng)
    mask = x > 0
    check(run(lambda fd, m, a: fd.ops.where(m, a, 2.0), mask, x), torch.where(mask, x, 2.0))
    check(run(lambda fd, m: fd.ops.where(m, 1, 2), mask), torch.where(mask, 1, 2))
    check(run(lambda fd, a: fd.ops.clamp(a, -0.5, None), x), x.clamp(min=-0.5))
    expected = torch.where(x <= 0.1, torch.tensor(-1.0), x)
    check(run(lambda fd, a: fd.ops.threshold(a, 0.1, -1.0), x), expected)


def test_factories() -> None:
    check(run(lambda fd: fd.ops.full([2, 3], 1.5, DataType.Float)), torch.full((2, 3), 1.5))
    check(run(lambda fd: fd.ops.iota(4, 3, 2)), torch.tensor([3, 5, 7, 9]))


# ---- Scheduled fusions ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 7, 8, 100])
def test_a_factored_reduction_whose_split_has_a_rest(size: int, rng: torch.Generator) -> None:
    x = torch.randn(3, size, generator=rng, dtype=torch.float64)
    with FusionDefinition() as fd:
        total = fd.ops.sum(fd.from_pytorch(x), [1])
        top = fd.ops.max(fd.from_pytorch(x), [1])
        fd.add_output(total)
        fd.add_output(top)
        for tensor in (total, top):
            tensor.split(1, 8)
            tensor.rfactor([1])
    total, top = evaluate(fd.fusion, [x, x])
    check(total, x.sum(1))
    check(top, x.amax(1))


def test_a_factored_welford(rng: torch.Generator) -> None:
    x = torch.randn(3, 21, generator=rng, dtype=torch.float64)
    with FusionDefinition() as fd:
        avg, var_sum, n = fd.ops.welford(fd.from_pytorch(x), [1])
        for tensor in (avg, var_sum, n):
            fd.add_output(tensor)
        avg.split(1, 8)
        avg.rfactor([1], [avg, var_sum, n])
    avg, var_sum, n = evaluate(fd.fusion, [x])
    check(avg, x.mean(1))
    check(var_sum, x.var(1, correction=0) * 21)
    check(n, torch.full((3,), 21))


def test_caches_and_schedules_change_nothing(rng: torch.Generator) -> None:
    x = torch.randn(5, 6, generator=rng)
    with FusionDefinition() as fd:
        t0 = fd.from_pytorch(x)
        t1 = fd.ops.permute(fd.ops.exp(t0), [1, 0])
        fd.add_output(t1)
        cached = t0.cache_after()
        cached.set_memory_type(MemoryType.shared)
        before = t1.cache_before()
        before.merge(0, 1).split(0, 4)
        fd.sched.transform_like(before)
        fd.sched.inline_most()
    check(evaluate(fd.fusion, [x])[0], x.exp().t())


# ---- Types, bindings, errors ---------------------------------------------------------------------


def test_references_are_computed_in_double() -> None:
    x = torch.full((1000,), 0.1, dtype=torch.float16)
    actual = run(
        lambda fd, a: fd.ops.sum(fd.ops.cast(a, DataType.Float), [0]),
        x,
        dtype_override=torch.float64,
    )
    check(actual, x.double().sum())


@pytest.mark.parametrize(
    "dtype", [DataType.Half, DataType.BFloat16, DataType.Float8_e4m3fn, DataType.Float8_e5m2]
)
def test_references_are_rounded_where_the_definition_rounds(target: str, dtype: DataType) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        rounded = fd.ops.cast(fd.ops.cast(t0, dtype), DataType.Float)
        fd.add_output(rounded)
        fd.add_output(fd.ops.eq(rounded, t0))
    fd.validate([torch.linspace(-3, 3, 100, device=target)])


def test_references_overflow_where_their_dtypes_do(target: str) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        large = fd.ops.mul(t0, 10.0)
        fd.add_output(large)
        fd.add_output(fd.ops.isfinite(large))
        fd.add_output(fd.ops.cast(t0, DataType.Half))
        fd.add_output(fd.ops.mul(large, 1j))
    fd.validate([torch.tensor([3e38, -3e38, 7e4, 1.0], device=target)])


def test_evaluated_outputs_are_laid_out_as_kernels_lay_out_theirs(target: str) -> None:
    x = torch.randn(3, 4, device=target)

    def define(is_evaluated: bool) -> FusionDefinition:
        with FusionDefinition() as fd:
            t0 = fd.from_pytorch(x)
            row = fd.ops.sum(t0, [0], keepdim=True)
            for out in (
                fd.ops.permute(t0, [1, 0]),
                fd.ops.stride_order(t0, [0, 1]),
                fd.ops.broadcast_in_dim(t0, [2, 3, 4], [1, 2]),
                fd.ops.expand(row, [5, 4]),
                fd.ops.slice(t0, [0, 1], [3, 3]),
                fd.ops.set(t0),
            ):
                fd.add_output(out)
            columns = fd.ops.neg(t0)
            fd.add_output(columns)
            rows_of_columns = columns.get_logical_domain()[::-1]
            columns.set_allocation_domain(rows_of_columns, True)
            if is_evaluated:
                fd.add_output(fd.ops.argsort(t0, 1))
        return fd

    evaluated, by_kernel = define(True).execute([x]), define(False).execute([x])
    for out, expected in zip(evaluated, by_kernel, strict=False):
        check(out, expected)
        assert out.stride() == expected.stride()


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ([(5, 4), (5, 4)], "Tried to bind to a constant value: 3 as 5"),
        ([(3, 4), (1, 4)], "Tried to bind to a value: 3 as 1"),
        ([(3, 4), (3, 1)], "Tried to bind to a value: 4 as 1"),
        ([(4, 3), (3, 4)], "to have contiguous dimension 1"),
    ],
)
def test_evaluation_checks_inputs_as_a_launch_does(
    target: str, sizes: list[tuple[int, int]], text: str
) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([3, -1], contiguity=True)
        t1 = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.argsort(fd.ops.add(t0, t1), 1))
    x, y = (torch.randn(*size, device=target) for size in sizes)
    with pytest.raises(RuntimeError, match=text):
        fd.execute([x.t() if "contiguous" in text else x, y])


def test_outputs_that_only_move_elements_share_memory(target: str) -> None:
    x = torch.randn(3, 3, device=target)
    with FusionDefinition() as fd:
        t0 = fd.from_pytorch(x)
        product = fd.ops.matmul(t0, t0)
        outs = [product, fd.ops.reshape(product, [9]), fd.ops.set(t0), fd.ops.set(product), product]
        for out in outs:
            fd.add_output(out)
        fd.add_output(t0)
    first, flat, copy, second, again, same = fd.execute([x])
    assert same is x
    assert again is first
    check(first, x @ x)
    check(flat, first.reshape(9))
    check(second, first)
    assert first.data_ptr() == flat.data_ptr() == second.data_ptr()
    assert copy.data_ptr() == x.data_ptr()
    assert [piece.way for piece in fd.fec.last_pieces()] == ["evaluated", "view", "view"]


def test_modes_of_the_caller_change_nothing(target: str) -> None:
    x = torch.randn(5, 5, device=target)
    with FusionDefinition() as fd:
        t0 = fd.from_pytorch(x)
        fd.add_output(fd.ops.matmul(t0, t0))
        fd.add_output(fd.ops.uniform(2.0, 3.0, [7], rng_seed=1, rng_offset=2))
    expected = fd.execute([x])
    with torch.autocast(x.device.type, dtype=torch.bfloat16), torch.device("meta"):
        outs = fd.execute([x])
        fd.validate([x])
    for out, other in zip(outs, expected, strict=True):
        check(out, other)


@pytest.mark.parametrize("is_inference", [False, True])
def test_an_evaluated_update_writes_into_parameters(target: str, is_inference: bool) -> None:
    with torch.inference_mode(is_inference):
        x = torch.nn.Parameter(torch.randn(3, 3, device=target))
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.matmul(t0, t0), t0)
    expected = (x.detach() @ x.detach()).clone()
    assert fd.execute([x]) == []
    check(x.detach(), expected)


def test_inputs_that_disagree_are_an_error() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        size = t0.size(0)
        fd.add_output(fd.ops.expand(fd.define_tensor([1]), [size]))
    with pytest.raises(UserError, match=r"Expected .* to have rank 1"):
        evaluate(fd.fusion, [torch.ones(3, 3), torch.ones(1)])
    with pytest.raises(UserError, match="KernelArgumentHolder contains less argument"):
        evaluate(fd.fusion, [torch.ones(3)])
    check(evaluate(fd.fusion, [torch.ones(3), torch.ones(1)])[0], torch.ones(3))


def test_evaluation_only_reads_its_inputs() -> None:
    x = torch.ones(4)
    with FusionDefinition() as fd:
        t0 = fd.from_pytorch(x)
        fd.add_output(fd.ops.add(t0, 1.0), t0)
        fd.add_output(fd.ops.mul(t0, 2.0))
    (visible,) = evaluate(fd.fusion, [x])
    check(visible, torch.full((4,), 2.0))
    check(x, torch.ones(4))


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("maximum", 1.0, math.nan, math.nan),
        ("minimum", math.nan, 1.0, math.nan),
        ("fmod", math.inf, 2.0, math.nan),
        ("fmod", 2**60 + 1, 1000, (2**60 + 1) % 1000),
        ("remainder", -1.0, 0.0, math.nan),
        ("remainder", -7, 3, 2),
        ("mod", -7, 3, -1),
        ("div", 1.0, -0.0, -math.inf),
        ("div", 0.0, 0.0, math.nan),
    ],
)
def test_scalars_are_numbers_of_pytorch(name, a, b, expected) -> None:
    with FusionDefinition() as fd:
        dtype = DataType.Int if isinstance(a, int) else DataType.Double
        x, y = fd.define_scalar(None, dtype=dtype), fd.define_scalar(None, dtype=dtype)
        out = getattr(fd.ops, name)(x, y)
        fd.add_output(fd.ops.full([2], out, dtype))
    (result,) = evaluate(fd.fusion, [a, b])
    wanted = torch.full((2,), expected, dtype=result.dtype)
    torch.testing.assert_close(result, wanted, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("dtype", "number", "compute"),
    [
        (DataType.Float, 0.1, lambda n: n),
        (DataType.Half, 0.1, lambda n: n),
        (DataType.BFloat16, 0.1, lambda n: n),
        (DataType.ComplexFloat, 0.1 + 0.2j, lambda n: n),
        (DataType.Int, 2**24 + 1, lambda n: ops.cast(n, DataType.Float)),
        (DataType.Double, 0.1, lambda n: ops.cast(n, DataType.Half)),
        (DataType.Float, 1.1, lambda n: ops.mul(n, n)),
        (DataType.Int, 2**63 - 1, ops.relu),
        (DataType.ComplexDouble, 1 + 2j, lambda n: ops.div(n, 0j)),
        (DataType.ComplexDouble, 0j, lambda n: ops.pow(n, -1 + 0j)),
    ],
)
def test_scalars_have_the_precision_of_their_dtype_as_in_a_kernel(
    dtype: DataType, number: complex, compute, target: str
) -> None:
    is_complex = dtype in (DataType.ComplexFloat, DataType.ComplexDouble)
    wide = DataType.ComplexDouble if is_complex else DataType.Double
    for is_constant in (False, True):
        with FusionDefinition() as fd:
            x = fd.define_tensor([1], dtype=DataType.Bool)  # says where the kernel runs
            n = fd.define_scalar(number, dtype) if is_constant else fd.define_scalar(dtype)
            value = compute(n)
            value = value if value.dtype() == DataType.Int else ops.cast(value, wide)
            fd.add_output(ops.where(x, ops.full([1], value, value.dtype()), value))
        inputs = [torch.tensor([True], device=target)] + [number] * (not is_constant)
        torch.testing.assert_close(
            fd.execute(inputs)[0], evaluate(fd.fusion, inputs)[0], rtol=0, atol=0, equal_nan=True
        )


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8], ids=str)
def test_powers_of_two_are_exact(dtype: torch.dtype) -> None:
    largest = torch.iinfo(dtype).max // 2 + 1
    x = torch.tensor([-3, 0, 1, 2, 3, 5, largest - 1, largest], dtype=dtype)
    expected = torch.tensor([1, 1, 1, 2, 4, 8, largest, largest], dtype=dtype)
    assert torch.equal(run(lambda fd, t: fd.ops.bitceil(t), x), expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_host_scalars_beside_cuda_tensors() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1])
        scalar = fd.define_tensor([], is_cpu=True)
        fd.add_output(fd.ops.add(x, fd.ops.broadcast(scalar, [True])))
        fd.add_output(scalar)
    x, scalar = torch.randn(5, device="cuda"), torch.tensor(2.0)
    total, same = fd.fusion.evaluate([x, scalar])
    assert torch.equal(total, x + 2)
    assert same.device.type == "cpu"
    assert same.item() == 2


# -- what PyTorch refuses --


def refused(define, *inputs) -> str:
    with pytest.raises(UserError) as raised:
        run(define, *inputs)
    assert raised.value.__cause__ is not None  # what PyTorch said, whole
    return str(raised.value)


def test_operations_that_pytorch_lacks_name_the_expression() -> None:
    mask = torch.ones(2, 2, dtype=torch.bool)
    text = refused(lambda fd, x: fd.ops.matmul(x, x), mask)
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "Cannot evaluate this expression through PyTorch"
    node = r"node:     T1_g_bool\[.*\] = matmul\(.*\), made at test_fallback_evaluator\.py:\d+"
    assert re.fullmatch(node, lines[1])
    assert lines[2].endswith("PyTorch has for these operands: DataType.Bool, DataType.Bool")
    assert lines[3].startswith("found:    NotImplementedError: ")
    assert lines[4].startswith("fix:      pass inputs that fit, cast the operands")


@pytest.mark.parametrize(
    ("define", "inputs", "kind"),
    [
        (
            lambda fd, x: fd.ops.matmul(x, x),
            [torch.ones(2, 2, dtype=torch.bool)],
            NotImplementedError,
        ),
        (lambda fd, x: fd.ops.div(x, x), [torch.tensor([0])], RuntimeError),
        (lambda fd, x, y: fd.ops.add(x, y), [torch.ones(2), torch.ones(3)], RuntimeError),
        (
            lambda fd, x, i: fd.ops.index_select(x, i, 0),
            [torch.ones(2), torch.tensor([5])],
            IndexError,
        ),
    ],
    ids=["no such function", "division by zero", "sizes", "position"],
)
def test_errors_of_pytorch_keep_their_class(define, inputs, kind) -> None:
    assert "Cannot evaluate this expression through PyTorch" in refused(define, *inputs)
    with pytest.raises(kind):
        run(define, *inputs)


def test_own_errors_of_the_evaluator_stay_as_they_are() -> None:
    with pytest.raises(UserError, match=r"^Integer division by zero detected\n"):
        run(lambda fd, x, n: fd.ops.add(x, fd.ops.div(n, n)), torch.tensor([1]), 0)

"""The text of kernels: what a person reads, and that compilers accept it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from device_sources import assemble, compile_cpu, compile_cuda, nvrtc, sources_used

from nvfuser_direct import DataType, FusionDefinition, MemoryType, ParallelType, schedule

GRID_X, BLOCK_X = ParallelType.grid_x, ParallelType.block_x


def bind_1d(*tensors, threads: int = 128) -> None:
    for t in tensors:
        t.split(0, threads)
        t.axis(0).parallelize(GRID_X)
        t.axis(1).parallelize(BLOCK_X)


def pointwise(op: Callable, *dtypes: DataType) -> FusionDefinition:
    """One operation on tensors of one dimension, in blocks of 128 threads."""
    with FusionDefinition() as fd:
        out = op(fd, *(fd.define_tensor([-1], contiguity=True, dtype=dtype) for dtype in dtypes))
        fd.add_output(out)
        bind_1d(out)
    return fd


def body_line(text: str, start: str) -> str:
    """The statement that begins with `start`, without its comment."""
    (line,) = (line.strip() for line in text.splitlines() if line.strip().startswith(start))
    return line.split(" //")[0]


def right_side(op: Callable, *dtypes: DataType, target: str = "cuda") -> str:
    """The value that the only statement assigns, with the index written as `i`."""
    text = pointwise(op, *dtypes).fusion.print_kernel(target=target)
    line = next(line for line in text.splitlines() if " = " in line and "// test_" in line)
    return re.sub(r"\[[^\]]*\]", "[i]", line.split(" = ", 1)[1].split(";")[0])


# ---- The head ------------------------------------------------------------------------------------


def test_a_cuda_kernel_starts_with_its_signature() -> None:
    text = pointwise(lambda fd, t: fd.ops.exp(t), DataType.Float).fusion.print_kernel()
    head = "// Codegen generated code\n__global__ void CUDAGeneratedKernel("
    assert text.startswith(head + "Tensor<float, 1, 1> T0, Tensor<float, 1, 1> T1) {\n")


def test_template_arguments_are_type_rank_and_allocation_rank() -> None:
    with FusionDefinition() as fd:
        t = fd.define_tensor([2, 3, 4], contiguity=True, dtype=DataType.Half)
        out = fd.ops.sum(fd.ops.cast(t, dtype=DataType.Float), [1])
        fd.add_output(out)
    text = fd.fusion.print_kernel()
    assert "CUDAGeneratedKernel(Tensor<__half, 3, 3> T0, Tensor<float, 2, 2> T" in text


def test_only_sizes_that_are_used_are_declared() -> None:
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        out = fd.ops.sum(t, [1])
        fd.add_output(out)
        out.axis(0).parallelize(GRID_X)
    text = fd.fusion.print_kernel()
    assert "const nvfuser_index_t i1 = T0.logical_size[1];" in text
    assert "logical_size[0]" not in text


def test_scalar_inputs_are_plain_parameters() -> None:
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1], contiguity=True)
        factor = fd.define_scalar(None, dtype=DataType.Double)
        out = fd.ops.mul(t, factor)
        fd.add_output(out)
        bind_1d(out)
    text = fd.fusion.print_kernel()
    name = re.search(r"Tensor<float, 1, 1> T0, double (d\d+),", text).group(1)
    assert f"* cast<float>({name});" in text  # the tensor decides the type


# ---- Expressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (lambda fd, t: fd.ops.mul(t, 0.1), "load_readonly(T0[i]) * 0.1f"),
        (lambda fd, t: fd.ops.add(t, -1.0), "load_readonly(T0[i]) + -1.0f"),
        (lambda fd, t: fd.ops.sub(2.0, t), "2.0f - load_readonly(T0[i])"),
        (lambda fd, t: fd.ops.add(t, float("inf")), "load_readonly(T0[i]) + infinity<float>()"),
        (lambda fd, t: fd.ops.add(t, float("-inf")), "load_readonly(T0[i]) + -infinity<float>()"),
        (lambda fd, t: fd.ops.add(t, float("nan")), "load_readonly(T0[i]) + quiet_nan<float>()"),
        (lambda fd, t: fd.ops.add(t, 1e-45), "load_readonly(T0[i]) + 1e-45f"),
        (lambda fd, t: fd.ops.add(t, 16777217.0), "load_readonly(T0[i]) + 16777216.0f"),
        (lambda fd, t: fd.ops.pow(t, 3.0), "power<3>(load_readonly(T0[i]))"),
        (lambda fd, t: fd.ops.pow(t, 2.5), "powf(load_readonly(T0[i]), 2.5f)"),
        (lambda fd, t: fd.ops.maximum(t, 0.0), "maximum(load_readonly(T0[i]), 0.0f)"),
        (lambda fd, t: fd.ops.gt(t, 0.5), "load_readonly(T0[i]) > 0.5f"),
        (lambda fd, t: fd.ops.reciprocal(t), "1.0f / load_readonly(T0[i])"),
        (lambda fd, t: fd.ops.clamp(t, 0.0, 6.0), "clamp<float>(load_readonly(T0[i]), 0.0f, 6.0f)"),
        (lambda fd, t: fd.ops.cast(t, dtype=DataType.Half), "cast<__half>(load_readonly(T0[i]))"),
    ],
)
def test_constants_next_to_floats_are_exact_floats(op: Callable, expected: str) -> None:
    assert right_side(op, DataType.Float) == expected


@pytest.mark.parametrize(
    ("dtype", "op", "expected"),
    [
        (DataType.Double, lambda fd, t: fd.ops.exp(t), "exp(load_readonly(T0[i]))"),
        (DataType.Double, lambda fd, t: fd.ops.mul(t, 0.1), "load_readonly(T0[i]) * 0.1"),
        (DataType.Int, lambda fd, t: fd.ops.add(t, 3), "load_readonly(T0[i]) + 3"),
        (
            DataType.Int,
            lambda fd, t: fd.ops.add(t, 2**40),
            "load_readonly(T0[i]) + 1099511627776ll",
        ),
        (
            DataType.Int,
            lambda fd, t: fd.ops.add(t, -(2**63)),
            "load_readonly(T0[i]) + (-9223372036854775807ll - 1)",
        ),
        (DataType.Int32, lambda fd, t: fd.ops.mul(t, 3), "load_readonly(T0[i]) * 3"),
        (
            DataType.Half,
            lambda fd, t: fd.ops.relu(t),
            "cast<__half>(relu(cast<float>(load_readonly(T0[i]))))",
        ),
        (DataType.BFloat16, lambda fd, t: fd.ops.set(t), "load_readonly(T0[i])"),
        (DataType.ComplexFloat, lambda fd, t: fd.ops.exp(t), "exp(load_readonly(T0[i]))"),
        (
            DataType.ComplexFloat,
            lambda fd, t: fd.ops.mul(t, 2.0),
            "load_readonly(T0[i]) * Complex<float>{2.0f, 0.0f}",
        ),
    ],
)  # fmt: skip
def test_the_type_of_the_result_decides(dtype: DataType, op: Callable, expected: str) -> None:
    assert right_side(op, dtype) == expected


def test_division_is_guarded_where_it_would_end_the_process() -> None:
    def quotient(fd, s, t):
        return fd.ops.div(s, t)

    ints = (DataType.Int, DataType.Int)
    assert right_side(quotient, *ints) == "load_readonly(T0[i]) / load_readonly(T1[i])"
    assert right_side(quotient, *ints, target="cpu") == "divide(T0[i], T1[i])"
    assert right_side(lambda fd, t: fd.ops.div(t, 4), DataType.Int, target="cpu") == "T0[i] / 4"


def test_an_index_of_32_bits_is_computed_in_32_bits() -> None:
    fd = pointwise(lambda fd, t: fd.ops.exp(t), DataType.Float)
    kernel = fd.fusion.lower(index_type=DataType.Int32)
    assert kernel is not None
    # The text is the same: nvfuser_index_t stands for either width.
    assert "block_x * 128 + thread_x" in (fd.fusion.print_kernel())


# ---- Statements ----------------------------------------------------------------------------------


def test_statements_name_the_line_of_the_program() -> None:
    fd = pointwise(lambda fd, t: fd.ops.exp(t), DataType.Float)
    assert re.search(
        r"= expf\(load_readonly\(T0\[.*\]\)\); // test_print_kernel\.py:\d+$",
        fd.fusion.print_kernel(),
        re.M,
    )


def test_loops_name_their_axis() -> None:
    with FusionDefinition() as fd:
        out = fd.ops.sum(fd.define_tensor([4, 8], contiguity=True), [1])
        fd.add_output(out)
    text = fd.fusion.print_kernel()
    assert re.search(r"for \(nvfuser_index_t (i\d+) = 0; \1 < 8; \+\+\1\) \{ // rS\d+\{8\}", text)


def vectorized_copy() -> FusionDefinition:
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1], contiguity=True)
        twice = fd.ops.mul(t, 2.0)
        fd.add_output(twice)
        loaded = t.cache_after()
        computed = twice.cache_before()
        for tensor in (loaded, computed, twice):
            tensor.split(0, 4)
            tensor.split(0, 128)
            tensor.axis(0).parallelize(GRID_X)
            tensor.axis(1).parallelize(BLOCK_X)
        loaded.inline_at(2)
        computed.inline_at(2)
        loaded.axis(2).parallelize(ParallelType.vectorize)
        twice.axis(2).parallelize(ParallelType.vectorize)
    return fd


def test_a_vectorized_copy_is_one_access() -> None:
    text = vectorized_copy().fusion.print_kernel()
    assert re.search(r"alignas\(16\) float T\d+\[4\];", text)
    assert re.search(r"load_vector<4, Cache::\w+>\(&T\d+\[0\], &T0\[.*\]\);", text)
    assert re.search(r"store_vector<4, Cache::\w+>\(&T1\[.*\], &T\d+\[0\]\);", text)


def test_the_cache_hint_of_a_vector_is_printed() -> None:
    text = vectorized_copy().fusion.print_kernel()
    assert "load_vector<4, Cache::ReadOnly>" in text  # nothing writes the input
    assert "store_vector<4, Cache::AllLevels>" in text


def block_sum(target: str) -> str:
    with FusionDefinition() as fd:
        out = fd.ops.sum(fd.define_tensor([-1, -1], contiguity=True), [1])
        fd.add_output(out)
        out.split(1, 64)
        partial = out.rfactor([1])
        for tensor in (out, partial):
            tensor.axis(0).parallelize(GRID_X)
            tensor.axis(-1).parallelize(BLOCK_X)
    return fd.fusion.print_kernel(target=target)


def test_a_block_reduction_is_one_unconditional_call() -> None:
    line = body_line(block_sum("cuda"), "block_reduce<")
    assert line.startswith("block_reduce<true, false, false, /*warps=*/false, ReduceAdd>(")
    assert line.endswith(", 0.0f, true, smem + 0);")


def test_a_block_reduction_on_the_cpu_folds_between_thread_loops() -> None:
    text = block_sum("cpu")
    assert text.count("NVF_INDEPENDENT") == 1  # the store needs one thread, and no loop
    assert re.search(r"threadIdx\.x = 0;\n +\{\n", text)
    assert re.search(r"(T\d+_all) = \1 \+ T\d+\[threadIdx\.x\];", text)


def grid_sum() -> FusionDefinition:
    with FusionDefinition() as fd:
        out = fd.ops.sum(fd.define_tensor([-1, -1], contiguity=True), [0, 1])
        fd.add_output(out)
        out.axis(0).parallelize(GRID_X)
        out.axis(1).parallelize(BLOCK_X)
    return fd


def test_a_grid_reduction_says_which_block_is_last() -> None:
    text = grid_sum().fusion.print_kernel()
    (name,) = re.findall(r"const bool (b\d+) = grid_reduce<GridShape<true, false, false, ", text)
    assert re.search(rf"if \(.*\b{name}\b.*\) {{", text)


def test_a_grid_reduction_on_the_cpu_is_two_phases() -> None:
    assert grid_sum().fusion.print_kernel(target="cpu").count("run_blocks(rt, gridDim, ") == 2


def through_shared_memory() -> FusionDefinition:
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, 64], contiguity=True)
        tile = fd.ops.exp(t)
        out = fd.ops.neg(tile)
        fd.add_output(out)
        tile.set_memory_type(MemoryType.shared)
        for tensor in (tile, out):
            tensor.axis(0).parallelize(GRID_X)
            tensor.axis(1).parallelize(BLOCK_X)
        tile.inline_at(1)
    return fd


def test_shared_memory_is_a_part_of_the_block_s_buffer() -> None:
    fusion = through_shared_memory().fusion
    assert "float* T1_s = reinterpret_cast<float*>(smem + 0);" in fusion.print_kernel()
    on_cpu = fusion.print_kernel(target="cpu")
    assert "float* const T1_s = reinterpret_cast<float*>(scratch + 0);" in on_cpu
    assert "reserve(scratch_bytes, 256);" in on_cpu


# ---- Compilers -----------------------------------------------------------------------------------

KERNELS = {
    "pointwise": lambda: pointwise(lambda fd, t: fd.ops.sigmoid(t), DataType.Float),
    "half": lambda: pointwise(lambda fd, t: fd.ops.silu(t), DataType.Half),
    "complex": lambda: pointwise(lambda fd, t: fd.ops.tanh(t), DataType.ComplexDouble),
    "integer": lambda: pointwise(lambda fd, s, t: fd.ops.gcd(s, t), DataType.Int, DataType.Int),
    "vectorized": vectorized_copy,
    "grid reduction": grid_sum,
    "shared memory": through_shared_memory,
}


@pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")
@pytest.mark.parametrize("name", KERNELS)
def test_nvrtc_compiles_the_kernel(name: str) -> None:
    text = KERNELS[name]().fusion.print_kernel()
    compile_cuda(assemble("cuda", sources_used("cuda", text), text))


@pytest.mark.parametrize("name", KERNELS)
def test_the_host_compiler_compiles_the_kernel(name: str, tmp_path) -> None:
    text = KERNELS[name]().fusion.print_kernel(target="cpu")
    compile_cpu(assemble("cpu", sources_used("cpu", text), text), tmp_path)


def test_remainders_on_the_right_of_products_have_parentheses() -> None:
    """`a * (b % c)` is another number than `a * b % c`: both have the precedence of products."""
    with FusionDefinition() as fd:
        a, b, c = (fd.define_scalar(None, dtype=DataType.Int) for _ in range(3))
        for operation in (fd.ops.mod, fd.ops.div, fd.ops.mul):
            fd.add_output(fd.ops.full([2], fd.ops.mul(a, operation(b, c)), DataType.Int))
    schedule.trivial(fd.fusion)
    text = re.sub(r"\bi\d+\b", "i", fd.fusion.print_kernel(target="cuda"))
    assert "i * (i % i)" in text
    assert "i * (i / i)" in text


# ---- Reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "dtypes", "expected"),
    [
        (lambda fd, t: fd.ops.cast(t, DataType.Float), [DataType.BFloat16], "cast<float>({})"),
        (lambda fd, s, t: fd.ops.add(s, t), [DataType.Float] * 2, "{} + {}"),
        (lambda fd, t: fd.ops.set(t), [DataType.ComplexDouble], "{}"),
    ],
)
def test_inputs_are_read_as_such_in_any_expression(
    op: Callable, dtypes: list[DataType], expected: str
) -> None:
    """On the GPU: the read-only path needs a function."""
    reads = [f"load_readonly(T{i}[i])" for i in range(len(dtypes))]
    assert right_side(op, *dtypes) == expected.format(*reads)
    plain = [f"T{i}[i]" for i in range(len(dtypes))]
    assert right_side(op, *dtypes, target="cpu") == expected.format(*plain)


def test_hardware_indices_are_converted_once() -> None:
    text = pointwise(lambda fd, t: fd.ops.exp(t), DataType.Float).fusion.print_kernel()
    assert re.findall(r"const nvfuser_index_t (\w+) = (\w+\.\w);", text) == [
        ("block_x", "blockIdx.x"),
        ("thread_x", "threadIdx.x"),
    ]
    assert text.count("Idx.") == 2


def negated(number: int) -> FusionDefinition:
    """As many inputs as outputs."""
    with FusionDefinition() as fd:
        for _ in range(number):
            out = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
            fd.add_output(out)
            bind_1d(out)
    return fd


def test_many_parameters_are_constant_where_they_lie() -> None:
    few, many = (negated(number).fusion.print_kernel(target="cuda") for number in (30, 40))
    assert "__grid_constant__" not in few
    assert many.count("const __grid_constant__ Tensor<float, 1, 1> T") == 80


@pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")
def test_a_kernel_with_many_parameters_compiles() -> None:
    text = negated(40).fusion.print_kernel(target="cuda")
    assert compile_cuda(assemble("cuda", sources_used("cuda", text), text))

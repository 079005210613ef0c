"""Random numbers: the same under any schedule and on any target, well distributed, reproducible."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text, has_nvrtc

from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    KernelExecutor,
    MemoryType,
    ParallelType,
    evaluate,
    schedule,
)
from nvfuser_direct.random_state import draw

if TYPE_CHECKING:
    from collections.abc import Callable

D = DataType
BX, TX = ParallelType.grid_x, ParallelType.block_x
TYPES = {
    D.Float: torch.float32,
    D.Double: torch.float64,
    D.Half: torch.float16,
    D.BFloat16: torch.bfloat16,
}
DISTRIBUTIONS = [("uniform", 0, 1), ("uniform", -3.0, 5.5), ("normal", 0, 1), ("normal", 2.0, 0.5)]
MILLION = 1_000_000


def make(fd, op, low, high, shape, seed=None, offset=None, dtype=D.Float):
    return getattr(fd.ops, op)(low, high, shape, rng_seed=seed, rng_offset=offset, dtype=dtype)


def numbers(
    target: str,
    op: str,
    low: float,
    high: float,
    shape: list[int],
    seed: int,
    offset: int = 0,
    dtype: DataType = D.Float,
) -> torch.Tensor:
    """Numbers of a kernel, with seed and offset as inputs."""
    with FusionDefinition() as fd:
        fd.define_tensor([1], contiguity=True)  # not read: it says where to run
        s, o = fd.define_scalar(None, dtype=D.Int), fd.define_scalar(None, dtype=D.Int)
        fd.add_output(make(fd, op, low, high, shape, s, o, dtype))
    (out,) = fd.execute([torch.empty(1, device=target), seed, offset])
    assert out.device.type == target
    return out.cpu()


# ---- one stream ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES, ids=lambda d: d.name)
@pytest.mark.parametrize(("op", "low", "high"), DISTRIBUTIONS)
def test_kernels_and_the_evaluator_agree(target, op, low, high, dtype) -> None:
    for shape, seed, offset in (([7, 1, 33], 5, 0), ([1001], -1, 2**40 + 3), ([], 0, 1)):
        out = numbers(target, op, low, high, shape, seed, offset, dtype)
        with FusionDefinition() as fd:
            fd.add_output(make(fd, op, low, high, shape, seed, offset, dtype))
        (reference,) = evaluate(fd.fusion, [])
        assert out.dtype == TYPES[dtype]
        if op == "uniform" and not (dtype == D.Double and low):
            assert torch.equal(out, reference)
        elif dtype in (D.Float, D.Double):
            eps = torch.finfo(out.dtype).eps
            torch.testing.assert_close(out, reference, rtol=16 * eps, atol=16 * eps)
        else:  # rounded from numbers that differ in the last place of Float
            eps = torch.finfo(out.dtype).eps
            torch.testing.assert_close(out, reference, rtol=eps, atol=1e-6)


def test_known_values(target) -> None:
    """The lanes of counter 0 of the published vector, as multiples of 2^-24 and 2^-53."""
    words = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    out = numbers(target, "uniform", 0, 1, [4], 0)
    assert out.tolist() == [(word >> 8) * 2.0**-24 for word in words]
    wide = [words[1] << 32 | words[0], words[3] << 32 | words[2]]
    out = numbers(target, "uniform", 0, 1, [2], 0, dtype=D.Double)
    assert out.tolist() == [(word >> 11) * 2.0**-53 for word in wide]


@pytest.mark.parametrize("parallel", ["unroll", "unswitch", "serial", "vectorize"])
@pytest.mark.parametrize("memory", ["local", "shared", "global"])
def test_the_schedule_does_not_matter(target, parallel, memory) -> None:
    """Vectorized stores, unrolled loops, shared memory, other orders of axes."""
    n, m = 12, 40
    expected = numbers("cpu", "uniform", 0, 1, [n, m], 11, 4)
    for order in ("rows", "columns", "flat"):
        with FusionDefinition() as fd:
            s = fd.define_scalar(None, dtype=D.Int)
            r = make(fd, "uniform", 0, 1, [n, m], s, 4)
            out = fd.ops.set(r)
            fd.add_output(out)
            if order == "columns":
                out.reorder({0: 1, 1: 0})
            if order == "flat":
                out.merge(0)
            out.split(-1, 4)
            out.split(0, 8)
            schedule.transform_like(out)
            for tensor in (r, out):
                tensor.axis(0).parallelize(BX)
                tensor.axis(1).parallelize(TX)
            r.set_memory_type(getattr(MemoryType, memory))
            if order != "columns" or parallel != "vectorize":
                out.axis(-1).parallelize(getattr(ParallelType, parallel))
        executor = KernelExecutor()
        executor.compile(fd.fusion, [11], compile_params=params_for(target))
        assert torch.equal(executor.run([11])[0].cpu(), expected)


def params_for(target: str):
    return CompileParams(device="cuda:0" if target == "cuda" else "cpu")


def test_recomputing_gives_the_same_numbers(target) -> None:
    """Inlined into two loops, broadcast, and read in one kernel and by its output."""
    x = torch.zeros(6, 5, 8, device=target)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1, -1], contiguity=True)
        r = make(fd, "normal", 0, 1, [6, 8], 3, 9)
        b = fd.ops.broadcast(r, [False, True, False])
        out = fd.ops.add(t, b)
        total = fd.ops.sum(r, [1])
        fd.add_output(out)
        fd.add_output(total)
        schedule.inline_most()
    outs = fd.manual_execute([x])
    expected = numbers(target, "normal", 0, 1, [6, 8], 3, 9).to(target)
    torch.testing.assert_close(outs[0], expected[:, None].expand(6, 5, 8), rtol=0, atol=0)
    torch.testing.assert_close(outs[1], expected.sum(1))


def test_a_view_of_the_numbers_has_the_numbers(target) -> None:
    with FusionDefinition() as fd:
        r = make(fd, "uniform", 0, 1, [4, 6], 2, 0)
        fd.add_output(fd.ops.permute(r, [1, 0]))
        fd.add_output(fd.ops.reshape(r, [8, 3]))
    expected = numbers("cpu", "uniform", 0, 1, [4, 6], 2)
    outs = fd.execute([], device=0 if target == "cuda" else None)
    assert torch.equal(outs[0].cpu(), expected.T)
    assert torch.equal(outs[1].cpu(), expected.reshape(8, 3))


# ---- distributions -------------------------------------------------------------------------------


def chi_square(unit: torch.Tensor, bins: int) -> float:
    """How many standard deviations the chi-square statistic of equal bins is from its mean."""
    counts = torch.histc(unit.double(), bins, 0, 1)
    expected = unit.numel() / bins
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return (statistic - (bins - 1)) / math.sqrt(2 * (bins - 1))


def correlations(values: torch.Tensor, lags: list[int]) -> list[float]:
    """In units of their standard deviation, 1 / sqrt(n)."""
    v = (values.double() - values.double().mean()) / values.double().std()
    n = v.numel()
    return [float((v[lag:] * v[:-lag]).sum() / math.sqrt(n)) for lag in lags]


@pytest.mark.parametrize("dtype", [D.Float, D.Double], ids=lambda d: d.name)
@pytest.mark.parametrize("seed", [0, 1, 123456789])
def test_uniform_numbers_are_uniform(dtype, seed) -> None:
    u = numbers("cpu", "uniform", 0, 1, [MILLION], seed, dtype=dtype)
    assert 0 <= float(u.min()) < 1e-5
    assert 1 - 1e-5 < float(u.max()) < 1
    assert abs(float(u.double().mean()) - 0.5) < 5 * math.sqrt(1 / 12 / MILLION)
    assert abs(float(u.double().var()) - 1 / 12) < 5 * math.sqrt(1 / 180 / MILLION)
    for bins in (16, 256, 10_000):
        assert abs(chi_square(u, bins)) < 5
    low_bits = u.double() * 2**16 % 1  # the bits after the sixteenth
    assert abs(chi_square(low_bits, 64)) < 5
    for lane in range(4):
        assert abs(chi_square(u[lane::4], 256)) < 5
    assert max(map(abs, correlations(u, [1, 2, 3, 4, 5, 8, 64, 1024]))) < 5


@pytest.mark.parametrize("dtype", [D.Float, D.Double], ids=lambda d: d.name)
@pytest.mark.parametrize("seed", [0, 987654321])
def test_normal_numbers_are_normal(dtype, seed) -> None:
    z = numbers("cpu", "normal", 0, 1, [MILLION], seed, dtype=dtype).double()
    assert z.isfinite().all()
    assert abs(float(z.mean())) < 5 / math.sqrt(MILLION)
    assert abs(float(z.var()) - 1) < 5 * math.sqrt(2 / MILLION)
    assert abs(float((z**3).mean())) < 5 * math.sqrt(15 / MILLION)
    assert abs(float((z**4).mean()) - 3) < 5 * math.sqrt(96 / MILLION)
    assert 4.3 < float(z.abs().max()) < 6.8
    integral = (1 + torch.erf(z / math.sqrt(2))) / 2
    assert abs(chi_square(integral, 256)) < 5
    assert max(map(abs, correlations(z, [1, 2, 3, 4, 8, 64]))) < 5
    assert max(map(abs, correlations(z**2, [1, 2, 3, 4]))) < 5  # both of a pair share a radius


def test_parameters_shift_and_scale(target) -> None:
    u = numbers(target, "uniform", 0, 1, [1000], 3)
    z = numbers(target, "normal", 0, 1, [1000], 3)
    torch.testing.assert_close(numbers(target, "uniform", -2.0, 6.0, [1000], 3), u * 8 - 2)
    torch.testing.assert_close(numbers(target, "normal", 5.0, 0.25, [1000], 3), z * 0.25 + 5)
    assert torch.equal(numbers(target, "uniform", 2.0, 2.0, [9], 3), torch.full([9], 2.0))


@pytest.mark.parametrize("dtype", [D.Half, D.BFloat16], ids=lambda d: d.name)
def test_rounding_does_not_reach_the_upper_bound(target, dtype) -> None:
    wide = numbers(target, "uniform", 0, 1, [MILLION], 1)
    for low, high in ((0, 1), (-1.0, 0.0), (-8.0, -2.0), (1.0, 3.0), (0.0, 0.1)):
        u = numbers(target, "uniform", low, high, [MILLION], 1, dtype=dtype).float()
        assert float(u.max()) < high
        assert float(u.min()) >= low - abs(low) * 2**-8
        first, end = torch.tensor([low, high]).to(TYPES[dtype]).float()
        rounded = (wide * (end - first) + first).to(TYPES[dtype]).float()
        assert (rounded[rounded < end] == u[rounded < end]).float().mean() > 0.999
        if high in (1, 3.0):
            assert (rounded >= high).any()  # the case occurs


@pytest.mark.parametrize("dtype", [D.Half, D.BFloat16], ids=lambda d: d.name)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.001), (0.999, 1.9999), (-3.003, 0.1)])
def test_bounds_are_rounded_to_the_type_and_the_upper_one_is_excluded(
    target, dtype, low, high
) -> None:
    u = numbers(target, "uniform", low, high, [MILLION], 1, dtype=dtype)
    with FusionDefinition() as fd:
        fd.add_output(make(fd, "uniform", low, high, [MILLION], 1, 0, dtype))
    assert torch.equal(evaluate(fd.fusion, [])[0], u)
    first, end = torch.tensor([low, high]).to(TYPES[dtype])
    below = torch.nextafter(end, torch.tensor(-math.inf, dtype=end.dtype))
    assert u.max() == below
    assert u.min() >= first


def test_streams_do_not_overlap() -> None:
    """Neighbouring offsets, seeds and tensors share no number of 53 bits."""
    streams = [
        numbers("cpu", "uniform", 0, 1, [MILLION], seed, offset, D.Double)
        for seed, offset in ((1, 0), (1, 1), (1, 2), (2, 0), (1, 1 << 32), (1 << 32, 0))
    ]
    together = torch.cat(streams)
    assert together.unique().numel() > together.numel() - 3
    for other in streams[1:]:
        pair = torch.stack([streams[0], other])
        assert abs(float(torch.corrcoef(pair)[0, 1])) < 5 / math.sqrt(MILLION)


# ---- where the seed comes from -------------------------------------------------------------------


def implicit(fd: FusionDefinition, x: torch.Tensor) -> None:
    t = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.rand_like(t))
    fd.add_output(fd.ops.normal(0, 1, [32]))
    fd.add_output(fd.ops.randn_like(t))


def run_after(seed: int, run: Callable[[], list[torch.Tensor]]) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    return run()


def assert_equal(a: list[torch.Tensor], b: list[torch.Tensor]) -> None:
    for x, y in zip(a, b, strict=True):
        assert torch.equal(x, y)


def test_manual_seed_repeats_the_numbers(target) -> None:
    x = torch.empty(8, 9, device=target)
    with FusionDefinition() as fd:
        implicit(fd, x)
    first = run_after(5, lambda: fd.execute([x]))
    second = fd.execute([x])
    assert_equal(first, run_after(5, lambda: fd.execute([x])))
    assert_equal(second, fd.execute([x]))
    assert not torch.equal(first[0], second[0])
    assert not torch.equal(first[0], run_after(6, lambda: fd.execute([x]))[0])
    assert not torch.equal(first[0].ravel()[:32], first[1])


def test_the_evaluator_draws_as_kernels_do(target) -> None:
    x = torch.empty(8, 9, device=target)
    with FusionDefinition() as fd:
        implicit(fd, x)
    kernel = run_after(5, lambda: fd.execute([x]) + [torch.rand(3, device=target)])
    evaluated = run_after(5, lambda: evaluate(fd.fusion, [x]) + [torch.rand(3, device=target)])
    assert torch.equal(kernel[0], evaluated[0])
    for a, b in zip(kernel[1:], evaluated[1:], strict=True):
        torch.testing.assert_close(a.cpu(), b.cpu(), rtol=1e-5, atol=1e-5)


def test_tensors_without_seed_follow_each_other(target) -> None:
    """Random tensor i of the fusion takes offset `offset + i` of the state that is drawn."""
    x = torch.empty(8, 9, device=target)
    with FusionDefinition() as fd:
        implicit(fd, x)
    outs = run_after(5, lambda: fd.execute([x]))
    torch.manual_seed(5)
    seed, offset = draw(x.device, 3)
    assert torch.equal(outs[0].cpu(), numbers(target, "uniform", 0, 1, [8, 9], seed, offset))
    assert torch.equal(outs[2].cpu(), numbers(target, "normal", 0, 1, [8, 9], seed, offset + 2))


def test_explicit_seeds_take_no_numbers_of_the_generators(target) -> None:
    x = torch.empty(8, 9, device=target)
    with FusionDefinition() as fd:
        operand = fd.from_pytorch(x) if target == "cuda" else fd.define_tensor([8, 9])
        sizes = [operand.size(0), operand.size(1)]
        seed, offset = (fd.define_scalar(value, dtype=DataType.Int) for value in (3, 4))
        fd.add_output(fd.ops.uniform(0, 1, sizes, rng_seed=seed, rng_offset=offset))
        fd.add_output(fd.ops.uniform(0, 1, sizes))
    kernel = run_after(5, lambda: fd.execute([x]))
    evaluated = run_after(5, lambda: evaluate(fd.fusion, [x]))
    assert torch.equal(kernel[0].cpu(), numbers(target, "uniform", 0, 1, [8, 9], 3, 4))
    for a, b in zip(kernel, evaluated, strict=True):
        assert torch.equal(a.cpu(), b.cpu())


def test_explicit_seeds_leave_the_generators_alone(target) -> None:
    state = torch.get_rng_state()
    numbers(target, "normal", 0, 1, [10], 3)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.gpu
def test_one_offset_for_each_tensor() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    x = torch.empty(8, 9, device="cuda")
    with FusionDefinition() as fd:
        implicit(fd, x)
    torch.manual_seed(5)
    generator = torch.cuda.default_generators[x.device.index]
    before = generator.get_offset()
    fd.execute([x])
    assert generator.get_offset() == before + 3 * 4
    assert generator.initial_seed() == 5


def test_validate_draws_the_numbers_again(target) -> None:
    x = torch.ones(33, 7, device=target)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        kept = fd.ops.lt(fd.ops.rand_like(t), 0.9)
        fd.add_output(fd.ops.mul(fd.ops.where(kept, t, 0.0), 1 / 0.9))
        fd.add_output(fd.ops.sum(fd.ops.randn_like(t), [0]))
    torch.manual_seed(1)
    fd.validate([x])
    after = torch.rand(2)
    torch.manual_seed(1)
    fd.execute([x])
    if target == "cpu":  # validation left the generator where the run did
        assert torch.equal(after, torch.rand(2))


def test_empty_tensors(target) -> None:
    assert numbers(target, "normal", 0, 1, [0, 4], 3).shape == (0, 4)


def test_only_kernels_that_draw_have_the_parameters() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(x, fd.ops.rand_like(x)))
        schedule.inline_most()
    assert "PhiloxKeys rng_seed, uint64_t rng_offset" in fd.fusion.print_kernel()
    with FusionDefinition() as fd:
        fd.add_output(make(fd, "uniform", 0, 1, [8], 1, 2))
    assert "rng_seed" not in fd.fusion.print_kernel()


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("dtype", TYPES, ids=lambda d: d.name)
def test_kernels_compile_for_cuda(dtype) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 4], contiguity=True, dtype=dtype)
        s = fd.define_scalar(None, dtype=D.Int)
        outs = [fd.ops.rand_like(x), fd.ops.randn_like(x)]
        outs += [make(fd, op, *p, [5], s, 1, dtype) for op, *p in DISTRIBUTIONS]
        for out in outs:
            fd.add_output(out)
    assert cuda_text(fd.fusion).count("random_uniform") > 2


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty")
def test_capturing_a_draw_is_refused() -> None:
    """A replay would repeat the numbers."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    x = torch.empty(8, 9, device="cuda")
    with FusionDefinition() as fd:
        implicit(fd, x)
    fd.execute([x])
    with (
        torch.cuda.graph(torch.cuda.CUDAGraph()),
        pytest.raises(RuntimeError, match="cannot be captured in a CUDA graph"),
    ):
        fd.execute([x])

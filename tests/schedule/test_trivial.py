"""The schedule of fd.execute: how exact its sums are, and that its time follows from the sizes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    KernelExecutor,
    ParallelType,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def fusion(build: Callable, rank: int = 1, dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        outs = build(fd.ops, fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype))
        for out in outs if isinstance(outs, tuple) else (outs,):
            fd.add_output(out)
    return fd


def total(ops, x):
    return ops.sum(x, [0])


def squares(ops, x):
    return ops.sum(ops.mul(x, x), [0])


def softmax(ops, x):
    def kept(t):
        return ops.broadcast(t, [False, True])

    e = ops.exp(ops.sub(x, kept(ops.max(x, [1]))))
    return ops.div(e, kept(ops.sum(e, [1])))


# -- how exact --


@pytest.mark.parametrize("exponent", [10, 13, 16, 20, 26])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_sums_are_about_as_exact_as_pytorchs(target, exponent, offset):
    fd = fusion(total)
    own = theirs = 0.0
    for seed in range(3 if exponent == 26 else 20):
        generator = torch.Generator().manual_seed(seed)
        x = torch.rand(2**exponent - 37 * seed, generator=generator) - 0.5 + offset
        exact = x.sum(dtype=torch.double)
        unit = x.abs().sum(dtype=torch.double) * 2**-24
        x = x.to(target)
        own += ((fd.execute([x])[0].double().cpu() - exact).abs() / unit).item()
        theirs += ((x.sum().double().cpu() - exact).abs() / unit).item()
    assert own <= 4 * theirs + 0.5


@pytest.mark.parametrize("size", [128, 129, 512, 513, 1024, 1089, 2048, 2049])
def test_sizes_that_are_known_are_summed_in_fewer_steps(target, size):
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.sum(fd.define_tensor([size], contiguity=True), [0]))
    x = torch.rand(size, generator=torch.Generator().manual_seed(size))
    [result] = fd.execute([x.to(target)])
    torch.testing.assert_close(result.cpu(), x.sum())
    assert fd.fec.get_most_recent_scheduled_ir(), "a kernel ran"


def units(found: torch.Tensor, exact: torch.Tensor, size: torch.Tensor) -> float:
    """The error in units of the last place of `size`."""
    return ((found.double().cpu() - exact).abs() / (size.abs() * 2**-24)).item()


@pytest.mark.parametrize("size", [2**10, 2**16 - 37, 2**20, 2**22 - 37])
@pytest.mark.parametrize("offset", [0.5, 1e3])
def test_means_and_variances_are_about_as_exact_as_pytorchs(target, size, offset):
    fd = fusion(lambda ops, x: (ops.mean(x, [0]), ops.var(x, [0])))
    errors = []
    seeds = range(2 if size > 2**20 else 8)
    for seed in seeds:
        x = torch.randn(size, generator=torch.Generator().manual_seed(seed)) + offset
        mean, var = x.mean(dtype=torch.double), x.double().var()
        x = x.to(target)
        own = fd.execute([x])
        for found in (own, [x.mean(), x.var()]):
            errors.append([units(found[0], mean, mean + 1), units(found[1], var, var)])
    own_mean, own_var = torch.tensor(errors[0::2]).mean(0).tolist()
    mean, var = torch.tensor(errors[1::2]).mean(0).tolist()
    assert own_mean <= 4 * mean + 0.5
    assert own_var <= 4 * var + 0.5


def pairwise(x: torch.Tensor) -> float:
    """The sum of pairs of sums, in Float."""
    while x.numel() > 1:
        x = torch.nn.functional.pad(x, (0, x.numel() % 2))
        x = x[0::2] + x[1::2]
    return x.double().item()


@pytest.mark.parametrize("size", [700, 2**13, 2**16 - 37, 2**20])
def test_sums_are_about_as_exact_as_pairwise_sums(target, size):
    """Whether a tree has long sums where nothing averages their roundings shows at equal values."""
    fd = fusion(total)
    own, pairs = [], []
    for seed in range(30):
        x = torch.randn(size, generator=torch.Generator().manual_seed(seed)) + 1e3
        exact = x.sum(dtype=torch.double)
        own.append(units(fd.execute([x.to(target)])[0], exact, exact))
        pairs.append(units(torch.tensor(pairwise(x)), exact, exact))
    assert sum(own) <= 1.5 * sum(pairs)
    assert max(own) < 2


@pytest.mark.parametrize("size", [100, 2**10, 2**16 - 37, 2**20, 2**22 - 37])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e4])
def test_welfords_are_about_as_exact_as_pytorchs(target, size, offset):
    fd = fusion(lambda ops, x: ops.var_mean(x, [0]))
    errors = []
    for seed in range(2 if size > 2**20 else 8):
        x = torch.randn(size, generator=torch.Generator().manual_seed(seed)) + offset
        var, mean = x.double().var(), x.mean(dtype=torch.double)
        x = x.to(target)
        for found in (fd.execute([x]), torch.var_mean(x)):
            errors.append([units(found[0], var, var), units(found[1], mean, mean.abs() + 1)])
    own_var, own_mean = torch.tensor(errors[0::2]).mean(0).tolist()
    var, mean = torch.tensor(errors[1::2]).mean(0).tolist()
    assert own_var <= 4 * var + 0.5
    assert own_mean <= 4 * mean + 0.5


@pytest.mark.parametrize("bound", [ParallelType.block_x, ParallelType.grid_x, None])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e4])
def test_scheduled_welfords_are_about_as_exact_as_pytorchs(target, offset, bound):
    """Registers and partial results, in threads and across threads and blocks."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        var, mean = fd.ops.var_mean(x, [1])
        fd.add_output(var)
        fd.add_output(mean)
        parts = next(t for t in fd.fusion.tensors() if t.has_reduction())
        results = parts.definition().outputs()
        parts.split(1, 128)
        partial = parts.rfactor([1], results)
        for tensor in (*results, *partial):
            if bound is not None:
                tensor.axis(-1).parallelize(bound)
        fd.sched.inline_most()
    own = theirs = 0.0
    for seed in range(8):
        x = torch.randn(3, 5000, generator=torch.Generator().manual_seed(seed)) + offset
        exact = x.double().var(1)
        x = x.to(target)
        for found, is_own in ((fd.manual_execute([x])[0], True), (x.var(1), False)):
            error = ((found.double().cpu() - exact).abs() / exact).mean().item() * 2**24
            own, theirs = (own + error, theirs) if is_own else (own, theirs + error)
    assert own <= 4 * theirs + 0.5


@pytest.mark.parametrize(("shape", "dim"), [((3, 2**20), 1), ((2**20, 3), 0), ((20000, 300), 1)])
def test_sums_of_equal_values_do_not_drift(target, shape, dim):
    x = torch.full(shape, 0.1, device=target)
    (own,) = fusion(lambda ops, x: ops.sum(x, [dim]), rank=2).execute([x])
    exact = x.double().sum(dim)
    assert ((own - exact).abs() / exact).max() < 20 * 2**-24


def test_twenty_million_ones(target):
    x = torch.ones(20_000_000, device=target)
    assert fusion(total).execute([x])[0] == 20_000_000


def test_indices_of_32_bits_are_enough_for_the_sizes_of_all_stages(target):
    fd = fusion(lambda ops, x: (ops.sum(x, [0]), *ops.var_mean(x, [0])))
    schedule.trivial(fd.fusion)
    for size in (1000, 2**16, 2**20, 3_000_000):
        x = torch.ones(size, device=target)
        params = CompileParams(
            index_type=DataType.Int32, device="cuda:0" if target == "cuda" else "cpu"
        )
        executor = KernelExecutor()
        executor.compile(fd.fusion, [x], compile_params=params)
        total, var, mean = (out.item() for out in executor.run([x]))
        assert (total, var, mean) == (size, 0, 1)


def test_variance_far_from_zero(target):
    x = torch.randn(10**6, generator=torch.Generator().manual_seed(0)).to(target) + 1e4
    exact = x.double().var()
    for build in (
        lambda ops, x: ops.var(x, [0]),
        lambda ops, x: ops.var_mean(x, [0])[0],
    ):
        (own,) = fusion(build).execute([x])
        assert abs(own.item() - exact.item()) < 1e-3


NARROW = {
    torch.half: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
    torch.float8_e4m3fn: DataType.Float8_e4m3fn,
    torch.float8_e5m2: DataType.Float8_e5m2,
    torch.float8_e8m0fnu: DataType.Float8_e8m0fnu,
}


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_sums_and_scans_are_rounded_once(target, dtype):
    fd = fusion(lambda ops, x: (ops.sum(x, [0]), ops.cumsum(x, 0)), dtype=NARROW[dtype])
    small = 2.0**-6
    own, running = fd.execute([torch.full((5000,), small).to(dtype).to(target)])
    assert own.float().item() == torch.tensor(5000 * small).to(dtype).float().item()
    expected = (torch.arange(1.0, 5001) * small).to(dtype)
    torch.testing.assert_close(running.cpu().float(), expected.float(), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", NARROW)
def test_means_and_variances_of_narrow_floats_have_no_narrow_sum(target, dtype):
    fd = fusion(lambda ops, x: (ops.mean(x, [0]), ops.var(x, [0])), dtype=NARROW[dtype])
    x = torch.tensor([1.0, 2.0]).repeat(100_000).to(dtype)
    mean, var = fd.execute([x.to(target)])
    assert mean.dtype == var.dtype == torch.float32
    torch.testing.assert_close(mean.cpu(), x.float().mean(), rtol=1e-6, atol=0)
    torch.testing.assert_close(var.cpu(), x.float().var(), rtol=1e-6, atol=0)


# -- every shape --


SHAPES = [(0, 3), (3, 0), (1, 1), (5, 1), (1, 5), (3, 16), (7, 129), (1000, 3), (3, 40000)]


@pytest.mark.parametrize("dims", [[0], [1], [0, 1]])
def test_reductions_of_all_shapes(target, dims):
    fd = fusion(
        lambda ops, x: (
            ops.sum(x, dims),
            ops.prod(x, dims),
            ops.max(x, dims),
            ops.sum(ops.exp(x), dims, keepdim=True),
        ),
        rank=2,
    )
    for shape in SHAPES:
        x = 1 + torch.rand(shape, generator=torch.Generator().manual_seed(1)) / 1000
        own = fd.execute([x.to(target)])
        y = x.double()
        product = y.prod(dims[-1]) if len(dims) == 1 else y.prod()
        largest = y.amax(dims) if all(shape[d] for d in dims) else None
        expected = [y.sum(dims), product, largest, y.exp().sum(dims, keepdim=True)]
        for result, reference in zip(own, expected, strict=True):
            if reference is not None:
                torch.testing.assert_close(
                    result.cpu().double(), reference, rtol=1e-4, atol=0, msg=f"{shape}"
                )


def test_reductions_of_reductions(target):
    def build(ops, x):
        var, mean = ops.var_mean(x, [1], correction=0, keepdim=True)
        y = ops.mul(ops.sub(x, mean), ops.rsqrt(ops.add(var, 1e-5)))
        return softmax(ops, y), ops.sum(y, [0]), ops.sum(ops.sum(y, [1]), [0])

    fd = fusion(build, rank=2)
    for shape in [(1, 7), (4, 5000), (300, 20)]:
        x = torch.randn(shape, generator=torch.Generator().manual_seed(2))
        y = torch.nn.functional.layer_norm(x.double(), shape[1:])
        rows, columns, everything = (out.cpu().double() for out in fd.execute([x.to(target)]))
        torch.testing.assert_close(rows, y.softmax(1), rtol=1e-4, atol=1e-7)
        torch.testing.assert_close(columns, y.sum(0), rtol=1e-4, atol=1e-3)
        torch.testing.assert_close(everything, y.sum(), rtol=0, atol=1e-2)


@pytest.mark.parametrize("size", [1, 16, 17, 100, 129, 5000])
def test_constant_sizes(target, size):
    with FusionDefinition() as fd:
        x = fd.define_tensor([2, size], contiguity=True)
        fd.add_output(fd.ops.sum(x, [1]))
        fd.add_output(fd.ops.sum(x, [0, 1]))
    x = torch.rand(2, size, generator=torch.Generator().manual_seed(3)).to(target)
    rows, everything = fd.execute([x])
    torch.testing.assert_close(rows, x.sum(1))
    torch.testing.assert_close(everything, x.sum())


# -- how long --


def seconds(fd: FusionDefinition, x: torch.Tensor) -> float:
    fd.execute([x[:1]])  # compiled
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        fd.execute([x])[0].cpu()
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.parametrize("build", [squares, lambda ops, x: ops.var(x, [0])])
def test_a_full_reduction_of_computed_data_takes_linear_time(target, build):
    assert seconds(fusion(build), torch.ones(2**20, device=target)) < 2


def test_softmax_of_one_row_takes_linear_time(target):
    x = torch.ones(1, 2**18, device=target)
    assert seconds(fusion(softmax, rank=2), x) < 2


def test_short_rows_take_as_many_steps_as_they_have_elements(target):
    fd = fusion(lambda ops, x: ops.sum(x, [1]), rank=2)
    assert seconds(fd, torch.ones(2**18, 2, device=target)) < 1

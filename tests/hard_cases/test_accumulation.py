"""Types that reductions accumulate in, and results that nothing reads."""

import pytest
import torch
from hard_case import BX, GLOBAL, SHARED, TX, Compiled, cuda_text, par

from nvfuser_direct import DataType, FusionDefinition

pytestmark = pytest.mark.sanitize

NARROW = {
    torch.half: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
    torch.float8_e4m3fn: DataType.Float8_e4m3fn,
    torch.float8_e5m2: DataType.Float8_e5m2,
    torch.float8_e8m0fnu: DataType.Float8_e8m0fnu,
}
SMALL = 2.0**-6  # each of these has it, and 5000 times it is no number that a running sum reaches


def small(count, dtype, target):
    return torch.full((count,), SMALL).to(dtype).to(target)


def compiled(fd):
    cuda_text(fd.fusion)
    return Compiled(fd)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    "types", [(None, None), (None, TX), (TX, None), (BX, TX), (None, BX), (BX, None)]
)
@pytest.mark.parametrize("is_rfactored", [False, True])
def test_narrow_sums_are_rounded_once(target, dtype, types, is_rfactored):
    """Never per stage, in a thread, over threads and over blocks."""
    if BX in types and None in types and not is_rfactored:
        pytest.skip("over blocks a serial axis has to be factored out")
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=NARROW[dtype])
        s = fd.ops.sum(x, [0])
        fd.add_output(s)
        s.split(0, 64)
        if is_rfactored:
            partial = s.rfactor([1 if None in types and types[0] is not None else 0])
            par(partial, *types)
            fd.sched.parallelize_like(partial)
            fd.sched.inline_most()
        else:
            par(s, *types)
    run = compiled(fd)
    (own,) = run(small(5000, dtype, target))
    assert own.float().item() == torch.tensor(5000 * SMALL).to(dtype).float().item()


@pytest.mark.parametrize("memory", [SHARED, GLOBAL])
@pytest.mark.parametrize("is_copied", [False, True])
def test_narrow_partial_results_in_memory_stay_wide(target, memory, is_copied):
    """4096 partial sums of 2049 each have no Half."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 2049], contiguity=True, dtype=DataType.Half)
        s = fd.ops.sum(x, [0, 1])
        fd.add_output(s)
        partial = s.rfactor([1])
        partial.set_memory_type(memory)
        if is_copied:
            partial.cache_after()
    run = compiled(fd)
    assert run(torch.ones(16, 2049, dtype=torch.half, device=target))[0] == 32784


def test_a_narrow_sum_that_something_else_reads_is_rounded(target):
    """The result of the operation is Half, and so is what its reader gets."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Half)
        s = fd.ops.sum(x, [0])
        fd.add_output(fd.ops.cast(s, DataType.Float))
    run = compiled(fd)
    assert run(torch.ones(2049, dtype=torch.half, device=target))[0] == 2048


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_products_and_groups(target, dtype):
    """A product, and a sum beside a maximum in one group."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=NARROW[dtype])
        y = fd.define_tensor([-1], contiguity=True, dtype=NARROW[dtype])
        fd.add_output(fd.ops.prod(x, [0]))
        s = fd.ops.sum(y, [0])
        m = fd.ops.max(y, [0])
        fd.add_output(s)
        fd.add_output(m)
        for tensor in (s, m):
            par(tensor, TX)
        fd.sched.group_reductions([s, m])
    step = 1 + torch.finfo(dtype).eps  # 2 for the type without a mantissa
    x = torch.ones(100).to(dtype)
    x[:12] = torch.full((12,), step).to(dtype)
    y = small(600, dtype, target)
    product, total, largest = compiled(fd)(x.to(target), y)
    assert product.float().item() == x.double().prod().to(dtype).float().item()
    assert total.float().item() == torch.tensor(600 * SMALL).to(dtype).float().item()
    assert largest.float().item() == SMALL


@pytest.mark.parametrize("dtype", [dtype for dtype in NARROW if dtype != torch.float8_e8m0fnu])
def test_narrow_welfords_are_rounded_once(target, dtype):
    """Mean, sum of squares and count are Floats until they are stored."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=NARROW[dtype])
        results = fd.ops.welford(x, [0])
        for result in results:
            fd.add_output(result)
            result.split(0, 64)
            par(result, None, TX)
    x = torch.tensor([SMALL, 3 * SMALL]).repeat(2500).to(dtype)
    mean, squares, count = compiled(fd)(x.to(target))
    assert count.item() == 5000
    assert mean.float().item() == 2 * SMALL
    expected = torch.tensor(5000 * SMALL**2).to(dtype).float().item()
    assert abs(squares.float().item() - expected) <= torch.finfo(dtype).eps * expected


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_scans_over_threads_are_rounded_once(target, dtype):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=NARROW[dtype])
        s = fd.ops.cumsum(x, 0)
        fd.add_output(s)
        s.split(0, 4)
        s.split(0, 32)
        par(s, None, TX)
    running = compiled(fd)(small(5000, dtype, target))[0]
    expected = (torch.arange(1.0, 5001) * SMALL).to(dtype)
    torch.testing.assert_close(running.cpu().float(), expected.float(), rtol=0, atol=0)


@pytest.mark.parametrize("types", [(TX,), (None,), (None, TX), (TX, None)])
@pytest.mark.parametrize("read", [(0,), (1,), (2,), (0, 1), (1, 2)])
@pytest.mark.parametrize("is_stored", [False, True])
def test_results_of_a_welford_that_nothing_reads(target, types, read, is_stored):
    """Every column has a triple of its own, whatever becomes of it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([40, 7], contiguity=True)
        results = fd.ops.welford(x, [0])
        for i in read:
            fd.add_output(results[i] if is_stored else fd.ops.neg(results[i]))
        for result in results:
            if len(types) == 2:
                result.split(0, 8)
            par(result, *types)
    x = torch.randn(40, 7, generator=torch.Generator().manual_seed(0)) + 3
    count = torch.full((7,), 40)
    expected = (x.mean(0), x.var(0, correction=0) * 40, count)
    own = compiled(fd)(x.to(target))
    for i, result in zip(read, own, strict=True):
        reference = expected[i] if is_stored else -expected[i]
        torch.testing.assert_close(result.cpu(), reference, rtol=1e-5, atol=1e-5)


def test_results_of_a_group_that_nothing_reads(target):
    """A member whose result is dropped takes part like the others."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([40, 7], contiguity=True)
        s = fd.ops.sum(x, [0])
        m = fd.ops.max(x, [0])
        fd.add_output(fd.ops.neg(s))
        for tensor in (s, m):
            par(tensor, TX)
        fd.sched.group_reductions([s, m])
    x = torch.randn(40, 7, generator=torch.Generator().manual_seed(0))
    (own,) = compiled(fd)(x.to(target))
    torch.testing.assert_close(own.cpu(), -x.sum(0))

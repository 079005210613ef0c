"""Updates of an input by bulk copies that combine what they store with what is in global memory."""

from __future__ import annotations

import pytest
import torch
from bulk_copies import BULK
from cuda_kernels import has_nvrtc
from hard_case import BX, SHARED, TX, count, cuda_text, lowered, par, refusal
from translated import rebuilt

from nvfuser_direct import (
    BulkStore,
    DataType,
    Fusion,
    FusionDefinition,
    KernelExecutor,
    UserError,
    _core,
    equal_up_to_numbering,
    translate_fusion,
)

pytestmark = pytest.mark.sanitize

LENGTH = 256  # elements of a run
TYPES = {DataType.Int32: torch.int32, DataType.Int: torch.int64}
LOWEST = torch.iinfo(torch.int64).min
UPDATES = {"add": torch.add, "minimum": torch.minimum, "maximum": torch.maximum}


def updated(
    name: str = "add",
    dtype: DataType = DataType.Int32,
    is_first: bool = True,
    is_in_place: bool = True,
    rows: int | None = None,
) -> FusionDefinition:
    """total = name(total, -x), in runs; of a matrix of so many rows, if there are any."""
    with FusionDefinition() as fd:
        shape = [-1] if rows is None else [rows, -1]
        total, x = (fd.define_tensor(shape, contiguity=True, dtype=dtype) for _ in range(2))
        stored = fd.ops.neg(x)
        operands = (total, stored) if is_first else (stored, total)
        y = getattr(fd.ops, name)(*operands)
        fd.add_output(y, total if is_in_place else None)
        stored.set_memory_type(SHARED)
        for tensor in (stored, y):
            tensor.split(-1, LENGTH)
            if rows is not None:
                tensor.merge(0, 1)
            par(tensor, BX)
        y.axis(1).parallelize(BULK)
        stored.set_allocation_domain(stored.get_loop_domain(), True)
        stored.split(1, 64)
        par(stored, None, None, TX)
        fd.sched.inline_at(y, 1, selected_tensors=[stored])
    return fd


def run(fd: FusionDefinition, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor.run(inputs)


def integers(shape: tuple[int, ...], dtype: DataType, target: str) -> torch.Tensor:
    """Integers of all sizes, so that sums wrap."""
    limits = torch.iinfo(TYPES[dtype])
    return torch.randint(limits.min, limits.max, shape, dtype=TYPES[dtype], device=target)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("is_first", [True, False])
def test_updates_are_those_of_pytorch(target, name, dtype, is_first):
    """Also of none."""
    fd = updated(name, dtype, is_first)
    for runs in (1, 5, 0):
        total, x = (integers((runs * LENGTH,), dtype, target) for _ in range(2))
        expected = UPDATES[name](total, -x)
        run(fd, [total, x])
        assert torch.equal(total, expected)


@pytest.mark.parametrize("name", UPDATES)
def test_updates_of_unsigned_integers(target, name):
    """PyTorch has them by the order of signed ones that are smaller by 2^63; sums wrap alike."""
    total, x = (integers((5 * LENGTH,), DataType.Int, target) for _ in range(2))
    moved = UPDATES[name](total ^ LOWEST, -x ^ LOWEST) ^ LOWEST
    expected = total - x if name == "add" else moved
    run(updated(name, DataType.UInt64), [total.view(torch.uint64), x.view(torch.uint64)])
    assert torch.equal(total, expected)


def test_sums_of_doubles_are_rounded_once(target):
    """Large and small ones, subnormal ones, infinities and NaNs."""
    runs = 40
    values = torch.randn((2, runs * LENGTH), dtype=torch.float64, device=target)
    exponents = torch.randint(-1074, 1024, values.shape, device=target)
    total, x = values * torch.exp2(exponents.double())
    near = torch.randint(0, 2, total.shape, dtype=torch.bool, device=target)
    x = torch.where(near, total * values[0], x)  # so that both have a part in the sum
    total[:4], x[:4] = (
        torch.tensor(v, device=target)
        for v in ([torch.inf, torch.inf, torch.nan, -0.0], [torch.inf, -torch.inf, 1.0, 0.0])
    )
    assert (total - x).abs().lt(torch.finfo(torch.float64).tiny).any()
    expected = total - x
    run(updated(dtype=DataType.Double), [total, x])
    assert torch.equal(total.isnan(), expected.isnan())
    whole = ~expected.isnan()
    assert torch.equal(total[whole].view(torch.int64), expected[whole].view(torch.int64))


def test_rows_of_a_matrix_are_updated(target):
    fd = updated("add", DataType.Int, rows=3)
    total, x = (integers((3, 4 * LENGTH), DataType.Int, target) for _ in range(2))
    expected = total - x
    run(fd, [total, x])
    assert torch.equal(total, expected)


def test_the_race_check_finds_no_race():
    total, x = (integers((1024,), DataType.Int32, "cpu") for _ in range(2))
    expected = total - x
    _core.call_with_options(lambda: run(updated(), [total, x]), ["kernel_debug"], [])
    assert torch.equal(total, expected)


def test_no_thread_reads_what_is_updated():
    """One copy after a fence and a barrier; the block waits for it at the end."""
    fd = updated("maximum")
    kernel = lowered(fd.fusion)
    assert count(kernel, BulkStore) == 1
    assert ", op = " in next(
        line for line in kernel.print_kernel_ir().splitlines() if "BULKSTORE" in line
    )
    text = cuda_text(fd.fusion)
    body = text[text.index("__global__") :]
    assert "bulk_update_run<Update::Max, 1024>(&T" in body
    assert "T0[" not in body.replace("&T0[", "")
    steps = ["fence_async_proxy();", "__syncthreads();", "bulk_update_run<", "bulk_store_wait<"]
    places = [body.index(step) for step in steps]
    assert places == sorted(places)


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(
    ("name", "dtype", "kind"),
    [
        ("add", DataType.Int32, "add.u32"),
        ("add", DataType.Int, "add.u64"),
        ("add", DataType.UInt64, "add.u64"),
        ("add", DataType.Double, "add.f64"),
        ("minimum", DataType.Int32, "min.s32"),
        ("minimum", DataType.Int, "min.s64"),
        ("minimum", DataType.UInt64, "min.u64"),
        ("maximum", DataType.Int32, "max.s32"),
        ("maximum", DataType.Int, "max.s64"),
        ("maximum", DataType.UInt64, "max.u64"),
    ],
)
def test_nvrtc_compiles_each_kind(name, dtype, kind):
    ptx = updated(name, dtype).fusion.compile_cuda(architecture="sm_90a").ptx
    assert f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{kind} [" in ptx


def test_text_and_bytes_keep_updates():
    fd = updated()
    source = fd.fusion.print_kernel(target="cuda", comments=False)
    text = translate_fusion(fd.fusion, schedule=True)
    assert rebuilt(text).fusion.print_kernel(target="cuda", comments=False) == source
    assert equal_up_to_numbering(Fusion.deserialize(fd.fusion.serialize()), fd.fusion)


# -- refusals --


@pytest.mark.parametrize(
    ("name", "dtype", "found"),
    [
        ("add", DataType.Float, "add of float"),  # subnormal sums would be zeros
        ("maximum", DataType.Float, "max of float"),
        ("minimum", DataType.Double, "min of double"),
    ],
)
def test_global_memory_combines_as_defined(name, dtype, found):
    text = refusal(updated(name, dtype).fusion)
    assert text.startswith("A bulk copy does not combine elements of this type exactly\n")
    assert f"found:    {found}" in text


def test_a_result_of_its_own_is_no_update():
    headline = "A bulk copy combines what it stores with the input that it updates\n"
    assert refusal(updated(is_in_place=False).fusion).startswith(headline)


def test_other_operations_have_no_boxes():
    headline = "An axis is bound to tma, but its tensor is no bulk copy"
    assert refusal(updated("mul").fusion).startswith(headline)


def test_runs_of_a_launch_divide_the_axis(target):
    total, x = (integers((LENGTH + 4,), DataType.Int32, target) for _ in range(2))
    with pytest.raises(UserError, match=r"^A bulk copy without a description of its tensor needs"):
        run(updated(), [total, x])

"""Registers that are loaded under a condition hold 0 where it does not hold: loads of unrolled
iterations are then under way together. Texts of kernels, values, and what NVRTC makes of them."""

from __future__ import annotations

import re

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, ParallelType, lowering_passes

LANES, PER_THREAD = 32, 4


def rows(columns: int, dtype: DataType) -> FusionDefinition:
    """Rows in registers, cast where they are loaded: a thread has elements that lie apart."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=dtype)
        wide = fd.ops.cast(x, DataType.Float)
        total = fd.ops.sum(wide, [1])
        part = fd.ops.sub(wide, fd.ops.broadcast(total, [False, True]))
        y = fd.ops.cast(part, dtype)
        fd.add_output(y)
        loaded = x.cache_after()
        y.cache_before()
        total.split(1, PER_THREAD, inner_split=False)
        total.axis(0).parallelize(ParallelType.grid_x)
        total.axis(2).parallelize(ParallelType.block_x)
        partial = total.rfactor([1])
        fd.sched.transform_like(partial)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most([t for t in fd.fusion.tensors() if t is not loaded])
        fd.sched.inline_most([loaded])
    return fd


def values_before_loads(fd: FusionDefinition) -> int:
    """How many loads into a register have a value in front of their condition."""
    cuda_text(fd.fusion)
    text = fd.fusion.print_kernel(target="cuda", comments=False)
    return len(re.findall(r"(T\d+) = [^;]*0[^;]*;\n\s*if \([^\n]*\n\s*\1 = load", text))


@pytest.mark.parametrize("dtype", [DataType.Half, DataType.BFloat16, DataType.Float])
def test_a_load_under_a_condition_has_a_value_elsewhere(dtype: DataType) -> None:
    assert values_before_loads(rows(97, dtype)) == 1


def test_a_load_without_condition_has_none() -> None:
    assert values_before_loads(rows(LANES * PER_THREAD, DataType.Half)) == 0


def test_a_register_that_its_branch_alone_reads_has_none() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], dtype=DataType.Half)
        y = fd.ops.cast(fd.ops.neg(fd.ops.cast(x, DataType.Float)), DataType.Half)
        fd.add_output(y)
        x.cache_after()
        y.split(0, LANES)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
        fd.sched.transform_like(y)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    assert values_before_loads(fd) == 0


def test_processors_need_none() -> None:
    kernel = rows(97, DataType.Half).fusion.lower(target="cpu", record_passes=True)
    (record,) = [record for record in kernel.passes if record.name == "fill_registers"]
    assert "unchanged" in record.text


def test_the_pass_stands_behind_the_conditions() -> None:
    names = [name for name, _ in lowering_passes()]
    assert names.index("fill_registers") > names.index("merge_conditions")


@pytest.mark.parametrize("height", [1, 5])
@pytest.mark.parametrize("columns", [2, 31, 97, 128, 131])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_values(
    target: str, dtype: torch.dtype, height: int, columns: int, rng: torch.Generator
) -> None:
    x = torch.randn(height, columns, generator=rng).to(dtype).to(target)
    kinds = {torch.float16: DataType.Half, torch.bfloat16: DataType.BFloat16}
    fd = rows(columns, kinds.get(dtype, DataType.Float))
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x])
    (y,) = executor.run([x])
    wide = x.double()
    expected = wide - wide.sum(1, keepdim=True)
    error = (y.double() - expected).abs().max().item()
    assert error <= {torch.float16: 1e-2, torch.bfloat16: 8e-2}.get(dtype, 1e-5) * max(
        1.0, expected.abs().max().item()
    )

"""Elements of 16 bits in registers: unpacked from words, and their maxima found two at a time."""

from __future__ import annotations

import re

import pytest
import torch
from cuda_kernels import cuda_text, has_nvrtc

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    schedule,
)

DTYPES = {torch.bfloat16: DataType.BFloat16, torch.half: DataType.Half}
INNER = SchedulerType.inner_persistent


def above_extremum(dtype: torch.dtype, columns: int, op: str) -> FusionDefinition:
    """x - max(x), or x - min(x): the row is read before and after the reduction."""
    with FusionDefinition() as fd:
        kept = DTYPES.get(dtype, DataType.Float)
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=kept)
        wide = fd.ops.cast(x, DataType.Float)
        extremum = fd.ops.broadcast(getattr(fd.ops, op)(wide, [1]), [False, True])
        fd.add_output(fd.ops.cast(fd.ops.sub(wide, extremum), x.dtype()))
    return fd


def text_of(dtype: torch.dtype, columns: int, op: str = "max") -> str:
    fusion = above_extremum(dtype, columns, op).fusion
    schedule.schedule(fusion, INNER, [torch.empty(4096, columns, dtype=dtype)], "cuda")
    return cuda_text(fusion)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", ["max", "min"])
def test_extrema_of_rows_that_are_kept_as_stored(dtype: torch.dtype, op: str) -> None:
    text = text_of(dtype, 65536, op)
    (elements,) = re.findall(rf"= {op}imum\(\w+, packed_{op}imum<(\d+)>\(&\w+\[0\]\)\);", text)
    (kept,) = re.findall(r"keep_packed<(\d+)>", text)
    assert elements == kept  # the whole array at once


def test_extrema_of_vectors_that_may_be_missing() -> None:
    """The row divides into vectors, and these not into threads: each has a condition."""
    assert re.search(r"packed_maximum<8>\(&\w+\[\w+ \* 8\]\)", text_of(torch.bfloat16, 63000))


@pytest.mark.parametrize(
    ("dtype", "columns"), [(torch.float32, 32768), (torch.bfloat16, 12001)], ids=["wide", "odd"]
)
def test_other_rows_are_compared_one_by_one(dtype: torch.dtype, columns: int) -> None:
    text = text_of(dtype, columns)
    assert "packed_maximum" not in text
    assert "unpack(" not in text


@pytest.mark.parametrize("columns", [4096, 65536])
def test_elements_are_read_from_their_words(columns: int) -> None:
    text = text_of(torch.bfloat16, columns)
    assert "unpack(" in text
    assert "cast<float>(" not in text


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("columns", [4096, 65536])
def test_no_element_is_taken_out_of_its_word(columns: int) -> None:
    """One shift or mask for each, and no half register in between."""
    fusion = above_extremum(torch.bfloat16, columns, "max").fusion
    inputs = [torch.empty(4096, columns, dtype=torch.bfloat16)]
    params = schedule.schedule(fusion, INNER, inputs, "cuda")
    ptx = fusion.compile_cuda(DataType.Int32, maxrregcount=params.cparams.maxrregcount).ptx
    assert ptx.count("cvt.u32.u16") <= 2  # of the last two elements that are compared
    assert ("max.NaN.bf16x2" in ptx) == (columns == 65536)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("columns", [24, 16384, 63000])
def test_values(target: str, dtype: torch.dtype, op: str, columns: int) -> None:
    x = torch.randn(9, columns, generator=torch.Generator().manual_seed(columns)).to(dtype)
    x[1] = -3.0 if op == "max" else 3.0
    x[2, 7] = float("nan")
    x[3] = float("-inf")
    x[4, ::3] = float("-inf")
    x[5, 11] = float("inf")
    x[6] = torch.where(torch.arange(columns) % 2 == 0, 0.0, -0.0).to(dtype)
    x = x.to(target)
    fusion = above_extremum(dtype, columns, op).fusion
    params = schedule.schedule(fusion, INNER, [x], "cuda")
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    (found,) = executor.run([x], params.lparams, params.cparams)
    extremum = getattr(torch, f"a{op}")(x.float(), 1, keepdim=True)
    torch.testing.assert_close(
        found, (x.float() - extremum).to(dtype), rtol=0, atol=0, equal_nan=True
    )

"""Choices between narrow floats in registers: one instruction, where both of them can be read."""

from __future__ import annotations

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    ParallelType,
    schedule,
    segment,
)

TYPES = {  # those that are structures
    DataType.Half: torch.float16,
    DataType.BFloat16: torch.bfloat16,
    DataType.Float8_e4m3fn: torch.float8_e4m3fn,
}
ROWS, COLUMNS = 64, 128


def halves_exchanged(dtype: DataType) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([ROWS, COLUMNS], contiguity=True, dtype=dtype)
        left = fd.ops.slice(x, [0, 0], [ROWS, COLUMNS // 2])
        right = fd.ops.slice(x, [0, COLUMNS // 2], [ROWS, COLUMNS])
        fd.add_output(fd.ops.cat([right, left], 1))
    return fd


def shifted_in_registers(dtype: DataType) -> FusionDefinition:
    """A thread keeps a row, and reads the element before that which it writes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 16], contiguity=True, dtype=dtype)
        row = fd.ops.set(x)
        y = fd.ops.pad(row, [1, 0])
        fd.add_output(y)
        for tensor in (row, y):
            tensor.axis(0).parallelize(ParallelType.block_x)
    return fd


def numbers(dtype: DataType, *shape: int) -> torch.Tensor:
    return torch.randn(*shape).to(TYPES.get(dtype, torch.float32))


def text_of_exchange(dtype: DataType) -> str:
    whole = halves_exchanged(dtype).fusion.optimize()
    (group,) = segment(whole, [numbers(dtype, ROWS, COLUMNS)], "cuda").groups
    fusion = group.fusion.clone()
    schedule.schedule(fusion, group.scheduler, group.params)
    return cuda_text(fusion)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_elements_of_vectors_are_selected(dtype: DataType) -> None:
    text = text_of_exchange(dtype)
    assert "select<" in text
    assert " ? " not in text


def test_floats_are_chosen_as_they_are() -> None:
    text = text_of_exchange(DataType.Float)
    assert " ? T3 : T4;" in text
    assert "select<" not in text


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_an_element_outside_of_its_array_is_read_under_its_condition(dtype: DataType) -> None:
    text = cuda_text(shifted_in_registers(dtype).fusion)
    assert "i4 - 1 >= 0 ? T1[i4 - 1]" in text
    assert "select<" not in text


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_exchanged_and_shifted_elements_are_right(dtype: DataType, target: str) -> None:
    x = numbers(dtype, ROWS, COLUMNS).to(target)
    fd = halves_exchanged(dtype)
    (exchanged,) = fd.execute([x])
    expected = torch.cat([x[:, COLUMNS // 2 :], x[:, : COLUMNS // 2]], 1)
    assert torch.equal(exchanged.view(torch.int8), expected.view(torch.int8))
    x = numbers(dtype, 33, 16).to(target)
    executor = KernelExecutor()
    fusion = shifted_in_registers(dtype).fusion
    executor.compile(fusion, [x])
    (shifted,) = executor.run([x])
    assert torch.equal(shifted[:, 1:].float(), x.float())
    assert not shifted[:, 0].float().any()

"""Registers that are loaded under a condition and read whether it held or not have a value: without
one all iterations would share a register, and each load wait for the one before."""

from __future__ import annotations

import re

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import DataType, FusionDefinition, SchedulerType, schedule


def scheduled_softmax(*shape: int, dtype: torch.dtype) -> FusionDefinition:
    kinds = {torch.float16: DataType.Half, torch.float32: DataType.Float}
    with FusionDefinition() as fd:
        x = fd.define_tensor(list(shape), contiguity=[True, True], dtype=kinds[dtype])
        wide = fd.ops.cast(x, DataType.Float)
        powers = fd.ops.exp(
            fd.ops.sub(wide, fd.ops.broadcast(fd.ops.max(wide, [1]), [False, True]))
        )
        total = fd.ops.broadcast(fd.ops.sum(powers, [1]), [False, True])
        fd.add_output(fd.ops.cast(fd.ops.div(powers, total), kinds[dtype]))
    inputs = [torch.empty(shape, dtype=dtype)]
    schedule.schedule(fd.fusion, SchedulerType.inner_persistent, inputs, "cuda")
    return fd


def declarations(text: str, loaded: str) -> list[str]:
    """Of registers that `loaded` is loaded into."""
    targets = re.findall(rf"(T\d+) = load_readonly\({loaded}\[", text)
    targets += re.findall(rf"load_vector<[^;]*>\(&(T\d+)\[[^;]*&{loaded}\[", text)
    return [line.strip() for name in targets for line in text.splitlines() if f" {name}" in line]


@pytest.mark.parametrize(("dtype", "columns"), [(torch.float16, 1657), (torch.float16, 1640)])
def test_loads_of_a_part_of_the_threads_have_a_value(dtype: torch.dtype, columns: int) -> None:
    """The last elements of a row, and rows beyond the last one."""
    text = cuda_text(scheduled_softmax(85261, columns, dtype=dtype).fusion)
    (declaration, *_) = [d for d in declarations(text, "T0") if d.endswith(" = {};")]
    assert declaration.split()[-3].startswith("T")


def test_loads_without_a_condition_have_none() -> None:
    text = cuda_text(scheduled_softmax(4096, 8192, dtype=torch.float16).fusion)
    assert "T0[" in text
    assert "= {}" not in text

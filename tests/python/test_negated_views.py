"""Views that PyTorch negates when it reads them are refused, and few tensors are asked for it."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, UserError


def doubled(dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], dtype=dtype)
        y = fd.ops.add(x, x)
        fd.add_output(y)
    return fd


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64])
def test_negated_views_are_refused_whatever_their_type_and_strides(dtype: torch.dtype) -> None:
    types = {torch.float32: DataType.Float, torch.int64: DataType.Int}
    fd = doubled(types.get(dtype, DataType.ComplexFloat))
    x = (10 * torch.randn(2, 2)).to(dtype)
    for view in (torch._neg_view(x), torch._neg_view(x).t(), torch._neg_view(x)[1:, 1:]):
        with pytest.raises(UserError, match=r"pass tensor\.resolve_neg\(\)"):
            fd.execute([view])
        assert torch.equal(fd.execute([view.resolve_neg()])[0], view + view)


@pytest.mark.parametrize("rank", range(8))
def test_negated_views_are_refused_whatever_their_rank(rank: int) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * rank)
        fd.add_output(fd.ops.add(x, x))
    plain = torch.randn([2] * rank)
    assert torch.equal(fd.execute([plain])[0], plain + plain)
    with pytest.raises(UserError, match=r"pass tensor\.resolve_neg\(\)"):
        fd.execute([torch._neg_view(plain)])
    assert torch.equal(fd.execute([plain])[0], plain + plain)


ASKS_TENSORS = """
import torch
asked = []
ask = torch.Tensor.is_neg
torch.Tensor.is_neg = lambda tensor: asked.append(tensor.dim()) or ask(tensor)
from nvfuser_direct import FusionDefinition
for rank in (0, 1, 5, 6):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * rank)
        fd.add_output(fd.ops.neg(x))
    plain = torch.randn([3] * rank)
    for x in (plain, plain.clone().requires_grad_(), plain.expand([3] * rank), plain.detach()):
        assert torch.equal(fd.execute([x])[0], -x)
print(set(asked))
"""


@pytest.mark.skipif(
    not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"), reason="tensors come in capsules"
)
def test_tensors_of_few_dimensions_are_not_asked_whether_they_are_negated() -> None:
    found = subprocess.run(
        [sys.executable, "-c", ASKS_TENSORS], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "{6}"


def test_views_that_are_conjugated_and_negated_say_both() -> None:
    x = torch._neg_view(torch.randn(2, 2).to(torch.complex64).conj())
    with pytest.raises(UserError, match=r"pass tensor\.resolve_conj\(\)\.resolve_neg\(\)"):
        doubled(DataType.ComplexFloat).execute([x])

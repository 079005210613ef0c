"""csrc/ops/composite_nn.cpp: layers, compared with PyTorch through the fallback evaluator."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from nvfuser_direct import DataType, FusionDefinition, evaluate


def run(fd: FusionDefinition, inputs, *outputs):
    for output in outputs:
        fd.add_output(output)
    return evaluate(fd.fusion, inputs)


POINTWISE = [
    ("gelu", (), functional.gelu),
    ("tanh_gelu", (), lambda x: functional.gelu(x, approximate="tanh")),
    ("leaky_relu", (0.1,), lambda x: functional.leaky_relu(x, 0.1)),
    ("softplus", (2.0, 3.0), lambda x: functional.softplus(x, 2.0, 3.0)),
]


@pytest.mark.parametrize(("name", "arguments", "reference"), POINTWISE)
def test_activations_are_those_of_pytorch(fd, name, arguments, reference) -> None:
    x = torch.randn(4, 33)
    tv = fd.define_tensor([-1, -1], contiguity=True)
    (out,) = run(fd, [x], getattr(fd.ops, name)(tv, *arguments))
    torch.testing.assert_close(out, reference(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("dim", [0, -1])
def test_softmax_and_its_logarithm(fd, dim, dtype) -> None:
    x = (100 * torch.randn(5, 7)).to(dtype)
    names = {torch.float32: DataType.Float, torch.bfloat16: DataType.BFloat16}
    tv = fd.define_tensor([-1, -1], contiguity=True, dtype=names[dtype])
    soft, log_soft = run(fd, [x], fd.ops.softmax(tv, dim), fd.ops.log_softmax(tv, dim))
    torch.testing.assert_close(soft, torch.softmax(x.float(), dim))
    torch.testing.assert_close(log_soft, torch.log_softmax(x.float(), dim))


@pytest.mark.parametrize("num_norm_dims", [1, 2])
def test_layer_norm(fd, num_norm_dims) -> None:
    x = torch.randn(3, 4, 5)
    shape = x.shape[-num_norm_dims:]
    weight, bias = torch.randn(shape), torch.randn(shape)
    tvs = [fd.define_tensor(list(t.shape), contiguity=True) for t in (x, weight, bias)]
    out, mean, invstd = fd.ops.layer_norm(tvs[0], num_norm_dims, tvs[1], tvs[2], 1e-5)
    results = run(fd, [x, weight, bias], out, mean, invstd)
    expected = torch.native_layer_norm(x, list(shape), weight, bias, 1e-5)
    for result, reference in zip(results, expected, strict=True):
        torch.testing.assert_close(result, reference, rtol=1e-4, atol=1e-4)


def test_layer_norm_without_weight_and_bias(fd) -> None:
    x = torch.randn(3, 5)
    tv = fd.define_tensor([-1, -1], contiguity=True)
    (out,) = run(fd, [x], fd.ops.layer_norm(tv, 1, None, None, 1e-5)[0])
    torch.testing.assert_close(out, functional.layer_norm(x, [5]), rtol=1e-4, atol=1e-4)


def test_rms_norm(fd) -> None:
    x, weight = torch.randn(3, 5), torch.randn(5)
    tvs = [fd.define_tensor(list(t.shape), contiguity=True) for t in (x, weight)]
    (out,) = run(fd, [x, weight], fd.ops.rms_norm(tvs[0], 1, tvs[1], 1e-6)[0])
    torch.testing.assert_close(out, functional.rms_norm(x, [5], weight, 1e-6))


def test_the_number_of_normalized_dimensions_is_checked(fd) -> None:
    tv = fd.define_tensor([4], contiguity=True)
    with pytest.raises(RuntimeError, match=r"normalized dimensions must be in \[1, 1\]"):
        fd.ops.rms_norm(tv, 2, None, 1e-6)

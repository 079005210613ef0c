"""Layers with state and gradients of layers, against PyTorch and its autograd."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from nvfuser_direct import FusionDefinition


def run(op: Callable[..., object], *inputs: torch.Tensor) -> list[torch.Tensor]:
    with FusionDefinition() as fd:
        results = op(fd.ops, *[fd.from_pytorch(t) for t in inputs])
        for result in results if isinstance(results, tuple) else (results,):
            if result is not None:
                fd.add_output(result)
    return fd.execute(list(inputs))


def autograd(
    fn: Callable[..., torch.Tensor], dy: torch.Tensor, *inputs: torch.Tensor
) -> list[torch.Tensor]:
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    fn(*leaves).backward(dy)
    return [leaf.grad for leaf in leaves]


def close(actual: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        torch.testing.assert_close(a, e.to(a.dtype), rtol=2e-4, atol=2e-5)


@pytest.fixture
def draw(target: str, rng: torch.Generator) -> Callable[..., torch.Tensor]:
    return lambda *shape: torch.randn(shape, generator=rng).to(target)


def test_elementwise_gradients(draw) -> None:
    dy, x = draw(7, 33), draw(7, 33)
    close(run(lambda ops, *t: ops.gelu_backward(*t), dy, x), autograd(F.gelu, dy, x))
    expected = autograd(lambda t: F.gelu(t, approximate="tanh"), dy, x)
    close(run(lambda ops, *t: ops.tanh_gelu_backward(*t), dy, x), expected)
    expected = autograd(torch.tanh, dy, x)
    close(run(lambda ops, *t: ops.tanh_backward(*t), dy, torch.tanh(x)), expected)


@pytest.mark.parametrize("dim", [0, -1])
def test_softmax_gradients(dim, draw) -> None:
    dy, x = draw(7, 33), draw(7, 33)
    y = torch.softmax(x, dim)
    expected = autograd(lambda t: torch.softmax(t, dim), dy, x)
    close(run(lambda ops, *t: ops.softmax_backward(*t, dim), dy, y), expected)
    y = torch.log_softmax(x, dim)
    expected = autograd(lambda t: torch.log_softmax(t, dim), dy, x)
    close(run(lambda ops, *t: ops.log_softmax_backward(*t, dim), dy, y), expected)


@pytest.mark.parametrize("num_norm_dims", [1, 2])
def test_layer_norm_gradients(num_norm_dims, draw) -> None:
    x, dy = draw(5, 6, 17), draw(5, 6, 17)
    shape = x.shape[-num_norm_dims:]
    weight, bias = draw(*shape), draw(*shape)
    dims = list(range(3 - num_norm_dims, 3))
    mean = x.mean(dims, keepdim=True)
    invstd = (x.var(dims, correction=0, keepdim=True) + 1e-5).rsqrt()
    expected = autograd(lambda *t: F.layer_norm(t[0], shape, t[1], t[2]), dy, x, weight, bias)
    inputs = (dy, x, mean, invstd, weight)

    def op(ops, dy, x, mean, invstd, weight):
        return ops.layer_norm_backward(dy, x, num_norm_dims, mean, invstd, weight, True)

    close(run(op, *inputs), expected)


def test_rms_norm_gradients(draw) -> None:
    x, dy, weight = draw(5, 17), draw(5, 17), draw(17)
    invstd = (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    expected = autograd(lambda *t: F.rms_norm(t[0], (17,), t[1], 1e-5), dy, x, weight)

    def op(ops, dy, x, invstd, weight):
        return ops.rms_norm_backward(dy, x, 1, invstd, weight)

    close(run(op, dy, x, invstd, weight), expected)


@pytest.mark.parametrize("channels_last", [False, True])
def test_batch_norm_in_training(channels_last, draw) -> None:
    x = draw(4, 5, 3, 7)
    weight, bias, mean = draw(5), draw(5), draw(5)
    var = draw(5).abs() + 0.5
    expected_mean, expected_var = mean.clone(), var.clone()
    expected = F.batch_norm(x, expected_mean, expected_var, weight, bias, True, 0.3, 1e-5)
    given = x.movedim(1, -1).contiguous() if channels_last else x
    out, saved_mean, saved_invstd = run(
        lambda ops, *t: ops.batch_norm(
            *t, training=True, momentum=0.3, eps=1e-5, channels_last=channels_last
        ),
        given, weight, bias, mean, var,
    )  # fmt: skip
    out = out.movedim(-1, 1) if channels_last else out
    close([out, mean, var], [expected, expected_mean, expected_var])
    dims = [0, 2, 3]
    invstd = (x.var(dims, correction=0) + 1e-5).rsqrt()
    close([saved_mean, saved_invstd], [x.mean(dims), invstd])


def test_batch_norm_with_running_statistics(draw) -> None:
    x, weight, bias, mean = draw(4, 5, 3), draw(5), draw(5), draw(5)
    var = draw(5).abs() + 0.5
    expected = F.batch_norm(x, mean.clone(), var.clone(), weight, bias, False)
    (out,) = run(lambda ops, *t: ops.batch_norm(*t, training=False), x, weight, bias, mean, var)
    close([out], [expected])


@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_gradients(training, draw) -> None:
    x, dy, weight, bias = draw(4, 5, 3), draw(4, 5, 3), draw(5), draw(5)
    mean = x.mean([0, 2]) if training else draw(5)
    var = x.var([0, 2], correction=0) if training else draw(5).abs() + 0.5
    invstd = (var + 1e-5).rsqrt()
    expected = autograd(
        lambda *t: F.batch_norm(t[0], mean.clone(), var.clone(), t[1], t[2], training),
        dy, x, weight, bias,
    )  # fmt: skip
    inputs = (dy, x, weight, mean, invstd)
    close(run(lambda ops, *t: ops.batch_norm_backward(*t, training), *inputs), expected)


def test_instance_norm(draw) -> None:
    x, weight, bias, mean = draw(4, 5, 3, 7), draw(5), draw(5), draw(5)
    var = draw(5).abs() + 0.5
    expected_mean, expected_var = mean.clone(), var.clone()
    expected = F.instance_norm(x, expected_mean, expected_var, weight, bias, True, 0.1)
    out, saved_mean, saved_invstd = run(
        lambda ops, *t: ops.instance_norm(*t), x, weight, bias, mean, var
    )
    close([out, mean, var], [expected, expected_mean, expected_var])
    assert saved_mean.shape == saved_invstd.shape == (4, 5)


def test_instance_norm_gradients(draw) -> None:
    x, dy, weight, bias = draw(4, 5, 9), draw(4, 5, 9), draw(5), draw(5)
    mean, invstd = x.mean(-1), (x.var(-1, correction=0) + 1e-5).rsqrt()
    expected = autograd(
        lambda *t: F.instance_norm(t[0], weight=t[1], bias=t[2]), dy, x, weight, bias
    )
    inputs = (dy, x, weight, mean, invstd)
    close(run(lambda ops, *t: ops.instance_norm_backward(*t), *inputs), expected)


def test_lstm(draw) -> None:
    previous, i, f, c, o = (draw(3, 8) for _ in range(5))
    cell = torch.sigmoid(f) * previous + torch.sigmoid(i) * torch.tanh(c)
    close(
        run(lambda ops, *t: ops.lstm(*t), previous, i, f, c, o),
        [cell, torch.sigmoid(o) * torch.tanh(cell)],
    )


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout(p, target) -> None:
    x = torch.rand(64, 128).to(target) + 1
    out, mask = run(lambda ops, t: ops.dropout(t, p), x)
    scale = 1 / (1 - p) if p < 1 else 1.0
    torch.testing.assert_close(out, x * mask * scale)
    kept = mask.float().mean().item()
    assert abs(kept - (1 - p)) < 0.03
    dy = torch.rand(64, 128).to(target)
    (dx,) = run(lambda ops, *t: ops.dropout_backward(*t, scale), dy, mask)
    torch.testing.assert_close(dx, dy * mask * scale)


@pytest.mark.parametrize("shape", [[5, 6, 7], [6, 7], [1, 7], [5, 1, 7], [1], [5, 6, 1]])
def test_sum_to(shape, draw) -> None:
    x = draw(5, 6, 7)
    (out,) = run(lambda ops, t: ops.set(ops.sum_to(t, shape)), x)
    torch.testing.assert_close(out, x.sum_to_size(shape))

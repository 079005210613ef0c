"""Operations mean what they do in `nvfuser_direct`, and check what can be seen at once."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from operation_calls import CALLS, make_inputs

from nvfuser import DataType, FusionDefinition, Tensor
from nvfuser.operator_stub import stub_text
from nvfuser.operators import Operators

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    import nvfuser_direct as direct

# Those of the core, and those of the frontend that the core has no function for.
NAMES = """abs acos acosh add addcmul argsort asin asinh atan atan2 atanh bitwise_and
bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor broadcast broadcast_in_dim
cast cat ceil clamp complex cos cosh cummax cummin cumprod cumsum cutlass_nvfp4_grouped_mm div
embedding_fwd eq erf erfc erfcinv erfinv exp exp2 expand expm1 floor fmod frac full gather gcd ge
grouped_mm gt imag index_select iota isfinite isinf isnan isneginf isposinf isreal le lerp lgamma
linear log log10 log1p log2 logical_and logical_not logical_or logical_right_shift lt matmul max
maximum min minimum mod mul ne neg nextafter normal nv_block_quantize nv_grouped_block_quantize pad
permute pow preprocess_grouped_matmul_input_sf prod rand_like randn_like real reciprocal relu
remainder reshape round rsqrt scaled_mm scatter sdpfa_bwd sdpfa_fwd segment_set select set shape
sigmoid sign signbit silu sin sinh size slice sqrt squeeze stride_order sub sum take_along_axis tan
tanh threshold topk triu truediv trunc uniform var var_mean welford where
add_alpha sub_alpha batch_norm index_put_accumulate tensor_sizes at""".split()


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_is_there_and_documented(name: str) -> None:
    """`fd.ops.<name>` exists for every documented function."""
    method = getattr(Operators, name)
    assert re.search(r"\nParameters\n-+\n", method.__doc__)
    assert name in dir(FusionDefinition.Operators)


def test_help_lists_the_operations() -> None:
    """`help(FusionDefinition.Operators)`."""
    import pydoc

    text = pydoc.plain(pydoc.render_doc(FusionDefinition.Operators))
    for name in NAMES:
        assert re.search(rf"\b{name}\(self", text), name


def test_the_stub_is_current() -> None:
    """Type checkers see the table; `python -m nvfuser.operator_stub` writes it."""
    import nvfuser

    committed = Path(nvfuser.__file__).with_name("operators.pyi")
    assert committed.read_text() == stub_text()


def _results(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, tuple | list) else [outputs]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_computes_what_the_core_does(name: str, target: str, rng: torch.Generator) -> None:
    """The same meaning as in nvfuser_direct.ops."""
    inputs = make_inputs(rng)
    values = [value.to(target) for value in inputs.values()]

    def run(package: Any, is_frontend: bool) -> list[torch.Tensor]:
        with package.FusionDefinition() as fd:
            tensors = {name: fd.from_pytorch(value) for name, value in inputs.items()}
            scalar = fd.define_scalar if is_frontend else (lambda value: value)
            for out in _results(CALLS[name](fd.ops, tensors, scalar)):
                if is_frontend:
                    assert isinstance(out, Tensor)
                fd.add_output(out)
        return fd.execute(values)

    import nvfuser

    outputs, references = run(nvfuser, True), run(direct, False)
    assert len(outputs) == len(references)
    for out, reference in zip(outputs, references, strict=True):
        assert out.dtype == reference.dtype
        assert out.stride() == reference.stride()
        torch.testing.assert_close(out, reference, rtol=0, atol=0, equal_nan=True)


def opened() -> FusionDefinition:
    fd = FusionDefinition()
    fd._setup_definition()
    return fd


CHECKS = {
    "cat of nothing": (
        lambda fd, t: fd.ops.cat([], 0),
        "Attempting to concatenate empty list of tensors",
    ),
    "too many broadcast_dims": (
        lambda fd, t: fd.ops.broadcast_in_dim(t, [4], [0, 1]),
        "broadcast_dims vector size is too big for output shape!",
    ),
    "gather of another rank": (
        lambda fd, t: fd.ops.gather(t, fd.define_tensor([-1], dtype=DataType.Int), 0),
        "Tensor arguments have different dimensions 2 and 1",
    ),
    "gather along no dimension": (
        lambda fd, t: fd.ops.gather(t, t, 2),
        "Tensor arguments have dimension 2 so dim argument must satisfy -2 <= dim < 2",
    ),
    "take_along_axis of another rank": (
        lambda fd, t: fd.ops.take_along_axis(t, fd.define_tensor([-1]), 0),
        "Tensor arguments have different dimensions 2 and 1",
    ),
    "scatter of another rank": (
        lambda fd, t: fd.ops.scatter(t, t, fd.define_tensor([-1]), 0),
        "Tensor arguments have different dimensions 2, 2 and 1",
    ),
    "slice with other strides": (
        lambda fd, t: fd.ops.slice(t, [0, 0], [1, 1], [1]),
        "Slice start_indices and strides don't match!",
    ),
    "slice of another rank": (
        lambda fd, t: fd.ops.slice(t, [0], [1]),
        "Number of tensor dimensions does not match slice dimensions!",
    ),
    "slice with other ends": (
        lambda fd, t: fd.ops.slice(t, [0, 0], [1]),
        "Slice indexing attribute dimensions don't match!",
    ),
    "permute of fewer": (
        lambda fd, t: fd.ops.permute(t, [0]),
        "argument to have the same length as input!",
    ),
    "permute out of range": (lambda fd, t: fd.ops.permute(t, [0, 2]), "out of range"),
    "permute with a repeat": (lambda fd, t: fd.ops.permute(t, [0, 0]), "duplicated"),
    "stride_order of fewer": (
        lambda fd, t: fd.ops.stride_order(t, [0]),
        "argument to have the same length as input!",
    ),
    "stride_order with a repeat": (lambda fd, t: fd.ops.stride_order(t, [1, -1]), "duplicated"),
    "too many pad widths": (
        lambda fd, t: fd.ops.pad(t, [1] * 5),
        "Number of pad widths must be at most twice the input dimension",
    ),
    "a seed alone": (
        lambda fd, t: fd.ops.uniform(
            fd.define_scalar(0.0), fd.define_scalar(1.0), [4], rng_seed=fd.define_scalar(1)
        ),
        "rng_seed and rng_offset must be provided together!",
    ),
    "rand_like with a seed alone": (
        lambda fd, t: fd.ops.rand_like(t, rng_seed=fd.define_scalar(1)),
        "rng_seed and rng_offset must be provided together!",
    ),
    "random integers": (
        lambda fd, t: fd.ops.normal(
            fd.define_scalar(0.0), fd.define_scalar(1.0), [4], dtype=DataType.Int
        ),
        "Random distributions only create floating point types!",
    ),
}


@pytest.mark.parametrize("name", CHECKS)
def test_what_can_be_seen_is_checked_when_it_is_written(name: str) -> None:
    """Checks before any IR exists; the definition continues."""
    write, gist = CHECKS[name]
    fd = opened()
    tensor = fd.define_tensor([-1, -1])
    with pytest.raises(RuntimeError, match=re.escape(gist)):
        write(fd, tensor)
    fd.add_output(fd.ops.neg(tensor))
    fd._finalize_definition()


def test_all_else_is_checked_on_completion() -> None:
    """Wrapped, with the statement."""
    fd = opened()
    tensor = fd.define_tensor([2, 3])
    fd.ops.squeeze(tensor, [0])
    with pytest.raises(RuntimeError, match="Can not squeeze") as caught:
        fd._finalize_definition()
    assert "exception while building Fusion IR" in str(caught.value)
    assert "fd.ops.squeeze(T" in str(caught.value)


def test_corrections_and_starts_have_no_defaults() -> None:
    """`var` and `iota`."""
    fd = opened()
    tensor = fd.define_tensor([-1, -1])
    with pytest.raises(TypeError, match="correction"):
        fd.ops.var(tensor, [0])
    with pytest.raises(TypeError, match="start"):
        fd.ops.iota(fd.define_scalar(4))  # type: ignore[call-arg]


def test_names_of_parameters_that_differ() -> None:
    """`arg1` of scatter and its like, input of triu."""
    fd = opened()
    tensor = fd.define_tensor([-1, -1])
    index = fd.define_tensor([-1, -1], dtype=DataType.Int)
    fd.ops.gather(arg1=tensor, index=index, dim=0)
    fd.ops.take_along_axis(arg1=tensor, index=index, dim=0)
    fd.ops.scatter(arg1=tensor, index=index, src=tensor, dim=0)
    fd.ops.triu(input=tensor, diagonal=fd.define_scalar(1))
    with pytest.raises(TypeError):
        fd.ops.cumsum(tensor, 0, fd.define_scalar(0.0))  # type: ignore[call-arg]


def test_seeded_random_tensors_repeat(target: str) -> None:
    """`rand_like` and randn_like with seed and offset."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        seed, offset = fd.define_scalar(None, DataType.Int), fd.define_scalar(None, DataType.Int)
        fd.add_output(fd.ops.rand_like(t0, rng_seed=seed, rng_offset=offset))
        fd.add_output(fd.ops.randn_like(t0, rng_seed=seed, rng_offset=offset))
    x = torch.zeros(200, 100, device=target)
    first, second, other = (fd.execute([x, n, 4]) for n in (7, 7, 8))
    for a, b, c in zip(first, second, other, strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)
    assert abs(first[0].mean() - 0.5) < 0.02
    assert abs(first[1].std() - 1) < 0.02


def test_running_statistics_are_updated_in_place(target: str, rng: torch.Generator) -> None:
    """`batch_norm`, of which the four tensors may be None."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1])
        mean, var = fd.define_tensor([-1]), fd.define_tensor([-1])
        momentum, eps = fd.define_scalar(0.1), fd.define_scalar(1e-5)
        out, saved_mean, saved_invstd = fd.ops.batch_norm(
            x, None, None, mean, var, momentum, eps, True, channels_last=False
        )
        assert (out.ndim, saved_mean.ndim, saved_invstd.ndim) == (3, 1, 1)
        fd.add_output(out)
    values = torch.randn(4, 3, 5, generator=rng)
    running = [torch.zeros(3), torch.ones(3)]
    given = [values.to(target), *(t.to(target) for t in running)]
    reference = torch.nn.functional.batch_norm(values, *running, training=True, momentum=0.1)
    (result,) = fd.execute(given)
    torch.testing.assert_close(result.cpu(), reference, rtol=1e-4, atol=1e-5)
    for updated, expected in zip(given[1:], running, strict=True):
        torch.testing.assert_close(updated.cpu(), expected, rtol=1e-4, atol=1e-5)


def test_results_that_are_not_produced_are_none() -> None:
    """Optional results."""
    fd = opened()
    a = fd.define_tensor([-1, -1], dtype=DataType.BFloat16)
    offsets = fd.define_tensor([-1], dtype=DataType.Int32)
    out, scale, gamma = fd.ops.grouped_mm(a, a, offsets, None, None)
    assert isinstance(out, Tensor)
    assert scale is None
    assert gamma is None
    assert isinstance(fd.ops.grouped_mm(a, a, offsets), Tensor)
    assert "T2, _, _ = fd.ops.grouped_mm(T0, T0, T1, None, None, None, None, None, " in repr(fd)

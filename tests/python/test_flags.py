"""How a bool can be written: True, False, NumPy's, 1 and 0; and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    FusionExecutorCache,
    translate_fusion,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def matrix(fd: FusionDefinition) -> Any:
    return fd.define_tensor([-1, -1], contiguity=True)


def text_of(define: Callable[[FusionDefinition, Any], Any], flag: Any) -> str:
    """The definition that `define` makes with `flag` for True."""
    with FusionDefinition() as fd:
        results = define(fd, flag)
        for result in results if isinstance(results, tuple) else [results]:
            fd.add_output(result)
    return translate_fusion(fd.fusion)


CALLS = {
    "keepdim": lambda fd, t: fd.ops.sum(matrix(fd), [1], keepdim=t),
    "keepdim by position": lambda fd, t: fd.ops.sum(matrix(fd), [1], t),
    "keepdim of one dim": lambda fd, t: fd.ops.sum(matrix(fd), 1, t),
    "keepdim of a variance": lambda fd, t: fd.ops.var(matrix(fd), [1], 1, t),
    "flags of broadcast": lambda fd, t: fd.ops.broadcast(matrix(fd), [t, not t, not t]),
    "flags by name": lambda fd, t: fd.ops.broadcast(matrix(fd), is_broadcast_dim=[t, 0, False]),
    "flags of squeeze": lambda fd, t: fd.ops.squeeze(
        fd.define_tensor([1, -1], contiguity=True), [0], squeeze_expanded=t
    ),
    "contiguity": lambda fd, t: fd.ops.neg(fd.define_tensor([-1, -1], contiguity=[t, t])),
    "contiguity with None": lambda fd, t: fd.ops.neg(
        fd.define_tensor([1, -1], contiguity=[None, t])
    ),
    "contiguity of all": lambda fd, t: fd.ops.neg(fd.define_tensor([-1, 4], contiguity=t)),
    "is_cpu": lambda fd, t: fd.ops.add(matrix(fd), fd.define_tensor([], [], is_cpu=t)),
    "static_sizes": lambda fd, t: fd.ops.neg(fd.define_tensor([4, 8], [8, 1], static_sizes=t)),
    "manual_normalization": lambda fd, t: fd.ops.slice(
        matrix(fd), [0, 0], [2, 2], [1, 1], manual_normalization=t
    ),
    "manual_normalization by position": lambda fd, t: fd.ops.slice(
        matrix(fd), [0, 0], [2, 2], [1, 1], t
    ),
    "largest and sorted": lambda fd, t: fd.ops.topk(matrix(fd), 2, 1, largest=not t, sorted=t),
    "descending and stable": lambda fd, t: fd.ops.argsort(matrix(fd), 1, descending=t, stable=t),
}


@pytest.mark.parametrize("flag", [1, np.True_, np.int32(1)], ids=["1", "np.bool", "np.int32"])
@pytest.mark.parametrize("name", CALLS)
def test_one_is_true(name: str, flag: Any) -> None:
    define = CALLS[name]
    assert text_of(define, flag) == text_of(define, True)


def test_zero_is_false() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[0, 1], is_cpu=0)
        part = fd.ops.slice(x, [0, 0], [2, 2], manual_normalization=0)
        both = fd.ops.cat([part, part], dim=0, manual_padding=np.False_)
        fd.add_output(fd.ops.sum(both, [0], keepdim=0))
    assert [bool(flag) for flag in x.get_contiguity()] == [False, True]
    (out,) = fd.execute([torch.ones(4, 5)])
    assert out.tolist() == [4.0, 4.0]


@pytest.mark.parametrize("number", [2, -1, 2**70])
@pytest.mark.parametrize(
    "name", ["keepdim", "keepdim by position", "contiguity of all", "manual_normalization"]
)
def test_other_integers_are_no_flags(name: str, number: int) -> None:
    expected = rf"Expected True or False \(or 1 or 0\), but got {number}"
    with pytest.raises(TypeError, match=expected):
        text_of(CALLS[name], number)


def test_other_integers_are_no_flags_in_lists() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        with pytest.raises(TypeError, match=r"\(or 1 or 0\), but got 2 at index 1"):
            fd.ops.broadcast(x, [0, 2])
        with pytest.raises(TypeError, match=r"\(or 1 or 0\), but got 3 at index 0"):
            fd.define_tensor([4, 4], contiguity=[3, None])


@pytest.mark.parametrize("value", [1.0, "True", None, [True], torch.tensor(True)])
def test_what_is_no_integer_is_no_flag(value: object) -> None:
    with FusionDefinition() as fd:
        x = matrix(fd)
        with pytest.raises(TypeError):
            fd.ops.sum(x, [1], keepdim=value)


def test_integers_beside_sizes_are_strides() -> None:
    with FusionDefinition() as fd:
        for is_cpu in (False, 0):
            x = fd.define_tensor([4, 8], [1, 1], DataType.Float, is_cpu)
            assert x.get_contiguity() != [True, True]
        sizes = [np.int64(4), np.int64(8)]
        assert fd.define_tensor(sizes, [np.int64(8), 1]).get_contiguity() == [True, True]
        assert fd.define_tensor([4, 8], [True, True]).get_contiguity() == [True, True]


def test_flags_of_parameters_and_schedules() -> None:
    params = CompileParams(enable_magic_zero=0)
    assert params.enable_magic_zero is False
    params.enable_magic_zero = 1
    assert params.enable_magic_zero is True
    with pytest.raises(TypeError, match="but got 7"):
        params.enable_magic_zero = 7
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 4, inner_split=0)
    assert nvf.translate_fusion(fd.fusion, schedule=1) == nvf.translate_fusion(fd.fusion, True)


def negation() -> FusionDefinition:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([4], contiguity=True)))
    return fd


def like_a_tensor(static_sizes: Any) -> None:
    with FusionDefinition() as fd:
        fd.from_pytorch(torch.ones(4), static_sizes=static_sizes)


def executed(flag: Any) -> FusionExecutorCache:
    """A cache with a kernel; it schedules the fusion, as `flag` is True."""
    cache = FusionExecutorCache(negation().fusion, auto_schedule=flag)
    cache.execute([torch.ones(4)])
    return cache


PYTHON_CALLS = {
    "auto_schedule": lambda t: executed(t).get_scheduled_ir([torch.ones(4)]),
    "save_repro_inputs": lambda t: negation().execute([torch.ones(4)], save_repro_inputs=t),
    "auto_scheduled": lambda t: nvf.PythonProfiler(t),
    "static_sizes": lambda t: like_a_tensor(static_sizes=t),
    "intrinsic_code": lambda t: executed(True).get_cuda_kernel([torch.ones(4)], t),
    "tensor_transforms": lambda t: executed(True).get_scheduled_ir([torch.ones(4)], t),
    "transforms of the last run": lambda t: executed(True).get_most_recent_scheduled_ir(t),
    "schedule": lambda t: negation().repro_script_for(schedule=t),
}


@pytest.mark.parametrize("name", PYTHON_CALLS)
def test_flags_of_functions_in_python_are_bools_one_and_zero(name: str) -> None:
    call = PYTHON_CALLS[name]
    for flag in (True, 1, np.True_):
        call(flag)
    with pytest.raises(TypeError, match=r"Expected True or False \(or 1 or 0\), but got 2"):
        call(2)
    for value in ("no", None):
        with pytest.raises(TypeError):
            call(value)


def test_inputs_are_saved_where_the_flag_is_one() -> None:
    for flag in (False, 0, np.False_):
        fd = negation()
        fd.execute([torch.ones(4)], save_repro_inputs=flag)
        assert not hasattr(fd, "fake_inputs")
        fd.execute([torch.ones(4)], save_repro_inputs=not flag)
        assert len(fd.fake_inputs) == 1


@pytest.mark.parametrize("flag", [1, np.True_])
def test_scalars_that_are_flags(flag: Any) -> None:
    def define(fd: FusionDefinition, t: Any) -> Any:
        q = fd.define_tensor([2, 2, 8, 8], contiguity=True, dtype=DataType.BFloat16)
        return fd.ops.sdpfa_fwd(q, q, q, dropout_p=0.0, is_causal=t)

    assert text_of(define, flag) == text_of(define, True)


@pytest.mark.parametrize("flag", [1, np.True_])
def test_scalar_flags_of_an_embedding(flag: Any) -> None:
    def define(fd: FusionDefinition, t: Any) -> Any:
        index = fd.define_tensor([4], contiguity=True, dtype=DataType.Int)
        return fd.ops.embedding_fwd(index, matrix(fd), scale_grad_by_freq=t, sparse=t)

    assert text_of(define, flag) == text_of(define, True)

"""CompileParams: defaults, text, comparison."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from nvfuser_direct import CompileParams, DataType, UserError, UserValueError


def test_defaults() -> None:
    params = CompileParams()
    assert params.index_type is None
    assert params.maxrregcount == 255
    assert params.enable_magic_zero is True
    assert params.enable_ptxas_verbose is False
    assert params.device is None
    assert params.include_paths == []


def test_text() -> None:
    assert repr(CompileParams()) == (
        "Compile Parameters: index_type = NotSet, maxrregcount = 255, enable_magic_zero = 1, "
        "enable_ptxas_verbose = 0, include_paths = \n"
    )
    params = CompileParams(
        index_type=DataType.Int32,
        maxrregcount=64,
        enable_magic_zero=False,
        include_paths=["a", "b"],
    )
    assert repr(params) == (
        "Compile Parameters: index_type = int, maxrregcount = 64, enable_magic_zero = 0, "
        "enable_ptxas_verbose = 0, include_paths = a:b\n"
    )


def test_comparing_needs_the_index_type_of_both() -> None:
    with pytest.raises(UserError, match="cannot compare as the index type is not defined"):
        assert CompileParams() == CompileParams(index_type=DataType.Int)
    assert CompileParams(index_type=DataType.Int) == CompileParams(index_type=DataType.Int)
    assert CompileParams(index_type=DataType.Int) != CompileParams(index_type=DataType.Int32)


def test_the_device_is_a_torch_device() -> None:
    torch = pytest.importorskip("torch")
    params = CompileParams(device="cpu")
    assert params.device == torch.device("cpu")
    params.device = torch.device("cuda:1")
    assert params.device == torch.device("cuda:1")
    params.device = None
    assert params.device is None
    with pytest.raises(UserError, match="nvfuser only supports cuda or meta device, found: mps"):
        params.device = torch.device("mps")


def test_a_cap_of_registers_is_not_negative() -> None:
    params = CompileParams(maxrregcount=0)  # no cap
    with pytest.raises(UserValueError, match="A thread cannot have a negative number of registers"):
        params.maxrregcount = -1
    assert params.maxrregcount == 0
    with pytest.raises(UserValueError, match=r"found:    maxrregcount = -3"):
        CompileParams(maxrregcount=-3)


def test_parameters_are_keyword_only() -> None:
    with pytest.raises(TypeError, match="incompatible function arguments"):
        CompileParams(DataType.Int)


COPIES = [copy.copy, copy.deepcopy, lambda params: pickle.loads(pickle.dumps(params))]


@pytest.mark.parametrize("make_copy", COPIES)
@pytest.mark.parametrize("device", [None, "cpu", "cuda:3"])
def test_copies_and_pickles_are_equal_and_apart(make_copy: Any, device: str | None) -> None:
    params = CompileParams(
        index_type=DataType.Int32,
        maxrregcount=64,
        enable_magic_zero=False,
        enable_ptxas_verbose=True,
        device=device,
        include_paths=["a", "b"],
    )
    other = make_copy(params)
    assert other == params
    other.maxrregcount = 32
    assert params.maxrregcount == 64


@pytest.mark.parametrize("make_copy", COPIES)
def test_parameters_without_an_index_type_are_copied(make_copy: Any) -> None:
    assert repr(make_copy(CompileParams())) == repr(CompileParams())
    assert make_copy(CompileParams()).index_type is None

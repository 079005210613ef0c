"""LaunchParams: properties, text, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    ParallelType,
    UserError,
)


def test_unset_dimensions_read_as_one_and_print_as_minus_one() -> None:
    params = LaunchParams()
    assert (params.gdimx, params.bdimz) == (1, 1)
    assert repr(params) == (
        "Launch Parameters: BlockDim.x = -1, BlockDim.y = -1, BlockDim.z = -1, "
        "GridDim.x = -1, GridDim.y = -1, GridDim.z = -1, Smem Size = 0\n"
    )


def test_arguments_are_grid_then_block() -> None:
    params = LaunchParams(1, 2, 3, 4, 5, 6)
    assert [params.gdimx, params.gdimy, params.gdimz] == [1, 2, 3]
    assert [params.bdimx, params.bdimy, params.bdimz] == [4, 5, 6]


def test_a_dimension_is_set_once() -> None:
    params = LaunchParams()
    params.bdimx = 32
    params.bdimx = 32
    with pytest.raises(
        UserError,
        match=r"Tried to set bdimx from 32 to 64, but it was already set and new value does not "
        r"match\. Thread dims all have to be bound to the same value\.",
    ):
        params.bdimx = 64
    assert params.bdimx == 32


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        ((1, 1, 1, 1025, 1, 1), "Selected invalid number of threads for cuda: 1025"),
        ((1, 1, 1, 32, 32, 2), "Selected invalid number of threads for cuda: 2048"),
        (
            (1, 1, 1, 1, 1, 65),
            "Selected invalid number of threads for cuda: 65 in z direction, at most 64",
        ),
        ((2**31, 1, 1, 1, 1, 1), "Invalid number of blocks in x direction: 2147483648"),
        ((1, 65536, 1, 1, 1, 1), "Invalid number of blocks in y direction: 65536"),
        ((1, 1, 65536, 1, 1, 1), "Invalid number of blocks in z direction: 65536"),
    ],
)
def test_sizes_beyond_the_limits_are_refused(dims: tuple[int, ...], text: str) -> None:
    with pytest.raises(UserError, match=text) as refused:
        LaunchParams(*dims)
    message = " ".join(str(refused.value).split())
    assert "node: LaunchParams" in message
    assert "expected: at most" in message
    assert "fix: " in message


@pytest.mark.parametrize(
    ("bound", "sizes", "found", "fix"),
    [
        (("block_x",), (1025,), "1025 x 1 x 1 threads", "split the axis"),
        (("block_x", "block_y"), (64, 32), "64 x 32 x 1 threads", "split the axis"),
        (("block_z",), (65,), "65", "bind the axis to block_x"),
        (("grid_y",), (65536,), "65536", "bind the axis to grid_x"),
        (("grid_z",), (65536,), "65536", "bind the axis to grid_x"),
    ],
)
def test_a_launch_that_is_too_large_names_the_axes(
    target: str, bound: tuple[str, ...], sizes: tuple[int, ...], found: str, fix: str
) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(sizes), contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        for axis, name in enumerate(bound):
            y.axis(axis).parallelize(getattr(ParallelType, name))
    executor = KernelExecutor()
    inputs = [torch.ones(sizes, device=target)]
    executor.compile(fd.fusion, inputs)
    with pytest.raises(UserError, match="nvalid number of") as refused:
        executor.run(inputs)
    lines = str(refused.value).splitlines()
    message = " ".join(str(refused.value).split())
    (node,) = (k for k, line in enumerate(lines) if "  node:" in line)
    for k in range(len(bound)):
        assert "bound to" in lines[node + k]
        assert "test_launch_params.py" in lines[node + k]
    assert f"found: {found} fix: {fix}" in message


def test_the_largest_sizes_are_accepted() -> None:
    params = LaunchParams(2**31 - 1, 65535, 65535, 1024, 1, 1)
    assert params.gdimx == 2**31 - 1


def test_params_are_equal_by_value() -> None:
    assert LaunchParams(1, 2, 3, 4, 5, 6) == LaunchParams(1, 2, 3, 4, 5, 6)
    assert LaunchParams() != LaunchParams(1, -1, -1, -1, -1, -1)


@pytest.mark.parametrize(
    "make_copy", [copy.copy, copy.deepcopy, lambda params: pickle.loads(pickle.dumps(params))]
)
def test_copies_and_pickles_are_equal_and_apart(make_copy: Any) -> None:
    params = LaunchParams(1, 2, 3, 4, -1, 6)
    other = make_copy(params)
    assert other == params
    other.bdimy = 5
    assert params == LaunchParams(1, 2, 3, 4, -1, 6)

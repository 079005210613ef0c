"""Params of schedulers: copies and pickles are equal, and are their own; what differs is named."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    GreedyParams,
    LaunchParams,
    ParallelType,
    PlainParams,
    PointwiseParams,
    ReductionParams,
    SchedulerType,
    TransposeParams,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import HeuristicParams

COPIES = [copy.copy, copy.deepcopy, lambda params: pickle.loads(pickle.dumps(params))]
CLASSES = [GreedyParams, PlainParams, PointwiseParams, ReductionParams, TransposeParams]


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("make_copy", COPIES, ids=["copy", "deepcopy", "pickle"])
def test_copies_are_equal_and_their_own(
    make: type[HeuristicParams], make_copy: Callable[[HeuristicParams], HeuristicParams]
) -> None:
    params = make()
    params.tag = "a word"
    params.cparams.maxrregcount = 96
    params.lparams.bdimx = 64
    if hasattr(params, "vector_widths"):
        params.vector_widths = [8, 4, 1]
        params.runs_in_tasks = True
    made = make_copy(params)
    assert type(made) is make
    assert made == params
    assert repr(made) == repr(params)
    assert made.hash() == params.hash()
    made.cparams.maxrregcount = 32
    made.lparams = LaunchParams(-1, -1, -1, 32, -1, -1)
    assert (params.cparams.maxrregcount, params.lparams.bdimx) == (96, 64)
    assert made != params


def test_equal_params_have_no_differences() -> None:
    assert ReductionParams().differences_from(ReductionParams()) == ""


def test_params_of_another_scheduler_differ_by_its_name() -> None:
    assert PointwiseParams().differences_from(TransposeParams()) == "pointwise instead of transpose"


def test_each_value_that_differs_is_named_with_both_values() -> None:
    own, its = PointwiseParams(), PointwiseParams()
    own.lparams = LaunchParams(-1, -1, -1, 64, 2, -1)
    its.lparams = LaunchParams(-1, -1, -1, 128, -1, -1)
    own.vectorization_factor, its.vectorization_factor = 4, 1
    own.vector_widths, its.vector_widths = [4, 1], []
    assert own.differences_from(its) == (
        f"vectorization_factor 4 instead of {its.vectorization_factor}, "
        "vector_widths [4, 1] instead of [], "
        "threadIdx.x 64 instead of 128, threadIdx.y 2 instead of unset"
    )


def test_compile_params_that_differ_are_named_with_both_values() -> None:
    own, its = ReductionParams(), ReductionParams()
    own.cparams.maxrregcount, its.cparams.maxrregcount = 64, 0
    own.cparams.index_type = DataType.Int32
    own.cparams.enable_magic_zero = False
    own.cparams.include_paths = ["first", "second"]
    assert own.differences_from(its) == (
        "index_type int instead of unset, maxrregcount 64 instead of unset, "
        "enable_magic_zero false instead of true, include_paths [first:second] instead of []"
    )


def test_wider_rows_differ_by_how_a_gpu_computes_them() -> None:
    """Needs no GPU: the params are those for one."""
    with FusionDefinition() as fd:
        rows = fd.define_tensor([-1, -1], contiguity=[True, True], dtype=DataType.Float)
        fd.add_output(fd.ops.sub(rows, fd.ops.sum(rows, [1], keepdim=True)))
    narrow, wide = (
        schedule.compute_heuristics(
            fd.fusion, SchedulerType.inner_persistent, [torch.rand(8, size)], "cuda"
        )
        for size in (16, 3000)
    )
    differences = dict(
        text.split(" ", 1) for text in wide.differences_from(narrow).split(", ") if " " in text
    )
    assert narrow.block_dim_iter_dom == ParallelType.block_y
    assert differences["multiple_reds_per_blk"] == "false instead of true"
    assert differences["threadIdx.y"] == "unset instead of 8"
    cap = narrow.cparams.maxrregcount
    assert differences["maxrregcount"] == f"{wide.cparams.maxrregcount} instead of {cap}"

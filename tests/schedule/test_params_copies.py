"""Params of schedulers: copies and pickles are equal, and are their own."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import pytest

from nvfuser_direct import (
    GreedyParams,
    LaunchParams,
    PlainParams,
    PointwiseParams,
    ReductionParams,
    TransposeParams,
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

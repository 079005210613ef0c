"""Checks that a translation loses nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from nvfuser_direct import equal_up_to_numbering, evaluate, translate_fusion

sys.path.insert(0, str(Path(__file__).parents[1]))  # for scripts, which pytest does not start

from translated import rebuilt as rebuilt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nvfuser_direct import Fusion


def lines_of(fusion: Fusion) -> list[str]:
    """The lines of the body, without the indentation."""
    header, *lines = translate_fusion(fusion).splitlines()
    assert header == "def nvfuser_fusion(fd: FusionDefinition) -> None:"
    assert all(line.startswith("    ") and line[4] != " " for line in lines)
    return [line[4:] for line in lines]


def check_round_trip(fusion: Fusion) -> Fusion:
    """Translate, execute, compare; the fusion that the text defines."""
    text = translate_fusion(fusion)
    second = rebuilt(text).fusion
    assert equal_up_to_numbering(fusion, second), text
    assert translate_fusion(second) == text
    assert rebuilt(text).fusion == second, text
    return second


def check_same_results(a: Fusion, b: Fusion, inputs: Iterable[Any]) -> None:
    """Bit for bit, where the evaluator has the operations."""
    for x, y in zip(evaluate(a, inputs), evaluate(b, inputs), strict=True):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        torch.testing.assert_close(x, y, rtol=0, atol=0, equal_nan=True)

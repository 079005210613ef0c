"""Fixtures for tests of operations: an active fusion, and its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nvfuser_direct import FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nvfuser_direct import TensorView


@pytest.fixture
def fd() -> Iterator[FusionDefinition]:
    """A definition whose fusion is active during the test."""
    with FusionDefinition() as definition:
        yield definition


@pytest.fixture
def math(fd: FusionDefinition) -> Callable[..., str]:
    """Register outputs and return the printed expressions."""

    def text(*outputs: TensorView) -> str:
        for output in outputs:
            fd.add_output(output)
        printed = fd.fusion.print_math()
        body = printed.split("%kernel_math {\n")[1].split("} // %kernel_math")[0]
        return body.replace("\n   ", " ").replace("\n  ,", ",")

    return text

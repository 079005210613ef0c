"""Errors that the API documents, as cases: a call that provokes it, and the gist to find in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from nvfuser_direct import CompileParams, FusionDefinition, KernelExecutor, define_tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView


class Documented:
    """The cases of one file.

    >>> documented = Documented()
    >>> @documented("the gist")
    ... def what_is_done_wrong() -> object: ...
    >>> @documented.cases
    ... def test_gist(gist, kind, provoke) -> None:
    ...     check(gist, kind, provoke)
    """

    def __init__(self) -> None:
        self.params: list[pytest.ParameterSet] = []

    def __call__(
        self, gist: str, kind: type[Exception] = RuntimeError
    ) -> Callable[[Callable[[], object]], Callable[[], object]]:
        """Register a function that raises an error of class `kind` with `gist` in its text."""

        def register(provoke: Callable[[], object]) -> Callable[[], object]:
            self.params.append(pytest.param(gist, kind, provoke, id=provoke.__name__))
            return provoke

        return register

    @property
    def cases(self) -> pytest.MarkDecorator:
        return pytest.mark.parametrize(("gist", "kind", "provoke"), self.params)


def check(gist: str, kind: type[Exception], provoke: Callable[[], object]) -> None:
    with pytest.raises(kind, match=re.escape(gist)):
        provoke()


# ---- What cases are made of ----------------------------------------------------------------------


def in_fusion(act: Callable[[FusionDefinition], object]) -> object:
    """`act` in a new definition; errors are not printed."""
    fd = FusionDefinition()
    fd.__enter__()
    try:
        return act(fd)
    finally:
        fd.__exit__(None, None, None)


def tensor(*sizes: int, **options: object) -> TensorView:
    return define_tensor(list(sizes), contiguity=True, **options)


def pointwise(*sizes: int) -> tuple[FusionDefinition, TensorView, TensorView]:
    """An input and its negation, which is the output."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor(list(sizes or (-1, -1)), contiguity=True)
        t1 = fd.ops.neg(t0)
        fd.add_output(t1)
    return fd, t0, t1


def run(fd: FusionDefinition, inputs: list[object], **options: object) -> object:
    executor = KernelExecutor()
    executor.compile(fd.fusion, [], compile_params=CompileParams(device="cpu"))
    return executor.run(inputs, **options)


def scheduled(
    act: Callable[[FusionDefinition, TensorView, TensorView], object], *sizes: int
) -> object:
    """`act` on a definition, its input and its output."""
    fd, t0, t1 = pointwise(*sizes)
    fd.__enter__()
    try:
        return act(fd, t0, t1)
    finally:
        fd.__exit__(None, None, None)

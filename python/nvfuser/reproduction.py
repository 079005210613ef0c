"""Scripts that repeat a run: the definition, and inputs like those it ran with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nvfuser_direct import repro

from .version import version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .definition import FusionDefinition


def repro_script(fd: FusionDefinition, inputs: Iterable[Any] | None = None) -> str:
    """A script that defines the fusion and, if inputs are given, runs it.

    Parameters
    ----------
    fd : FusionDefinition
        The definition, complete or not.
    inputs : iterable, optional
        Tensors (sizes, strides, types and devices are kept, data is random) and numbers.
    """
    text = repr(fd)
    match = re.search(r"^def (\w+)\(", text, re.MULTILINE)
    assert match is not None
    script = (
        f"{repro._versions()}"
        f"# nvfuser version: {str.__str__(version())}\n"
        "import torch\n"
        "from nvfuser import FusionDefinition, DataType\n"
        f"{text}"
        "with FusionDefinition() as fd:\n"
        f"    {match.group(1)}(fd)\n"
    )
    if inputs is None:
        return script
    lines = "".join(f"    {repro._input_text(value)},\n" for value in inputs)
    return f"{script}\ninputs = [\n{lines}]\nfd.execute(inputs)\n"


def failure_text(fd: FusionDefinition, doing: str, inputs: Iterable[Any] | None) -> str:
    """The text that is logged of an error while `doing` ("defining" or "executing")."""
    name = "nvfuser_incomplete_fusion" if fd.id() is None else str(fd.id())
    return (
        f"An error occurred while {doing} nvFuser FusionDefinition {name}.\n"
        "If you believe this is a bug or need assistance, please file an issue, with this script "
        "that reproduces it:\n"
        f"```python\n{repro_script(fd, inputs)}```\n"
    )

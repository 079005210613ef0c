"""Options of the environment that this frontend looks at, and where its texts are printed."""

from __future__ import annotations

import functools
import os
import warnings

import nvfuser_direct as direct
from nvfuser_direct import is_dumped, is_enabled

_VARIABLES = ("NVFUSER_DUMP", "NVFUSER_ENABLE", "NVFUSER_DISABLE", "NVFUSER_PROF")


def warn_of_old_names() -> None:
    """Warn of variables that are read by their older name."""
    for name in _VARIABLES:
        old = f"PYTORCH_{name}"
        if old in os.environ and name not in os.environ:
            warnings.warn(f"{old} is deprecated: use {name}.", DeprecationWarning, stacklevel=3)


# Dumps are read once in a process.
@functools.cache
def dumps_definitions() -> bool:
    """Whether every new definition is printed."""
    return is_dumped("python_definition")


@functools.cache
def dumps_segments() -> bool:
    """Whether the segments of a fusion are printed as definitions when they are compiled."""
    return is_dumped("python_definition_segments")


@functools.cache
def traces_statements() -> bool:
    """Whether walks through the trie are printed."""
    return is_dumped("python_frontend_debug")


def loads_in_parallel() -> bool:
    """Whether several threads read a file of fusions."""
    return is_enabled("parallel_serde")


def print_text(text: str) -> None:
    """Print what a dump asks for: to stdout, or to what `execute` captures."""
    if not direct._core.internal.capture_text(text + "\n"):
        print(text, flush=True)

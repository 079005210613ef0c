"""Schedules of segments as Python: texts of ``fd.fec.schedules(inputs)``, edited and put back."""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._core import CompileParams, Fusion

    Schedule = str | Callable[[Any], object]

_REGISTERS = r"^# Registers: at most (\d+)$"


def scheduled_fusion(schedule: Schedule, name: str) -> Fusion:
    """The fusion that a function, or the function in a text, defines and schedules.

    Parameters
    ----------
    schedule : str or callable
        A function of one parameter, the ``FusionDefinition``, or a text with one.
    name : str
        Stands for the file of a text, in tracebacks and in errors.
    """
    from .fusion_definition import FusionDefinition

    define = schedule if callable(schedule) else _function_of(schedule, name)
    with FusionDefinition() as fd:
        define(fd)
    return fd.fusion


def _function_of(text: str, name: str) -> Callable[[Any], object]:
    import nvfuser_direct

    # Lines of the text are shown in tracebacks, as those of a file are.
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {
        key: value for key, value in vars(nvfuser_direct).items() if not key.startswith("_")
    }
    namespace["__name__"] = name
    exec(compile(text, name, "exec"), namespace)
    functions = {
        key: value
        for key, value in namespace.items()
        if inspect.isfunction(value) and value.__code__.co_filename == name
    }
    if "nvfuser_fusion" in functions:
        return functions["nvfuser_fusion"]
    if len(functions) == 1:
        return next(iter(functions.values()))
    raise _core.UserError(
        "A schedule is a text with one function, which defines and schedules a segment\n"
        f"  node:     {name}\n"
        "  expected: nvfuser_fusion(fd), or one function of another name\n"
        f"  found:    {', '.join(functions) or 'no function'}\n"
        "  fix:      edit a text of fd.fec.schedules(inputs)"
    )


def compile_params_of(schedule: Schedule) -> CompileParams:
    """How the kernel of a schedule is compiled, as the lines above a text say."""
    params = _core.CompileParams()
    cap = None if callable(schedule) else re.search(_REGISTERS, schedule, re.MULTILINE)
    if cap:
        params.maxrregcount = int(cap[1])
    return params


@functools.cache
def keep_schedules_of_folder() -> None:
    """Use the schedules in the folder that NVFUSER_SCHEDULES names; read once in a process."""
    folder = os.environ.get("NVFUSER_SCHEDULES")
    if not folder:
        return
    if not Path(folder).is_dir():
        raise _core.UserError(
            "NVFUSER_SCHEDULES names no folder\n"
            "  expected: a folder with texts of fd.fec.schedules(inputs), as files *.py\n"
            f"  found:    '{folder}'\n"
            "  fix:      unset it, or make the folder"
        )
    for path in sorted(Path(folder).glob("*.py")):
        text = path.read_text()
        decisions = re.search(r"^# Decisions: (.+)$", text, re.MULTILINE)
        fusion = scheduled_fusion(text, str(path))
        _core.internal.keep_schedule(
            fusion,
            decisions[1].strip() if decisions else "",
            str(path),
            compile_params_of(text),
        )

"""A scheduled fusion as lines of Python, which can be run, printed, and shortened.

Every tensor has a variable, and every line is a statement of its own: one that defines something,
or one call that schedules. So any line may be left out, and what fails without it is shorter.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from random_programs import Slack, copy_to

import nvfuser_direct
from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    KernelExecutor,
    TensorView,
    UserError,
    _core,
)
from nvfuser_direct.evaluator import Evaluator

sys.path.insert(0, str(Path(__file__).parents[1] / "python_translate"))
from schedule_round_trip import check_schedule_round_trip, kernel_sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion

IMPORTS = """\
import torch
from nvfuser_direct import *
"""
# Kernels that are wrong, or were not made: errors that a schedule cannot cause.
FAULTS = (
    "does not compile",
    "Threads race on",
    "The C++ compiler, which compiles CPU kernels, failed",
    "Cannot load the CPU kernel",
)
# Input tensors are changed where an output is written in place.
RUN = """\
expected = evaluate(math, inputs)
executor = KernelExecutor()
executor.compile(fd.fusion, inputs)
print(translate_fusion(fd.fusion, schedule=True))
print("kernel:", *executor.run(inputs), "expected:", *expected, "inputs:", *inputs, sep="\\n")
"""


@dataclass(frozen=True)
class Output:
    """Facts about the result of an `add_output` line."""

    slack: Slack
    written: str | None = None  # name of the input that it is written into


@dataclass(frozen=True)
class Script:
    """Lines that define a fusion, calls that schedule it, and what to run it with."""

    definition: tuple[str, ...]
    calls: tuple[str, ...]
    inputs: dict[str, Any]  # by variables
    host_scalars: frozenset[str]  # inputs that stay on the host
    outputs: dict[str, Output]  # by lines
    finds_races: bool = False  # on the CPU
    has_narrow_indices: bool = False  # on the CPU: as kernels of a GPU have
    gpu: str = "cuda"  # of which kernels are printed

    def text(self) -> str:
        """A program that shows both results."""
        names = [name for name in self.inputs if self.defines(name)]
        lines = [
            IMPORTS,
            "with FusionDefinition() as fd:",
            *(f"    {line}" for line in self.definition),
            "    math = fd.fusion.clone()",
            *(f"    {line}" for line in self.calls),
            "inputs = [",
            *(f"    {literal(self.inputs[name])},  # {name}" for name in names),
            "]",
            RUN,
        ]
        return "\n".join(lines)

    def copies(self, names: list[str], target: str) -> list[Any]:
        """Inputs for a run."""
        return [
            copy_to(self.inputs[name], "cpu" if name in self.host_scalars else target)
            for name in names
        ]

    def check_results(
        self,
        given: dict[str, Any],
        results: list[torch.Tensor],
        expected: list[torch.Tensor],
        target: str,
    ) -> None:
        """Compare what a run returned, and what it wrote into the inputs `given`."""
        outputs = [self.outputs[line] for line in self.definition if line in self.outputs]
        returned = iter(results)
        for i, (output, reference) in enumerate(zip(outputs, expected, strict=True)):
            result = next(returned) if output.written is None else given[output.written]
            output.slack.assert_close(result, reference, f"output {i}")
        kept = [name for name in given if name not in {output.written for output in outputs}]
        for name, before in zip(kept, self.copies(kept, target), strict=True):
            if isinstance(before, torch.Tensor):
                Slack(0.0, equal_nan=True).assert_close(given[name], before, f"input {name}")

    def defines(self, name: str) -> bool:
        return any(line.startswith(f"{name} = ") for line in self.definition)


class Lines:
    """Executes lines, and knows the variables of tensors."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.fd = FusionDefinition()
        self.variables: dict[str, Any] = {"fd": self.fd}
        for line in lines:
            self.execute(line)

    @property
    def fusion(self) -> Fusion:
        return self.fd.fusion

    def execute(self, line: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()), self.fd:
            exec(line, vars(nvfuser_direct), self.variables)

    def name_of(self, value: Any) -> str:
        return next(name for name, known in self.variables.items() if known is value)

    def new_name(self) -> str:
        tensors = [name for name, known in self.variables.items() if isinstance(known, TensorView)]
        return f"tv{max(int(name[2:]) for name in tensors) + 1}"


def literal(value: Any) -> str:
    """An expression for an input: its elements, and everything between them."""
    if not isinstance(value, torch.Tensor):
        return repr(value)
    storage = torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage())
    flat = storage.clone().view(value.dtype)
    text = re.sub(r"\b(inf|nan)\b", r'float("\1")', str(flat.tolist()))
    layout = f"{tuple(value.shape)}, {value.stride()}, {value.storage_offset()}"
    return f"torch.tensor({text}, dtype={value.dtype}).as_strided({layout})"


# ---- Running -------------------------------------------------------------------------------------


def headline(error: Exception) -> str:
    """Without names and numbers, so that equal mistakes count as one."""
    first = str(error).partition("\n")[0]
    return re.sub(r"\b[A-Za-z]*\d[\w.]*(\[.*\]|\{.*\})?", "_", first)[:80]


# `Target.max_local_bytes`, in which targets differ: the other one may have room.
LIMIT_OF_A_TARGET = "Tensors in registers are too large for a thread"


def run_script(script: Script, target: str) -> str | None:
    """Check everything; the headline of an error that says that there is no such kernel, or None.

    A defect shows as another exception, or an AssertionError.
    """
    with contextlib.redirect_stdout(io.StringIO()):  # errors print what they interrupt
        lines = Lines(script.definition)
        names = [lines.name_of(value) for value in lines.fusion.inputs()]
        expected = Evaluator(lines.fusion.clone(), script.copies(names, target)).outputs()
        for call in script.calls:
            try:
                lines.execute(call)
            except UserError as error:
                raise AssertionError(f"a call is refused: {call}\n{error}") from error
        sources = kernel_sources(lines.fusion, script.gpu)
        refusals = [refusal_of(source) for source in sources]
        try:
            check_schedule_round_trip(lines.fusion, sources, script.gpu)
        except UserError:  # what no order of calls may lead to was spoilt by a later call
            if refusals[0] is None:
                raise
        beyond_a_limit = [r for r in refusals if r is not None and LIMIT_OF_A_TARGET in r]
        is_limit = None in refusals and len(beyond_a_limit) == 1
        assert refusals[0] == refusals[1] or is_limit, f"targets differ: {refusals}"
        given = script.copies(names, target)
        try:
            results = run_kernel(lines.fusion, given, script, target)
        except UserError as error:
            if any(fault in str(error) for fault in FAULTS):
                raise
            return headline(error)
        script.check_results(dict(zip(names, given, strict=True)), results, expected, target)
    return None


# A headline adds this about a tensor, or about the copy of it that one target makes.
ADVICE = ", and has no share of the schedule of its reader"


def refusal_of(source: str) -> str | None:
    return source.removesuffix(ADVICE) if source.startswith("refused") else None


def run_kernel(
    fusion: Fusion, inputs: list[Any], script: Script, target: str
) -> list[torch.Tensor]:
    is_narrow = script.has_narrow_indices and target == "cpu"
    params = CompileParams(index_type=DataType.Int32 if is_narrow else None)

    def run() -> Any:
        executor = KernelExecutor()
        executor.compile(fusion, inputs, compile_params=params)
        return executor.run(inputs)

    checks_itself = script.finds_races and target == "cpu"
    return list(_core.call_with_options(run, ["kernel_debug"], []) if checks_itself else run())


def failure_of(script: Script, target: str) -> str | None:
    """The fault, or None."""
    try:
        run_script(script, target)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


# ---- Shortening ----------------------------------------------------------------------------------


def kind_of(failure: str) -> str:
    """The part that two failures of one fault have in common."""
    return re.sub(r"[^A-Za-z: ]", "", failure.partition("\n")[0])[:40]


def shortened(script: Script, failure: str, find: Callable[[Script], str | None]) -> Script:
    """Without all lines that `failure` does not need; `find` runs a script."""

    def still_fails(candidate: Script) -> bool:
        found = find(candidate)
        return found is not None and kind_of(found) == kind_of(failure)

    is_shorter = True
    while is_shorter:
        is_shorter = False
        for part in ("calls", "definition"):
            lines: tuple[str, ...] = getattr(script, part)
            for i in reversed(range(len(lines))):
                rest = lines[:i] + lines[i + 1 :]
                candidate = replace(script, **{part: rest})
                if still_fails(candidate):
                    script, lines, is_shorter = candidate, rest, True
    return script

"""Running cases: by kernels, by the evaluator, and after a round trip through the translator."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from case import Case, as_list, is_number

from nvfuser_direct import (
    Fusion,
    FusionDefinition,
    Refusal,
    _core,
    equal_up_to_numbering,
    evaluate,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "python_translate"))
from round_trip import check_round_trip, check_same_results

if TYPE_CHECKING:
    from collections.abc import Sequence

# Operations that no text defines: they have no name in translated Python.
UNTRANSLATABLE = {"bitceil", "print", "bitcast"}


@dataclass
class Batch:
    """Cases in one fusion, so that one kernel serves them all."""

    cases: Sequence[Case]
    fd: FusionDefinition = field(default_factory=FusionDefinition)
    counts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        with self.fd:
            self.counts = [case.define(self.fd) for case in self.cases]

    def runs(self) -> list[list[list[Any]]]:
        """For every run, the inputs of every case; cases of fewer runs begin again."""
        number = max(len(case.runs) for case in self.cases)
        return [[case.runs[i % len(case.runs)] for case in self.cases] for i in range(number)]

    def is_run_by_kernel(self) -> bool:
        """Whether the last `execute` ran a kernel."""
        return bool(self.fd.fec.get_most_recent_scheduled_ir())

    def execute(self, target: str) -> None:
        """All runs with `fd.execute`, compared with the references."""
        for inputs in self.runs():
            given = [placed(value, target) for one in inputs for value in one]
            self.compare(self.fd.execute(given, device=device_of(given, target)), inputs)

    def evaluate(self, target: str) -> None:
        """All runs with the evaluator, compared with the references."""
        for inputs in self.runs():
            given = [placed(value, target) for one in inputs for value in one]
            self.compare(evaluate(self.fd.fusion, given), inputs)

    def translate(self) -> None:
        """The text defines the same fusion, and that gives the same results."""
        second = check_round_trip(self.fd.fusion)
        if not any(case.check for case in self.cases):  # random numbers may be new ones
            given = [placed(value, "cpu") for one in self.runs()[0] for value in one]
            check_same_results(self.fd.fusion, second, given)

    def serialize(self) -> bool:
        """The bytes say the same fusion, also of one with a schedule; whether it has one."""
        check_bytes(self.fd.fusion)
        scheduled = self.fd.fusion.clone()
        if isinstance(_core.schedule.try_trivial(scheduled), Refusal):
            return False
        check_bytes(scheduled)
        return True

    def compare(self, outputs: Sequence[torch.Tensor], inputs: list[list[Any]]) -> None:
        assert len(outputs) == sum(self.counts)
        rest = [on_cpu(out) for out in outputs]
        for case, count, given in zip(self.cases, self.counts, inputs, strict=True):
            results, rest = rest[:count], rest[count:]
            try:
                compare_case(case, results, given)
            except AssertionError as error:
                operands = ", ".join(describe(value) for value in given)
                raise AssertionError(f"case '{case.name}' of ({operands}): {error}") from error


def check_bytes(fusion: Fusion) -> None:
    """The bytes of a fusion say an equal one, whose bytes they are, and which kernels can be of."""
    data = fusion.serialize()
    second = Fusion.deserialize(data)
    assert equal_up_to_numbering(fusion, second), "another fusion"
    assert second.serialize() == data, "other bytes"
    assert second.digest() == fusion.digest() == fusion.clone().digest(), "another digest"
    refusals = [isinstance(each.try_lower(), Refusal) for each in (fusion, second)]
    assert refusals[0] == refusals[1], "one has a kernel"


def on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with all of its storage, also what its strides do not show."""
    storage = tensor.untyped_storage().cpu()
    place = (tensor.storage_offset(), tensor.shape, tensor.stride())
    return torch.empty(0, dtype=tensor.dtype).set_(storage, *place)


def compare_case(case: Case, results: list[torch.Tensor], inputs: list[Any]) -> None:
    if case.check is not None:
        case.check(results, inputs)
        return
    assert case.expected is not None
    references = as_list(case.expected(*[placed(value, "cpu") for value in inputs]))
    assert len(results) == len(references)
    for result, reference in zip(results, references, strict=True):
        assert result.dtype == reference.dtype, f"{result.dtype}, expected {reference.dtype}"
        assert result.shape == reference.shape, f"{result.shape}, expected {reference.shape}"
        if result.dtype.itemsize == 1:  # bits; NaN has several
            result, reference = comparable(result), comparable(reference)
        torch.testing.assert_close(
            result, reference, rtol=case.rtol, atol=case.atol, equal_nan=True, check_device=False
        )


def comparable(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype in (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e8m0fnu):
        return tensor.float()
    return tensor.contiguous().view(torch.uint8)


def describe(value: Any) -> str:
    if is_number(value):
        return repr(value)
    return f"{value.dtype} {list(value.shape)} strides {list(value.stride())}"


def placed(value: Any, target: str) -> Any:
    """A copy on the target, with the same strides."""
    if is_number(value) or value.ndim == 0:
        return value if is_number(value) else value.clone().to(target)
    storage = torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage()).clone().to(target)
    return storage.view(value.dtype).as_strided(value.shape, value.stride(), value.storage_offset())


def device_of(values: list[Any], target: str) -> int | None:
    """The device, where `fd.execute` cannot see it in the inputs."""
    has_tensor = any(not is_number(value) for value in values)
    return 0 if target == "cuda" and not has_tensor else None


def usual(cases: list[Case]) -> list[list[Case]]:
    """The cases that have kernels in one batch, and the others; for a failure, see `single`."""
    batches = [[case for case in cases if case.has_kernel is flag] for flag in (True, False)]
    return [batch for batch in batches if batch]


def single(cases: list[Case]) -> list[list[Case]]:
    return [[case] for case in cases]

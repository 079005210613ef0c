"""Random programs three times: planned, planned again, and run by the plan that the first one left.

    python tests/property/stored_plans.py --count 1000 --seed 0 [--target cuda]

tries seeds 0 to 999 on all cores. A third definition with the same statements finds the plan of the
first on the disk. It writes the same bits, into outputs and into inputs that are updated, and says
the same about its segments.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if __name__ == "__main__":
    os.environ["NVFUSER_VERIFY_PASSES"] = "0"  # nothing is taken from the disk where it is 1

from random_programs import Report, argument_parser, make_program, on_target, run_arguments, summary

from nvfuser_direct import SchedulerType, UserError

sys.path.insert(0, str(Path(__file__).parents[1] / "segment"))
from random_plans import make_spec

if TYPE_CHECKING:
    from nvfuser_direct import FusionDefinition

FROM_DISK = "a plan that an earlier process left"


def segments_of(fd: FusionDefinition) -> list[tuple[str, str, str]]:
    return [
        (piece.way, piece.scheduler.name, repr(piece.params))
        if piece.scheduler != SchedulerType.none
        else (piece.way, "", "")
        for piece in fd.fec.last_pieces()
    ]


def run(fd: FusionDefinition, given: list[Any], device: int | None, **options: Any) -> list[Any]:
    """The outputs, and the inputs behind the run."""
    torch.manual_seed(7)
    outputs = fd.execute(given, device=device, **options)
    return [*outputs, *given]


def check_equal_bits(found: list[Any], wanted: list[Any]) -> None:
    for i, (own, reference) in enumerate(zip(found, wanted, strict=True)):
        if not isinstance(own, torch.Tensor):
            continue
        assert own.shape == reference.shape, f"value {i}"
        assert own.stride() == reference.stride(), f"value {i}"
        assert own.device == reference.device, f"value {i}"
        torch.testing.assert_close(own, reference, rtol=0, atol=0, equal_nan=True)


def definitions(seed: int, target: str) -> tuple[list[FusionDefinition], list[list[Any]], bool]:
    """Three equal definitions, their inputs, and whether one of these is a tensor on the device."""
    if seed % 2:
        specs = [make_spec(seed) for _ in range(3)]
        inputs = [[x.clone().to(target) for x in spec.inputs] for spec in specs]
        return [spec.build()[0] for spec in specs], inputs, True
    programs = [make_program(seed) for _ in range(3)]
    on_device = [i for i, x in enumerate(programs[0].inputs) if isinstance(x, torch.Tensor)]
    return (
        [program.fd for program in programs],
        [on_target(program, target) for program in programs],
        any(i not in programs[0].host_scalars for i in on_device),
    )


def check_stored(seed: int, target: str) -> str:
    """Run and compare; says whether the last definition was run by a stored plan."""
    (first, again, stored), (a, b, c), has_tensor = definitions(seed, target)
    device = 0 if target == "cuda" and not has_tensor else None
    try:
        left = run(first, a, device)
    except UserError:
        return "refused"  # an input that is read where it is already overwritten
    planned = run(again, b, device, _disable_options=["nvrtc_caching"])
    found = run(stored, c, device)
    check_equal_bits(planned, left)
    check_equal_bits(found, left)
    assert segments_of(stored) == segments_of(first)
    return "stored" if stored.fec.compilations() == [FROM_DISK] else "planned"


def report_of(seed: int, target: str) -> Report:
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Report(seed, check_stored(seed, target))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return Report(seed, "failed", f"{text}\n{definitions(seed, 'cpu')[0][0]!r}")


def main() -> int:
    reports = run_arguments(argument_parser(__doc__).parse_args(), report_of)
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())

"""Tuning: the schedule that is fastest where it runs, found by measuring.

For every segment that a scheduler took, the search starts with what that scheduler chose and with
what the others would choose, and goes on from the fastest so far to its neighbours
(`tuning_moves`). A candidate counts if it computes what the automatic kernel computes.
"""

from __future__ import annotations

import contextlib
import copy
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from . import _core
from .tuning_moves import Move, neighbours_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import torch

    from ._core import Fusion, HeuristicParams, PieceReport
    from .executor_cache import FusionExecutorCache

_REPEATS = 7
_GAIN = 0.985  # a candidate has to be faster than this part of the best time, twice
_CPU_CACHE_BYTES = 64 << 20
_ROUNDING = {1: 0.3, 2: 3e-2, 4: 1e-4}  # of the largest element, by bytes of an element


@dataclass
class Candidate:
    """A schedule that was tried.

    Attributes
    ----------
    what : str
        What it changes in the best one of before: ``unroll_factor_inner 2 -> 4``.
    milliseconds : float
        Median of its runs, with cold caches; infinite if it did not run.
    verdict : str
        Empty if it ran and is right; else why it does not count.
    params : HeuristicParams
        As its scheduler takes them.
    """

    what: str
    params: HeuristicParams
    milliseconds: float = float("inf")
    verdict: str = ""


@dataclass
class SegmentTuning:
    """The candidates of one segment that were tried; the first is the automatic schedule.

    Attributes
    ----------
    segment : int
        Its number in ``fd.fec.explain(inputs)``.
    candidates : list[Candidate]
        In the order of the trials.
    best : Candidate
        The one that runs from now on.
    schedule : str
        The definition of the segment with the schedule, as Python.
    """

    segment: int
    candidates: list[Candidate]
    best: Candidate
    schedule: str = ""

    @property
    def gain(self) -> float:
        """How many times as fast as the automatic schedule."""
        return self.candidates[0].milliseconds / self.best.milliseconds

    def __str__(self) -> str:
        first = self.candidates[0]
        lines = [
            f"segment {self.segment}: {self.best.params.scheduler_type.name}, "
            f"{first.milliseconds:.4f} -> {self.best.milliseconds:.4f} ms, "
            f"{len(self.candidates)} candidates"
        ]
        ran = sorted((c for c in self.candidates if not c.verdict), key=lambda c: c.milliseconds)
        for candidate in ran:
            mark = "  (used)" if candidate is self.best else ""
            lines.append(f"  {candidate.milliseconds:9.4f}  {candidate.what}{mark}")
        lines += [f"          -  {c.what}: {c.verdict}" for c in self.candidates if c.verdict]
        return "\n".join(lines)


@dataclass
class TuningReport:
    """The result of ``fd.tune``; printed as a table.

    Attributes
    ----------
    segments : list[SegmentTuning]
        Those that a scheduler took; equal segments stand once.
    """

    segments: list[SegmentTuning] = field(default_factory=list)

    @property
    def schedules(self) -> list[str]:
        """The schedules that were found, as Python, for those segments."""
        return [found.schedule for found in self.segments]

    def save(self, folder: str | Path) -> list[Path]:
        """Write the schedules as files that ``NVFUSER_SCHEDULES`` reads in another process, or on
        another machine of the same kind."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        paths = []
        for found in self.segments:
            scheduler = found.best.params.scheduler_type.name
            paths.append(target / f"segment_{found.segment}_{scheduler}.py")
            paths[-1].write_text(found.schedule)
        return paths

    def __str__(self) -> str:
        if not self.segments:
            return "no segment is scheduled: nothing to tune"
        return "\n".join(str(found) for found in self.segments)


def tune(
    fec: FusionExecutorCache, inputs: Sequence[Any], seconds: float, *, keep: bool
) -> TuningReport:
    """`nvfuser_direct.FusionDefinition.tune` for an executor cache."""
    fec.execute(inputs)
    found_before = [i for i, piece in enumerate(fec.last_pieces()) if piece.origin == "tuning"]
    for segment in found_before:
        fec.use_schedule(segment, None, inputs)
    if found_before:
        fec.execute(inputs)
    report = TuningReport()
    pieces = fec.last_pieces()
    runs = _inputs_of_pieces(pieces, inputs)
    tuned: list[Fusion] = []
    chosen = [
        (segment, piece, params, args)
        for segment, (piece, args) in enumerate(zip(pieces, runs, strict=True))
        if (params := piece.params) is not None and _is_new(piece.fusion, tuned)
    ]
    for left, (segment, piece, params, args) in zip(
        range(len(chosen), 0, -1), chosen, strict=True
    ):  # an equal part of the time that is left
        begin = time.perf_counter()
        found = _Search(piece.fusion, params, args).run(begin + seconds / left)
        seconds = max(seconds - (time.perf_counter() - begin), 0.0)
        report.segments.append(SegmentTuning(segment, found.candidates, found.best))
    for result in report.segments:
        if result.best is not result.candidates[0]:
            fec.use_params(result.segment, result.best.params, inputs)
            if keep:
                fec.store_tuned(result.segment, inputs)
    fec.execute(inputs)
    texts = fec.schedules(inputs)
    for result in report.segments:
        result.schedule = texts[result.segment]
    return report


def _is_new(fusion: Fusion, seen: list[Fusion]) -> bool:
    """Whether no fusion before computes the same, which would share its kernel."""
    key = fusion.serialize()
    if any(key == other.serialize() for other in seen):
        return False
    seen.append(fusion)
    return True


def _inputs_of_pieces(pieces: list[PieceReport], inputs: Sequence[Any]) -> list[list[Any]]:
    """The inputs of each segment, computed by those before it."""
    from .executor_cache import FusionExecutorCache

    slots = [item for x in inputs for item in (x if isinstance(x, (list, tuple)) else (x,))]
    taken = []
    for number, piece in enumerate(pieces):
        taken.append([slots[slot] for slot in piece.inputs])
        if number + 1 < len(pieces):
            slots += FusionExecutorCache(piece.fusion).execute(_own(piece.fusion, taken[-1]))
    return taken


def _own(fusion: Fusion, args: list[Any]) -> list[Any]:
    """Copies, where the fusion writes into its inputs: it will run many times."""
    import torch

    if all(fusion.alias_of(output) is None for output in fusion.outputs()):
        return args
    return [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]


def _scheduled(fusion: Fusion, params: HeuristicParams) -> Fusion:
    scheduled = copy.deepcopy(fusion)
    _core.schedule.schedule(scheduled, params.scheduler_type, params)
    return scheduled


class _Search:
    """From the fastest schedule so far to its neighbours, until the time is over."""

    def __init__(self, fusion: Fusion, params: HeuristicParams, args: list[Any]) -> None:
        self.fusion = fusion
        self.args = _own(self.fusion, args)
        self.clock = _Clock(self.args)
        first = Candidate("as scheduled automatically", params)
        self.best_run = self._compiled(first)
        self.expected = self._outputs(self.best_run)
        first.milliseconds = self.clock.time(self.best_run)
        self.best = first
        self.candidates = [first]
        self.seen = {repr(first.params)}

    def run(self, deadline: float) -> _Search:
        for move in self._other_schedulers():
            if time.perf_counter() >= deadline:
                return self
            self._try(move)
        while time.perf_counter() < deadline:
            best = self.best
            for move in neighbours_of(best.params):
                if time.perf_counter() >= deadline:
                    return self
                self._try(move)
                if self.best is not best:
                    break
            else:
                return self  # no neighbour is faster
        return self

    def _other_schedulers(self) -> Iterator[Move]:
        for scheduler in _core.schedule.find_compatible_schedulers(self.fusion, self.args):
            if scheduler in (_core.SchedulerType.expr_eval, _core.SchedulerType.no_op):
                continue
            params = _core.schedule.compute_heuristics(self.fusion, scheduler, self.args)
            yield Move(f"scheduler {scheduler.name}", params)

    def _try(self, move: Move) -> None:
        if repr(move.params) in self.seen:
            return
        self.seen.add(repr(move.params))
        candidate = Candidate(move.what, move.params)
        self.candidates.append(candidate)
        try:
            run = self._compiled(candidate)
            outputs = self._outputs(run)
        except _core.UserError as error:  # it cannot be scheduled, lowered or launched
            candidate.verdict = str(error).partition("\n")[0]
            return
        if not _are_equal(outputs, self.expected):
            candidate.verdict = "computes something else"
            return
        del outputs
        candidate.milliseconds = self.clock.time(run)
        if candidate.milliseconds < self.best.milliseconds * _GAIN:
            # Side by side: what was measured minutes ago was measured on another machine.
            again, before = self.clock.time(run), self.clock.time(self.best_run)
            if again < before * _GAIN:
                self.best, self.best_run = candidate, run

    def _compiled(self, candidate: Candidate) -> Callable[[], list[torch.Tensor]]:
        params = candidate.params
        executor = _core.KernelExecutor()
        executor.compile(
            _scheduled(self.fusion, params),
            self.args,
            compile_params=params.cparams,
            scheduler_type=params.scheduler_type,
        )
        return lambda: executor.run(self.args)

    def _outputs(self, run: Callable[[], list[torch.Tensor]]) -> list[torch.Tensor]:
        with self.clock.fixed_random_state():
            return [output.clone() for output in run()]


def _are_equal(found: list[torch.Tensor], expected: list[torch.Tensor]) -> bool:
    """Up to the order of sums."""
    from . import comparison

    for own, reference in zip(found, expected, strict=True):
        if own.shape != reference.shape or own.dtype != reference.dtype:
            return False
        if not comparison.is_float(own):
            if not comparison.equal(own, reference):
                return False
            continue
        largest = max(
            (
                float(r.abs().nan_to_num(0, 0, 0).max())
                for (r,) in comparison.chunks(reference)
                if r.numel()
            ),
            default=0.0,
        )
        allowed = largest * _ROUNDING.get(own.dtype.to_real().itemsize, 1e-6)
        for a, b in comparison.chunks(own, reference):
            is_same = (a == b) | (a.isnan() & b.isnan()) | ((a - b).abs() <= allowed)
            if not bool(is_same.all()):
                return False
    return True


class _Clock:
    """Times runs, on the device of some arguments, with cold caches."""

    def __init__(self, args: list[Any]) -> None:
        import torch

        tensors = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.dim() > 0]
        self.device = tensors[0].device if tensors else torch.device("cpu")
        cache_bytes = _CPU_CACHE_BYTES
        if self.device.type == "cuda":
            cache_bytes = 2 * torch.cuda.get_device_properties(self.device).L2_cache_size
        self.other_data = torch.empty(cache_bytes, dtype=torch.uint8, device=self.device)

    def time(self, run: Callable[[], object]) -> float:
        """Median milliseconds of a run."""
        run()
        return median(self._time_once(run) for _ in range(_REPEATS))

    def _time_once(self, run: Callable[[], object]) -> float:
        import torch

        self.other_data.zero_()
        if self.device.type != "cuda":
            begin = time.perf_counter()
            run()
            return (time.perf_counter() - begin) * 1e3
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end))

    @contextlib.contextmanager
    def fixed_random_state(self) -> Iterator[None]:
        """Runs inside draw the same numbers, and those outside what they would without them."""
        import torch

        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(0)
            yield

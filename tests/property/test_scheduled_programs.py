"""Random programs with random schedules compute what the math says, print, and print again."""

import ctypes
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from profiles import settings
from random_programs import run_seeds
from schedule_calls import STEPS, ScheduleCalls
from schedule_round_trip import kernel_source
from schedule_scripts import (
    Lines,
    Script,
    failure_of,
    run_kernel,
    run_script,
    shortened,
)
from scheduled_programs import make_script, report_of, summary

from nvfuser_direct._core.internal import schedule_primitives

SEEDS = range(60 * settings.default.max_examples)
PART = 15  # seeds of one test
# Primitives that no random call names: they take axes or tensors that nothing else here makes.
NOT_CALLED = {
    "swizzle1d",
    "set_loop_domain",
    "bounded_transform_both",
    "set_contiguity",
    "clear_compute_position",
    "commit_leaf_to_logical",
    "clear_reduction_iter_domains",
}


@pytest.mark.parametrize("first", SEEDS[::PART])
def test_random_schedules_of_random_programs(first: int, target: str) -> None:
    reports = [report_of(seed, target) for seed in range(first, first + PART)]
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    assert sum(report.result == "kernel" for report in reports) >= PART // 5, summary(reports)


def test_random_calls_name_every_primitive() -> None:
    scripts = [make_script(seed)[0] for seed in range(20_000, 20_200)]
    called = {name for s in scripts for call in s.calls for name in re.findall(r"\.(\w+)\(", call)}
    assert set(schedule_primitives()) - called == NOT_CALLED
    assert all(hasattr(ScheduleCalls, name) for name, _, _ in STEPS)


FEATURES = {
    "tiles": {
        "boxes": r"cache_after\(LoadStoreOpType.tma\)",
        "stored boxes": r"cache_before\(LoadStoreOpType.tma\)",
        "boxes in steps": r"reorder\(\{1: 2, 2: 1\}\)",
        "swizzles": r"\.swizzle\(",
        "stages": r"\.circular_buffer\(",
        "loading threads": r"warp_specialize\(",
        "clusters": r"set_clustered_blocks\(",
        "hints": r"set_cache_hint\(",
    },
    "runs": {
        "runs": r"cache_after\(LoadStoreOpType.CpAsyncBulk\)",
        "stored runs": r"cache_before\(LoadStoreOpType.CpAsyncBulk\)",
        "stages": r"\.circular_buffer\(",
        "loading threads": r"warp_specialize\(",
    },
    "products": {
        "warps": r"MmaMacroArch.ampere",
        "matrices": r"LoadStoreOpType.load_matrix",
        "warpgroups": r"MmaMacroArch.hopper",
        "tensor memory": r"MmaMacroArch.blackwell_1cta",
        "pairs of blocks": r"MmaMacroArch.blackwell_2cta",
        "stages": r"\.circular_buffer\(",
        "loading threads": r"warp_specialize\(",
        "registers": r"\(40, 232\)",
        "clusters": r"set_clustered_blocks\(",
    },
}


@pytest.mark.parametrize("kind", FEATURES)
def test_schedules_are_legal_with_every_feature(kind: str) -> None:
    legal, features = 0, dict.fromkeys(FEATURES[kind], 0)
    for seed in range(200):
        script, _ = make_script(seed, kind)
        lines = Lines(script.definition)
        for call in script.calls:
            lines.execute(call)
        if not kernel_source(lines.fusion, script.gpu).startswith("refused"):
            legal += 1
            for name, pattern in FEATURES[kind].items():
                features[name] += any(re.search(pattern, call) for call in script.calls)
    assert legal >= 100
    assert all(count >= 3 for count in features.values()), features


def test_updates_of_runs_are_of_every_type() -> None:
    updated = set()
    for seed in range(100):
        script, _ = make_script(seed, "runs")
        given = [script.inputs[out.written] for out in script.outputs.values() if out.written]
        updated |= {tensor.dtype for tensor in given}
    assert updated == {torch.int32, torch.int64, torch.uint64, torch.float64}


def runnable() -> Script:
    """One that is not refused, and returns its results."""
    scripts = (make_script(seed)[0] for seed in range(100))
    return next(
        script
        for script in scripts
        if run_script(script, "cpu") is None
        and all(output.written is None for output in script.outputs.values())
    )


def test_a_seed_makes_the_same_script_again() -> None:
    first, second = make_script(7)[0], make_script(7)[0]
    assert first.text() == second.text()


def test_scripts_run_by_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    exec(runnable().text(), {})
    printed = capsys.readouterr().out
    assert printed.startswith("def nvfuser_fusion(fd: FusionDefinition)")
    assert "kernel:" in printed
    assert "expected:" in printed


def test_failing_scripts_are_shortened_to_what_fails() -> None:
    script = next(s for s in (make_script(seed)[0] for seed in range(100)) if len(s.calls) > 8)
    split = next(line for line in script.calls if ".split(" in line)

    def find(candidate: Script) -> str | None:
        """A fault of all that have this split."""
        try:
            lines = Lines(candidate.definition)
            for line in candidate.calls:
                lines.execute(line)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return f"AssertionError: {len(candidate.calls)} calls" if split in candidate.calls else None

    found = shortened(script, find(script), find)
    assert split in found.calls
    assert len(found.calls) < len(script.calls)
    for i in range(len(found.calls)):
        shorter = replace(found, calls=found.calls[:i] + found.calls[i + 1 :])
        assert (find(shorter) or "").partition(":")[0] != "AssertionError"


def test_wrong_values_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    script = runnable()
    assert failure_of(script, "cpu") is None
    monkeypatch.setattr(
        "schedule_scripts.run_kernel",
        lambda *args: [torch.full_like(result, 77) for result in run_kernel(*args)],
    )
    failure = failure_of(script, "cpu")
    assert failure is not None
    assert failure.startswith("AssertionError: output 0: Tensor-likes are not")


def test_seeds_are_spread_over_processes() -> None:
    reports = run_seeds([3, 4, 5], "cpu", 2, report_of)
    assert [report.seed for report in reports] == [3, 4, 5]
    assert all(report.result != "failed" for report in reports), summary(reports)


@pytest.mark.parametrize(("name", "value"), [("kernel_7f", 1), ("kernel_01", 2)])
def test_one_kernel_of_many_is_compiled_as_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    source, library = tmp_path / f"{name}.cpp", tmp_path / f"{name}.so"
    source.write_text('extern "C" int value() { return VALUE; }\n')
    monkeypatch.setenv("QUICK_OPTIONS", "-UVALUE -DVALUE=1")
    compiler = Path(__file__).with_name("quick_compiler.sh")
    subprocess.run(
        ["sh", compiler, "-DVALUE=2", "-shared", "-fPIC", "-o", library, source], check=True
    )
    assert ctypes.CDLL(str(library)).value() == value

"""Profiles: the time and the memory of runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import FusionDefinition, KernelExecutor, PythonProfiler
from nvfuser_direct._core import internal

BYTES = 4 * 6 * 1024


@pytest.fixture(autouse=True)
def _fresh() -> None:
    nvf.reset_profiler()


def doubled(target: str) -> tuple[FusionDefinition, torch.Tensor]:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.mul(fd.define_tensor([-1, -1], contiguity=True), 2.0))
    return fd, torch.ones(6, 1024, device=target)


def compiled(target: str, **ids: int) -> tuple[KernelExecutor, torch.Tensor]:
    fd, x = doubled(target)
    with fd:
        fd.sched.trivial(fd.fusion)
    executor = KernelExecutor(**ids)
    executor.compile(fd.fusion, [x])
    return executor, x


def test_a_run_is_a_profile(target: str) -> None:
    fd, x = doubled(target)
    with PythonProfiler() as prof:
        fd.execute([x])
    profile = prof.profile
    assert (profile.fusion_id, profile.segments, profile.verbose) == (0, 1, False)
    assert (profile.input_bytes, profile.output_bytes) == (BYTES, BYTES)
    assert 0 < profile.kernel_time_ms <= profile.cuda_evt_time_ms
    assert profile.host_time_ms >= profile.compile_time_ms > 0
    expected = 2 * BYTES / 1e9 / (profile.kernel_time_ms / 1e3)
    assert profile.effective_bandwidth_gbs == pytest.approx(expected)
    assert profile.percentage_peak_bandwith == profile.percentage_peak_bandwidth
    assert (profile.percentage_peak_bandwidth > 0) == (target == "cuda")


def test_kernels_tell_how_they_were_launched(target: str) -> None:
    fd, x = doubled(target)
    with PythonProfiler() as prof:
        fd.execute([x])
    (kernel,) = prof.profile.kernel_profiles
    assert repr(kernel) == f"KernelProfile{{name={kernel.name}}}"
    assert kernel.name.startswith("nvfuser_")
    (launch,) = fd.fec.last_launches()
    assert kernel.grid_str == f"[{launch.gdimx}, {launch.gdimy}, {launch.gdimz}]"
    assert kernel.block_str == f"[{launch.bdimx}, {launch.bdimy}, {launch.bdimz}]"
    assert kernel.cluster_str == "[1, 1, 1]"
    assert kernel.shared_mem_str == "[0, 0]"
    assert (kernel.input_bytes, kernel.output_bytes) == (BYTES, BYTES)
    assert kernel.device == (x.device.index if target == "cuda" else -1)
    assert (kernel.registers > 0) == (target == "cuda")
    assert (kernel.segment_id, kernel.scheduler) == (0, "pointwise")
    assert kernel.time_ms > 0
    assert kernel.correlation_id > 0
    assert kernel.stream == 0


def test_compilation_counts_for_the_run_it_was_made_in() -> None:
    fd, x = doubled("cpu")
    with PythonProfiler() as prof:
        fd.execute([x])
        first = prof.profile
        fd.execute([x])
        second = prof.profile
    assert first.compile_time_ms > 0
    assert second.compile_time_ms == 0
    assert second.kernel_profiles[0].compile_time_ms == 0
    assert first.kernel_profiles[0].correlation_id < second.kernel_profiles[0].correlation_id
    assert nvf.get_fusion_profile().host_time_ms == second.host_time_ms


def test_expanded_elements_count_once() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, 1024], contiguity=[None, True])
        fd.add_output(fd.ops.neg(t0))
    with PythonProfiler() as prof:
        fd.execute([torch.ones(1024).expand(4, 1024)])
    assert prof.profile.input_bytes == 4 * 1024
    assert prof.profile.output_bytes == 4 * 1024  # the output is expanded as well


def test_hand_scheduled_kernels_of_a_block_are_one_profile(target: str) -> None:
    executor, x = compiled(target, fusion_id=7, group_id=3)
    with PythonProfiler(auto_scheduled=False) as prof:
        executor.run([x])
        executor.run([x])
    profile = prof.profile
    assert (profile.fusion_id, profile.segments) == (7, 1)
    assert [k.scheduler for k in profile.kernel_profiles] == ["user", "user"]
    assert [k.segment_id for k in profile.kernel_profiles] == [3, 3]
    assert profile.kernel_time_ms == sum(k.time_ms for k in profile.kernel_profiles)
    assert profile.input_bytes == 2 * BYTES


def test_a_kernel_alone_is_a_profile_too() -> None:
    executor, x = compiled("cpu")
    with PythonProfiler() as prof:
        executor.run([x])
    assert len(prof.profile.kernel_profiles) == 1


def test_nothing_is_profiled_outside() -> None:
    fd, x = doubled("cpu")
    assert not internal.is_profiling()
    with PythonProfiler():
        assert internal.is_profiling()
    fd.execute([x])
    with pytest.raises(RuntimeError, match="The FusionProfile struct data is not valid because it"):
        nvf.get_fusion_profile()
    with pytest.raises(RuntimeError, match="stop_profiling without the start_profiling"):
        internal.stop_profiling()


def test_an_evaluated_run_is_a_profile_of_one_segment(target: str) -> None:
    x = torch.randn(8, 8, device=target)
    with FusionDefinition() as fd:
        t0 = fd.from_pytorch(x)
        fd.add_output(fd.ops.matmul(t0, t0))
    with PythonProfiler() as prof:
        fd.execute([x])
    profile = prof.profile
    (segment,) = profile.kernel_profiles
    assert (profile.segments, segment.name) == (1, "nvfuser_expr_eval_f0_c0_r0_g0")
    assert (segment.scheduler, segment.grid_str, segment.block_str) == (
        "expr_eval",
        "[0, 0, 0]",
        "[0, 0, 0]",
    )
    assert segment.device == (x.device.index if target == "cuda" else -1)
    assert (profile.input_bytes, profile.output_bytes) == (256, 256)
    assert (segment.input_bytes, segment.output_bytes) == (256, 256)
    assert 0 < profile.kernel_time_ms <= profile.cuda_evt_time_ms
    assert profile.compile_time_ms == 0


def test_a_run_without_kernels_has_no_profile() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    with PythonProfiler() as prof:
        fd.execute([torch.empty(0)])
    with pytest.raises(RuntimeError, match="Fusion Profiling as no kernel segments were profiled!"):
        _ = prof.profile


def test_a_block_without_runs_has_no_profile() -> None:
    with PythonProfiler(auto_scheduled=False) as prof:
        pass
    with pytest.raises(RuntimeError, match="Fusion Profiling as an illegal fusion_id was returned"):
        _ = prof.profile


@pytest.mark.parametrize("auto_scheduled", [True, False])
def test_after_an_error_profiling_starts_again(auto_scheduled: bool) -> None:
    executor, x = compiled("cpu")
    with pytest.raises(RuntimeError, match="rank"):  # noqa: SIM117
        with PythonProfiler(auto_scheduled):
            executor.run([x[0]])
    with PythonProfiler(auto_scheduled) as prof:
        executor.run([x])
    assert len(prof.profile.kernel_profiles) == 1


def test_open_runs_are_refused_and_dropped() -> None:
    internal.open_profiled_run("user")
    with pytest.raises(RuntimeError, match="reset_profiler"):
        internal.open_profiled_run("user")
    nvf.reset_profiler()
    with pytest.raises(RuntimeError, match="No run is profiled"):
        internal.close_profiled_run()


def test_threads_have_profiles_of_their_own() -> None:
    fd, x = doubled("cpu")
    seen: list[bool] = []
    with PythonProfiler():
        thread = threading.Thread(target=lambda: seen.append(internal.is_profiling()))
        thread.start()
        thread.join()
        fd.execute([x])
    assert seen == [False]


@pytest.mark.parametrize(
    ("option", "has_columns"), [("print", False), ("print.verbose", True), ("print.nocupti", False)]
)
def test_the_environment_prints_profiles(option: str, has_columns: bool) -> None:
    code = """
import torch
from nvfuser_direct import FusionDefinition, get_fusion_profile
with FusionDefinition() as fd:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
fd.execute([torch.ones(64)])
profile = get_fusion_profile()
print(profile.verbose, profile.kernel_time_ms > 0, len(profile.kernel_profiles))
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "NVFUSER_PROF": option},
    )
    *table, facts = result.stdout.strip().splitlines()
    assert facts.split() == [str(has_columns), str(option != "print.nocupti"), "1"], result.stderr
    assert "KerTm(ms)" in table[0]
    assert ("S-Grid" in table[2]) == has_columns
    assert table[3].endswith("nvfuser_pointwise_f0_c0_r0_g0")

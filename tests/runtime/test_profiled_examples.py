"""Profiles of kernels with bulk copies, clusters, and threads that only load."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import PythonProfiler

SCHEDULES = Path(__file__).resolve().parents[2] / "examples" / "schedules"
sys.path.insert(0, str(SCHEDULES))

import harness  # noqa: E402

# Name, sizes, blocks of a cluster, and threads of a block where some only load: those that compute,
# and the others.
EXAMPLES = [
    ("copy_bulk", (33, 132), 1, None),  # boxes are loaded and stored
    ("pointwise_bulk", (33, 132), 1, None),
    ("row_reduction_bulk", (33, 132), 1, None),  # boxes are loaded ahead
    ("layernorm_specialized", (397, 1000), 1, (256, 128)),
    ("softmax_cluster", (2, 100_003), 8, None),
    ("rmsnorm_cluster", (5, 1000), 4, None),
]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    nvf.reset_profiler()


@pytest.mark.parametrize(("name", "sizes", "blocks", "roles"), EXAMPLES)
def test_profiles_tell_what_was_launched(
    target: str, name: str, sizes: tuple[int, ...], blocks: int, roles: tuple[int, int] | None
) -> None:
    """In each of several runs, whose results are what they are without a profile."""
    example = importlib.import_module(name)
    result = harness.run(example, sizes, target)
    executor, inputs = result.executor, result.arguments
    profiles = []
    with PythonProfiler(auto_scheduled=False) as prof:
        for _ in range(3):
            outputs = executor.run(inputs)
            assert harness.largest_error(outputs, example.reference(inputs)) <= example.RTOL
    profiles = prof.profile.kernel_profiles
    assert len(profiles) == 3
    launch = executor.last_launch()
    for kernel in profiles:
        assert kernel.cluster_str == f"[{blocks}, 1, 1]"
        assert kernel.grid_str == f"[{launch.gdimx}, {launch.gdimy}, {launch.gdimz}]"
        assert kernel.block_str == f"[{launch.bdimx}, {launch.bdimy}, {launch.bdimz}]"
        assert kernel.input_bytes == harness.bytes_of(inputs)
        assert kernel.output_bytes == harness.bytes_of(outputs)
        assert kernel.time_ms > 0
        assert kernel.scheduler == "user"
    assert len({kernel.correlation_id for kernel in profiles}) == 3
    has_roles = target == "cuda" and torch.cuda.get_device_capability() >= (9, 0)
    if roles is not None and has_roles:
        assert launch.bdimx * launch.bdimy * launch.bdimz == sum(roles)

"""The benchmarks of hand-scheduled kernels.

    python benchmarks/run.py --target cuda    bandwidth against a device copy of the same bytes
    python benchmarks/run.py --target cpu     time against memcpy of the same bytes and PyTorch

Both also print the host's time for one call of a small kernel, and how compile time grows.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples" / "schedules"))

import harness  # noqa: E402

from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType  # noqa: E402

# The last member is the least score that the project has promised, if any (1 is a device copy).
CUDA_CASES = {
    "pointwise_1d": ("pointwise_fma_f32, f32[2^28]", (1 << 28,), 0.95),
    "welford_layernorm": ("layernorm bf16 32768x4096, registers", (32768, 4096, 0), 0.85),
    "welford_layernorm/shared": ("layernorm bf16 32768x4096, shared", (32768, 4096, 1), None),
    "broadcast_2d": ("relu(x + bias) f32[16384,16384]", (1 << 14, 1 << 14), None),
    "transpose_smem": ("transpose f32[16384,16384]", (1 << 14, 1 << 14), None),
    "row_reduction_block": ("sum_inner f32[65536,8192]", (1 << 16, 1 << 13), None),
    "outer_reduction": ("sum_outer f32[65536,8192]", (1 << 16, 1 << 13), None),
    "full_reduction_grid": ("sum_all f32[2^29]", (1 << 29,), None),
}

CPU_CASES = {
    "pointwise_1d": (
        "relu(a * b + 1) f32[2^24]",
        (1 << 24,),
        lambda a, b: torch.relu(a * b + 1),
    ),
    "broadcast_2d": (
        "relu(x + bias) f32[4096,4096]",
        (4096, 4096),
        lambda x, bias: torch.relu(x + bias),
    ),
    "transpose_smem": (
        "transpose f32[4096,4096]",
        (4096, 4096),
        lambda x: x.t().contiguous(),
    ),
    "row_reduction_block": ("sum_inner f32[4096,4096]", (4096, 4096), lambda x: x.sum(1)),
    "outer_reduction": ("sum_outer f32[4096,4096]", (4096, 4096), lambda x: x.sum(0)),
    "welford_layernorm": (
        "layernorm bf16 4096x4096, registers",
        (4096, 4096, 0),
        lambda x, w, b: torch.nn.functional.layer_norm(x, w.shape, w, b, 1e-5),
    ),
}


def example(name: str):
    return importlib.import_module(name.split("/")[0])


def run_cuda() -> bool:
    """Scores on the GPU; whether all that were promised are reached."""
    reached = True
    print(f"{'case':40} {'ms':>8} {'copy ms':>8} {'GB/s':>7} {'score':>6}")
    for name, (title, sizes, promised) in CUDA_CASES.items():
        module = example(name)
        result = harness.run(module, sizes, "cuda")
        speed = harness.measure(result, "cuda")
        verdict = "" if result.error <= module.RTOL else "  WRONG"
        if promised is not None:
            reached &= speed.score >= promised
            verdict += f"  (promised {promised})"
        reached &= "WRONG" not in verdict
        print(
            f"{title:40} {speed.milliseconds:8.3f} {speed.copy_milliseconds:8.3f} "
            f"{speed.gigabytes_per_second:7.0f} {speed.score:6.2f}{verdict}",
            flush=True,
        )
        del result
        torch.cuda.empty_cache()
    return reached


def run_cpu() -> None:
    print(f"{'case':40} {'ms':>8} {'copy ms':>8} {'eager ms':>9} {'of copy':>8} {'x eager':>8}")
    for name, (title, sizes, eager) in CPU_CASES.items():
        result = harness.run(example(name), sizes, "cpu")
        speed = harness.measure(result, "cpu")
        arguments = result.arguments
        eager_ms = harness.time_cpu_ms(lambda f=eager, a=arguments: f(*a), repeats=5)
        print(
            f"{title:40} {speed.milliseconds:8.2f} {speed.copy_milliseconds:8.2f} "
            f"{eager_ms:9.2f} {speed.score:8.2f} {eager_ms / speed.milliseconds:8.2f}",
            flush=True,
        )


def host_latency_us(target: str) -> tuple[float, float]:
    """Time of a call, ours and eager's: three inputs of 1024 floats, four operations."""
    with FusionDefinition() as fd:
        a, b, c = (fd.define_tensor([-1], contiguity=True) for _ in range(3))
        y = fd.ops.relu(fd.ops.sub(fd.ops.mul(fd.ops.add(a, b), c), 1.0))
        fd.add_output(y)
        y.split(0, 128)
        fd.sched.transform_like(y)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    inputs = [torch.randn(1024, device=target) for _ in range(3)]
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)

    def eager():
        a, b, c = inputs
        return torch.relu((a + b) * c - 1.0)

    def per_call_us(function) -> float:
        times = []
        for _ in range(20):
            start = time.perf_counter()
            for _ in range(200):
                function()
            times.append((time.perf_counter() - start) / 200 * 1e6)
            if target == "cuda":
                torch.cuda.synchronize()
        return median(times)

    return per_call_us(lambda: executor.run(inputs)), per_call_us(eager)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=["cpu", "cuda"], default=harness.present_target())
    target = parser.parse_args().target
    reached = True
    if target == "cuda":
        reached = run_cuda()
    else:
        run_cpu()
    ours, eager = host_latency_us(target)
    print(f"\nhost time of one call: {ours:.1f} us, eager {eager:.1f} us\n", flush=True)
    compile_time = [sys.executable, str(ROOT / "benchmarks" / "compile_time.py")]
    subprocess.run([*compile_time, "--target", target], check=True)
    if not reached:
        raise SystemExit("a promised score was not reached, or a result is wrong")


if __name__ == "__main__":
    main()

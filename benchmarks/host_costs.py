"""The host's time for a call, beside a bare launch.

    python benchmarks/host_costs.py [--target cpu|cuda]

Rows are measured in turns within one run; each figure is the median of the turns, in microseconds
of a call. Launches are waited for between turns only. "over launch" is what a row takes beyond a
loop of cuLaunchKernel in C++, and "more" what each segment after the first one takes. Where the
host has other work, medians are of its doing: "lowest" is the lowest turn, and the last column what
that takes beyond the lowest turn of launches.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import torch

from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType, compile_cuda_source

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS, CALLS = 20, 200
ELEMENTS = 1024
PRODUCT = 8  # rows and columns of factors
OTHER_FUSIONS = 200

KERNEL = 'extern "C" __global__ void bare(float*, float*, float*, float*, long long) {}'
LAUNCH_LOOP = r"""
#include <dlfcn.h>
using Function = void*;
extern "C" int load(const void* image, Function* function) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto load_data = (int (*)(void**, const void*))dlsym(driver, "cuModuleLoadData");
  auto get = (int (*)(Function*, void*, const char*))dlsym(driver, "cuModuleGetFunction");
  void* module = nullptr;
  const int failed = load_data(&module, image);
  return failed ? failed : get(function, module, "bare");
}
extern "C" int launch(Function function, void* stream, int calls) {
  using Launch = int (*)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void*, void**, void**);
  static auto run = (Launch)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");
  float* tensors[4] = {};
  long long size = 0;
  void* arguments[] = {&tensors[0], &tensors[1], &tensors[2], &tensors[3], &size};
  for (int i = 0; i < calls; ++i) {
    const int failed = run(function, 8, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr);
    if (failed) return failed;
  }
  return 0;
}
"""


def launch_loop(folder: Path) -> Callable[[int], None]:
    """A loop of so many launches of an empty kernel with five arguments."""
    source, library = folder / "launch.cpp", folder / "launch.so"
    source.write_text(LAUNCH_LOOP)
    subprocess.run(
        ["c++", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl"], check=True
    )
    loaded = ctypes.CDLL(str(library))
    major, minor = torch.cuda.get_device_capability()
    image = compile_cuda_source(KERNEL, "bare", f"sm_{major}{minor}")
    function = ctypes.c_void_p()
    if failed := loaded.load(ctypes.c_char_p(image), ctypes.byref(function)):
        raise RuntimeError(f"the empty kernel does not load: error {failed} of the driver")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def loop(calls: int) -> None:
        if failed := loaded.launch(function, stream, calls):
            raise RuntimeError(f"the empty kernel does not start: error {failed} of the driver")

    return loop


def repeated(function: Callable[[], Any]) -> Callable[[int], None]:
    def loop(calls: int) -> None:
        for _ in range(calls):
            function()

    return loop


def define_map(fd: FusionDefinition, segments: int = 1) -> None:
    """Three inputs, one output; a chain of so many segments."""
    a, b, c = (fd.define_tensor([-1], contiguity=True) for _ in range(3))
    y = fd.ops.mul(fd.ops.add(a, b), c)
    for _ in range(segments - 1):
        y = fd.ops.add(fd.ops.segment_set(y), 1.0)
    fd.add_output(y)


def automatic(define: Callable[[FusionDefinition], None], inputs: list[Any]) -> FusionDefinition:
    with FusionDefinition() as fd:
        define(fd)
    fd.execute(inputs)
    return fd


def by_hand(inputs: list[Any]) -> KernelExecutor:
    with FusionDefinition() as fd:
        define_map(fd)
        (y,) = fd.fusion.outputs()
        y.split(0, 128)
        fd.sched.transform_like(y)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor


def sum_of_all(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1], contiguity=True)
    fd.add_output(fd.ops.sum(x, [0]))


def define_linear(fd: FusionDefinition) -> None:
    a, b = (fd.define_tensor([-1, -1], contiguity=True) for _ in range(2))
    fd.add_output(fd.ops.linear(a, b))


def rows(target: str, folder: Path) -> dict[str, Callable[[int], None]]:
    """The loops to measure, by name."""
    inputs = [torch.randn(ELEMENTS, device=target) for _ in range(3)]
    large = [torch.randn(1 << 20, device=target)]
    executor = by_hand(inputs)
    found = {} if target == "cpu" else {"bare launch": launch_loop(folder)}
    found["eager add"] = repeated(lambda: torch.add(inputs[0], inputs[1]))
    found["KernelExecutor.run"] = repeated(lambda: executor.run(inputs))
    for segments in (1, 2, 5, 11):
        fd = automatic(lambda fd, segments=segments: define_map(fd, segments), inputs)
        name = f"fd.execute, {segments} segment{'s' if segments > 1 else ''}"
        found[name] = repeated(lambda fd=fd: fd.execute(inputs))
    total = automatic(sum_of_all, large)
    found["fd.execute, sum over the grid"] = repeated(lambda: total.execute(large))
    a, b = (torch.randn(PRODUCT, PRODUCT, device=target) for _ in range(2))
    linear = automatic(define_linear, [a, b])
    found["eager linear"] = repeated(lambda: torch.nn.functional.linear(a, b))
    found["fd.execute, evaluated linear"] = repeated(lambda: linear.execute([a, b]))
    return found


def measure(loops: dict[str, Callable[[int], None]], target: str) -> dict[str, list[float]]:
    """Microseconds of a call in each turn."""
    times: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(TURNS):
        for name, loop in loops.items():
            start = time.perf_counter()
            loop(CALLS)
            times[name].append((time.perf_counter() - start) / CALLS * 1e6)
            if target == "cuda":
                torch.cuda.synchronize()
    return times


def growth(target: str) -> list[dict[str, float]]:
    """A call of a fusion, and one of PyTorch, before and after many others were defined and ran.
    The second one tells how fast the host was."""
    inputs = [torch.randn(ELEMENTS, device=target) for _ in range(3)]
    fd = automatic(define_map, inputs)
    loops = {
        "fd.execute": repeated(lambda: fd.execute(inputs)),
        "eager add": repeated(lambda: torch.add(inputs[0], inputs[1])),
    }

    def medians() -> dict[str, float]:
        return {name: median(turns) for name, turns in measure(loops, target).items()}

    before = medians()
    kept = [automatic(define_map, inputs) for _ in range(OTHER_FUSIONS)]
    for other in kept:
        other.execute(inputs)
    return [before, medians()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    here = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--target", choices=["cpu", "cuda"], default=here)
    target = parser.parse_args().target
    with tempfile.TemporaryDirectory() as folder:
        found = measure(rows(target, Path(folder)), target)
    launches = found.get("bare launch")
    one = median(found["fd.execute, 1 segment"])
    print(f"{'':32} {'us':>7} {'over launch':>12} {'more':>7} {'lowest':>7} {'over launch':>12}")
    for name, turns in found.items():
        segments = int(name.split()[1]) if "segments" in name else 0
        more = f"{(median(turns) - one) / (segments - 1):.2f}" if segments else ""
        over, lowest_over = "-", "-"
        if launches is not None:
            over = f"{median(turns) - median(launches):.2f}"
            lowest_over = f"{min(turns) - min(launches):.2f}"
        print(
            f"{name:32} {median(turns):7.2f} {over:>12} {more:>7} {min(turns):7.2f} "
            f"{lowest_over:>12}"
        )
    before, after = growth(target)
    for name, time_us in before.items():
        print(
            f"{name} before {OTHER_FUSIONS} other fusions {time_us:.2f} us, after {after[name]:.2f}"
        )


if __name__ == "__main__":
    main()

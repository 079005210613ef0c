"""Runs one hand-scheduled example: compile, launch, compare with PyTorch, time.

An example is a module with

    make(*sizes)            -> FusionDefinition, not scheduled
    schedule(fd, *sizes)    schedules it; the sizes decide which vector width is legal
    inputs(*sizes, device)  -> list of tensors
    reference(inputs)       -> list of tensors, computed in float64
    SIZES                   sizes to check, some of which divide nothing
    BENCHMARK               one size larger than any cache, for bandwidth
    RTOL                    relative tolerance, of the largest element of the reference
    MOST_REGISTERS          of a thread of a GPU, so that more blocks are resident; may be left out
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Protocol

import torch

from nvfuser_direct import TensorView

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import FusionDefinition, KernelExecutor


class Example(Protocol):
    """The contents of the module of an example."""

    __name__: str
    SIZES: list[tuple[int, ...]]
    BENCHMARK: tuple[int, ...]
    RTOL: float

    def make(self, *sizes: int) -> FusionDefinition: ...
    def schedule(self, fd: FusionDefinition, *sizes: int) -> None: ...
    def inputs(self, *sizes: int, device: str) -> list[torch.Tensor]: ...
    def reference(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]: ...


def vector_width(size: int, widest: int) -> int:
    """The largest power of two up to `widest` that divides `size`: lanes of one vector access."""
    width = widest
    while width > 1 and size % width != 0:
        width //= 2
    return width


def input_tensors(fd: FusionDefinition) -> list[TensorView]:
    """The inputs of a fusion that are tensors."""
    return [val for val in fd.fusion.inputs() if isinstance(val, TensorView)]


def present_target() -> str:
    """The best target of this machine."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def scheduled(example: Example, sizes: tuple[int, ...]) -> FusionDefinition:
    """The example's fusion with its schedule."""
    fd = example.make(*sizes)
    with fd:
        example.schedule(fd, *sizes)
    return fd


@dataclass
class Result:
    """One run of an example for one size."""

    sizes: tuple[int, ...]
    error: float  # largest difference from the reference, of the largest element of the reference
    lower_ms: float  # fusion to kernel source
    executor: KernelExecutor
    arguments: list[torch.Tensor]


def largest_error(outputs: list[torch.Tensor], expected: list[torch.Tensor]) -> float:
    """The largest difference, relative to the largest element; inf where shapes or NaNs differ."""
    worst = 0.0
    for out, ref in zip(outputs, expected, strict=True):
        if out.shape != ref.shape:
            return float("inf")
        if ref.numel() == 0:
            continue
        error = (out.double() - ref.double()).abs().max() / ref.double().abs().max().clamp(1e-30)
        worst = max(worst, float(error.nan_to_num(float("inf"))))
    return worst


def run(example: Example, sizes: tuple[int, ...], target: str) -> Result:
    """Compile and run the example once."""
    from nvfuser_direct import CompileParams, KernelExecutor

    fd = scheduled(example, sizes)
    arguments = example.inputs(*sizes, device=target)

    start = time.perf_counter()
    fd.fusion.print_kernel(target=target)
    lower_ms = (time.perf_counter() - start) * 1e3
    executor = KernelExecutor()
    registers = getattr(example, "MOST_REGISTERS", CompileParams().maxrregcount)
    executor.compile(fd.fusion, arguments, compile_params=CompileParams(maxrregcount=registers))
    error = largest_error(executor.run(arguments), example.reference(arguments))
    return Result(sizes, error, lower_ms, executor, arguments)


def compile_time_ms(result: Result, target: str) -> float:
    """Kernel source to machine code, past every cache: NVRTC's time, or the C++ compiler's.

    The best of three, as the machine may also have other work.
    """
    from nvfuser_direct import compile_cpu_source, compile_cuda_source

    source = result.executor.kernel_source()

    def compile_once() -> float:
        start = time.perf_counter()
        if target == "cuda":
            major, minor = torch.cuda.get_device_capability()
            suffix = "a" if major >= 9 else ""
            compile_cuda_source(source, "example", f"sm_{major}{minor}{suffix}")
        else:
            compile_cpu_source(source, "example")
        return (time.perf_counter() - start) * 1e3

    return min(compile_once() for _ in range(3))


def time_cuda_ms(function: Callable[[], object], repeats: int = 20) -> float:
    """Median time of one call on the current stream, by events."""
    for _ in range(3):
        function()
    times = []
    for _ in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return float(median(times))


def time_cpu_ms(function: Callable[[], object], repeats: int = 20) -> float:
    """Median wall-clock time of one call."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append((time.perf_counter() - start) * 1e3)
    return float(median(times))


def bytes_of(tensors: list[torch.Tensor]) -> int:
    """Bytes of all elements."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def copy_time_ms(total_bytes: int, device: str) -> float:
    """Time of a copy that reads and writes `total_bytes` together."""
    source = torch.empty(max(total_bytes // 2, 1), dtype=torch.uint8, device=device)
    destination = torch.empty_like(source)
    timer = time_cuda_ms if device == "cuda" else time_cpu_ms
    return timer(lambda: destination.copy_(source))


@dataclass
class Bandwidth:
    """How fast an example moves its data."""

    milliseconds: float
    copy_milliseconds: float
    total_bytes: int

    @property
    def score(self) -> float:
        """1 is as fast as a device copy of the same bytes."""
        return self.copy_milliseconds / self.milliseconds

    @property
    def gigabytes_per_second(self) -> float:
        return self.total_bytes / self.milliseconds / 1e6


def measure(result: Result, target: str) -> Bandwidth:
    """Time the compiled example against a copy of the same bytes, in the same run."""
    outputs = result.executor.run(result.arguments)
    total_bytes = bytes_of(result.arguments) + bytes_of(outputs)
    del outputs
    timer = time_cuda_ms if target == "cuda" else time_cpu_ms
    kernel_ms = timer(lambda: result.executor.run(result.arguments))
    return Bandwidth(kernel_ms, copy_time_ms(total_bytes, target), total_bytes)


def arguments(description: str | None) -> argparse.Namespace:
    """The command line that all examples share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--target", choices=["cpu", "cuda"], default=present_target())
    parser.add_argument("--kernel", action="store_true", help="print the kernel of the first size")
    return parser.parse_args()


def check(example: Example, target: str) -> bool:
    """Run every size of an example, a line each; whether all agree with PyTorch."""
    is_right = True
    for sizes in example.SIZES:
        result = run(example, sizes, target)
        ok = result.error <= example.RTOL
        is_right &= ok
        print(
            f"  {'x'.join(map(str, sizes)):>16}  error {result.error:8.1e}  "
            f"lower {result.lower_ms:6.1f} ms  compile {compile_time_ms(result, target):6.1f} ms"
            f"{'' if ok else '  WRONG'}"
        )
    return is_right


def main(example: Example) -> None:
    """Run an example as a script."""
    args = arguments(example.__doc__)
    if args.kernel:
        fd = scheduled(example, example.SIZES[0])
        print(fd.fusion.print_math())
        print(fd.fusion.print_transforms())
        print(fd.fusion.print_kernel(target=args.target))
    if not check(example, args.target):
        raise SystemExit("the result differs from PyTorch's")
    if args.target == "cuda":
        speed = measure(run(example, example.BENCHMARK, "cuda"), "cuda")
        print(f"  {speed.gigabytes_per_second:.0f} GB/s, {speed.score:.2f} of a device copy")

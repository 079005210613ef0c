"""Two kernels by hand, of which the second begins while the first one runs: tanh(x), and y * w + w.

The first one signals when its operands are loaded. The second one loads `w`, which no kernel
writes, before it waits. The script prints which statements of each kernel run beside the other
kernel, checks the results, and times chains on a GPU. On the CPU target the same schedules run one
after the other, and nothing overlaps.
"""

import argparse
from statistics import median

import torch

from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType

SIZE = 100_003
THREADS, EACH = 128, 4  # of a block, and elements of a thread
LINKS = 16  # pairs of kernels in a chain
SIGNAL, WAIT = "launch_dependent_grid();", "wait_for_prior_grid();"


def schedule(fd: FusionDefinition) -> None:
    """A thread has a loop of its own for each tensor: all its elements are loaded before one of
    them is computed with. Tensors that are older stand in front of the loops that wait."""
    (out,) = fd.fusion.outputs()
    out.split(0, EACH)
    out.split(0, THREADS)
    fd.sched.transform_like(out)
    out.axis(0).parallelize(ParallelType.grid_x)
    out.axis(1).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(out)
    fd.sched.inline_at(out, 2, best_effort=True)


def first(*, overlaps: bool = True) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        loaded = fd.ops.launch_dependent_grid([x]) if overlaps else fd.ops.set(x)
        fd.add_output(fd.ops.tanh(loaded))
        schedule(fd)
    return fd


def second(*, overlaps: bool = True) -> FusionDefinition:
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1], contiguity=True)
        w = fd.define_tensor([-1], contiguity=True)
        kept = fd.ops.set(w)
        late = fd.ops.wait_for_prior_grid([y, kept]) if overlaps else fd.ops.set(y)
        fd.add_output(fd.ops.add(fd.ops.mul(late, kept), kept))
        schedule(fd)
    return fd


def print_overlap(target: str) -> None:
    """Print what stands behind the signal of the first kernel and before the wait of the second."""
    _, signal, behind = first().fusion.print_kernel(target=target).partition(SIGNAL)
    before, wait, _ = second().fusion.print_kernel(target=target).partition(WAIT)
    print("--- the first kernel, when blocks of the second one may begin\n")
    print(behind.strip("\n") if signal else "(it has ended)\n")
    print("--- the second kernel, before the first one has ended\n")
    print(before.strip("\n") if wait else "(it has not begun)\n")


def compiled(fd: FusionDefinition, inputs: list[torch.Tensor]) -> KernelExecutor:
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor


class Chain:
    """Pairs of the two kernels, each of which reads what the one before it wrote."""

    def __init__(self, x: torch.Tensor, w: torch.Tensor, *, overlaps: bool) -> None:
        self.w = w
        self.first = compiled(first(overlaps=overlaps), [x])
        self.second = compiled(second(overlaps=overlaps), [x, w])

    def run(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(LINKS):
            (y,) = self.first.run([x])
            (x,) = self.second.run([y, self.w])
        return x

    def time_us(self, x: torch.Tensor) -> float:
        """The time of a pair on the GPU: the stream is busy until all kernels are in it."""
        times: list[float] = []
        for _ in range(20):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(2_000_000)
            start.record()
            self.run(x)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1e3 / LINKS)
        return median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    best = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--target", choices=["cpu", "cuda"], default=best)
    target = parser.parse_args().target
    print_overlap(target)

    x, w = torch.randn(2, SIZE, device=target)
    expected = x.double()
    for _ in range(LINKS):
        expected = torch.tanh(expected) * w.double() + w.double()
    chains = {overlaps: Chain(x, w, overlaps=overlaps) for overlaps in (True, False)}
    for chain in chains.values():
        torch.testing.assert_close(chain.run(x).double(), expected, rtol=1e-4, atol=1e-4)
    print(f"{2 * LINKS} kernels in a row agree with PyTorch in double precision")
    if target == "cuda":
        print(f"a pair takes {chains[True].time_us(x):.1f} us", end="")
        print(f", and {chains[False].time_us(x):.1f} us one after the other")


if __name__ == "__main__":
    main()

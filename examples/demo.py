"""A fusion scheduled by hand, and one that schedules itself: math, schedules, kernels, results.

Runs on the GPU if there is one, else on the CPU: the same schedule, another kernel.
"""

import argparse
import os
import shutil
import sys

import torch

from nvfuser_direct import FusionDefinition, ParallelType

WIDTH = min(shutil.get_terminal_size().columns, 100)
BOLD, PLAIN = (
    ("\033[1m", "\033[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "")
)


def title(text: str) -> None:
    print(f"\n{BOLD}{'=' * WIDTH}\n{text}\n{'=' * WIDTH}{PLAIN}")


def section(text: str) -> None:
    print(f"\n{BOLD}{f'--- {text} '.ljust(WIDTH, '-')}{PLAIN}\n")


def scheduled_by_hand(target: str) -> None:
    # The math: y = relu(x) + 1. Sizes of -1 are symbolic: one kernel serves all of them.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.add(fd.ops.relu(x), 1.0)
        fd.add_output(y)

        # The schedule: blocks of 128 threads over the flattened tensor.
        y.merge(0, 1)
        y.split(0, 128)
        fd.sched.transform_like(y)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()

    title("relu(x) + 1, with a schedule by hand")
    section("math")
    print(fd.fusion.print_math().strip())
    section("schedule")
    print(fd.fusion.print_transforms().strip())
    section(f"kernel for {target}")
    print(fd.fusion.print_kernel(target=target).strip())

    data = torch.randn(1000, 999, device=target)
    (out,) = fd.manual_execute([data])
    expected = torch.relu(data) + 1
    section(f"result on {target}, of {list(data.shape)}")
    print(out[:3, :6])
    print(f"\nlargest difference from PyTorch: {(out - expected).abs().max():g}")
    torch.testing.assert_close(out, expected)


def scheduled_automatically(target: str) -> None:
    # A layer between two maps: a library multiplies, so the maps are kernels of their own.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        weight = fd.define_tensor([-1, -1], contiguity=True)
        bias = fd.define_tensor([-1], contiguity=True)
        gate = fd.ops.silu(x)
        product = fd.ops.linear(gate, weight)
        shifted = fd.ops.add(product, fd.ops.broadcast(bias, [True, False]))
        fd.add_output(fd.ops.relu(shifted))

    inputs = [torch.randn(*sizes, device=target) for sizes in [(512, 256), (128, 256), (128,)]]
    title("relu(linear(silu(x), weight) + bias), which schedules itself")
    section("math")
    print(fd.fusion.print_math().strip())
    (out,) = fd.execute(inputs)
    section("how it runs, and why it is cut")
    print(fd.fec.explain(inputs).strip())
    section("schedules, to read, to edit and to put back")
    print("\n".join(fd.fec.schedules(inputs)).strip())
    section(f"kernels for {target}")
    print(fd.fec.get_cuda_kernel(inputs).strip())

    data, weights, shift = (tensor.double() for tensor in inputs)
    expected = torch.relu(torch.nn.functional.silu(data) @ weights.T + shift)
    section(f"result on {target}")
    print(out[:3, :6])
    difference = (out - expected).abs().max()
    print(f"\nlargest difference from PyTorch in double precision: {difference:.1g}")
    torch.testing.assert_close(out.double(), expected, rtol=1e-4, atol=1e-3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    best = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--target", choices=["cpu", "cuda"], default=best)
    target = parser.parse_args().target
    scheduled_by_hand(target)
    scheduled_automatically(target)


if __name__ == "__main__":
    main()

"""A fusion scheduled by hand: its math, its loops, its kernel, and what it computes.

Runs on the GPU if there is one, else on the CPU: the same schedule, another kernel.
"""

import argparse

import torch

from nvfuser_direct import FusionDefinition, ParallelType


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    best = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--target", choices=["cpu", "cuda"], default=best)
    target = parser.parse_args().target

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

    print("--- math\n")
    print(fd.fusion.print_math())
    print("--- schedule\n")
    print(fd.fusion.print_transforms())
    print(f"--- kernel for {target}\n")
    print(fd.fusion.print_kernel(target=target))

    data = torch.randn(1000, 999, device=target)
    (out,) = fd.manual_execute([data])
    expected = torch.relu(data) + 1
    print(f"--- result on {target}, of {list(data.shape)}\n")
    print(out[:3, :6])
    print(f"\nlargest difference from PyTorch: {(out - expected).abs().max():g}")
    torch.testing.assert_close(out, expected)


if __name__ == "__main__":
    main()

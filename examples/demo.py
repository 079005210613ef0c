"""A fusion scheduled by hand, and one that schedules itself: math, schedules, kernels, results.

Runs on the GPU if there is one, else on the CPU: the same schedule, another kernel.
"""

import argparse

import torch

from nvfuser_direct import FusionDefinition, ParallelType


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


def scheduled_automatically(target: str) -> None:
    # Sums of rows, and the sum of those: two reductions over different axes, which no kernel holds.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        rows = fd.ops.sum(fd.ops.exp(x), [1])
        fd.add_output(fd.ops.sum(rows, [0]))

    data = torch.randn(1000, 999, device=target)
    print("--- math of a fusion without a schedule\n")
    print(fd.fusion.print_math())
    (out,) = fd.execute([data])
    print("--- how it runs, and why it is cut\n")
    print(fd.fec.explain([data]))
    print("--- schedules\n")
    print("\n".join(fd.fec.schedules([data])))
    print(f"--- kernels for {target}\n")
    print(fd.fec.get_cuda_kernel([data]))

    expected = data.double().exp().sum()
    print("--- result\n")
    print(f"{out:.6g}, from PyTorch in double precision {expected:.6g}")
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    best = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--target", choices=["cpu", "cuda"], default=best)
    target = parser.parse_args().target
    scheduled_by_hand(target)
    scheduled_automatically(target)


if __name__ == "__main__":
    main()

"""Host costs of the frontend: finding a definition again, and running a cached fusion.

    python benchmarks/frontend_host_costs.py [--target cpu|cuda]

Each figure is the least of several means, in microseconds. Runs of `nvfuser` are compared with runs
of `nvfuser_direct` for the same fusion; launches are not waited for.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING, Any

import torch

import nvfuser

if TYPE_CHECKING:
    from collections.abc import Callable

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # both packages are meant
    import nvfuser_direct


def microseconds(function: Callable[[], Any], repeat: int = 40, calls: int = 50) -> float:
    """The time of a call."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def pointwise(fd: Any, count: int) -> None:
    """`count` statements, inputs and outputs included."""
    a = fd.define_tensor([-1, -1], contiguity=True)
    b = fd.define_tensor([-1, -1], contiguity=True)
    for _ in range(count - 3):
        a = fd.ops.add(a, b)
    fd.add_output(a)


def norm(fd: Any) -> None:
    """A layer norm with weight and bias: reductions, broadcasts with shapes, constants."""
    x = fd.define_tensor([-1, 768], contiguity=True)
    w = fd.define_tensor([768], contiguity=True)
    b = fd.define_tensor([768], contiguity=True)
    var, mean = fd.ops.var_mean(x, [1], 0, True)
    rows = fd.ops.size(x, 0)
    eps = fd.define_scalar(1e-5)
    y = fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(var, eps)))
    w = fd.ops.broadcast_in_dim(w, [rows, 768], [1])
    b = fd.ops.broadcast_in_dim(b, [rows, 768], [1])
    fd.add_output(fd.ops.add(fd.ops.mul(y, w), b))


def defined(define: Callable[[Any], None], package: Any = nvfuser) -> Any:
    """The definition, in one of the packages."""
    with package.FusionDefinition() as fd:
        define(fd)
    return fd


def main() -> None:
    """Print a line for every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="cuda" if torch.cuda.is_available() else "cpu")
    target = parser.parse_args().target

    for count in (3, 10, 50, 200):
        time_us = microseconds(lambda count=count: defined(lambda fd: pointwise(fd, count)))
        print(f"define and find, {count:3d} statements        {time_us:8.2f} us")
    print(f"define and find, layer norm            {microseconds(lambda: defined(norm)):8.2f} us")

    for rows in (8, 1024):
        print_runs(rows, target)


def print_runs(rows: int, target: str) -> None:
    """Runs of one fusion through both packages."""
    inputs = [torch.randn(rows, 768, device=target), torch.randn(rows, 768, device=target)]
    frontend = defined(lambda fd: pointwise(fd, 10))
    direct = defined(lambda fd: pointwise(fd, 10), nvfuser_direct)
    for fd in (frontend, direct):
        fd.execute(inputs)
    calls = (
        ("nvfuser fd.execute", lambda: frontend.execute(inputs)),
        ("nvfuser_direct fd.execute", lambda: direct.execute(inputs)),
        ("nvfuser_direct fec.run", lambda: direct.fec.run(inputs)),
        (
            "nvfuser define, find and execute",
            lambda: defined(lambda fd: pointwise(fd, 10)).execute(inputs),
        ),
    )
    for name, call in calls:
        time_us = microseconds(call, calls=20 if target == "cuda" else 50)
        if target == "cuda":
            torch.cuda.synchronize()
        print(f"[{rows}, 768] {name:33s} {time_us:8.2f} us")


if __name__ == "__main__":
    main()

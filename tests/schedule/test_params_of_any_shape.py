"""Params of reductions for shapes that were never measured: odd, prime, few, many rows.
Params are legal, and by the model of costs they keep a GPU busy. Inputs are not touched.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import torch
from scheduled_runs import define

from nvfuser_direct import DataType, SchedulerType, schedule

if TYPE_CHECKING:
    from nvfuser_direct import CostEstimate, FusionDefinition, ReductionParams

REDUCTION, BACKWARD = SchedulerType.reduction, SchedulerType.inner_outer_persistent
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
MOST_BYTES = 1 << 30
BUSY_BYTES = 16 << 20  # of inputs that the whole GPU is worth being used for
SMS, SHARED, LIMIT_YZ = 132, 227 * 1024, 65535


def any_size(rng: random.Random, low: int, high: int) -> int:
    """Between two numbers, evenly in their logarithms: as it falls, odd, prime, or round."""
    size = round(math.exp(rng.uniform(math.log(low), math.log(high))))
    kind = rng.choice(("any", "odd", "prime", "power", "multiple"))
    if kind == "odd":
        size |= 1
    elif kind == "prime":
        size = next(
            n for n in range(size, 0, -1) if all(n % d for d in range(2, math.isqrt(n) + 1))
        )
    elif kind == "power":
        size = 1 << (size.bit_length() - 1)
    elif kind == "multiple":
        size = -(-size // 64) * 64
    return min(max(size, low), high)


def any_matrix(rng: random.Random, most_columns: int) -> torch.Tensor:
    dtype = rng.choice(DTYPES)
    columns = any_size(rng, 32, most_columns)
    most_rows = min(1 << 20, MOST_BYTES // (columns * dtype.itemsize))
    return torch.empty(any_size(rng, 1, most_rows), columns, dtype=dtype)


def sums(fd: FusionDefinition, x: object, dims: list[int], name: str) -> list[object]:
    wide = fd.ops.cast(x, DataType.Float)
    if name == "sum and max":
        return [fd.ops.sum(wide, dims), fd.ops.max(wide, dims)]
    if name == "norm":
        return [fd.ops.sqrt(fd.ops.sum(fd.ops.mul(wide, wide), dims))]
    return [fd.ops.sum(wide, dims)]


def rms_norm_backward(fd: FusionDefinition, x: object, g: object, w: object) -> list[object]:
    ops, dtype = fd.ops, DataType.Float
    xf, gf = ops.cast(x, dtype), ops.cast(g, dtype)
    gw = ops.mul(gf, ops.cast(ops.broadcast(w, [True, False]), dtype))
    rstd = ops.rsqrt(ops.add(ops.mul(ops.sum(ops.mul(xf, xf), [1]), 1e-3), 1e-6))
    rows = ops.broadcast(rstd, [False, True])
    along = ops.broadcast(ops.mul(ops.sum(ops.mul(gw, xf), [1]), rstd), [False, True])
    return [
        ops.sub(ops.mul(gw, rows), ops.mul(xf, along)),
        ops.sum(ops.mul(gf, ops.mul(xf, rows)), [0]),
    ]


def check_legal(
    params: ReductionParams, inputs: list[torch.Tensor], lanes: int, *, is_whole: bool = False
) -> None:
    launch = params.lparams
    threads = launch.bdimx * launch.bdimy * launch.bdimz
    assert 1 <= threads <= 1024
    assert threads % 32 == 0 or launch.gdimx * launch.gdimy == 1 or launch.bdimx < 32
    assert 1 <= launch.gdimx < 1 << 31
    assert 1 <= launch.gdimy <= LIMIT_YZ
    assert 32 <= params.cparams.maxrregcount <= 255
    assert params.cparams.maxrregcount * threads <= 1 << 16 or params.cparams.maxrregcount == 255
    for width, tensor in zip(params.vector_widths, inputs, strict=False):
        assert lanes % width == 0
        assert width * tensor.element_size() <= 16
        assert (tensor.numel() if is_whole else tensor.size(-1)) % width == 0


def check_busy(cost: CostEstimate, blocks: int, inputs: list[torch.Tensor]) -> None:
    """Where there is enough to do: a block on nearly every multiprocessor, loads under way in each,
    and no last round with few blocks behind a few full ones."""
    assert cost.blocks_of_sm >= 1
    assert cost.total_us > 0
    if sum(x.nbytes for x in inputs) >= BUSY_BYTES:
        assert blocks >= SMS * 3 // 4
        assert cost.bytes_in_flight >= 16 * 1024
        assert cost.efficiency >= 0.6, cost


@pytest.mark.parametrize("seed", range(60))
def test_sums_of_any_shape(seed: int) -> None:
    rng = random.Random(seed)
    x = any_matrix(rng, 1 << 19)
    dims = rng.choice(([0], [1], [0, 1]))
    name = rng.choice(("sum", "sum and max", "norm"))
    fusion = define(lambda fd, t: sums(fd, t, dims, name), [x]).fusion
    params = schedule.compute_heuristics(fusion, REDUCTION, [x], "cuda")
    cost = schedule.estimate_cost(fusion, params, [x], "cuda")
    print(tuple(x.shape), x.dtype, dims, name, params, cost)
    lanes = (
        params.unroll_factor_inner_reduction
        if params.fastest_dim
        else (params.unroll_factor_iter_dom)
    )
    check_legal(params, [x], lanes, is_whole=dims == [0, 1])
    check_busy(cost, params.lparams.gdimx * params.lparams.gdimy, [x])
    if seed % 4 == 0:  # what is legal is also a kernel
        schedule.schedule(fusion, REDUCTION, params)
        fusion.lower(target="cuda")


@pytest.mark.parametrize("seed", range(40))
def test_norms_backward_of_any_shape(seed: int) -> None:
    rng = random.Random(1000 + seed)
    x = any_matrix(rng, 1 << 15)
    inputs = [x, torch.empty_like(x), torch.empty(x.size(1), dtype=x.dtype)]
    fusion = define(rms_norm_backward, inputs).fusion
    takes, reason = schedule.can_schedule(fusion, BACKWARD, inputs, "cuda")
    if not takes:  # rows that registers cannot hold
        assert x.size(1) > 8192, reason
        return
    params = schedule.compute_heuristics(fusion, BACKWARD, inputs, "cuda")
    cost = schedule.estimate_cost(fusion, params, inputs, "cuda")
    print(tuple(x.shape), x.dtype, params, cost)
    check_legal(params, inputs, params.unroll_factor_inner_reduction)
    check_busy(cost, params.lparams.gdimx, inputs)
    assert params.lparams.gdimx <= SMS * cost.blocks_of_sm  # all are resident: they wait
    if seed % 4 == 0:
        schedule.schedule(fusion, BACKWARD, params)
        fusion.lower(target="cuda")


def test_the_cost_says_what_bounds_a_kernel() -> None:
    x = torch.empty(1 << 14, 1 << 13)
    plain = define(lambda fd, t: fd.ops.sum(t, [1]), [x]).fusion
    params = schedule.compute_heuristics(plain, REDUCTION, [x], "cuda")
    cost = schedule.estimate_cost(plain, params, [x], "cuda")
    assert cost.bound() == "memory"
    assert str(cost).startswith(f"{cost.total_us:.1f} us, bound by memory")
    copied = 7 + x.nbytes / 4.26e6
    assert copied <= cost.total_us <= 1.2 * copied

    params.unroll_factor_inner_reduction = 1  # single elements, loaded one after the other
    params.unroll_factor_top_of_vectorization = 1
    slower = schedule.estimate_cost(plain, params, [x], "cuda")
    assert slower.bound() == "latency"
    assert slower.total_us > 2 * cost.total_us

    dear = define(lambda fd, t: fd.ops.sum(fd.ops.tan(fd.ops.tan(t)), [1]), [x]).fusion
    params = schedule.compute_heuristics(dear, REDUCTION, [x], "cuda")
    assert schedule.estimate_cost(dear, params, [x], "cuda").bound() in (
        "issue",
        "special functions",
    )
    assert schedule.estimate_cost(plain, params, [x], "cpu") is None


def test_verbose_scheduling_prints_the_cost(capfd: pytest.CaptureFixture[str]) -> None:
    program = (
        "import torch\n"
        "from nvfuser_direct import FusionDefinition, SchedulerType, schedule\n"
        "with FusionDefinition() as fd:\n"
        "    fd.add_output(fd.ops.sum(fd.define_tensor([-1, -1], contiguity=True), [0]))\n"
        "schedule.compute_heuristics(fd.fusion, SchedulerType.reduction, "
        "[torch.empty(4096, 512)], 'cuda')\n"
    )
    env = os.environ | {"NVFUSER_DUMP": "scheduler_verbose"}
    subprocess.run([sys.executable, "-c", program], env=env, check=True)
    assert "cost of reduction: " in capfd.readouterr().out

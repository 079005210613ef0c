"""Loops of processors run through whole steps without tests: golden texts, and values of sizes
around the ends of steps."""

from __future__ import annotations

import pytest
import torch
from pass_text import BX, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType

PASS = "part_whole_steps"


def sums_of_rows(lanes: int = 8, vectors: int = 4) -> FusionDefinition:
    """Each lane of several vectors has an accumulator; whole vectors have no tests."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [1])
        fd.add_output(total)
        total.split(1, lanes)
        total.split(1, vectors)
        part = total.rfactor([1])
        fd.sched.transform_like(part)
        part.axis(0).parallelize(BX)
        part.axis(-1).parallelize(ParallelType.unswitch)
        fd.sched.parallelize_like(part)
        fd.sched.inline_most()
    return fd


def sums_of_columns() -> FusionDefinition:
    """A task has 32 columns, in vectors of 8."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [0])
        fd.add_output(total)
        total.split(1, 32)
        total.split(2, 8)
        total.reorder({0: 1, 1: 0})
        total.axis(0).parallelize(BX)
        total.axis(-1).parallelize(ParallelType.unswitch)
    return fd


def negated() -> FusionDefinition:
    """A task has 256 vectors of 8."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 8)
        y.split(0, 256)
        y.axis(0).parallelize(BX)
        y.axis(2).parallelize(ParallelType.unswitch)
    return fd


def test_whole_steps_have_no_tests_and_the_rest_is_a_loop_of_its_own() -> None:
    check_pass(
        negated(),
        PASS,
        """
        BLOCKLOOP parallel:
          FOR k0 in 256:
            THREADLOOP:
              IF ((((bx * 2048) + (k0 * 8)) + 7) < i0):
                FOR k1 in 8 unrolled:
                  T1_g[(((bx * 2048) + (k0 * 8)) + k1)] = -T0_g[(((bx * 2048) + (k0 * 8)) + k1)];
              ELSE:
                FOR k1 in 8 unrolled:
                  IF ((((bx * 2048) + (k0 * 8)) + k1) < i0):
                    T1_g[(((bx * 2048) + (k0 * 8)) + k1)] = -T0_g[(((bx * 2048) + (k0 * 8)) + k1)];
        """,
        """
        BLOCKLOOP parallel:
          FOR k0 in 256:
            THREADLOOP:
              FOR k1 in 8 unrolled:
                T1_g[(((bx * 2048) + (k0 * 8)) + k1)] = -T0_g[(((bx * 2048) + (k0 * 8)) + k1)];
          FOR k0 in 256 from (min((ceilDiv((max(((i0 - (bx * 2048)) - 7), 0)), 8)), (min(((ceilDiv(i0, 8)) - (bx * 256)), 256)))):
            THREADLOOP:
              IF ((((bx * 2048) + (k0 * 8)) + 7) < i0):
                FOR k1 in 8 unrolled:
                  T1_g[(((bx * 2048) + (k0 * 8)) + k1)] = -T0_g[(((bx * 2048) + (k0 * 8)) + k1)];
              ELSE:
                FOR k1 in 8 unrolled:
                  IF ((((bx * 2048) + (k0 * 8)) + k1) < i0):
                    T1_g[(((bx * 2048) + (k0 * 8)) + k1)] = -T0_g[(((bx * 2048) + (k0 * 8)) + k1)];
        """,  # noqa: E501
        target="cpu",
    )


def test_a_test_that_is_the_same_in_all_steps_chooses_between_loops() -> None:
    text = str(sums_of_columns().fusion.lower(target="cpu", until=PASS))
    whole, _, rest = text.partition("IF ( ( ( blockIdx.x * 32 ) + 31 ) < i1 ):")[2].partition(
        "ELSE"
    )
    assert whole.count("FOR") == 3
    assert "IF" not in whole
    assert rest.index("FOR") < rest.index("IF")


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 2047, 2048, 2049, 5000])
def test_maps_of_any_size(target: str, size: int) -> None:
    x = torch.randint(-9, 9, (size,), dtype=torch.float64)
    torch.testing.assert_close(run(negated(), x, target), -x)


def run(fd: FusionDefinition, x: torch.Tensor, target: str) -> torch.Tensor:
    executor = KernelExecutor()
    inputs = [x.float().to(target)]
    executor.compile(fd.fusion, inputs)
    return executor.run(inputs)[0].cpu().double()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 1000])
def test_rows_of_any_number_of_steps(target: str, size: int) -> None:
    x = torch.randint(-9, 9, (5, size), dtype=torch.float64)
    torch.testing.assert_close(run(sums_of_rows(), x, target), x.sum(1))


@pytest.mark.parametrize("size", [1, 7, 8, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("rows", [0, 1, 40])
def test_any_number_of_columns(target: str, rows: int, size: int) -> None:
    x = torch.randint(-9, 9, (rows, size), dtype=torch.float64)
    torch.testing.assert_close(run(sums_of_columns(), x, target), x.sum(0))


def test_kernels_of_gpus_keep_their_loops() -> None:
    check_unchanged(sums_of_rows(), PASS, target="cuda")


def test_loops_that_compilers_write_out_are_part_of_a_step() -> None:
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 8)
        y.split(0, 4)
        y.axis(0).parallelize(BX)
        y.axis(2).parallelize(ParallelType.unswitch)
    check_unchanged(fd, PASS, target="cpu")

"""place_conditions: statements run where their elements exist, and in the threads that own them."""

from __future__ import annotations

from pass_text import BX, TX, bound, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, ParallelType

NAME = "place_conditions"


def negated(size: int, factor: int, *bindings: ParallelType) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([size], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, factor)
        for axis, binding in enumerate(bindings):
            y.axis(axis).parallelize(binding)
    return fd


def test_what_lies_behind_the_end_of_an_axis_is_not_written() -> None:
    check_pass(
        negated(-1, 128, BX, TX),
        NAME,
        """
        T1_g[((bx * 128) + tx)] = -T0_g[((bx * 128) + tx)];
        """,
        """
        IF (((bx * 128) + tx) < i0):
          T1_g[((bx * 128) + tx)] = -T0_g[((bx * 128) + tx)];
        """,
    )


def test_an_axis_that_its_split_divides_is_not_tested() -> None:
    check_unchanged(negated(1024, 128, BX, TX), NAME)


def test_a_hoisted_test_of_the_largest_index_leaves_a_fast_path() -> None:
    check_pass(
        negated(-1, 4, BX, ParallelType.unswitch),
        NAME,
        """
        FOR k0 in 4:
          T1_g[((bx * 4) + k0)] = -T0_g[((bx * 4) + k0)];
        """,
        """
        IF (((bx * 4) + 3) < i0):
          FOR k0 in 4:
            T1_g[((bx * 4) + k0)] = -T0_g[((bx * 4) + k0)];
        ELSE:
          FOR k0 in 4:
            IF (((bx * 4) + k0) < i0):
              T1_g[((bx * 4) + k0)] = -T0_g[((bx * 4) + k0)];
        """,
    )


def test_an_unrolled_loop_has_a_fast_path_too() -> None:
    check_pass(
        negated(-1, 4, BX, ParallelType.unroll),
        NAME,
        """
        FOR k0 in 4 unrolled:
          T1_g[((bx * 4) + k0)] = -T0_g[((bx * 4) + k0)];
        """,
        """
        IF (((bx * 4) + 3) < i0):
          FOR k0 in 4 unrolled:
            T1_g[((bx * 4) + k0)] = -T0_g[((bx * 4) + k0)];
        ELSE:
          FOR k0 in 4 unrolled:
            IF (((bx * 4) + k0) < i0):
              T1_g[((bx * 4) + k0)] = -T0_g[((bx * 4) + k0)];
        """,
    )


def test_results_in_registers_are_computed_for_holes_too() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(fd.ops.exp(x))
        fd.add_output(y)
        x.cache_after()
        y.split(0, 128)
        bound(fd, y, BX, TX)
    check_pass(
        fd,
        NAME,
        """
        T3_l[0] = Set(T0_g[((bx * 128) + tx)])
        T1_l[0] = expf(T3_l[0]);
        T2_g[((bx * 128) + tx)] = -T1_l[0];
        """,
        """
        IF (((bx * 128) + tx) < i0):
          T3_l[0] = Set(T0_g[((bx * 128) + tx)])
        T1_l[0] = expf(T3_l[0]);
        IF (((bx * 128) + tx) < i0):
          T2_g[((bx * 128) + tx)] = -T1_l[0];
        """,
    )


def test_one_thread_stores_what_all_have() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        y.axis(0).parallelize(BX)
        y.axis(1).parallelize(TX)
    check_pass(
        fd,
        NAME,
        """
        T2_l[0] = Set(float(0))
        T2_l[0] = BLOCKREDUCTION(T0_g[((bx * 64) + tx)], op = add, reduced_dims = {x})
        T1_g[bx] = Set(T2_l[0])
        """,
        """
        T2_l[0] = Set(float(0))
        T2_l[0] = BLOCKREDUCTION(T0_g[((bx * 64) + tx)], op = add, reduced_dims = {x})
        IF (tx == 0):
          T1_g[bx] = Set(T2_l[0])
        """,
    )


def test_a_loop_whose_results_one_thread_stores_runs_there() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        y = fd.ops.sum(x, [1])
        z = fd.ops.neg(x)
        fd.add_output(y)
        fd.add_output(z)
        z.axis(1).parallelize(TX)
    check_pass(
        fd,
        NAME,
        """
        FOR k0 in 8:
          T3_l[0] = Set(float(0))
          FOR k1 in 64:
            T3_l[0] = T3_l[0] + T0_g[((k0 * 64) + k1)];
          T1_g[k0] = Set(T3_l[0])
        FOR k2 in 8:
          T2_g[((k2 * 64) + tx)] = -T0_g[((k2 * 64) + tx)];
        """,
        """
        IF (tx == 0):
          FOR k0 in 8:
            T3_l[0] = Set(float(0))
            FOR k1 in 64:
              T3_l[0] = T3_l[0] + T0_g[((k0 * 64) + k1)];
            T1_g[k0] = Set(T3_l[0])
        FOR k2 in 8:
          T2_g[((k2 * 64) + tx)] = -T0_g[((k2 * 64) + tx)];
        """,
    )


def test_a_sum_adds_only_what_is_there() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.sum(x, [0])
        fd.add_output(y)
        y.split(0, 4)
    check_pass(
        fd,
        NAME,
        """
        T2_l[0] = Set(float(0))
        FOR k0 in (ceilDiv(i0, 4)):
          FOR k1 in 4:
            T2_l[0] = T2_l[0] + T0_g[((k0 * 4) + k1)];
        T1_g[0] = Set(T2_l[0])
        """,
        """
        T2_l[0] = Set(float(0))
        FOR k0 in (ceilDiv(i0, 4)):
          FOR k1 in 4:
            IF (((k0 * 4) + k1) < i0):
              T2_l[0] = T2_l[0] + T0_g[((k0 * 4) + k1)];
        T1_g[0] = Set(T2_l[0])
        """,
    )

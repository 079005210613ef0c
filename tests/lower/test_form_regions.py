"""form_regions: without hardware threads, loops over threads stand around what needs no other."""

from __future__ import annotations

from pass_text import BX, TX, bound, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, MemoryType

NAME = "form_regions"


def negated() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        bound(fd, y, BX, TX)
    return fd


def shared() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.neg(copy)
        fd.add_output(y)
        copy.set_memory_type(MemoryType.shared)
        copy.axis(0).parallelize(BX)
        copy.axis(1).parallelize(TX)
        y.axis(0).parallelize(BX)
        copy.inline_at(1)
    return fd


def test_a_kernel_without_barriers_is_one_region() -> None:
    check_pass(
        negated(),
        NAME,
        """
        T1_g[((bx * 64) + tx)] = -T0_g[((bx * 64) + tx)];
        """,
        """
        BLOCKLOOP parallel:
          THREADLOOP:
            T1_g[((bx * 64) + tx)] = -T0_g[((bx * 64) + tx)];
        """,
        target="cpu",
    )


def test_a_barrier_ends_a_region() -> None:
    check_pass(
        shared(),
        NAME,
        """
        T1_s[tx] = Set(T0_g[((bx * 64) + tx)])
        BLOCKSYNC(war_sync=false)
        IF (tx == 0):
          FOR k0 in 64:
            T2_g[((bx * 64) + k0)] = -T1_s[k0];
        """,
        """
        BLOCKLOOP parallel:
          THREADLOOP:
            T1_s[tx] = Set(T0_g[((bx * 64) + tx)])
          BLOCKSYNC(war_sync=false)
          THREADLOOP:
            IF (tx == 0):
              FOR k0 in 64:
                T2_g[((bx * 64) + k0)] = -T1_s[k0];
        """,
        target="cpu",
    )


def test_registers_that_live_in_two_regions_have_an_element_for_each_thread() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.sum(x, [1])))
        total = fd.fusion.outputs()[0].definition().arg
        total.axis(0).parallelize(BX)
        total.axis(1).parallelize(TX)
        fd.fusion.outputs()[0].axis(0).parallelize(BX)
    check_pass(
        fd,
        NAME,
        """
        T1_l: 1
        T1_l[0] = Set(float(0))
        T1_l[0] = BLOCKREDUCTION(T0_g[((bx * 64) + tx)], op = add, reduced_dims = {x})
        IF (tx == 0):
          T2_g[bx] = -T1_l[0];
        """,
        """
        BLOCKLOOP parallel:
          T1_l: 64
          THREADLOOP:
            T1_l[tx] = Set(float(0))
          T1_l[tx] = BLOCKREDUCTION(T0_g[((bx * 64) + tx)], op = add, reduced_dims = {x})
          THREADLOOP:
            IF (tx == 0):
              T2_g[bx] = -T1_l[tx];
        """,
        target="cpu",
        storage=True,
    )


def test_a_reduction_over_blocks_becomes_two_phases() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([16], contiguity=True)
        y = fd.ops.sum(x, [0])
        fd.add_output(y)
        y.axis(0).parallelize(BX)
    check_pass(
        fd,
        NAME,
        """
        T2_l[0] = Set(float(0))
        T2_l[0] = GRIDREDUCTION(T0_g[bx], op = add, reduced_dims = {x})
        IF last:
          T1_g[0] = Set(T2_l[0])
        """,
        """
        BLOCKLOOP parallel:
          THREADLOOP:
            T2_l[bx] = Set(float(0))
            T3_g[bx] = Set(T0_g[bx])
        BLOCKLOOP parallel:
          THREADLOOP:
            IF (bx == 0):
              T2_l[bx] = T2_l[bx] + T3_g[0];
              FOR k0 in 16 from 1:
                T2_l[bx] = T2_l[bx] + T3_g[k0];
            IF (bx == 0):
              T1_g[0] = Set(T2_l[bx])
        """,
        target="cpu",
    )


def test_where_threads_are_hardware_nothing_is_done() -> None:
    check_unchanged(shared(), NAME, target="cuda")

"""serialize_blocks: blocks take turns around serial reductions over blocks."""

from __future__ import annotations

from pass_text import BX, TX, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition

NAME = "serialize_blocks"


def grid_sum(*, serial: bool) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 64], contiguity=True)
        y = fd.ops.sum(x, [0])
        fd.add_output(y)
        y.axis(0).parallelize(BX)
        y.axis(1).parallelize(TX)
        if serial:
            y.definition().request_serial_grid_reduction()
    return fd


def test_a_wait_and_a_release_stand_around_the_loops_of_a_serial_reduction() -> None:
    check_pass(
        grid_sum(serial=True),
        NAME,
        """
        T2_l[0] = Set(float(0))
        T2_l[0] = GRIDREDUCTION(T0_g[((bx * 64) + tx)], op = add, reduced_dims = {x}, serial)
        T1_g[tx] = Set(T2_l[0])
        """,
        """
        T2_l[0] = Set(float(0))
        BLOCKSERIALIZEWAIT({x})
        T2_l[0] = GRIDREDUCTION(T0_g[((bx * 64) + tx)], op = add, reduced_dims = {x}, serial)
        BLOCKSERIALIZERELEASE({x})
        T1_g[tx] = Set(T2_l[0])
        """,
    )


def test_other_reductions_over_blocks_need_no_turns() -> None:
    check_unchanged(grid_sum(serial=False), NAME)


def test_where_blocks_run_in_phases_they_combine_in_order_anyway() -> None:
    check_unchanged(grid_sum(serial=True), NAME, target="cpu")

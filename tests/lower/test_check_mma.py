"""check_mma: factors are tiles that an instruction multiplies, and threads are its lanes."""

from __future__ import annotations

import pytest
from pass_text import TX, check_refused, check_unchanged
from tensor_core_product import product

NAME = "check_mma"


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_a_product_of_tiles_is_as_it_was(target: str) -> None:
    check_unchanged(product()[0], NAME, target)


def test_blocks_of_other_sizes_than_a_warp_are_refused() -> None:
    fd = product()[0]
    with fd:
        x = fd.define_tensor([64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(0).parallelize(TX)
    check_refused(fd, NAME, "The threads of a block are not the warps that multiply")

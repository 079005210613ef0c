"""The table of operations: one row for every function of ``nvfuser_direct.ops``."""

from __future__ import annotations

import create_rows
import layer_rows
import matmul_rows
import pointwise_rows
import reduction_rows
import shape_rows
import ternary_rows
from case import Operation

FAMILIES = (
    pointwise_rows,
    ternary_rows,
    reduction_rows,
    shape_rows,
    create_rows,
    matmul_rows,
    layer_rows,
)

OPERATIONS: dict[str, Operation] = {
    operation.name: operation for family in FAMILIES for operation in family.rows()
}

# Functions without a row, and why.
LEFT_OUT = {
    "print": "its kernel writes every element to the standard output",
    "fusedMultiplySum": "another name of fused_multiply_sum",
}

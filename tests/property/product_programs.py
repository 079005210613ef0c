"""Fusions whose schedules multiply by tensor cores: rows of two matrices, and what is computed with
their products. `ProductCalls` schedule them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from kernel_operations import KernelOperations
from program_builder import LARGEST, D, Value

from nvfuser_direct import ops

if TYPE_CHECKING:
    from nvfuser_direct import DataType, TensorView

FACTORS = {  # types that tensor cores multiply
    D.BFloat16: torch.bfloat16, D.Half: torch.float16, D.Float: torch.float32, D.Char: torch.int8,
    D.Float8_e4m3fn: torch.float8_e4m3fn, D.Float8_e5m2: torch.float8_e5m2,
}  # fmt: skip
EIGHT_BITS = [D.Float8_e4m3fn, D.Float8_e5m2]
TYPES = [D.BFloat16, D.BFloat16, D.BFloat16, D.Half, D.Half, D.Float, D.Char, *EIGHT_BITS]
WEIGHTS = {
    "smooth": 6, "squashed": 2, "above_one": 1, "rounding": 1, "cast": 2, "arithmetic": 8,
    "with_number": 3, "comparison": 1, "where": 2,
}  # fmt: skip
ROWS = [1, 2, 5, 16, 33, 64, 65, 128, 130]
COLUMNS = [1, 2, 8, 9, 16, 24, 33, 40, 64]
DEPTHS = [16, 32, 48, 80, 144, 208]  # multiples of 16 bytes, of every type


class ProductOperations(KernelOperations):
    """x [m, 1, k] times w [1, n, k] is [m, n], and operations on elements follow."""

    end_rate = 0.35
    in_place = 0.0

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.is_aligned = True
        self.shape = [self.one_of(ROWS), self.one_of(COLUMNS)]
        self.depth = self.one_of(DEPTHS)
        while math.prod(self.shape) > LARGEST:
            self.shape[0] //= 2
        self.product: Value | None = None

    @property
    def kinds(self) -> dict[str, float]:
        return WEIGHTS

    def new_shape(self) -> list[int]:
        return [1, self.shape[1]] if self.chance(0.5) else list(self.shape)

    def define_input(self) -> None:
        """The product first."""
        if self.product is None:
            self.multiply()
        else:
            self.new_input(self.one_of([D.Float, D.Float, D.BFloat16, D.Half]), self.new_shape())

    def factor(self, dtype: DataType, axis: int, *, is_whole: bool) -> TensorView:
        """[m, 1, k] or [1, n, k]: `axis` is that of one element."""
        shape = [*self.shape, self.depth]
        shape[axis] = 1
        if is_whole:
            values = torch.randint(-3, 4, shape, generator=self.generator)
        else:
            values = torch.rand(shape, generator=self.generator, dtype=torch.float64) * 4 - 2
        self.inputs.append(values.to(FACTORS[dtype]))
        has_sizes = self.is_static and 1 not in self.shape
        sizes = [n if has_sizes else -1 for n in shape]
        sizes[axis] = 1
        contiguity = [None if i == axis else True for i in range(3)]
        return self.fd.define_tensor(sizes, contiguity=contiguity, dtype=dtype)

    def multiply(self) -> None:
        """Types of few digits get integers, so that a GPU rounds none of their sums."""
        dtype = self.one_of(TYPES)
        other = self.one_of(EIGHT_BITS) if dtype in EIGHT_BITS else dtype
        is_whole = dtype not in (D.BFloat16, D.Half) or self.chance(0.5)
        x = self.factor(dtype, 1, is_whole=is_whole)
        w = self.factor(other, 0, is_whole=is_whole)
        dtype_of_sum = D.Int32 if dtype == D.Char else D.Float
        if dtype != D.Float:
            x, w = (ops.cast(tensor, dtype_of_sum) for tensor in (x, w))
        total = ops.sum(ops.mul(x, w), [2], dtype=dtype_of_sum)
        bound = 9.0 if is_whole else 4.0
        # Sums of products that are not whole are rounded in an order of the hardware's.
        error = 0.0 if is_whole else bound * self.depth * 2.0**-18
        self.product = self.add(total, self.shape, bound * self.depth, error, is_whole)

    def finish(self) -> None:
        """Something is computed with the product."""
        assert self.product is not None
        last = self.values[-1]
        if last.tensor is self.product.tensor or not self.reads_product(last.tensor):
            scaled = ops.mul(self.product.tensor, 2)
            product = self.product
            self.add(scaled, self.shape, 2 * product.bound, 2 * product.error, product.is_whole)

    def reads_product(self, tensor: TensorView) -> bool:
        assert self.product is not None
        if tensor is self.product.tensor:
            return True
        definition = tensor.definition()
        operands = [] if definition is None else definition.inputs()
        return any(self.reads_product(t) for t in operands if hasattr(t, "definition"))

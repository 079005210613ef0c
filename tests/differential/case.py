"""Operands that an operation is tried on, and the expected results.

A `Case` is a fusion of one operation and the inputs of several runs of it. An `Operation` is a row
of the table in `operations.py`: the cases of each dtype, and calls that must fail.
"""

from __future__ import annotations

import functools
import math
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from float4 import nearest, numbers_of

from nvfuser_direct import DataType, FusionDefinition, define_tensor
from nvfuser_direct.pytorch_utils import torch_dtype_to_nvfuser_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import TensorView, Val

Inputs: TypeAlias = "list[Any]"  # tensors on the CPU, and numbers

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
WIDE = (torch.float32, torch.float64)
FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
E8M0 = (torch.float8_e8m0fnu,)  # powers of two: no sign, no zero
NARROW = (*FP8, *E8M0)
FP4 = (torch.float4_e2m1fn_x2,)  # inside of fusions: see `in_fp4`
FLOATING = (*FLOATS, *NARROW)
INTEGERS = (torch.int64, torch.int32)
UNSIGNED = (torch.uint64,)
WHOLE = (*INTEGERS, *UNSIGNED)
COMPLEX = (torch.complex64, torch.complex128)
NUMBERS = (*FLOATING, *WHOLE)
REAL = (*NUMBERS, torch.bool)
ANY = (*REAL, *COMPLEX)
CONVERTIBLE = tuple(dtype for dtype in ANY if dtype not in NARROW)  # to integers and Bool

SHORT = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Int",
    "int32": "Int32",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "float8_e4m3fn": "Float8_e4m3fn",
    "float8_e5m2": "Float8_e5m2",
    "float8_e8m0fnu": "Float8_e8m0fnu",
    "float4_e2m1fn_x2": "Float4_e2m1fn_x2",
    "uint64": "UInt64",
}


def nvf(dtype: torch.dtype) -> DataType:
    return torch_dtype_to_nvfuser_dtype(dtype)


def name_of(dtype: torch.dtype) -> str:
    return SHORT[str(dtype).removeprefix("torch.")]


@dataclass
class Case:
    """One fusion of an operation, run with several inputs.

    `build` takes `ops` and the operands, `expected` the same operands as tensors and numbers; both
    return one result or several. `check` takes the place of `expected` where no value is right or
    wrong alone; it gets the list of results and the inputs.
    """

    name: str
    build: Callable[..., Any]
    runs: Sequence[Inputs]
    expected: Callable[..., Any] | None = None
    check: Callable[[list[torch.Tensor], Inputs], None] | None = None
    rtol: float | None = None
    atol: float | None = None
    as_given: bool = False  # sizes of 1, strides and expanded dimensions of the first run are known
    static: bool = False  # all sizes are constants
    ordinary: bool = False  # sizes of 1 are not known, even if they are 1 in all runs
    has_kernel: bool = True  # which other cases can share

    def declare(self, fd: FusionDefinition) -> list[TensorView | Val]:
        """Inputs of the fusion, as general as the runs need them."""
        return [self._declare(fd, [run[i] for run in self.runs]) for i in range(len(self.runs[0]))]

    def _declare(self, fd: FusionDefinition, values: list[Any]) -> TensorView | Val:
        first = values[0]
        if not isinstance(first, torch.Tensor):
            return fd.define_scalar(None, dtype=_scalar_dtype(first))
        if self.as_given or (self.static and len(values) == 1):
            tensor = define_tensor(
                sizes=list(first.shape),
                strides=list(first.stride()),
                dtype=nvf(first.dtype),
                static_sizes=self.static,
            )
            fd.fusion.add_input(tensor)
            return tensor
        flags = [_contiguity(v) for v in values]
        sizes, contiguity = [], []
        for dim in range(first.ndim):
            is_one = not self.ordinary and all(v.shape[dim] == 1 for v in values)
            sizes.append(1 if is_one else first.shape[dim] if self.static else -1)
            contiguity.append(None if is_one else all(flag[dim] for flag in flags))
        return fd.define_tensor(sizes, contiguity=contiguity, dtype=nvf(first.dtype))

    def define(self, fd: FusionDefinition) -> int:
        """Add the operation to a fusion; how many outputs it has."""
        results = as_list(self.build(fd.ops, *self.declare(fd)))
        for result in results:
            fd.add_output(result)
        return len(results)


def _scalar_dtype(value: Any) -> DataType:
    if isinstance(value, int) and value >= 2**63:
        return DataType.UInt64
    kinds = {bool: DataType.Bool, int: DataType.Int, float: DataType.Double}
    return kinds.get(type(value), DataType.ComplexDouble)


def _contiguity(tensor: torch.Tensor) -> list[bool]:
    """For every dimension: whether no element is skipped up to the next one."""
    flags, expected = [], 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.stride()), strict=True):
        flags.append(stride == expected or size == 1)
        expected = stride * size
    return flags[::-1]


def as_list(results: Any) -> list[Any]:
    results = list(results) if isinstance(results, tuple | list) else [results]
    return [result for result in results if result is not None]


def in_fp4(case: Case) -> Case:
    """The same on numbers of four bits. Operands and results are Float, and may have odd sizes."""
    element, is_kept = DataType.Float4_e2m1fn, []

    def build(ops: Any, *operands: Any) -> list[Any]:
        narrow = [ops.cast(x, element) if x.dtype() == DataType.Float else x for x in operands]
        results = as_list(case.build(ops, *narrow))
        is_kept[:] = [result.dtype() == element for result in results]
        return [ops.cast(x, DataType.Float) if x.dtype() == element else x for x in results]

    def expected(*operands: Any) -> list[torch.Tensor]:
        assert case.expected is not None
        references = as_list(case.expected(*operands))
        return [nearest(x) if kept else x for x, kept in zip(references, is_kept, strict=True)]

    return replace(case, build=build, expected=expected)


@dataclass
class Refusal:
    """A call that must fail, and a part of its text."""

    text: str
    call: Callable[[FusionDefinition], Any]


@dataclass
class Operation:
    """A row of the table.

    Parameters
    ----------
    cases : callable
        (Samples of the dtype) -> list of cases.
    dtypes : sequence of torch.dtype
        Those of the first operand, the most usual first.
    refusals : list of Refusal
        Calls that must fail.
    left_out : dict
        Dtypes that are not tried, with the reason.
    """

    name: str
    cases: Callable[[Samples], list[Case]]
    dtypes: Sequence[torch.dtype]
    refusals: list[Refusal] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def cases_for(self, dtype: torch.dtype) -> list[Case]:
        samples = Samples(self.name, dtype)
        cases = self.cases(samples)
        return [in_fp4(case) for case in cases] if samples.is_fp4 else cases


class Samples:
    """Tensors of one dtype, the same in every run.

    Attributes
    ----------
    dtype : torch.dtype
        Of the tensors: float32 where these are numbers of four bits.
    is_fp4 : bool
        Whether they are.
    element : DataType
        Of operands of the operation.
    """

    def __init__(self, name: str, dtype: torch.dtype) -> None:
        self.name, self.is_fp4 = name, dtype in FP4
        self.dtype = torch.float32 if self.is_fp4 else dtype
        self.element = DataType.Float4_e2m1fn if self.is_fp4 else nvf(dtype)
        self.generator = torch.Generator().manual_seed(zlib.crc32(f"{name} {dtype}".encode()))

    def tensor(
        self, *shape: int, low: float = -4.0, high: float = 4.0, dtype: torch.dtype | None = None
    ) -> torch.Tensor:
        """Random numbers in [low, high]; integers in it, but half of uint64 are any of 64 bits."""
        if self.is_fp4 and dtype in (None, self.dtype):
            numbers = numbers_of(torch.arange(16))
            numbers = numbers[(numbers >= low) & (numbers <= high)]
            places = torch.randint(len(numbers), shape, generator=self.generator)
            return numbers[places].to(self.dtype)
        dtype = dtype or self.dtype
        if dtype == torch.bool:
            return torch.rand(shape, generator=self.generator) < 0.5
        if not (dtype.is_floating_point or dtype.is_complex):
            least, most = max(int(low), torch.iinfo(dtype).min), int(high)
            numbers = torch.randint(least, most + 1, shape, generator=self.generator)
            if dtype == torch.uint64:
                any_bits = torch.randint(-(2**63), 2**63 - 1, shape, generator=self.generator)
                numbers = torch.where(any_bits % 2 == 0, numbers, any_bits)
            return numbers.to(dtype)
        real = torch.rand(shape, generator=self.generator, dtype=torch.float64)
        real = real * (high - low) + low
        if dtype.is_complex:
            imag = torch.rand(shape, generator=self.generator, dtype=torch.float64)
            return torch.complex(real, imag * (high - low) + low).to(dtype)
        return real.to(dtype)

    def distinct(self, *shape: int) -> torch.Tensor:
        """No value twice along any dimension, as far as the dtype goes."""
        count = torch.Size(shape).numel()
        order = torch.randperm(count, generator=self.generator)
        if self.dtype == torch.bool:
            return (order % 2 == 0).reshape(shape)
        if self.dtype in NARROW:  # by their codes, of positive numbers
            return (order + 1).to(torch.uint8).view(self.dtype).reshape(shape)
        return (order - count // 2).reshape(shape).to(self.dtype)

    def halves(self, *shape: int) -> torch.Tensor:
        """Numbers of one binary digit after the point, of which sums are exact."""
        numbers = self.tensor(*shape)
        if not self.dtype.is_floating_point or self.dtype in E8M0:
            return numbers
        return (torch.round(numbers.double() * 2) / 2).to(self.dtype)

    def positions(self, *shape: int, below: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        return torch.randint(0, max(below, 1), shape, generator=self.generator).to(dtype)

    def views(self, **bounds: float) -> list[torch.Tensor]:
        """Matrices of every layout: odd, empty, single, large, permuted, sliced, expanded."""
        return [
            self.tensor(3, 5, **bounds),
            self.tensor(0, 4, **bounds),
            self.tensor(1, 1, **bounds),
            self.tensor(7, 3, **bounds).T,
            self.tensor(9, 13, **bounds)[::2, 3:],
            self.tensor(1, 17, **bounds).expand(5, 17),
            self.tensor(33, 1, **bounds).expand(33, 31),
            self.tensor(2, 0, **bounds),
            self.tensor(317, 331, **bounds),
        ]

    def special(self) -> torch.Tensor:
        """Values at the ends of the dtype and where functions change, [2, n]."""
        if self.is_fp4:
            return numbers_of(torch.arange(32).reshape(2, 16) % 16).to(self.dtype)
        return _special(self.dtype)


def _special(dtype: torch.dtype) -> torch.Tensor:
    if dtype == torch.bool:
        return torch.tensor([[False, True], [True, True]])
    if dtype.is_complex:
        parts = [0.5, -0.25, 2.0, -3.0, 1.5]
        values = [complex(re, im) for re in parts for im in parts]
        return torch.tensor([values, values[::-1]], dtype=dtype)
    if dtype in E8M0:
        powers = torch.tensor([2.0**n for n in (0, -127, -126, -1, 1, 2, 7, 126, 127)] + [math.nan])
        return torch.stack([powers, powers.flip(0)]).to(dtype)
    if dtype.is_floating_point:
        inf, info = math.inf, torch.finfo(dtype)
        small = info.smallest_normal
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -1.5, 3.0, 7.0, info.max, info.min, small]
        if dtype in FP8:
            values += [math.nan, small / 2, info.eps]
        else:
            values += [inf, -inf, float("nan"), small / 4, -small / 4, info.eps, 1 + info.eps]
        tensor = torch.tensor(values, dtype=torch.float64)
        return torch.stack([tensor, tensor.flip(0)]).to(dtype)
    info = torch.iinfo(dtype)
    values = [0, 1, 2, 31, 63, 100, info.max, info.min, info.max - 1, info.min + 1]
    values += [-1, -3] if info.min < 0 else [2**63 - 1, 2**63]
    return torch.tensor([values, values[::-1]], dtype=dtype)


# ---- What a result is computed in ----------------------------------------------------------------


def widened(dtype: torch.dtype) -> torch.dtype:
    """Floats of 16 and fewer bits compute in Float."""
    is_low = dtype.is_floating_point and dtype.itemsize < 4
    return torch.float32 if is_low else dtype


def as_float(dtype: torch.dtype) -> torch.dtype:
    """Integers and Bool become Float."""
    return widened(dtype) if dtype.is_floating_point or dtype.is_complex else torch.float32


def exact(tensor: torch.Tensor) -> torch.Tensor:
    """In the widest type of its class."""
    if tensor.dtype.is_complex:
        return tensor.to(torch.complex128)
    return tensor.to(torch.float64) if tensor.dtype.is_floating_point else tensor


def is_number(value: Any) -> bool:
    return not isinstance(value, torch.Tensor)


def common_dtype(*operands: Any) -> torch.dtype:
    """The dtype of the result: tensors decide before 0-dim tensors, these before numbers."""
    tensors = [operand for operand in operands if not is_number(operand)]
    dtype: torch.dtype | None = None
    for group in ([t for t in tensors if t.ndim > 0], [t for t in tensors if t.ndim == 0]):
        if group:
            merged = functools.reduce(torch.promote_types, [t.dtype for t in group])
            dtype = merged if dtype is None else _merged(dtype, torch.empty((), dtype=merged))
    assert dtype is not None
    for number in (operand for operand in operands if is_number(operand)):
        dtype = _merged(dtype, number)
    return widened(dtype)


def _merged(strong: torch.dtype, weak: Any) -> torch.dtype:
    """Python's floats are Double beside integers, where PyTorch has them as Float."""
    is_whole = not (strong.is_floating_point or strong.is_complex)
    if is_whole and isinstance(weak, float | complex):
        return torch.float64 if isinstance(weak, float) else torch.complex128
    return torch.result_type(torch.empty(1, dtype=strong), weak)


def converted(dtype: torch.dtype, *operands: Any) -> list[torch.Tensor]:
    """Operands as tensors of a dtype, held in the widest type of its class."""
    return [
        exact((torch.tensor(operand) if is_number(operand) else operand).to(dtype))
        for operand in operands
    ]

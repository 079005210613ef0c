"""Every operation, for every type it takes: executing the translation defines the same fusion."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import pytest
import torch
from round_trip import check_round_trip, check_same_results

import nvfuser_direct
from nvfuser_direct import DataType, FusionDefinition, ops

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView, Val

DTYPES = {
    DataType.Float: torch.float32,
    DataType.Double: torch.float64,
    DataType.Half: torch.float16,
    DataType.BFloat16: torch.bfloat16,
    DataType.Int: torch.int64,
    DataType.Int32: torch.int32,
    DataType.Bool: torch.bool,
    DataType.ComplexFloat: torch.complex64,
    DataType.ComplexDouble: torch.complex128,
}
NUMBERS = [True, 3, -2.75, 0.1 + 0.2, float("nan"), float("-inf"), -0.0, 1 - 0.5j]

# Names that have no translation, by the contract, and names of what makes no expression.
UNTRANSLATABLE = {"bitceil", "print", "bitcast"}
NO_EXPRESSION = {"size", "shape"}

UNARY = """abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh erf erfc erfcinv
    erfinv exp exp2 expm1 floor frac gelu imag isfinite isinf isnan isneginf isposinf isreal
    lgamma log log10 log1p log2 logical_not neg real reciprocal relu round rsqrt segment_set set
    sigmoid sign signbit silu sin sinh sqrt tan tanh tanh_gelu trunc leaky_relu
    softplus""".split()
BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
    ceilDiv ceil_div complex div eq fmod gcd ge gt le logical_and logical_or logical_right_shift
    lt maximum minimum mod mul ne nextafter pow remainder sub truediv""".split()
TERNARY = ["lerp", "where", "clamp", "threshold", "add_alpha", "sub_alpha"]


class Definition:
    """Calls operations and registers every result; one that refuses its operands is left out."""

    def __init__(self, fd: FusionDefinition) -> None:
        self.fd = fd
        self.count = 0

    def add(self, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        try:
            result = operation(*args, **kwargs)
        except (RuntimeError, TypeError):
            return
        for value in result if isinstance(result, tuple) else (result,):
            self.count += 1
            self.fd.add_output(value if value.is_tensor() else self.shown(value))

    def shown(self, scalar: Val) -> TensorView:
        """Outputs are tensors."""
        return ops.full([2], scalar, scalar.dtype())


def check(fd: FusionDefinition, inputs: list[Any] | None = None) -> None:
    second = check_round_trip(fd.fusion)
    if inputs is None:
        return
    try:
        nvfuser_direct.evaluate(fd.fusion, inputs)
    except (RuntimeError, NotImplementedError, TypeError):
        return  # PyTorch lacks the operation for the type
    check_same_results(fd.fusion, second, inputs)


def values(dtype: DataType, sizes: list[int]) -> torch.Tensor:
    return torch.arange(1, 1 + torch.Size(sizes).numel()).reshape(sizes).to(DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_operations_on_one_operand(name: str, dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        tensor = fd.define_tensor([-1, 4], contiguity=True, dtype=dtype)
        zero_dim = fd.define_tensor([], dtype=dtype)
        scalar = fd.define_scalar(dtype)
        for operand in (tensor, zero_dim, scalar, 2, -0.5, True, 1 + 2j):
            definition.add(getattr(ops, name), operand)
    if definition.count > 0:
        number: Any = {"Bool": True, "Int": 3, "Int32": 3}.get(dtype.name, 0.5)
        check(fd, [values(dtype, [3, 4]), values(dtype, []), number])


@pytest.mark.parametrize(
    ("left", "right"),
    itertools.product(DTYPES, DTYPES),
    ids=lambda dtype: dtype.name,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_operations_on_two_operands(left: DataType, right: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        a = fd.define_tensor([-1, 4], contiguity=True, dtype=left)
        b = fd.define_tensor([4], contiguity=True, dtype=right)
        zero_dim = fd.define_tensor([], dtype=right)
        x, y = fd.define_scalar(left), fd.define_scalar(right)
        pairs = [(a, b), (a, zero_dim), (a, y), (x, b), (x, y), (a, a), (zero_dim, y)]
        for name in BINARY:
            for pair in pairs:
                definition.add(getattr(ops, name), *pair)
    check(fd)


@pytest.mark.parametrize("number", NUMBERS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_constant_operands(dtype: DataType, number: Any) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        a = fd.define_tensor([-1, 4], contiguity=True, dtype=dtype)
        x = fd.define_scalar(dtype)
        try:
            named = fd.define_scalar(number, dtype)
        except ValueError:
            named = fd.define_scalar(1, dtype)
        for name in BINARY:
            for pair in [(a, number), (number, a), (x, number), (a, named), (number, number)]:
                definition.add(getattr(ops, name), *pair)
        for name in TERNARY:
            definition.add(getattr(ops, name), a, number, named)
            definition.add(getattr(ops, name), a, number, x)
            definition.add(getattr(ops, name), x, x, number)
    check(fd)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_operations_on_three_operands(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        a = fd.define_tensor([-1, 4], contiguity=True, dtype=dtype)
        b = fd.define_tensor([4], contiguity=True, dtype=dtype)
        condition = fd.define_tensor([4], contiguity=True, dtype=DataType.Bool)
        x = fd.define_scalar(dtype)
        for name in TERNARY:
            for operands in itertools.product((a, b, x, condition), repeat=3):
                definition.add(getattr(ops, name), *operands)
        definition.add(ops.addcmul, a, b, a, x)
        definition.add(ops.addcmul, a, b, a, 2)
        for low, high in [(None, x), (x, None), (None, None)]:
            definition.add(ops.clamp, a, low, high)
    check(fd)


@pytest.mark.parametrize("target", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("source", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_cast(source: DataType, target: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        definition.add(ops.cast, fd.define_tensor([4], dtype=source), target)
        definition.add(ops.cast, fd.define_scalar(source), target)
        definition.add(ops.cast, 1, target)
    check(fd, [values(source, [4]), 1])


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "fmax", "fmin"])
def test_reductions(name: str, dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor([-1, 1, 4, 5], contiguity=[True, None, None, True], dtype=dtype)
        empty = fd.define_tensor([0, -1], dtype=dtype)
        operation = getattr(ops, name)
        for dims in ([0], [1], [2], [-1], [0, 1, 2, 3], [1, 3], [0, 2]):
            for keepdim in (False, True):
                definition.add(operation, arg, dims, keepdim)
                definition.add(operation, arg, dims, keepdim, DataType.Double)
        definition.add(operation, arg)
        definition.add(operation, fd.define_tensor([], dtype=dtype))
        definition.add(operation, empty, [0])
        definition.add(operation, empty, [0], True)
    expanded = values(dtype, [3, 1, 1, 5]).expand(3, 1, 4, 5)
    check(fd, [expanded, values(dtype, [0, 2]), values(dtype, [])])


@pytest.mark.parametrize("dtype", [DataType.Float, DataType.Double, DataType.ComplexFloat])
@pytest.mark.parametrize("keepdim", [False, True])
def test_moments(dtype: DataType, keepdim: bool) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor([-1, 1, 4], contiguity=True, dtype=dtype)
        for dims in ([0], [1], [0, 2], [0, 1, 2]):
            definition.add(ops.mean, arg, dims, keepdim)
            definition.add(ops.welford, arg, dims)
            for correction in (0, 1):
                for operation in (ops.var, ops.var_mean, ops.standard_deviation):
                    definition.add(operation, arg, dims, correction, keepdim)
    assert definition.count > 20
    check(fd, [values(dtype, [3, 1, 4])])


@pytest.mark.parametrize("dtype", [DataType.Float, DataType.BFloat16])
def test_layers(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor([-1, 4], contiguity=True, dtype=dtype)
        weight = fd.define_tensor([4], contiguity=True, dtype=dtype)
        definition.add(ops.softmax, arg, 1)
        definition.add(ops.log_softmax, arg, 0)
        definition.add(ops.layer_norm, arg, 1, weight, weight)
        definition.add(ops.layer_norm, arg, 2, None, None, 1e-3)
        definition.add(ops.rms_norm, arg, 1, weight)
        definition.add(ops.triu, arg, fd.define_scalar(DataType.Int))
        definition.add(ops.triu, arg, -1)
    assert definition.count == 3 + 3 + 2 + 2 + 2
    check(fd, [values(dtype, [3, 4]), values(dtype, [4]), 1])


@pytest.mark.parametrize("sizes", [[2, 1, 3, 4], [-1, 1, 3, 4], [-1, 1, -1, 4]], ids=str)
def test_shapes(sizes: list[int]) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor(sizes, contiguity=True)
        m = fd.define_scalar(DataType.Int)
        n = fd.define_scalar(DataType.Index)
        size = arg.size(0)
        squeezed = ops.squeeze(arg, [1])
        for operation, *args in [
            (ops.squeeze, arg, [1]),
            (ops.squeeze, ops.expand(arg, [-1, 5, -1, -1]), [1], True),
            (ops.unsqueeze, arg, -2),
            (ops.broadcast, arg, [True, False, False, True, False, False]),
            (ops.broadcast_in_dim, squeezed, [size, 7, arg.size(2), 4], [0, 2, 3]),
            (ops.expand, arg, [-1, m, -1, 4]),
            (ops.expand, arg, [6, -1, n, 5, -1, -1]),
            (ops.expand, ops.expand(arg, [-1, 5, -1, -1]), [size, -1, -1, 4]),
            (ops.expand_as, ops.broadcast(fd.define_tensor([4]), [True, False]), squeezed),
            (ops.permute, arg, [3, 1, 0, 2]),
            (ops.transpose, arg, 0, -1),
            (ops.transpose, ops.sum(arg, [1, 2])),
            (ops.stride_order, arg, [0, 1, 2, 3]),
            (ops.stride_order, arg, [3, 2, 1, 0]),
            (ops.reshape, arg, [size, arg.size(2), 2, 2]),
            (ops.reshape, arg, [size, 1, -1]),
            (ops.reshape, arg, [-1, 2]),
            (ops.flatten, arg),
            (ops.flatten, arg, 1, 2),
            (ops.flatten, ops.expand(arg, [-1, 5, -1, -1]), 0, 1),
            (ops.set, arg),
        ]:
            definition.add(operation, *args)
        flat = ops.flatten(arg)
        definition.add(ops.zeros_like, flat)
        definition.add(ops.full, [flat.size(0), 2], m, DataType.Float)
        definition.add(ops.expand, ops.full([1], 1.0, DataType.Float), [flat.size(0)])
    assert definition.count >= 22
    check(fd)


def test_a_reshape_keeps_the_sizes_it_is_given() -> None:
    with FusionDefinition() as fd:
        arg = fd.define_tensor([-1, 6], contiguity=True)
        size = ops.mul(arg.size(0), fd.define_scalar(2, DataType.Index))
        result = ops.reshape(arg, [size, 3])
        assert result.size(0) is size
        fd.add_output(ops.add(result, ops.full([size, 3], 1.0, DataType.Float)))
        quotient = ops.ceilDiv(ops.mul(arg.size(0), 6), 2)
        fd.add_output(ops.reshape(arg, [quotient, 2]))
    check(fd)


def test_reshape_of_single_elements() -> None:
    with FusionDefinition() as fd:
        arg = fd.define_tensor([1, 1], contiguity=True)
        fd.add_output(ops.reshape(arg, []))
        fd.add_output(ops.reshape(fd.define_tensor([]), [1, 1, 1]))
        fd.add_output(ops.reshape(fd.define_tensor([0, 4]), [7, 0]))
        ordinary = ops.expand(fd.define_tensor([-1]), [1])  # one element, and no broadcast
        fd.add_output(ops.reshape(ordinary, []))
    check(fd)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_created_tensors(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor([-1, 1, 8], contiguity=[True, None, None])
        m, x = fd.define_scalar(DataType.Int), fd.define_scalar(dtype)
        for value in (x, *NUMBERS):
            definition.add(ops.full, [2, 1, 0, m, arg.size(0)], value, dtype)
            definition.add(ops.full_like, arg, value, dtype)
        definition.add(ops.zeros, [m, 3], dtype)
        definition.add(ops.ones, [], dtype)
        definition.add(ops.zeros_like, arg)
        definition.add(ops.ones_like, arg)
        definition.add(ops.iota, 5, dtype=dtype)
        definition.add(ops.iota, m, 2, -3, dtype)
        definition.add(ops.iota, arg.size(0), 0.5, 0.25, dtype)
        definition.add(ops.iota, 5, x, x, dtype)
        definition.add(ops.arange, 1, m, 2, dtype)
        definition.add(ops.arange, x, ops.add(x, 4), 1, dtype)
    assert definition.count >= 6
    check(fd)


def test_every_operation_is_tested_here() -> None:
    with open(__file__) as file:
        tested = file.read()
    missing = [
        name
        for name in dir(ops)
        if not name.startswith("_")
        and name not in {*UNARY, *BINARY, *TERNARY, *UNTRANSLATABLE, *NO_EXPRESSION}
        and re.search(rf"""(ops\.|"){name}\b""", tested) is None
    ]
    assert missing == []

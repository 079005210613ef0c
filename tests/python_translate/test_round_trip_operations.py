"""Every operation, for every type it takes: executing the translation defines the same fusion."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from round_trip import check_round_trip, check_same_results

import nvfuser_direct
from nvfuser_direct import BinaryOpType, DataType, FusionDefinition, ops

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView, Val

pytestmark = pytest.mark.filterwarnings("ignore:Casting a complex value to a real type")

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
    ceilDiv ceil_div complex div eq floor_divide fmod gcd ge gt le logical_and logical_or
    logical_right_shift lt maximum minimum mod mul ne nextafter pow remainder sub truediv""".split()
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
    [*itertools.product(DTYPES, DTYPES)],
    ids=lambda dtype: dtype.name,
)
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


def test_dynamic_shapes() -> None:
    with FusionDefinition() as fd:
        arg = fd.define_tensor([-1, 6], contiguity=True)
        n, m = fd.define_vector(2)
        k = fd.define_scalar(DataType.Index)
        halves = ops.reshape(arg, [2, -1])
        fd.add_output(halves)
        fd.add_output(ops.reshape(arg, [n, ops.div(arg.size(0), n), -1]))
        fd.add_output(ops.reshape(arg, (k, 2, m)))
        wide = ops.expand(ops.reshape(arg, [-1, 5]), [n, m])
        fd.add_output(ops.reshape(wide, [ops.mul(n, m)]))
        fd.add_output(ops.expand(fd.define_tensor([-1]), [k]))
        fd.add_output(ops.sum(ops.full([n, m], 1.0, DataType.Float), [1]))
        fd.add_output(ops.reshape(fd.define_tensor([-1, -1]), [4, 3], [3, -1]))
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


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("size", [6, -1])
def test_parts_and_surroundings(size: int, dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor([size, 1, 4], contiguity=True, dtype=dtype)
        start, stop = fd.define_scalar(DataType.Int), fd.define_scalar(DataType.Int)
        value = fd.define_scalar(dtype)
        n = arg.size(0)
        expanded = ops.expand(arg, [-1, 3, -1])
        for operation, *args in [
            (ops.slice, arg, [1, 0, 0], [4, 1, 4]),
            (ops.slice, arg, [0, 0, 0], [4, 1, 4]),
            (ops.slice, arg, [0, 0, 0], [n, 1, 3]),
            (ops.slice, arg, [start, 0, 1], [stop, 1, 2], [1, 1, 1]),
            (ops.slice, arg, [0, 0, 0], [stop, 0, 4]),
            (ops.slice, arg, [start, 0, 0], [n, 1, 4]),
            (ops.slice, arg, [start, 0, 0], [stop, 1, 4], None, True),
            (ops.slice, arg, [0, 0, 0], [stop, 1, 4], None, True),
            (ops.slice, expanded, [1, 1, 1], [4, 2, 2]),
            (ops.pad, arg, [1, 2]),
            (ops.pad, arg, [-1, 0, 2, 3, start, 1], value),
            (ops.pad, expanded, [0, 0, 1, 1]),
            (ops.cat, [arg, arg], 0),
            (ops.cat, [arg, ops.slice(arg, [1, 0, 0], [4, 1, 4]), arg], 0),
            (ops.cat, [arg, expanded], 1),
            (ops.cat, [ops.pad(arg, [0, 3]), ops.pad(arg, [4, -1])], 2, True),
            (ops.repeat, arg, [2, 3, 1]),
            (ops.repeat, arg, [1, 1, 5]),
            (ops.repeat, ops.slice(arg, [0, 0, 0], [0, 1, 4]), [2, 1, 3]),
            (ops.view_as_real, arg),
        ]:
            definition.add(operation, *args)
        if size > 0:
            for part in ops.chunk(arg, 4):
                fd.add_output(part)
    assert definition.count >= 17
    number: Any = {"Bool": True, "Int": 3, "Int32": 3}.get(dtype.name, 0.5)
    check(fd, [values(dtype, [6, 1, 4]), 1, 4, number])


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_scans_and_searches(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor([-1, 1, 4], contiguity=True, dtype=dtype)
        zero_dim = fd.define_tensor([], dtype=dtype)
        k, x = fd.define_scalar(DataType.Int), fd.define_scalar(dtype)
        for operation in (ops.cumsum, ops.cumprod, ops.cummin, ops.cummax):
            for init in (None, 2, 0.5, 0, x, ops.mul(x, x)):
                definition.add(operation, arg, 0, init)
                definition.add(operation, arg, -2, init)
        for op in (BinaryOpType.FMax, BinaryOpType.FMin):
            definition.add(ops.scan, arg, 2, op)
            definition.add(ops.scan, arg, 0, op, x)
        for flags in itertools.product((False, True), repeat=2):
            definition.add(ops.topk, arg, 2, 2, *flags)
            definition.add(ops.topk, arg, k, 0, *flags)
            definition.add(ops.argsort, arg, -1, *flags)
        definition.add(ops.topk, arg, 4)
        definition.add(ops.topk, arg, 1, 1)
        definition.add(ops.topk, zero_dim, 1, 0)
        definition.add(ops.argsort, zero_dim, -1)
    number: Any = {"Bool": True, "Int": 3, "Int32": 3}.get(dtype.name, 0.5)
    assert definition.count >= (24 if dtype.name.startswith("Complex") else 60)
    check(fd, [values(dtype, [5, 1, 4]), values(dtype, []), 2, number])


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_positions_that_a_tensor_holds(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor([-1, 1, 4], contiguity=True, dtype=dtype)
        index = fd.define_tensor([-1, 1, 4], contiguity=True, dtype=DataType.Int)
        row = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int32)
        zero_dim = fd.define_tensor([], dtype=DataType.Int)
        n, x = fd.define_scalar(DataType.Int), fd.define_scalar(dtype)
        for position in (n, 0, zero_dim, ops.add(n, 0)):
            definition.add(ops.select, arg, position, 2)
        for positions in (row, zero_dim):
            definition.add(ops.index_select, arg, positions, 0)
            definition.add(ops.index_select, arg, positions, -1)
        for dim in (0, 2):
            definition.add(ops.gather, arg, index, dim)
            definition.add(ops.take_along_axis, arg, index, dim)
            for src in (arg, x, 2, True, -0.5):
                definition.add(ops.scatter, arg, index, src, dim)
                definition.add(ops.scatter, arg, index, src, dim, BinaryOpType.Max)
        definition.add(ops.gather, index, index, 0)
        definition.add(ops.index_put_accumulate, arg, row, arg)
        definition.add(ops.indexPutAccumulate, arg, row, arg)
        table = ops.squeeze(arg, [1])
        definition.add(ops.embedding_fwd, row, table)
        definition.add(ops.embedding_fwd, row, table, 1, 2.0, 1.0, True, False)
        definition.add(ops.embedding_fwd, index, table, n, norm_type=2)
    assert definition.count == 38
    number: Any = {"Bool": True, "Int": 3, "Int32": 3}.get(dtype.name, 0.5)
    check(
        fd,
        [
            values(dtype, [5, 1, 4]),
            values(DataType.Int, [1, 1, 4]) % 4 % 5,
            values(DataType.Int32, [5]) % 4,
            torch.tensor(1),
            1,
            number,
        ],
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_random_tensors(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        arg = fd.define_tensor([-1, 1, 4], contiguity=True, dtype=dtype)
        n, x = fd.define_scalar(DataType.Int), fd.define_scalar(DataType.Double)
        shapes: list[Any] = [[], [3, 1, n], arg.shape()]
        for operation, shape in itertools.product((ops.uniform, ops.normal), shapes):
            for low, high in ((0, 1), (0.0, 1.0), (-1, 2.5), (x, ops.add(x, 1.0))):
                definition.add(operation, low, high, shape, rng_seed=7, rng_offset=n, dtype=dtype)
        check(fd, [values(dtype, [5, 1, 4]), 3, 0.5])
        for operation in (ops.rand, ops.randn):
            definition.add(operation, [2, n], dtype)
            definition.add(operation, [2, n], dtype, 1, 2)
        definition.add(ops.rand_like, arg)
        definition.add(ops.randn_like, arg)
        definition.add(ops.uniform, -1, x, [n], dtype=dtype)
    is_drawn = dtype in (DataType.Double, DataType.Float, DataType.Half, DataType.BFloat16)
    assert definition.count == (31 if is_drawn else 0)
    check(fd)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_given_elements(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        definition = Definition(fd)
        n, x = fd.define_scalar(DataType.Int), fd.define_scalar(dtype)
        definition.add(ops.eye, 4, dtype=dtype)
        definition.add(ops.eye, n, 1, dtype)
        definition.add(ops.eye, n, ops.mul(n, 2), dtype)
        definition.add(ops.tensor, x)
        definition.add(ops.tensor, [x, x])
        definition.add(ops.tensor, [[[1], [x]], [[ops.mul(x, x)], [True]]])
        definition.add(ops.tensor, [[1, 2, 3]], dtype)
    assert definition.count == 7
    number: Any = {"Bool": True, "Int": 3, "Int32": 3}.get(dtype.name, 0.5)
    check(fd, [3, number])


def test_the_order_of_grids() -> None:
    with FusionDefinition() as fd:
        x, older = (fd.define_tensor([-1, -1], contiguity=True) for _ in range(2))
        y = ops.add(ops.wait_for_prior_grid([x, older]), older)
        fd.add_output(y)
        fd.add_output(ops.launch_dependent_grid([ops.neg(y), y]))
    check(fd, [torch.randn(2, 3), torch.randn(2, 3)])


def test_every_operation_is_tested_here() -> None:
    folder = Path(__file__).parent
    tested = "".join(path.read_text() for path in folder.glob("test_round_trip_*.py"))
    missing = [
        name
        for name in dir(ops)
        if not name.startswith("_")
        and name not in {*UNARY, *BINARY, *TERNARY, *UNTRANSLATABLE, *NO_EXPRESSION}
        and re.search(rf"""(ops\.|"){name}\b""", tested) is None
    ]
    assert missing == []

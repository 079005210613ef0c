"""The exact text of translations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from round_trip import check_round_trip, lines_of, rebuilt

from nvfuser_direct import (
    DataType,
    Fusion,
    FusionDefinition,
    FusionGuard,
    call_with_options,
    define_tensor,
    equal_up_to_numbering,
    ops,
    translate_fusion,
)

if TYPE_CHECKING:
    from collections.abc import Callable

X_LINE = (
    "tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], "
    "dtype=DataType.Float, is_cpu=False)"
)


def defined(define: Callable[[FusionDefinition], None]) -> Fusion:
    with FusionDefinition() as fd:
        define(fd)
    check_round_trip(fd.fusion)
    return fd.fusion


def define_x(fd: FusionDefinition) -> Any:
    return fd.define_tensor([-1, -1], contiguity=True)


def test_first_documented_example() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half)
        y = fd.ops.mul(x, 2.0)
        z = fd.ops.max(y, 1, keepdim=True)
        fd.add_output(z)
    text = """\
def nvfuser_fusion(fd: FusionDefinition) -> None:
    tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half, \
is_cpu=False)
    tv1 = fd.ops.cast(tv0, dtype=DataType.Float)
    tv2 = fd.ops.mul(tv1, 2.00000)
    tv3 = fd.ops.max(tv2, dims=[1])
    tv4 = fd.ops.broadcast(tv3, is_broadcast_dim=[False, True])
    fd.add_output(tv4)
"""
    assert translate_fusion(fd.fusion) == repr(fd) == str(fd) == text
    # Every statement was made in the order of the text: the numbers are the same.
    assert rebuilt(text).fusion == fd.fusion


def test_second_documented_example() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=[True])
        n = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.reshape(x, [n, -1]))
        fd.add_output(fd.ops.add(x, 1.0), x)
    text = """\
def nvfuser_fusion(fd: FusionDefinition) -> None:
    tv0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)
    c0 = fd.define_scalar(None, dtype=DataType.Int)
    tv1 = fd.ops.add(tv0, 1.00000)
    c1 = fd.ops.cast(c0, dtype=DataType.Index)
    c2 = fd.ops.size(tv0, dim=0)
    c3 = fd.ops.div(c2, c0)
    tv2 = fd.ops.reshape(tv0, new_shape=[c1, c3])
    fd.add_output(tv2)
    fd.add_output(tv1, tv0)
"""
    assert translate_fusion(fd.fusion) == text
    check_round_trip(fd.fusion)


def test_a_size_of_fewer_bits_is_cast_before_it_divides() -> None:
    def define(fd: FusionDefinition) -> None:
        n, m = fd.define_scalar(DataType.Int32), fd.define_scalar(DataType.Int32)
        fd.add_output(ops.reshape(fd.define_tensor([-1], contiguity=True), [n, -1, m]))

    *casts, product = lines_of(defined(define))[3:6]
    names = [cast.split(" = ")[0] for cast in casts]
    assert [cast.split(" = ")[1] for cast in casts] == [
        "fd.ops.cast(c0, dtype=DataType.Index)",
        "fd.ops.cast(c1, dtype=DataType.Index)",
    ]
    assert product.endswith(f" = fd.ops.mul({names[0]}, {names[1]})")


def test_a_reshape_waits_for_its_sizes_and_others_go_first() -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, 4, 6], contiguity=True)
        y = ops.flatten(x, 0, 1)
        fd.add_output(y)
        fd.add_output(ops.add(x, 1.0), x)

    assert lines_of(defined(define)) == [
        "tv0 = fd.define_tensor(shape=[-1, 4, 6], contiguity=[True, True, True], "
        "dtype=DataType.Float, is_cpu=False)",
        "tv1 = fd.ops.add(tv0, 1.00000)",
        "c0 = fd.ops.size(tv0, dim=0)",
        "c1 = fd.ops.mul(c0, 4)",
        "tv2 = fd.ops.reshape(tv0, new_shape=[c1, 6])",
        "fd.add_output(tv2)",
        "fd.add_output(tv1, tv0)",
    ]


def test_constants_of_what_waits_come_after_what_does_not() -> None:
    # In what the text defines `abs` is first, and the text of that must be the same.
    def define(fd: FusionDefinition) -> None:
        x = define_x(fd)
        fd.add_output(ops.maximum(ops.flatten(x, 0, 1), fd.define_scalar(2.5, DataType.Float)))
        fd.add_output(ops.abs(x))

    assert lines_of(defined(define)) == [
        X_LINE,
        "tv1 = fd.ops.abs(tv0)",
        "c0 = fd.define_scalar(2.50000, dtype=DataType.Float)",
        "c1 = fd.ops.size(tv0, dim=0)",
        "c2 = fd.ops.size(tv0, dim=1)",
        "c3 = fd.ops.mul(c1, c2)",
        "tv2 = fd.ops.reshape(tv0, new_shape=[c3])",
        "tv3 = fd.ops.maximum(tv2, c0)",
        "fd.add_output(tv3)",
        "fd.add_output(tv1)",
    ]


def sign_that_waits_beside_a_slice(fd: FusionDefinition) -> None:
    x, y = define_x(fd), fd.define_tensor([-1], contiguity=True)
    fd.add_output(ops.sign(ops.flatten(x, 0, 1)))
    fd.add_output(ops.slice(y, [0], [188]))


def cat_that_waits_beside_a_cast(fd: FusionDefinition) -> None:
    n = fd.define_scalar(DataType.Int)
    x = fd.define_tensor([-1, -1, -1], contiguity=True)
    flat = ops.flatten(x, 1, 2)
    fd.add_output(ops.mul(ops.cat([flat, flat, flat], 0), n))
    fd.add_output(ops.cast(x, DataType.Double))


def test_an_expansion_to_equal_constants_is_a_copy() -> None:
    def define(fd: FusionDefinition) -> None:
        x, y = (fd.define_tensor([1, 3], contiguity=[None, True]) for _ in range(2))
        fd.add_output(ops.expand_as(x, y))

    assert lines_of(defined(define))[2] == "tv2 = fd.ops.cast(tv0, dtype=DataType.Float)"


@pytest.mark.parametrize("define", [sign_that_waits_beside_a_slice, cat_that_waits_beside_a_cast])
def test_what_waits_has_the_same_text_again(define: Callable[[FusionDefinition], None]) -> None:
    check_round_trip(defined(define))


def test_an_int_scalar_as_a_size_is_cast() -> None:
    def define(fd: FusionDefinition) -> None:
        n = fd.define_scalar(DataType.Int)
        fd.add_output(ops.expand(fd.define_tensor([1], [None]), [n]))

    assert lines_of(defined(define)) == [
        "c0 = fd.define_scalar(None, dtype=DataType.Int)",
        "tv0 = fd.define_tensor(shape=[1], contiguity=[None], dtype=DataType.Float, is_cpu=False)",
        "c1 = fd.ops.cast(c0, dtype=DataType.Index)",
        "tv1 = fd.ops.expand(tv0, shape=[c1])",
        "fd.add_output(tv1)",
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"shape": [-1, 4], "contiguity": [True, True]},
            "shape=[-1, 4], contiguity=[True, True], dtype=DataType.Float, is_cpu=False",
        ),
        (
            {
                "shape": [-1, 1, 8],
                "contiguity": [True, True, None],
                "dtype": DataType.Half,
                "stride_order": [2, 0, 1],
            },
            "shape=[-1, 1, 8], contiguity=[True, True, None], dtype=DataType.Half, is_cpu=False, "
            "stride_order=[2, 0, 1]",
        ),
        (
            {"shape": [5, -1], "contiguity": [None, None], "stride_order": [1, 0]},
            "shape=[5, -1], contiguity=[None, None], dtype=DataType.Float, is_cpu=False",
        ),
        (
            {"shape": [], "contiguity": [], "dtype": DataType.Double, "is_cpu": True},
            "shape=[], contiguity=[], dtype=DataType.Double, is_cpu=True",
        ),
        (
            {"shape": [3, 8], "contiguity": True, "dtype": DataType.Float4_e2m1fn_x2},
            "shape=[3, 16], contiguity=[True, True], dtype=DataType.Float4_e2m1fn, is_cpu=False",
        ),
    ],
)
def test_tensors(arguments: dict[str, Any], text: str) -> None:
    fusion = defined(lambda fd: fd.add_output(fd.define_tensor(**arguments)))
    assert lines_of(fusion) == [f"tv0 = fd.define_tensor({text})", "fd.add_output(tv0)"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (False, "False"),
        (-7, "-7"),
        (-(2**63), "-9223372036854775808"),
        (3.0, "3.00000"),
        (-0.0, "-0.00000"),
        (0.1, "0.100000"),
        (1e-5, "1.00000e-05"),
        (1e300, "1.00000e+300"),
        (5e-324, "4.94066e-324"),
        (123456.0, "123456."),
        (12345678.0, "12345678.0"),
        (1234567.5, "1234567.5"),
        (0.1 + 0.2, "0.30000000000000004"),
        (float("inf"), 'float("inf")'),
        (float("-inf"), 'float("-inf")'),
        (float("nan"), 'float("nan")'),
        (3 + 0.5j, "3.00000+0.500000j"),
        (3 - 0.5j, "3.00000+-0.500000j"),
        (complex(-0.0, 1), "complex(-0.00000, 1.00000)"),
        (complex(-0.0, math.inf), 'complex(-0.00000, float("inf"))'),
        (complex(1, -0.0), "complex(1.00000, -0.00000)"),
        (complex(math.nan, 1), 'float("nan")+1.00000j'),
        (complex(-math.inf, 0.1 + 0.2), 'float("-inf")+0.30000000000000004j'),
        (complex("inf-nanj"), None),
    ],
    ids=str,
)
def test_inline_constants(value: Any, text: str | None) -> None:
    def define(fd: FusionDefinition) -> None:
        fd.add_output(ops.full([2], ops.set(fd.define_scalar(value)), dtype_of(value)))

    printed = lines_of(defined(define))[0]
    if text is not None:
        assert f" = fd.ops.cast({text}, dtype=" in printed


def dtype_of(value: Any) -> DataType:
    names = {bool: "Bool", int: "Int", float: "Double", complex: "ComplexDouble"}
    return getattr(DataType, names[type(value)])


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (2.5, DataType.Float, "2.50000"),
        (0.1, DataType.Float, "0.10000000149011612"),
        (float("-inf"), DataType.Half, 'float("-inf")'),
        (3, DataType.Int32, "3"),
        (-1, DataType.Char, "-1"),
        (2**64 - 1, DataType.UInt64, "18446744073709551615"),
        (448.0, DataType.Float8_e4m3fn, "448.000"),
        (1 + 2j, DataType.ComplexFloat, "1.00000+2.00000j"),
        (complex(0, -math.inf), DataType.ComplexFloat, 'complex(0.00000, float("-inf"))'),
    ],
    ids=str,
)
def test_constants_of_other_types_have_a_line(value: Any, dtype: DataType, text: str) -> None:
    fusion = defined(lambda fd: fd.add_output(ops.full([4, 1], value, dtype)))
    constant, full, _ = lines_of(fusion)
    name, definition = constant.split(" = ")
    assert definition == f"fd.define_scalar({text}, dtype={dtype})"
    assert full == f"tv0 = fd.ops.full(shape=[4, 1], fill_value={name}, dtype={dtype})"


def shapes(fd: FusionDefinition) -> None:
    x = define_x(fd)
    t1 = ops.broadcast(x, [False, True, False])
    t2 = ops.expand(t1, [-1, 3, -1])
    t3 = ops.squeeze(t1, [1])
    t4 = ops.squeeze(t2, [1], squeeze_expanded=True)
    t5 = ops.permute(t2, [2, 0, 1])
    t6 = ops.stride_order(t3, [0, 1])
    t7 = ops.segment_set(t4)
    t8 = ops.set(t5)
    for tensor in (t6, t7, t8):
        fd.add_output(tensor)


def test_shape_operations() -> None:
    assert lines_of(defined(shapes))[1:] == [
        "tv1 = fd.ops.broadcast(tv0, is_broadcast_dim=[False, True, False])",
        "c0 = fd.ops.size(tv0, dim=0)",
        "c1 = fd.ops.size(tv0, dim=1)",
        "tv2 = fd.ops.expand(tv1, shape=[c0, 3, c1])",
        "tv3 = fd.ops.squeeze(tv1, dims=[1])",
        "tv4 = fd.ops.squeeze(tv2, dims=[1], squeeze_expanded=True)",
        "tv5 = fd.ops.permute(tv2, dims=[2, 0, 1])",
        "tv6 = fd.ops.stride_order(tv3, stride_order=[0, 1])",
        "tv7 = fd.ops.segment_set(tv4)",
        "tv8 = fd.ops.cast(tv5, dtype=DataType.Float)",
        "fd.add_output(tv6)",
        "fd.add_output(tv7)",
        "fd.add_output(tv8)",
    ]


def test_reductions() -> None:
    def define(fd: FusionDefinition) -> None:
        x = define_x(fd)
        for operation in (ops.sum, ops.prod, ops.max, ops.min, ops.fmax, ops.fmin):
            fd.add_output(operation(x, [-1]))
        for tensor in ops.welford(x, [0, 1]):
            fd.add_output(tensor)

    assert lines_of(defined(define))[:8] == [
        X_LINE,
        "tv1 = fd.ops.sum(tv0, dims=[1], dtype=DataType.Float)",
        "tv2 = fd.ops.prod(tv0, dims=[1], dtype=DataType.Float)",
        "tv3 = fd.ops.max(tv0, dims=[1])",
        "tv4 = fd.ops.min(tv0, dims=[1])",
        "tv5 = fd.ops.fmax(tv0, dims=[1])",
        "tv6 = fd.ops.fmin(tv0, dims=[1])",
        "tv7, tv8, tv9 = fd.ops.welford(tv0, dims=[0, 1])",
    ]


def test_iota_leaves_out_the_default_dtype() -> None:
    def define(fd: FusionDefinition) -> None:
        n = fd.define_scalar(DataType.Index)
        fd.add_output(ops.iota(n, 2, 3))
        fd.add_output(ops.iota(5, 0.5, 0.25, DataType.Double))

    assert lines_of(defined(define)) == [
        "c0 = fd.define_scalar(None, dtype=DataType.Index)",
        "tv0 = fd.ops.iota(length=c0, start=2, step=3)",
        "tv1 = fd.ops.iota(length=5, start=0.500000, step=0.250000, dtype=DataType.Double)",
        "fd.add_output(tv0)",
        "fd.add_output(tv1)",
    ]


def test_vectors_and_scalar_arithmetic() -> None:
    def define(fd: FusionDefinition) -> None:
        a, b = fd.define_vector(2)
        fd.add_output(ops.mul(fd.define_tensor([4]), ops.ceilDiv(a, b)))

    assert lines_of(defined(define)) == [
        "c0 = fd.define_scalar(None, dtype=DataType.Int)",
        "c1 = fd.define_scalar(None, dtype=DataType.Int)",
        "tv0 = fd.define_tensor(shape=[4], contiguity=[False], dtype=DataType.Float, is_cpu=False)",
        "c2 = fd.ops.ceilDiv(c0, c1)",
        "c3 = fd.ops.cast(c2, dtype=DataType.Float)",
        "tv1 = fd.ops.mul(tv0, c3)",
        "fd.add_output(tv1)",
    ]


@pytest.mark.parametrize("registrations", [0, 1, 2])
def test_in_place_outputs(registrations: int) -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], contiguity=True, stride_order=[0, 1])
        y = ops.relu(x)
        fd.add_output(y, x)
        for _ in range(registrations):
            fd.add_output(y)
        fd.add_output(x)

    assert lines_of(defined(define))[2:] == [
        "fd.add_output(tv1, tv0)",
        *["fd.add_output(tv1)"] * registrations,
        "fd.add_output(tv0)",
    ]


def test_layouts_are_printed() -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, 1, 8], [True, True, None], DataType.Half, stride_order=[2, 0, 1])
        fd.add_output(ops.stride_order(ops.permute(x, [2, 0, 1]), [0, 1, 2]))

    assert lines_of(defined(define))[1:3] == [
        "tv1 = fd.ops.permute(tv0, dims=[2, 0, 1])",
        "tv2 = fd.ops.stride_order(tv1, stride_order=[0, 1, 2])",
    ]


def test_an_input_written_to_another_is_copied_first() -> None:
    def define(fd: FusionDefinition) -> None:
        x, y = define_x(fd), define_x(fd)
        fd.add_output(x, y)

    assert lines_of(defined(define))[2:] == [
        "tv2 = fd.ops.cast(tv0, dtype=DataType.Float)",
        "fd.add_output(tv2, tv1)",
    ]


def test_a_size_registered_as_an_input_stays_one() -> None:
    def define(fd: FusionDefinition) -> None:
        x = define_x(fd)
        fd.fusion.add_input(x.size(1))
        fd.add_output(ops.add(x, x.size(1)))

    lines = lines_of(defined(define))
    assert lines[1:3] == ["c0 = fd.ops.size(tv0, dim=1)", "fd.fusion.add_input(c0)"]


def test_what_no_output_needs_is_left_out() -> None:
    def define(fd: FusionDefinition) -> None:
        x = define_x(fd)
        ops.exp(x)
        fd.add_output(ops.neg(x))

    assert lines_of(defined(define)) == [X_LINE, "tv1 = fd.ops.neg(tv0)", "fd.add_output(tv1)"]


def test_constants_have_lines_if_that_is_asked_for() -> None:
    with FusionDefinition() as fd:
        fd.add_output(ops.mul(define_x(fd), 2.0))
    text = call_with_options(lambda: translate_fusion(fd.fusion), [], ["python_inline_definitions"])
    assert "    c0 = fd.define_scalar(2.00000, dtype=DataType.Double)\n" in text
    assert "    tv1 = fd.ops.mul(tv0, c0)\n" in text
    assert equal_up_to_numbering(rebuilt(text).fusion, fd.fusion)


# ---- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        (ops.bitceil, "BitCeil"),
        (ops.print, "Print"),
        (lambda x: ops.bitcast(DataType.Double, x), "BitCast"),
    ],
)
def test_operations_without_a_name_are_errors(operation: Any, name: str) -> None:
    with FusionDefinition() as fd:
        fd.add_output(operation(fd.define_tensor([4], dtype=DataType.Int)))
    with pytest.raises(RuntimeError, match=f"Unexpected operator type: {name} in T1_g"):
        translate_fusion(fd.fusion)


def test_operands_that_nothing_defines_are_an_error() -> None:
    fusion = Fusion()
    guard = FusionGuard(fusion)
    fusion.add_output(ops.neg(define_tensor([4])))
    del guard
    with pytest.raises(RuntimeError, match="Cycle detected: None of the expressions can be proc"):
        translate_fusion(fusion)


def test_factored_reductions_print_whole() -> None:
    with FusionDefinition() as fd:
        t1 = ops.sum(define_x(fd), [1])
        fd.add_output(t1)
        before = translate_fusion(fd.fusion)
        t1.split(1, 4)
        t1.rfactor([1])
    assert translate_fusion(fd.fusion) == repr(fd) == before


# ---- What the round trip is judged by ------------------------------------------------------------


def test_equality_up_to_numbering_sees_every_difference() -> None:
    def fusion(constant: float = 2.0, swapped: bool = False, dead: bool = False) -> Fusion:
        with FusionDefinition() as fd:
            a, b = define_x(fd), define_x(fd)
            if dead:
                ops.exp(a)
            left = ops.mul(a, constant)
            fd.add_output(ops.sub(b, left) if swapped else ops.sub(left, b))
        return fd.fusion

    assert fusion() == fusion()
    assert fusion() != fusion(dead=True)
    assert equal_up_to_numbering(fusion(), fusion(dead=True))
    assert not equal_up_to_numbering(fusion(), fusion(constant=3.0))
    assert not equal_up_to_numbering(fusion(), fusion(swapped=True))

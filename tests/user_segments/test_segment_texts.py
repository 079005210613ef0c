"""The printed form of a segment, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from cut_definitions import constant, define, matrix, randn, reread

from nvfuser import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

X = randn(4, 6)


def as_segment(build: Callable[..., Any], *inputs: Any) -> list[str]:
    """The statements of a whole definition, written as one segment."""
    fd = define(build)
    assert fd._setup_segmentation(inputs or [X]) == 1
    segment = FusionDefinition()
    fd._build_segment(segment, 0)
    fd._finalize_segmentation()
    text = repr(segment)
    assert reread(text).id() == segment.id()
    return [line.strip() for line in text.splitlines()[2:] if line.strip()]


def test_tensor_inputs() -> None:
    """Constant, symbolic, broadcast and expanded extents; `stride_order`"""

    def build(fd):
        a = fd.define_tensor([4, -1], contiguity=True)
        b = fd.define_tensor([-1, 1], contiguity=[True, None])
        c = fd.define_tensor([-1, 6], contiguity=[True, None])
        d = fd.define_tensor([-1, -1], contiguity=True, stride_order=[0, 1])
        return fd.ops.add(fd.ops.add(a, b), fd.ops.add(c, d))

    inputs = [
        X,
        X[:, :1].contiguous(),
        X[:, 0].contiguous()[:, None].expand(4, 6),
        X.t().contiguous().t(),
    ]
    end = ", dtype=DataType.Float, is_cpu=False"
    assert as_segment(build, *inputs)[:4] == [
        f"T0 = fd.define_tensor(shape=[4, -1], contiguity=[True, True]{end})",
        f"T1 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None]{end})",
        f"T2 = fd.define_tensor(shape=[-1, 6], contiguity=[True, None]{end})",
        f"T3 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True]{end}, stride_order=[0, 1])",
    ]


def test_scalars_constants_and_extents() -> None:
    """Scalar inputs, constants just before use, extents by the lowest tensor"""

    def build(fd):
        x, y = matrix(fd), matrix(fd)
        n = fd.define_scalar(None, dtype=DataType.Int)
        two = constant(fd, 2.0)
        z = fd.ops.mul(fd.ops.add(x, n), two)
        wide = fd.ops.expand(fd.ops.broadcast(z, [True, False, False]), [3, y.size(0), y.size(1)])
        return fd.ops.add(wide, y)

    lines = as_segment(build, X, X, 3)
    assert lines[2:] == [
        "S2 = fd.define_scalar(None, dtype=DataType.Int)",
        "S3 = fd.ops.cast(S2, dtype=DataType.Float)",
        "T4 = fd.ops.add(T0, S3)",
        "S5 = fd.define_scalar(2.00000, dtype=DataType.Double)",
        "T6 = fd.ops.mul(T4, S5)",
        "T7 = fd.ops.broadcast(T6, is_broadcast_dim=[True, False, False])",
        "S8 = fd.define_scalar(3, dtype=DataType.Int)",
        "S9 = fd.ops.size(T1, dim=0)",
        "S10 = fd.ops.size(T1, dim=1)",
        "V11 = fd.define_vector([S8, S9, S10], dtype=DataType.Int)",
        "T12 = fd.ops.expand(T7, shape=V11)",
        "T13 = fd.ops.broadcast(T1, is_broadcast_dim=[True, False, False])",
        "T14 = fd.ops.add(T12, T13)",
        "fd.add_output(T14)",
    ]


def statements(lines: list[str]) -> list[str]:
    """Without definitions of inputs, the results left out."""
    return [line.partition(" = ")[2] or line for line in lines if "define_tensor" not in line]


ROWS = [
    (
        "promotion",
        lambda fd: fd.ops.exp(matrix(fd, dtype=DataType.Half)),
        [
            "fd.ops.cast(T0, dtype=DataType.Float)",
            "fd.ops.exp(T1)",
            "fd.add_output(T2)",
        ],
    ),
    (
        "reductions",
        lambda fd: fd.ops.sum(matrix(fd), [-1], keepdim=True),
        [
            "fd.ops.sum(T0, dims=[1], keepdim=False, dtype=DataType.Float)",
            "fd.ops.broadcast(T1, is_broadcast_dim=[False, True])",
            "fd.add_output(T2)",
        ],
    ),
    (
        "max",
        lambda fd: fd.ops.max(matrix(fd), [0]),
        [
            "fd.ops.max(T0, dims=[0], keepdim=False, dtype=DataType.Null)",
            "fd.add_output(T1)",
        ],
    ),
    (
        "broadcast_in_dim",
        lambda fd: fd.ops.neg(fd.ops.broadcast_in_dim(matrix(fd), [3, 4, 6], [1, 2])),
        [
            "fd.ops.broadcast(T0, is_broadcast_dim=[True, False, False])",
            "fd.define_scalar(3, dtype=DataType.Int)",
            "fd.define_scalar(4, dtype=DataType.Int)",
            "fd.define_scalar(6, dtype=DataType.Int)",
            "fd.define_vector([S2, S3, S4], dtype=DataType.Int)",
            "fd.ops.expand(T1, shape=V5)",
            "fd.ops.neg(T6)",
            "fd.add_output(T7)",
        ],
    ),
    (
        "set",
        lambda fd: fd.ops.neg(fd.ops.set(fd.ops.exp(matrix(fd)))),
        ["fd.ops.exp(T0)", "fd.ops.neg(T1)", "fd.add_output(T2)"],
    ),
    (
        "permute",
        lambda fd: fd.ops.neg(fd.ops.permute(matrix(fd), [1, 0])),
        ["fd.ops.permute(T0, dims=[1, 0])", "fd.ops.neg(T1)", "fd.add_output(T2)"],
    ),
    (
        "slice",
        lambda fd: fd.ops.neg(fd.ops.slice(matrix(fd), [0, 1], [2, 4], [1, 1])),
        None,
    ),
    (
        "output in an order",
        lambda fd: fd.add_output(fd.ops.neg(matrix(fd)), stride_order=[0, 1]),
        ["fd.ops.neg(T0)", "fd.add_output(T1, stride_order=[0, 1])"],
    ),
]


@pytest.mark.parametrize(("build", "expected"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_forms_of_statements(build, expected) -> None:
    """segmentation.md 5, rows from "implicit promotion" to "outputs" """
    x = X.half() if "ops.cast" in str(expected) else X
    found = statements(as_segment(build, x))
    if expected is None:
        call = next(line for line in found if "ops.slice" in line)
        assert call.endswith("manual_normalization=1)")
        return
    assert found == expected


def test_parts_of_composite_operations() -> None:
    """`var`, norms and softmax as their parts"""

    def build(fd):
        x = matrix(fd)
        return fd.ops.var(x, [1], 1, False)

    text = "\n".join(as_segment(build))
    assert "ops.var" not in text
    assert text.count("fd.ops.sum(") == 2 or "fd.ops.welford(" in text


def test_squeeze_and_reshape() -> None:
    """`squeeze_expanded=True`; a vector of the resolved sizes"""

    def squeezed(fd):
        x = fd.define_tensor([-1, 1], contiguity=[True, None])
        return fd.ops.neg(fd.ops.squeeze(x, [1]))

    def reshaped(fd):
        return fd.ops.neg(fd.ops.reshape(matrix(fd), [3, 8]))

    lines = as_segment(squeezed, X[:, :1].contiguous())
    assert "T1 = fd.ops.squeeze(T0, dims=[1], squeeze_expanded=True)" in lines
    lines = as_segment(reshaped)
    vector = next(line for line in lines if "define_vector" in line).partition(" = ")[0]
    assert any(f"fd.ops.reshape(T0, new_shape={vector})" in line for line in lines)


def test_cat_and_pad() -> None:
    """Explicit pads, `manual_padding=1`, widths with the last dimension first"""

    def joined(fd):
        return fd.ops.cat([matrix(fd), matrix(fd)], 0)

    def padded(fd):
        return fd.ops.pad(matrix(fd), [1, 2, 3, 4])

    lines = as_segment(joined, X, X)
    assert sum("fd.ops.pad(" in line for line in lines) == 2
    assert any(line.endswith("dim=0, manual_padding=1)") for line in lines)
    lines = as_segment(padded)
    numbers = {line.split(" = ")[0]: line.split("(")[1].split(",")[0] for line in lines[1:-1]}
    vector = next(line for line in lines if "define_vector" in line)
    names = vector.split("[")[1].split("]")[0].split(", ")
    assert [numbers[name] for name in names] == ["1", "2", "3", "4"]


def test_random_bounds_and_alias_outputs() -> None:
    """Constants 0 and 1; `fd.add_output(T4, T0)`"""

    def drawn(fd):
        x = matrix(fd)
        return fd.ops.add(x, fd.ops.rand_like(x))

    lines = as_segment(drawn)
    assert "S1 = fd.define_scalar(0.00000, dtype=DataType.Double)" in lines
    assert "S2 = fd.define_scalar(1.00000, dtype=DataType.Double)" in lines

    def updated(fd):
        x = matrix(fd)
        fd.add_output(fd.ops.neg(x), x)

    assert as_segment(updated)[-1] == "fd.add_output(T1, T0)"


def test_an_input_that_is_only_updated_comes_last() -> None:
    """segmentation.md 5, "order" """

    def build(fd):
        target, x = matrix(fd), matrix(fd)
        n = fd.define_scalar(None, dtype=DataType.Int)
        fd.add_output(fd.ops.add(x, n), target)

    lines = as_segment(build, X, X, 3)
    assert [line.split(" = ")[0][0] for line in lines[:3]] == ["T", "S", "T"]
    assert lines[-1].endswith(", T2)")


def test_an_expression_without_a_definition_form() -> None:
    """ "names the expression; `segment` finalizes and leaves the object" """

    def build(fd):
        return fd.ops.neg(fd.ops.segment_set(fd.ops.exp(matrix(fd))))

    fd = define(build)
    statement = pytest.MonkeyPatch()
    from nvfuser import ir_statements

    statement.delitem(ir_statements.STATEMENTS, "UnaryOp")
    with pytest.raises(NotImplementedError, match="UnaryOp has no definition form"):
        fd.segment([X])
    statement.undo()
    assert not hasattr(fd, "segments")
    assert len(fd.segment([X])) == 2
    torch.testing.assert_close(fd.execute([X])[0], -torch.exp(X))

"""Defining inputs, constants, vectors and outputs."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from nvfuser import DataType, FusionDefinition


def printed(*args: Any, **kwargs: Any) -> str:
    """The statement that define_tensor(*args, **kwargs) records."""
    fd = FusionDefinition()
    fd._setup_definition()
    fd.define_tensor(*args, **kwargs)
    return repr(fd).strip().splitlines()[-1].strip().removeprefix("T0 = fd.define_tensor")


FORMS = [
    # of section 5.1: overloads 1 to 5, and what they record
    (
        ([-1, 4], [True, False]),
        {},
        "(shape=[-1, 4], contiguity=[True, False], dtype=DataType.Float, is_cpu=False)",
    ),
    (
        ([-1, 1],),
        {"contiguity": True, "dtype": DataType.Half},
        "(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Half, is_cpu=False)",
    ),
    (
        ([-1, -1],),
        {},
        "(shape=[-1, -1], contiguity=[False, False], dtype=DataType.Float, is_cpu=False)",
    ),
    (
        ([-1, -1], [True, True]),
        {"stride_order": [0, -1]},
        "(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False, "
        "stride_order=[0, 1])",
    ),
    (
        ([2, 3], [3, 1]),
        {},
        "(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, is_cpu=False, "
        "stride_order=[1, 0])",
    ),
    (
        (),
        {"sizes": [2, 1, 3], "strides": [1, 1, 2], "static_sizes": True, "dtype": DataType.Int},
        "(shape=[2, 1, 3], contiguity=[True, True, None], dtype=DataType.Int, is_cpu=False, "
        "stride_order=[1, 0, 2])",
    ),
    (
        (3,),
        {},
        "(shape=[-1, -1, -1], contiguity=[False, False, False], dtype=DataType.Float, "
        "is_cpu=False)",
    ),
    (
        (0, DataType.Double),
        {"is_cpu": True},
        "(shape=[], contiguity=[], dtype=DataType.Double, is_cpu=True)",
    ),
    (
        (),
        {"symbolic_sizes": [-1, 1], "contiguous": [True, True]},
        "(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float, is_cpu=False)",
    ),
    (
        (),
        {"symbolic_sizes": [-1, 1], "symbolic_contiguities": [False, True]},
        "(shape=[-1, 1], contiguity=[False, None], dtype=DataType.Float, is_cpu=False)",
    ),
    (
        (),
        {"symbolic_sizes": [-1], "contiguity": [False], "dtype": DataType.Half},
        "(shape=[-1], contiguity=[False], dtype=DataType.Half, is_cpu=False)",
    ),
]


@pytest.mark.parametrize(("args", "kwargs", "expected"), FORMS)
def test_forms_of_define_tensor(args: Any, kwargs: dict[str, Any], expected: str) -> None:
    """Overloads, twice: the second time the arguments are known."""
    for _ in range(2):
        assert printed(*args, **kwargs) == expected


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "gist"),
    [
        (([-2],), {}, RuntimeError, r"The value -2 at index 0 was neither symbolic\(-1\)"),
        (([-1], [True, True]), {}, RuntimeError, "Length of contiguity argument"),
        (([1], [True]), {}, RuntimeError, "The contiguity of a broadcast/reduction dimension"),
        (([-1],), {"stride_order": [0, 1]}, RuntimeError, "Length of stride_order argument"),
        (([-1],), {"stride_order": [5]}, RuntimeError, "stride_order argument is out of range"),
        (([-1, -1],), {"stride_order": [0, 0]}, RuntimeError, "duplicated stride_order"),
        (([2, 3], [1]), {}, RuntimeError, "number of sizes does not match the number of strides"),
        (([-2], [1]), {}, RuntimeError, "Size of -2 is not supported in nvFuser"),
        (
            (),
            {"symbolic_sizes": [4], "contiguous": [True]},
            RuntimeError,
            r"The value 4 at index 0 was neither broadcast\(1\) or symbolic\(-1\).",
        ),
        (("two",), {}, TypeError, "incompatible|argument"),
        (([-1],), {"colour": 3}, TypeError, "incompatible arguments"),
    ],
)
def test_wrong_arguments_of_define_tensor(
    args: Any, kwargs: dict[str, Any], error: type[Exception], gist: str
) -> None:
    """Errors, when the statement is written."""
    for _ in range(2):
        with pytest.raises(error, match=gist):
            printed(*args, **kwargs)


def test_a_tensor_on_the_host_without_being_a_scalar_fails_on_completion() -> None:
    """`is_cpu` with a rank, and every later attempt."""
    for _ in range(2):
        fd = FusionDefinition()
        fd._setup_definition()
        fd.add_output(fd.define_tensor([-1], is_cpu=True))
        with pytest.raises(RuntimeError, match="CPU non-scalar tensor is not supported!"):
            fd._finalize_definition()


def test_from_pytorch_takes_sizes_strides_and_dtype() -> None:
    """By an example; a 0-dim CPU tensor is a CPU scalar; other devices are refused."""
    fd = FusionDefinition()
    fd._setup_definition()
    fd.from_pytorch(torch.zeros(2, 3, dtype=torch.half).t())
    fd.from_pytorch(torch.zeros(4, 1), static_sizes=True)
    fd.from_pytorch(torch.tensor(1.0))
    assert [line.strip() for line in repr(fd).strip().splitlines()[1:]] == [
        "T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half, "
        "is_cpu=False, stride_order=[0, 1])",
        "T1 = fd.define_tensor(shape=[4, 1], contiguity=[True, None], dtype=DataType.Float, "
        "is_cpu=False, stride_order=[1, 0])",
        "T2 = fd.define_tensor(shape=[], contiguity=[], dtype=DataType.Float, is_cpu=True)",
    ]
    with pytest.raises(ValueError, match="unsupported device"):
        fd.from_pytorch(torch.empty(2, device="meta"))
    fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    fd._finalize_definition()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((), "(None, dtype=DataType.Double)"),
        ((DataType.Int,), "(None, dtype=DataType.Int)"),
        ((None, DataType.Half), "(None, dtype=DataType.Half)"),
        ((True,), "(True, dtype=DataType.Bool)"),
        ((3,), "(3, dtype=DataType.Int)"),
        ((3.0,), "(3.00000, dtype=DataType.Double)"),
        ((1 + 2j,), "(1.00000+2.00000j, dtype=DataType.ComplexDouble)"),
        ((3, DataType.Float), "(3.00000, dtype=DataType.Float)"),
        ((2.0, DataType.Int), "(2, dtype=DataType.Int)"),
        ((1, DataType.Bool), "(True, dtype=DataType.Bool)"),
    ],
)
def test_forms_of_define_scalar(args: Any, text: str) -> None:
    """Inputs and constants."""
    fd = FusionDefinition()
    fd._setup_definition()
    fd.define_scalar(*args)
    assert repr(fd).strip().splitlines()[-1].strip() == f"S0 = fd.define_scalar{text}"


def test_define_constant_warns_once_in_a_process() -> None:
    """Deprecated, naming define_scalar."""
    script = (
        "import warnings, nvfuser\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    with nvfuser.FusionDefinition() as fd:\n"
        "        a, b = fd.define_constant(3.0), fd.define_constant(val=3.0)\n"
        "        fd.add_output(fd.ops.mul(fd.define_tensor(1), fd.ops.add(a, b)))\n"
        "(warning,) = caught\n"
        "assert 'define_scalar' in str(warning.message)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_vectors_record_their_scalars_first() -> None:
    """A size, and lists of integers and scalars."""
    with FusionDefinition() as fd:
        vector = fd.define_vector(2)
        fd.define_vector([2, vector.at(0), 3])
        t0 = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.reshape(t0, vector))
    assert [line.strip() for line in repr(fd).strip().splitlines()[1:4]] == [
        "S0 = fd.define_scalar(None, dtype=DataType.Int)",
        "S1 = fd.define_scalar(None, dtype=DataType.Int)",
        "V2 = fd.define_vector([S0, S1], dtype=DataType.Int)",
    ]
    assert "V6 = fd.define_vector([2, S3, 3], dtype=DataType.Int)" in repr(fd)
    x = torch.arange(12.0).reshape(3, 4)
    for inputs in ([2, 6, x], [(2, 6), x], [[2, 6], x]):
        (out,) = fd.execute(inputs)
        assert torch.equal(out, x.reshape(2, 6))


@pytest.mark.parametrize(
    ("values", "error", "gist"),
    [
        ([2, -2], RuntimeError, r"The value -2 at index 1 was neither symbolic\(-1\)"),
        ([2, "x"], RuntimeError, "Unsupported iterable object type for define_vector! Index:1"),
        ([2.5], RuntimeError, "Unsupported iterable object type for define_vector! Index:0"),
    ],
)
def test_wrong_items_of_vectors(values: list[Any], error: type[Exception], gist: str) -> None:
    """Errors."""
    fd = FusionDefinition()
    fd._setup_definition()
    tensor = fd.define_tensor([-1])
    for write in (
        lambda: fd.define_vector(values),
        lambda: fd.ops.reshape(tensor, values),
        lambda: fd.ops.broadcast_in_dim(tensor, tuple(values), [0]),
    ):
        with pytest.raises(error, match=gist):
            write()


def test_pad_and_slice_take_any_integer(rng: torch.Generator) -> None:
    """Pad and slice skip the check of at least -1."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        fd.add_output(fd.ops.pad(t0, [-2, -3]))
    x = torch.randn(9, generator=rng)
    (out,) = fd.execute([x])
    assert torch.equal(out, x[2:-3])


def test_only_integer_vectors_exist() -> None:
    fd = FusionDefinition()
    fd._setup_definition()
    with pytest.raises(TypeError, match="Only vectors of dtype Int exist"):
        fd.define_vector([1.0], DataType.Float)


def test_outputs_may_repeat_and_update(target: str, rng: torch.Generator) -> None:
    """Several additions, aliases, and inputs as outputs."""
    with FusionDefinition() as fd:
        t0, t1 = fd.define_tensor([-1]), fd.define_tensor([-1])
        t2 = fd.ops.add(t0, t1)
        fd.add_output(t2)
        fd.add_output(t2, t0)
        fd.add_output(t2)
        fd.add_output(t1)
    x, y = (torch.randn(5, generator=rng).to(target) for _ in range(2))
    total = x + y
    first, second, third = fd.execute([x, y])
    assert first is x
    assert second is x
    assert torch.equal(third, y)
    assert torch.equal(x, total)
    assert fd.outputs() == [2, 2, 1]


def test_an_alias_alone_returns_nothing(target: str, rng: torch.Generator) -> None:
    """The result is written, and not returned."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.exp(t0), t0)
    x = torch.randn(3, 4, generator=rng).to(target)
    expected = x.exp()
    assert fd.execute([x]) == []
    torch.testing.assert_close(x, expected)
    assert fd.outputs() == []


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]])
def test_outputs_are_stored_in_the_order_that_is_asked(
    order: list[int], target: str, rng: torch.Generator
) -> None:
    """`stride_order`."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1, -1])
        t1 = fd.ops.neg(t0)
        fd.add_output(t1, stride_order=order)
        fd.add_output(t1, [2, 0, 1])
        fd.add_output(t0, stride_order=order)
    x = torch.randn(2, 3, 4, generator=rng).to(target)
    outputs = fd.execute([x])
    for out, reference, wanted in zip(outputs, (-x, -x, x), (order, [2, 0, 1], order), strict=True):
        assert torch.equal(out, reference)
        ranked = sorted(range(3), key=lambda dim: out.stride()[dim])
        assert [ranked.index(dim) for dim in range(3)] == wanted


@pytest.mark.parametrize(
    ("order", "gist"),
    [
        ([0], "stride_order needs to be either empty or the same length of Tensor"),
        ([0, 2], r"stride_order elements need to be within \[0, stride_order.size\(\)\)"),
        ([0, -1], r"stride_order elements need to be within \[0, stride_order.size\(\)\)"),
        ([1, 1], "duplicated elements in stride_order detected!"),
    ],
)
def test_wrong_orders_of_outputs(order: list[int], gist: str) -> None:
    """Errors when the statement is written."""
    fd = FusionDefinition()
    fd._setup_definition()
    with pytest.raises(RuntimeError, match=gist):
        fd.add_output(fd.define_tensor([-1, -1]), stride_order=order)


@pytest.mark.parametrize(
    ("write", "gist"),
    [
        (
            lambda fd, t, s: fd.add_output(fd.ops.neg(t), t, [0]),
            "stride_order can't be dictated for aliased outputs.",
        ),
        (
            lambda fd, t, s: fd.add_output(s, stride_order=[0]),
            "stride_order can't be dictated for scalar outputs.",
        ),
        (lambda fd, t, s: fd.add_output(s, t), "Scalar outputs should not alias inputs."),
    ],
)
def test_wrong_outputs_on_completion(write: Any, gist: str) -> None:
    """Errors on completion."""
    fd = FusionDefinition()
    fd._setup_definition()
    write(fd, fd.define_tensor([-1]), fd.define_scalar(2.0))
    with pytest.raises(RuntimeError, match=gist):
        fd._finalize_definition()


def test_a_scalar_output_cannot_be_executed() -> None:
    """Recorded, and an error of execute."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        fd.add_output(fd.ops.size(t0, 0))
    assert fd.id() == 0
    with pytest.raises(RuntimeError, match="has a scalar among its outputs"):
        fd.execute([torch.zeros(3)])

"""Products that one call of PyTorch computes: results, and what the evaluator is left with."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition
from nvfuser_direct.evaluator import steps
from nvfuser_direct.evaluator.direct import DirectCall
from nvfuser_direct.evaluator.steps import EvaluatedFusion

if TYPE_CHECKING:
    from collections.abc import Callable

DTYPES = (
    torch.float64,
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.complex64,
)
# Operands of products: the second one is the weight, the third one the bias of a linear.
PRODUCTS = {
    "matrices": ("matmul", [(5, 7), (7, 3)]),
    "vectors": ("matmul", [(7,), (7,)]),
    "matrix and vector": ("matmul", [(5, 7), (7,)]),
    "vector and matrix": ("matmul", [(7,), (7, 3)]),
    "batches": ("matmul", [(2, 5, 7), (2, 7, 3)]),
    "broadcast batches": ("matmul", [(2, 1, 5, 7), (4, 7, 3)]),
    "one row": ("matmul", [(1, 7), (7, 3)]),
    "one element": ("matmul", [(1, 1), (1, 1)]),
    "no rows": ("matmul", [(0, 7), (7, 3)]),
    "nothing to sum": ("matmul", [(5, 0), (0, 3)]),
    "linear": ("linear", [(5, 7), (3, 7)]),
    "linear with bias": ("linear", [(5, 7), (3, 7), (3,)]),
    "linear of a vector": ("linear", [(7,), (3, 7)]),
    "linear of batches": ("linear", [(2, 5, 7), (3, 7), (3,)]),
    "linear to one column": ("linear", [(2, 5, 7), (1, 7)]),
}
Tensors = list[torch.Tensor]


def drawn(
    shapes: list[tuple[int, ...]], dtype: torch.dtype, rng: torch.Generator, target: str = "cpu"
) -> Tensors:
    wide = [torch.randn(shape, generator=rng, dtype=torch.float64) for shape in shapes]
    return [x.to(target, dtype) for x in wide]


def product(name: str, inputs: Tensors) -> FusionDefinition:
    with FusionDefinition() as fd:
        operands = [fd.from_pytorch(x) for x in inputs]
        fd.add_output(getattr(fd.ops, name)(*operands))
    return fd


@pytest.fixture
def results_of_calls(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor | None]:
    """The result of each direct call; None where it left the work to the evaluator."""
    given: list[torch.Tensor | None] = []
    call = DirectCall.try_on

    def noted(self: DirectCall, inputs: list[Any]) -> torch.Tensor | None:
        given.append(call(self, inputs))
        return given[-1]

    monkeypatch.setattr(DirectCall, "try_on", noted)
    return given


def evaluated_without_calls(
    fd: FusionDefinition, inputs: list[Any], monkeypatch: pytest.MonkeyPatch
) -> torch.Tensor:
    with monkeypatch.context() as patch:
        patch.setattr("nvfuser_direct.evaluator.direct.find_direct_call", lambda plan: None)
        (result,) = EvaluatedFusion(fd.fusion).evaluate(inputs, "cpu", 0, [])
    assert result is not None
    return result


def assert_same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Elements, type and layout; nothing is recorded for gradients, and nothing is a view."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.stride() == expected.stride()
    assert torch.equal(actual, expected)
    assert not actual.requires_grad
    assert actual.grad_fn is None
    assert actual._base is None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_call_gives_what_the_evaluator_does(
    name: str,
    dtype: torch.dtype,
    target: str,
    rng: torch.Generator,
    monkeypatch: pytest.MonkeyPatch,
    results_of_calls: list[torch.Tensor | None],
) -> None:
    operation, shapes = PRODUCTS[name]
    inputs = drawn(shapes, dtype, rng, target)
    fd = product(operation, inputs)
    (actual,) = EvaluatedFusion(fd.fusion).evaluate(inputs, target, 0, [])
    assert actual is not None
    assert results_of_calls == [actual]
    assert_same(actual, evaluated_without_calls(fd, inputs, monkeypatch))
    wide = [x.to(torch.complex128 if dtype.is_complex else torch.float64) for x in inputs]
    reference = getattr(torch.nn.functional if operation == "linear" else torch, operation)(*wide)
    tolerance = 4 * torch.finfo(dtype).eps * (1 + float(reference.abs().sum()))
    torch.testing.assert_close(actual.to(reference.dtype), reference, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.t().contiguous().t(),
        lambda x: x.expand(x.shape),
        lambda x: x[:1].expand(x.shape),
        lambda x: torch.cat([x, x])[::2],
        lambda x: torch.nn.Parameter(x),
    ],
    ids=["columns", "view", "equal rows", "every other row", "parameter"],
)
def test_inputs_lie_in_memory_as_they_like(
    change: Callable[[torch.Tensor], torch.Tensor],
    target: str,
    rng: torch.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs = [change(x) for x in drawn([(6, 4), (4, 4)], torch.float32, rng, target)]
    fd = product("linear", inputs)
    (actual,) = fd.execute(inputs)
    assert_same(actual, evaluated_without_calls(fd, inputs, monkeypatch))


def test_other_sizes_have_other_strides(
    target: str, rng: torch.Generator, results_of_calls: list[torch.Tensor | None]
) -> None:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([-1, -1, -1], contiguity=True) for _ in range(2))
        fd.add_output(fd.ops.matmul(a, b))
    for shapes in ([(2, 3, 4), (2, 4, 5)], [(3, 3, 4), (3, 4, 6)], [(2, 3, 4), (2, 4, 5)]):
        inputs = drawn(shapes, torch.float32, rng, target)
        (actual,) = fd.execute(inputs)
        assert results_of_calls[-1] is actual
        assert_same(actual, torch.matmul(*inputs))


def test_a_run_records_nothing_for_gradients(target: str, rng: torch.Generator) -> None:
    inputs = drawn([(5, 7), (3, 7), (3,)], torch.float32, rng, target)
    parameters = [torch.nn.Parameter(x) for x in inputs]
    fd = product("linear", inputs)
    (actual,) = fd.execute(parameters)
    assert_same(actual, torch.nn.functional.linear(*inputs))
    assert torch.is_grad_enabled()


def test_autocast_of_the_caller_changes_nothing(
    target: str, rng: torch.Generator, results_of_calls: list[torch.Tensor | None]
) -> None:
    inputs = drawn([(5, 7), (7, 3)], torch.float32, rng, target)
    fd = product("matmul", inputs)
    with torch.autocast(target, torch.bfloat16):
        (actual,) = fd.execute(inputs)
    assert results_of_calls == [None]
    assert_same(actual, torch.matmul(*inputs))


def test_arrays_of_numpy_are_evaluated(
    rng: torch.Generator, results_of_calls: list[torch.Tensor | None]
) -> None:
    inputs = drawn([(5, 7), (7, 3)], torch.float32, rng)
    fd = product("matmul", inputs)
    (actual,) = fd.execute([x.numpy() for x in inputs])
    assert isinstance(actual, np.ndarray)
    assert results_of_calls == [None]
    np.testing.assert_array_equal(actual, torch.matmul(*inputs).numpy())


class Doubled(torch.Tensor):
    """A tensor whose class decides what functions do."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})
        return result * 2 if func is torch.matmul else result


def test_a_class_that_decides_what_functions_do_is_evaluated(
    rng: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = drawn([(5, 7), (7, 3)], torch.float32, rng)
    fd = product("matmul", inputs)
    inputs[0] = inputs[0].as_subclass(Doubled)
    (actual,) = fd.execute(inputs)
    expected = evaluated_without_calls(fd, inputs, monkeypatch)
    assert torch.equal(actual.as_subclass(torch.Tensor), expected.as_subclass(torch.Tensor))


@pytest.mark.parametrize(
    "define",
    [
        lambda fd, a, b: fd.ops.relu(fd.ops.matmul(a, b)),
        lambda fd, a, b: fd.ops.permute(fd.ops.matmul(a, b), [1, 0]),
        lambda fd, a, b: fd.ops.cast(fd.ops.matmul(a, b), DataType.Half),
        lambda fd, a, b: fd.ops.stride_order(fd.ops.matmul(a, b), [0, 1]),
        lambda fd, a, b: fd.ops.linear(a, fd.ops.broadcast(b, [True, False, False])),
    ],
    ids=["relu", "permute", "cast", "columns", "weights in batches"],
)
def test_what_is_more_than_a_product_has_no_call(define: Callable[..., nvf.TensorView]) -> None:
    with FusionDefinition() as fd:
        a, b = (fd.define_tensor([4, 4], contiguity=True) for _ in range(2))
        fd.add_output(define(fd, a, b))
    assert EvaluatedFusion(fd.fusion)._direct_call is None


def test_a_product_that_updates_an_input_is_written_into_it(
    target: str, rng: torch.Generator
) -> None:
    inputs = drawn([(4, 4), (4, 4)], torch.float32, rng, target)
    expected = torch.matmul(*inputs)
    with FusionDefinition() as fd:
        a, b = (fd.from_pytorch(x) for x in inputs)
        fd.add_output(fd.ops.matmul(a, b), a)
    fd.execute(inputs)
    assert torch.equal(inputs[0], expected)


def test_a_column_major_result_is_copied(target: str, rng: torch.Generator) -> None:
    """The call's own result has other strides than those that are asked for."""
    inputs = drawn([(5, 7), (7, 3)], torch.float32, rng, target)
    with FusionDefinition() as fd:
        a, b = (fd.from_pytorch(x) for x in inputs)
        out = fd.ops.matmul(a, b)
        fd.add_output(out)
        axes = nvf.TensorDomain.no_reductions(out.get_logical_domain())
        out.set_allocation_domain([axes[1], axes[0]], True)
    (actual,) = fd.execute(inputs)
    assert actual.stride() == (1, 5)
    assert torch.equal(actual, torch.matmul(*inputs))


def test_errors_of_a_call_name_the_expression(rng: torch.Generator) -> None:
    inputs = drawn([(5, 7), (7, 3)], torch.float32, rng)
    fd = product("matmul", inputs)
    inputs[1] = torch.randn(6, 3, generator=rng)
    with pytest.raises(nvf.UserError) as error:
        EvaluatedFusion(fd.fusion).evaluate(inputs, "cpu", 0, [])
    text = str(error.value)
    assert text.startswith("Cannot evaluate this expression through PyTorch\n  node:     T2")
    for part in ("made at test_direct_calls.py", "expected:", "found:    RuntimeError: ", "fix:"):
        assert part in text


def test_runs_of_several_threads_share_what_was_found_out(rng: torch.Generator) -> None:
    inputs = drawn([(5, 7), (7, 3)], torch.float32, rng)
    fd = product("matmul", inputs)
    expected = torch.matmul(*inputs)
    results: list[torch.Tensor] = []
    start = threading.Barrier(8)

    def run() -> None:
        start.wait()
        for _ in range(50):
            results.extend(fd.execute(inputs))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 * 50
    assert all(torch.equal(result, expected) for result in results)


def test_what_was_found_out_goes_with_the_definition(
    rng: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[EvaluatedFusion]] = []

    class Noted(EvaluatedFusion):
        def __init__(self, fusion: nvf.Fusion) -> None:
            super().__init__(fusion)
            made.append(weakref.ref(self))

    monkeypatch.setattr(steps, "EvaluatedFusion", Noted)
    inputs = drawn([(5, 7), (7, 3)], torch.float32, rng)
    fd = product("matmul", inputs)
    for _ in range(3):
        fd.execute(inputs)
    assert len(made) == 1
    assert made[0]() is not None
    del fd
    gc.collect()
    assert made[0]() is None

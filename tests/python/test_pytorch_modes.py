"""Fusions among what PyTorch has beside plain tensors: subclasses, wrappers, modes, transforms.

Each either is right or an error that fits the case; none may end the process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    FusionExecutorCache,
    KernelExecutor,
    ParallelType,
    UserError,
    evaluate,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[list[Any]], list[torch.Tensor]]


def doubled(dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], dtype=dtype)
        y = fd.ops.add(x, x)
        fd.add_output(y)
    return fd


def run_scheduled(inputs: list[Any]) -> list[torch.Tensor]:
    fd = doubled()
    with fd:
        fd.sched.trivial(fd.fusion)
    return fd.manual_execute(inputs)


def run_evaluated(inputs: list[Any]) -> list[torch.Tensor]:
    """Without a kernel: the same result as the others, for a matrix [[0, 1], [2, 3]]."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.matmul(x, fd.ops.full([2, 2], 1.0, DataType.Float)))
    return fd.execute(inputs)


def matrix(target: str = "cpu") -> torch.Tensor:
    return torch.arange(4.0, device=target).reshape(2, 2)


both_ways = pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda inputs: doubled().execute(inputs), id="execute"),
        pytest.param(run_scheduled, id="manual_execute"),
    ],
)


def refusal(act: Callable[[], object]) -> str:
    """The text of the error that `act` ends with."""
    with pytest.raises(UserError) as raised:
        act()
    text = str(raised.value)
    assert "frame #0" not in text
    return text


# ---- Tensors without plain memory ----------------------------------------------------------------


class Wrapper(torch.Tensor):
    """Has sizes, and another tensor's elements."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapper:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func} was called")


class Negated(torch.Tensor):
    """Has memory, and means its negative."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Negated:
        return torch.Tensor._make_subclass(cls, inner)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func} was called")


def nested(layout: torch.layout) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)


def masked() -> torch.Tensor:
    from torch.masked import masked_tensor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return masked_tensor(matrix(), matrix() > 1)


def functional() -> torch.Tensor:
    with FunctionalTensorMode():
        return FunctionalTensor.to_functional(matrix())


def quantized() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(matrix(), 0.1, 0, torch.qint8)


def sparse_rows() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return matrix().to_sparse_csr()


UNREADABLE: dict[str, tuple[Callable[[], torch.Tensor], str, str]] = {
    "fake": (lambda: FakeTensorMode().from_tensor(matrix()), "a fake tensor", "make an operator"),
    "functional": (
        functional,
        "records what is done to it",
        "make an operator",
    ),
    "functionalized": (
        lambda: torch._to_functional_tensor(matrix()),
        "records what is done to it",
        "make an operator",
    ),
    "coo": (lambda: matrix().to_sparse(), "layout torch.sparse_coo", "pass tensor.to_dense()"),
    "csr": (sparse_rows, "layout torch.sparse_csr", "pass tensor.to_dense()"),
    "mkldnn": (lambda: matrix().to_mkldnn(), "layout torch._mkldnn", "pass tensor.to_dense()"),
    "quantized": (quantized, "a quantized tensor of torch.qint8", "pass tensor.dequantize()"),
    "nested": (lambda: nested(torch.strided), "a nested tensor", "to_padded_tensor"),
    "jagged": (lambda: nested(torch.jagged), "a nested tensor", "pass tensor.values()"),
    "masked": (masked, "a masked tensor", "pass tensor.get_data() and tensor.get_mask()"),
    "zeros": (
        lambda: torch._efficientzerotensor((2, 2)),
        "zeros without memory",
        "pass tensor.clone()",
    ),
    "uninitialized": (
        torch.nn.UninitializedParameter,
        "a parameter without a shape",
        "call its module once",
    ),
    "wrapper": (lambda: Wrapper(matrix()), "Wrapper, a class that", "pass the plain tensor"),
    "negated": (lambda: Negated(matrix()), "Negated, a class that", "pass the plain tensor"),
}


@both_ways
@pytest.mark.parametrize("kind", UNREADABLE)
def test_tensors_without_plain_memory_are_refused_with_what_to_pass(run: Run, kind: str) -> None:
    make, found, fix = UNREADABLE[kind]
    tensor = make()
    if kind == "uninitialized" and not isinstance(tensor, torch.Tensor):
        pytest.skip("no such parameters")
    text = refusal(lambda: run([tensor]))
    assert text.startswith("Cannot read the memory of a tensor.")
    assert found in text
    assert fix in text


def test_what_the_refusals_advise_works() -> None:
    expected = (matrix() * 2).tolist()
    for tensor in (
        matrix().to_sparse().to_dense(),
        sparse_rows().to_dense(),
        matrix().to_mkldnn().to_dense(),
    ):
        assert doubled().execute([tensor])[0].tolist() == expected
    zeros = torch._efficientzerotensor((2, 2)).clone()
    assert doubled().execute([zeros])[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("wrap", [torch.nn.Parameter, torch.nn.Buffer, torch.Tensor.detach])
def test_parameters_and_buffers_are_inputs(target: str, wrap: Callable[..., Any]) -> None:
    x = matrix(target)
    assert torch.equal(doubled().execute([wrap(x.clone())])[0], x * 2)


def test_subclasses_that_only_add_methods_are_inputs(target: str) -> None:
    class Named(torch.Tensor):
        pass

    x = matrix(target)
    (out,) = doubled().execute([x.as_subclass(Named)])
    assert type(out) is torch.Tensor
    assert torch.equal(out, x * 2)


# ---- Modes ---------------------------------------------------------------------------------------


class Watching(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Refusing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise ValueError("this mode refuses everything")


@both_ways
@pytest.mark.parametrize("mode", [FakeTensorMode, FunctionalTensorMode])
def test_modes_that_only_record_are_refused(run: Run, mode: Callable[..., Any]) -> None:
    x = matrix()
    with mode():
        text = refusal(lambda: run([x]))
    assert mode.__name__ in text
    assert "fix:      run the fusion outside of what is traced" in text
    assert torch.equal(run([x])[0], x * 2)


def test_a_fusion_that_ran_before_is_refused_in_fake_mode_too() -> None:
    fd, x = doubled(), matrix()
    fd.execute([x])
    with FakeTensorMode():
        assert "FakeTensorMode" in refusal(lambda: fd.execute([x]))


def test_fusions_without_inputs_are_refused_in_fake_mode() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.full([2, 2], 1.0, DataType.Float))
    with FakeTensorMode():
        assert "FakeTensorMode" in refusal(lambda: fd.execute([]))


@pytest.mark.parametrize("mode", [FakeTensorMode, FunctionalTensorMode])
def test_evaluated_fusions_end_with_an_exception_in_recording_modes(
    mode: Callable[..., Any],
) -> None:
    x = matrix()
    with mode(), pytest.raises(Exception, match=r"(?i)fake|functional|symbolic|data"):
        run_evaluated([x])[0].tolist()


def test_a_record_of_a_run_has_no_constants_for_its_results() -> None:
    text = refusal(lambda: make_fx(lambda t: doubled().execute([t])[0])(matrix()))
    assert "ProxyTorchDispatchMode" in text


@both_ways
def test_modes_that_look_on_change_nothing(run: Run, target: str) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    x = matrix(target)
    for mode in (Watching(), FlopCounterMode(display=False)):
        with mode:
            (out,) = run([x])
        assert torch.equal(out, x * 2)


def test_a_mode_that_makes_no_tensors_is_named() -> None:
    x = matrix()
    with Refusing():
        text = refusal(lambda: doubled().execute([x]))
    assert text.startswith("Cannot allocate an output.")
    assert "ValueError: this mode refuses everything" in text
    assert "found:    the mode " in text
    assert "Refusing" in text
    assert "leave the mode while the fusion runs" in text


@pytest.mark.parametrize("run", [run_scheduled, run_evaluated, lambda x: doubled().execute(x)])
def test_default_devices_and_memory_filling_change_nothing(run: Run, target: str) -> None:
    x = matrix(target)
    expected = run([x])[0]
    with torch.device("meta"):
        assert torch.equal(run([x])[0], expected)
    with torch.inference_mode():
        assert torch.equal(run([x])[0], expected)
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.utils.deterministic.fill_uninitialized_memory
        assert torch.equal(run([x])[0], expected)
    finally:
        torch.use_deterministic_algorithms(before)


def test_workspaces_that_pytorch_fills_start_as_kernels_need_them(target: str) -> None:
    """Memory of a reduction over blocks, whose counters have to be zero."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.sum(x, [0])
        fd.add_output(y)
        y.split(0, 32)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
    values = torch.ones(1000, device=target)
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        assert fd.manual_execute([values])[0].item() == 1000
    finally:
        torch.use_deterministic_algorithms(before)


# ---- torch.func ----------------------------------------------------------------------------------


def test_transformed_inputs_are_refused() -> None:
    x = matrix()
    run = doubled().execute
    text = refusal(lambda: torch.func.vmap(lambda t: run([t])[0])(x.expand(3, 2, 2)))
    assert "a dimension for the batch" in text
    for act in (
        lambda: torch.func.grad(lambda t: run([t])[0].sum())(x),
        lambda: torch.func.jvp(lambda t: run([t])[0], (x,), (x,)),
    ):
        assert "forward of a torch.autograd.Function with setup_context" in refusal(act)
    text = refusal(lambda: torch.func.functionalize(lambda t: run([t])[0])(x))
    assert "records what is done to it" in text


def test_inputs_that_a_transform_does_not_touch() -> None:
    """Under vmap they are the same for all; where outputs would be wrapped, none is made."""
    x = matrix()
    run = doubled().execute
    row, other = torch.func.vmap(lambda t: run([x])[0] + t)(x)
    assert torch.equal(row, x * 2 + x[0])
    assert torch.equal(other, x * 2 + x[1])
    text = refusal(lambda: torch.func.grad(lambda t: (run([x])[0] * t).sum())(x))
    assert "found:    the transform Grad of torch.func" in text
    text = refusal(lambda: torch.func.functionalize(lambda t: run([x])[0])(x))
    assert "found:    the transform Functionalize of torch.func" in text


# ---- torch.compile and torch.export --------------------------------------------------------------


@pytest.fixture
def fresh_dynamo() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(function, backend="eager", **options)


RUNS: dict[str, Callable[[FusionDefinition, torch.Tensor], torch.Tensor]] = {
    "execute": lambda fd, x: fd.execute([x])[0],
    "validate": lambda fd, x: fd.validate([x])[0],
    "manual_execute": lambda fd, x: fd.manual_execute([x])[0],
}


@pytest.mark.usefixtures("fresh_dynamo")
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("is_new", [True, False])
def test_compiled_functions_run_fusions(name: str, is_new: bool, target: str) -> None:
    fd, x = doubled(), matrix(target)
    if name == "manual_execute":
        with fd:
            fd.sched.trivial(fd.fusion)
    if not is_new:
        RUNS[name](fd, x)
    function = compiled(lambda t: RUNS[name](fd, t * 2) + 1)
    for _ in range(3):
        assert torch.equal(function(x), x * 4 + 1)
    assert torch.equal(function(x[:1]), x[:1] * 4 + 1)


@pytest.mark.usefixtures("fresh_dynamo")
def test_the_rest_of_a_compiled_function_is_compiled() -> None:
    graphs = []

    def backend(module: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., Any]:
        graphs.append(module)
        return module.forward

    fd, x = doubled(), matrix()
    out = torch.compile(lambda t: fd.execute([t * 2])[0] + 1, backend=backend)(x)
    assert torch.equal(out, x * 4 + 1)
    calls = [[n.target.__name__ for n in g.graph.nodes if n.op == "call_function"] for g in graphs]
    assert calls == [["mul"], ["add"]]


@pytest.mark.usefixtures("fresh_dynamo")
@pytest.mark.parametrize("name", ["execute", "run"])  # of the definition, of its executor cache
def test_nothing_of_a_run_is_compiled(name: str) -> None:
    graphs = []

    def backend(module: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., Any]:
        graphs.append(module)
        return module.forward

    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        noise = fd.ops.uniform(fd.define_scalar(0.0), fd.define_scalar(1.0), [2, 2])
        fd.add_output(fd.ops.matmul(x, fd.ops.full([2, 2], 1.0, DataType.Float)))
        fd.add_output(fd.ops.add(x, noise))
    x = matrix()
    fd.execute([x])
    run = fd.execute if name == "execute" else fd.fec.run
    function = torch.compile(lambda t: run([t * 2])[0] + 1, backend=backend)
    for _ in range(2):
        assert torch.equal(function(x), (x * 2) @ torch.ones(2, 2) + 1)
    calls = [[n.target.__name__ for n in g.graph.nodes if n.op == "call_function"] for g in graphs]
    assert calls == [["mul"], ["add"]]


@pytest.mark.usefixtures("fresh_dynamo")
def test_compiled_functions_define_fusions() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        with FusionDefinition() as fd:
            a = fd.define_tensor([-1, -1])
            fd.add_output(fd.ops.mul(a, a.size(0)))
        return fd.execute([x * 2])[0] + 1

    x = matrix()
    assert torch.equal(compiled(function)(x), x * 4 + 1)


def executor(fd: FusionDefinition, x: torch.Tensor) -> KernelExecutor:
    with fd:
        fd.sched.trivial(fd.fusion)
    result = KernelExecutor()
    result.compile(fd.fusion, [x])
    return result


# Objects that a program has at hand when it calls a compiled function, and calls on them.
CALLS: dict[str, tuple[Callable[..., Any], Callable[[Any, torch.Tensor], torch.Tensor]]] = {
    "KernelExecutor.run": (executor, lambda it, t: it.run([t])[0]),
    "KernelExecutor.is_compiled": (executor, lambda it, t: t * 2 * it.is_compiled()),
    "FusionExecutorCache.execute": (
        lambda fd, x: FusionExecutorCache(fd.fusion),
        lambda it, t: it.execute([t])[0],
    ),
    "evaluate": (lambda fd, x: fd.fusion, lambda it, t: evaluate(it, [t])[0]),
    "Fusion.print_math": (
        lambda fd, x: fd.fusion,
        lambda it, t: t * (2 if "kernel_math" in it.print_math() else 0),
    ),
    "TensorView.axis": (
        lambda fd, x: fd.fusion.outputs()[0],
        lambda it, t: t * 2 if it.axis(0).is_iteration() else t,
    ),
}


@pytest.mark.usefixtures("fresh_dynamo")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("is_bound", [False, True])
def test_compiled_functions_call_methods_of_objects_that_are_there(
    name: str, is_bound: bool, target: str
) -> None:
    make, call = CALLS[name]
    x = matrix(target)
    it = make(doubled(), x)
    function = compiled(lambda t: call(it, t * 2) + 1)
    if is_bound and name == "KernelExecutor.run":
        run = it.run
        function = compiled(lambda t: run([t * 2])[0] + 1)
    for _ in range(2):
        assert torch.equal(function(x), x * 4 + 1)


@pytest.mark.usefixtures("fresh_dynamo")
def test_modules_that_own_an_executor_are_compiled() -> None:
    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fd = doubled()
            self.executor = executor(self.fd, matrix())

        def forward(self, t: torch.Tensor) -> torch.Tensor:
            return self.executor.run([t * 2])[0] + 1

    assert torch.equal(compiled(Module())(matrix()), matrix() * 4 + 1)


@pytest.mark.usefixtures("fresh_dynamo")
@pytest.mark.parametrize("strict", [True, False])
def test_operators_made_of_fusions_are_exported(strict: bool, target: str) -> None:
    """As the guide has it: torch.library.custom_op and the shape of its result."""
    fd = doubled()

    @torch.library.custom_op(f"nvfuser_direct_tests::doubled_{target}_{strict}", mutates_args=())
    def op(t: torch.Tensor) -> torch.Tensor:
        return fd.execute([t])[0]

    op.register_fake(torch.empty_like)

    class Module(torch.nn.Module):
        def forward(self, t: torch.Tensor) -> torch.Tensor:
            return op(t * 2) + 1

    x = matrix(target)
    rows = {"t": {0: torch.export.Dim("rows", min=1, max=64)}}
    program = torch.export.export(Module(), (x,), dynamic_shapes=rows, strict=strict)
    assert "nvfuser_direct_tests" in str(program.graph)
    assert torch.equal(program.module()(x), x * 4 + 1)
    assert torch.equal(program.module()(torch.cat([x, x])), torch.cat([x, x]) * 4 + 1)
    assert torch.equal(compiled(Module(), fullgraph=True)(x), x * 4 + 1)


@pytest.mark.usefixtures("fresh_dynamo")
def test_whole_graphs_say_why_they_cannot_have_a_fusion() -> None:
    fd, x = doubled(), matrix()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="fusions are run by nvfuser_direct"):
        compiled(lambda t: fd.execute([t])[0], fullgraph=True)(x)

    class Module(torch.nn.Module):
        def forward(self, t: torch.Tensor) -> torch.Tensor:
            return fd.execute([t])[0]

    for strict in (True, False):
        with pytest.raises(Exception, match=re.compile("nvfuser_direct|make an operator")):
            torch.export.export(Module(), (x,), strict=strict)
    assert torch.equal(fd.execute([x])[0], x * 2)


def test_fusions_that_were_defined_before_pytorch_was_imported_can_be_compiled() -> None:
    code = """
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    x = fd.define_tensor([-1])
    fd.add_output(fd.ops.add(x, x))
import torch
with FusionDefinition():
    pass
print(torch.compile(lambda t: fd.execute([t * 2])[0] + 1, backend="eager")(torch.ones(2)).tolist())
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ)
    )
    assert result.stdout.strip() == "[5.0, 5.0]", result.stderr

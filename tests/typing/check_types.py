"""Only type-checked, never run: what a program of a user reads like to ``mypy --strict``.

``assert_type`` pins what the stubs say; a line with ``type: ignore`` must be an error, since unused
ones are reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nvfuser_direct import (
    CompileParams,
    DataType,
    Expr,
    Fusion,
    FusionDefinition,
    IterDomain,
    Kernel,
    KernelExecutor,
    MemoryType,
    ParallelType,
    ReductionOp,
    Split,
    TensorView,
    Val,
    define_tensor,
    doctor_report,
    lowering_passes,
    ops,
    schedule,
)

if TYPE_CHECKING:
    import torch
    from typing_extensions import assert_type


def define() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        scalar = fd.define_scalar(DataType.Float)
        total = ops.sum(ops.mul(x, scalar), [1])
        fd.add_output(ops.add(total, 1.0))
    assert_type(x, TensorView)
    assert_type(scalar, Val)
    assert_type(total, TensorView)
    assert_type(x.size(0), Val)
    assert_type(define_tensor(2), TensorView)
    assert_type(fd.fusion, Fusion)
    return fd


def define_through_the_definition() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], [True, None], DataType.Half)
        y = fd.define_tensor(sizes=[4, 8], strides=[8, 1], static_sizes=True)
        n = fd.define_scalar(2.5, DataType.Float)
        assert_type(fd.ops.relu(x), TensorView)
        assert_type(fd.ops.relu(n), Val)
        assert_type(fd.ops.sum(x, [1], keepdim=True), TensorView)
        assert_type(fd.ops.var_mean(x, [1]), "tuple[TensorView, TensorView]")
        assert_type(fd.ops.ceil_div(n, 2), Val)
        fd.sched.inline_most()
        fd.sched.transform_like(y)
        fd.ops.relu("x")  # type: ignore[call-overload]
        fd.ops.rleu(x)  # type: ignore[attr-defined]
        fd.sched.inline_all()  # type: ignore[attr-defined]
        fd.define_tensor("4")  # type: ignore[arg-type]
        fd.define_tensor([4], contiguous=True)  # type: ignore[call-overload]
        fd.define_scalar("4")  # type: ignore[call-overload]


def operate(x: TensorView, w: TensorView, n: Val) -> None:
    assert_type(x + 1, TensorView)
    assert_type(1 - x, TensorView)
    assert_type(x * n, TensorView)
    assert_type(n * x, TensorView)
    assert_type(n // 2, Val)
    assert_type(2**x, TensorView)
    assert_type(2.5 / n, Val)
    assert_type(x @ w, TensorView)
    assert_type(x < w, TensorView)
    assert_type(n >= 3, Val)
    assert_type(-x, TensorView)
    assert_type(abs(n), Val)
    assert_type(x == w, bool)
    x += 1
    assert_type(x, TensorView)
    _ = x + "1"  # type: ignore[operator]


def schedule_by_hand(total: TensorView) -> None:
    assert_type(total.split(1, 128), TensorView)
    partial = total.rfactor([1])
    assert_type(partial, TensorView)
    partial.axis(0).parallelize(ParallelType.grid_x)
    assert_type(partial.axis(0), IterDomain)
    partial.cache_after().set_memory_type(MemoryType.shared)
    schedule.transform_like(partial)
    schedule.parallelize_like(partial, selected_parallel_types={ParallelType.grid_x})
    schedule.inline_most()
    total.split("outer", 128)  # type: ignore[call-overload]
    total.axis(0).parallelize("grid_x")  # type: ignore[arg-type]


def walk(tensor: TensorView) -> list[IterDomain]:
    definition = tensor.definition()
    if isinstance(definition, ReductionOp):
        assert_type(definition.init, Val)
        assert_type(definition.allreduce, bool)
    made_by = tensor.axis(0).definition()
    if isinstance(made_by, Split):
        assert_type(made_by.outer(), IterDomain)
    for expr in tensor.uses():
        assert_type(expr, Expr)
    return tensor.get_loop_domain()


def lower(fusion: Fusion) -> str:
    kernel = fusion.lower(target="cpu", record_passes=True)
    assert_type(kernel, Kernel)
    assert_type(lowering_passes(), "list[tuple[str, str]]")
    return "\n".join(record.text for record in kernel.passes)


def run(fd: FusionDefinition, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs, compile_params=CompileParams())
    fd.validate(inputs)
    print(*(line.topic for line in doctor_report()))
    return fd.execute(inputs)

"""The verifier of kernels finds what a pass could break, and names the pass."""

from __future__ import annotations

import pytest
from pass_text import BX, TX

from nvfuser_direct import (
    Allocate,
    BlockSync,
    Expr,
    FenceAsyncProxy,
    ForLoop,
    FusionDefinition,
    IfThenElse,
    Kernel,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
)
from nvfuser_direct._core.internal import find_violations, read_statements, set_statements


def lowered(until: str) -> Kernel:
    """Rows of shared memory that other threads read, and a loop over registers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.neg(copy)
        fd.add_output(y)
        copy.set_memory_type(MemoryType.shared)
        copy.axis(0).parallelize(BX)
        y.axis(0).parallelize(BX)
        copy.axis(1).parallelize(TX)
        copy.inline_at(1)
    return fd.fusion.lower(until=until)


def flat(statements: list[Expr]) -> list[Expr]:
    """Statements of the kernel without loops that are bound to hardware."""
    found: list[Expr] = []
    for statement in statements:
        if isinstance(statement, ForLoop) and "Idx" in str(statement.index):
            found += flat(statement.body)
        else:
            found.append(statement)
    return found


def violations(kernel: Kernel, statements: list[Expr]) -> str:
    set_statements(kernel, None, "body", statements)
    return "\n".join(find_violations(kernel))


def loop_of(statements: list[Expr]) -> ForLoop:
    return next(s for s in statements if isinstance(s, ForLoop))


@pytest.mark.parametrize(
    "until", ["model_loops", "build_loop_nests", "insert_syncs", "hoist_indices"]
)
def test_kernels_of_the_compiler_are_in_order(until: str) -> None:
    assert find_violations(lowered(until)) == []


def test_a_statement_that_stands_twice_is_found() -> None:
    kernel = lowered("build_loop_nests")
    assert "a statement stands twice" in violations(kernel, [*kernel.body, kernel.body[0]])


def test_a_statement_that_stands_twice_in_a_list_is_found() -> None:
    kernel = lowered("build_loop_nests")
    statements = flat(kernel.body)
    found = violations(kernel, [*statements, statements[1]])
    assert "a statement stands twice" in found


def test_paths_of_a_condition_may_share_statements() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 4)
        y.axis(1).parallelize(ParallelType.unswitch)
    assert find_violations(fd.fusion.lower(until="place_conditions")) == []


def test_a_loop_index_outside_of_its_loop_is_found() -> None:
    kernel = lowered("build_loop_nests")
    statements = flat(kernel.body)
    loop = loop_of(statements)
    (inner,) = loop.body
    set_statements(kernel, loop, "body", [])
    found = violations(kernel, [*statements, inner])
    assert f"{loop.index} is the index of a loop around other statements" in found


def test_a_tensor_without_allocation_is_found() -> None:
    kernel = lowered("build_loop_nests")
    statements = [s for s in flat(kernel.body) if not isinstance(s, Allocate)]
    assert "T1 is not allocated here" in violations(kernel, statements)


def test_an_allocation_behind_a_use_is_found() -> None:
    kernel = lowered("build_loop_nests")
    statements = flat(kernel.body)
    statements.sort(key=lambda s: isinstance(s, Allocate))
    assert "T1 is not allocated here" in violations(kernel, statements)


def test_an_allocation_in_a_scope_that_has_ended_is_found() -> None:
    kernel = lowered("build_loop_nests")
    statements = flat(kernel.body)
    loop = loop_of(statements)
    allocations = [s for s in statements if isinstance(s, Allocate)]
    set_statements(kernel, loop, "body", [*allocations, *loop.body])
    rest = [s for s in statements if s not in allocations]
    assert "T1 is not allocated here" in violations(kernel, rest)


def test_a_barrier_that_only_some_threads_come_to_is_found() -> None:
    kernel = lowered("place_conditions")
    statements = flat(kernel.body)
    condition = next(s for s in statements if isinstance(s, IfThenElse))
    barrier = next(s for s in statements if isinstance(s, BlockSync))
    assert "threadIdx.x" in condition.condition.to_inline_string()
    set_statements(kernel, condition, "then_body", [barrier, *condition.then_body])
    found = violations(kernel, [s for s in statements if s is not barrier])
    assert "not all threads that wait for each other come here" in found


def test_a_barrier_in_a_loop_that_all_threads_run_alike_is_in_order() -> None:
    kernel = lowered("insert_syncs")
    statements = flat(kernel.body)
    loop = loop_of(statements)
    barrier = next(s for s in statements if isinstance(s, BlockSync))
    set_statements(kernel, loop, "body", [barrier, *loop.body])
    assert violations(kernel, [s for s in statements if s is not barrier]) == ""


@pytest.mark.parametrize(
    ("kind", "wrong"), [("Float", False), ("Half", False), ("Int", True), ("ComplexFloat", True)]
)
def test_a_copy_into_another_kind_of_numbers_is_found(kind: str, wrong: bool) -> None:
    """Numbers of another precision are rounded where they are stored."""
    kernel = lowered("build_loop_nests")
    value = "1|0" if kind == "ComplexFloat" else "1"
    read_statements(kernel, f"LoadStoreOp(out=T0[0:Index], arg={value}:{kind}, op=Set)\n")
    found = "\n".join(find_violations(kernel))
    assert ("where one kind of numbers is needed" in found) == wrong


def test_a_fact_about_a_statement_that_is_gone_is_found() -> None:
    kernel = lowered("build_loop_nests")
    statements = [s for s in flat(kernel.body) if not isinstance(s, ForLoop)]
    found = violations(kernel, statements)
    assert "kernel.tests has a statement that the kernel does not" in found
    assert "kernel.origin has a statement that the kernel does not" in found


def test_a_pass_is_not_run_on_a_kernel_that_is_out_of_order() -> None:
    kernel = lowered("build_loop_nests")
    set_statements(kernel, None, "body", [*kernel.body, kernel.body[0]])
    with pytest.raises(RuntimeError, match=r"(?s)after the pass build_loop_nests:.*stands twice"):
        kernel.run_pass("insert_syncs")


def test_a_lost_fence_of_the_async_proxy_is_found() -> None:
    """A barrier of the block alone does not show a bulk copy what threads wrote."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        staged = y.cache_before(LoadStoreOpType.tma)
        staged.set_memory_type(MemoryType.shared)
        for tensor in (staged, y):
            tensor.axis(0).parallelize(BX)
        y.axis(1).parallelize(ParallelType.tma)
        staged.axis(1).parallelize(TX)
        fd.sched.inline_at(y, 1, selected_tensors=[staged])
    kernel = fd.fusion.lower()
    assert find_violations(kernel) == []
    (fence,) = (s for s in kernel.body if isinstance(s, FenceAsyncProxy))
    statements = [s for s in kernel.body if s is not fence]
    assert "without a fence of the async proxy" in violations(kernel, statements)

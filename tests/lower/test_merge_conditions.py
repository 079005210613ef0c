"""Conditions: what is tested once for several statements, or for all iterations of a loop, and what
stays where it is. Golden texts of the kernel IR before and after the pass."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import has_nvrtc

from nvfuser_direct import (
    CompileParams,
    FusionDefinition,
    KernelExecutor,
    MemoryType,
    ParallelType,
    compile_cuda_source,
)

if TYPE_CHECKING:
    from collections.abc import Callable

BX, BY = ParallelType.grid_x, ParallelType.grid_y
TX, TY = ParallelType.block_x, ParallelType.block_y


def bound(fd: FusionDefinition, reference, *bindings: ParallelType) -> None:
    """All tensors have the transforms of `reference`, and its first axes these bindings."""
    fd.sched.transform_like(reference)
    for axis, binding in enumerate(bindings):
        reference.axis(axis).parallelize(binding)
    fd.sched.parallelize_like(reference)
    fd.sched.inline_most()


def plain(text: str) -> str:
    """Statements, loops and conditions: without storage, hardware loops and outer parentheses."""
    lines, hidden = [], []
    for line in text.splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2
        while hidden and depth <= hidden[-1]:
            hidden.pop()
        if "ALLOCATE" in line or line.startswith("}") or not line.strip():
            continue
        if re.match(r"\s*FOR (thread|block)Idx", line):
            hidden.append(depth)
            continue
        line = (
            line.replace(", cache_op=Streaming", "").replace("( ", "(").replace(" )", ")").strip()
        )
        line = re.sub(r"FOR (\w+) in .*:", r"FOR \1:", line)
        line = re.sub(r"\w+Idx\.(\w)", lambda at: ("b" if "block" in at[0] else "t") + at[1], line)
        lines.append("  " * (depth - len(hidden) - 1) + line.strip())
    text = "\n".join(lines)
    names: dict[str, str] = {}
    for found in re.finditer(r"FOR (i\d+):", text):
        names.setdefault(found[1], f"k{len(names)}")
    return re.sub(r"\bi\d+\b", lambda name: names.get(name[0], name[0]), text) + "\n"


def around(fd: FusionDefinition, target: str = "cuda") -> tuple[str, str]:
    """The kernel before and after the pass."""
    passes = fd.fusion.lower(target=target, record_passes=True).passes
    texts = {record.name: plain(record.text) for record in passes}
    return texts["place_conditions"], texts["merge_conditions"]


def check_golden(fd: FusionDefinition, before: str, after: str) -> None:
    found = around(fd)
    assert found[0] == textwrap.dedent(before).lstrip("\n")
    assert found[1] == textwrap.dedent(after).lstrip("\n")


def run(fd: FusionDefinition, *inputs: torch.Tensor) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor.run(inputs)


# ---- Neighbours ----------------------------------------------------------------------------------


def sum_of_inputs() -> FusionDefinition:
    with FusionDefinition() as fd:
        xs = [fd.define_tensor([-1], contiguity=True) for _ in range(3)]
        y = fd.ops.mul(fd.ops.add(xs[0], xs[1]), xs[2])
        fd.add_output(y)
        for x in xs:
            x.cache_after()
        y.split(0, 128)
        bound(fd, y, BX, TX)
    return fd


def test_a_row_of_equal_conditions_is_one() -> None:
    check_golden(
        sum_of_inputs(),
        """
        IF (((bx * 128) + tx) < i0):
          T5_l[0] = Set(T0_g[((bx * 128) + tx)])
          T6_l[0] = Set(T1_g[((bx * 128) + tx)])
        T3_l[0] = T5_l[0] + T6_l[0];
        IF (((bx * 128) + tx) < i0):
          T7_l[0] = Set(T2_g[((bx * 128) + tx)])
          T4_g[((bx * 128) + tx)] = T3_l[0] * T7_l[0];
        """,
        """
        IF (((bx * 128) + tx) < i0):
          T5_l[0] = Set(T0_g[((bx * 128) + tx)])
          T6_l[0] = Set(T1_g[((bx * 128) + tx)])
          T3_l[0] = T5_l[0] + T6_l[0];
          T7_l[0] = Set(T2_g[((bx * 128) + tx)])
          T4_g[((bx * 128) + tx)] = T3_l[0] * T7_l[0];
        """,
    )


def unrolled_copy() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.set(x)
        fd.add_output(y)
        x.cache_after()
        y.split(0, 4)
        y.reorder({2: 1})  # [rows / 4, columns, 4]
        y.split(1, 32)
        y.reorder({3: 2})  # [rows / 4, columns / 32, 4, 32]
        bound(fd, y, BY, BX, ParallelType.unroll, TX)
    return fd


def test_both_paths_of_unswitched_loops_are_joined_with_those_of_the_next() -> None:
    """And a term that both paths test is tested before them."""
    check_golden(
        unrolled_copy(),
        """
        IF ((((by * 4) + 3) < i0) && (((bx * 32) + tx) < i1)):
          FOR k0:
            T2_l[k0] = Set(T0_g[(((((by * 4) + k0) * i1) + (bx * 32)) + tx)])
        ELSE:
          FOR k0:
            IF ((((by * 4) + k0) < i0) && (((bx * 32) + tx) < i1)):
              T2_l[k0] = Set(T0_g[(((((by * 4) + k0) * i1) + (bx * 32)) + tx)])
        IF ((((by * 4) + 3) < i0) && (((bx * 32) + tx) < i1)):
          FOR k1:
            T1_g[(((((by * 4) + k1) * i1) + (bx * 32)) + tx)] = Set(T2_l[k1])
        ELSE:
          FOR k1:
            IF ((((by * 4) + k1) < i0) && (((bx * 32) + tx) < i1)):
              T1_g[(((((by * 4) + k1) * i1) + (bx * 32)) + tx)] = Set(T2_l[k1])
        """,
        """
        IF (((bx * 32) + tx) < i1):
          IF (((by * 4) + 3) < i0):
            FOR k0:
              T2_l[k0] = Set(T0_g[(((((by * 4) + k0) * i1) + (bx * 32)) + tx)])
            FOR k1:
              T1_g[(((((by * 4) + k1) * i1) + (bx * 32)) + tx)] = Set(T2_l[k1])
          ELSE:
            FOR k0:
              IF (((by * 4) + k0) < i0):
                T2_l[k0] = Set(T0_g[(((((by * 4) + k0) * i1) + (bx * 32)) + tx)])
            FOR k1:
              IF (((by * 4) + k1) < i0):
                T1_g[(((((by * 4) + k1) * i1) + (bx * 32)) + tx)] = Set(T2_l[k1])
        """,
    )


def test_a_barrier_stays_between_conditions() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        staged = fd.ops.set(x)
        y = fd.ops.neg(staged)
        fd.add_output(y)
        staged.set_memory_type(MemoryType.shared)
        staged.split(0, 128)
        y.split(0, 128)
        for tensor, thread in ((staged, TX), (y, TY)):
            tensor.axis(0).parallelize(BX)
            tensor.axis(1).parallelize(thread)
        staged.inline_at(1)
    before, after = around(fd)
    assert before.count("IF") == after.count("IF") == 2
    depths = [len(line) - len(line.lstrip()) for line in after.splitlines() if "SYNC" in line]
    assert depths == [0]


# ---- Sums ----------------------------------------------------------------------------------------


def product(*, register_tile: bool) -> FusionDefinition:
    """[M, K] times [K, N], an element or a tile of 4 x 4 a thread."""
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], contiguity=True)
        b = fd.define_tensor([-1, -1], contiguity=True)
        factors = fd.ops.mul(
            fd.ops.broadcast(a, [False, False, True]), fd.ops.broadcast(b, [True, False, False])
        )
        c = fd.ops.sum(factors, [1])
        fd.add_output(c)
        acc = c.cache_before()
        if not register_tile:
            acc.split(2, 16)
            acc.split(1, 8)
            acc.split(0, 16)  # [M / 16, 16, K / 8, 8, N / 16, 16]
            acc.reorder({0: 0, 4: 1, 1: 2, 5: 3, 2: 4, 3: 5})
            bound(fd, acc, BY, BX, TY, TX)
            return fd
        shared = [a.cache_after(), b.cache_after()]
        for tensor in shared:
            tensor.set_memory_type(MemoryType.shared)
        acc.split(0, 4)
        acc.split(0, 8)
        acc.split(-1, 4)
        acc.split(-2, 8)
        acc.split(3, 8)  # [M / 32, 8, 4, K / 8, 8, N / 32, 8, 4]
        acc.reorder({0: 0, 5: 1, 3: 2, 1: 3, 6: 4, 4: 5, 2: 6, 7: 7})
        fd.sched.transform_like(acc)
        for axis, binding in ((0, BY), (1, BX), (3, TY), (4, TX)):
            acc.axis(axis).parallelize(binding)
        fd.sched.parallelize_like(acc)
        for tensor in shared:
            tensor.inline_at(3)
        for factor in (factors, *factors.definition().inputs()):
            factor.inline_at(-1)
        acc.inline_at(2)
    return fd


def test_a_product_is_tested_once_with_its_sum() -> None:
    """Rows and columns are tested before the loops, the reduced axis once for load and product."""
    check_golden(
        product(register_tile=False),
        """
        T6_l[0] = Set(float(0))
        FOR k0:
          FOR k1:
            IF ((((by * 16) + ty) < i0) && (((k0 * 8) + k1) < i1)):
              T2_l[0] = Set(T0_g[(((((by * 16) + ty) * i1) + (k0 * 8)) + k1)])
            IF ((((k0 * 8) + k1) < i1) && (((bx * 16) + tx) < i4)):
              T3_l[0] = Set(T1_g[(((((k0 * 8) + k1) * i4) + (bx * 16)) + tx)])
            T4_l[0] = T2_l[0] * T3_l[0];
            IF (((((by * 16) + ty) < i0) && (((k0 * 8) + k1) < i1)) && (((bx * 16) + tx) < i4)):
              T6_l[0] = T6_l[0] + T4_l[0];
        IF ((((by * 16) + ty) < i0) && (((bx * 16) + tx) < i4)):
          T5_g[(((((by * 16) + ty) * i4) + (bx * 16)) + tx)] = Set(T6_l[0])
        """,
        """
        IF ((((by * 16) + ty) < i0) && (((bx * 16) + tx) < i4)):
          T6_l[0] = Set(float(0))
          FOR k0:
            FOR k1:
              IF (((k0 * 8) + k1) < i1):
                T2_l[0] = Set(T0_g[(((((by * 16) + ty) * i1) + (k0 * 8)) + k1)])
                T3_l[0] = Set(T1_g[(((((k0 * 8) + k1) * i4) + (bx * 16)) + tx)])
                T4_l[0] = T2_l[0] * T3_l[0];
                T6_l[0] = T6_l[0] + T4_l[0];
          T5_g[(((((by * 16) + ty) * i4) + (bx * 16)) + tx)] = Set(T6_l[0])
        """,
    )


def test_products_of_a_tile_are_not_tested_one_by_one() -> None:
    """Sums for rows and columns that are holes are never stored."""
    _, after = around(product(register_tile=True))
    products = after.split("T4_l[0] = ", 1)[0].splitlines()
    conditions = []
    depth = 99
    for line in reversed(products):
        indent = len(line) - len(line.lstrip())
        if indent < depth:
            depth = indent
            conditions += [line.strip()] if "IF" in line else []
        elif "SYNC" in line:
            break
    assert len(conditions) == 1, after
    assert re.fullmatch(r"IF \(\(\(k\d+ \* 8\) \+ k\d+\) < i1\):", conditions[0])
    assert re.search(r"T4_l\[0\] = (.*) \* .*\n +T\d+_l\[.*\] = T\d+_l\[.*\] \+ T4_l\[0\];", after)


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("register_tile", [False, True])
def test_products_and_their_sums_are_one_instruction(register_tile: bool) -> None:
    executor = KernelExecutor()
    executor.compile(
        product(register_tile=register_tile).fusion,
        [],
        compile_params=CompileParams(device="cuda:0"),
    )
    ptx = compile_cuda_source(executor.kernel_source(), "product", "compute_90").decode()
    assert "fma.rn.f32" in ptx
    assert not re.search(r"\b(mul|add)(\.rn)?\.f32", ptx)


@pytest.mark.parametrize("register_tile", [False, True])
def test_products(target: str, register_tile: bool) -> None:
    for m, k, n in ((1, 1, 1), (33, 9, 47), (64, 64, 32), (5, 0, 7)):
        a, b = torch.randn(m, k, device=target), torch.randn(k, n, device=target)
        (c,) = run(product(register_tile=register_tile), a, b)
        torch.testing.assert_close(c, (a.double() @ b.double()).float())


def test_infinities_beyond_the_end_of_a_reduced_axis_are_not_added(target: str) -> None:
    """A tile's values from its last round are no part of this one's sum."""
    fd = product(register_tile=True)
    a = torch.full((40, 12), float("inf"), device=target)
    b = torch.ones(12, 40, device=target)
    a[:, 8:] = 1.0
    a[:, :8] = torch.where(torch.arange(40, device=target)[:, None] < 4, a[:, :8], 2.0)
    (c,) = run(fd, a, b)
    torch.testing.assert_close(c, a.sum(1, keepdim=True).expand(40, 40))


def minima_of_blocks() -> FusionDefinition:
    """One element a thread of the first stage, some beyond the end."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        y = fd.ops.min(fd.ops.add(x, 1.0), [1])
        fd.add_output(y)
        y.split(1, 3)  # 3 x 3 for 8
        stage = y.rfactor([1])
        bound(fd, stage, BX)
    return fd


def test_holes_of_the_root_of_a_first_stage_are_left_out(target: str) -> None:
    x = torch.rand(5, 8, device=target) + 3
    (y,) = run(minima_of_blocks(), x)
    torch.testing.assert_close(y, x.amin(1) + 1)


# ---- Blocks --------------------------------------------------------------------------------------


def total_and_more() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [0])
        fd.add_output(fd.ops.exp(fd.ops.neg(fd.ops.sqrt(s))))
        s.split(0, 128)
        bound(fd, s, BX, TX)
    return fd


def test_what_follows_from_a_grid_reduction_is_computed_by_the_block_that_stores() -> None:
    _, after = around(total_and_more())
    assert re.search(
        r"IF \(\(tx == 0\) && b\d+\):\n"
        r"  T2_l\[0\] = sqrtf\(T1_l\[0\]\);\n"
        r"  T3_l\[0\] = -T2_l\[0\];\n"
        r"  T4_g\[0\] = expf\(T3_l\[0\]\);\n$",
        after,
    )


def test_a_grid_reduction_and_what_follows(target: str) -> None:
    x = torch.rand(1000, device=target)
    (y,) = run(total_and_more(), x)
    torch.testing.assert_close(y, x.sum().sqrt().neg().exp())


# ---- Terms that hold anyway ----------------------------------------------------------------------


def vectorized_rows() -> FusionDefinition:
    """Rows of whole vectors, which are added one by one."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        loaded = x.cache_after()
        y.split(1, 4)
        y.split(1, 32)  # [rows, columns / 128, 32, 4]
        partial = y.rfactor([1, 3])
        fd.sched.transform_like(partial)
        partial.axis(0).parallelize(BX)
        partial.axis(2).parallelize(TX)
        fd.sched.parallelize_like(partial)
        loaded.axis(3).parallelize(ParallelType.vectorize)
        fd.sched.inline_most()
    return fd


def test_the_launch_tells_that_vectors_are_whole() -> None:
    """Then the elements of one are in range together."""
    text = around(vectorized_rows())[1]
    assert text.count("IF") == 2  # the sum with its load; the store
    (condition,) = re.findall(r"IF \(\(\((k0 .*)\) \+ \(tx \* 4\)\) < i1\):", text)
    assert condition == "k0 * 128"


def test_whole_vectors(target: str) -> None:
    fd = vectorized_rows()
    for columns in (4, 128, 132, 1000):
        x = torch.randn(3, columns, device=target)
        torch.testing.assert_close(run(fd, x)[0], x.sum(1))
    with pytest.raises(RuntimeError, match="needs a multiple"):
        run(fd, torch.randn(3, 5, device=target))


def neighbours() -> FusionDefinition:
    """Differences of neighbours, four a thread."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        n = fd.ops.size(x, 0)
        left = fd.ops.slice(x, [0], [fd.ops.sub(n, 1)])
        right = fd.ops.slice(x, [1], [n])
        y = fd.ops.sub(right, left)
        fd.add_output(y)
        y.split(0, 4)
        bound(fd, y, BX, ParallelType.unswitch)
    return fd


def test_a_condition_names_no_end_twice() -> None:
    """Statements of one unswitched loop that end at the same place are one term."""
    for text in around(neighbours()):
        for condition in re.findall(r"IF (.*):", text):
            terms = condition.split(" && ")
            assert len(set(terms)) == len(terms)


def test_neighbours(target: str) -> None:
    for size in (2, 5, 9, 100):
        x = torch.randn(size, device=target)
        assert torch.equal(run(neighbours(), x)[0], x.diff())


@pytest.mark.parametrize("define", [sum_of_inputs, unrolled_copy])
@pytest.mark.parametrize("size", [0, 1, 31, 128, 1000])
def test_values_are_the_same(
    target: str, define: Callable[[], FusionDefinition], size: int
) -> None:
    fd = define()
    if define is sum_of_inputs:
        x, y, z = (torch.randn(size, device=target) for _ in range(3))
        assert torch.equal(run(fd, x, y, z)[0], (x + y) * z)
    else:
        x = torch.randn(size, 33, device=target)
        assert torch.equal(run(fd, x)[0], x)

"""Names for parts of indices: what gets one, where it is declared, and what stays where it is."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest
import torch

from nvfuser_direct import FusionDefinition, KernelExecutor, MemoryType, ParallelType, _core

SCHEDULES = Path(__file__).resolve().parents[2] / "examples" / "schedules"
sys.path.insert(0, str(SCHEDULES))

import harness  # noqa: E402

NAMES = sorted(path.stem for path in SCHEDULES.glob("*.py") if path.stem != "harness")
BX, TX = ParallelType.grid_x, ParallelType.block_x
DECLARATION = re.compile(r"const nvfuser_index_t (i\d+) = (?!T\d+\.logical_size)(.*);")
OPERATION = re.compile(r" [-+*/%^] |ceilDiv|divide|modulo")


def text_of(fd: FusionDefinition, target: str = "cuda", *, is_hoisted: bool = True) -> str:
    disabled = [] if is_hoisted else ["index_hoist"]
    return _core.call_with_options(
        lambda: fd.fusion.lower(target=target).print_source(), [], disabled
    )


def names(text: str) -> list[tuple[int, str, str]]:
    """Declared names: depth of their braces, name, expression."""
    found = []
    for line in text.splitlines():
        if match := DECLARATION.search(line):
            found.append(((len(line) - len(line.lstrip())) // 2, match[1], match[2]))
    return found


def unrolled_pointwise() -> FusionDefinition:
    """Four elements a thread, with an unswitched condition."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.relu(fd.ops.neg(x))
        fd.add_output(y)
        y.split(0, 128)
        y.split(0, 4)
        fd.sched.transform_like(y)
        for tensor, (outer, unroll, inner) in ((y, (0, 1, 2)),):
            tensor.axis(outer).parallelize(BX)
            tensor.axis(unroll).parallelize(ParallelType.unroll)
            tensor.axis(inner).parallelize(TX)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    return fd


def test_what_an_unrolled_loop_shares_is_named_once() -> None:
    """Terms of lanes stay in the loop; the rest of the sum is declared before it."""
    text = text_of(unrolled_pointwise())
    base = "block_x * 512 + thread_x"
    outer = [name for depth, name, expression in names(text) if expression == base and depth == 1]
    assert len(outer) == 1
    assert text.count(base) == 1
    assert re.search(rf"{outer[0]} \+ i\d+ \* 128", text)


def test_a_name_is_declared_in_the_loop_that_knows_it() -> None:
    text = text_of(unrolled_pointwise())
    assert {depth for depth, _, _ in names(text)} == {1, 3}
    for depth, _, expression in names(text):
        loop_indices = re.findall(r"for \(nvfuser_index_t (i\d+)", text)
        uses_lane = any(re.search(rf"\b{index}\b", expression) for index in loop_indices)
        assert depth > 1 if uses_lane else depth == 1


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_the_option_leaves_indices_as_they_are(target: str) -> None:
    text = text_of(unrolled_pointwise(), target, is_hoisted=False)
    assert names(text) == []


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_text_is_the_same_every_time(target: str) -> None:
    assert text_of(unrolled_pointwise(), target) == text_of(unrolled_pointwise(), target)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_trivial_has_a_name(name: str) -> None:
    """No constants, no loop indices alone, no single additions or multiplications."""
    example = importlib.import_module(name)
    fd = harness.scheduled(example, example.SIZES[0])
    for target in ("cuda", "cpu"):
        for _, _, expression in names(text_of(fd, target)):
            operations = len(re.findall(r" [-+*/%^] ", expression))
            is_division = re.search(r"ceilDiv|divide|modulo|index_| [/%] ", expression)
            assert operations >= 2 or is_division, expression


def test_examples_compute_less() -> None:
    operations = {}
    for is_hoisted in (False, True):
        total = 0
        for name in NAMES:
            example = importlib.import_module(name)
            fd = harness.scheduled(example, example.SIZES[0])
            for target in ("cuda", "cpu"):
                total += len(OPERATION.findall(text_of(fd, target, is_hoisted=is_hoisted)))
        operations[is_hoisted] = total
    assert operations[True] < 0.85 * operations[False], operations


def test_every_name_is_used() -> None:
    for name in NAMES:
        example = importlib.import_module(name)
        fd = harness.scheduled(example, example.SIZES[0])
        for target in ("cuda", "cpu"):
            text = text_of(fd, target)
            for _, declared, _ in names(text):
                assert len(re.findall(rf"\b{declared}\b", text)) >= 2


def test_a_sum_that_has_a_name_is_a_part_of_larger_ones() -> None:
    """A row's position in memory is its start and the position that the condition tests."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(1, 128)
        y.axis(0).parallelize(BX)
        y.axis(2).parallelize(TX)
    text = text_of(fd)
    (column,) = re.findall(r"if \((i\d+) < i1\)", text)
    assert re.search(rf"{column} = thread_x \+ i\d+ \* 128;", text)
    assert re.search(rf"= block_x \* i1 \+ {column};", text)


def test_a_sum_that_has_a_name_is_a_part_of_sums_of_the_same_place() -> None:
    """The columns of a tile, tested before the loops, are a part of the result's addresses."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(1, 16)
        y.split(0, 16)
        y.reorder({1: 2, 2: 1})
        bindings = (ParallelType.grid_y, BX, ParallelType.block_y, TX)
        for axis, binding in enumerate(bindings):
            y.axis(axis).parallelize(binding)
    text = text_of(fd)
    (column,) = re.findall(r"(i\d+) = block_x \* 16 \+ thread_x;", text)
    assert re.search(rf"i\d+ \* i1 \+ {column}\b", text)
    assert text.count("block_x * 16") == 1


def test_what_is_taken_from_a_sum_leaves_its_name() -> None:
    with FusionDefinition() as fd:
        tensors = [fd.define_tensor([-1, -1], contiguity=True) for _ in range(3)]
        fd.add_output(fd.ops.cat(tensors, 0))
    _core.schedule.trivial(fd.fusion)
    text = text_of(fd)
    (position,) = re.findall(r"(i\d+) = block_x \* 256 \+ thread_x \+ i\d+ \* 16384;", text)
    assert re.search(rf"\[{position} - i0 \* i1\]", text)
    assert text.count("* 16384") == 1


def test_a_test_names_the_position_that_an_asynchronous_copy_reads() -> None:
    fd = harness.scheduled(
        importlib.import_module("row_reduction_pipelined"),
        importlib.import_module("row_reduction_pipelined").SIZES[0],
    )
    lines = [line for line in text_of(fd).splitlines() if "cp_async_ca<" in line]
    assert lines
    assert all("thread_x" not in line for line in lines)


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_a_sum_and_a_product_have_one_order(target: str) -> None:
    """The end of a loop, and a condition in it, name the size of a cat alike."""
    with FusionDefinition() as fd:
        tensors = [fd.define_tensor([-1, -1], contiguity=True) for _ in range(10)]
        fd.add_output(fd.ops.cat(tensors, 0))
    _core.schedule.trivial(fd.fusion)
    text = text_of(fd, target)
    pairs = re.findall(r"\b(i\d+) ([+*]) (i\d+)\b", text)
    assert pairs
    assert not {(b, op, a) for a, op, b in pairs if a != b} & set(pairs)


def test_repeated_terms_of_a_sum_all_count(target: str) -> None:
    """2 * n + m is more than n + m."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.cat([x, y], 0), 1.0))
        fd.add_output(fd.ops.add(fd.ops.cat([x, y, x], 0), 1.0))
    x, y = torch.randn(5, device=target), torch.randn(3, device=target)
    outputs = fd.execute([x, y])
    assert torch.equal(outputs[0], torch.cat([x, y]) + 1)
    assert torch.equal(outputs[1], torch.cat([x, y, x]) + 1)


def test_rows_that_neighbours_look_up_are_divided_for_once() -> None:
    """A quotient that several statements behind one condition need has one name."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        rows = [fd.define_tensor([-1], contiguity=True) for _ in range(2)]
        y = x
        for row in rows:
            y = fd.ops.add(y, fd.ops.broadcast(row, [False, True]))
        fd.add_output(y)
        for tensor in (x, *rows):
            tensor.cache_after()
        y.merge(0, 1)
        y.split(0, 128)
        fd.sched.transform_like(y)
        y.axis(1).parallelize(TX)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    assert len(re.findall(r"index_quotient\(i\d+, i1\)", text_of(fd))) == 1


# -- Guards --


def divided_by_a_size(*, is_guarded: bool) -> FusionDefinition:
    """Rows are found by dividing by the number of columns."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True])
        y = fd.define_tensor([-1, -1], contiguity=[False, True])
        z = fd.ops.add(x, y)
        fd.add_output(z)
        z.merge(0, 1)
        if is_guarded:
            z.split(0, 128)
            z.axis(0).parallelize(BX)
            z.axis(1).parallelize(TX)
        else:
            z.axis(0).parallelize(BX)
        fd.sched.transform_like(z)
        fd.sched.parallelize_like(z)
        fd.sched.inline_most()
    return fd


def test_a_division_stays_behind_its_guard() -> None:
    """A thread beyond the end may not divide by a size of 0."""
    text = text_of(divided_by_a_size(is_guarded=True))
    condition = text.index("if (")
    divisions = [
        division.start() for division in re.finditer(r"index_(quotient|remainder)\(", text)
    ]
    assert len(divisions) == 2  # the row and the column, shared by the two operands
    assert min(divisions) > condition


def test_a_division_that_no_condition_guards_is_shared() -> None:
    text = text_of(divided_by_a_size(is_guarded=False))
    assert len(re.findall(r"index_quotient\(block_x, i\d+\)", text)) == 1


def test_sizes_of_zero(target: str) -> None:
    for is_guarded in (True, False):
        executor = KernelExecutor()
        fd = divided_by_a_size(is_guarded=is_guarded)
        for shape in ((3, 5), (0, 5), (4, 0), (33, 17)):
            x = torch.randn(shape[0], shape[1] + 3, device=target)[:, : shape[1]]
            if not executor.is_compiled():
                executor.compile(fd.fusion, [x, x])
            torch.testing.assert_close(executor.run([x, x])[0], x + x)


# -- The CPU target --


def test_what_threads_share_is_known_to_their_loop() -> None:
    """Nothing that depends on threadIdx leaves the loop over threads."""
    for name in NAMES:
        example = importlib.import_module(name)
        fd = harness.scheduled(example, example.SIZES[0])
        depth_of_threads = None
        for line in text_of(fd, "cpu").splitlines():
            indent = len(line) - len(line.lstrip())
            if depth_of_threads is not None and indent <= depth_of_threads:
                depth_of_threads = None
            if line.lstrip().startswith("for (threadIdx"):
                depth_of_threads = indent if depth_of_threads is None else depth_of_threads
            if (match := DECLARATION.search(line)) and "threadIdx" in match[2]:
                assert depth_of_threads is not None, line


def test_without_threads_a_block_divides_once() -> None:
    """A loop with a division in it has branches, and is not made for vectors."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(1, 64)
        y.merge(0, 1)
        y.axis(0).parallelize(BX)
    text = text_of(fd, "cpu")
    before_loops = text.partition(" for (")[0]
    assert text.count("divide(blockIdx.x") == before_loops.count("divide(blockIdx.x") == 1
    assert text.count("modulo(blockIdx.x") == before_loops.count("modulo(blockIdx.x") == 1


def test_values_are_the_same(target: str) -> None:
    for is_hoisted in (False, True):
        executor = KernelExecutor()
        x = torch.randn(100_003, device=target)
        _core.call_with_options(
            lambda executor=executor, x=x: executor.compile(unrolled_pointwise().fusion, [x]),
            [],
            [] if is_hoisted else ["index_hoist"],
        )
        assert torch.equal(executor.run([x])[0], torch.relu(-x))


def test_vector_accesses_stay() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1024], contiguity=True)
        y = fd.ops.set(x)
        fd.add_output(y)
        tile = x.cache_after()
        tile.set_memory_type(MemoryType.shared)
        for tensor in (tile, y):
            tensor.split(1, 4)
            tensor.axis(0).parallelize(BX)
            tensor.axis(1).parallelize(TX)
            tensor.axis(2).parallelize(ParallelType.vectorize)
    hoisted, plain = text_of(fd), text_of(fd, is_hoisted=False)
    for access in ("load_vector<4", "store_vector<4", "copy_vector<4"):
        assert hoisted.count(access) == plain.count(access)

"""Bulk copies: boxes of one to five axes between global and shared memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from bulk_copies import BULK, TMA, bind_box, bind_threads, loaded, stored, tile
from cuda_kernels import has_nvrtc
from hard_case import (
    BX,
    BY,
    SHARED,
    TX,
    Compiled,
    assert_same,
    check,
    count,
    cuda_text,
    lowered,
    numbers,
    par,
    statements,
)

from nvfuser_direct import (
    Allocate,
    AsyncCommit,
    AsyncWait,
    BlockSync,
    BulkLoad,
    BulkStore,
    BulkStoreWait,
    DataType,
    FenceAsyncProxy,
    FusionDefinition,
    KernelExecutor,
    LoadStoreOp,
    LoadStoreOpType,
    UserError,
    _core,
)
from nvfuser_direct._core.internal import find_violations

pytestmark = pytest.mark.sanitize

# Boxes, and sizes that they divide, do not divide, and are larger than; strides are multiples of
# 16 bytes.
COPIES = [
    ((64,), [(1,), (4,), (63,), (64,), (1000,)]),
    ((16, 32), [(1, 4), (16, 32), (17, 36), (100, 200), (3, 100)]),
    ((4, 8, 16), [(1, 1, 4), (5, 9, 20), (8, 16, 32), (2, 3, 100)]),
    ((2, 4, 4, 8), [(1, 1, 1, 4), (3, 5, 6, 12), (2, 4, 4, 8)]),
    ((2, 2, 2, 4, 8), [(1, 1, 1, 1, 4), (3, 1, 5, 6, 12), (2, 3, 2, 4, 8)]),
]


# -- copies --


@pytest.mark.parametrize(("boxes", "shapes"), COPIES)
def test_loads_of_boxes(target, boxes, shapes):
    """Memory beyond the tensor is not read, and nothing of it is seen."""
    check(loaded(boxes), target, [(shape,) for shape in shapes], lambda x: -x)


@pytest.mark.parametrize(("boxes", "shapes"), COPIES)
def test_stores_of_boxes(target, boxes, shapes):
    """Elements of a box beyond the tensor are not written."""
    check(stored(boxes), target, [(shape,) for shape in shapes], lambda x: -x)


@pytest.mark.parametrize(
    ("dtype", "torch_dtype"),
    [
        (DataType.Int32, torch.int32),
        (DataType.Int, torch.int64),
        (DataType.Double, torch.float64),
        (DataType.BFloat16, torch.bfloat16),
        (DataType.Half, torch.float16),
    ],
)
def test_sizes_of_elements(target, dtype, torch_dtype):
    shapes = [(1, 16), (17, 48), (32, 64)]
    for make in (loaded, stored):
        fd = make((16, 32), dtype)
        check(fd, target, [(s,) for s in shapes], lambda x: x, dtype=torch_dtype)


@pytest.mark.parametrize(
    ("dtype", "torch_dtype"),
    [(DataType.Bool, torch.bool), (DataType.ComplexFloat, torch.complex64)],
)
def test_elements_that_are_no_numbers(target, dtype, torch_dtype):
    executor = KernelExecutor()
    fd = loaded((8, 64), dtype)
    for shape in ((1, 16), (9, 80), (64, 128)):
        x = (torch.arange(shape[0] * shape[1]).reshape(shape) % 3 == 0).to(torch_dtype).to(target)
        if not executor.is_compiled():
            executor.compile(fd.fusion, [x])
        assert torch.equal(executor.run([x])[0], x)


def test_boxes_are_described_in_any_thread(target):
    """Also in one that has not used the device before."""
    run = Compiled(loaded((16, 32)))
    x = numbers(17, 36, device=target)
    with ThreadPoolExecutor(1) as pool:
        assert_same(pool.submit(run, x).result(), [-x])


@pytest.mark.parametrize("shape", [(0, 32), (8, 0), (0, 0)])
def test_tensors_without_elements(target, shape):
    check(loaded((16, 32)), target, [(shape,)], lambda x: -x)
    check(stored((16, 32)), target, [(shape,)], lambda x: -x)


def test_sum_of_a_tensor_without_elements(target):
    """A block runs for an output that is not empty; it has no box."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        y.split(1, 64)
        part = y.rfactor([1])
        a.split(1, 64)
        bind_box(a, 2)
        for tensor in (a, part, y):
            par(tensor, BX)
        par(part, None, None, TX)
        par(y, None, TX)
        fd.sched.inline_at(part, 2, selected_tensors=[a])
    shapes = [(3, 0), (0, 64), (5, 64), (1, 4), (7, 200)]
    check(fd, target, [(s,) for s in shapes], lambda x: x.sum(1))


def test_boxes_of_a_kernel_with_one_thread(target):
    """No test says which thread loads."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([3, 32], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        bind_box(a, 0)
    cuda_text(fd.fusion)
    check(fd, target, [((3, 32),)], lambda x: -x)


def test_strides_with_gaps(target):
    """The rows of a part of a larger tensor."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True])
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        tile(y, (16, 32))
        tile(a, (16, 32))
        bind_box(a)
        bind_threads(y)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
    executor = KernelExecutor()
    whole = numbers(50, 128, device=target).clone()
    for part in (whole[:, :96], whole[3:40, 4:50], whole[::2, 8:12]):
        if not executor.is_compiled():
            executor.compile(fd.fusion, [part])
        assert_same(executor.run([part]), [-part])


def test_axes_in_another_order(target):
    """The innermost axis of the box is the one that is innermost in memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, stride_order=[0, 1])
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.reorder([1, 0])
            tile(tensor, (16, 32))
        a.set_allocation_domain(a.get_loop_domain(), True)
        bind_box(a)
        bind_threads(y)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
    executor = KernelExecutor()
    for shape in ((32, 16), (100, 37), (4, 1)):
        x = numbers(shape[1], shape[0], device=target).t()
        if not executor.is_compiled():
            executor.compile(fd.fusion, [x])
        assert_same(executor.run([x]), [-x])


def test_a_box_of_merged_axes(target):
    """Rows that follow each other without gaps are one axis of boxes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.merge(1, 2)
            tile(tensor, (4, 64))
        bind_box(a)
        bind_threads(y)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
    (load,) = [s for s in statements(lowered(fd.fusion)) if isinstance(s, BulkLoad)]
    assert load.box == [64, 4]
    shapes = [(4, 8, 8), (5, 3, 20), (1, 7, 4), (9, 2, 100)]
    check(fd, target, [(s,) for s in shapes], lambda x: -x)


@pytest.mark.parametrize(("rows", "step"), [(8, 2), (5, 3), (1, 2), (16, 9)])
def test_boxes_in_steps(target, rows, step):
    """Every `step`th row is one of a box: the tensor has an axis for the rows in between."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):  # [tiles, tiles, step, rows, 32]
            tensor.split(1, 32)
            tensor.split(0, step)
            tensor.split(0, rows)
            tensor.reorder({3: 1, 1: 3})
            par(tensor, BY, BX)
        bind_box(a, 3)
        par(y, None, None, None, None, TX)
        fd.sched.inline_at(y, 3, selected_tensors=[a])
    (load,) = [s for s in statements(lowered(fd.fusion)) if isinstance(s, BulkLoad)]
    assert load.box == [32, rows, 1]
    shapes = [(step * m, n) for m in (1, rows, rows + 1, 3 * rows) for n in (4, 32, 100)]
    check(fd, target, [(shape,) for shape in shapes], lambda x: -x)
    with pytest.raises(UserError, match="A bulk copy needs a split without remainder"):
        check(fd, target, [((step + 1, 32),)], lambda x: -x)


def test_boxes_of_a_serial_loop(target):
    """A barrier is used again for the next box, when all have read the one before."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.split(1, 64)
            par(tensor, BX)
        bind_box(a, 2)
        y.split(2, 32)
        par(y, None, None, None, TX)
        fd.sched.inline_at(y, 2, selected_tensors=[a])
    kernel = lowered(fd.fusion)
    assert count(kernel, AsyncCommit) == count(kernel, AsyncWait) == 1
    assert [s.war_sync for s in statements(kernel) if isinstance(s, BlockSync)] == [True]
    check(fd, target, [((m, n),) for m in (1, 5) for n in (4, 64, 300)], lambda x: -x)


def test_several_boxes_of_a_group(target):
    """The bytes of all boxes are expected before the group is waited for."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.add(x, z)
        fd.add_output(y)
        loads = [tensor.cache_after(TMA) for tensor in (x, z)]
        tile(y, (16, 32))
        for a in loads:
            a.set_memory_type(SHARED)
            tile(a, (16, 32))
            bind_box(a)
        bind_threads(y)
        fd.sched.inline_at(y, 1, selected_tensors=loads)
    kernel = lowered(fd.fusion)
    assert count(kernel, BulkLoad) == 2
    assert count(kernel, AsyncCommit) == count(kernel, AsyncWait) == 1
    assert count(kernel, BlockSync) == 0  # the barrier in memory is all that threads wait for
    shapes = [(1, 4), (17, 36), (100, 200)]
    check(fd, target, [(s, s) for s in shapes], lambda x, z: x + z)


def test_loads_and_stores(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.exp(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        s = y.cache_before(TMA)
        for tensor in (a, s):
            tensor.set_memory_type(SHARED)
        for tensor in (a, s, y):
            tile(tensor, (8, 64))
        s.set_allocation_domain(s.get_loop_domain(), True)
        bind_box(a)
        bind_box(y)
        bind_threads(s)
        fd.sched.inline_at(y, 1, selected_tensors=[a, s])
    check(fd, target, [((m, n),) for m in (1, 9, 64) for n in (4, 64, 100)], torch.exp, rtol=1e-6)


def test_stores_of_a_serial_loop(target):
    """A stored box is overwritten after it has been read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        s = y.cache_before(TMA)
        s.set_memory_type(SHARED)
        for tensor in (s, y):
            tensor.split(1, 64)
            par(tensor, BX)
        bind_box(y, 2)
        s.split(2, 32)
        par(s, None, None, None, TX)
        fd.sched.inline_at(y, 2, selected_tensors=[s])
    kinds = (BlockSync, BulkStore, BulkStoreWait, FenceAsyncProxy)
    names = [type(s) for s in statements(lowered(fd.fusion)) if isinstance(s, kinds)]
    store = names.index(BulkStore)
    assert names[store - 2 : store] == [FenceAsyncProxy, BlockSync]
    assert names[store + 1 : store + 3] == [BulkStoreWait, BlockSync]
    assert names[-1] == BulkStoreWait
    waits = [s.only_reads for s in statements(lowered(fd.fusion)) if isinstance(s, BulkStoreWait)]
    assert waits == [True, False]
    check(fd, target, [((m, n),) for m in (1, 5) for n in (4, 64, 300)], lambda x: -x)


@pytest.mark.parametrize(("stages", "prefetch"), [(2, 1), (3, 2), (3, 1), (4, 2), (2, 0)])
def test_stores_of_stages_that_threads_load(target, stages, prefetch):
    """A fence stands before the barrier of each iteration, behind the loads that it is about."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.set(x)
        fd.add_output(y)
        s = y.cache_before(TMA)
        s.set_memory_type(SHARED)
        bind_box(y, 1)
        par(s, None, TX)
        fd.sched.inline_at(y, 1, selected_tensors=[s])
        s.circular_buffer(stages, prefetch)
    kernel = lowered(fd.fusion)
    assert find_violations(kernel) == []
    kinds = (BlockSync, BulkStore, FenceAsyncProxy)
    names = [type(s) for s in statements(kernel) if isinstance(s, kinds)]
    store = names.index(BulkStore)
    assert names[store - 2 : store] == [FenceAsyncProxy, BlockSync]

    def run() -> None:
        check(fd, target, [((m, 64),) for m in (1, 2, 3, 9)], lambda x: x)

    run()
    _core.call_with_options(run, ["kernel_debug"], [])  # a processor finds no race


# -- circular buffers --


def ahead(stages: int, prefetch: int) -> FusionDefinition:
    """Tiles of a row, loaded ahead."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.split(1, 64)
            par(tensor, BX)
        bind_box(a, 2)
        y.split(2, 32)
        par(y, None, None, None, TX)
        fd.sched.inline_at(y, 2, selected_tensors=[a])
        a.circular_buffer(stages, prefetch)
    return fd


@pytest.mark.parametrize(("stages", "prefetch"), [(2, 1), (3, 2), (4, 3), (4, 1), (4, 2), (3, 0)])
def test_boxes_that_are_loaded_ahead(target, stages, prefetch):
    """Short loops load beyond their end, which is all holes."""
    fd = ahead(stages, prefetch)
    source = cuda_text(fd.fusion)
    assert f"BulkGroups<{prefetch + 1}>" in source
    shapes = [(3, n) for n in (4, 64, 100, 128, 200, 1000)] + [(1, 64), (40, 256)]
    check(fd, target, [(s,) for s in shapes], lambda x: -x)


def test_boxes_ahead_in_a_persistent_loop(target):
    """Groups are counted through all rows of a block: parity is that of the count."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.split(1, 64)
            tensor.split(0, 3, inner_split=False)
            par(tensor, BX)
        bind_box(a, 3)
        y.split(3, 32)
        par(y, None, None, None, None, TX)
        fd.sched.inline_at(y, 3, selected_tensors=[a])
        a.circular_buffer(3)
    check(fd, target, [((m, n),) for m in (1, 7, 20) for n in (4, 200, 64)], lambda x: -x)


# -- swizzles --


def swizzled(columns: int, dtype: DataType = DataType.Float) -> FusionDefinition:
    """A transpose through tiles whose pieces of 16 bytes are permuted."""
    elements = {DataType.Float: 4, DataType.BFloat16: 8}[dtype]
    pieces = columns // elements
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        y = fd.ops.permute(x, [1, 0])
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        tile(y, (columns, 32))
        bind_threads(y)
        # a: [rows, columns] -> [tiles of columns, tiles of rows, 32, columns]
        a.split(1, columns)
        a.split(0, 32)
        a.reorder({2: 0, 0: 1, 1: 2})
        a.merge(0, 1)
        par(a, BX)
        # -> [tiles, rows / lines, pieces, .., columns / 16 bytes, 16 bytes]: 128 bytes are a line
        rows_of_line = 8 // pieces
        a.split(2, elements)
        a.split(1, rows_of_line)
        a.split(1, pieces)
        a.swizzle(2, 4)
        bind_box(a)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
    return fd


@pytest.mark.parametrize("columns", [8, 16, 32])
def test_swizzles(target, columns):
    fd = swizzled(columns)
    (load,) = [s for s in statements(lowered(fd.fusion)) if isinstance(s, BulkLoad)]
    assert load.swizzle_bytes == 4 * columns
    assert load.box == [columns, 32]
    cuda_text(fd.fusion)
    shapes = [(32, columns), (5, 4), (100, 60), (33, 200)]
    check(fd, target, [(s,) for s in shapes], lambda x: x.t())


def test_swizzles_of_two_byte_elements(target):
    fd = swizzled(64, DataType.BFloat16)
    shapes = [(32, 64), (5, 8), (100, 120)]
    check(fd, target, [(s,) for s in shapes], lambda x: x.t(), dtype=torch.bfloat16)


def test_other_permutations_are_refused():
    """The hardware permutes pieces of 16 bytes in lines of 128, and nothing else."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        tile(y, (32, 32))
        tile(a, (32, 32))
        a.swizzle(1, 2)
        bind_box(a)
        bind_threads(y)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
    with pytest.raises(UserError, match="A box lies in shared memory with gaps, or in another"):
        lowered(fd.fusion)


# -- the kernel --


def test_one_thread_begins_a_box():
    source = cuda_text(loaded((16, 32)).fusion)
    assert "const __grid_constant__ TensorMap T0_map0" in source
    assert "BulkGroups<1> bulk_groups(bulk_barriers);" in source
    (load,) = [line for line in source.splitlines() if "bulk_load<2048>(" in line]
    before = source.splitlines()[source.splitlines().index(load) - 1]
    assert before.strip() == "if (thread_x == 0) {"
    assert source.index("bulk_load<") < source.index("bulk_groups.commit();")
    assert source.index("bulk_groups.commit();") < source.index("bulk_groups.wait<0>();")


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_barriers_are_there_before_a_thread_uses_them():
    """One thread makes them, tells the copies so, and the block waits for it. Their memory is
    that of no tensor, so that nothing has to end their lives."""
    fd = loaded((16, 32))
    ptx = fd.fusion.compile_cuda(architecture="sm_90a").ptx
    steps = ["mbarrier.init", "fence.proxy.async", "bar.sync", "mbarrier.expect_tx"]
    steps += ["cp.async.bulk.tensor", "mbarrier.arrive", "mbarrier.try_wait"]
    places = [ptx.index(step) for step in steps]
    assert places == sorted(places)
    assert "__shared__ __align__(128) unsigned long long bulk_barriers[16];" in cuda_text(fd.fusion)


def test_all_bytes_of_a_box_beyond_the_end_are_expected(target):
    """The last box of one dimension is expected whole, by the thread that loads it, and
    waited for by all: no condition on its size stands around one of them alone."""
    fd = loaded((64,))
    check(fd, target, [((size,),) for size in (1, 63, 65, 127)], lambda x: -x)
    lines = [line.strip() for line in cuda_text(fd.fusion).splitlines()]
    (load,) = [i for i, line in enumerate(lines) if "bulk_load<256>(" in line]
    assert lines[load - 1] == "if (thread_x == 0) {"
    assert lines[load + 1] == "}"
    assert "bulk_groups.commit();" in lines[load + 2 :]
    assert "bulk_groups.wait<0>();" in lines[load + 2 :]


def test_boxes_are_loops_on_other_targets():
    kernel = lowered(loaded((16, 32)).fusion, "cpu")
    assert count(kernel, BulkLoad) == count(kernel, AsyncWait) == 0
    assert any(isinstance(s, LoadStoreOp) for s in statements(kernel))


def test_boxes_begin_at_lines():
    """Boxes of 144 bytes take 256 each."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.add(x, z)
        fd.add_output(y)
        loads = [tensor.cache_after(TMA) for tensor in (x, z)]
        tile(y, (1, 36))
        for a in loads:
            a.set_memory_type(SHARED)
            tile(a, (1, 36))
            bind_box(a)
        bind_threads(y, 36)
        fd.sched.inline_at(y, 1, selected_tensors=loads)
    allocations = [s for s in statements(lowered(fd.fusion)) if isinstance(s, Allocate)]
    assert sorted(str(a.address) for a in allocations if a.memory_type == SHARED) == ["0", "256"]


def test_memory_of_boxes_is_that_of_no_other_tensor():
    """A barrier of the block says nothing about a copy under way: its mbarrier does. What threads
    copy shares its memory with a later tensor."""

    def addresses(op: LoadStoreOpType) -> list[str]:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, 64], contiguity=True)
            tensors = [x]
            for _ in range(4):
                tensors.append(fd.ops.neg(tensors[-1]))
            y = tensors[-1]
            fd.add_output(y)
            a = x.cache_after(op)
            a.axis(1).parallelize(BULK if op == TMA else TX)
            for i, tensor in enumerate(tensors[1:]):
                tensor.split(1, 4 if i % 2 else 8)  # other threads read than those that write
                par(tensor, None, None, TX)
            for tensor in (a, *tensors[1:-1]):
                tensor.set_memory_type(SHARED)
            a.inline_at(1)
            fd.sched.inline_at(y, 1)
        kernel = lowered(fd.fusion)
        return [
            str(s.address)
            for s in statements(kernel)
            if isinstance(s, Allocate) and s.memory_type == SHARED
        ]

    assert len(set(addresses(TMA))) == 4
    assert len(set(addresses(LoadStoreOpType.set))) == 2

"""Clusters of blocks: reductions through the shared memory of neighbouring blocks."""

import math
import re

import pytest
import torch
from cuda_kernels import has_nvrtc
from hard_case import (
    BX,
    BY,
    PAIRS,
    TX,
    TY,
    TZ,
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
    ClusterReduction,
    CompileParams,
    DataType,
    FusionDefinition,
    GridReduction,
    GridSync,
    KernelExecutor,
    UserError,
    _core,
    compile_cuda_source,
)

pytestmark = pytest.mark.sanitize

ROWS = [((m, n),) for m, n in ((1, 1), (3, 4), (2, 33), (31, 127), (5, 1000), (1, 4099))]


def clustered(tensor, axis):
    """The blocks along an axis form clusters."""
    tensor.axis(axis).parallelize(BX)
    tensor.axis(axis).set_clustered_blocks()


def deal(fd, results, blocks, threads, rows=None, thread_type=TX):
    """[I, R] -> [(loop,) I, blocks of a cluster, serial, threads] of every reduction."""
    leader = None
    for result in results:
        result.split(1, threads)
        result.split(1, blocks, inner_split=False)
        if rows is not None:
            result.split(0, rows, inner_split=False)
        first = 0 if rows is None else 1
        partial = result.rfactor([first + 2])
        leader = partial if leader is None else leader
    first = 0 if rows is None else 1
    fd.sched.transform_like(leader)
    leader.axis(first).parallelize(BY)
    clustered(leader, first + 1)
    leader.axis(first + 3).parallelize(thread_type)
    fd.sched.parallelize_like(leader)
    fd.sched.inline_most()


def row_reduction(op="sum", blocks=8, threads=64, dtype=DataType.Float, thread_type=TX):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        s = getattr(fd.ops, op)(x, [1])
        fd.add_output(s)
        deal(fd, [s], blocks, threads, thread_type=thread_type)
    return fd


def softmax(blocks=4, threads=64, rows=None, power="exp"):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        column = [False, True]
        m = fd.ops.max(x, [1])

        def exponentials():  # in each pass, so that rows of any size keep nothing
            return getattr(fd.ops, power)(fd.ops.sub(x, fd.ops.broadcast(m, column)))

        s = fd.ops.sum(exponentials(), [1])
        fd.add_output(fd.ops.div(exponentials(), fd.ops.broadcast(s, column)))
        deal(fd, [m, s], blocks, threads, rows)
    return fd


# -- reductions --


@pytest.mark.parametrize("blocks", [2, 3, 8, pytest.param(16, marks=pytest.mark.wide_cluster)])
@pytest.mark.parametrize("threads", [1, 24, 32, 64, 256])
def test_sums_over_a_cluster(target, blocks, threads):
    """Threads that are no whole warps, one warp, and several."""
    check(row_reduction("sum", blocks, threads), target, ROWS, lambda x: x.sum(1))


@pytest.mark.parametrize("op", ["max", "min", "prod"])
@pytest.mark.parametrize("dtype", [DataType.Float, DataType.Double, DataType.Half, DataType.Int])
def test_operations_and_types(target, op, dtype):
    torch_dtype = {
        DataType.Float: torch.float32,
        DataType.Double: torch.float64,
        DataType.Half: torch.float16,
        DataType.Int: torch.int64,
    }[dtype]

    def reference(x):
        return x.prod(1) if op == "prod" else getattr(x, op)(1).values

    shapes = ROWS[:3] if op == "prod" else ROWS
    if op == "prod":
        shapes = [((2, 7),), ((3, 11),)]
    fd = row_reduction(op, blocks=4, threads=32, dtype=dtype)
    compiled = Compiled(fd)
    for (shape,) in shapes:
        x = numbers(*shape, device=target, dtype=torch_dtype)
        if op == "prod":  # powers of two are exact in every type
            x = torch.where(x > 0, 2, -1).to(torch_dtype)
        assert_same(compiled(x), [reference(x.double())])


def test_bools_and_bits(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Bool)
        s = fd.ops.sum(x, [1], dtype=DataType.Int)
        fd.add_output(s)
        deal(fd, [s], 4, 24)
    compiled = Compiled(fd)
    for m, n in PAIRS:
        x = numbers(m, n, device=target) > 0
        assert_same(compiled(x), [x.sum(1)])


def test_complex_numbers(target):
    fd = row_reduction("sum", 4, 64, DataType.ComplexDouble)
    compiled = Compiled(fd)
    x = torch.complex(
        numbers(3, 333, device=target, dtype=torch.float64),
        numbers(3, 333, device=target, dtype=torch.float64, seed=1),
    )
    (out,) = compiled(x)
    assert torch.equal(out, x.sum(1))


def moments(blocks, threads):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        mean, deviations, n = fd.ops.welford(x, [1])
        fd.add_output(mean)
        fd.add_output(deviations)
        fd.add_output(n)
        mean.split(1, threads)
        mean.split(1, blocks, inner_split=False)
        partial = mean.rfactor([2], [mean, deviations, n])[0]
        fd.sched.transform_like(partial)
        par(partial, BY, None, None, TX)
        clustered(partial, 1)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    return fd


@pytest.mark.parametrize(("blocks", "threads"), [(4, 24), (4, 64), (8, 1024)])
def test_moments(target, blocks, threads):
    compiled = Compiled(moments(blocks, threads))
    for m, k in PAIRS:
        x = numbers(m, k, device=target)
        wide = x.double()
        var, avg = torch.var_mean(wide, 1, correction=0)
        mean, deviations, n = compiled(x)
        torch.testing.assert_close(mean.double(), avg, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(deviations.double(), var * k, rtol=1e-4, atol=1e-4)
        assert torch.equal(n, torch.full_like(n, k))


def test_several_reductions_share_the_barrier(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total, largest = fd.ops.sum(x, [1]), fd.ops.max(x, [1])
        fd.add_output(total)
        fd.add_output(largest)
        for result in (total, largest):
            result.split(1, 64)
            result.split(1, 4, inner_split=False)
        partials = [result.rfactor([2]) for result in (total, largest)]
        fd.sched.group_reductions([total, largest])
        fd.sched.transform_like(partials[0])
        par(partials[0], BY, None, None, TX)
        clustered(partials[0], 1)
        fd.sched.parallelize_like(partials[0])
        fd.sched.inline_most()
    kernel = lowered(fd.fusion)
    assert count(kernel, ClusterReduction) == 1
    assert "cluster_reduce_group<4, true, false, false" in cuda_text(fd.fusion)
    check(fd, target, ROWS, lambda x: [x.sum(1), x.max(1).values])


def test_several_rows_of_a_block(target):
    """Threads along y have rows of their own, which stand in the columns of the exchange."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        fd.add_output(s)
        s.split(0, 3)
        s.split(2, 24)
        s.split(2, 4, inner_split=False)
        partial = s.rfactor([3])
        fd.sched.transform_like(partial)
        par(partial, BY, TY, None, None, TX)
        clustered(partial, 2)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    check(fd, target, ROWS, lambda x: x.sum(1))


@pytest.mark.parametrize("types", [(TY, TX), (TX, TY), (TZ, TX)])
def test_two_thread_dimensions_are_reduced(target, types):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        fd.add_output(s)
        s.split(1, 8)
        s.split(1, 12)
        s.split(1, 4, inner_split=False)
        partial = s.rfactor([2])
        fd.sched.transform_like(partial)
        par(partial, BY, None, None, *types)
        clustered(partial, 1)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    check(fd, target, ROWS, lambda x: x.sum(1))


def test_columns_over_a_cluster(target):
    """No thread is reduced: each sends its own value to all blocks."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [0])
        fd.add_output(s)
        s.split(1, 32)
        s.split(0, 8, inner_split=False)  # [blocks, serial, I, 32]
        partial = s.rfactor([1])
        fd.sched.transform_like(partial)
        par(partial, None, None, BY, TX)
        clustered(partial, 0)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.sum(0))


def test_a_cluster_then_the_grid(target):
    """Clusters have sums, which meet in global memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [0, 1])
        fd.add_output(s)
        s.split(1, 32)
        s.split(1, 4, inner_split=False)
        s.split(0, 6, inner_split=False)
        partial = s.rfactor([1, 3])  # [6, serial, 4, serial, 32]
        fd.sched.transform_like(partial)
        par(partial, BY, None, None, None, TX)
        clustered(partial, 2)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    kernel = lowered(fd.fusion)
    assert count(kernel, ClusterReduction) == 1
    (grid,) = [s for s in statements(kernel) if isinstance(s, GridReduction)]
    assert grid.reduced_dims == [1]
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.sum())


# -- every block has the result --


@pytest.mark.parametrize("blocks", [2, 8])
@pytest.mark.parametrize("threads", [24, 64])
def test_softmax_over_a_cluster(target, blocks, threads):
    check(softmax(blocks, threads), target, ROWS, lambda x: torch.softmax(x, 1), rtol=1e-5)


@pytest.mark.parametrize("rows", [1, 3])
def test_clusters_in_a_loop(target, rows):
    """Each iteration overwrites what one two turns ago was read."""
    fd = softmax(4, 64, rows)
    assert re.search(r"for \(nvfuser_index_t.*\n(.*\n)*.*cluster_reduce", cuda_text(fd.fusion))
    check(fd, target, ROWS, lambda x: torch.softmax(x, 1), rtol=1e-5)


def test_values_stay_those_of_their_row(target):
    """Hundreds of turns with different values: a slot that is overwritten too early shows."""
    fd = softmax(8, 64, 2)
    x = torch.randn(301, 700, dtype=torch.float32).to(target)
    (out,) = Compiled(fd)(x)
    torch.testing.assert_close(out.double(), torch.softmax(x.double(), 1), rtol=1e-5, atol=1e-7)


def test_no_workspace_and_no_cooperative_launch():
    kernel = lowered(softmax().fusion)
    assert count(kernel, ClusterReduction) == 1  # of a maximum and of the sum about it
    assert count(kernel, GridReduction) == count(kernel, GridSync) == 0
    text = kernel.print_source()
    assert len(re.findall(r"Tensor<[^>]*> T\d+", text.split("__global__")[1].split("{")[0])) == 2


def test_no_elements_and_no_rows(target):
    fd = row_reduction("sum", 4, 32)
    check(fd, target, [((m, n),) for m, n in ((0, 5), (3, 0), (0, 0), (1, 1))], lambda x: x.sum(1))


# -- grids --


def test_a_grid_that_is_no_multiple_of_the_cluster(target):
    """Another tensor has more blocks along x: the grid is rounded up."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [1])
        z = fd.ops.neg(y)
        fd.add_output(s)
        fd.add_output(z)
        s.split(1, 32)
        s.split(1, 4, inner_split=False)
        partial = s.rfactor([2])
        z.split(0, 32)
        par(z, BX, TX)
        for tensor in (partial, s):
            tensor.axis(0).parallelize(BY)
            clustered(tensor, 1)
            tensor.axis(tensor.ndims() - 1).parallelize(TX)
        fd.sched.inline_most()
    compiled = Compiled(fd)
    for m, n, k in ((3, 100, 1), (2, 33, 300), (5, 1000, 129), (1, 7, 1000)):
        x, y = numbers(m, n, device=target), numbers(k, device=target)
        assert_same(compiled(x, y), [x.sum(1), -y])
    assert "ceilDiv" in lowered(fd.fusion).launch_extents()[0].to_inline_string()


def test_a_cluster_of_one_block_is_none(target):
    fd = row_reduction("sum", 1, 64)
    assert count(lowered(fd.fusion), ClusterReduction) == 0
    check(fd, target, ROWS, lambda x: x.sum(1))


def test_clusters_without_a_reduction(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(1, 32)
        y.split(1, 4, inner_split=False)
        par(y, BY, None, None, TX)
        clustered(y, 1)
    check(fd, target, ROWS, torch.neg)


def test_parallelize_like_passes_clusters_on():
    fd = row_reduction()
    computed = [t for t in fd.fusion.tensors() if t.definition() is not None and t.ndims() == 4]
    marked = [t.axis(1).is_clustered_grid_dim() for t in computed]
    assert len(marked) >= 1
    assert all(marked)


def test_another_binding_ends_a_cluster():
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        clustered(y, 0)
        y.axis(0).parallelize(BY)
        assert not y.axis(0).is_clustered_grid_dim()


# -- text --


def test_threads_exchange_through_distributed_shared_memory():
    fusion = softmax(8, 256, power="exp2").fusion
    text = cuda_text(fusion)
    assert "ClusterTurns cluster_turns;" in text
    assert text.count("cluster_reduce<8, true, false, false, Reduce") == 2
    if has_nvrtc():
        executor = KernelExecutor()
        executor.compile(fusion, [], compile_params=CompileParams(device="cuda:0"))
        source = executor.kernel_source()
        ptx = compile_cuda_source(source, architecture="compute_90").decode()
        barriers = re.findall(r"barrier\.cluster\.(\w+)", ptx)
        assert barriers == ["arrive", "wait"]  # when the kernel begins: turns wait for bytes
        assert "barrier.cluster.arrive.relaxed" in ptx  # no fence before the first load
        assert "mapa.shared::cluster" in ptx
        assert "st.async" in ptx
        assert ".local" not in ptx


def words_of_messages(fd: FusionDefinition) -> list[int]:
    """The words of each message that a block sends to another one, as PTX has them."""
    texts = fd.fusion.compile_cuda()
    found = re.findall(r"st\.async\S*?complete_tx::bytes(?:\.v(\d))?\.u32", texts.ptx)
    return [int(lanes or 1) for lanes in found]


@pytest.mark.skipif(not has_nvrtc(), reason="compiles")
def test_a_block_sends_one_message_to_each_other() -> None:
    """Warps combine first. A maximum and a sum travel together, a mean with its squares and counts
    in a few words more than a message has."""
    assert words_of_messages(row_reduction("sum", 8, 256)) == [1]
    assert words_of_messages(softmax(8, 256)) == [2]
    assert words_of_messages(moments(8, 1024)) == [4, 4]


def test_one_block_of_a_cluster_writes_the_result():
    """All blocks have it."""
    text = cuda_text(row_reduction("sum", 8, 256).fusion)
    store = next(i for i, line in enumerate(text.splitlines()) if "T1[block_y] = " in line)
    assert text.splitlines()[store - 1].strip() == "if (block_x == 0 && thread_x == 0) {"


def test_scratch_of_a_cluster_lies_over_nothing():
    """Other blocks write there while this one is elsewhere."""
    kernel = lowered(softmax(8, 256, power="exp2").fusion)
    first, second = (s for s in statements(kernel) if isinstance(s, ClusterReduction))
    offsets = [r.workspace_offset.to_inline_string() for r in (first, second)]
    assert offsets[0] != offsets[1]


# -- refusals --


def test_a_cluster_that_is_too_large_is_refused():
    with pytest.raises(UserError, match="A cluster of 17 blocks is too large") as refused:
        row_reduction(blocks=17).fusion.lower(target="cuda")
    for part in ("expected: at most 16 blocks", "found:", "fix:", "test_clusters.py"):
        assert part in str(refused.value)


def test_a_cluster_of_unknown_size_is_refused():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        clustered(y, 0)
    with pytest.raises(
        UserError, match="The number of blocks in a cluster is not known"
    ) as refused:
        fd.fusion.lower(target="cuda")
    assert "split the axis by a constant" in str(refused.value)


# -- races --


@pytest.mark.parametrize(
    "fd", [softmax(4, 24, 2), row_reduction("sum", 8, 32)], ids=["loop", "one"]
)
def test_exchanges_do_not_race(fd):
    def run():
        assert "race.cluster_barrier();" in fd.fusion.lower(target="cpu").print_source()
        return Compiled(fd)(numbers(5, 333, device="cpu"))

    _core.call_with_options(run, ["kernel_debug"], [])


def test_infinities_and_nans(target):
    x = torch.randn(4, 500)
    x[0, 17] = math.nan
    x[1, 400] = math.inf
    x[2] = -math.inf
    (out,) = Compiled(row_reduction("max", 8, 64))(x.to(target))
    assert_same([out.cpu()], [x.max(1).values])

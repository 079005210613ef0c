"""Definitions that `fd.execute` cuts: what runs their segments, and what calls share."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import torch
from programs import matmul, matrix, rand

from nvfuser_direct import DataType, FusionDefinition, SchedulerType

if TYPE_CHECKING:
    from collections.abc import Callable


def defined(define: Callable[[FusionDefinition], None]) -> FusionDefinition:
    with FusionDefinition() as fd:
        define(fd)
    return fd


def runners(fd: FusionDefinition) -> list[str]:
    return [
        piece.way if piece.scheduler == SchedulerType.none else piece.scheduler.name
        for piece in fd.fec.last_pieces()
    ]


# The definition itself makes the plan that a test looks at. The disk may have one that another
# definition with equal statements left.
PLANNED_HERE = {"_disable_options": ["nvrtc_caching"]}


def product_between_maps(fd: FusionDefinition) -> None:
    x = fd.ops.sin(matrix(fd))
    fd.add_output(fd.ops.neg(fd.ops.matmul(x, matrix(fd))))


def chain(fd: FusionDefinition) -> None:
    """Six segments that compute the same."""
    x = matrix(fd)
    for _ in range(6):
        x = fd.ops.segment_set(fd.ops.sin(x))
    fd.add_output(x)


def rows_then_columns(fd: FusionDefinition) -> None:
    rows = fd.ops.sum(fd.ops.exp(matrix(fd)), [1], keepdim=True)
    fd.add_output(fd.ops.sum(fd.ops.sin(rows), [0]))


def test_a_product_is_the_only_segment_without_a_kernel(target: str, rng: torch.Generator) -> None:
    fd = defined(product_between_maps)
    x, y = rand(target, rng, 4, 6), rand(target, rng, 6, 5)
    for _ in range(2):
        torch.testing.assert_close(fd.execute([x, y])[0], -(x.sin() @ y), atol=1e-3, rtol=1e-3)
    assert runners(fd) == ["pointwise", "evaluated", "pointwise"]
    product = fd.fec.last_pieces()[1]
    assert [way for way, _ in product.refused] == ["trivial"]
    assert "MatmulOp has no kernel form" in product.refused[0][1]
    assert fd.fec.stats().hits == 1


def test_segments_that_are_alike_share_a_kernel(target: str, rng: torch.Generator) -> None:
    fd = defined(chain)
    x = rand(target, rng, 16, 8)
    expected = x
    for _ in range(6):
        expected = expected.sin()
    torch.testing.assert_close(fd.execute([x])[0], expected)
    assert runners(fd) == ["pointwise"] * 6
    assert fd.fec.stats().compiled == 1


def test_sizes_that_are_cut_alike_share_a_runtime(target: str, rng: torch.Generator) -> None:
    fd = defined(rows_then_columns)
    for sizes in [(60, 70), (60, 74), (60, 70)]:
        x = rand(target, rng, *sizes)
        expected = x.exp().sum(1, keepdim=True).sin().sum(0)
        (total,) = fd.execute([x], **PLANNED_HERE)
        torch.testing.assert_close(total, expected, atol=1e-3, rtol=1e-3)
    stats = fd.fec.stats()
    assert (stats.hits, stats.plans, stats.runtimes) == (1, 2, 1)
    assert fd.fec.compilations() == ["first run"]


def test_a_runtime_tells_why_it_was_made(target: str, rng: torch.Generator) -> None:
    fd = defined(rows_then_columns)
    fd.execute([rand(target, rng, 60, 70)])
    fd.execute([rand(target, rng, 60, 70)], _disable_options=["fma"])
    for sizes in [(1, 70), (60, 1), (5, 100000)]:
        fd.execute([rand(target, rng, *sizes)])
    first, second, *others = fd.fec.compilations()
    assert (first, second) == ("first run", "other options")
    assert others
    for reason in others:
        assert re.fullmatch(
            r"it is cut in another way: (\d+ segments? instead of \d+|\d+ other segments?)"
            r"|segment \d+ has other params: .+ instead of .+",
            reason,
        )
    assert fd.fec.stats().runtimes == len(fd.fec.compilations())


def test_a_reason_names_the_params_that_differ(target: str) -> None:
    with FusionDefinition() as norms:
        rows = matrix(norms)
        norms.add_output(norms.ops.sub(rows, norms.ops.sum(rows, [1], keepdim=True)))
    norms.execute([torch.rand(8, 16, device=target)])
    norms.execute([torch.rand(8, 3000, device=target)])
    norms.execute([torch.rand(0, 16, device=target)])
    first, wider, empty = norms.fec.compilations()
    assert first == "first run"
    difference = r"[\w.]+ (\S+|\[.*?\]) instead of (\S+|\[.*?\])"
    assert re.fullmatch(rf"segment 0 has other params: {difference}(, {difference})*", wider), wider
    assert empty.endswith("has other params: no_op instead of inner_persistent")


def test_views_have_no_kernel_and_share_memory(target: str, rng: torch.Generator) -> None:
    def define(fd: FusionDefinition) -> None:
        x = matrix(fd)
        turned = fd.ops.permute(x, [1, 0])
        fd.add_output(turned)
        fd.add_output(fd.ops.unsqueeze(turned, 0))
        fd.add_output(x)

    fd = defined(define)
    x = rand(target, rng, 3, 5)
    turned, raised, same = fd.execute([x])
    assert same is x
    assert turned.data_ptr() == raised.data_ptr() == x.data_ptr()
    assert torch.equal(turned, x.t())
    assert torch.equal(raised, x.t()[None])
    assert (runners(fd), fd.fec.stats().compiled) == (["view"], 0)


def test_a_host_scalar_is_copied_where_a_tensor_on_the_device_is_meant(target: str) -> None:
    with FusionDefinition() as fd:
        s = fd.define_tensor([], dtype=DataType.Float, is_cpu=True)
        x = fd.define_tensor([], dtype=DataType.Float)
        raised = fd.ops.unsqueeze(fd.ops.segment_set(s), 0)
        fd.add_output(fd.ops.add(fd.ops.sin(raised), fd.ops.unsqueeze(x, 0)))
    s, x = torch.tensor(0.5), torch.tensor(2.0, device=target)
    torch.testing.assert_close(fd.execute([s, x])[0], (s.sin() + x.cpu())[None].to(target))


def test_a_cache_forgets_runtimes_and_plans_that_were_not_used_for_long() -> None:
    """Views, which compile nothing. Without reuse each size has a runtime of its own."""

    def turned(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.permute(matrix(fd), [1, 0]))

    fd = defined(turned)
    for n in [*range(300), 299, 0]:
        x = torch.ones(n, 2)
        assert fd.execute([x], _disable_options=["kernel_reuse"])[0].shape == (2, n)
    stats = fd.fec.stats()
    assert stats.runtimes == 256
    assert stats.evictions == 300 + 1 - 256
    assert len(fd.fec.compilations()) == 256
    assert fd.fec.compilations()[-1].startswith("other sizes")


def test_calls_that_are_used_stay_known() -> None:
    def turned(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.permute(matrix(fd), [1, 0]))

    fd = defined(turned)
    often = torch.ones(3, 5)
    others = 6000
    for n in range(others):
        fd.execute([often])
        fd.execute([torch.empty(n, 1)])
    stats = fd.fec.stats()
    assert stats.misses == 1 + others
    assert stats.plans <= 4096
    assert stats.plans + stats.evictions == stats.misses


def chain_of_two(fd: FusionDefinition) -> None:
    """Two segments with one kernel for all sizes."""
    fd.add_output(fd.ops.neg(fd.ops.segment_set(fd.ops.sin(matrix(fd)))))


MOST_PLANS = 4096


def test_a_plan_that_was_forgotten_is_made_again_and_compiles_nothing(target: str) -> None:
    fd = defined(chain_of_two)
    sizes = [3 * n for n in range(1, MOST_PLANS + 200)]
    numbers = torch.linspace(-1, 1, sizes[-1], device=target)
    for size in sizes:
        (found,) = fd.execute([numbers[:size].view(-1, 3)])
        assert found.shape == (size // 3, 3)
    before = fd.fec.stats()
    assert before.plans <= MOST_PLANS
    assert before.plans + before.evictions == before.misses == len(sizes)
    for size in (sizes[0], sizes[-1], sizes[5], sizes[0]):
        x = numbers[:size].view(-1, 3)
        torch.testing.assert_close(fd.execute([x])[0], -x.sin(), atol=1e-5, rtol=1e-5)
    after = fd.fec.stats()
    assert (after.misses - before.misses, after.hits - before.hits) == (2, 2)
    assert (after.compiled, after.runtimes) == (before.compiled, before.runtimes)


def test_threads_that_forget_plans_of_each_other_have_right_results(target: str) -> None:
    fd = defined(chain_of_two)
    numbers = torch.linspace(-1, 1, 3 * (MOST_PLANS + 800), device=target)

    def work(number: int) -> None:
        for n in [*range(1 + number, MOST_PLANS + 800, 4), 7, 9]:
            x = numbers[: 3 * n].view(-1, 3)
            (found,) = fd.execute([x])
            if n % 97 == number or n < 10:
                torch.testing.assert_close(found, -x.sin(), atol=1e-5, rtol=1e-5)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    stats = fd.fec.stats()
    assert stats.plans <= MOST_PLANS
    assert stats.evictions > 0
    assert stats.runtimes == len(fd.fec.compilations())


def test_a_cache_forgets_forms_of_dynamic_shapes_that_were_not_used_for_long() -> None:
    """A reshape that divides a dimension has a form of its own for every divisor."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.reshape(x, fd.define_vector(2)))
    for n in [*range(2, 302), 301, 2]:
        x = torch.arange(3 * n)
        (out,) = fd.execute([x.float(), n, 3])
        assert torch.equal(out, x.float().reshape(n, 3))
    stats = fd.fec.stats()
    assert stats.specializations == 256
    assert stats.runtimes <= 256
    assert stats.evictions >= 301 - 256


def test_threads_share_the_segments_of_a_definition(target: str, rng: torch.Generator) -> None:
    fd = defined(product_between_maps)
    cases = [(rand(target, rng, n, 6), rand(target, rng, 6, m)) for n in (1, 4, 9) for m in (5, 8)]
    start = threading.Barrier(8)

    def work(number: int) -> None:
        start.wait()
        for i in range(30):
            x, y = cases[(number * 5 + i) % len(cases)]
            torch.testing.assert_close(fd.execute([x, y])[0], -(x.sin() @ y), atol=1e-3, rtol=1e-3)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    stats = fd.fec.stats()
    assert (stats.plans, stats.hits + stats.misses) == (len(cases), 8 * 30)
    assert stats.runtimes == len(fd.fec.compilations())


def test_an_update_is_written_after_its_input_was_read(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        x = matrix(fd)
        total = fd.ops.sum(x, [0])
        fd.add_output(fd.ops.exp(x), x)
        fd.add_output(fd.ops.sum(fd.ops.sin(total), [0]))
    value = rand(target, rng, 6, 7)
    before = value.clone()
    (out,) = fd.execute([value])
    torch.testing.assert_close(out, before.sum(0).sin().sum(0), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(value, before.exp())


def test_sizes_that_do_not_fit_are_told_of_the_definition(target: str) -> None:
    """Passes replace equal sizes by one of them."""
    with FusionDefinition() as fd:
        x, y = matrix(fd), matrix(fd)
        fd.add_output(fd.ops.add(x, y))
    with pytest.raises(RuntimeError, match="T1"):
        fd.execute([torch.ones(3, 4, device=target), torch.ones(5, 4, device=target)])


def test_a_product_that_no_library_may_compute_is_refused() -> None:
    fd = defined(matmul)
    x = torch.ones(4, 4)
    options = {"_enable_options": ["fuse_matmul"], "_disable_options": ["matmul_expr_eval"]}
    with pytest.raises(RuntimeError, match="Can not find a scheduler to schedule fusion") as error:
        fd.execute([x, x], **options)
    assert "Scheduler _pointwise_ ***rejected***" in str(error.value)
    torch.testing.assert_close(fd.execute([x, x])[0], x @ x)


def test_outputs_of_host_scalars_are_on_the_host(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        x = matrix(fd)
        s = fd.define_tensor([], dtype=DataType.Float, is_cpu=True)
        fd.add_output(fd.ops.exp(x))
        fd.add_output(fd.ops.neg(s))
    x, s = rand(target, rng, 3, 4), torch.tensor(2.5)
    large, small = fd.execute([x, s])
    torch.testing.assert_close(large, x.exp())
    assert small.device.type == "cpu"
    assert small.item() == -2.5
    assert "pointwise" in runners(fd)


def test_host_scalars_are_computed_beside_what_reads_them(
    target: str, rng: torch.Generator
) -> None:
    with FusionDefinition() as fd:
        s = fd.define_tensor([], dtype=DataType.Float, is_cpu=True)
        x = matrix(fd)
        negated = fd.ops.neg(s)
        fd.add_output(negated)
        fd.add_output(fd.ops.mul(x, negated))
        fd.add_output(fd.ops.add(negated, 1.0))
        fd.add_output(fd.ops.sum(fd.ops.sin(fd.ops.sum(x, [1])), [0]))
    x, s = rand(target, rng, 3, 4), torch.tensor(2.5)
    for _ in range(2):
        first, scaled, second, total = fd.execute([s, x])
        assert (first.device.type, second.device.type) == ("cpu", "cpu")
        assert (first.item(), second.item()) == (-2.5, -1.5)
        torch.testing.assert_close(scaled, x * -2.5)
        torch.testing.assert_close(total, x.sum(1).sin().sum(0), atol=1e-4, rtol=1e-4)


def test_only_host_scalars_are_computed(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        s = fd.define_tensor([], dtype=DataType.Float, is_cpu=True)
        matrix(fd)
        fd.add_output(fd.ops.exp(s))
    s = torch.tensor(0.5)
    (out,) = fd.execute([s, rand(target, rng, 3, 4)])
    assert out.device.type == "cpu"
    torch.testing.assert_close(out, s.exp())


@pytest.mark.gpu
def test_several_segments_are_captured() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    fd = defined(product_between_maps)
    x, y = torch.rand(8, 8, device="cuda"), torch.rand(8, 8, device="cuda")
    fd.execute([x, y])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (out,) = fd.execute([x, y])
        with pytest.raises(RuntimeError, match="No kernel is compiled while a CUDA graph"):
            fd.execute([x.view(4, 16), y.view(16, 4)])
    x.fill_(0.5)
    graph.replay()
    torch.testing.assert_close(out, -(x.sin() @ y), atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("define", [product_between_maps, chain, rows_then_columns])
def test_a_plan_does_not_depend_on_sizes_that_came_before(
    define: Callable[[FusionDefinition], None], target: str, rng: torch.Generator
) -> None:
    sizes = [(3, 3), (1, 1), (700, 700), (33, 33)]
    seasoned = defined(define)
    num_inputs = len(seasoned.fusion.inputs())
    for size in [*sizes, *reversed(sizes)]:
        inputs = [rand(target, rng, *size) for _ in range(num_inputs)]
        fresh = defined(define)
        got, wanted = (fd.execute(inputs, **PLANNED_HERE) for fd in (seasoned, fresh))
        for a, b in zip(got, wanted, strict=True):
            assert torch.equal(a, b)
        names = [
            re.sub("_f[0-9]+_c[0-9]+_r[0-9]+", "", fd.fec.explain(inputs))
            for fd in (seasoned, fresh)
        ]
        assert names[0] == names[1]


def test_a_lone_scan_is_a_kernel(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.cumsum(matrix(fd), 1))
    x = rand(target, rng, 5, 300)
    torch.testing.assert_close(fd.execute([x])[0], x.cumsum(1), atol=1e-4, rtol=1e-5)
    assert runners(fd) == ["greedy"]


def test_a_view_and_an_expanded_tensor_update_inputs_of_a_definition_that_is_cut(
    target: str, rng: torch.Generator
) -> None:
    """Both are copied by kernels: nothing is evaluated for them."""
    with FusionDefinition() as fd:
        x, y, rows = matrix(fd), matrix(fd), fd.define_tensor([-1, 1], [True, None])
        filled = matrix(fd)
        fd.add_output(fd.ops.permute(y, [1, 0]), x)
        fd.add_output(fd.ops.expand(fd.ops.neg(rows), [-1, filled.size(1)]), filled)
        fd.add_output(fd.ops.sum(fd.ops.sin(fd.ops.sum(y, [0])), [0]))
    x, y = torch.zeros(40, 30).to(target), rand(target, rng, 30, 40)
    rows, filled = rand(target, rng, 7, 1), torch.zeros(7, 5).to(target)
    for _ in range(2):
        y, rows = rand(target, rng, 30, 40), rand(target, rng, 7, 1)
        (total,) = fd.execute([x, y, rows, filled])
        assert torch.equal(x, y.t())
        assert torch.equal(filled, -rows.expand(7, 5))
        torch.testing.assert_close(total, y.sum(0).sin().sum(0), atol=1e-4, rtol=1e-4)
    assert "evaluated" not in runners(fd)


def test_inputs_are_updated_by_views_of_each_other_beside_an_unread_one(
    target: str, rng: torch.Generator
) -> None:
    """A view lies in the memory that is updated: kernels copy what the updates read."""
    with FusionDefinition() as fd:
        x, y, _ = matrix(fd), matrix(fd), matrix(fd)
        fd.add_output(fd.ops.permute(y, [1, 0]), x)
        fd.add_output(fd.ops.permute(x, [1, 0]), y)
    x, y, unread = (rand(target, rng, 40, 40) for _ in range(3))
    for _ in range(2):
        before = x.clone(), y.clone()
        assert fd.execute([x, y, unread]) == []
        assert torch.equal(x, before[1].t())
        assert torch.equal(y, before[0].t())
    assert "view" not in runners(fd)
    assert "evaluated" not in runners(fd)


def test_an_input_is_updated_by_its_transpose_beside_an_unread_one(
    target: str, rng: torch.Generator
) -> None:
    with FusionDefinition() as fd:
        x, _ = matrix(fd), matrix(fd)
        fd.add_output(fd.ops.permute(x, [1, 0]), x)
    x, unread = rand(target, rng, 40, 40), rand(target, rng, 2, 3)
    before = x.clone()
    fd.execute([x, unread])
    assert torch.equal(x, before.t())


def test_an_input_is_updated_by_a_view_of_its_own(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        x = matrix(fd)
        fd.add_output(fd.ops.permute(x, [1, 0]), x)
        fd.add_output(fd.ops.sum(fd.ops.sin(fd.ops.sum(x, [0])), [0]))
    x = rand(target, rng, 40, 40)
    for _ in range(2):
        before = x.clone()
        (total,) = fd.execute([x])
        assert torch.equal(x, before.t())
        torch.testing.assert_close(total, before.sum(0).sin().sum(0), atol=1e-3, rtol=1e-3)

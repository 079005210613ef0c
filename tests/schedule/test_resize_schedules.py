"""The scheduler of maps with slices, pads and concatenations: values, schedules as text, and what
it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from scheduled_runs import (
    check_close,
    check_prints_as_python,
    check_runs,
    define,
    exact,
    scheduled,
)

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, SchedulerType, schedule

if TYPE_CHECKING:
    from collections.abc import Callable

RESIZE = SchedulerType.resize


def randoms(shape: tuple[int, ...], dtype: torch.dtype = torch.float32, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    if not dtype.is_floating_point:
        return torch.randint(-100, 100, shape, generator=generator).to(dtype)
    return torch.randn(shape, generator=generator).to(dtype)


def middle(fd, x):
    """The last dimension without its ends, negated before and added to after."""
    ops = fd.ops
    n = x.rank() - 1
    starts = [0] * n + [3]
    ends = [*x.shape()[:n], ops.sub(x.shape()[n], 2)]
    return ops.add(ops.neg(ops.slice(x, starts, ends)), 1)


def padded(fd, x):
    return fd.ops.mul(fd.ops.pad(fd.ops.neg(x), [2, 3]), 2)


def rotated(fd, x):
    """Rotary embedding: the halves of each row, exchanged, one of them negated."""
    ops = fd.ops
    rows, n = (size.value() for size in x.shape())
    first = ops.slice(x, [0, 0], [rows, n // 2])
    second = ops.slice(x, [0, n // 2], [rows, n])
    return ops.add(x, ops.cat([ops.neg(second), first], 1))


def joined(fd, a, b):
    return fd.ops.cat([fd.ops.neg(a), fd.ops.abs(b)], -1)


# -- values --


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32], ids=str
)
@pytest.mark.parametrize("shape", [(4096,), (1021,), (33, 1000), (3, 5, 64)], ids=str)
@pytest.mark.parametrize("build", [middle, padded])
def test_slices_and_pads(
    target: str, build: Callable, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    inputs = [randoms(shape, dtype)]
    fd = define(build, inputs, static_sizes=True)
    check_runs(fd, RESIZE, inputs, target)


@pytest.mark.parametrize("shape", [(64, 128), (33, 34), (2, 4), (513, 256)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_rotary_embedding(target: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    inputs = [randoms(shape, dtype)]
    check_runs(define(rotated, inputs, static_sizes=True), RESIZE, inputs, target)


@pytest.mark.parametrize("widths", [(64, 64), (17, 40), (1000, 24)], ids=str)
def test_concatenations(target: str, widths: tuple[int, int]) -> None:
    inputs = [randoms((37, width), seed=seed) for seed, width in enumerate(widths)]
    check_runs(define(joined, inputs, static_sizes=True), RESIZE, inputs, target)


def test_pad_of_a_slice(target: str) -> None:
    inputs = [randoms((37, 50))]

    def build(fd, x):
        ops = fd.ops
        return ops.add(ops.pad(ops.exp(ops.slice(x, [1, 4], [37, 40])), [5, 9, 0, 1]), 1.0)

    check_runs(define(build, inputs, static_sizes=True), RESIZE, inputs, target)


def test_operands_that_are_strided_expanded_or_broadcast(target: str) -> None:
    inputs = [randoms((50, 37)).t(), randoms((1, 50)).expand(37, 50), randoms((37, 1))]

    def build(fd, x, y, z):
        ops = fd.ops
        first = ops.slice(x, [0, 2], [37, 44])
        return ops.add(ops.mul(first, ops.slice(y, [0, 0], [37, 42])), z)

    check_runs(define(build, inputs, static_sizes=True), RESIZE, inputs, target)


def test_empty(target: str) -> None:
    inputs = [randoms((0, 16))]
    check_runs(define(padded, inputs, static_sizes=True), RESIZE, inputs, target)


def test_parts_computed_from_one_input_follow_the_whole(target: str) -> None:
    """Not their input, which another part reads at other positions."""
    inputs = [randoms((7, 7), torch.float64).t()]

    def build(fd, x):
        ops = fd.ops
        middle = ops.sqrt(ops.add(ops.abs(x), 1.0))
        return ops.cat([x, middle, ops.full([7, 7], 3.0, DataType.Double)], 0)

    fd = define(build, inputs, static_sizes=True)
    for scheduled_for in ("cuda", "cpu"):
        scheduled(fd, RESIZE, inputs, scheduled_for)[0].lower(target=scheduled_for)
    check_runs(fd, RESIZE, inputs, target)


# -- vectors --


def looked_up(fd, x, rows):
    """Rows of a table: the lanes of a vector have one position."""
    return fd.ops.add(fd.ops.index_select(x, rows, 0), 1)


def surrounded(fd, a, b):
    return fd.ops.pad(fd.ops.cat([a, b], 1), [16, 32])


def behind_a_reshape(fd, x):
    ops = fd.ops
    rows, n = (size.value() for size in x.shape())
    kept = ops.slice(x, [0, n // 2], [rows, n])
    return ops.exp(ops.reshape(kept, [rows // 2, 2, n // 2]))


VECTORS = {  # inputs, and the widths of slices, pads and gathers
    "halves": (rotated, [(1024, 256)], [4, 4]),
    "halves_of_odd_vectors": (rotated, [(1024, 252)], [2, 2]),
    "halves_of_no_vectors": (rotated, [(1024, 250)], [1, 1]),
    "cat_and_pad": (surrounded, [(512, 256), (512, 128)], [4, 4]),
    "cat_at_an_odd_multiple": (surrounded, [(512, 254), (512, 128)], [2, 2]),
    "reshaped": (behind_a_reshape, [(1024, 512)], [4]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_elements_at_other_positions_are_loaded_in_vectors(target: str, name: str) -> None:
    build, shapes, widths = VECTORS[name]
    inputs = [randoms(shape, seed=seed) for seed, shape in enumerate(shapes)]
    fd = define(build, inputs, static_sizes=True)
    check_vectors(fd, RESIZE, inputs, target, widths)


@pytest.mark.parametrize("columns", [256, 252, 251])
def test_gathered_rows_are_loaded_in_vectors(target: str, columns: int) -> None:
    rows = torch.randint(0, 50, (1024,), generator=torch.Generator().manual_seed(1))
    inputs = [randoms((50, columns)), rows]
    fd = define(looked_up, inputs)
    widest = min(columns & -columns, 4)
    check_vectors(fd, SchedulerType.pointwise, inputs, target, [widest])


def test_elements_that_are_gathered_one_by_one_are_no_vectors(target: str) -> None:
    positions = torch.randint(0, 50, (1024, 256), generator=torch.Generator().manual_seed(1))
    inputs = [randoms((1024, 50), torch.bfloat16), positions]
    fd = define(lambda fd, x, at: fd.ops.neg(fd.ops.gather(x, at, 1)), inputs)
    check_vectors(fd, SchedulerType.pointwise, inputs, target, [1])


def moved(x: torch.Tensor, target: str) -> torch.Tensor:
    """On the target, as far behind the begin of its memory as before."""
    memory = x.as_strided([x.storage_offset() + x.numel()], [1], 0).to(target)
    return memory[x.storage_offset() :].view(x.shape)


def check_vectors(
    fd: FusionDefinition,
    scheduler: SchedulerType,
    inputs: list[torch.Tensor],
    target: str,
    widths: list[int],
) -> None:
    """The schedule for a GPU has these widths behind those of inputs and outputs; it is right on
    any target."""
    here = [moved(x, target) for x in inputs]
    fusion, params = scheduled(fd, scheduler, here, "cuda")
    assert params.vector_widths[-len(widths) :] == widths
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    for own, reference in zip(executor.run(here), exact(fd.fusion, here), strict=True):
        check_close(own, reference)


def test_a_slice_at_an_odd_address_is_no_vector(target: str) -> None:
    x = randoms((1024 * 256 + 1,))[1:].view(1024, 256)
    check_vectors(define(rotated, [x], static_sizes=True), RESIZE, [x], target, [1, 1])


# -- several shapes --


def part_and_whole(fd, x):
    n = x.rank() - 1
    starts, ends = [0] * n + [2], [size.value() for size in x.shape()]
    return [fd.ops.neg(fd.ops.slice(x, starts, ends)), fd.ops.exp(x)]


def parts_that_are_read(fd, x):
    """Three branches; outputs are read, and lie in another order than they are computed in."""
    ops = fd.ops
    outs = []
    for first, rows in ((0, 20), (7, 25), (3, 4)):
        value = ops.sin(ops.slice(x, [first, 0], [first + rows, 50]))
        outs += [value, ops.permute(ops.mul(value, 2.0), [1, 0])]
    return outs


def reshaped_parts(fd, x):
    ops = fd.ops
    flat = ops.reshape(ops.slice(x, [0, 0], [8, 50]), [2, 4, 50])
    return [ops.exp(flat), ops.neg(ops.reshape(x, [2, 16, 50]))]


@pytest.mark.parametrize("build", [part_and_whole, parts_that_are_read, reshaped_parts])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64, torch.int8])
def test_parts_of_one_dimension_share_a_kernel(build: Callable, dtype, target: str) -> None:
    if dtype == torch.int8 and build is not part_and_whole:
        pytest.skip("no sine, no exponential of bytes")
    x = randoms((32, 50), dtype)
    params = check_runs(define(build, [x], static_sizes=True), RESIZE, [x], target)
    assert params.scheduler_type == RESIZE


def test_blocks_are_enough_for_the_largest_part(target: str) -> None:
    x = randoms((700, 300))
    fd = define(part_and_whole, [x], static_sizes=True)
    check_runs(fd, RESIZE, [x], target)
    params = schedule.compute_heuristics(fd.fusion, RESIZE, [x], "cuda")
    assert params.lparams.gdimx == -(-700 * 300 // params.lparams.bdimx)


# -- refusals --


def refusal(build: Callable, *inputs: torch.Tensor) -> str:
    fd = define(build, inputs, static_sizes=True)
    taken, why = schedule.can_schedule(fd.fusion, RESIZE, inputs)
    assert not taken
    return why


def test_maps_without_resizes_are_for_pointwise() -> None:
    assert "No resize op to schedule" in refusal(lambda fd, x: fd.ops.neg(x), randoms((4, 8)))


def test_reductions_are_refused() -> None:
    def build(fd, x):
        return fd.ops.sum(fd.ops.slice(x, [0, 0], [4, 6]), [1])

    assert "no support for reduction ops" in refusal(build, randoms((4, 8)))


def test_a_value_at_two_positions_is_refused() -> None:
    def build(fd, x):
        value = fd.ops.exp(x)
        return fd.ops.add(fd.ops.pad(value, [1, 0]), fd.ops.pad(value, [0, 1]))

    why = refusal(build, randoms((4, 8)))
    assert "Resize between reference and output not allowed." in why


def test_a_large_slice_and_the_whole_are_two_kernels() -> None:
    assert "are large" in refusal(part_and_whole, randoms((1024, 2048)))


def test_unrelated_slices_are_two_kernels() -> None:
    def build(fd, x, y):
        return [part_and_whole(fd, x)[0], part_and_whole(fd, y)[0]]

    assert "cannot find reference tensor" in refusal(build, randoms((4, 8)), randoms((5, 9)))


def test_an_update_and_a_slice_are_two_kernels() -> None:
    x = randoms((4, 8))
    with FusionDefinition() as fd:
        tensor = fd.define_tensor([4, 8])
        part, whole = part_and_whole(fd, tensor)
        fd.add_output(part)
        fd.add_output(whole, tensor)
    taken, why = schedule.can_schedule(fd.fusion, RESIZE, [x])
    assert not taken
    assert "cannot find reference tensor" in why


def test_reshapes_that_conflict_are_two_kernels() -> None:
    def build(fd, x):
        parts = [fd.ops.slice(x, [i], [i + 24]) for i in (0, 12)]
        shapes = [[6, 4], [3, 8]]
        return [
            fd.ops.exp(fd.ops.reshape(p, shape)) for p, shape in zip(parts, shapes, strict=True)
        ]

    assert "cannot find reference tensor" in refusal(build, randoms((36,)))


def test_a_slice_of_what_is_computed_is_refused() -> None:
    def build(fd, x):
        return fd.ops.neg(fd.ops.slice(fd.ops.exp(x), [0, 2], [4, 8]))

    assert "an operand of SliceOp must be a fusion input" in refusal(build, randoms((4, 8)))


def test_gathered_elements_are_not_padded_in_one_kernel() -> None:
    def build(fd, x, rows):
        return fd.ops.pad(fd.ops.gather(x, rows, 0), [0, 2])

    x, rows = randoms((5,)), torch.tensor([3, 1, 4])
    assert "a gathered axis is resized" in refusal(build, x, rows)
    (out,) = define(build, [x, rows]).execute([x, rows])
    torch.testing.assert_close(out, torch.nn.functional.pad(x[rows], [0, 2]), rtol=0, atol=0)


def test_broadcasts_are_not_resized() -> None:
    def build(fd, x):
        row = fd.ops.broadcast(fd.ops.cast(x, DataType.Double), [True, False])
        return fd.ops.pad(row, [0, 0, 1, 1])

    assert "Resize of a broadcast ID is not allowed." in refusal(build, randoms((8,)))


@pytest.mark.parametrize("is_met", [False, True])
@pytest.mark.parametrize("shape", [(), (1,)], ids=str)
def test_elements_that_are_repeated_are_not_resized_behind_it(
    target: str, shape: tuple[int, ...], *, is_met: bool
) -> None:
    def build(fd, a, x):
        one = fd.ops.sin(a) if shape else fd.ops.broadcast(fd.ops.sin(a), [True])
        row = fd.ops.expand(one, [8])
        return fd.ops.pad(fd.ops.mul(row, x) if is_met else row, [0, 2], 1.0)

    a, x = randoms(shape, torch.float64), randoms((8,), torch.float64)
    assert "Resize of a broadcast ID is not allowed." in refusal(build, a, x)
    here = [a.to(target), x.to(target)]
    fd = define(build, here)
    (out,) = fd.execute(here)
    row = here[0].sin().expand(8) * (here[1] if is_met else 1)
    check_close(out, torch.nn.functional.pad(row, [0, 2], value=1.0))
    assert not any(piece.refused for piece in fd.fec.last_pieces())


@pytest.mark.parametrize("shape", [(7,), (5,)], ids=["row", "column"])
def test_axes_that_a_broadcast_adds_are_not_resized_behind_it(shape: tuple[int]) -> None:
    is_row = shape == (7,)

    def build(fd, a, x):
        wide = fd.ops.broadcast(fd.ops.sin(a), [is_row, not is_row])
        return fd.ops.pad(fd.ops.add(wide, x), [0, 0, 0, 1] if is_row else [0, 1, 0, 0])

    a, x = randoms(shape), randoms((5, 7))
    assert "Resize of a broadcast ID is not allowed." in refusal(build, a, x)
    (out,) = define(build, [a, x]).execute([a, x])
    wide = torch.sin(a)[None, :] if is_row else torch.sin(a)[:, None]
    widths = [0, 0, 0, 1] if is_row else [0, 1, 0, 0]
    torch.testing.assert_close(out, torch.nn.functional.pad(wide + x, widths))


def test_axes_that_a_broadcast_adds_may_stay_beside_a_pad(target: str) -> None:
    def build(fd, a, x):
        return fd.ops.pad(fd.ops.add(fd.ops.broadcast(fd.ops.sin(a), [True, False]), x), [0, 1])

    inputs = [randoms((7,)), randoms((5, 7))]
    check_runs(define(build, inputs), RESIZE, inputs, target)

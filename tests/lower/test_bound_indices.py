"""bound_indices: what every index lies between, by sizes, strides and scalars of the inputs."""

from __future__ import annotations

import pytest
from pass_text import NAMES, TX, check_unchanged

from nvfuser_direct import FusionDefinition, Kernel, MemoryType, ParallelType
from nvfuser_direct._core.internal import ScalarProgram

NAME = "bound_indices"
BEFORE = NAMES[NAMES.index(NAME) - 1]


def lowered(fd: FusionDefinition, target: str = "cuda", until: str = NAME) -> Kernel:
    return fd.fusion.lower(target=target, until=until)


def texts(kernel: Kernel) -> list[str | None]:
    return [None if bound is None else bound.to_inline_string() for bound in kernel.index_bounds()]


def values(kernel: Kernel, **sizes: int) -> list[tuple[object, str]]:
    """The smallest and the largest index and whether an axis is empty, by sizes of the kernel."""
    symbols = {}
    for tensor in kernel.inputs():
        for axis in tensor.logical():
            symbols[axis.extent().to_inline_string()] = axis.extent()
    program = ScalarProgram(
        [symbols[name] for name in sizes], [*kernel.index_bounds(), kernel.has_empty_axis()]
    )
    return program.evaluate(list(sizes.values()))


def negated(*shape: int, contiguity: bool = True) -> FusionDefinition:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor(list(shape), contiguity=contiguity)))
    return fd


def test_bounds_are_known_after_the_pass_and_not_before() -> None:
    fd = negated(4, 8)
    assert texts(lowered(fd, until=BEFORE)) == [None, None]
    assert lowered(fd, until=BEFORE).has_empty_axis() is None
    assert texts(lowered(fd)) == ["0", "32"]


def test_bounds_of_symbolic_sizes_are_expressions() -> None:
    kernel = lowered(negated(-1, -1))
    smallest, largest = texts(kernel)
    assert smallest == "0"
    assert largest is not None
    assert "( i0 * i1 )" in largest
    assert values(kernel, i0=6, i1=7)[:2] == [(0, "known"), (42, "known")]


def test_sizes_that_no_integer_holds_overflow() -> None:
    kernel = lowered(negated(-1, -1))
    assert values(kernel, i0=2**40, i1=2**40)[1][1] == "overflowed"
    assert int(texts(lowered(negated(2**40, 2**40)))[1] or 0) >= 2**32


def test_a_split_that_does_not_divide_covers_more_than_the_axis() -> None:
    with FusionDefinition() as fd:
        y = fd.ops.neg(fd.define_tensor([10], contiguity=True))
        fd.add_output(y)
        y.split(0, 4)
    assert texts(lowered(fd)) == ["0", "12"]


def test_an_axis_counts_with_the_launched_size_of_its_index() -> None:
    with FusionDefinition() as fd:
        for shape in ([32, 10], [96]):
            y = fd.ops.neg(fd.define_tensor(shape, contiguity=True))
            fd.add_output(y)
            y.axis(0).parallelize(TX)
    assert texts(lowered(fd)) == ["0", "960"]


def test_padded_axes_count_whole_warps() -> None:
    with FusionDefinition() as fd:
        y = fd.ops.neg(fd.define_tensor([40], contiguity=True))
        fd.add_output(y)
        y.axis(0).parallelize(TX)
        y.axis(0).pad_to_multiple_of_warp()
    assert texts(lowered(fd)) == ["0", "64"]


def test_strides_count_where_memory_is_not_contiguous() -> None:
    assert "alloc_stride[0]" in (texts(lowered(negated(4, 8, contiguity=False)))[1] or "")
    assert "alloc_stride" not in (texts(lowered(negated(4, 8)))[1] or "")


@pytest.mark.parametrize(("stages", "largest"), [(1, 80), (2, 116), (4, 154)])
def test_loads_ahead_of_the_end_count(stages: int, largest: int) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([5, 16], contiguity=True)
        t = fd.ops.sum(x, [1])
        fd.add_output(t)
        row = x.cache_after()
        row.set_memory_type(MemoryType.Shared)
        for tensor in (row, t):
            tensor.axis(1).parallelize(TX)
        row.inline_at(1)
        if stages > 1:
            row.circular_buffer(stages)
    assert texts(lowered(fd)) == ["0", str(largest)]


def test_positions_that_the_fusion_computes_count() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        fd.add_output(fd.ops.pad(x, [-3, 1000]))
    assert texts(lowered(fd)) == ["-3", "1005"]


def test_buffers_in_global_memory_count() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        y.axis(1).parallelize(ParallelType.grid_x)
    kernel = lowered(fd)
    assert len(kernel.buffers()) > 1
    assert values(kernel, i0=100)[1] == (6400, "known")


def test_an_empty_axis_counts_where_something_is_written() -> None:
    with FusionDefinition() as fd:
        for _ in range(2):
            y = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
            fd.add_output(y)
            y.axis(0).parallelize(TX)
    kernel = lowered(fd)
    names = [kernel.inputs()[i].logical()[0].extent().to_inline_string() for i in range(2)]
    for sizes, is_empty in (((4, 5), False), ((0, 5), True), ((4, 0), True), ((0, 0), False)):
        found = values(kernel, **dict(zip(names, sizes, strict=True)))
        assert found[2] == (is_empty, "known")


def test_a_serial_axis_may_be_empty() -> None:
    assert values(lowered(negated(-1)), i0=0)[2] == (False, "known")


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_statements_stay(target: str) -> None:
    check_unchanged(negated(4, 8), NAME, target)

"""Whether a dimension is a broadcast may be known at definition, or only with the sizes of a run.

Each operation gives the same either way: the same elements, and the same refusals.
"""

from __future__ import annotations

import itertools

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition

ROWS, COLUMNS = 3, 4


# ---- Operands [ROWS, n] whose second dimension repeats one column, or is that column -------------


def expanded_known(fd, x, n):
    return fd.ops.expand(fd.ops.broadcast(x, [False, True]), [-1, n])


def expanded_behind_reshape(fd, x, n):
    return fd.ops.reshape(expanded_known(fd, x, n), [fd.define_scalar(dtype=DataType.Int), n])


def expanded_column(fd, x, n):
    rows = fd.define_scalar(dtype=DataType.Int)
    one = fd.define_scalar(dtype=DataType.Int)
    return fd.ops.expand(fd.ops.reshape(x, [rows, one]), [-1, n])


def broadcast_known(fd, x, n):
    return fd.ops.broadcast(x, [False, True])


def broadcast_behind_reshape(fd, x, n):
    rows = fd.define_scalar(dtype=DataType.Int)
    one = fd.define_scalar(dtype=DataType.Int)
    return fd.ops.reshape(x, [rows, one])


PAIRS = {
    "expanded, behind a reshape": (expanded_known, expanded_behind_reshape, [ROWS]),
    "expanded, an open column": (expanded_known, expanded_column, [ROWS, 1]),
    "broadcast": (broadcast_known, broadcast_behind_reshape, [ROWS, 1]),
}


def column(target):
    return torch.tensor([2.0, -1.0, 3.0], device=target)


def defined(operand, function):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        n = fd.define_scalar(dtype=DataType.Int)
        for out in function(fd, operand(fd, x, n)):
            fd.add_output(out)
    return fd


# ---- Operations ----------------------------------------------------------------------------------


def integer(fd, value):
    return fd.define_scalar(value, dtype=DataType.Int)


def table(fd, y):
    """Elements of the shape of `y` that all differ."""
    rows = fd.ops.broadcast(fd.ops.iota(y.size(0), 0, 10), [False, True])
    columns = fd.ops.broadcast(fd.ops.iota(y.size(1), 0, 1), [True, False])
    return fd.ops.cast(fd.ops.add(rows, columns), dtype=DataType.Float)


def positions(fd, y, dim):
    """Positions 0 and 1 along `dim`, the same for all of the other dimension."""
    index = fd.ops.broadcast(fd.ops.iota(integer(fd, 2), 0, 1), [dim == 1, dim == 0])
    sizes = [y.size(0), y.size(1)]
    sizes[dim] = -1
    return fd.ops.expand(index, sizes)


def reductions(fd, y):
    for name, dims in itertools.product(("sum", "prod", "max", "min"), ([0], [1], [0, 1])):
        yield getattr(fd.ops, name)(y, dims)
        yield getattr(fd.ops, name)(y, dims, keepdim=True)


def moments(fd, y):
    yield fd.ops.var(y, [0, 1])
    yield fd.ops.var(y, [1], correction=0, keepdim=True)
    yield from fd.ops.var_mean(y, [0])
    yield from fd.ops.welford(y, [0])


def scans_across(fd, y):
    for name in ("cumsum", "cumprod", "cummax", "cummin"):
        yield getattr(fd.ops, name)(y, 0)


def searches(fd, y):
    for dim, descending in itertools.product((0, 1), (False, True)):
        yield fd.ops.argsort(y, dim, descending, stable=True)
    yield from fd.ops.topk(y, integer(fd, 2), 0, True, True)
    values, positions = fd.ops.topk(y, fd.ops.cast(y.size(1), dtype=DataType.Int), 1, True, True)
    yield values
    yield fd.ops.max(positions, [1])  # among equal elements any may come


def lookups(fd, y):
    zero = integer(fd, 0)
    yield fd.ops.select(y, zero, 0)
    yield fd.ops.select(y, zero, 1)
    yield fd.ops.index_select(y, fd.ops.iota(integer(fd, 2), 0, 1), 0)
    for look_up in (fd.ops.gather, fd.ops.take_along_axis):
        yield look_up(y, positions(fd, y, 0), 0)


def lookups_at_repeated_positions(fd, y):
    index = fd.ops.cast(fd.ops.gt(y, 0.0), dtype=DataType.Int)
    for look_up, dim in itertools.product((fd.ops.gather, fd.ops.take_along_axis), (0, 1)):
        yield look_up(table(fd, y), index if dim == 0 else fd.ops.mul(index, 0), dim)
    yield fd.ops.index_select(table(fd, y), fd.ops.select(index, integer(fd, 0), 1), 0)


def scatters(fd, y):
    index = positions(fd, y, 0)
    values = fd.ops.cast(fd.ops.add(index, 100), dtype=DataType.Float)
    yield fd.ops.scatter(y, index, values, 0)
    yield fd.ops.scatter(y, index, fd.define_scalar(7.0, dtype=DataType.Float), 0)
    order = fd.ops.argsort(table(fd, y), 0, True, True)
    yield fd.ops.scatter(table(fd, y), order, y, 0)


def scatters_along(fd, y):
    index = positions(fd, y, 1)
    values = fd.ops.cast(fd.ops.add(index, 100), dtype=DataType.Float)
    yield fd.ops.scatter(y, index, values, 1)
    yield fd.ops.scatter(y, index, fd.define_scalar(7.0, dtype=DataType.Float), 1)


def parts(fd, y):
    yield fd.ops.pad(y, [1, 2])
    yield fd.ops.pad(y, [0, 0, 1, 2])
    yield fd.ops.slice(y, [1, 0], [3, 100])
    yield fd.ops.slice(y, [0, 0], [100, 1])
    for dim in (0, 1):
        yield fd.ops.cat([y, table(fd, y)], dim)
        yield fd.ops.cat([y, y], dim)


def shapes(fd, y):
    yield fd.ops.permute(y, [1, 0])
    yield fd.ops.stride_order(y, [0, 1])
    yield fd.ops.reshape(y, [-1])
    yield fd.ops.set(y)
    yield fd.ops.add(y, table(fd, y))
    yield fd.ops.triu(table(fd, y))


def squeezes(fd, y):
    yield fd.ops.squeeze(y, [1], squeeze_expanded=True)
    yield fd.ops.add(fd.ops.squeeze(y, [-1], squeeze_expanded=True), 1.0)


def products(fd, y):
    yield fd.ops.matmul(y, fd.ops.permute(y, [1, 0]))
    yield fd.ops.linear(y, y)
    yield fd.ops.matmul(fd.ops.permute(y, [1, 0]), table(fd, y))


OPERATIONS = [
    reductions,
    moments,
    scans_across,
    searches,
    lookups,
    lookups_at_repeated_positions,
    scatters,
    scatters_along,
    parts,
    shapes,
    squeezes,
    products,
]


CASES = [  # position 1 is beyond a dimension of one element
    pytest.param(operation, pair, id=f"{operation.__name__}, {pair}")
    for operation in OPERATIONS
    for pair in PAIRS
    if operation is not scatters_along or pair != "broadcast"
]


@pytest.mark.parametrize(("operation", "pair"), CASES)
def test_an_axis_that_sizes_decide_is_as_if_it_were_known(target, operation, pair):
    known, found_out, sizes = PAIRS[pair]
    n = 1 if pair == "broadcast" else COLUMNS
    x = column(target)
    expected = defined(known, operation).execute([x, n])
    results = defined(found_out, operation).execute([x, n, *sizes])
    assert len(results) == len(expected)
    for result, reference in zip(results, expected, strict=True):
        torch.testing.assert_close(result, reference, rtol=0, atol=0, equal_nan=True)


REFUSED = {
    "cumsum": lambda fd, y: [fd.ops.cumsum(y, 1)],
    "cummax": lambda fd, y: [fd.ops.cummax(y, -1)],
    "var_mean": lambda fd, y: fd.ops.var_mean(y, [1]),
    "welford": lambda fd, y: fd.ops.welford(y, [0, 1]),
}


@pytest.mark.parametrize("pair", [name for name in PAIRS if name != "broadcast"])
@pytest.mark.parametrize("name", REFUSED)
def test_an_operation_that_takes_no_expanded_axis_refuses_it_with_the_sizes(name, pair):
    known, found_out, sizes = PAIRS[pair]
    with pytest.raises(RuntimeError) as at_definition:
        defined(known, REFUSED[name])
    with pytest.raises(RuntimeError) as at_run:
        defined(found_out, REFUSED[name]).execute([column("cpu"), COLUMNS, *sizes])
    headlines = [
        str(error.value).split(" ID = ")[0].splitlines()[0] for error in (at_definition, at_run)
    ]
    assert headlines[0] == headlines[1]


def test_the_greatest_of_an_expanded_axis_without_elements_is_the_initial_value(target):
    """As for every other dimension that turns out empty."""
    fd = defined(expanded_known, lambda fd, y: [fd.ops.max(y, [1]), fd.ops.min(y, [0, 1])])
    for n, greatest, smallest in (
        (COLUMNS, column(target), torch.tensor(-1.0, device=target)),
        (0, torch.full((ROWS,), -torch.inf, device=target), torch.tensor(torch.inf, device=target)),
    ):
        maximum, minimum = fd.execute([column(target), n])
        torch.testing.assert_close(maximum, greatest)
        torch.testing.assert_close(minimum, smallest)


@pytest.mark.parametrize("find_out", [expanded_behind_reshape, expanded_column])
def test_a_squeezed_axis_may_repeat_any_number_of_elements(target, find_out):
    (sizes,) = [sizes for _, function, sizes in PAIRS.values() if function is find_out]
    fd = defined(find_out, squeezes)
    x = column(target)
    for n in (COLUMNS, 1, 7):
        for result, reference in zip(fd.execute([x, n, *sizes]), (x, x + 1), strict=True):
            torch.testing.assert_close(result, reference, rtol=0, atol=0)


def test_a_squeezed_axis_has_to_repeat_one_element_if_it_has_several():
    """Whatever ran before: sizes of 1 are no broadcast, and may be squeezed."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        sizes = [fd.define_scalar(dtype=DataType.Int) for _ in range(2)]
        fd.add_output(fd.ops.squeeze(fd.ops.reshape(x, sizes), [1], squeeze_expanded=True))
    x = torch.arange(6.0).reshape(6, 1)
    for _ in range(2):
        assert fd.execute([x, 6, 1])[0].tolist() == x.flatten().tolist()
        with pytest.raises(RuntimeError, match="must concretize to IterType::Broadcast but found"):
            fd.execute([x.reshape(3, 2), 3, 2])


def test_an_open_axis_that_may_be_expanded_is_printed_so():
    fd = defined(expanded_behind_reshape, squeezes)
    assert "squeeze_expanded=True" in str(fd)

"""Segments that write into inputs, inputs that are outputs, and values with several names."""

from __future__ import annotations

import torch
from cut_definitions import check_cut, constant, copied, define, maps, matrix, randn

from nvfuser import FusionDefinition


def test_a_late_boundary_updates_an_input(target) -> None:
    """Neg, `segment_set` aliasing the input, relu of it as output"""

    def build(fd):
        x = matrix(fd)
        cut = fd.ops.segment_set(fd.ops.neg(x))
        fd.add_output(cut, x)
        return fd.ops.relu(cut)

    x = randn(5, 6, target=target)
    fd = check_cut(build, [x])
    given = copied([x])
    (out,) = fd.execute(given)
    assert torch.equal(given[0], -x)
    assert torch.equal(out, torch.relu(-x))


def test_an_update_in_the_last_of_several_segments(target) -> None:
    """ "input updated, earlier segments saw the old value" """

    def build(fd):
        x, y = matrix(fd), matrix(fd)
        total = fd.ops.sum(x, [0])
        fd.add_output(fd.ops.add(fd.ops.segment_set(total), y), y)
        return fd.ops.sum(fd.ops.exp(y), [0])

    inputs = [randn(30, 16, target=target), randn(20, 16, target=target)]
    fd = check_cut(build, inputs, atol=1e-4, rtol=1e-4)
    writers = [
        k
        for k, s in enumerate(fd.segments)
        if "fd.add_output(T" in repr(s) and ", T" in repr(s).rsplit("add_output", 1)[1]
    ]
    readers = [k for k, m in enumerate(maps(fd)) if 1 in m.values()]
    assert writers
    assert max(readers) == writers[-1]
    assert len(fd.outputs()) == 1


def test_an_update_that_is_returned_as_well(target) -> None:
    """ "if `t` is also an ordinary output it is returned as well" """

    def build(fd):
        x, y = matrix(fd), matrix(fd)
        cut = fd.ops.segment_set(fd.ops.exp(y))
        result = fd.ops.add(cut, x)
        fd.add_output(result, x)
        fd.add_output(result)

    inputs = [randn(5, 6, target=target), randn(5, 6, target=target)]
    fd = check_cut(build, inputs)
    given = copied(inputs)
    (out,) = fd.execute(given)
    torch.testing.assert_close(out, given[0])
    torch.testing.assert_close(out, inputs[0] + torch.exp(inputs[1]))


def test_trivial_updates_are_one_segment(target) -> None:
    """In-place update, also through a reshape"""

    def plain(fd):
        x = matrix(fd)
        fd.add_output(fd.ops.add(x, constant(fd, 1.0)), x)

    def reshaped(fd):
        x = fd.define_tensor([4, 6], contiguity=True)
        flat = fd.ops.add(fd.ops.reshape(x, [24]), constant(fd, 1.0))
        fd.add_output(fd.ops.reshape(flat, [4, 6]), x)

    x = randn(4, 6, target=target)
    for build in (plain, reshaped):
        check_cut(build, [x], 1)


def test_a_permuted_copy_shares_the_pointer_of_the_input(target) -> None:
    """ "permuted output shares the input's pointer" """

    def build(fd):
        x = matrix(fd)
        cut = fd.ops.segment_set(x)
        return [fd.ops.add(x, constant(fd, 1.0)), fd.ops.permute(cut, [1, 0])]

    x = randn(4, 6, target=target)
    fd = define(build)
    fd.segment([x])
    added, permuted = fd.execute([x])
    assert torch.equal(added, x + 1)
    assert permuted.data_ptr() == x.data_ptr()
    assert torch.equal(permuted, x.t())


def test_outputs_that_are_given_twice(target) -> None:
    """Mid, mid, out, out with a boundary between mid and out"""

    def build(fd):
        mid = fd.ops.exp(matrix(fd))
        out = fd.ops.neg(fd.ops.segment_set(mid))
        return [mid, mid, out, out]

    x = randn(4, 6, target=target)
    fd = check_cut(build, [x], 2)
    a, b, c, d = fd.execute([x])
    assert a is b
    assert c is d


def test_an_input_that_is_an_output(target) -> None:
    """The same pointer, no segment of its own; also rank 0"""

    def build(fd):
        x, scalar = matrix(fd), fd.define_tensor([])
        cut = fd.ops.segment_set(fd.ops.exp(x))
        return [x, fd.ops.neg(cut), scalar]

    inputs = [randn(4, 6, target=target), torch.tensor(3.0, device=target)]
    fd = check_cut(build, inputs, 2)
    for _ in range(2):
        first, _, last = fd.execute(inputs)
        assert first.data_ptr() == inputs[0].data_ptr()
        assert last.data_ptr() == inputs[1].data_ptr()
    compiled = [s._complete_entry().fec.stats().compiled for s in fd.segments]
    fd.execute(inputs)
    assert compiled == [s._complete_entry().fec.stats().compiled for s in fd.segments]


def test_only_inputs_are_outputs(target) -> None:
    """ "It needs no segment." """
    x = randn(4, target=target)
    fd = define(lambda fd: matrix(fd, 1))
    assert fd.segment([x]) == []
    assert fd.execute([x])[0].data_ptr() == x.data_ptr()


def test_two_original_indices_of_one_value(target) -> None:
    """The map names the lowest of them; the table serves both"""

    def build(fd):
        x = matrix(fd)
        value = fd.ops.exp(x)
        same = fd.ops.set(value)
        also = fd.ops.broadcast(same, [False, False])
        return [same, fd.ops.sum(fd.ops.segment_set(also), [0]), value]

    x = randn(4, 6, target=target)
    fd = check_cut(build, [x], 2, atol=1e-5, rtol=1e-5)
    assert 1 in maps(fd)[0].values(), "exp has index 1, its copies 2 and 3"
    same, _, value = fd.execute([x])
    assert torch.equal(same, value)


def test_a_value_read_by_two_segments_that_is_an_output(target) -> None:
    """ "kept to the end" """

    def build(fd):
        value = fd.ops.segment_set(fd.ops.exp(matrix(fd)))
        return [value, fd.ops.sum(value, [0]), fd.ops.sum(value, [1])]

    check_cut(build, [randn(30, 20, target=target)], atol=1e-4, rtol=1e-4)


def test_an_unused_input_stays(target) -> None:
    """ "stays in the table, no error" """

    def build(fd: FusionDefinition):
        x = matrix(fd)
        fd.define_tensor([-1])
        return fd.ops.neg(fd.ops.segment_set(fd.ops.exp(x)))

    fd = check_cut(build, [randn(4, 6, target=target), randn(3, target=target)], 2)
    assert 1 not in fd.map_value_to_last_used_segment


def test_a_non_contiguous_input_is_updated(target) -> None:
    """In-place update of a non-contiguous input"""

    def build(fd):
        x = fd.define_tensor([-1, -1], contiguity=False)
        cut = fd.ops.segment_set(fd.ops.exp(x))
        fd.add_output(fd.ops.add(cut, constant(fd, 1.0)), x)

    x = randn(8, 12, target=target)[::2, ::3]
    fd = define(build)
    fd.segment([x])
    given = randn(8, 12, target=target)[::2, ::3]
    assert fd.execute([given]) == []
    torch.testing.assert_close(given, torch.exp(x) + 1)

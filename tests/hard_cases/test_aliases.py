"""Aliases and in-place updates."""

import pytest
import torch
from hard_case import BX, TX, Compiled, assert_same, like, numbers, par

from nvfuser_direct import DataType, FusionDefinition, UserError


def flat(fd, tensor):
    """Bind a flattened output to blocks and threads, and everything else with it."""
    while tensor.ndims() > 1:
        tensor.merge(0, 1)
    tensor.split(0, 32)
    par(tensor, BX, TX)
    like(tensor)
    fd.sched.inline_most()


def test_in_place_update(target):
    """Hidden, so that nothing is returned for it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.add(x, 1.0)
        z = fd.ops.mul(y, 2.0)
        fd.add_output(y, x)
        fd.add_output(z)
        flat(fd, z)
    for shape in ((1, 1), (3, 4), (33, 31)):
        x = numbers(*shape, device=target)
        before = x.clone()
        (out,) = Compiled(fd)(x)
        assert_same([out, x], [(before + 1) * 2, before + 1])


def test_visible_alias_is_the_input(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.add(x, 1.0)
        fd.add_output(y, x)
        fd.add_output(y)
        par(y, TX)
    x = numbers(33, device=target)
    before = x.clone()
    outs = Compiled(fd)(x)
    assert len(outs) == 1
    assert outs[0] is x or outs[0].data_ptr() == x.data_ptr()
    assert_same([x], [before + 1])


def test_in_place_with_a_permuted_reader(target):
    """Refused, since a thread would read what another one has overwritten."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.ops.add(x, 1.0)
        z = fd.ops.neg(fd.ops.permute(x, [1, 0]))
        fd.add_output(y, x)
        fd.add_output(z)
        for tensor in (y, z):
            par(tensor, None, TX)
    x = numbers(32, 32, device=target)
    before = x.clone()
    with pytest.raises(UserError, match="updated in place while another thread may still read it"):
        Compiled(fd)(x)
    assert_same([x], [before])


def test_in_place_with_another_type(target):
    """Stored with the input's dtype and strides."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True], dtype=DataType.Half)
        y = fd.ops.cast(fd.ops.mul(fd.ops.cast(x, DataType.Float), 0.5), DataType.Half)
        fd.add_output(y, x)
        flat(fd, y)
    base = torch.arange(60, device=target, dtype=torch.float16).reshape(5, 12)
    x = base[:, :10]
    before = base.clone()
    assert Compiled(fd)(x) == []
    assert_same([x, base[:, 10:]], [before[:, :10] * 0.5, before[:, 10:]])


def test_the_same_tensor_twice(target):
    """Computed once."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        fd.add_output(y)
        par(y, TX)
    x = numbers(33, device=target)
    outs = Compiled(fd)(x)
    assert_same(outs, [-x, -x])


@pytest.mark.parametrize("is_in_place", [False, True])
def test_read_only_loads(is_in_place):
    """Not of a buffer that the kernel writes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.set(x)
        z = fd.ops.add(y, 1.0)
        fd.add_output(z, x if is_in_place else None)
        for tensor in (y, z):
            par(tensor, TX)
        fd.sched.inline_most()
    text = fd.fusion.print_kernel()
    assert ("load_readonly(T0[" in text) == (not is_in_place)
    assert ("= T0[" in text) == is_in_place


def test_overlapping_inputs_are_only_read(target):
    """Expanded and sliding strides."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=False)
        y = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(x))
        fd.add_output(fd.ops.relu(y))
    base = numbers(12, device=target)
    compiled = Compiled(fd)
    for window in (base.as_strided((5, 4), (1, 1)), base[:4].expand(5, 4)):
        assert_same(compiled(window, base), [-window, torch.relu(base)])


def test_alias_target_that_overlaps_itself(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=False)
        y = fd.ops.add(x, 1.0)
        fd.add_output(y, x)
    base = numbers(12, device=target)
    with pytest.raises(UserError, match="Input 0 is updated in place but overlaps itself"):
        Compiled(fd)(base.as_strided((5, 4), (1, 1)))


def test_in_place_with_holes(target):
    """Elements beyond the end of a split are not written."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.add(fd.ops.set(x), 1.0)
        fd.add_output(y, x)
        y.split(0, 8)
        y.split(0, 4)
        like(y)
        fd.sched.inline_most()
    base = torch.arange(100.0, device=target)
    before = base.clone()
    Compiled(fd)(base[:33])
    assert_same([base[:33], base[33:]], [before[:33] + 1, before[33:]])


def test_update_that_would_run_twice(target):
    """Inlined into loops over more axes, an accumulation would be done once for each row."""
    with FusionDefinition() as fd:
        total = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        doubled = fd.ops.mul(total, 2.0)
        row = fd.ops.broadcast(doubled, [True, False])
        y = fd.ops.add(x, row)
        updated = fd.ops.add(total, fd.ops.squeeze(row, [0]))
        fd.add_output(updated, total)
        fd.add_output(y)
        flat(fd, y)
    values = [numbers(5, device=target), numbers(3, 5, device=target)]
    with pytest.raises(RuntimeError, match="An update in place would be done several times"):
        Compiled(fd)(*values)


def test_execute_updates_once(target):
    """The schedule of `execute` keeps the update out of the loops over rows."""
    with FusionDefinition() as fd:
        total = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, -1], contiguity=True)
        row = fd.ops.broadcast(fd.ops.mul(total, 2.0), [True, False])
        y = fd.ops.add(x, row)
        fd.add_output(fd.ops.add(total, fd.ops.squeeze(row, [0])), total)
        fd.add_output(y)
    total, x = numbers(5, device=target), numbers(3, 5, device=target)
    before = total.clone()
    (out,) = fd.execute([total, x])
    assert_same([out, total], [x + 2 * before, 3 * before])


def test_evaluated_copies_are_apart_from_updated_inputs(target):
    """A value that was read before an update stays, also where no kernel runs."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1], contiguity=[None])
        y = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.full([1], 3.0, DataType.Float), x)
        fd.add_output(fd.ops.set(x))
        fd.add_output(fd.ops.matmul(y, y))
    x, y = torch.zeros(1, device=target), numbers(4, device=target)
    copy, _ = fd.execute([x, y])
    assert_same([copy.cpu(), x.cpu()], [torch.zeros(1), torch.full((1,), 3.0)])


def test_update_with_a_layout_of_its_own(target):
    """The storage of an update is that of the input, whatever order it had."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.stride_order(fd.ops.neg(x), [0, 1])
        fd.add_output(y, x)
        fd.add_output(fd.ops.mul(y, 2.0))
    x = numbers(4, 7, device=target)
    before = x.clone()
    (out,) = fd.execute([x])
    assert_same([out, x], [-2 * before, -before])


def test_expanded_update(target):
    """Every element of the input gets the value."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        one = fd.define_tensor([1], contiguity=[None])
        fd.add_output(fd.ops.expand(fd.ops.neg(one), x.shape()), x)
    x, one = numbers(5, device=target), torch.full((1,), 4.0, device=target)
    fd.execute([x, one])
    assert_same([x.cpu()], [torch.full((5,), -4.0)])


def test_update_follows_a_layout_that_its_input_gets_later(target):
    """A tensor that is written in place lies as the input does, whenever that is said."""
    layouts = [
        (lambda x: x.set_contiguity(False), (20, 2)),
        (lambda x: x.set_allocation_domain(x.get_loop_domain(), False), (20, 2)),
        (lambda x: x.set_allocation_domain([x.axis(1), x.axis(0)], True), (1, 4)),
    ]
    for set_layout, strides in layouts:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], contiguity=True)
            fd.add_output(fd.ops.neg(x), x)
            set_layout(x)
        buffer = torch.arange(100.0, device=target)
        x = buffer.as_strided((4, 5), strides)
        before = x.clone()
        expected = buffer.clone()
        expected.as_strided((4, 5), strides).copy_(-before)
        Compiled(fd)(x)
        assert_same([buffer], [expected])


def test_update_that_declares_another_layout(target):
    """The input's memory is checked against what the output says of it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=False)
        y = fd.ops.neg(x)
        fd.add_output(y, x)
        y.set_contiguity(True)
    compiled = Compiled(fd)
    x = numbers(4, 5, device=target)
    before = x.clone()
    compiled(x)
    assert_same([x], [-before])
    with pytest.raises(UserError, match=r"input 0, T1_g.*contiguous dimension 1.*stride is 2"):
        compiled(numbers(4, 10, device=target)[:, ::2])


@pytest.mark.parametrize("kind", ["split", "parallel", "merged", "inserted"])
def test_broadcast_axes_that_repeat_an_update(kind):
    """No index tells their iterations apart, so that each would update again."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 5], contiguity=[None, True])
        y = fd.ops.neg(x)
        fd.add_output(y, x)
        if kind == "inserted":
            y.broadcast(0, 4)
        else:
            y.split(0, 4)
        if kind == "parallel":
            par(y, None, TX)
        elif kind == "merged":
            y.merge(1, 2)
    for kernel_target in ("cuda", "cpu"):
        with pytest.raises(UserError, match="An update in place would be done several times"):
            fd.fusion.print_kernel(target=kernel_target)


def test_broadcast_axes_merged_into_others_repeat_nothing(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, -1], contiguity=[None, True])
        y = fd.ops.neg(x)
        fd.add_output(y, x)
        flat(fd, y)
    x = numbers(1, 33, device=target)
    before = x.clone()
    Compiled(fd)(x)
    assert_same([x], [-before])


def test_execute_updates_a_single_element_once(target):
    """However many threads there are."""
    with FusionDefinition() as fd:
        count = fd.define_tensor([1], contiguity=[None], dtype=DataType.Int)
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(count, 1), count)
        fd.add_output(fd.ops.neg(x))
    count, x = torch.tensor([3], device=target), numbers(1000, device=target)
    (out,) = fd.execute([count, x])
    assert_same([count, out], [torch.tensor([4], device=target), -x])


def counted(dtype=DataType.Int):
    """A 0-dim counter that is updated in place, and a tensor that reads what it was."""
    with FusionDefinition() as fd:
        count = fd.define_tensor([], dtype=dtype)
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.cast(fd.ops.add(count, 1), dtype), count)
        y = fd.ops.mul(x, count)
        fd.add_output(y)
    return fd, y


@pytest.mark.parametrize("dtype", [DataType.Int, DataType.Half])
def test_execute_reads_a_scalar_before_it_is_updated(target, dtype):
    """Whichever thread reads it."""
    fd, _ = counted(dtype)
    torch_dtype = torch.int64 if dtype == DataType.Int else torch.float16
    count, x = torch.tensor(3, dtype=torch_dtype, device=target), numbers(1000, device=target)
    for before in (3, 4):
        (out,) = fd.execute([count, x])
        assert_same([out], [x * before])
    assert count.item() == 5


def test_in_place_with_a_reader_in_every_thread(target):
    """The first thread would update while others have not read yet."""
    fd, y = counted()
    with fd:
        par(y, TX)
    count, x = torch.tensor(3, device=target), numbers(33, device=target)
    with pytest.raises(UserError, match="updated in place while another thread may still read it"):
        Compiled(fd)(count, x)
    assert count.item() == 3


def test_what_every_thread_reads_for_the_update_alone(target):
    """Only the first one writes, and it has read before."""
    with FusionDefinition() as fd:
        count = fd.define_tensor([], dtype=DataType.Half)
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.cast(fd.ops.add(count, 1), DataType.Half), count)
        y = fd.ops.neg(x)
        fd.add_output(y)
        par(y, TX)
    count, x = torch.tensor(3, dtype=torch.half, device=target), numbers(33, device=target)
    (out,) = Compiled(fd)(count, x)
    assert_same([out], [-x])
    assert count.item() == 4


def test_one_result_in_two_inputs(target):
    """A copy of it is written into the second one."""
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1], contiguity=True) for _ in range(2))
        z = fd.ops.add(x, y)
        fd.add_output(z, x)
        fd.add_output(z, y)
        fd.add_output(z)
    assert "fd.add_output(tv3, tv1)\n    fd.add_output(tv2, tv0)\n    fd.add_output(tv2)" in str(fd)
    x, y = numbers(33, device=target), numbers(33, device=target) + 1
    expected = x + y
    (out,) = fd.execute([x, y])
    assert out is x
    assert_same([x, y], [expected, expected])


def test_two_updates_of_one_input(target):
    """The last one counts; a kernel writes them in no order."""
    for order in ([0, 1], [1, 0]):
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1], contiguity=True)
            y = fd.ops.neg(x)
            results = [y, fd.ops.mul(y, 2.0)]
            for i in order:
                fd.add_output(results[i], x)
        with pytest.raises(UserError, match="An input is updated in place by two outputs"):
            fd.fusion.print_kernel()
        x = numbers(5, device=target)
        expected = [-x, -2 * x][order[-1]]
        fd.execute([x])
        assert_same([x], [expected])


def test_shape_of_an_update():
    """It is that of the input, on both sides."""
    for is_input in (False, True):
        with FusionDefinition() as fd:
            x = fd.define_tensor([6], contiguity=True)
            y = fd.ops.full([6], 1.0, dtype=DataType.Float)
            fd.add_output(y, x)
            changed = x if is_input else y
            changed.split(0, 3)
            with pytest.raises(UserError, match="The shape of an update in place is that of its"):
                changed.commit_leaf_to_logical()


def test_update_through_a_reshape_that_changes_nothing(target):
    """An output whose sizes show the same shape is written with the strides of the input."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True])
        rows, columns = (fd.define_scalar(dtype=DataType.Int) for _ in range(2))
        fd.add_output(fd.ops.reshape(fd.ops.add(x, 1.0), [rows, columns]), x)
    whole = numbers(4, 8, device=target)
    expected = whole.clone()
    expected[:, :5] += 1.0
    fd.execute([whole[:, :5], 4, 5])
    assert_same([whole], [expected])


@pytest.mark.parametrize("stride_order", [[1, 0], [0, 1]])
def test_update_of_an_input_with_a_stride_order_by_an_expanded_result(target, stride_order):
    """Each element of the input is written, although the result has one for a whole row."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, stride_order=stride_order)
        y = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.expand(fd.ops.broadcast(y, [False, True]), [-1, x.size(1)]), x)
    x = numbers(4, 5, device=target)
    x = x if stride_order == [1, 0] else numbers(5, 4, device=target).t()
    y = torch.arange(4.0, device=target)
    fd.execute([x, y])
    assert_same([x], [y[:, None].expand(4, 5)])

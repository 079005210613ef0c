"""A tensor that meets a reshape of itself: its axes follow in two ways from those of the result."""

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, ops, schedule


def merged(x):
    flat = ops.reshape(x, [-1])
    return ops.sub(ops.broadcast(x, [False, False, True]), ops.broadcast(flat, [True, True, False]))


def split_twice(x):
    rows, columns = ops.reshape(x, [-1, 3]), ops.reshape(x, [3, -1])
    rows = ops.broadcast(rows, [False, False, True, True])
    return ops.sub(rows, ops.broadcast(columns, [True, True, False, False]))


@pytest.mark.parametrize(("build", "shape"), [(merged, [7, 2]), (split_twice, [6, 2])])
def test_a_reshape_of_the_same_tensor_is_evaluated(build, shape, target) -> None:
    x = torch.arange(14 if build is merged else 12).reshape(shape).float().to(target)
    with FusionDefinition() as fd:
        t = fd.define_tensor(shape, contiguity=True)
        fd.add_output(build(ops.neg(t)))
    (out,) = fd.execute([x])
    if build is merged:
        expected = -x[:, :, None] + x.reshape(-1)
    else:
        expected = -x.reshape(-1, 3)[:, :, None, None] + x.reshape(3, -1)
    assert torch.equal(out, expected)
    with pytest.raises(NotImplementedError, match="together with its own reshape"):
        schedule.trivial(fd.fusion)


def test_a_hand_schedule_is_refused() -> None:
    with FusionDefinition() as fd:
        fd.add_output(merged(fd.define_tensor([7, 2], contiguity=True)))
    with pytest.raises(RuntimeError, match="An axis follows in two ways") as error:
        fd.fusion.lower()
    assert "pass it as two inputs" in str(error.value)


def test_a_reshape_and_back_is_no_ambiguity(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([7, 2], contiguity=True)
        fd.add_output(ops.add(x, ops.reshape(ops.reshape(x, [14]), [7, 2])))
    x = torch.arange(14).reshape(7, 2).float().to(target)
    (out,) = fd.execute([x])
    assert torch.equal(out, 2 * x)
    assert fd.fec.get_most_recent_scheduled_ir()  # by a kernel


def test_moments_of_a_scatter(target) -> None:
    """Its loops are those of its positions, though it has no schedule."""
    with FusionDefinition() as fd:
        x, i = fd.define_tensor([5, 4]), fd.define_tensor([2, 4], dtype=DataType.Int)
        for out in ops.var_mean(ops.scatter(x, i, 3.0, 0), [1]):
            fd.add_output(out)
    x, i = torch.randn(5, 4), torch.tensor([[0, 1, 2, 3], [4, 3, 1, 0]])
    var, mean = fd.execute([x.to(target), i.to(target)])
    expected = x.scatter(0, i, 3.0)
    torch.testing.assert_close(var.cpu(), expected.var(1))
    torch.testing.assert_close(mean.cpu(), expected.mean(1))

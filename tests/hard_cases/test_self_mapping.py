"""Tensors that meet their own transpose."""

import pytest
from hard_case import TX, assert_same, numbers

from nvfuser_direct import FusionDefinition


def test_a_hand_schedule_that_needs_the_ambiguous_map_is_refused():
    """The error names the two axes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.add(x, fd.ops.permute(x, [1, 0]))
        fd.add_output(y)
        y.axis(1).parallelize(TX)
    with pytest.raises(RuntimeError, match="Two axes of a tensor correspond") as error:
        fd.fusion.lower()
    assert "found:    iS2{i0} and iS3{i0}" in str(error.value)


def test_execute_adds_a_matrix_to_its_transpose(target):
    """Symbolic sizes, which are equal in fact."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(x, fd.ops.permute(x, [1, 0])))
    for n in (1, 3, 33):
        x = numbers(n, n, device=target)
        assert_same(fd.execute([x]), [x + x.T])


def test_execute_multiplies_a_vector_with_itself(target):
    """An outer product maps both axes of the result to one."""
    with FusionDefinition() as fd:
        v = fd.define_tensor([-1], contiguity=True)
        rows, columns = (fd.ops.broadcast(v, flags) for flags in ([False, True], [True, False]))
        fd.add_output(fd.ops.mul(rows, columns))
    for n in (1, 5, 101):
        v = numbers(n, device=target)
        assert_same(fd.execute([v]), [v[:, None] * v[None, :]])


def test_two_inputs_are_no_ambiguity(target):
    """The way out that the error names."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(x, fd.ops.permute(z, [1, 0])))
    x = numbers(33, 33, device=target)
    assert_same(fd.execute([x, x]), [x + x.T])

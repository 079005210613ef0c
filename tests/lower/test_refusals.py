"""A fusion without a kernel is refused by a value; `lower` raises it."""

import pytest

from nvfuser_direct import FusionDefinition, Kernel, ParallelType, Refusal, UserError


def _rows_in_registers() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(fd.ops.mul(x, x), [1])
        y = fd.ops.div(x, fd.ops.broadcast(total, [False, True]))
        fd.add_output(y)
        x.cache_after()
        y.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    return fd


def test_a_schedule_with_a_kernel_gives_the_kernel() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.neg(x))
    kernel = fd.fusion.try_lower()
    assert isinstance(kernel, Kernel)
    assert kernel.print_kernel_ir() == fd.fusion.lower().print_kernel_ir()


def test_a_refusal_has_the_parts_of_the_error_that_lower_raises() -> None:
    fusion = _rows_in_registers().fusion
    refusal = fusion.try_lower()
    assert isinstance(refusal, Refusal)
    assert refusal.headline == "A tensor in registers needs a constant size"
    assert "test_refusals.py" in refusal.node
    assert refusal.found.startswith("size ")
    assert not refusal.lacks_kernel_form
    with pytest.raises(UserError) as error:
        fusion.lower()
    assert str(error.value).startswith(str(refusal))


def test_operations_that_are_evaluated_lack_a_kernel_form() -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([4, 8])
        b = fd.define_tensor([8, 4])
        fd.add_output(fd.ops.matmul(a, b))
    refusal = fd.fusion.try_lower()
    assert isinstance(refusal, Refusal)
    assert refusal.lacks_kernel_form
    assert refusal.headline == "MatmulOp has no kernel form"

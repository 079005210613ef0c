"""validate_schedule: what no target can run is refused before anything is changed."""

from __future__ import annotations

import pytest
from pass_text import TX

from nvfuser_direct import (
    FusionDefinition,
    LoadStoreOpType,
    ParallelType,
    UserError,
    lowering_passes,
)

NAME = "validate_schedule"


def refused(fd: FusionDefinition, match: str) -> None:
    with pytest.raises(UserError, match=match):
        fd.fusion.lower(until=NAME)


def test_it_is_the_first_pass() -> None:
    assert lowering_passes()[0][0] == NAME


def test_a_schedule_that_is_in_order_stays_as_it_is() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(1).parallelize(TX)
    text = str(fd.fusion.lower(until=NAME))
    assert "ithreadIdx.x" in text
    assert [record.name for record in fd.fusion.lower(until=NAME).passes] == [NAME]


def test_one_hardware_index_on_two_axes_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(0).parallelize(TX)
        y.axis(1).parallelize(TX)
    refused(fd, "Two axes of a tensor are bound to threadIdx.x")


def test_a_vectorized_reduction_axis_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 4], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        y.axis(1).parallelize(ParallelType.vectorize)
    refused(fd, "A reduction axis cannot be vectorized")


def test_a_grouped_axis_that_no_reduction_keeps_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 4], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(1).parallelize(ParallelType.group)
    refused(fd, "Only an axis that a reduction keeps can be grouped")


def test_a_bound_axis_that_is_no_loop_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 4], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        logical = y.get_logical_domain()[0]
        y.split(0, 2)
        logical.parallelize(TX)
    refused(fd, "An axis that is no loop is bound to threadIdx.x")


def test_an_asynchronous_copy_that_does_not_end_in_shared_memory_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 4], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        x.cache_after(LoadStoreOpType.CpAsync)
    refused(fd, "cp.async copies from global to shared memory")


def test_an_operation_without_kernel_form_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 4], contiguity=True)
        fd.add_output(fd.ops.matmul(x, fd.define_tensor([4, 8], contiguity=True)))
    refused(fd, "has no kernel form")

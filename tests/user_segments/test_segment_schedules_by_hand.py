"""Segments with schedules of their own, and run by other means than their kernels."""

from __future__ import annotations

import torch
from cut_definitions import define, matrix, randn

from nvfuser import FusionDefinition, ParallelType, SchedulerType
from nvfuser.segmentation import ArgumentManager


def softened(fd: FusionDefinition):
    x, y = matrix(fd), matrix(fd)
    top = fd.ops.max(x, [1], keepdim=True)
    return fd.ops.exp(fd.ops.sub(y, top))


def cut(target: str) -> tuple[FusionDefinition, list[torch.Tensor], torch.Tensor]:
    inputs = [randn(20, 32, target=target), randn(20, 128, target=target)]
    fd = define(softened)
    fd.segment(inputs)
    x, y = inputs
    return fd, inputs, torch.exp(y - x.amax(1, keepdim=True))


def test_a_scheduler_for_each_segment(target) -> None:
    """The loop of the example; a later `execute` finds the schedules"""
    fd, inputs, expected = cut(target)
    manager = ArgumentManager(fd, inputs)
    chosen = []
    for position, segment in enumerate(fd.segments):
        given = manager.arguments(position)
        segment._setup_schedule(given)
        kinds = segment.sched.find_compatible_schedulers()
        segment.sched.schedule(kinds[0])
        segment._finalize_schedule(given)
        chosen.append(kinds[0])
        manager.put(position, segment.execute(given))
    assert chosen == [SchedulerType.reduction, SchedulerType.pointwise]
    torch.testing.assert_close(manager.outputs()[0], expected)
    torch.testing.assert_close(fd.execute(inputs)[0], expected)
    for segment in fd.segments:
        entry = segment._complete_entry()
        assert entry.last_schedule is not None, "the run used the schedule of the user"
    torch.testing.assert_close(fd.execute(inputs, override_user_schedule=True)[0], expected)
    assert all(s._complete_entry().last_schedule is None for s in fd.segments)


def test_a_segment_scheduled_by_hand_beside_automatic_ones(target) -> None:
    """ "Segments without a schedule use the automatic schedulers." """
    fd, inputs, expected = cut(target)
    manager = ArgumentManager(fd, inputs)
    manager.put(0, fd.segments[0].execute(manager.arguments(0)))
    given = manager.arguments(1)
    segment = fd.segments[1]
    segment._setup_schedule(given)
    for tensor in segment.sched.tensors():
        segment.sched.merge(tensor, 0)
        segment.sched.split(tensor, 0, 64)
    for tensor in segment.sched.tensors()[2:]:
        segment.sched.parallelize(tensor, 0, ParallelType.grid_x)
        segment.sched.parallelize(tensor, 1, ParallelType.block_x)
    segment._finalize_schedule(given)
    torch.testing.assert_close(fd.execute(inputs)[0], expected)
    assert segment._complete_entry().last_schedule is not None
    assert fd.segments[0]._complete_entry().last_schedule is None


def test_a_profile_names_the_schedules_of_segments(target) -> None:
    """segmentation.md 4 and 7, frontend.md 8.3: one profile of the whole run, in which a user's
    schedule is called "user" and others keep their names"""
    fd, inputs, _ = cut(target)
    segment = fd.segments[0]
    segment._setup_schedule(inputs[:1])
    segment.sched.schedule(SchedulerType.reduction)
    segment._finalize_schedule(inputs[:1])

    def profiled(**options):
        fd.execute(inputs, profile=True, **options)
        kernels = fd.profile().kernel_profiles
        assert [kernel.segment_id for kernel in kernels] == [0, 1]
        assert fd.profile().fusion_id == fd.id()
        return [kernel.scheduler for kernel in kernels]

    assert profiled() == ["user", "pointwise"]
    assert profiled(override_user_schedule=True) == ["reduction", "pointwise"]
    segment.execute(inputs[:1], profile=True)
    assert segment.profile().fusion_id == segment.id()
    assert segment.profile().kernel_profiles[0].scheduler == "user"


def test_another_definition_finds_the_schedule(target) -> None:
    """ "Another definition that happens to equal the segment finds it too." """
    fd, inputs, _ = cut(target)
    segment = fd.segments[0]
    segment._setup_schedule(inputs[:1])
    segment.sched.schedule(SchedulerType.reduction)
    segment._finalize_schedule(inputs[:1])
    equal = define(lambda fd: fd.ops.broadcast(fd.ops.max(matrix(fd), [1]), [False, True]))
    assert equal.id() == segment.id()
    torch.testing.assert_close(equal.execute(inputs[:1])[0], inputs[0].amax(1, keepdim=True))
    assert equal._complete_entry().last_schedule is not None


def test_a_segment_may_be_run_by_pytorch(target) -> None:
    """Executors may be mixed: PyTorch for one segment, a kernel for the next."""
    fd, inputs, expected = cut(target)
    manager = ArgumentManager(fd, inputs)
    (x,) = manager.arguments(0)
    manager.put(0, [x.amax(1, keepdim=True)])
    manager.put(1, fd.segments[1].execute(manager.arguments(1)))
    torch.testing.assert_close(manager.outputs()[0], expected)


def test_a_segment_that_a_library_computes(target) -> None:
    """A product of matrices between two kernels"""

    def build(fd: FusionDefinition):
        a, b = matrix(fd), matrix(fd)
        return fd.ops.exp(fd.ops.matmul(fd.ops.sin(a), b))

    a, b = randn(8, 16, target=target), randn(16, 24, target=target)
    fd = define(build)
    segments = fd.segment([a, b])
    assert ["ops.matmul" in repr(segment) for segment in segments].count(True) == 1
    torch.testing.assert_close(
        fd.execute([a, b])[0], torch.exp(torch.sin(a) @ b), atol=1e-3, rtol=1e-3
    )


def test_a_schedule_of_the_original_is_not_used(target) -> None:
    """ "A schedule on the *original* is not used while it has segments." """
    x = randn(4, 6, target=target)

    def build(fd: FusionDefinition):
        return fd.ops.neg(fd.ops.segment_set(fd.ops.exp(matrix(fd))))

    fd = define(build)
    fd._setup_schedule([x])
    fd.sched.schedule(SchedulerType.pointwise)
    fd._finalize_schedule([x])
    fd.segment([x])
    torch.testing.assert_close(fd.execute([x])[0], -torch.exp(x))
    assert fd._complete_entry().last_schedule is None


def test_reasons_of_one_segment(target) -> None:
    """`seg.sched.can_schedule(type)`"""
    fd, inputs, _ = cut(target)
    segment = fd.segments[0]
    segment._setup_schedule(inputs[:1])
    can, why = segment.sched.can_schedule(SchedulerType.pointwise)
    assert not can
    assert "Scheduler _pointwise_ ***rejected*** because" in why
    segment._finalize_schedule(inputs[:1])


def test_a_segment_may_run_on_another_device(target) -> None:
    """Devices may be mixed: a definition knows none, the inputs of each run decide."""
    fd, inputs, expected = cut(target)
    manager = ArgumentManager(fd, inputs)
    (top,) = fd.segments[0].execute([x.cpu() for x in manager.arguments(0)])
    manager.put(0, [top.to(target)])
    manager.put(1, fd.segments[1].execute(manager.arguments(1)))
    torch.testing.assert_close(manager.outputs()[0], expected)


def test_a_schedule_for_tensors_made_by_hand_is_found(target) -> None:
    """Boundary tensors lie in the order that their printed definition states"""

    def build(fd: FusionDefinition):
        value = fd.ops.stride_order(fd.ops.exp(matrix(fd, 3)), [0, 2, 1])
        return fd.ops.neg(fd.ops.segment_set(value))

    x = randn(2, 3, 5, target=target)
    fd = define(build)
    _, reader = fd.segment([x])
    assert "contiguity=[True, True, True]" in repr(reader)
    assert "stride_order=[0, 2, 1]" in repr(reader)
    by_hand = torch.empty_strided((2, 3, 5), (1, 10, 2), device=target).copy_(torch.exp(x))
    reader._setup_schedule([by_hand])
    reader.sched.schedule(SchedulerType.pointwise)
    reader._finalize_schedule([by_hand])
    torch.testing.assert_close(fd.execute([x])[0], -torch.exp(x))
    assert reader._complete_entry().last_schedule is not None

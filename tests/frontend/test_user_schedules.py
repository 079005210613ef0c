"""Schedules that a user writes, for an entry and a signature of inputs."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser import (
    DataType,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    SchedulerType,
    Tensor,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Chain(FusionDefinition):
    """exp(neg(x)) of a matrix, with a schedule that counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def definition(self) -> None:
        self.t0 = self.define_tensor([-1, -1], contiguity=True)
        self.t1 = self.ops.neg(self.t0)
        self.t2 = self.ops.exp(self.t1)
        self.add_output(self.t2)

    def schedule(self) -> None:
        self.calls += 1
        self.sched.merge(self.t2, 0)
        self.sched.split(self.t2, 0, 32)
        self.sched.transform_like(self.t2)
        self.sched.parallelize(self.t2, 0, ParallelType.grid_x)
        self.sched.parallelize(self.t2, 1, ParallelType.block_x)
        self.sched.parallelize_like(self.t2)
        self.sched.inline_most()


def reduction() -> Any:
    with FusionDefinition() as fd:
        holder: Any = fd
        holder.t0 = fd.define_tensor([-1, -1], contiguity=True)
        holder.t1 = fd.ops.sum(holder.t0, [1])
        fd.add_output(holder.t1)
    return fd


def check(fd: FusionDefinition, x: torch.Tensor, **kwargs: Any) -> None:
    (out,) = fd.execute([x], **kwargs)
    torch.testing.assert_close(out, x.neg().exp())


def test_a_schedule_runs_for_each_signature(target: str, rng: torch.Generator) -> None:
    """In every execute, unless one is kept for these inputs."""
    fd = Chain()
    x, y = (torch.randn(n, 9, generator=rng).to(target) for n in (5, 6))
    for _ in range(3):
        check(fd, x)
    assert fd.calls == 1
    check(fd, y)
    assert fd.calls == 2


def test_what_a_signature_is(target: str) -> None:
    """Sizes, strides and alignment; values of scalars only where sizes follow from them."""
    calls = []

    def counted(fd: FusionDefinition, out: Tensor) -> FusionDefinition:
        def schedule() -> None:
            calls.append(fd.id())
            fd.sched.transform_like(out)
            fd.sched.inline_most()

        holder: Any = fd
        holder.schedule = schedule
        return fd

    def new_calls(fd: FusionDefinition, *inputs: Any) -> int:
        count = len(calls)
        fd.execute(inputs)
        return len(calls) - count

    with FusionDefinition() as fd:
        out = fd.ops.mul(fd.define_tensor([-1, -1]), fd.define_scalar(dtype=DataType.Double))
        fd.add_output(out)
    scaled = counted(fd, out)
    x = torch.ones(4, 8, device=target)
    assert new_calls(scaled, x, 2.0) == 1
    assert new_calls(scaled, x.clone(), 3.0) == 0
    assert new_calls(scaled, torch.ones(4, 9, device=target), 2.0) == 1
    assert new_calls(scaled, torch.ones(8, 4, device=target).t(), 2.0) == 1
    assert new_calls(scaled, torch.ones(33, device=target)[1:].view(4, 8), 2.0) == 1
    with FusionDefinition() as fd:
        size = fd.define_scalar(dtype=DataType.Int)
        out = fd.ops.neg(fd.ops.reshape(fd.define_tensor([-1, -1]), [size, -1]))
        fd.add_output(out)
    reshaped = counted(fd, out)
    assert new_calls(reshaped, 2, x) == 1
    assert new_calls(reshaped, 8, x) == 1
    assert new_calls(reshaped, 8, x) == 0
    assert reshaped.execute([8, x])[0].shape == (8, 4)


def test_the_schedule_is_the_entrys(target: str, rng: torch.Generator) -> None:
    """Another object with the same id and equal inputs gets it."""
    fd = Chain()
    x = torch.randn(5, 9, generator=rng).to(target)
    check(fd, x)
    assert fd.id() is not None
    other = FusionDefinition(fd.id())
    check(other, x, profile=True)
    assert other.profile().kernel_profiles[0].scheduler == "user"
    check(other, torch.randn(7, 9, device=target), profile=True)
    assert other.profile().kernel_profiles[0].scheduler == "pointwise"
    check(other, x, profile=True, override_user_schedule=True)
    assert other.profile().kernel_profiles[0].scheduler == "pointwise"


def test_profiling_tunes(target: str, rng: torch.Generator) -> None:
    """`fd.schedule = candidate`, `execute(profile=True)`, `profile()`, and again."""
    with FusionDefinition() as fd:
        holder: Any = fd
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        t1 = fd.ops.exp(fd.ops.neg(t0))
        fd.add_output(t1)
    x = torch.randn(16, 24, generator=rng).to(target)
    seen = []

    def candidate(factor: int) -> Callable[[], None]:
        def schedule() -> None:
            seen.append(factor)
            fd.sched.merge(t1, 0)
            fd.sched.split(t1, 0, factor)
            fd.sched.transform_like(t1)
            fd.sched.parallelize(t1, 1, ParallelType.block_x)
            fd.sched.parallelize_like(t1)
            fd.sched.inline_most()

        return schedule

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # replaced silently
        for factor in (8, 16, 64):
            holder.schedule = candidate(factor)
            check(fd, x, profile=True)
            (kernel,) = fd.profile().kernel_profiles
            assert kernel.scheduler == "user"
            assert kernel.block_str == f"[{factor}, 1, 1]"
    assert seen == [8, 16, 64]
    check(fd, x)
    assert seen == [8, 16, 64]
    check(fd, x, override_user_schedule=True)
    assert seen == [8, 16, 64]


def test_brackets_by_hand(target: str, rng: torch.Generator) -> None:
    """`_setup_schedule`, _finalize_schedule, _exist_schedule; replacing one warns."""
    fd = reduction()
    x = torch.randn(7, 33, generator=rng).to(target)
    assert not fd._exist_schedule([x])
    fd._setup_schedule([x])
    fd.sched.split(fd.t1, 1, 8)
    partial = fd.sched.reduction_factor(fd.t1, [2])
    assert isinstance(partial, Tensor)
    fd.sched.parallelize(fd.t1, 0, ParallelType.grid_x)
    fd.sched.parallelize_like(fd.t1)
    fd.sched.inline_most()
    text = fd.sched.user_schedule_ir()
    fd._finalize_schedule([x])
    assert fd.sched.user_schedule_ir() == text
    assert fd._exist_schedule([x])
    assert not fd._exist_schedule([x[:3]])
    (out,) = fd.execute([x])
    torch.testing.assert_close(out, x.sum(1))
    with pytest.warns(UserWarning, match="overwriting the current user schedule"):
        fd._setup_schedule([x])
    fd._finalize_schedule([x])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fd._setup_schedule([x], overwrite_existing_schedule=True)
    fd._finalize_schedule([x])


def test_texts_are_the_schedules(target: str, rng: torch.Generator) -> None:
    """`user_schedule_ir`, and the texts of the last run."""
    fd = Chain()
    x = torch.randn(5, 9, generator=rng).to(target)
    with pytest.raises(RuntimeError, match="Invalid fusion definition!"):
        fd.sched.user_schedule_ir()
    check(fd, x)
    by_id = FusionDefinition(fd.id())
    assert by_id.sched.user_schedule_ir() == "User schedule is not defined."
    assert fd.last_scheduled_fusion_ir() == fd.sched.user_schedule_ir()
    assert fd.scheduled_fusion_ir_for([x]) == fd.sched.user_schedule_ir()
    code = fd.last_cuda_code()
    assert fd.cuda_code_for([x]) == code
    assert len(fd.last_cuda_code(True)) > len(code)
    never = "has never been executed via FusionExecutorCache."
    with pytest.raises(RuntimeError, match=never):
        fd.last_cuda_code(override_user_schedule=True)
    check(fd, x, override_user_schedule=True)
    assert fd.last_cuda_code(override_user_schedule=True) != code
    assert fd.cuda_code_for([x], override_user_schedule=True) == fd.last_cuda_code()
    assert fd.last_scheduled_fusion_ir() != fd.sched.user_schedule_ir()


def test_copies_and_memory(target: str, rng: torch.Generator) -> None:
    """`cache_after`, cache_before, cache_fork, set_memory_type, set_allocation_as_loop."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        t1 = fd.ops.neg(t0)
        t2 = fd.ops.exp(t1)
        fd.add_output(t1)
        fd.add_output(t2)
    x = torch.randn(6, 10, generator=rng).to(target)
    fd._setup_schedule([x])
    staged = fd.sched.cache_after(t0, LoadStoreOpType.set)
    before = fd.sched.cache_before(t2)
    forked = fd.sched.cache_fork(t1)
    assert [isinstance(t, Tensor) for t in (staged, before, forked)] == [True] * 3
    count = len(fd.sched.tensors())
    assert count == 6
    assert [t.ndim for t in fd.sched.tensors()] == [2] * count
    fd.sched.split(t2, 1, 4, inner_split=False)
    fd.sched.reorder(t2, {0: 2})
    fd.sched.reorder(t2, {0: 0})
    fd.sched.reorder(t2, {})
    fd.sched.transform_like(t2)
    fd.sched.set_memory_type(staged, MemoryType.local)
    fd.sched.set_allocation_as_loop(staged)
    fd.sched.inline_at(t2, 1)
    fd.sched.inline_most()
    assert "T" in fd.sched.to_string(staged)
    fd._finalize_schedule([x])
    first, second = fd.execute([x])
    torch.testing.assert_close(first, -x)
    torch.testing.assert_close(second, x.neg().exp())


def test_reductions_are_found(rng: torch.Generator) -> None:
    """`filter(fd.sched.is_reduction, fd.sched.tensors())`; rfactor, several times."""
    fd = reduction()
    x = torch.randn(7, 64, generator=rng)
    fd._setup_schedule([x])
    (found,) = filter(fd.sched.is_reduction, fd.sched.tensors())
    assert found == fd.t1
    fd.sched.split(fd.t1, 1, 16)
    fd.sched.split(fd.t1, 2, 4)
    fd.sched.rfactor(fd.t1, [3])
    fd.sched.reduction_factor(fd.t1, [2])
    assert len(list(filter(fd.sched.is_reduction, fd.sched.tensors()))) == 3
    fd.sched.inline_most()
    fd._finalize_schedule([x])
    (out,) = fd.execute([x])
    torch.testing.assert_close(out, x.sum(1))


def test_parts_of_composite_operations_have_handles(rng: torch.Generator) -> None:
    """Tensors that operations made inside."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, 30], contiguity=True)
        fd.add_output(fd.ops.var(t0, [1], 0))
    x = torch.randn(4, 30, generator=rng)
    fd._setup_schedule([x])
    handles = fd.sched.tensors()
    assert len(handles) > 4
    assert len({handle.index for handle in handles}) == len(handles)
    assert len(list(filter(fd.sched.is_reduction, handles))) == 2
    fd._finalize_schedule([x])
    (out,) = fd.execute([x])
    torch.testing.assert_close(out, x.var(1, correction=0))


def test_dynamic_shapes_are_resolved_first(rng: torch.Generator) -> None:
    """The copy is concretized for the inputs."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        t1 = fd.ops.reshape(t0, [6, 4])
        t2 = fd.ops.neg(t1)
        fd.add_output(t2)
    x = torch.randn(3, 8, generator=rng)
    fd._setup_schedule([x])
    fd.sched.merge(t2, 0)
    fd.sched.transform_like(t2)
    fd.sched.inline_most()
    fd._finalize_schedule([x])
    (out,) = fd.execute([x])
    assert torch.equal(out, -x.reshape(6, 4))


def test_schedulers_answer_and_are_applied(target: str, rng: torch.Generator) -> None:
    """`can_schedule`, find_compatible_schedulers, schedule(type)."""
    fd = reduction()
    x = torch.randn(7, 64, generator=rng).to(target)
    fd._setup_schedule([x])
    assert fd.sched.find_compatible_schedulers()[0] is SchedulerType.reduction
    assert fd.sched.can_schedule(SchedulerType.reduction) == (True, "")
    is_taken, reason = fd.sched.can_schedule(SchedulerType.pointwise)
    assert not is_taken
    assert reason.startswith("Scheduler _pointwise_ ***rejected*** because : ")
    with pytest.raises(RuntimeError, match=r"Scheduler _pointwise_ \*\*\*rejected\*\*\* because"):
        fd.sched.schedule(SchedulerType.pointwise)
    fd.sched.schedule(SchedulerType.reduction)
    fd._finalize_schedule([x])
    (out,) = fd.execute([x])
    torch.testing.assert_close(out, x.sum(1))


def test_parameters_are_edited(target: str, rng: torch.Generator) -> None:
    """`compute_*_heuristics` once, edited, then schedule()."""
    fd = Chain()
    fd._setup_definition()
    fd.definition()
    fd._finalize_definition()
    x = torch.randn(64, 128, generator=rng).to(target)
    fd._setup_schedule([x])
    with pytest.raises(RuntimeError, match="No parameters were computed"):
        fd.sched.schedule()
    params = fd.sched.compute_pointwise_heuristics()
    params.vectorization_factor = 1
    params.unroll_factor_inner = 2
    with pytest.raises(RuntimeError, match="computed for this schedule before"):
        fd.sched.compute_pointwise_heuristics()
    fd.sched.schedule()
    fd._finalize_schedule([x])
    check(fd, x)
    fd = reduction()
    fd._setup_schedule([x])
    with pytest.raises(RuntimeError, match="rejected"):
        fd.sched.compute_pointwise_heuristics()
    assert type(fd.sched.compute_reduction_heuristics()).__name__ == "ReductionParams"
    fd._finalize_schedule([x])


def test_hyperparameters_are_checked_when_a_scheduler_is_applied(
    target: str, rng: torch.Generator
) -> None:
    """`schedule_hyperparameters`."""
    fd = Chain()
    fd._setup_definition()
    fd.definition()
    fd._finalize_definition()
    x = torch.randn(64, 128, generator=rng).to(target)
    fd._setup_schedule([x])
    numbers = fd.sched.schedule_hyperparameters()
    numbers.vectorize_factor = 3
    with pytest.raises(RuntimeError, match="Vectorization factor must be a power of 2"):
        fd.sched.schedule(SchedulerType.pointwise)
    numbers.vectorize_factor = 2
    numbers.unroll_factor = 1
    numbers.is_warp_specialized = False
    fd.sched.schedule(SchedulerType.pointwise)
    fd._finalize_schedule([x])
    check(fd, x)


MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "axis out of range": (
        lambda fd: fd.sched.split(fd.t1, 5, 2),
        r"Tried to access out of boundary index 5\. total index: 2",
    ),
    "merging a reduction with another axis": (
        lambda fd: fd.sched.merge(fd.t1, 0),
        "Merging IterDomains requires that their iteration types match",
    ),
    "factoring what is no reduction": (
        lambda fd: fd.sched.reduction_factor(fd.t1, [0]),
        "Cannot rfactor axes that are not reduction axes.",
    ),
    "factoring everything": (
        lambda fd: fd.sched.reduction_factor(fd.t1, [1]),
        "Must have at least one reduction axis not marked as rfactor.",
    ),
    "reordering too many": (
        lambda fd: fd.sched.reorder(fd.t1, {0: 1, 1: 0, 2: 2}),
        "Reorder axes are not within the number of dimensions of the provided domain",
    ),
    "an old position before the first": (
        lambda fd: fd.sched.reorder(fd.t1, {-3: 0}),
        'Found "old" position that\'s less than 0 even though already adjusted by nDims: -1',
    ),
    "a new position before the first": (
        lambda fd: fd.sched.reorder(fd.t1, {0: -3}),
        'Found "new" position that\'s less than 0 even though already adjusted by nDims: -1',
    ),
    "a factor of zero": (
        lambda fd: fd.sched.split(fd.t1, 0, 0),
        r"Invalid factor for split\. Factor must be greater than 0\. Factor = 0",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_schedules(name: str, rng: torch.Generator) -> None:
    """Error gists."""
    call, gist = MISTAKES[name]
    fd = reduction()
    fd._setup_schedule([torch.randn(4, 4, generator=rng)])
    with pytest.raises(RuntimeError, match=gist):
        call(fd)
    fd._drop_schedule()


def test_a_schedule_that_raises_is_dropped(rng: torch.Generator) -> None:
    """The exception propagates, and nothing is kept."""
    fd = Chain()
    x = torch.randn(4, 4, generator=rng)
    good = fd.schedule

    def bad() -> None:
        raise KeyError("mine")

    holder: Any = fd
    holder.schedule = bad
    with pytest.raises(KeyError, match="mine"):
        fd.execute([x])
    assert not fd._exist_schedule([x])
    holder.schedule = good
    check(fd, x)


def test_schedules_for_several_devices_are_not_there_yet(rng: torch.Generator) -> None:
    """`multidevice_schedule`."""
    fd: Any = reduction()
    fd.multidevice_schedule = lambda: None
    with pytest.raises(RuntimeError, match="not there yet"):
        fd.execute([torch.ones(2, 2)])


def test_handles_of_other_definitions_are_refused(rng: torch.Generator) -> None:
    fd, other = reduction(), reduction()
    fd._setup_schedule([torch.randn(4, 4, generator=rng)])
    with pytest.raises(RuntimeError, match="belongs to another definition"):
        fd.sched.split(other.t1, 0, 2)
    with pytest.raises(TypeError, match="Expected a Tensor"):
        fd.sched.split("t1", 0, 2)
    fd._drop_schedule()

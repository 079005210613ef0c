"""`fd.sched`: schedules that users write, for an entry and a signature of inputs."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import nvfuser_direct as direct
from nvfuser_direct import (
    CacheOp,
    FusionGuard,
    LoadStoreOpType,
    ParallelType,
    SchedulerType,
    TensorView,
    schedule,
)

from .errors import user_error
from .handles import Tensor
from .hyperparameters import SchedulerHyperParameters
from .replay import replay
from .statements import check_owner
from .user_schedule import UserSchedule, check_one_device, signature_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nvfuser_direct import Fusion, HeuristicParams, MemoryType

    from .definition import FusionDefinition
    from .entry import Entry

_LoadStore = LoadStoreOpType


class OpenSchedule:
    """A copy of the IR while `fd.sched` changes it."""

    def __init__(self, fd: FusionDefinition, entry: Entry, inputs: Sequence[Any]) -> None:
        self.fd = fd
        replayed = replay(entry.node, entry.spelled_out)
        fusion, values = replayed.fusion, replayed.values
        if direct.has_dynamic_shapes(fusion):
            fusion = direct.concretize(fusion, direct.find_concretization(fusion, inputs))
            # Tensors keep their names.
            by_name = {val.name(): val for val in fusion.vals() if isinstance(val, TensorView)}
            values = [
                by_name.get(value.name()) if isinstance(value, TensorView) else value
                for value in values
            ]
        self.schedule = UserSchedule(fusion, list(inputs))
        self.hyperparameters = SchedulerHyperParameters()
        self.params: dict[SchedulerType, HeuristicParams] = {}
        self._tensors: dict[int, TensorView] = {
            index: value for index, value in enumerate(values) if isinstance(value, TensorView)
        }
        self._next_index = len(values)
        self.tensors()  # handles for those that composite operations made
        self.guard: FusionGuard | None = FusionGuard(fusion)

    @property
    def fusion(self) -> Fusion:
        return self.schedule.fusion

    def tensor(self, handle: Any) -> TensorView:
        """The tensor of the copy that a handle denotes."""
        if not isinstance(handle, Tensor):
            raise user_error(
                f"Expected a Tensor, but got {type(handle).__name__}", kind=direct.UserTypeError
            )
        check_owner(self.fd, handle)
        found = self._tensors.get(handle.index)
        if found is None:
            raise user_error(
                f"{handle!r} is not in the scheduled fusion.",
                expected="a handle of the definition, or of this schedule",
            )
        return found

    def handle(self, tensor: TensorView) -> Tensor:
        """The handle of a tensor, which is made for a new one."""
        for index, known in self._tensors.items():
            if known is tensor or known == tensor:
                return Tensor(self.fd, index, tensor.ndim)
        index, self._next_index = self._next_index, self._next_index + 1
        self._tensors[index] = tensor
        return Tensor(self.fd, index, tensor.ndim)

    def tensors(self) -> list[Tensor]:
        return [self.handle(tensor) for tensor in self.fusion.tensors()]

    def close(self) -> UserSchedule:
        self.guard = None
        schedule = self.schedule
        schedule.inputs = []
        return schedule


class ScheduleMethods:
    """The methods of `FusionDefinition` for schedules of its user."""

    def _setup_schedule(
        self: Any, inputs: Iterable[Any], *, overwrite_existing_schedule: bool = False
    ) -> None:
        """Open a schedule for inputs like these.

        Parameters
        ----------
        inputs : iterable
            As for `execute`.
        overwrite_existing_schedule : bool
            Whether to replace an earlier one without a warning.
        """
        entry: Entry = self._check_scheduling()
        inputs = list(inputs)
        check_one_device(inputs)
        if not overwrite_existing_schedule and self._exist_schedule(inputs):
            warnings.warn(
                "You are overwriting the current user schedule for a definition!", stacklevel=2
            )
        self._open_schedule = OpenSchedule(self, entry, inputs)

    def _finalize_schedule(self: Any, inputs: Iterable[Any]) -> None:
        """Keep the open schedule for inputs like these."""
        entry: Entry = self._check_scheduling()
        opened = self.__dict__.get("_open_schedule")
        if opened is None:
            raise user_error("No schedule is open.", fix="fd._setup_schedule(inputs)")
        del self._open_schedule
        finished = opened.close()
        self._last_schedule = finished
        signature = signature_of(entry.build().fusion, inputs)
        with entry.generation.lock:
            entry.user_schedules[signature] = finished
            entry.quick_run = None

    def _drop_schedule(self: Any) -> None:
        """Forget the open schedule: it failed."""
        opened = self.__dict__.pop("_open_schedule", None)
        if opened is not None:
            opened.close()

    def _exist_schedule(self: Any, inputs: Iterable[Any]) -> bool:
        """Whether a schedule is kept for inputs like these."""
        entry: Entry = self._complete_entry()
        if not entry.user_schedules:
            return False
        return signature_of(entry.build().fusion, inputs) in entry.user_schedules


class SchedOperators:
    """``fd.sched``: the calls that schedules are written with. Each changes the open schedule."""

    __slots__ = ("_fd",)

    def __init__(self, fd: FusionDefinition) -> None:
        self._fd = fd

    def _opened(self) -> OpenSchedule:
        self._fd._check_scheduling()
        opened: OpenSchedule | None = self._fd.__dict__.get("_open_schedule")
        if opened is None:
            raise user_error(
                "No schedule is open.",
                expected="a call between _setup_schedule and _finalize_schedule, or in schedule()",
                fix="fd._setup_schedule(inputs)",
            )
        return opened

    def _tensors(self, handles: Iterable[Tensor]) -> list[TensorView]:
        opened = self._opened()
        return [opened.tensor(handle) for handle in handles]

    # -- loops of one tensor --

    def split(self, arg: Tensor, dim: int, factor: int, inner_split: bool = True) -> None:
        """Split a loop in two.

        Parameters
        ----------
        arg : Tensor
            The tensor.
        dim : int
            The loop; negative values count from the end.
        factor : int
            Size of the inner loop, or of the outer one without `inner_split`.
        inner_split : bool
            Whose size `factor` is.
        """
        self._opened().tensor(arg).split(dim, factor, inner_split)

    def merge(self, arg: Tensor, dim: int) -> None:
        """Merge a loop with the next one.

        Parameters
        ----------
        arg : Tensor
            The tensor.
        dim : int
            The outer of the two loops.
        """
        self._opened().tensor(arg).merge(dim)

    def reorder(self, arg: Tensor, old2new: Mapping[int, int]) -> None:
        """Move loops.

        Parameters
        ----------
        arg : Tensor
            The tensor.
        old2new : dict[int, int]
            New positions by old ones; other loops keep their order.
        """
        tensor = self._opened().tensor(arg)
        _check_moves(old2new, tensor.ndims())
        tensor.reorder(dict(old2new))

    def parallelize(self, tensor: Tensor, axis: int, parallel_type: ParallelType) -> None:
        """Bind a loop.

        Parameters
        ----------
        tensor : Tensor
            The tensor.
        axis : int
            The loop.
        parallel_type : ParallelType
            What runs its iterations.
        """
        self._opened().tensor(tensor).axis(axis).parallelize(parallel_type)

    def reduction_factor(self, arg: Tensor, dims: Sequence[int]) -> Tensor:
        """Split a reduction in two tensors.

        Parameters
        ----------
        arg : Tensor
            Result of a reduction.
        dims : list[int]
            Loops that the new tensor, which is returned, reduces.
        """
        opened = self._opened()
        tensor = opened.tensor(arg)
        _check_factored(tensor, dims)
        return opened.handle(tensor.rfactor(list(dims)))

    rfactor = reduction_factor

    # -- copies and memory --

    def cache_after(
        self,
        tensor: Tensor,
        op_type: LoadStoreOpType = _LoadStore.set,
        cache_op: CacheOp = CacheOp.unspecified,
    ) -> Tensor:
        """Insert a copy between a tensor and what reads it.

        Parameters
        ----------
        tensor : Tensor
            The tensor.
        op_type : LoadStoreOpType
            How it is copied.
        cache_op : CacheOp
            Hint for the caches of the device.
        """
        opened = self._opened()
        return opened.handle(opened.tensor(tensor).cache_after(op_type, cache_op))

    def cache_before(self, tensor: Tensor, op_type: LoadStoreOpType = _LoadStore.set) -> Tensor:
        """Insert a tensor that is computed, of which this one becomes a copy.

        Parameters
        ----------
        tensor : Tensor
            The tensor.
        op_type : LoadStoreOpType
            How it is copied.
        """
        opened = self._opened()
        return opened.handle(opened.tensor(tensor).cache_before(op_type))

    def cache_fork(self, tensor: Tensor) -> Tensor:
        """Return a copy of an output that is read, instead of the output.

        Parameters
        ----------
        tensor : Tensor
            The output.
        """
        opened = self._opened()
        return opened.handle(opened.tensor(tensor).cache_fork())

    def set_memory_type(self, tensor: Tensor, memory_type: MemoryType) -> None:
        """Choose where a tensor lies.

        Parameters
        ----------
        tensor : Tensor
            The tensor.
        memory_type : MemoryType
            The memory.
        """
        self._opened().tensor(tensor).set_memory_type(memory_type)

    def set_allocation_as_loop(self, arg: Tensor) -> None:
        """Store a tensor in the order of its loops.

        Parameters
        ----------
        arg : Tensor
            The tensor.
        """
        tensor = self._opened().tensor(arg)
        tensor.set_allocation_domain(tensor.get_loop_domain(), True)

    # -- several tensors --

    def transform_like(self, tensor: Tensor, selected_tensors: Iterable[Tensor] = ()) -> None:
        """Give other tensors the loops of one.

        Parameters
        ----------
        tensor : Tensor
            The reference.
        selected_tensors : list[Tensor]
            Which; all if none are given.
        """
        schedule.transform_like(self._opened().tensor(tensor), self._tensors(selected_tensors))

    def parallelize_like(
        self,
        tensor: Tensor,
        pos: int = -1,
        selected_tensors: Iterable[Tensor] = (),
        selected_parallel_types: Iterable[ParallelType] = (),
        propagate_padding: bool = True,
    ) -> None:
        """Bind the loops of other tensors as those of one.

        Parameters
        ----------
        tensor : Tensor
            The reference.
        pos : int
            How many of its loops; -1: all.
        selected_tensors : list[Tensor]
            Which; all if none are given.
        selected_parallel_types : set[ParallelType]
            Which bindings; all if none are given.
        propagate_padding : bool
            Whether loops are padded to warps alike.
        """
        schedule.parallelize_like(
            self._opened().tensor(tensor),
            pos,
            self._tensors(selected_tensors),
            set(selected_parallel_types),
            propagate_padding,
        )

    def inline_most(self, selected_tensors: Iterable[Tensor] = ()) -> None:
        """Compute tensors as deep in the loops of what reads them as possible.

        Parameters
        ----------
        selected_tensors : list[Tensor]
            Which; all if none are given.
        """
        schedule.inline_most(self._tensors(selected_tensors))

    def inline_at(
        self,
        tensor: Tensor,
        pos: int = -1,
        best_effort: bool = False,
        selected_tensors: Iterable[Tensor] = (),
    ) -> None:
        """Compute tensors at the depth that `pos` is in one of them.

        Parameters
        ----------
        tensor : Tensor
            The reference.
        pos : int
            How many of its loops are shared.
        best_effort : bool
            Whether less is taken where that is not possible.
        selected_tensors : list[Tensor]
            Which; all if none are given.
        """
        schedule.inline_at(
            self._opened().tensor(tensor), pos, best_effort, self._tensors(selected_tensors)
        )

    # -- questions --

    def tensors(self) -> list[Tensor]:
        """All tensors of the scheduled fusion."""
        return self._opened().tensors()

    def is_reduction(self, tensor: Tensor) -> bool:
        """Whether a tensor is the result of a reduction.

        Parameters
        ----------
        tensor : Tensor
            The tensor.
        """
        found = self._opened().tensor(tensor)
        return found.definition() is not None and found.has_reduction()

    def to_string(self, tensor: Tensor) -> str:
        """A tensor with its loops, as text.

        Parameters
        ----------
        tensor : Tensor
            The tensor.
        """
        return str(self._opened().tensor(tensor))

    def user_schedule_ir(self) -> str:
        """The IR with the schedule that is open, or was finished last."""
        self._fd._complete_entry()
        opened = self._fd.__dict__.get("_open_schedule")
        finished = self._fd.__dict__.get("_last_schedule")
        if opened is not None:
            return opened.fusion.print_scheduled()
        if finished is not None:
            return finished.fusion.print_scheduled()
        return "User schedule is not defined."

    # -- automatic schedulers --

    def can_schedule(self, scheduler_type: SchedulerType) -> tuple[bool, str]:
        """Whether a scheduler takes the fusion, and if not, why.

        Parameters
        ----------
        scheduler_type : SchedulerType
            The scheduler.
        """
        opened = self._opened()
        return schedule.can_schedule(opened.fusion, scheduler_type, opened.schedule.inputs)

    def find_compatible_schedulers(self) -> list[SchedulerType]:
        """The schedulers that take the fusion, the preferred one first."""
        opened = self._opened()
        return schedule.find_compatible_schedulers(opened.fusion, opened.schedule.inputs)

    def schedule(self, scheduler_type: SchedulerType | None = None) -> None:
        """Apply an automatic scheduler.

        Parameters
        ----------
        scheduler_type : SchedulerType, optional
            Which; None: the one whose params were computed before.
        """
        opened = self._opened()
        if scheduler_type is None:
            if len(opened.params) != 1:
                raise user_error(
                    "No parameters were computed for a scheduler.",
                    expected="one call of a compute_*_heuristics function",
                    found=f"{len(opened.params)}",
                    fix="fd.sched.compute_pointwise_heuristics(), or name a SchedulerType",
                )
            ((scheduler_type, params),) = opened.params.items()
        else:
            params = self._computed(opened, scheduler_type)
        opened.hyperparameters.apply(params)
        schedule.schedule(opened.fusion, scheduler_type, params)
        opened.schedule.params, opened.schedule.scheduler = params, scheduler_type

    def _computed(self, opened: OpenSchedule, scheduler_type: SchedulerType) -> HeuristicParams:
        is_taken, reason = schedule.can_schedule(
            opened.fusion, scheduler_type, opened.schedule.inputs
        )
        if not is_taken:
            raise user_error(reason)
        return schedule.compute_heuristics(opened.fusion, scheduler_type, opened.schedule.inputs)

    def _compute_once(self, *scheduler_types: SchedulerType) -> Any:
        opened = self._opened()
        if opened.params:
            raise user_error(
                "Heuristic parameters were computed for this schedule before.",
                expected="one computation for a schedule",
                fix="edit the object that the first call returned",
            )
        found = self.find_compatible_schedulers()
        for scheduler_type in scheduler_types:
            if scheduler_type in found:
                break
        else:
            scheduler_type = scheduler_types[0]
        opened.params[scheduler_type] = self._computed(opened, scheduler_type)
        return opened.params[scheduler_type]

    def compute_pointwise_heuristics(self) -> direct.PointwiseParams:
        """Decisions of the pointwise scheduler, to be edited before `schedule` applies it."""
        return self._compute_once(SchedulerType.pointwise)

    def compute_reduction_heuristics(self) -> direct.ReductionParams:
        """Decisions of a scheduler of reductions, to be edited before `schedule` applies it."""
        return self._compute_once(
            SchedulerType.reduction,
            SchedulerType.inner_persistent,
            SchedulerType.outer_persistent,
            SchedulerType.inner_outer_persistent,
        )

    def compute_matmul_heuristics(self) -> HeuristicParams:
        """Decisions of the matmul scheduler, if it takes the fusion."""
        return self._compute_once(SchedulerType.matmul)

    def schedule_hyperparameters(self) -> SchedulerHyperParameters:
        """Numbers that the automatic schedulers of the open schedule are held to."""
        return self._opened().hyperparameters


# -- mistakes that callers know by their texts --


def _check_moves(old2new: Mapping[int, int], num_loops: int) -> None:
    """Positions of loops, of which negative ones count from the end."""
    for old, new in old2new.items():
        for which, position in (("old", old), ("new", new)):
            if position < -num_loops:
                raise user_error(
                    f'Found "{which}" position that\'s less than 0 even though already adjusted by '
                    f"nDims: {position + num_loops}",
                    expected=f"positions from {-num_loops} to {num_loops - 1}",
                    found=f"{position}",
                )
            if position >= num_loops:
                raise user_error(
                    "Reorder axes are not within the number of dimensions of the provided domain",
                    expected=f"positions from {-num_loops} to {num_loops - 1}",
                    found=f"{position}",
                )


def _check_factored(tensor: TensorView, dims: Sequence[int]) -> None:
    """Some of the reduction loops are factored out, and others stay."""
    loops = [tensor.axis(dim) for dim in dims]
    if not all(loop.is_reduction() for loop in loops):
        raise user_error(
            "Cannot rfactor axes that are not reduction axes.",
            node=str(tensor),
            expected="loops of the reduction",
            found=f"{list(dims)}",
        )
    reduced = [loop for loop in tensor.get_loop_domain() if loop.is_reduction()]
    if len(set(dims)) >= len(reduced):
        raise user_error(
            "Must have at least one reduction axis not marked as rfactor.",
            node=str(tensor),
            found=f"{list(dims)}",
            fix="split the reduction first",
        )

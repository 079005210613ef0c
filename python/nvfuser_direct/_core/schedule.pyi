"""Propagate transforms, inline, schedule automatically."""

from collections.abc import Iterable, Sequence, Set
from typing import overload

import nvfuser_direct._core


def bounded_transform_backward(from_: nvfuser_direct._core.TensorView, pos: int, to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> None:
    """
    Replay leading loop axes on the tensors between `to`, upstream, and `from`.

    Parameters
    ----------
    from : TensorView
        The tensor whose transforms are replayed. The name is a reserved word: pass it by position.
    pos : int
        How many of its axes; -1 is all.
    to : list[TensorView]
        Where to stop; these are left as they are.
    propagate_parallel_type : bool
        Whether mapped axes take the parallel types, too.
    """

def bounded_transform_forward(from_: nvfuser_direct._core.TensorView, pos: int, to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> None:
    """As `bounded_transform_backward`, downstream."""

def bounded_transform_both(from_: nvfuser_direct._core.TensorView, pos: int, backward_to: Sequence[nvfuser_direct._core.TensorView], forward_to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> None:
    """
    `bounded_transform_backward` to `backward_to` and `bounded_transform_forward` to `forward_to`.

    An empty list bounds nothing in its direction.
    """

def transform_like(reference_tv: nvfuser_direct._core.TensorView, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> None:
    """
    Replay the loop transforms of a tensor on all that can be reached from it.

    Parameters
    ----------
    reference_tv : TensorView
        The tensor whose transforms are replayed.
    selected_tensors : list[TensorView]
        Change only these; all if empty.
    """

def parallelize_like(reference_tv: nvfuser_direct._core.TensorView, pos: int = -1, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = [], selected_parallel_types: Set[nvfuser_direct._core.ParallelType] = ..., propagate_padding: bool = True) -> None:
    """
    Copy the parallel types of a tensor's axes to the axes that correspond.

    Parameters
    ----------
    reference_tv : TensorView
        The tensor whose types are copied.
    pos : int
        How many of its loop axes; -1 is all.
    selected_tensors : list[TensorView]
        Change only these; all if empty.
    selected_parallel_types : set[ParallelType]
        Copy only these; all if empty.
    propagate_padding : bool
        Whether to copy the padding to whole warps, too.
    """

def inline_most(selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> None:
    """
    Compute every tensor as deep inside the loops of its consumers as is legal.

    Parameters
    ----------
    selected_tensors : list[TensorView]
        Change only these; all if empty.
    """

def inline_at(reference_tv: nvfuser_direct._core.TensorView, pos: int = -1, best_effort: bool = False, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> None:
    """
    Inline tensors at the position that corresponds to one of the reference.

    Parameters
    ----------
    reference_tv : TensorView
        The tensor that `pos` counts the axes of.
    pos : int
        Number of loop axes to share; negative values count from the end, -1 is all.
    best_effort : bool
        Stop at the deepest legal position instead of raising an error.
    selected_tensors : list[TensorView]
        Change only these; all if empty.
    """

def max_inline_position(tensor: nvfuser_direct._core.TensorView) -> int:
    """
    The deepest position at which a tensor and its siblings may be inlined.
    """

def reset_inlining(fusion: nvfuser_direct._core.Fusion) -> None:
    """Undo all inlining."""

def group_reductions(tvs: Sequence[nvfuser_direct._core.TensorView]) -> None:
    """
    Let reductions of one shape run as one, so that they share their barriers.

    Parameters
    ----------
    tvs : list[TensorView]
        Results of reductions with the same axes, transforms and parallel types, none of which depends
        on another. Operations, dtypes and identities may differ. The results of the
        `GroupedReductionOp` have the same order.

    Raises
    ------
    UserError
        If a tensor is not the result of a reduction, if the reductions are not alike, or if tensors are
        inlined where a tensor that depends on the group stands, too.
    """

def trivial(fusion: nvfuser_direct._core.Fusion) -> None:
    """
    Schedule a fusion so that it runs as one kernel, on any target and for any sizes.

    Parameters
    ----------
    fusion : Fusion
        Is scheduled in place.
    """

def can_schedule(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, inputs: Iterable[object], target: str | None = None) -> tuple[bool, str]:
    """
    Whether a scheduler takes a fusion, for inputs like these.

    Parameters
    ----------
    fusion : Fusion
        A definition without a schedule.
    scheduler_type : SchedulerType
        The scheduler that is asked.
    inputs : iterable
        Inputs of a run: their sizes, strides and addresses count.
    target : str, optional
        "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.

    Returns
    -------
    tuple[bool, str]
        The answer, and why it is no.
    """

def find_compatible_schedulers(fusion: nvfuser_direct._core.Fusion, inputs: Iterable[object], target: str | None = None) -> list[nvfuser_direct._core.SchedulerType]:
    """
    The schedulers that take a fusion, in the order of preference.

    Parameters
    ----------
    fusion : Fusion
        A definition without a schedule.
    inputs : iterable
        Inputs of a run.
    target : str, optional
        "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.
    """

def compute_heuristics(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, inputs: Iterable[object], target: str | None = None) -> nvfuser_direct._core.HeuristicParams:
    """
    What a scheduler would decide for a fusion, which stays as it is.

    Parameters
    ----------
    fusion : Fusion
        A definition without a schedule.
    scheduler_type : SchedulerType
        The scheduler that is asked.
    inputs : iterable
        Inputs of a run: their sizes, strides and addresses count.
    target : str, optional
        "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.

    Returns
    -------
    HeuristicParams
        Params to read, edit, and give to `schedule`.

    Raises
    ------
    UserError
        If the scheduler does not take the fusion, with its reason.
    """

@overload
def schedule(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, heuristic_params: nvfuser_direct._core.HeuristicParams) -> None:
    """
    Schedule a fusion in place, with the primitives that this module has.

    Parameters
    ----------
    fusion : Fusion
        A definition without a schedule.
    scheduler_type : SchedulerType
        The scheduler.
    inputs : iterable
        Inputs of a run, which params are computed from and returned.
    heuristic_params : HeuristicParams
        Instead of inputs: params that were computed before, or edited.
    target : str, optional
        "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.

    Raises
    ------
    UserError
        If the scheduler does not take the fusion, with its reason.
    """

@overload
def schedule(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, inputs: Iterable[object], target: str | None = None) -> nvfuser_direct._core.HeuristicParams: ...

"""Propagate transforms, inline, schedule automatically."""

from collections.abc import Iterable, Mapping, Sequence, Set
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
        Whether mapped axes also take the parallel types.
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
        Whether to copy the padding to whole warps as well.
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
        inlined where a tensor that depends on the group is inlined as well.
    """

def warp_specialize(tv: nvfuser_direct._core.TensorView, number_of_stages: int, prefetch_distance: int, parallel_type: nvfuser_direct._core.ParallelType, num_registers: tuple[int, int] | None = None) -> None:
    """
    Let a group of threads do nothing but load a circular buffer.

    The group is launched besides the threads that compute, in front of them along `parallel_type`; one
    of its threads begins bulk copies. Stages have barriers in shared memory, at which the group waits
    until a stage may be overwritten, and all others until it has arrived. Barriers of the block and
    reductions count the threads that compute. Where one thread of the host runs all of them, a load
    runs `prefetch_distance` iterations before its reads.

    Parameters
    ----------
    tv : TensorView
        A copy with ``LoadStoreOpType.tma``, inlined into the serial loop that it is loaded ahead of.
    number_of_stages : int
        At least 2.
    prefetch_distance : int
        Iterations between a load and its read, less than `number_of_stages`; a negative one counts from
        `number_of_stages`.
    parallel_type : ParallelType
        Dimension of the block: the slowest one that is bound, or one that is slower. Faster ones have
        constant sizes.
    num_registers : tuple[int, int], optional
        Registers of a loading thread, and of a thread that computes; multiples of 8 between 24 and 256.
        Needs a block of constant size that is a multiple of 128.

    Raises
    ------
    UserError
        ``Unsupported stage number``, ``Invalid prefetch distance``, ``The number of registers for
        setmaxnreg must be between ..``, ``The number of registers for async warp group must be <= ..``;
        or as `TensorView.circular_buffer`.
    """

def trivial(fusion: nvfuser_direct._core.Fusion) -> None:
    """
    Schedule a fusion so that it runs as one kernel, on any target and for any sizes.

    Parameters
    ----------
    fusion : Fusion
        Is scheduled in place.
    """

def try_trivial(fusion: nvfuser_direct._core.Fusion) -> nvfuser_direct._core.Refusal | None:
    """
    As `trivial`; what that would raise is returned.

    Returns
    -------
    Refusal or None
        Why there is no such schedule, with the fusion scheduled in part; None: it has one.
    """

@overload
def find_wrong_split(tv: nvfuser_direct._core.TensorView, axis: int, factor: int) -> nvfuser_direct._core.Refusal | None: ...

@overload
def find_wrong_split(tv: nvfuser_direct._core.TensorView, axis: int, factor: nvfuser_direct._core.Val) -> nvfuser_direct._core.Refusal | None:
    """
    Ask whether ``TensorView.split`` can be called.

    Each function ``find_wrong_<method>`` has the arguments of a scheduling method, and changes nothing.

    Returns
    -------
    Refusal or None
        What the method would raise; None: it can be called.
    """

def find_wrong_merge(tv: nvfuser_direct._core.TensorView, axis_o: int, axis_i: int) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.merge``; None: it can be called."""

def find_wrong_flatten(tv: nvfuser_direct._core.TensorView, from_: int = 0, to: int = -1) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.flatten``; None: it can be called."""

def find_wrong_reorder(tv: nvfuser_direct._core.TensorView, old2new: Mapping[int, int]) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.reorder``; None: it can be called."""

def find_wrong_swizzle(tv: nvfuser_direct._core.TensorView, swizzle_type: nvfuser_direct._core.SwizzleType, x: int, y: int) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.swizzle``; None: it can be called."""

def find_wrong_swizzle1d(tv: nvfuser_direct._core.TensorView, x: int, parallel_type: nvfuser_direct._core.ParallelType) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.swizzle1d``; None: it can be called."""

def find_wrong_broadcast(tv: nvfuser_direct._core.TensorView, axis: int, extent: nvfuser_direct._core.ScalarLike | None = None) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.broadcast``; None: it can be called."""

def find_wrong_resize(tv: nvfuser_direct._core.TensorView, axis: int, left: nvfuser_direct._core.ScalarLike, right: nvfuser_direct._core.ScalarLike, iter_type: nvfuser_direct._core.IterType | None = None) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.resize``; None: it can be called."""

def find_wrong_parallel_type(axis: nvfuser_direct._core.IterDomain, parallel_type: nvfuser_direct._core.ParallelType) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``IterDomain.parallelize``; None: it can be called."""

def find_wrong_padding(axis: nvfuser_direct._core.IterDomain, size: int | None = None) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``IterDomain.pad_to_multiple_of_warp``; None: it can be called.
    """

def find_wrong_cluster(axis: nvfuser_direct._core.IterDomain) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``IterDomain.set_clustered_blocks``; None: it can be called.
    """

def find_wrong_cache_after(tv: nvfuser_direct._core.TensorView, op_type: nvfuser_direct._core.LoadStoreOpType = nvfuser_direct._core.LoadStoreOpType.set, cache_op: nvfuser_direct._core.CacheOp = nvfuser_direct._core.CacheOp.unspecified, cached_uses: Sequence[nvfuser_direct._core.Expr] = []) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.cache_after``; None: it can be called."""

def find_wrong_cache_before(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.cache_before``; None: it can be called."""

def find_wrong_cache_fork(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.cache_fork``; None: it can be called."""

@overload
def find_wrong_rfactor(tv: nvfuser_direct._core.TensorView, axes: Sequence[int]) -> nvfuser_direct._core.Refusal | None: ...

@overload
def find_wrong_rfactor(tv: nvfuser_direct._core.TensorView, axes: Sequence[int], tvs: Sequence[nvfuser_direct._core.TensorView]) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.rfactor``; None: it can be called."""

def find_wrong_memory_type(tv: nvfuser_direct._core.TensorView, memory_type: nvfuser_direct._core.MemoryType) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.set_memory_type``; None: it can be called."""

def find_wrong_allocation_domain(tv: nvfuser_direct._core.TensorView, new_allocation_domain: Sequence[nvfuser_direct._core.IterDomain], new_contiguity: Sequence[bool | None]) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``TensorView.set_allocation_domain``; None: it can be called.
    """

def find_wrong_loop_domain(tv: nvfuser_direct._core.TensorView, new_loop_domain: Sequence[nvfuser_direct._core.IterDomain]) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.set_loop_domain``; None: it can be called."""

def find_wrong_commit_leaf_to_logical(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``TensorView.commit_leaf_to_logical``; None: it can be called.
    """

def find_wrong_clear_reduction_iter_domains(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``TensorView.clear_reduction_iter_domains``; None: it can be called.
    """

def find_wrong_inline_at(tv: nvfuser_direct._core.TensorView, pos: int) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``TensorView.inline_at`` without ``best_effort``; None: it can be called.
    """

def find_wrong_compute_with(tv: nvfuser_direct._core.TensorView, pos: int) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``TensorView.compute_with`` without ``best_effort``; None: it can be called.
    """

def find_wrong_circular_buffer(tv: nvfuser_direct._core.TensorView, number_of_stages: int, prefetch_distance: int = -1, type: nvfuser_direct._core.Pipelined | nvfuser_direct._core.WarpSpecialized = ...) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.circular_buffer``; None: it can be called."""

def find_wrong_group(tvs: Sequence[nvfuser_direct._core.TensorView]) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``group_reductions``; None: it can be called."""

def find_wrong_promote_reuse(tv: nvfuser_direct._core.TensorView, flag: bool = True) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.promote_reuse``; None: it can be called."""

def find_wrong_set_cache_hint(tv: nvfuser_direct._core.TensorView, hint: nvfuser_direct._core.CacheHint) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.set_cache_hint``; None: it can be called."""

def try_transform_like(reference_tv: nvfuser_direct._core.TensorView, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> nvfuser_direct._core.Refusal | None:
    """
    As `transform_like`; what that would raise is returned, and then nothing is changed.

    Returns
    -------
    Refusal or None
        Why it cannot be done; None: it is done.
    """

def try_bounded_transform_backward(from_: nvfuser_direct._core.TensorView, pos: int, to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None:
    """As `bounded_transform_backward`; what that would raise is returned."""

def try_bounded_transform_forward(from_: nvfuser_direct._core.TensorView, pos: int, to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None:
    """As `bounded_transform_forward`; what that would raise is returned."""

def try_bounded_transform_both(from_: nvfuser_direct._core.TensorView, pos: int, backward_to: Sequence[nvfuser_direct._core.TensorView], forward_to: Sequence[nvfuser_direct._core.TensorView], propagate_parallel_type: bool = False) -> nvfuser_direct._core.Refusal | None:
    """As `bounded_transform_both`; what that would raise is returned."""

def try_parallelize_like(reference_tv: nvfuser_direct._core.TensorView, pos: int = -1, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = [], selected_parallel_types: Set[nvfuser_direct._core.ParallelType] = ..., propagate_padding: bool = True) -> nvfuser_direct._core.Refusal | None:
    """
    As `parallelize_like`; what that would raise is returned, and then nothing is changed.
    """

def try_inline_at(reference_tv: nvfuser_direct._core.TensorView, pos: int = -1, best_effort: bool = False, selected_tensors: Sequence[nvfuser_direct._core.TensorView] = []) -> nvfuser_direct._core.Refusal | None:
    """
    As `inline_at`; what that would raise is returned, and then nothing is changed.
    """

def find_wrong_mma_macro(tv: nvfuser_direct._core.TensorView, macro: nvfuser_direct._core.MmaMacro) -> nvfuser_direct._core.Refusal | None:
    """The refusal of ``TensorView.set_mma_macro``; None: it can be called."""

def find_wrong_translation(tv: nvfuser_direct._core.TensorView) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``TensorView.translate_to_mma``; None: it can be called.
    """

def find_wrong_mma_swizzle(tv: nvfuser_direct._core.TensorView, operand: nvfuser_direct._core.MmaOperand | None = None, macro: nvfuser_direct._core.MmaMacro | None = None) -> nvfuser_direct._core.Refusal | None:
    """
    The refusal of ``TensorView.apply_mma_swizzle``; None: it can be called.
    """

def fragment_layout(operand: nvfuser_direct._core.MmaOperand | None = None, macro: nvfuser_direct._core.MmaMacro | None = None) -> str:
    """
    Where the elements of a tile are, as text: ``lane.register`` for each.

    Parameters
    ----------
    operand : MmaOperand, optional
        ``A``: a line for each row of the first factor. ``B``: one for each column of the second factor.
        None: one for each row of the result.
    macro : MmaMacro, optional
        The instruction; None is ``Ampere_16_8_16``.

    Returns
    -------
    str
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
        Inputs of a run: their sizes, strides and addresses count.
    target : str, optional
        "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.
    """

def compute_heuristics(fusion: nvfuser_direct._core.Fusion, scheduler_type: nvfuser_direct._core.SchedulerType, inputs: Iterable[object], target: str | None = None) -> nvfuser_direct._core.HeuristicParams:
    """
    Find what a scheduler decides for a fusion, which stays as it is.

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

def estimate_cost(fusion: nvfuser_direct._core.Fusion, heuristic_params: nvfuser_direct._core.HeuristicParams, inputs: Iterable[object], target: str | None = None) -> nvfuser_direct._core.CostEstimate | None:
    """
    Estimate the cost of params for inputs like these.

    Parameters
    ----------
    fusion : Fusion
        A definition without a schedule.
    heuristic_params : HeuristicParams
        Of `compute_heuristics`, or edited.
    inputs : iterable
        Inputs of a run: their sizes, strides and addresses count.
    target : str, optional
        "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.

    Returns
    -------
    CostEstimate or None
        None where the scheduler has no model of costs, and for processors.
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
        The scheduler that is asked.
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

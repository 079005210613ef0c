"""Numbers that a user may set for the automatic schedulers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nvfuser_direct import (
    LaunchParams,
    PointwiseParams,
    ReductionParams,
    UserNotImplementedError,
    UserValueError,
)

from .errors import user_error

if TYPE_CHECKING:
    from nvfuser_direct import HeuristicParams


_MOST_THREADS = 1024  # of a block, in all dimensions


@dataclass
class SchedulerHyperParameters:
    """The numbers of `FusionDefinition.sched.schedule_hyperparameters`. A 0 leaves the choice open.

    Attributes
    ----------
    vectorize_factor : int
        Elements of a vector access, a power of two.
    unroll_factor : int
        Vectors of a thread.
    threads_per_block_min, threads_per_block_max : int
        Bounds of the threads of a block along x, on a GPU; at most 1,024 in all dimensions.
    is_warp_specialized : bool
        Whether some threads only load. There are no such kernels.
    """

    vectorize_factor: int = 0
    unroll_factor: int = 0
    threads_per_block_min: int = 0
    threads_per_block_max: int = 0
    is_warp_specialized: bool = False

    def check(self) -> None:
        """Raise what is wrong with the numbers."""
        if self.is_warp_specialized:
            raise user_error(
                "is_warp_specialized is not there yet",
                found="no kernels with threads that only load",
                fix="leave it False",
                kind=UserNotImplementedError,
            )
        if self.vectorize_factor < 0 or self.vectorize_factor & (self.vectorize_factor - 1):
            raise user_error(
                "Vectorization factor must be a power of 2",
                found=f"vectorize_factor = {self.vectorize_factor}",
                kind=UserValueError,
            )
        if self.unroll_factor < 0:
            raise user_error(
                "Unroll factor must be greater than 0",
                found=f"unroll_factor = {self.unroll_factor}",
                kind=UserValueError,
            )
        low, high = self.threads_per_block_min, self.threads_per_block_max
        if low < 0 or high < 0 or (high and low > high):
            raise user_error(
                "threads_per_block_min has to be at most threads_per_block_max",
                found=f"{low} and {high}",
                kind=UserValueError,
            )

    def apply(self, params: HeuristicParams) -> None:
        """Write what was set into the params of a scheduler."""
        self.check()
        if isinstance(params, PointwiseParams):
            params.vectorization_factor = self.vectorize_factor or params.vectorization_factor
            params.unroll_factor_inner = self.unroll_factor or params.unroll_factor_inner
        elif isinstance(params, ReductionParams):
            self._apply_to_reduction(params)
        self._bound_threads(params)

    def _apply_to_reduction(self, params: ReductionParams) -> None:
        is_inner = params.fastest_dim
        name = "unroll_factor_inner_reduction" if is_inner else "unroll_factor_iter_dom"
        flag = "vectorize_inner_reduction" if is_inner else "vectorize_iter_dom"
        is_vector = getattr(params, flag)
        if is_vector and self.vectorize_factor:
            setattr(params, name, self.vectorize_factor)
            setattr(params, flag, self.vectorize_factor > 1)
            params.vector_widths = [min(w, self.vectorize_factor) for w in params.vector_widths]
        elif not is_vector and self.unroll_factor:
            setattr(params, name, self.unroll_factor)
        if self.unroll_factor and is_inner and is_vector:
            params.unroll_factor_top_of_vectorization = self.unroll_factor

    def _bound_threads(self, params: HeuristicParams) -> None:
        """Hold the threads along x to their bounds. On a processor there are none."""
        chosen = params.lparams
        if chosen.bdimx <= 1 or not (self.threads_per_block_min or self.threads_per_block_max):
            return
        threads = max(chosen.bdimx, self.threads_per_block_min)
        if self.threads_per_block_max:
            threads = min(threads, self.threads_per_block_max)
        threads = min(threads, _MOST_THREADS // (chosen.bdimy * chosen.bdimz))
        if isinstance(params, ReductionParams):
            # A row that stays on chip is dealt out by its batches, from which threads follow.
            kept = params.batches_per_block_inner_reduction * chosen.bdimx
            if params.persistent_kernel and params.fastest_dim:
                params.batches_per_block_inner_reduction = max(-(-kept // threads), 1)
        params.lparams = _with_threads(chosen, threads)


def _with_threads(lparams: LaunchParams, threads: int) -> LaunchParams:
    """A copy with another number of threads along x: a number that is set stays set."""
    gdimx, gdimy, gdimz, _, bdimy, bdimz, smem_bytes, cluster_size = lparams.__getstate__()
    copied = LaunchParams.__new__(LaunchParams)
    copied.__setstate__((gdimx, gdimy, gdimz, threads, bdimy, bdimz, smem_bytes, cluster_size))
    return copied

"""Numbers that a user may set for the automatic schedulers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class SchedulerHyperParameters:
    """What `FusionDefinition.sched.schedule_hyperparameters` holds.

    Attributes
    ----------
    vectorize_factor : int
        Elements of a vector access, a power of two.
    unroll_factor : int
        Vectors of a thread.
    threads_per_block_min, threads_per_block_max : int
        Bounds of the threads of a block.
    is_warp_specialized : bool
        Whether some threads only load. There are no such kernels.
    """

    vectorize_factor: int = 1
    unroll_factor: int = 1
    threads_per_block_min: int = 1
    threads_per_block_max: int = 1
    is_warp_specialized: bool = False

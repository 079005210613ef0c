"""FusionExecutorCache: run a fusion without a schedule.

The core does it (csrc/host/executor_cache.h); here is what only Python needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from .opaque import opaque, register
from .segment_schedules import compile_params_of, keep_schedules_of_folder, scheduled_fusion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._core import Fusion
    from .segment_schedules import Schedule


@opaque
class FusionExecutorCache(_core.FusionExecutorCache):
    """Compiles a fusion when it first meets a kind of device, then runs it. Thread-safe.

    Parameters
    ----------
    fusion : Fusion
        The definition, which belongs to the cache from now on and must not be changed any more.
    fusion_id : int
        Part of the names of kernels.
    auto_schedule : bool
        Whether to schedule the fusion; if not it is compiled as it is.
    """

    def __init__(self, fusion: Fusion, fusion_id: int = 0, auto_schedule: bool = True) -> None:
        register()
        keep_schedules_of_folder()
        super().__init__(fusion, fusion_id, auto_schedule)

    def use_schedule(
        self,
        segment: int,
        schedule: Schedule | None,
        inputs: Iterable[object] | None = None,
    ) -> None:
        """Run a segment with a schedule of your own from now on.

        It holds for all sizes for which automatic scheduling decides as it did for these, on this
        kind of device, and for all segments that are equal to it. Sizes that it cannot be launched
        with run as before, after a warning.

        Parameters
        ----------
        segment : int
            Its number in ``explain`` and in ``schedules``.
        schedule : str or callable or None
            A text of ``schedules(inputs)``, edited behind ``fd.add_output`` (its line
            ``# Registers: at most 64`` caps registers, and may be edited as well); or a function
            that does with a ``FusionDefinition`` what the text does. None: the automatic schedule
            again.
        inputs : iterable, optional
            Inputs that were executed, to say which sizes are meant; the last ones if left out.

        Raises
        ------
        UserError
            If it computes something else than the segment, or cannot be lowered; if there is no
            such segment.
        TypeError
            If the schedule is neither a text nor a function.

        Examples
        --------
        >>> text = fd.fec.schedules(inputs)[0]
        >>> fd.fec.use_schedule(0, text.replace("split(0, 128)", "split(0, 256)"))
        """
        if not (schedule is None or isinstance(schedule, str) or callable(schedule)):
            raise TypeError(
                "A schedule is a text of fd.fec.schedules(inputs), a function of a "
                f"FusionDefinition, or None, but got {type(schedule).__name__}"
            )
        if segment < 0:
            raise _core.UserError(
                f"The segment id is not valid: segments are numbered from 0, but got {segment}"
            )
        origin = f"<schedule of segment {segment}>"
        fusion = None if schedule is None else scheduled_fusion(schedule, origin)
        params = _core.CompileParams() if schedule is None else compile_params_of(schedule)
        self.use_fusion(segment, fusion, origin, inputs, params)

"""Texts of a definition: its IR, its kernels, and scripts that repeat a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import user_error
from .execution import user_schedule_for
from .reproduction import repro_script

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nvfuser_direct import FusionExecutorCache

    from .entry import Entry


class InspectionMethods:
    """The methods of `FusionDefinition` that show texts of it and of its runs."""

    def fusion_ir(self: Any) -> str:
        """The IR, without a schedule."""
        return self._complete_entry().build().fusion.print_math()

    def last_cuda_code(
        self: Any, intrinsic_code: bool = False, *, override_user_schedule: bool = False
    ) -> str:
        """Source of the kernels of the last run.

        Parameters
        ----------
        intrinsic_code : bool
            The first kernel with everything it includes, instead of all kernels without.
        override_user_schedule : bool
            That of the last run with an automatic schedule.
        """
        entry = self._complete_entry()
        if not override_user_schedule and entry.last_schedule is not None:
            return entry.last_schedule.kernel_source(intrinsic_code)
        return _code(_executed(entry).kernel_sources(None, intrinsic_code), intrinsic_code)

    def cuda_code_for(
        self: Any,
        inputs: Iterable[Any],
        intrinsic_code: bool = False,
        *,
        override_user_schedule: bool = False,
    ) -> str:
        """Source of the kernels for inputs like some that were executed.

        Parameters
        ----------
        inputs : iterable
            As for `execute`.
        intrinsic_code, override_user_schedule : bool
            As in `last_cuda_code`.
        """
        entry = self._complete_entry()
        inputs = list(inputs)
        chosen = None if override_user_schedule else user_schedule_for(entry, inputs)
        if chosen is not None:
            return chosen.kernel_source(intrinsic_code)
        return _code(_executed(entry).kernel_sources(inputs, intrinsic_code), intrinsic_code)

    def last_scheduled_fusion_ir(
        self: Any, tensor_transforms: bool = False, *, override_user_schedule: bool = False
    ) -> str:
        """The IR with the schedules of the last run.

        Parameters
        ----------
        tensor_transforms : bool
            With the transforms of every tensor.
        override_user_schedule : bool
            That of the last run with an automatic schedule.
        """
        entry = self._complete_entry()
        if not override_user_schedule and entry.last_schedule is not None:
            return entry.last_schedule.fusion.print_scheduled(tensor_transforms)
        return _executed(entry).get_most_recent_scheduled_ir(tensor_transforms)

    def scheduled_fusion_ir_for(
        self: Any,
        inputs: Iterable[Any],
        tensor_transforms: bool = False,
        *,
        override_user_schedule: bool = False,
    ) -> str:
        """The IR with the schedules for inputs like some that were executed.

        Parameters
        ----------
        inputs : iterable
            As for `execute`.
        tensor_transforms, override_user_schedule : bool
            As in `last_scheduled_fusion_ir`.
        """
        entry = self._complete_entry()
        inputs = list(inputs)
        chosen = None if override_user_schedule else user_schedule_for(entry, inputs)
        if chosen is not None:
            return chosen.fusion.print_scheduled(tensor_transforms)
        return _executed(entry).get_scheduled_ir(inputs, tensor_transforms)

    def repro_script_for(self: Any, inputs: Iterable[Any] | None = None) -> str:
        """A script that defines this fusion and runs it with inputs like these.

        Parameters
        ----------
        inputs : iterable, optional
            Tensors and numbers; without them the script ends with the definition.
        """
        return repro_script(self, inputs)

    def last_repro_script(self: Any) -> str:
        """`repro_script_for` the inputs that the last `execute` saved.

        Raises
        ------
        AssertionError
            If none were saved.
        """
        saved = self.__dict__.get("_fake_inputs")
        if saved is None:
            raise AssertionError(
                "fd.last_repro_script() cannot provide a repro because "
                "fd.execute(inputs, save_repro_inputs=True) was not executed!"
            )
        return repro_script(self, saved)

    def print(self: Any) -> None:
        """Print the definition."""
        print(repr(self))

    def print_ir(self: Any) -> None:
        """Print the IR."""
        print(self.fusion_ir())

    def print_math_ir(self: Any) -> None:
        """Print the IR: an older name of `print_ir`."""
        self.print_ir()


def _executed(entry: Entry) -> FusionExecutorCache:
    """The executor cache of a fusion that ran with an automatic schedule."""
    fec = entry.fec
    if fec is None or not fec.has_run():
        raise user_error(
            f"Fusion {entry.id} has never been executed via FusionExecutorCache.",
            fix="fd.execute(inputs)",
        )
    return fec


def _code(sources: list[str], intrinsic_code: bool) -> str:
    return (sources[0] if sources else "") if intrinsic_code else "\n".join(sources)

"""Running a definition."""

from __future__ import annotations

import contextlib
import logging
import warnings
from typing import TYPE_CHECKING, Any

import nvfuser_direct as direct
from nvfuser_direct import PythonProfiler, UserError, UserNotImplementedError, UserValueError
from nvfuser_direct.evaluator import flatten_inputs
from nvfuser_direct.opaque import opaque
from nvfuser_direct.random_state import GeneratorStates
from nvfuser_direct.repro import fake_inputs
from nvfuser_direct.validation import (
    compare_with_references,
    copies,
    get_val_tolerances,
    validate_with_auto_inferred_outputs,
)

from .environment import dumps_segments
from .errors import user_error
from .reproduction import failure_text
from .user_schedule import devices_of, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import torch

    from nvfuser_direct import FusionExecutorCache, FusionProfile

    from .entry import Entry
    from .user_schedule import UserSchedule

logger = logging.getLogger("nvfuser")
internal = direct._core.internal

_OPTIONS_WARNING = (
    "Options for one call do not change kernels that were compiled before for the same definition "
    "and options. To compare options, reset the cache between runs: FusionCache.reset()."
)


@opaque
class RunMethods:
    """The methods of `FusionDefinition` for runs."""

    def execute(
        self: Any,
        inputs: Iterable[Any],
        *,
        device: int | str | torch.device | None = None,
        override_user_schedule: bool = False,
        capture_debug_output: bool = False,
        print_repro: bool = False,
        profile: bool = False,
        save_repro_inputs: bool = False,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> list[torch.Tensor]:
        """Run, compiling when needed.

        Parameters
        ----------
        inputs : iterable
            Tensors and numbers in the order of the inputs; lists and tuples are vectors.
        device : int, str or torch.device, optional
            The CUDA device of a fusion without tensor inputs. Others have to be on it.
        override_user_schedule : bool
            Ignore a schedule that was written for these inputs.
        capture_debug_output : bool
            Keep what dumps print during this call for `debug_output`.
        print_repro : bool
            Print a script that repeats the call, before it runs.
        profile : bool
            Measure the run for `profile`; ``schedule()`` runs again.
        save_repro_inputs : bool
            Keep what the inputs are like, without data, for `last_repro_script`.
        _enable_options, _disable_options : sequence of str
            Options of NVFUSER_ENABLE and NVFUSER_DISABLE for this call.

        Returns
        -------
        list[torch.Tensor]
            The outputs.
        """
        entry = self._entry
        if (
            entry is not None
            and self._is_plain
            and entry.quick_run is not None
            and device is None
            and not (capture_debug_output or print_repro or profile or save_repro_inputs)
            and not _enable_options
            and not _disable_options
            and getattr(self, "schedule", None) is None
        ):
            try:
                return entry.quick_run(inputs)
            except Exception as error:
                self._log_failure("executing", inputs, error)
                check_devices(inputs, None, error)
                raise
        options = (tuple(_enable_options), tuple(_disable_options))
        if any(options):
            warnings.warn(_OPTIONS_WARNING, UserWarning, stacklevel=2)
        inputs = list(inputs) if not isinstance(inputs, list | tuple) else inputs

        def run() -> list[torch.Tensor]:
            outputs: list[torch.Tensor] = self._execute_observed(
                inputs, device, override_user_schedule, print_repro, profile, save_repro_inputs,
                options,
            )  # fmt: skip
            return outputs

        if not capture_debug_output:
            return run()
        # Also what is printed while the definition is completed, and by segments.
        outputs, text = internal.captured_output(run)
        self._captured = text
        self._is_plain = False
        return outputs

    def _execute_observed(
        self: Any,
        inputs: Sequence[Any],
        device: int | str | torch.device | None,
        overrides: bool,
        prints: bool,
        profiles: bool,
        saves: bool,
        options: tuple[tuple[str, ...], tuple[str, ...]],
    ) -> list[torch.Tensor]:
        """`execute`, apart from the text that is captured."""
        if self._entry is None and self._given_id is None:
            self._define_by_method()
        entry = self._complete_entry()
        try:
            entry.check_can_run()
            self._schedule_if_due(entry, inputs, overrides, profiles)
        except Exception as error:
            self._log_failure("executing", inputs, error)
            raise
        if saves:
            self._fake_inputs = fake_inputs(inputs)
        if prints:
            print(self.repro_script_for(inputs), flush=True)
        if getattr(self, "segments", None):
            return self._execute_segments(
                inputs,
                device=device,
                profile=profiles,
                override_user_schedule=overrides,
                _enable_options=options[0],
                _disable_options=options[1],
            )
        index = _device_index(device)
        self._note_run(profile=bool(profiles), captured=None, is_plain=False)
        try:
            outputs = self._observed(
                lambda: _run(entry, inputs, index, overrides, options, self._is_printed),
                False,
                profiles,
            )
        except Exception as error:
            self._log_failure("executing", inputs, error)
            check_devices(inputs, index, error)
            raise
        self._is_plain = not profiles
        return outputs

    def _note_run(self: Any, *, profile: bool, captured: str | None, is_plain: bool) -> None:
        self.profiled = profile
        self._profile: FusionProfile | UserError | None = None
        self._captured = captured
        self._is_plain = is_plain

    def _observed(
        self: Any, run: Callable[[], list[torch.Tensor]], captures: bool, profiles: bool
    ) -> list[torch.Tensor]:
        """`run`, while its prints and times are kept as asked for."""

        def profiled() -> list[torch.Tensor]:
            if not profiles:
                return run()
            with PythonProfiler() as profiler:
                outputs = run()
            try:
                self._profile = profiler.profile
            except UserError as error:  # views run without any kernel
                self._profile = UserValueError(str(error))
            return outputs

        if not captures:
            return profiled()
        outputs, self._captured = internal.captured_output(profiled)
        return outputs

    def _schedule_if_due(
        self: Any, entry: Entry, inputs: Sequence[Any], overrides: bool, profiles: bool
    ) -> None:
        """Run the user's schedule() where none is kept for these inputs, or it is being tuned."""
        if callable(getattr(self, "multidevice_schedule", None)):
            raise user_error(
                "multidevice_schedule() is not there yet",
                found="a fusion runs on one device",
                fix="define the fusion for the part of one device",
                kind=UserNotImplementedError,
            )
        schedule = getattr(self, "schedule", None)
        if not callable(schedule) or overrides:
            return
        if not profiles and signature_of(entry.build().fusion, inputs) in entry.user_schedules:
            return
        self._setup_schedule(inputs, overwrite_existing_schedule=True)
        try:
            schedule()
        except BaseException:
            self._drop_schedule()
            raise
        self._finalize_schedule(inputs)

    def _log_failure(self: Any, doing: str, inputs: Iterable[Any] | None, error: object) -> None:
        with contextlib.suppress(Exception):  # the user's error is what matters
            logger.exception(failure_text(self, doing, inputs))

    # -- what the last run left --

    def profile(self: Any) -> FusionProfile:
        """Times and bytes of this object's last run, which was given ``profile=True``.

        Raises
        ------
        ValueError
            If it was not.
        """
        profile = self.__dict__.get("_profile")
        if isinstance(profile, UserError):
            raise profile
        if profile is None:
            raise UserValueError(
                "The last execution was not profiled.\n  fix:      execute(inputs, profile=True)"
            )
        return profile

    def debug_output(self: Any) -> str | None:
        """The text that dumps printed in the last run; None without ``capture_debug_output``."""
        captured: str | None = self.__dict__.get("_captured")
        return captured

    # -- validation --

    def validate(
        self: Any,
        inputs: Iterable[Any],
        reference_outputs: Sequence[torch.Tensor] | None = None,
        **execute_kwargs: Any,
    ) -> list[torch.Tensor]:
        """`execute` and compare with references, or with an evaluation of the fusion.

        Parameters
        ----------
        inputs : iterable
            As for `execute`.
        reference_outputs : sequence of torch.Tensor, optional
            What the outputs should be; tolerances follow from dtypes and reduction sizes.
        **execute_kwargs
            Further arguments of `execute`.

        Raises
        ------
        AssertionError
            If outputs differ.
        """
        inputs = list(inputs)
        before = copies(inputs)
        generators = GeneratorStates()
        outputs: list[torch.Tensor] = self.execute(inputs, **execute_kwargs)
        fusion = self._complete_entry().build().fusion
        if reference_outputs is not None:
            compare_with_references(fusion, outputs, reference_outputs, before)
            return outputs
        try:
            with generators.replayed():  # random tensors without seed are the same again
                validate_with_auto_inferred_outputs(fusion, outputs, before)
        except RuntimeError as error:
            raise AssertionError(str(error)) from error
        return outputs

    def getValTolerances(self: Any, inputs: Iterable[Any]) -> list[tuple[float, float]]:
        """``(atol, rtol)`` for every output.

        Parameters
        ----------
        inputs : iterable
            As for `execute`.
        """
        return get_val_tolerances(self._complete_entry().build().fusion, inputs)


def _run(
    entry: Entry,
    inputs: Sequence[Any],
    device: int | None,
    overrides: bool,
    options: tuple[tuple[str, ...], tuple[str, ...]],
    is_printed: bool,
) -> list[torch.Tensor]:
    """With the user's schedule for these inputs, or the automatic one.

    Dumps leave out a definition that was printed before, unless it runs in pieces.
    """
    chosen = None if overrides else user_schedule_for(entry, inputs)
    if chosen is not None:
        return _run_schedule(entry, chosen, inputs, options)
    fec = entry.executor_cache()
    entry.last_schedule = None
    if dumps_segments():
        return _run_and_print_segments(fec, inputs, device, options, is_printed)
    if device is None and not any(options):
        outputs = fec.run(inputs)
        if not entry.user_schedules:
            entry.quick_run = fec.run
        return outputs
    return fec.execute(
        inputs, device=device, _enable_options=options[0], _disable_options=options[1]
    )


def _run_and_print_segments(
    fec: FusionExecutorCache,
    inputs: Sequence[Any],
    device: int | None,
    options: tuple[tuple[str, ...], tuple[str, ...]],
    is_printed: bool,
) -> list[torch.Tensor]:
    count = len(fec.compilations())
    outputs = fec.execute(
        inputs, device=device, _enable_options=options[0], _disable_options=options[1]
    )
    is_new = len(fec.compilations()) != count
    if is_new and not (is_printed and len(fec.last_pieces()) == 1):
        from .segment_dump import print_segments

        print_segments(fec)
    return outputs


def user_schedule_for(entry: Entry, inputs: Iterable[Any]) -> UserSchedule | None:
    """The schedule that was written for inputs like these."""
    if not entry.user_schedules:
        return None
    return entry.user_schedules.get(signature_of(entry.build().fusion, inputs))


def _run_schedule(
    entry: Entry,
    schedule: UserSchedule,
    inputs: Sequence[Any],
    options: tuple[tuple[str, ...], tuple[str, ...]],
) -> list[torch.Tensor]:
    flat = flatten_inputs(inputs)

    def run() -> list[torch.Tensor]:
        if not internal.is_profiling():
            return schedule.run(flat)
        if internal.is_profiled_run_open():  # the definition is a segment of another one
            internal.begin_profiled_part("user")
            return schedule.run(flat)
        internal.open_profiled_run("user", entry.id)
        outputs = schedule.run(flat)
        internal.close_profiled_run()
        return outputs

    entry.last_schedule = schedule
    if any(options):
        return direct._core.call_with_options(run, *options)  # type: ignore[return-value]
    return run()


def check_devices(inputs: Iterable[Any], wanted: int | None, error: Exception) -> None:
    """Whether a run failed since its inputs lie on several devices, or on another than was asked
    for. The check costs nothing where runs succeed.

    Raises
    ------
    UserError
        Instead of `error`, which becomes its cause.
    """
    devices = devices_of(inputs)
    is_elsewhere = wanted is not None and devices not in ([], [f"cuda:{wanted}"])
    if len(devices) > 1 or is_elsewhere:
        raise user_error(
            "Inputs are not all on the same device or don't match selection!",
            expected="one device" if wanted is None else f"device {wanted}",
            found=", ".join(devices),
            fix="move all inputs to one device; a 0-dim tensor may stay on the host",
        ) from error


def _device_index(device: int | str | torch.device | None) -> int | None:
    if device is None or isinstance(device, int):
        return device
    import torch

    wanted = torch.device(device)
    if wanted.type != "cuda":
        raise AssertionError(
            f"If device argument is passed it must be a CUDA device, but got {device}"
        )
    if wanted.index is not None:
        return int(wanted.index)
    return torch.cuda.current_device() if torch.cuda.is_available() else 0

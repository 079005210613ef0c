"""FusionExecutorCache: run a fusion that nobody scheduled.

The whole fusion becomes one kernel per kind of device, scheduled the simplest way that is always
right. What the compiler has no kernel for is evaluated through PyTorch.
"""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from . import _core
from ._pytorch import HOW_TO_INSTALL, has_pytorch
from .dynamic_shapes import DynamicShapes
from .evaluator import Evaluator, flatten_inputs
from .opaque import opaque, register
from .pytorch_utils import is_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import torch

    from ._core import Fusion


# Options that are enabled, and disabled, for one call.
_Options: TypeAlias = "tuple[tuple[str, ...], tuple[str, ...]]"
_NO_OPTIONS: _Options = ((), ())


# What decides which runtime serves a call: the type of device; options; sizes, none unless kernels
# are not to be used again for other sizes; which specialization, of a definition with dynamic
# shapes. Every call makes one: a class with names would cost a third of a microsecond.
_Key: TypeAlias = "tuple[str, _Options, tuple[Any, ...], int]"


class _Runtime:
    """A fusion made ready for one kind of device.

    Parameters
    ----------
    fusion : Fusion
        What was scheduled: the definition, its dynamic shapes resolved.
    scheduled : Fusion
        What was compiled.
    executor : KernelExecutor or None
        None where the fusion is evaluated.
    arguments : list[int], optional
        For each input of `scheduled` the argument of a run, where some are bound repeatedly.
    """

    def __init__(
        self,
        fusion: Fusion,
        scheduled: Fusion,
        executor: _core.KernelExecutor | None,
        arguments: list[int] | None = None,
    ) -> None:
        self.fusion = fusion
        self.scheduled = scheduled
        self.executor = executor
        self.arguments = arguments
        self.dumps_arguments = _core.is_dumped("fusion_args")

    def source(self, with_support_code: bool) -> str:
        if self.executor is None:
            return ""
        if with_support_code:
            return self.executor.kernel_source()
        return self.executor.kernel().print_source(self.executor.kernel_name())

    def scheduled_text(self, with_transforms: bool) -> str:
        if self.executor is None:
            return ""
        return self.scheduled.print_scheduled(with_transforms)


@opaque
class FusionExecutorCache:
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
        self._fusion = fusion
        self._version = fusion.version()
        self._fusion_id = fusion_id
        self._auto_schedule = _core.internal.flag(auto_schedule)
        self._dynamic = DynamicShapes(fusion) if _core.has_dynamic_shapes(fusion) else None
        self._lock = threading.Lock()  # of compiling
        self._runtimes: dict[_Key, _Runtime] = {}
        self._most_recent: _Runtime | None = None

    def fusion(self) -> Fusion:
        """The definition."""
        return self._fusion

    # -- running --

    def execute(
        self,
        inputs: Iterable[Any],
        *,
        device: int | None = None,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> list[torch.Tensor]:
        """Run, compiling when needed.

        Parameters
        ----------
        inputs : iterable
            Tensors and numbers in the order of ``fusion().inputs()``. One level of lists and tuples
            is opened.
        device : int, optional
            CUDA device, less than 256, for a fusion without tensor inputs; those of other fusions
            have to be on it.
        _enable_options, _disable_options : sequence of str
            Names as in ``NVFUSER_ENABLE`` and ``NVFUSER_DISABLE``; they hold for this call.

        Returns
        -------
        list[torch.Tensor]
            The visible outputs; tensors of the framework that the inputs came from.

        Raises
        ------
        UserError
            For inputs that do not fit, for a device that is not there, for unknown options, and if
            the definition was edited since it was given to the cache.
        """
        args = _core.internal.input_list(inputs)
        if device is not None:
            _check_device(device, args)
        if not _enable_options and not _disable_options:
            return self._run(args, device)
        for names in (_enable_options, _disable_options):
            if isinstance(names, str):
                raise TypeError(f"expected a list of names of options, but got {names!r}")
        options = (tuple(_enable_options), tuple(_disable_options))
        return _with_options(lambda: self._run(args, device, options), options)

    def _run(
        self, args: list[Any], device: int | None = None, options: _Options = _NO_OPTIONS
    ) -> list[torch.Tensor]:
        if _core.internal.is_profiling():
            outputs = _core.internal.profile_run(
                lambda: self._launch(args, device, options), self._fusion_id, args
            )
            return cast("list[torch.Tensor]", outputs)
        return self._launch(args, device, options)

    def _launch(self, args: list[Any], device: int | None, options: _Options) -> list[torch.Tensor]:
        if self._fusion.version() != self._version:
            raise _core.UserError(_EDITED)
        key, fusion = self._specialize(args, device, options)
        runtime = self._runtimes.get(key) or self._compile(key, fusion, args, device)
        self._most_recent = runtime
        if runtime.dumps_arguments:
            text = _core.internal.arguments_text(args)
            print(f"Arguments for fusion {self._fusion_id}:\n{text}", end="")
        if runtime.executor is None:
            return self._evaluate(key, runtime.fusion, args, device)
        bound = args if runtime.arguments is None else _bound(args, runtime.arguments)
        try:
            if device is None:
                return runtime.executor.run(bound)
            return runtime.executor.run(bound, compile_params=_params_for(device))
        except _core.UserNotImplementedError as error:  # for sizes that the kernel does not serve
            if _core.is_disabled("fallback"):
                raise
            _check_evaluation_serves(error)
            return self._evaluate(key, runtime.fusion, args, device)

    def _evaluate(
        self, key: _Key, fusion: Fusion, args: list[Any], device: int | None
    ) -> list[torch.Tensor]:
        args = flatten_inputs(args)
        if not _core.internal.is_profiling():
            return _evaluate(fusion, args, device)
        *_, number = key
        outputs = _core.internal.profile_evaluation(
            lambda: _evaluate(fusion, args, device), self._fusion_id, number, args
        )
        return cast("list[torch.Tensor]", outputs)

    def _specialize(
        self, args: list[Any], device: int | None, options: _Options
    ) -> tuple[_Key, Fusion]:
        """The key of a call, and the fusion that serves it."""
        is_bound_to_sizes = _core.is_disabled("kernel_reuse")
        sizes: tuple[Any, ...] = ()
        if is_bound_to_sizes:
            sizes = tuple(tuple(getattr(arg, "shape", ())) for arg in flatten_inputs(args))
        device_type = _device_type(args, device)
        if self._dynamic is None:
            return (device_type, options, sizes, 0), self._fusion
        number, fusion = self._dynamic.resolve(flatten_inputs(args))
        return (device_type, options, sizes, number), fusion

    def _compile(self, key: _Key, fusion: Fusion, args: list[Any], device: int | None) -> _Runtime:
        *_, number = key
        with self._lock:
            runtime = self._runtimes.get(key)
            if runtime is None:
                runtime = self._runtimes[key] = self._new_runtime(number, fusion, args, device)
            return runtime

    def _new_runtime(
        self, number: int, fusion: Fusion, args: list[Any], device: int | None
    ) -> _Runtime:
        _dump_definition(self._fusion, fusion)
        scheduled = fusion.clone()
        executor = _core.KernelExecutor(self._fusion_id, number)
        params = _core.CompileParams() if device is None else _params_for(device)
        try:
            if self._auto_schedule:
                _core.schedule.trivial(scheduled)
            executor.compile(scheduled, args, compile_params=params)
        except _core.UserError as error:
            if not self._lacks_kernel(error, scheduled):
                raise
            runtime = None
            if not isinstance(error, _core.CompilerError):
                runtime = self._optimized_runtime(number, fusion, args, params)
            if runtime is not None:
                return runtime
            if _core.is_disabled("fallback"):
                raise
            _check_evaluation_serves(error)
            return _Runtime(fusion, scheduled, None)
        return _Runtime(fusion, scheduled, executor)

    def _optimized_runtime(
        self, number: int, fusion: Fusion, args: list[Any], params: _core.CompileParams
    ) -> _Runtime | None:
        """A kernel of what passes make of a definition that has none; None: it has none either."""
        executor = _core.KernelExecutor(self._fusion_id, number)
        try:
            optimized = fusion.try_optimize() if self._auto_schedule else None
            if not isinstance(optimized, _core.OptimizedFusion):
                return None
            if _core.equal_up_to_numbering(fusion, optimized):
                return None  # the schedule would be refused again
            arguments = optimized.arguments()
            _core.schedule.trivial(optimized)
            executor.compile(optimized, _bound(args, arguments), compile_params=params)
        except _core.UserError:
            return None
        is_repeated = len(arguments) > len(fusion.inputs())
        return _Runtime(fusion, optimized, executor, arguments if is_repeated else None)

    def _lacks_kernel(self, error: _core.UserError, scheduled: _core.Fusion) -> bool:
        """Whether an error of compiling says that there is no kernel, not that inputs are wrong.

        The automatic schedule is ours: where it cannot be lowered, the user did nothing wrong.
        """
        if isinstance(error, _core.UserNotImplementedError):
            return True
        if not self._auto_schedule:
            return False
        try:
            scheduled.lower()
        except _core.UserError:
            return True
        return False

    # -- looking into --

    def is_compiled(self, inputs: Iterable[Any], device: int = 0) -> bool:
        """Whether a run with these inputs would compile nothing; not if they do not fit."""
        try:
            return self._find(inputs) is not None
        except _core.UserError:
            return False

    def get_cuda_kernel(
        self, inputs: Iterable[Any], intrinsic_code: bool = False, device: int = 0
    ) -> str:
        """Generated source of the kernel for these inputs; empty where there is none.

        Parameters
        ----------
        inputs : iterable
            As in `execute`.
        intrinsic_code : bool
            With the support code it uses.
        device : int
            CUDA device, for fusions without tensor inputs.

        Raises
        ------
        UserError
            ``Fusion is not compiled!`` for these inputs.
        """
        return self._compiled(inputs).source(_core.internal.flag(intrinsic_code))

    def get_scheduled_ir(
        self, inputs: Iterable[Any], tensor_transforms: bool = False, device: int = 0
    ) -> str:
        """The scheduled fusion as text, with the transforms of every tensor if asked for."""
        return self._compiled(inputs).scheduled_text(_core.internal.flag(tensor_transforms))

    def get_most_recent_scheduled_ir(self, tensor_transforms: bool = False) -> str:
        """As `get_scheduled_ir`, for the last run."""
        if self._most_recent is None:
            raise _core.UserError("Invalid fusion definition! It was not executed yet.")
        return self._most_recent.scheduled_text(_core.internal.flag(tensor_transforms))

    def get_output_shardings(self) -> list[Any]:
        """How outputs are distributed over devices; empty, since no tensor has a device mesh."""
        return []

    def _find(self, inputs: Iterable[Any]) -> _Runtime | None:
        """The runtime for these inputs, preferably one without options of a call."""
        args = flatten_inputs(inputs)
        _core.internal.check_inputs(self._fusion, args)
        wanted, _ = self._specialize(args, None, _NO_OPTIONS)
        if wanted in self._runtimes:
            return self._runtimes[wanted]
        # Scalars alone leave open where a call ran.
        wanted_type, _, wanted_sizes, wanted_number = wanted
        types = {wanted_type} if _has_tensors(args) else {"cpu", "cuda"}
        for (device_type, _, sizes, number), runtime in list(self._runtimes.items()):
            if number != wanted_number:
                continue
            if device_type in types and sizes in ((), wanted_sizes):
                return runtime
        return None

    def _compiled(self, inputs: Iterable[Any]) -> _Runtime:
        runtime = self._find(inputs)
        if runtime is None:
            raise _core.UserError("Fusion is not compiled! Execute it with inputs like these.")
        return runtime


def _bound(args: list[Any], arguments: list[int]) -> list[Any]:
    """What each input of an optimized fusion is bound to."""
    flat = flatten_inputs(args)
    return [flat[i] for i in arguments]


_MAX_DEVICE_INDEX = 255
_DLPACK_CUDA = (2, 13)  # device memory, managed memory
_SEQUENCES = (list, tuple)


_EDITED = (
    "The definition was executed, and cannot be changed any more\n"
    "  expected: the fusion as it was given to the executor cache\n"
    "  found:    edits of the definition or of its schedule since then\n"
    "  fix:      make a new definition; manual_execute() of one that was never executed follows "
    "edits"
)


def _check_device(device: int, args: list[Any]) -> None:
    """That a call which names a CUDA device can run there."""
    _check_device_index(device)
    _core.check_cuda_device(device)
    for i, arg in enumerate(flatten_inputs(args)):
        if getattr(arg, "ndim", 0) == 0:
            continue  # a host tensor without dimensions may stand beside device tensors
        kind = _kind_of(arg)
        index = arg.__dlpack_device__()[1] if kind == "cuda" else 0
        if kind != "cuda" or index != device:
            found = f"cuda:{index}" if kind == "cuda" else kind
            raise _core.UserError(
                f"Expected input {i} on device cuda:{device}, which the call names, but got a "
                f"tensor on {found}\n"
                "  fix:      move the tensor, or leave out device: the inputs decide where a "
                "fusion runs"
            )


def _check_device_index(device: int) -> None:
    if not isinstance(device, int) or device < 0:
        raise _core.UserValueError(
            f"Expected the index of a CUDA device, an int from 0 on, but got {device!r}"
        )
    if device > _MAX_DEVICE_INDEX:
        raise _core.UserError(f"Maximum device index is {_MAX_DEVICE_INDEX}")


def _has_tensors(args: list[Any]) -> bool:
    return any(getattr(arg, "ndim", 0) > 0 for arg in args)


def _device_type(args: list[Any], device: int | None) -> str:
    """ "cuda" or "cpu", for tensors of any framework; scalars alone decide nothing."""
    zero_dim = None
    for arg in args:
        if isinstance(arg, _SEQUENCES):
            arg = next((item for item in arg if hasattr(item, "ndim")), None)
        rank = getattr(arg, "ndim", None)
        if rank is None:
            continue
        kind = _kind_of(arg)
        if rank > 0:
            return kind
        # A 0-dim host tensor may stand beside device tensors.
        zero_dim = kind if zero_dim != "cuda" else zero_dim
    return "cuda" if device is not None else zero_dim or "cpu"


def _kind_of(array: Any) -> str:
    # Tensors of PyTorch say these two without making a device and its name.
    if getattr(array, "is_cuda", None) is True:
        return "cuda"
    if getattr(array, "is_cpu", None) is True:
        return "cpu"
    kind: str | None = getattr(getattr(array, "device", None), "type", None)
    if kind is not None:
        return kind
    is_tensor = hasattr(array, "__dlpack_device__")  # NumPy's scalars have a rank, and no memory
    return "cuda" if is_tensor and array.__dlpack_device__()[0] in _DLPACK_CUDA else "cpu"


def _params_for(device: int) -> _core.CompileParams:
    return _core.CompileParams(device=device)


def _check_evaluation_serves(error: _core.UserError) -> None:
    """Before a fusion that cannot have its kernel is evaluated: say what is out of the ordinary.

    A kernel that the compiler owes is a warning; without PyTorch the error stays one.
    """
    if not has_pytorch():
        raise _core.UserNotImplementedError(
            f"{error}\nEvaluating the fusion instead needs PyTorch, which is not installed: "
            f"{HOW_TO_INSTALL}."
        ) from error
    if isinstance(error, _core.CompilerError):
        warnings.warn(
            f"The fusion is evaluated through PyTorch instead of running as a kernel: {error}",
            stacklevel=2,
        )


def _with_options(run: Callable[[], list[torch.Tensor]], options: _Options) -> list[torch.Tensor]:
    enable, disable = options
    return cast("list[torch.Tensor]", _core.call_with_options(run, enable, disable))


def _place(device: int | None) -> torch.device:
    """Where a fusion without tensor inputs runs."""
    import torch

    if device is None:
        return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    return torch.device("cuda", device)


def _evaluate(fusion: Fusion, args: list[Any], device: int | None) -> list[torch.Tensor]:
    _core.internal.check_meeting_sizes(fusion, args)
    from .evaluator.stored import stored_outputs

    place = None if any(map(is_tensor, args)) else _place(device)
    values = Evaluator(fusion, args, device=place).outputs()
    outputs = stored_outputs(fusion.outputs(), values, args)  # updates in place come later
    position = {val: i for i, val in enumerate(fusion.inputs())}
    visible: list[Any] = []
    for val, value in zip(fusion.outputs(), outputs, strict=True):
        source, is_hidden = fusion.alias_of(val) or (None, False)
        if source is not None:
            target = args[position[source]]
            _write_into(target, value)
            value = target
        elif val in position:
            value = args[position[val]]
        if not is_hidden:
            visible.append(value)
    return _core.internal.to_framework_of(args, visible)


def _write_into(target: Any, value: torch.Tensor) -> None:
    import torch

    destination = target if isinstance(target, torch.Tensor) else torch.from_dlpack(target)
    with torch.inference_mode():  # as a kernel writes: into parameters, too
        destination.copy_(value)


def _dump_definition(definition: Fusion, concretized: Fusion) -> None:
    """What NVFUSER_DUMP asks for of a fusion that nobody scheduled yet."""
    if _core.is_dumped("python_definition"):
        print(_core.translate_fusion(definition), flush=True)
    # No pass stands behind concretizing: the text of the later stages is the same.
    for stage in ("original", "concretized", "preseg", "presched"):
        fusion = definition if stage == "original" else concretized
        if _core.is_dumped(f"fusion_ir_{stage}"):
            print(f"Fusion IR ({stage}):\n{fusion.print_math()}", flush=True)

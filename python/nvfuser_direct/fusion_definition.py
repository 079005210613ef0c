"""FusionDefinition: build, run and validate one fusion."""

from __future__ import annotations

import copy
import operator
from typing import TYPE_CHECKING, Any, ClassVar, overload

from . import _core
from ._pytorch import require_pytorch
from .executor_cache import FusionExecutorCache
from .opaque import opaque, register
from .pytorch_utils import describe_tensor
from .random_state import GeneratorStates
from .repro import fake_inputs, repro_script_for
from .validation import compare_with_references, copies, validate_with_auto_inferred_outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    import torch

    from ._core import DataType, Fusion, TensorView, Val
    from ._core.module_types import OpsModule, ScheduleModule
    from .tuning import TuningReport


@opaque
class FusionDefinition:
    """Context manager that makes a fusion active while it is defined.

    >>> with FusionDefinition() as fd:
    ...     a = fd.define_tensor([-1, -1], contiguity=True)
    ...     fd.add_output(fd.ops.relu(a))
    >>> (out,) = fd.execute([torch.randn(8, 8)])

    Attributes
    ----------
    ops, sched : module
        The submodules ``ops`` and ``schedule``.
    fec : FusionExecutorCache
        Made by the first `execute`; does not exist before.
    ke : KernelExecutor
        Made by the first `manual_execute`; does not exist before.
    fake_inputs : list
        Made by `execute` with ``save_repro_inputs``.
    """

    # A checker of types knows nothing of a module that it sees through an object.
    if TYPE_CHECKING:
        ops: ClassVar[OpsModule]
        sched: ClassVar[ScheduleModule]
    else:
        ops = _core.ops
        sched = _core.schedule

    fec: FusionExecutorCache
    ke: _core.KernelExecutor
    fake_inputs: list[Any]

    def __init__(self) -> None:
        register()
        self._fusion: Fusion | None = None
        self._guards: list[_core.FusionGuard] = []  # one for each `with` that is open
        self._compiled_version: int | None = None  # of the fusion that `ke` compiled
        self._run: Callable[[Iterable[Any]], list[torch.Tensor]] | None = None  # of `fec`

    def __enter__(self) -> FusionDefinition:
        if "fec" in self.__dict__:
            raise _core.UserError(
                "The definition was executed, and cannot be changed any more: make a new one."
            )
        if self._fusion is None:
            self._fusion = _core.Fusion()
        self._guards.append(_core.FusionGuard(self._fusion))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._guards:
            raise _core.UserError("The definition is not open: use `with fd: ...`")
        self._guards.pop()
        if error is not None and not self._guards:
            _add_note(error, f"The definition so far:\n{self._text_so_far()}")

    def __repr__(self) -> str:
        fusion = self._maybe_fusion()
        return "FusionDefinition()" if fusion is None else _core.translate_fusion(fusion)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles keep the fusion, and no executors. A copy is not open."""
        made_here = ("_guards", "_compiled_version", "_run", "fec", "ke")
        kept = {name: value for name, value in self.__dict__.items() if name not in made_here}
        return kept | {"_fusion": self._maybe_fusion()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        FusionDefinition.__init__(self)
        self.__dict__.update(state)

    def __copy__(self) -> FusionDefinition:
        """A definition of its own: two of one fusion would edit it under each other's feet."""
        return copy.deepcopy(self)

    def _text_so_far(self) -> str:
        try:
            return repr(self).rstrip()
        except Exception:  # what no text in Python says still has one of its own
            return self.fusion.print_math().rstrip()

    def _maybe_fusion(self) -> Fusion | None:
        fec = self.__dict__.get("fec")
        return self._fusion if fec is None else fec.fusion()

    @property
    def fusion(self) -> Fusion:
        """The fusion: the executor cache's once there is one, else the local one."""
        fusion = self._maybe_fusion()
        if fusion is None:
            raise NotImplementedError(_NO_FUSION)
        return fusion

    # -- definition --

    @overload
    def define_tensor(
        self,
        shape: Sequence[int],
        contiguity: Sequence[bool | None],
        dtype: DataType = ...,
        is_cpu: bool = False,
        stride_order: Sequence[int] = ...,
    ) -> TensorView: ...
    @overload
    def define_tensor(
        self,
        shape: Sequence[int],
        contiguity: bool = False,
        dtype: DataType = ...,
        is_cpu: bool = False,
        stride_order: Sequence[int] = ...,
    ) -> TensorView: ...
    @overload
    def define_tensor(
        self,
        sizes: Sequence[int],
        strides: Sequence[int],
        dtype: DataType = ...,
        static_sizes: bool = False,
        is_cpu: bool = False,
    ) -> TensorView: ...
    @overload
    def define_tensor(
        self, ndims: int, dtype: DataType = ..., is_cpu: bool = False
    ) -> TensorView: ...
    @overload
    def define_tensor(
        self,
        symbolic_sizes: Sequence[int],
        contiguous: Sequence[bool | None],
        dtype: DataType = ...,
        is_cpu: bool = False,
    ) -> TensorView: ...
    @overload
    def define_tensor(
        self,
        symbolic_sizes: Sequence[int],
        contiguity: Sequence[bool | None],
        dtype: DataType = ...,
        is_cpu: bool = False,
    ) -> TensorView: ...
    def define_tensor(self, *args: Any, **kwargs: Any) -> TensorView:
        """Make a tensor and register it as an input.

        Takes what ``nvfuser_direct.define_tensor`` takes, whose documentation says more.

        Parameters
        ----------
        shape : list[int]
            Size per dimension: -1 symbolic, 1 broadcast, 0 or n > 1 constant.
        contiguity : bool, or list[bool or None]
            Per dimension in the order of memory: whether it is packed against the next inner one;
            None for a broadcast.
        dtype : DataType
            Type of the elements; Float if not given.
        is_cpu : bool
            A 0-dim tensor on the host, passed by value.
        stride_order : list[int]
            Rank of every dimension's stride, 0 varies fastest.
        sizes, strides : list[int]
            Those of a tensor that exists, instead of a shape; they decide contiguity and order.
        static_sizes : bool
            Keep `sizes` as constants.
        ndims, symbolic_sizes, contiguous : int, list[int], list[bool]
            Forms of older programs.
        """
        tensor = _core.define_tensor(*args, **kwargs)
        self.fusion.add_input(tensor)
        return tensor

    @overload
    def define_scalar(self, dtype: DataType = ...) -> Val: ...
    @overload
    def define_scalar(self, value: complex | None, dtype: DataType | None = None) -> Val: ...
    def define_scalar(self, *args: Any, **kwargs: Any) -> Val:
        """Make a constant, or a symbolic scalar that is registered as an input.

        Parameters
        ----------
        value : bool, int, float, complex or None
            The constant. None makes a symbolic scalar, as `dtype` alone does.
        dtype : DataType, optional
            Type of the scalar: for a constant that of its Python class, else Double.
        """
        scalar = _core.define_scalar(*args, **kwargs)
        if scalar.is_symbolic():
            self.fusion.add_input(scalar)
        return scalar

    def define_vector(self, size: int) -> list[Val]:
        """Make symbolic Int scalars, each an input.

        Parameters
        ----------
        size : int
            How many, at least 0.

        Raises
        ------
        ValueError
            If `size` is negative.
        """
        if operator.index(size) < 0:
            raise ValueError(f"define_vector: expected a size of at least 0, but got {size}")
        return [self.define_scalar(_core.DataType.Int) for _ in range(size)]

    def from_pytorch(self, tensor: torch.Tensor, static_sizes: bool = False) -> TensorView:
        """Make an input like a tensor that exists.

        Parameters
        ----------
        tensor : torch.Tensor
            A CUDA or CPU tensor; a 0-dim CPU tensor becomes a scalar passed by value.
        static_sizes : bool
            Keep the sizes as constants.
        """
        return self.define_tensor(**describe_tensor(tensor), static_sizes=static_sizes)

    def add_output(self, output: Val, alias_input: Val | None = None) -> None:
        """Register an output, or write it into the memory of an input."""
        if alias_input is None:
            self.fusion.add_output(output)
        else:
            self.fusion.add_output(output, alias_input)

    def validate_definition(self) -> tuple[bool, str | None]:
        """Whether the fusion can run, and if not, why."""
        fusion = self._maybe_fusion()
        if fusion is None:
            return False, _NO_FUSION
        if not fusion.outputs() or not fusion.vals():
            return False, "Fusion is empty!"
        return True, None

    # -- execution --

    def execute(
        self,
        inputs: Iterable[Any],
        *,
        device: int | str | torch.device | None = None,
        save_repro_inputs: bool = False,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> list[torch.Tensor]:
        """Run with automatic scheduling; compiles when needed.

        Outputs never require grad, whatever the inputs do: a fusion has no derivative. Give it one
        with a ``torch.autograd.Function`` that runs a second fusion (docs/guide.md).

        Parameters
        ----------
        inputs : iterable
            Tensors and numbers in the order of ``fusion.inputs()``. One level of lists and tuples
            is opened.
        device : int, str or torch.device, optional
            CUDA device; taken from the inputs if not given. Tensor inputs have to be on it.
        save_repro_inputs : bool
            Keep shapes, strides, types and devices of the inputs (no data) in ``fake_inputs``.

        Returns
        -------
        list[torch.Tensor]
            The visible outputs.
        """
        if (
            self._run is not None
            and device is None
            and save_repro_inputs is False
            and not _enable_options
            and not _disable_options
        ):
            return self._run(inputs)  # most calls; from Python 3.12 on they do not come by here
        fec = self.__dict__.get("fec")
        if fec is None:
            fec = self._make_executor_cache()
        if save_repro_inputs is not False and _core.internal.flag(save_repro_inputs):
            inputs = _core.internal.input_list(inputs)
            self.fake_inputs = fake_inputs(inputs)
        if device is None and not _enable_options and not _disable_options:
            return fec.run(inputs)
        return fec.execute(
            inputs,
            device=None if device is None else self._get_device_index(device),
            _enable_options=_enable_options,
            _disable_options=_disable_options,
        )

    def tune(
        self, inputs: Iterable[Any], *, seconds: float = 5.0, keep: bool = True
    ) -> TuningReport:
        """Find the fastest schedule for inputs like these by measuring.

        Each segment that a scheduler took is tried with other schedulers and with other decisions,
        compiled and run on these inputs. The fastest takes the place of the automatic one, for all
        runs with the same decisions, and is kept on disk beside the kernels: other processes use it
        on devices of the same name, with the same driver, compiler and build of this library
        (``KernelCache.tuned()``). Nothing is tuned unless it is asked for.

        Parameters
        ----------
        inputs : iterable
            As in `execute`. Those that the fusion writes into are copied.
        seconds : float
            How long to look; the last candidate of each segment may take longer.
        keep : bool
            Whether to keep what is found for other processes.

        Returns
        -------
        TuningReport
            All candidates with their times; printed as a table. ``report.schedules`` are the
            schedules as Python, ``report.save(folder)`` writes them for ``NVFUSER_SCHEDULES``.

        Raises
        ------
        UserError
            For inputs that do not fit, or if `seconds` is negative.

        Examples
        --------
        >>> print(fd.tune([x, weight], seconds=10))
        """
        from .tuning import tune

        if seconds < 0:
            raise _core.UserError(
                "Tuning takes a time from 0 on\n"
                "  expected: seconds, at least 0\n"
                f"  found:    seconds = {seconds}\n"
                "  fix:      leave it out: 5 seconds"
            )
        fec = self.__dict__.get("fec")
        return tune(fec or self._make_executor_cache(), list(inputs), seconds, keep=keep)

    def _make_executor_cache(self) -> FusionExecutorCache:
        is_valid, message = self.validate_definition()
        if not is_valid:
            raise NotImplementedError(message)
        if "ke" in self.__dict__:
            raise AssertionError(
                "KernelExecutor already exists! Use manual_execute() to execute the fusion.\n"
                "  fix:      manual_execute() follows edits of the definition and of its schedule; "
                "for automatic scheduling define the fusion again"
            )
        self.fec = FusionExecutorCache(self.fusion)
        self._run = self.fec.run
        return self.fec

    def manual_execute(
        self, inputs: Iterable[Any], heuristic_params: Any = None
    ) -> list[torch.Tensor]:
        """Compile the scheduled fusion as one kernel, then run it.

        The kernel is kept until the definition or its schedule is edited: the next call compiles
        the edited fusion.

        Parameters
        ----------
        inputs : iterable
            Tensors and numbers in the order of ``fusion.inputs()``.
        heuristic_params : HeuristicParams, optional
            Its launch and compile parameters and scheduler type are used if given.
        """
        inputs = _core.internal.input_list(inputs)
        ke = self.__dict__.get("ke")
        if heuristic_params is not None:
            _check_heuristic_params(heuristic_params)
        fusion = self._fusion
        if ke is None or fusion is None or fusion.version() != self._compiled_version:
            ke = self._compile_by_hand(inputs, heuristic_params)
        if heuristic_params is None:
            return ke.run(inputs)
        return ke.run(inputs, heuristic_params.lparams, heuristic_params.cparams)

    def _compile_by_hand(self, inputs: list[Any], params: Any) -> _core.KernelExecutor:
        """The executor, with a kernel of the fusion as it is now."""
        if "fec" in self.__dict__:
            raise AssertionError(
                "FusionExecutorCache already exists! Use execute() to execute the fusion.\n"
                "  fix:      to schedule it by hand, define the fusion again, or schedule "
                "fd.fusion.clone() and run that with a KernelExecutor"
            )
        version = self.fusion.version()
        ke = self.__dict__.get("ke") or _core.KernelExecutor()
        if params is None:
            ke.compile(self.fusion, inputs)
        else:
            ke.compile(self.fusion, inputs, params.lparams, params.cparams, params.scheduler_type)
        self.ke, self._compiled_version = ke, version
        return ke

    # -- reproducing --

    def repro_script_for(self, inputs: Iterable[Any] | None = None, schedule: bool = False) -> str:
        """A script that defines this fusion and runs it with inputs like these.

        Parameters
        ----------
        inputs : iterable, optional
            Tensors and numbers; without them the script ends with the definition.
        schedule : bool
            Whether the script schedules the fusion as it is scheduled now, and runs that with
            `manual_execute`.
        """
        return repro_script_for(self.fusion, inputs, schedule)

    def last_repro_script(self) -> str:
        """`repro_script_for` the inputs that the last `execute` saved."""
        fake_inputs = self.__dict__.get("fake_inputs")
        if fake_inputs is None:
            raise AssertionError(
                "fd.last_repro_script() cannot provide a repro because "
                "fd.execute(inputs, save_repro_inputs=True) was not executed!"
            )
        return self.repro_script_for(fake_inputs)

    # -- validation --

    def validate(
        self,
        inputs: Iterable[Any],
        reference_outputs: Sequence[torch.Tensor] | None = None,
        device: int | str | torch.device | None = None,
        **kwargs: Any,
    ) -> list[torch.Tensor]:
        """`execute` and compare with references, or with an evaluation of the fusion.

        Parameters
        ----------
        inputs : iterable
            As for `execute`.
        reference_outputs : sequence of torch.Tensor, optional
            What the visible outputs should be; tolerances follow from dtypes and reduction sizes.
        device : int, str or torch.device, optional
            As for `execute`.
        **kwargs
            Further arguments of `execute`.

        Raises
        ------
        AssertionError
            If outputs differ from the references in number, shape or value.
        RuntimeError
            If they differ from the evaluation.

        Returns
        -------
        list[torch.Tensor]
            The outputs.
        """
        return self._validated(
            lambda args: self.execute(args, device=device, **kwargs), inputs, reference_outputs
        )

    def manual_validate(
        self, inputs: Iterable[Any], reference_outputs: Sequence[torch.Tensor] | None = None
    ) -> list[torch.Tensor]:
        """`manual_execute` and compare, as `validate` does."""
        return self._validated(self.manual_execute, inputs, reference_outputs)

    def _validated(
        self,
        run: Callable[[list[Any]], list[torch.Tensor]],
        inputs: Iterable[Any],
        reference_outputs: Sequence[torch.Tensor] | None,
    ) -> list[torch.Tensor]:
        inputs = _core.internal.input_list(inputs)
        # Outputs may be written into inputs: references are made from what these were before.
        before = copies(inputs) if self._writes_inputs() else inputs
        generators = GeneratorStates()
        outputs = run(inputs)
        if reference_outputs is None:
            with generators.replayed():  # random tensors without seed are the same again
                validate_with_auto_inferred_outputs(self.fusion, outputs, before)
        else:
            compare_with_references(self.fusion, outputs, reference_outputs, before)
        return outputs

    def _writes_inputs(self) -> bool:
        fusion = self._maybe_fusion()
        return fusion is not None and any(fusion.alias_of(out) for out in fusion.outputs())

    def _get_device_index(self, device: int | str | torch.device | None) -> int | None:
        if device is None or isinstance(device, int):
            return device
        require_pytorch("Naming a device by anything but its index")
        import torch

        try:
            wanted = torch.device(device)
        except (RuntimeError, TypeError) as error:
            raise _core.UserValueError(
                "If device argument is passed it must be a CUDA device, as torch.device takes it, "
                f"or its index, but got {device!r}"
            ) from error
        if wanted.type != "cuda":
            raise AssertionError("If device argument is passed it must be a CUDA device")
        if wanted.index is not None:
            return int(wanted.index)
        return torch.cuda.current_device() if torch.cuda.is_available() else 0


def _add_note(error: BaseException, note: str) -> None:
    add_note = getattr(error, "add_note", None)
    if add_note is not None:
        add_note(note)
    else:  # Python 3.10: where newer ones, and what prints tracebacks for older ones, look
        error.__dict__.setdefault("__notes__", []).append(note)


def _check_heuristic_params(params: object) -> None:
    for name in ("lparams", "cparams", "scheduler_type"):
        if not hasattr(params, name):
            raise _core.UserTypeError(
                f"Expected heuristic_params with an attribute {name}, but got "
                f"{type(params).__name__}"
            )


_NO_FUSION = "Fusion does not exist! Use `with FusionDefinition() as fd: ...` to define a fusion."


_core.internal.add_shortcut(FusionDefinition.execute)

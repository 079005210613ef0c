"""FusionExecutorCache: run a fusion that nobody scheduled.

The whole fusion becomes one kernel per kind of device, scheduled the simplest way that is always
right. What the compiler has no kernel for is evaluated through PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from . import _core
from .evaluator import Evaluator, flatten_inputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import torch

    from ._core import Fusion


class FusionExecutorCache:
    """Compiles a fusion when it first meets a kind of device, then runs it.

    Parameters
    ----------
    fusion : Fusion
        The definition; it is copied before it is scheduled.
    fusion_id : int
        Part of the names of kernels.
    auto_schedule : bool
        Whether to schedule the fusion; if not it is compiled as it is.
    """

    def __init__(self, fusion: Fusion, fusion_id: int = 0, auto_schedule: bool = True) -> None:
        self._fusion = fusion
        self._fusion_id = fusion_id
        self._auto_schedule = auto_schedule
        # By device type; None where the fusion is evaluated.
        self._executors: dict[str, tuple[Fusion, _core.KernelExecutor] | None] = {}
        self._most_recent: str | None = None

    def fusion(self) -> Fusion:
        """The definition."""
        return self._fusion

    def execute(
        self,
        inputs: Iterable[Any],
        *,
        device: int | None = None,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> list[torch.Tensor]:
        """Run, compiling when needed; returns the visible outputs."""
        args = flatten_inputs(inputs)
        if device is not None and device > 255:
            raise _core.UserError("Maximum device index is 255")
        if _enable_options or _disable_options:
            outputs = _core.call_with_options(
                lambda: self._run(args, device), list(_enable_options), list(_disable_options)
            )
            return cast("list[torch.Tensor]", outputs)
        return self._run(args, device)

    def _run(self, args: list[Any], device: int | None) -> list[torch.Tensor]:
        kind = _device_type(args, device)
        if kind not in self._executors:
            self._executors[kind] = self._compile(args)
        self._most_recent = kind
        entry = self._executors[kind]
        return self._evaluate(args) if entry is None else entry[1].run(args)

    def is_compiled(self, inputs: Iterable[Any], device: int = 0) -> bool:
        """Whether a run with these inputs would compile nothing."""
        return _device_type(flatten_inputs(inputs), None) in self._executors

    def get_cuda_kernel(
        self, inputs: Iterable[Any], intrinsic_code: bool = False, device: int = 0
    ) -> str:
        """Generated source of the kernel for these inputs."""
        executor = self._entry(inputs)[1]
        if intrinsic_code:
            return executor.kernel_source()
        return executor.kernel().print_source(executor.kernel_name())

    def get_scheduled_ir(
        self, inputs: Iterable[Any], tensor_transforms: bool = False, device: int = 0
    ) -> str:
        """The scheduled fusion as text, with the transforms of every tensor if asked for."""
        return _scheduled_text(self._entry(inputs)[0], tensor_transforms)

    def get_most_recent_scheduled_ir(self, tensor_transforms: bool = False) -> str:
        """As `get_scheduled_ir`, for the last run."""
        entry = self._executors.get(self._most_recent or "")
        if entry is None:
            raise _core.UserError("Invalid fusion definition!")
        return _scheduled_text(entry[0], tensor_transforms)

    def _entry(self, inputs: Iterable[Any]) -> tuple[Fusion, _core.KernelExecutor]:
        entry = self._executors.get(_device_type(flatten_inputs(inputs), None))
        if entry is None:
            raise _core.UserError("Fusion is not compiled!")
        return entry

    def _compile(self, args: list[Any]) -> tuple[Fusion, _core.KernelExecutor] | None:
        scheduled = self._fusion.clone()
        if self._auto_schedule:
            _core.schedule.trivial(scheduled)
        executor = _core.KernelExecutor(self._fusion_id)
        try:
            executor.compile(scheduled, args)
        except _core.UserNotImplementedError:
            return None
        return scheduled, executor

    def _evaluate(self, args: list[Any]) -> list[torch.Tensor]:
        outputs = Evaluator(self._fusion, args).outputs()
        position = {val: i for i, val in enumerate(self._fusion.inputs())}
        visible = []
        for val, value in zip(self._fusion.outputs(), outputs, strict=True):
            source, is_hidden = self._fusion.alias_of(val) or (None, False)
            if source is not None:
                target = args[position[source]]
                value = target.copy_(value)
            if not is_hidden:
                visible.append(value)
        return visible


_DLPACK_CUDA = 2


def _device_type(args: list[Any], device: int | None) -> str:
    """ "cuda" or "cpu", for tensors of any framework; scalars alone decide nothing."""
    for arg in args:
        if getattr(arg, "ndim", 0) == 0:
            continue
        kind = getattr(arg.device, "type", None)
        if kind is None:
            kind = "cuda" if arg.__dlpack_device__()[0] == _DLPACK_CUDA else "cpu"
        return kind
    return "cuda" if device is not None else "cpu"


def _scheduled_text(fusion: Fusion, tensor_transforms: bool) -> str:
    text = fusion.print_math().replace("%kernel_math", "%kernel")
    if not tensor_transforms:
        return text
    head, end = text.rsplit("} // %kernel", 1)
    return f"{head}\n{fusion.print_transforms()}}} // %kernel{end}"

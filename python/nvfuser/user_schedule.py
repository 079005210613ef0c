"""A schedule that a user wrote for one entry and one signature of inputs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from nvfuser_direct import KernelExecutor, SchedulerType, _core
from nvfuser_direct.evaluator import flatten_inputs
from nvfuser_direct.pytorch_utils import as_torch, is_tensor

from .errors import user_error

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch

    from nvfuser_direct import Fusion, HeuristicParams

_MOST_ALIGNMENT = 16  # bytes: no access is wider


class UserSchedule:
    """A scheduled copy of the IR, and its kernel once it ran.

    Attributes
    ----------
    fusion : Fusion
        The copy.
    inputs : list
        Those that it was set up for, without data once it is finished.
    params : HeuristicParams or None
        What an automatic scheduler decided, if one was applied.
    """

    def __init__(self, fusion: Fusion, inputs: list[Any]) -> None:
        self.fusion = fusion
        self.inputs = inputs
        self.params: HeuristicParams | None = None
        self.scheduler = SchedulerType.none
        self._lock = threading.Lock()
        self.executor: KernelExecutor | None = None

    def run(self, inputs: list[Any]) -> list[torch.Tensor]:
        """Compile at the first call, and launch."""
        executor = self.executor
        if executor is None:
            with self._lock:
                executor = self.executor
                if executor is None:
                    executor = self._compiled(inputs)
                    self.executor = executor
        params = self.params
        if params is None:
            return executor.run(inputs)
        # The launch follows from the schedule. The params say what it was before they were edited.
        return executor.run(inputs, None, params.cparams)

    def _compiled(self, inputs: list[Any]) -> KernelExecutor:
        executor = KernelExecutor()
        params = self.params
        if params is None:
            executor.compile(self.fusion, inputs)
        else:
            executor.compile(self.fusion, inputs, None, params.cparams, self.scheduler)
        return executor

    def kernel_source(self, intrinsic_code: bool = False) -> str:
        """The source of its kernel, with everything it includes if asked for."""
        if self.executor is None:
            raise user_error("Fusion is not compiled!", fix="execute it first")
        if intrinsic_code:
            return self.executor.kernel_source()
        return self.executor.kernel().print_source(self.executor.kernel_name())


def signature_of(fusion: Fusion, inputs: Iterable[Any]) -> tuple[Any, ...]:
    """The key that a user schedule is found by: devices, sizes, strides and alignments.

    Numbers count where sizes are computed from them.
    """
    words: list[Any] = []
    numbers = set(_core.internal.size_inputs(fusion))
    for i, value in enumerate(flatten_inputs(inputs)):
        if is_tensor(value):
            tensor = as_torch(value)
            words.append(
                (
                    str(tensor.device),
                    tuple(tensor.shape),
                    tensor.stride(),
                    str(tensor.dtype),
                    _alignment(tensor),
                )
            )
        elif i in numbers:
            words.append(value)
    return tuple(words)


def _alignment(tensor: torch.Tensor) -> int:
    address = tensor.data_ptr()
    return min(address & -address, _MOST_ALIGNMENT) if address else _MOST_ALIGNMENT


def devices_of(inputs: Iterable[Any]) -> list[str]:
    """Where inputs lie, each device once. A 0-dim tensor may lie beside the others."""
    found = {
        str(as_torch(value).device)
        for value in flatten_inputs(inputs)
        if is_tensor(value) and as_torch(value).ndim > 0
    }
    return sorted(found)


def check_one_device(inputs: Iterable[Any]) -> None:
    """A schedule is for one device."""
    devices = devices_of(inputs)
    if len(devices) > 1:
        raise user_error(
            "Inputs are not all on the same device!",
            found=", ".join(devices),
            fix="move all inputs to one device",
        )

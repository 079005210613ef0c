"""Several devices: the documented names, which say why they cannot be used yet.

They can be imported on every machine, so that a program may choose at run time.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, NoReturn

from . import _core
from .not_yet import DEVICES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from ._core import Fusion, ParallelType, TensorView
    from .fusion_definition import FusionDefinition


def _refuse(name: str) -> NoReturn:
    why, way_out = DEVICES
    raise _core.UserNotImplementedError(
        f"{name} is not there yet\n  found:    {why}\n  fix:      {way_out}"
    )


class CommunicatorBackend(enum.Enum):
    """The library that carries data between devices."""

    nccl = 0
    ucc = 1
    cuda = 2

    def __repr__(self) -> str:
        return str(self)


# As enumerations of the core have it.
CommunicatorBackend.__entries = {  # type: ignore[attr-defined]
    member.name: (member, None) for member in CommunicatorBackend
}


class Communicator:
    """The processes that work together.

    Raises
    ------
    NotImplementedError
        A fusion runs on one device.
    """

    def __init__(self) -> None:
        _refuse("multidevice.Communicator")

    @staticmethod
    def instance() -> Communicator:
        """The one of this process."""
        _refuse("multidevice.Communicator")

    def size(self) -> int:
        """Number of devices."""
        _refuse("multidevice.Communicator")

    def rank(self) -> int:
        """Number of this device."""
        _refuse("multidevice.Communicator")

    def local_size(self) -> int:
        """Number of devices of this node."""
        _refuse("multidevice.Communicator")

    def local_rank(self) -> int:
        """Number of this device within its node."""
        _refuse("multidevice.Communicator")

    def barrier(self) -> None:
        """Wait for all."""
        _refuse("multidevice.Communicator")


class DeviceMesh:
    """Devices in a grid.

    Parameters
    ----------
    devices : torch.Tensor or sequence of int
        Their numbers.

    Raises
    ------
    NotImplementedError
        A fusion runs on one device.
    """

    def __init__(self, devices: torch.Tensor | Sequence[int]) -> None:
        _refuse("multidevice.DeviceMesh")

    @property
    def size(self) -> int:
        """Number of devices."""
        _refuse("multidevice.DeviceMesh")

    @property
    def shape(self) -> list[int]:
        """Devices along each dimension."""
        _refuse("multidevice.DeviceMesh")

    def shard_tensor(self, tensor: torch.Tensor, axis: int) -> torch.Tensor:
        """The part of `tensor` along `axis` that belongs to this device."""
        _refuse("multidevice.DeviceMesh")


class Sharding:
    """How an output is spread over devices."""

    def __init__(self) -> None:
        _refuse("multidevice.Sharding")

    @property
    def mesh(self) -> DeviceMesh:
        """The devices."""
        _refuse("multidevice.Sharding")

    def axis_sharded_on(self, parallel_type: ParallelType) -> int:
        """The axis that is spread over a dimension of the mesh."""
        _refuse("multidevice.Sharding")


class MultiDeviceExecutorParams:
    """How a fusion is run on several devices."""

    def __init__(self) -> None:
        _refuse("multidevice.MultiDeviceExecutorParams")


class MultiDeviceExecutor:
    """Runs a fusion on several devices."""

    def __init__(self, fusion: Fusion, params: MultiDeviceExecutorParams | None = None) -> None:
        _refuse("multidevice.MultiDeviceExecutor")

    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        """Run with `args`."""
        _refuse("multidevice.MultiDeviceExecutor")


def shard_tensor(tensor: torch.Tensor, tv: TensorView) -> torch.Tensor:
    """The part of `tensor` that belongs to this device, as `tv` is spread."""
    _refuse("multidevice.shard_tensor")


def execute_with_dtensors(
    fd: FusionDefinition, in_dtensors: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """Run a fusion on the local parts of DTensors."""
    _refuse("execute_with_dtensors")

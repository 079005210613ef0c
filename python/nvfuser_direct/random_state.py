"""Seeds of random tensors that are defined without: they come from PyTorch's generators."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._pytorch import require_pytorch
from .opaque import opaque

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import torch

# One counter of Philox makes four numbers of 32 bits; the CUDA generator counts numbers.
_NUMBERS_PER_OFFSET = 4
_lock = threading.Lock()  # reading a generator and moving it on are one step
#: The default generators of devices that have an index, by name: found once.
_generators: dict[str, torch.Generator] = {}


@opaque
def draw(device: str | torch.device, streams: int) -> tuple[int, int]:
    """The state that one run draws from; the generator moves on.

    On CUDA: the seed of the device's default generator and its offset, which grows by one counter
    for each random tensor. On the CPU, whose default generator has no offset: a seed that it
    draws, and offset 0. Either is repeated after ``torch.manual_seed``.

    Parameters
    ----------
    device : str or torch.device
        Device of the run.
    streams : int
        Number of random tensors without seed of their own.

    Returns
    -------
    seed, offset : int
        Of 64 bits; random tensor ``i`` takes offset ``offset + i``.

    Raises
    ------
    RuntimeError
        While a CUDA graph is captured: its replays would repeat the numbers.
    """
    generator = _generators.get(device) if isinstance(device, str) else None
    if generator is None:
        require_pytorch("Drawing the seed of a random tensor that has none")
    import torch

    if generator is None:
        where = torch.device(device)
        if where.type != "cuda":
            with _lock:
                seed = torch.empty((), dtype=torch.int64, device="cpu")
                seed.random_(generator=torch.default_generator)
                return int(seed), 0
        generator = _generator_of(where)
    with _lock:
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError(
                "A random tensor without seed cannot be captured in a CUDA graph: pass rng_seed "
                "and rng_offset as inputs of the fusion."
            )
        offset = int(generator.get_offset())
        generator.set_offset(offset + _NUMBERS_PER_OFFSET * streams)
        return int(generator.initial_seed()), offset // _NUMBERS_PER_OFFSET


@opaque
def generator_calls(device: str) -> tuple[Callable[..., object] | int, ...]:
    """The functions that a run calls to draw on a CUDA device, instead of `draw`, whose look-ups
    take longer than the launch of a kernel.

    Parameters
    ----------
    device : str
        With its index.

    Returns
    -------
    lock, unlock : callable
        Around reading the generator and moving it on.
    is_capturing : callable
        Whether a graph is captured on the current stream.
    seed, offset, set_offset : callable
        State of the device's default generator.
    numbers_per_offset : int
        How much one random tensor adds to the offset.
    """
    import torch

    generator = _generator_of(torch.device(device))
    return (
        _lock.acquire,
        _lock.release,
        torch._C._cuda_isCurrentStreamCapturing,
        generator.initial_seed,
        generator.get_offset,
        generator.set_offset,
        _NUMBERS_PER_OFFSET,
    )


def _generator_of(device: torch.device) -> torch.Generator:
    """The default generator of a GPU; that of the current one if the device has no index."""
    import torch

    torch.cuda.init()
    if device.index is None:
        return torch.cuda.default_generators[torch.cuda.current_device()]
    generator = torch.cuda.default_generators[device.index]
    return _generators.setdefault(str(device), generator)


class GeneratorStates:
    """The states of PyTorch's default generators when this was made."""

    def __init__(self) -> None:
        require_pytorch("Validating results")
        import torch

        self._cpu = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None

    def _restore(self) -> None:
        import torch

        torch.set_rng_state(self._cpu)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)

    @contextmanager
    def replayed(self) -> Iterator[None]:
        """Inside, generators go on from these states; afterwards from where they were before."""
        before = GeneratorStates()
        self._restore()
        try:
            yield
        finally:
            before._restore()

"""The answers to what the core asks the evaluator while a program runs (csrc/host/evaluator.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._pytorch import require_pytorch
from ..opaque import opaque
from ..pytorch_utils import as_torch, is_tensor
from .core import Evaluator, RandomNumbers

if TYPE_CHECKING:
    import torch

    from .. import _core


@opaque
def evaluate(
    fusion: _core.Fusion, inputs: list[Any], device: str, seed: int, offsets: list[int]
) -> list[torch.Tensor | None]:
    """Compute a fusion, and write what updates inputs into them.

    Parameters
    ----------
    fusion : Fusion
        What is evaluated.
    inputs : list
        Tensors of any framework, and numbers.
    device : str
        Where it runs, if there are no tensors.
    seed : int
        For random tensors that have none.
    offsets : list[int]
        That of each of them, by `stream_in_use`.

    Returns
    -------
    list[torch.Tensor or None]
        For each output, hidden ones included, a tensor in memory of its own; None for updates, for
        inputs, and for outputs that came before.
    """
    require_pytorch("Evaluating a fusion")
    import torch

    from .stored import stored_outputs

    place = None if any(map(is_tensor, inputs)) else torch.device(device)
    random = RandomNumbers(seed, offsets)
    values = Evaluator(fusion, inputs, device=place, random=random).outputs()
    stored = stored_outputs(fusion.outputs(), values, inputs)  # updates in place come later
    position = {val: i for i, val in enumerate(fusion.inputs())}
    results: list[torch.Tensor | None] = []
    seen: set[_core.Val] = set()
    for output, value in zip(fusion.outputs(), stored, strict=True):
        updated, _ = fusion.alias_of(output) or (None, False)
        if updated is not None:
            copy(value, inputs[position[updated]])
        is_new = updated is None and output not in position and output not in seen
        # A tensor that is conjugated or negated when it is read is no plain memory.
        results.append(value.detach().resolve_conj().resolve_neg() if is_new else None)
        seen.add(output)
    return results


@opaque
def copy(source: Any, target: Any) -> None:
    """Copy elements between tensors of one type and shape, with any strides."""
    import torch

    with torch.inference_mode():  # as a kernel writes: also into parameters
        as_torch(target).copy_(as_torch(source))

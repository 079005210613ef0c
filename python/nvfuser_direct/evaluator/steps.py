"""The answers to what the core asks the evaluator while a program runs (csrc/host/evaluator.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._pytorch import require_pytorch
from ..opaque import opaque
from ..pytorch_utils import as_torch, is_tensor
from .core import Evaluator, RandomNumbers
from .plan import EvaluationPlan

if TYPE_CHECKING:
    import torch

    from .. import _core


@opaque
class EvaluatedFusion:
    """A fusion that is evaluated again and again, and what was found out about it once.

    Parameters
    ----------
    fusion : Fusion
        The fusion that is evaluated. It must not change any more.
    """

    def __init__(self, fusion: _core.Fusion) -> None:
        require_pytorch("Evaluating a fusion")
        from .direct import find_direct_call

        self._plan = plan = EvaluationPlan(fusion)
        self._direct_call = find_direct_call(plan)
        self._updated = [
            None if alias is None or alias[0] is None else plan.input_positions[alias[0]]
            for alias in map(fusion.alias_of, plan.outputs)
        ]
        """By output: the position of the input that it updates."""
        seen: set[_core.Val] = set(plan.input_positions)
        self._is_new = []
        """By output: whether it is a tensor that no one had before."""
        for output, updated in zip(plan.outputs, self._updated, strict=True):
            self._is_new.append(updated is None and output not in seen)
            seen.add(output)

    def evaluate(
        self, inputs: list[Any], device: str, seed: int, offsets: list[int]
    ) -> list[torch.Tensor | None]:
        """Compute the fusion, and write what updates inputs into them.

        Parameters
        ----------
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
            For each output, hidden ones included, a tensor in memory of its own; None for updates,
            for inputs, and for outputs that came before.
        """
        if self._direct_call is not None:
            result = self._direct_call.try_on(inputs)
            if result is not None:
                return [result]
        import torch

        from .stored import plain, stored_outputs

        plan = self._plan
        place = None if any(map(is_tensor, inputs)) else torch.device(device)
        random = RandomNumbers(seed, offsets)
        values = Evaluator(plan.fusion, inputs, device=place, random=random, plan=plan).outputs()
        stored = stored_outputs(plan, values, inputs)  # updates in place come later
        for updated, value in zip(self._updated, stored, strict=True):
            if updated is not None:
                copy(value, inputs[updated])
        return [
            plain(value) if is_new else None
            for value, is_new in zip(stored, self._is_new, strict=True)
        ]


@opaque
def copy(source: Any, target: Any) -> None:
    """Copy elements between tensors of one type and shape, with any strides."""
    import torch

    with torch.inference_mode():  # as a kernel writes: also into parameters
        as_torch(target).copy_(as_torch(source))

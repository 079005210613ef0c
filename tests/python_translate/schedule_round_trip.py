"""Checks that a printed schedule loses nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from round_trip import rebuilt

from nvfuser_direct import InternalError, TensorView, equal_up_to_numbering, translate_fusion

if TYPE_CHECKING:
    from nvfuser_direct import Fusion, FusionDefinition


def kernel_source(fusion: Fusion, target: str) -> str:
    """The source that is compiled; or the headline of an error, without the fusion's numbers."""
    try:
        return fusion.print_kernel(target=target, comments=False)
    except InternalError:
        raise
    except RuntimeError as error:
        return "refused: " + re.sub(r"\d+", "", str(error).partition("\n")[0])


def tensors_of(fusion: Fusion) -> list[TensorView]:
    """Inputs first, then in the order of a walk: whatever the tensors are numbered."""
    found = [value for value in fusion.inputs() if isinstance(value, TensorView)]
    pending = list(reversed(fusion.outputs()))
    while pending:
        value = pending.pop()
        if isinstance(value, TensorView) and value not in found:
            found.append(value)
        if isinstance(value, TensorView) and value.definition() is not None:
            pending += [x for x in reversed(value.definition().inputs()) if x not in found]
    return found


def schedule_of(fusion: Fusion) -> list[tuple[Any, ...]]:
    """Facts that `equal_up_to_numbering` does not compare: how tensors are computed with others."""
    return [
        (tensor.compute_with_position(), tensor.maybe_max_producer_position())
        for tensor in tensors_of(fusion)
    ]


def kernel_sources(fusion: Fusion, gpu: str = "cuda") -> tuple[str, str]:
    """For a GPU, and for the CPU."""
    return kernel_source(fusion, gpu), kernel_source(fusion, "cpu")


def check_schedule_round_trip(
    fusion: Fusion, sources: tuple[str, str] | None = None, gpu: str = "cuda"
) -> FusionDefinition:
    """Print, execute, compare; the definition that the text makes. `sources` are those of
    `fusion`, where they are known."""
    before = fusion.print_math() + fusion.print_transforms()
    text = translate_fusion(fusion, schedule=True)
    assert fusion.print_math() + fusion.print_transforms() == before  # printing changes nothing
    assert translate_fusion(fusion.clone(), schedule=True) == text

    second = rebuilt(text)
    assert equal_up_to_numbering(second.fusion, fusion), f"another fusion:\n{text}"
    assert schedule_of(second.fusion) == schedule_of(fusion), f"other positions:\n{text}"
    is_same = kernel_sources(second.fusion, gpu) == (sources or kernel_sources(fusion, gpu))
    assert is_same, f"another kernel:\n{text}"

    second_text = translate_fusion(second.fusion, schedule=True)
    assert second_text == text, f"another text:\n{text}\n{second_text}"
    return second

"""Golden text of loop domains: `i(i0/8) i8` for `[iS4{( ceilDiv(i0, 8) )}, iS5{8}]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nvfuser_direct import FusionDefinition, IterDomain, TensorView


def axis_text(axis: IterDomain) -> str:
    """Kind, parallel type where it is not serial, extent; the number is left out."""
    match = re.fullmatch(r"([irb])(\D*?)\d+\{(.*)\}(?:rf)?(_p)?", str(axis))
    assert match is not None, str(axis)
    kind, parallel_type, extent, padded = match.groups()
    extent = re.sub(r"ceilDiv\((\w+), (\w+)\)", r"\1/\2", extent).replace(" ", "")
    parallel_type = "" if parallel_type == "S" else f".{parallel_type}"
    return f"{kind}{extent}{parallel_type}{padded or ''}"


def loops(tensor: TensorView) -> str:
    """The loop domain; `|` is the compute-at position."""
    axes = [axis_text(axis) for axis in tensor.get_loop_domain()]
    if tensor.compute_at_position():
        axes.insert(tensor.compute_at_position(), "|")
    return " ".join(axes)


def all_loops(fd: FusionDefinition) -> list[str]:
    """Every tensor with the numbers of its axes: equal only if nothing at all was made anew."""
    return [str(tensor) for tensor in fd.fusion.tensors()]

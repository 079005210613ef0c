"""Values whose sums are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence


def values(shape: Sequence[int], target: str, seed: int = 0) -> torch.Tensor:
    """Integers of -8 to 7, as floats."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-8, 8, tuple(shape), generator=generator).float().to(target)

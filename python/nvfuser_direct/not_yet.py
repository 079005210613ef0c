"""Names that scripts for the same API may use and that are not there yet: each says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_MATRICES = (
    "no matrix products in generated kernels",
    "call fd.execute(inputs), which evaluates matmul and linear through PyTorch",
)
DEVICES = (
    "a fusion runs on one device",
    "define the fusion for the part of one device",
)

_REASONS = {
    "nvf_cutlass": _MATRICES,
}


def attribute_error(module: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module; an AttributeError, so that ``hasattr`` is False."""

    def refuse(name: str) -> NoReturn:
        if name not in _REASONS:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        why, way_out = _REASONS[name]
        raise AttributeError(
            f"{module}.{name} is not there yet\n  found:    {why}\n  fix:      {way_out}"
        )

    return refuse

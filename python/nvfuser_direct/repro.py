"""Scripts that reproduce a run: the definition, and inputs like those it ran with."""

from __future__ import annotations

import cmath
import re
from typing import TYPE_CHECKING, Any

from ._core import translate_fusion

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch

    from ._core import Fusion


def repro_script_for(fusion: Fusion, inputs: Iterable[Any] | None = None) -> str:
    """A script that defines `fusion` and runs it.

    Parameters
    ----------
    fusion : Fusion
        The unscheduled definition.
    inputs : iterable, optional
        Tensors (sizes, strides, types and devices are kept, data is random) and numbers. Without
        them the script ends with the definition.
    """
    script = (
        f"{_versions()}import torch\n"
        "from nvfuser_direct import FusionDefinition, DataType\n"
        f"{translate_fusion(fusion)}"
        "with FusionDefinition() as fd:\n"
        "    nvfuser_fusion(fd)\n"
    )
    if inputs is None:
        return script
    lines = "".join(f"    {_input_text(value)},\n" for value in inputs)
    return f"{script}\ninputs = [\n{lines}]\nfd.execute(inputs)\n"


def _versions() -> str:
    import torch

    devices = "".join(
        f"#  {i}: {torch.cuda.get_device_name(i)}\n" for i in range(torch.cuda.device_count())
    )
    return (
        f"# CUDA devices:\n{devices}"
        f"# torch version: {torch.__version__}\n"
        f"# cuda version: {torch.version.cuda}\n"
    )


def _input_text(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        return _tensor_text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_input_text(item) for item in value)}]"
    if isinstance(value, complex) and not cmath.isfinite(value):
        # Written as a sum, an infinite part would make the other one NaN.
        return f"complex({_input_text(value.real)}, {_input_text(value.imag)})"
    return re.sub(r"\b(inf|nan)\b", r'float("\1")', str(value))


def _tensor_text(tensor: torch.Tensor) -> str:
    size, stride = tuple(tensor.size()), tuple(tensor.stride())
    kind = f"dtype={tensor.dtype}, device='{tensor.device}'"
    if tensor.is_contiguous():
        return f"torch.testing.make_tensor({size}, {kind})"
    count = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 in size:
        count = 0
    if tensor.is_floating_point() or tensor.is_complex():
        elements = f"torch.randn({count}, {kind})"
    else:
        high = 2 if str(tensor.dtype) == "torch.bool" else 10
        elements = f"torch.randint(0, {high}, ({count},), {kind})"
    return f"{elements}.as_strided({size}, {stride})"

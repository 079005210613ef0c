"""Scripts that reproduce a run: the definition, and inputs like those it ran with."""

from __future__ import annotations

import cmath
import re
from typing import TYPE_CHECKING, Any

from ._core import translate_fusion
from ._pytorch import has_pytorch, require_pytorch
from .pytorch_utils import as_torch, is_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch

    from ._core import Fusion


# Names that the lines of a schedule use, besides those of the math.
_SCHEDULE_NAMES = (
    "CacheHint",
    "CacheOp",
    "IterDomain",
    "IterType",
    "LoadStoreOpType",
    "MemoryType",
    "ParallelType",
    "Pipelined",
    "SwizzleType",
    "WarpSpecialized",
)


def repro_script_for(
    fusion: Fusion, inputs: Iterable[Any] | None = None, schedule: bool = False
) -> str:
    """A script that defines `fusion` and runs it.

    Parameters
    ----------
    fusion : Fusion
        The definition, scheduled or not.
    inputs : iterable, optional
        Tensors (sizes, strides, types and devices are kept, data is random) and numbers. Without
        them the script ends with the definition.
    schedule : bool
        Whether the script schedules the fusion as it is scheduled now, and runs that schedule as
        one kernel (`FusionDefinition.manual_execute`). Without it the fusion is scheduled
        automatically when the script runs.
    """
    definition = translate_fusion(fusion, schedule)
    names = ["FusionDefinition", "DataType"]
    names += [name for name in _SCHEDULE_NAMES if re.search(rf"\b{name}\b", definition)]
    script = (
        f"{_versions()}import torch\n"
        f"from nvfuser_direct import {', '.join(names)}\n"
        f"\n\n{definition}\n\n"
        "with FusionDefinition() as fd:\n"
        "    nvfuser_fusion(fd)\n"
    )
    if inputs is None:
        return script
    lines = "".join(f"    {_input_text(value)},\n" for value in inputs)
    run = "manual_execute" if schedule else "execute"
    return f"{script}\ninputs = [\n{lines}]\nfd.{run}(inputs)\n"


def fake_inputs(inputs: Iterable[Any]) -> list[Any]:
    """`inputs` with sizes, strides, types and devices of tensors, without their data."""
    require_pytorch("Keeping inputs for a script that reproduces a run")
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()

    def fake(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [fake(item) for item in value]
        return mode.from_tensor(as_torch(value)) if is_tensor(value) else value

    return [fake(value) for value in inputs]


def _versions() -> str:
    if not has_pytorch():
        return ""
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
    if is_tensor(value):
        return _tensor_text(as_torch(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(_input_text(item) for item in value)}]"
    if isinstance(value, complex) and not cmath.isfinite(value):
        # Written as a sum, an infinite part would make the other one NaN.
        return f"complex({_input_text(value.real)}, {_input_text(value.imag)})"
    return re.sub(r"\b(inf|nan)\b", r'float("\1")', str(value))


def _tensor_text(tensor: torch.Tensor) -> str:
    size, stride = tuple(tensor.size()), tuple(tensor.stride())
    is_floating = tensor.is_floating_point() or tensor.is_complex()
    # PyTorch makes no random numbers of few bits: bits that are no NaN.
    has_only_bits = is_floating and tensor.element_size() == 1
    dtype = "torch.uint8" if has_only_bits else tensor.dtype
    kind = f"dtype={dtype}, device='{tensor.device}'"
    view = f".view({tensor.dtype})" if has_only_bits else ""
    if tensor.is_contiguous():
        if has_only_bits:
            return f"torch.randint(0, 120, {size}, {kind}){view}"
        return f"torch.testing.make_tensor({size}, {kind})"
    count = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 in size:
        count = 0
    if is_floating and not has_only_bits:
        elements = f"torch.randn({count}, {kind})"
    else:
        high = 120 if has_only_bits else 2 if str(tensor.dtype) == "torch.bool" else 10
        elements = f"torch.randint(0, {high}, ({count},), {kind}){view}"
    return f"{elements}.as_strided({size}, {stride})"

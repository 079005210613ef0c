"""``python -m nvfuser_direct``: what this installation can do, and what it lacks."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

from . import _core
from ._pytorch import HOW_TO_INSTALL, has_pytorch
from .version import __version__


def _pytorch_line() -> tuple[str, str, str]:
    """Topic, finding, fix."""
    if not has_pytorch():
        return (
            "PyTorch",
            "none",
            f"{HOW_TO_INSTALL}, to evaluate what has no kernel and to validate results; kernels "
            "run on arrays of NumPy, CuPy and JAX without it",
        )
    try:
        import torch
    except Exception as error:  # a broken installation is what this report is for
        return "PyTorch", f"cannot be imported: {error}", "install it again: " + HOW_TO_INSTALL
    has_table = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    finding = f"{torch.__version__}, CUDA {torch.version.cuda or 'none'}"
    if not has_table:
        return "PyTorch", f"{finding}; slower calls", "PyTorch 2.11 or newer has the fast interface"
    return "PyTorch", finding, ""


def _numpy_line() -> tuple[str, str, str]:
    """Topic, finding, fix."""
    try:
        finding = importlib.metadata.version("numpy")
    except importlib.metadata.PackageNotFoundError:
        finding = "none"
    if finding != "none" or has_pytorch():
        return "NumPy", finding, ""
    return "NumPy", finding, "pip install numpy, or torch, to have arrays to run kernels on"


def main() -> int:
    """Print the report."""
    lines = [
        ("nvfuser_direct", f"{__version__}, Python {platform.python_version()}", ""),
        _pytorch_line(),
        _numpy_line(),
        *((line.topic, line.finding, line.fix) for line in _core.doctor_report()),
    ]
    width = max(len(topic) for topic, _, _ in lines)
    for topic, finding, fix in lines:
        print(f"{topic:<{width}}  {finding}")
        if fix:
            print(f"{'':<{width}}  -> {fix}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

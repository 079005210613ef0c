"""``python -m nvfuser_direct``: what this installation can do, and what it lacks."""

from __future__ import annotations

import importlib.util
import platform
import sys

from . import _core
from .version import __version__


def _pytorch_line() -> tuple[str, str, str]:
    """Topic, finding, fix."""
    if importlib.util.find_spec("torch") is None:
        return "PyTorch", "none", "pip install torch, to run fusions and to validate results"
    import torch

    has_table = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    finding = f"{torch.__version__}, CUDA {torch.version.cuda or 'none'}"
    if not has_table:
        return "PyTorch", f"{finding}; slower calls", "PyTorch 2.11 or newer has the fast interface"
    return "PyTorch", finding, ""


def main() -> int:
    """Print the report."""
    lines = [
        ("nvfuser_direct", f"{__version__}, Python {platform.python_version()}", ""),
        _pytorch_line(),
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

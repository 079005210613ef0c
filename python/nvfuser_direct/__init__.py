"""A fusion compiler, seen from Python: the core itself, bound one to one.

Write tensor math with `FusionDefinition` and `ops`, schedule it with the methods of `TensorView`
and the functions of `schedule`, then run it. Importing needs neither PyTorch nor a GPU.
"""

from __future__ import annotations

import os as _os
import sys as _sys
import typing as _typing

from . import _core

# Statements are attributed to the code that calls this package, not to the package.
_core.internal.hide_source_directory(_os.path.dirname(_os.path.abspath(__file__)))

from . import multidevice as multidevice  # noqa: E402
from ._core import *  # noqa: E402, F403
from ._core import host, idm, ops, schedule  # noqa: E402, F401
from .evaluator import evaluate as evaluate  # noqa: E402
from .executor_cache import FusionExecutorCache as FusionExecutorCache  # noqa: E402
from .fusion_definition import FusionDefinition as FusionDefinition  # noqa: E402
from .lru_fusion_cache import LRUCache as LRUCache  # noqa: E402
from .lru_fusion_cache import LruFusionCache as LruFusionCache  # noqa: E402
from .multidevice import CommunicatorBackend as CommunicatorBackend  # noqa: E402
from .multidevice import execute_with_dtensors as execute_with_dtensors  # noqa: E402
from .not_yet import attribute_error as _attribute_error  # noqa: E402
from .profiler import PythonProfiler as PythonProfiler  # noqa: E402
from .tuning import TuningReport as TuningReport  # noqa: E402
from .validation import get_val_tolerances as get_val_tolerances  # noqa: E402
from .validation import (  # noqa: E402
    validate_with_auto_inferred_outputs as validate_with_auto_inferred_outputs,
)
from .version import Version as Version  # noqa: E402
from .version import __version__ as __version__  # noqa: E402
from .version import version as version  # noqa: E402

# Submodules of the extension can be imported by name, as if they were files of this package.
for _name in ("host", "idm", "ops", "schedule"):
    _sys.modules[f"{__name__}.{_name}"] = getattr(_core, _name)

if not _typing.TYPE_CHECKING:  # type checkers find unknown names themselves
    __getattr__ = _attribute_error(__name__)
    schedule.__getattr__ = _attribute_error(f"{__name__}.schedule")

# Functions of the core for the package itself are no part of the interface.
del internal  # noqa: F821

# The frontend `nvfuser` imports this package itself, while its own import still runs.
_frontend = _sys.modules.get("nvfuser")
if _frontend is not None and not getattr(_frontend.__spec__, "_initializing", False):
    import warnings as _warnings

    _warnings.warn(
        "Be careful! nvfuser is imported already: handles of the two packages do not mix.",
        UserWarning,
        stacklevel=2,
    )

__all__ = [name for name in dir(_core) if not name.startswith("_") and name != "internal"] + [
    "CommunicatorBackend",
    "FusionDefinition",
    "LRUCache",
    "LruFusionCache",
    "PythonProfiler",
    "TuningReport",
    "Version",
    "__version__",
    "evaluate",
    "execute_with_dtensors",
    "get_val_tolerances",
    "multidevice",
    "validate_with_auto_inferred_outputs",
    "version",
]


def __dir__() -> list[str]:
    return sorted(__all__)

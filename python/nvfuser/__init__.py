"""Fusions that are defined over and over: equal definitions are found again, with their kernels.

A definition is a list of statements. The package remembers every list that this process has seen
and gives equal ones the same id, so that to write one a second time costs microseconds. It stands
on `nvfuser_direct`, whose handles do not mix with the ones here.
"""

from __future__ import annotations

import os as _os
import sys as _sys
import typing as _typing

_was_imported = "nvfuser_direct" in _sys.modules

import nvfuser_direct as _direct  # noqa: E402

_direct._core.internal.hide_source_directory(_os.path.dirname(_os.path.abspath(__file__)))

from nvfuser_direct import (  # noqa: E402
    CacheOp,
    CircularBufferOptions,
    ClusterDims,
    CompileParams,
    DataType,
    FusionProfile,
    GemmTile,
    HeuristicParams,
    KernelProfile,
    LaunchParams,
    LoadStoreOpType,
    MatmulBufferingLoopLevel,
    MatmulCircularBufferingStrategy,
    MatmulParams,
    MatMulTileOptions,
    MatmulTileRasterizationOrder,
    MatmulTilingStrategy,
    MemoryType,
    MmaMacro,
    MmaMacroArch,
    MmaMacroEncode,
    ParallelType,
    PointwiseParams,
    ReductionParams,
    SchedulerType,
    SupportedVectorization,
    TransposeParams,
    compute_tensor_descriptor,
)
from nvfuser_direct.not_yet import attribute_error as _attribute_error  # noqa: E402

from . import multidevice, pytorch_utils  # noqa: E402
from .clone import clone  # noqa: E402
from .contiguity import compute_contiguity  # noqa: E402
from .definition import FusionDefinition  # noqa: E402
from .environment import warn_of_old_names as _warn_of_old_names  # noqa: E402
from .fusion_cache import FusionCache  # noqa: E402
from .handles import Scalar, Tensor, Vector  # noqa: E402
from .hyperparameters import SchedulerHyperParameters  # noqa: E402
from .multidevice import (  # noqa: E402
    Communicator,
    CommunicatorBackend,
    DeviceMesh,
    Sharding,
)
from .second_import import warn_of_second_import as _warn_of_second_import  # noqa: E402
from .serialization import (  # noqa: E402
    disable_automatic_serialization,
    enable_automatic_serialization,
)
from .serialization import serialize_to_workspace as serialize  # noqa: E402
from .version import __version__, version  # noqa: E402

_warn_of_second_import(_direct, _was_imported)
_warn_of_old_names()

if not _typing.TYPE_CHECKING:  # type checkers find unknown names themselves
    __getattr__ = _attribute_error(__name__)

__all__ = [
    "CacheOp",
    "CircularBufferOptions",
    "ClusterDims",
    "Communicator",
    "CommunicatorBackend",
    "CompileParams",
    "DataType",
    "DeviceMesh",
    "FusionCache",
    "FusionDefinition",
    "FusionProfile",
    "GemmTile",
    "HeuristicParams",
    "KernelProfile",
    "LaunchParams",
    "LoadStoreOpType",
    "MatMulTileOptions",
    "MatmulBufferingLoopLevel",
    "MatmulCircularBufferingStrategy",
    "MatmulParams",
    "MatmulTileRasterizationOrder",
    "MatmulTilingStrategy",
    "MemoryType",
    "MmaMacro",
    "MmaMacroArch",
    "MmaMacroEncode",
    "ParallelType",
    "PointwiseParams",
    "ReductionParams",
    "Scalar",
    "SchedulerHyperParameters",
    "SchedulerType",
    "Sharding",
    "SupportedVectorization",
    "Tensor",
    "TransposeParams",
    "Vector",
    "__version__",
    "clone",
    "compute_contiguity",
    "compute_tensor_descriptor",
    "disable_automatic_serialization",
    "enable_automatic_serialization",
    "multidevice",
    "pytorch_utils",
    "serialize",
    "version",
]

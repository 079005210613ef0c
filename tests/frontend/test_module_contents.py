"""The contents of the package, and the warning of a process that imports both packages."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
import torch
from packaging.version import Version

import nvfuser
from nvfuser import FusionDefinition, compute_contiguity, compute_tensor_descriptor

MEMBERS = {
    "DataType": "Double Float Half BFloat16 Float8_e4m3fn Float8_e5m2 Float8_e8m0fnu Float4_e2m1fn "
    "Float4_e2m1fn_x2 Int Int32 UInt64 Bool ComplexFloat ComplexDouble Null",
    "ParallelType": "mesh_x grid_x grid_y grid_z block_x block_y block_z mma serial tma unroll "
    "unswitch vectorize stream",
    "MemoryType": "local shared global",
    "LoadStoreOpType": "set load_matrix cp_async tma",
    "CacheOp": "unspecified all_levels streaming global",
    "SchedulerType": "none no_op pointwise matmul reduction inner_persistent "
    "inner_outer_persistent outer_persistent transpose expr_eval resize",
}
NAMES = """FusionDefinition FusionCache Tensor Scalar Vector LaunchParams CompileParams
HeuristicParams PointwiseParams ReductionParams MatmulParams TransposeParams GemmTile
MatMulTileOptions CircularBufferOptions SupportedVectorization ClusterDims MmaMacro MmaMacroEncode
SchedulerHyperParameters KernelProfile FusionProfile
compute_contiguity compute_tensor_descriptor clone serialize enable_automatic_serialization
disable_automatic_serialization version __version__ pytorch_utils CommunicatorBackend Communicator
DeviceMesh Sharding""".split()


@pytest.mark.parametrize("enum", MEMBERS)
def test_enumerations_have_their_members(enum: str) -> None:
    """Enumerations."""
    for name in MEMBERS[enum].split():
        assert getattr(getattr(nvfuser, enum), name) is not None


@pytest.mark.parametrize("name", NAMES)
def test_names_are_there(name: str) -> None:
    """Classes and functions."""
    assert getattr(nvfuser, name) is not None


def test_a_name_that_is_not_there_yet_says_why() -> None:
    """A name of `nvfuser_direct` that has a reason."""
    with pytest.raises(AttributeError, match="nvf_cutlass is not there yet"):
        nvfuser.nvf_cutlass  # type: ignore[attr-defined]


def test_params_of_products_can_be_made_where_no_scheduler_takes_them() -> None:
    """`MatmulParams` and `compute_matmul_heuristics`."""
    params = nvfuser.MatmulParams()
    params.tile_sizes.cta_tile = nvfuser.GemmTile(64, 128, 32)
    assert params == pickle.loads(pickle.dumps(params)) != nvfuser.MatmulParams()
    assert "CTA tile [64, 128, 32]" in repr(params)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.matmul(fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])))
    inputs = [torch.ones(4, 5), torch.ones(5, 6)]
    fd._setup_schedule(inputs)
    with pytest.raises(RuntimeError, match="matmul"):
        fd.sched.compute_matmul_heuristics()
    fd._drop_schedule()


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        ([2, 3, 4], [12, 4, 1], [True, True, True]),
        ([2, 3, 4], [24, 4, 1], [False, True, True]),
        ([2, 1, 4], [4, 4, 1], [True, None, True]),
        ([2, 3, 4], [4, 0, 1], [True, None, True]),
        ([2, 3], [6, 2], [True, False]),
        ([3, 2], [1, 3], [False, False]),
        ([], [], []),
    ],
)
def test_contiguity_is_by_dimension(
    sizes: list[int], strides: list[int], expected: list[bool | None]
) -> None:
    """`compute_contiguity`."""
    assert compute_contiguity(sizes, strides) == expected


@pytest.mark.parametrize(
    ("sizes", "strides", "contiguity", "order"),
    [
        ([2, 3, 4], [12, 4, 1], [True, True, True], [2, 1, 0]),
        ([2, 3, 4], [1, 8, 2], [True, True, True], [0, 2, 1]),
        ([2, 3, 4], [24, 4, 1], [False, True, True], [2, 1, 0]),
        ([2, 1, 4], [4, 4, 1], [True, None, True], [2, 1, 0]),
        ([2, 3, 4], [4, 0, 1], [True, None, True], [2, 1, 0]),
    ],
)
def test_the_descriptor_is_in_the_order_of_memory(
    sizes: list[int], strides: list[int], contiguity: list[bool | None], order: list[int]
) -> None:
    """`compute_tensor_descriptor`, its table."""
    assert compute_tensor_descriptor(sizes, strides) == (contiguity, order)


def test_the_version_compares_as_one() -> None:
    """`version()`, with strings and with `packaging`."""
    assert nvfuser.version() == nvfuser.__version__
    assert "+git" in str.__str__(nvfuser.version())
    assert nvfuser.version() > "0.2.34"
    assert nvfuser.version() >= Version("0.3.0")
    assert nvfuser.version() < "99.0.0+git1234567"


def test_dtypes_are_mapped_and_unknown_ones_are_key_errors() -> None:
    """`pytorch_utils`."""
    to_dtype = nvfuser.pytorch_utils.torch_dtype_to_nvfuser_dtype
    assert to_dtype(torch.half) is nvfuser.DataType.Half
    assert to_dtype(complex) is nvfuser.DataType.ComplexDouble
    assert nvfuser.pytorch_utils.python_scalar_to_nvfuser_dtype(True) is nvfuser.DataType.Bool
    with pytest.raises(KeyError):
        to_dtype(torch.quint8)


def test_clone_copies_a_complete_definition_into_a_blank_one() -> None:
    """`clone`, and its errors."""
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    other = FusionDefinition()
    nvfuser.clone(fd, other)
    assert other.id() == fd.id()
    assert repr(other) == repr(fd)
    with pytest.raises(RuntimeError, match="FusionDefinition definition does not exist!"):
        nvfuser.clone(FusionDefinition(), FusionDefinition())
    with pytest.raises(RuntimeError, match="Expected an incomplete definition before translation"):
        nvfuser.clone(fd, other)


@pytest.mark.parametrize(
    ("statements", "count"),
    [
        ("import nvfuser", 0),
        ("import nvfuser_direct", 0),
        ("import nvfuser; import nvfuser_direct", 1),
        ("import nvfuser_direct; import nvfuser", 1),
        ("import nvfuser, nvfuser_direct; from nvfuser_direct import ops; import nvfuser", 1),
        ("import nvfuser, pickle; pickle.loads(pickle.dumps(nvfuser.DataType.Half))", 0),
    ],
)
def test_importing_both_packages_warns_once(statements: str, count: int) -> None:
    """Exactly one UserWarning, from the second import."""
    script = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        f"    exec({statements!r})\n"
        "texts = [str(w.message) for w in caught if w.category is UserWarning]\n"
        "assert all(text.startswith('Be careful!') for text in texts), texts\n"
        f"assert len(texts) == {count}, texts\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

"""The names of the package: those for users, and no others."""

from __future__ import annotations

import enum
import importlib
import inspect
import types

import pytest

import nvfuser_direct as nvf
from nvfuser_direct import _core, benchmark_utils, pytorch_utils

ENUMERATIONS = [
    value
    for name, value in vars(nvf).items()
    if inspect.isclass(value) and issubclass(value, enum.Enum) and name in dir(nvf)
]


def test_all_names_are_there_and_no_others_are_listed() -> None:
    assert dir(nvf) == sorted(nvf.__all__)
    assert len(set(nvf.__all__)) == len(nvf.__all__)
    assert [name for name in nvf.__all__ if not hasattr(nvf, name)] == []
    assert [name for name in dir(nvf) if name.startswith("_")] == ["__version__"]
    modules = [name for name in dir(nvf) if isinstance(getattr(nvf, name), types.ModuleType)]
    assert modules == ["host", "idm", "multidevice", "ops", "schedule"]


def test_internals_are_no_names_of_the_package() -> None:
    internal = {name for name in dir(_core.internal) if not name.startswith("_")}
    assert {"cast_text", "close_profiled_run", "input_list", "keep_schedule"} <= internal
    assert internal & set(dir(nvf)) == set()
    assert [name for name in [*sorted(internal), "internal"] if hasattr(nvf, name)] == []


def test_a_star_import_brings_the_listed_names() -> None:
    namespace: dict[str, object] = {}
    exec("from nvfuser_direct import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(nvf.__all__)


@pytest.mark.parametrize("cls", ENUMERATIONS, ids=lambda cls: cls.__name__)
def test_enumerations_are_iterated_over_in_every_style(cls: type[enum.Enum]) -> None:
    members = list(cls)
    entries = cls.__entries
    assert [member for member, _ in entries.values()] == members
    assert list(entries) == [member.name for member in members]
    for name, member in cls.__members__.items():
        assert getattr(cls, name) is cls[name] is member
    assert all(str(member) == f"{cls.__name__}.{member.name}" for member in members)
    assert all(eval(repr(member), vars(nvf)) is member for member in members)


@pytest.mark.parametrize("cls", [nvf.MemoryType, nvf.CacheOp])
def test_a_reserved_word_is_an_alias(cls: type[enum.Enum]) -> None:
    assert str(cls.Global) == f"{cls.__name__}.Global"
    assert getattr(cls, "global") is cls["global"] is cls.Global
    assert list(cls).count(cls.Global) == 1


def test_the_version_has_a_module_of_its_own() -> None:
    module = importlib.import_module("nvfuser_direct.nvfuser_direct_version")
    assert module.Version is nvf.Version
    assert module.Version("0.2.34+git1234567") <= nvf.version()
    assert isinstance(nvf.version(), module.Version)
    assert module.__version__ == nvf.__version__
    assert callable(nvf.version)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (
            pytorch_utils,
            "torch_dtype_to_nvfuser_dtype python_scalar_to_nvfuser_dtype get_device_properties "
            "DEVICE_PROPERTIES retry_on_oom_or_skip_test",
        ),
        (
            benchmark_utils,
            "Timer CuptiProfiler CuptiTimer FusionProfileTimer demangle_kernel_name "
            "cupti_call_safe",
        ),
    ],
    ids=["pytorch_utils", "benchmark_utils"],
)
def test_helper_modules_have_the_documented_names(module: types.ModuleType, names: str) -> None:
    for name in names.split():
        getattr(module, name)
        assert name in dir(module)


def test_numbers_have_the_types_that_fusions_give_them() -> None:
    names = {True: "Bool", 2: "Int", 2.5: "Double", 1j: "ComplexDouble"}
    for number, name in names.items():
        dtype = nvf.DataType[name]
        assert pytorch_utils.python_scalar_to_nvfuser_dtype(number) is dtype
    with pytest.raises(KeyError):
        pytorch_utils.python_scalar_to_nvfuser_dtype("1")

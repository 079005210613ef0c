"""Packages: the sdist holds all that the build reads, and a wheel says where it came from."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import nvfuser_direct as nvf

REPOSITORY = Path(__file__).resolve().parents[2]
# Folders and files that the build reads.
BUILT_FROM = ("CMakeLists.txt", "LICENSE", "README.md", "cmake", "csrc", "pyproject.toml")
BUILT_FROM += ("python", "python_direct", "runtime", "third_party")


def tracked_files() -> set[str]:
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--", *BUILT_FROM],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return {name for name in listed.stdout.splitlines() if (REPOSITORY / name).exists()}


def test_the_sdist_holds_everything_that_the_build_reads(tmp_path: Path) -> None:
    backend = pytest.importorskip("scikit_build_core.build")
    code = f"import {backend.__name__} as b; b.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True, capture_output=True)
    (sdist,) = tmp_path.iterdir()
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked_files() <= names
    assert not [name for name in names if name.endswith(".so") or name.startswith("build/")]
    assert {f"third_party/{of}/LICENSE" for of in ("dlpack", "nanobind", "robin_map")} <= names


def test_the_wheel_has_every_package() -> None:
    declared = re.search(
        r"^wheel.packages = \[(.*)\]$", (REPOSITORY / "pyproject.toml").read_text(), re.M
    )
    assert declared is not None
    folders = {f"python/{path.parent.name}" for path in REPOSITORY.glob("python/*/__init__.py")}
    assert (
        set(re.findall(r'"([^"]+)"', declared[1]))
        == folders
        == {
            "python/nvfuser",
            "python/nvfuser_direct",
        }
    )
    for folder in folders:
        assert (REPOSITORY / folder / "py.typed").exists()


def test_the_version_stands_in_one_place() -> None:
    declared = re.search(
        r'^_TEXT = "(.+)"$', (REPOSITORY / "python/nvfuser_direct/version.py").read_text(), re.M
    )
    assert declared is not None
    assert str(nvf.__version__) == declared[1]
    assert not re.search(r'^version = "', (REPOSITORY / "pyproject.toml").read_text(), re.M)


def test_an_installed_package_needs_neither_pytorch_nor_numpy() -> None:
    try:
        metadata = importlib.metadata.metadata("nvfuser-direct")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("a developer build, which is not installed")
    required = metadata.get_all("Requires-Dist") or []
    assert [name for name in required if "extra ==" not in name] == ["packaging"]
    assert metadata["Version"] == str(nvf.__version__)
    assert metadata.get_all("Project-URL") is None
    licenses = metadata.get_all("License-File") or []
    assert len(licenses) == 4

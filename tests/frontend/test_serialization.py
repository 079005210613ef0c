"""The cache as a file: ids stay, nothing is compiled again, and what does not fit is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import nvfuser
from nvfuser import FusionCache, FusionDefinition, cache_file, serialization

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent


def scaled(factor: float) -> FusionDefinition:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.mul(t0, fd.define_scalar(factor)))
    return fd


def run(role: str, folder: Path, kernels: Path) -> str:
    environment = {**os.environ, "NVFUSER_CACHE_DIR": str(kernels)}
    environment.pop("NVFUSER_VERIFY_PASSES", None)  # kernels that are looked at are not kept
    process = subprocess.run(
        [sys.executable, str(HERE / "serialized_runs.py"), role, str(folder)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_a_fresh_process_compiles_nothing(tmp_path: Path) -> None:
    """11, promises 1 and 3; issue: 0 compilations, byte-equal results."""
    run("write", tmp_path, tmp_path / "kernels")
    report = json.loads(run("read", tmp_path, tmp_path / "other_kernels"))
    assert report["ids"] == json.loads((tmp_path / "ids.json").read_text())
    assert report["are_equal"]
    assert report["compiled"]["seeds"] == []
    assert report["compiled"]["hits"] > 0
    assert report["count"] == report["count_behind"] == max(report["ids"]) + 1


def test_ids_hits_and_the_limit_come_back(tmp_path: Path) -> None:
    """11, promises 1 and 2."""
    cache = FusionCache.get(max_fusions=100)
    first, second = scaled(1.0), scaled(2.0)
    scaled(1.0)
    first.execute([torch.ones(2, 3)])
    stats = cache.stats()
    cache.serialize(str(tmp_path / "file"))
    FusionCache.reset()
    FusionCache.get(max_fusions=5)
    cache.deserialize(str(tmp_path / "file"))
    assert cache.stats() == stats
    assert cache._max_fusions == 100
    assert (scaled(2.0).id(), scaled(1.0).id()) == (second._entry.id, 0)  # type: ignore[union-attr]
    assert scaled(3.0).id() == 2
    (out,) = FusionDefinition(1).execute([torch.ones(2, 3)])
    assert torch.equal(out, torch.full((2, 3), 2.0))


def test_schedules_of_users_do_not_come_back(tmp_path: Path) -> None:
    """11, promise 2: "User schedules, captured output and profiles are not." """
    fd, x = scaled(2.0), torch.ones(2, 3)
    fd._setup_schedule([x])
    fd._finalize_schedule([x])
    fd.execute([x], profile=True, capture_debug_output=True)
    FusionCache.get().serialize(str(tmp_path / "file"))
    FusionCache.reset()
    FusionCache.get().deserialize(str(tmp_path / "file"))
    again = scaled(2.0)
    assert again.id() == 0
    assert not again._exist_schedule([x])
    assert again.debug_output() is None
    with pytest.raises(ValueError, match="not profiled"):
        again.profile()
    assert torch.equal(again.execute([x])[0], 2 * x)


def test_a_failed_definition_does_not_shift_ids(tmp_path: Path) -> None:
    """11, promise 3."""

    def fails() -> None:
        with FusionDefinition() as fd:
            t0 = fd.define_tensor([-1])
            fd.add_output(fd.ops.sum(t0, [3]))

    assert scaled(1.0).id() == 0
    with pytest.raises(RuntimeError, match="out of boundary"):
        fails()
    assert scaled(2.0).id() == 2
    cache = FusionCache.get()
    cache.serialize(str(tmp_path / "file"))
    FusionCache.reset()
    cache.deserialize(str(tmp_path / "file"))
    assert cache.num_fusions() == 3
    assert scaled(2.0).id() == 2
    with pytest.raises(RuntimeError, match="out of boundary"):
        fails()


def test_aliases_survive(tmp_path: Path) -> None:
    """11, promise 5."""

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            t0 = fd.define_tensor([-1])
            t1 = fd.ops.add(t0, fd.define_scalar(1.0))
            fd.add_output(t1, t0)
            fd.add_output(t1)
        return fd

    define().execute([torch.zeros(3)])
    cache = FusionCache.get()
    cache.serialize(str(tmp_path / "file"))
    FusionCache.reset()
    cache.deserialize(str(tmp_path / "file"))
    x = torch.zeros(3)
    (out,) = define().execute([x])
    assert torch.equal(x, torch.ones(3))
    assert out is x
    assert cache.num_fusions() == 1


def test_constants_of_all_types_survive(tmp_path: Path) -> None:
    """NaN, both zeros, infinities and complex numbers are the same after a file."""
    values = [float("nan"), 0.0, -0.0, float("inf"), 3, True, 1 + 2j, complex(-0.0, float("nan"))]

    def define() -> FusionDefinition:
        with FusionDefinition() as fd:
            t0 = fd.define_tensor([-1], dtype=nvfuser.DataType.ComplexDouble)
            for value in values:
                fd.define_scalar(value)
            fd.add_output(fd.ops.neg(t0))
        return fd

    text = repr(define())
    cache = FusionCache.get()
    cache.serialize(str(tmp_path / "file"))
    FusionCache.reset()
    cache.deserialize(str(tmp_path / "file"))
    assert define().id() == 0
    assert repr(FusionDefinition(0)) == text


@pytest.mark.parametrize(
    ("damage", "gist"),
    [
        (lambda data: b"", "FusionCache buffer is empty."),
        (lambda data: data[:20], "Failed to verify the integrity of FusionCache buffer."),
        (lambda data: data[:-1], "Failed to verify the integrity of FusionCache buffer."),
        (
            lambda data: data[:-1] + bytes([data[-1] ^ 1]),
            "Failed to verify the integrity of FusionCache buffer.",
        ),
        (
            lambda data: data[:8] + b"\x09" + data[9:],
            "Failed to verify the schema version of the FusionCache buffer",
        ),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, damage: object, gist: str) -> None:
    """11, promise 4 and the table of failures."""
    scaled(1.0).execute([torch.ones(2, 2)])
    path = tmp_path / "file"
    cache = FusionCache.get()
    cache.serialize(str(path))
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    FusionCache.reset()
    with pytest.raises(RuntimeError, match=gist):
        cache.deserialize(str(path))
    assert cache.num_fusions() == 0


def test_other_versions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another compiler, device or build."""
    scaled(1.0)
    cache = FusionCache.get()
    here = cache_file.versions()
    for what, value, gist in (
        ("cuda", [1, 2], r"Expected cuda version \d+\.\d+ but flatbuffer has cuda version 1\.2"),
        ("device", [99, 0], "Expected device"),
        ("build", "another", "Expected build"),
    ):
        with monkeypatch.context() as patch:
            other = {**here, what: value}
            patch.setattr(cache_file, "versions", lambda other=other: other)
            cache.serialize(str(tmp_path / what))
        FusionCache.reset()
        with pytest.raises(RuntimeError, match=gist):
            cache.deserialize(str(tmp_path / what))
        scaled(1.0)


def test_a_cache_with_fusions_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    """The first rows of the table of failures."""
    cache = FusionCache.get()
    with pytest.raises(RuntimeError, match="Failed to open FusionCache buffer"):
        cache.deserialize(str(tmp_path / "missing"))
    scaled(1.0)
    cache.serialize(str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match="prohibited if FusionCache is already populated"):
        cache.deserialize(str(tmp_path / "file"))


def new_cache(**kwargs: object) -> FusionCache:
    """The cache as a new process makes it."""
    FusionCache._instance = None
    return FusionCache.get(**kwargs)  # type: ignore[arg-type]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(serialization.tempfile, "gettempdir", lambda: str(tmp_path))
    return Path(serialization.workspace_file(None))


def test_the_default_workspace_is_loaded_at_the_first_use(workspace: Path) -> None:
    """The default workspace, its name, and the temporary file of its writer."""
    scaled(4.0).execute([torch.ones(2, 2)])
    nvfuser.serialize()
    assert workspace.parent.name == "nvfuser_kernel_db"
    assert [path.name for path in workspace.parent.iterdir()] == [workspace.name]
    found = cache_file.versions()
    assert workspace.name == "nvf_serde_device{}_{}_cuda{}_{}".format(
        *found["device"], *found["cuda"]
    )
    assert new_cache(load_from_default_workspace=False).num_fusions() == 0
    assert new_cache().num_fusions() == 1
    assert scaled(4.0).id() == 0
    FusionCache.reset()
    assert FusionCache.get().num_fusions() == 0  # automatic loading does not happen again


def test_a_workspace_that_does_not_serve_is_removed_with_a_warning(workspace: Path) -> None:
    """Automatic loads go on with an empty cache."""
    scaled(4.0)
    nvfuser.serialize()
    workspace.write_bytes(b"no cache")
    with pytest.warns(UserWarning, match="Failed to deserialize common workspace"):
        cache = new_cache()
    assert cache.num_fusions() == 0
    assert not workspace.exists()


def test_a_workspace_of_someone_else_is_not_read(workspace: Path) -> None:
    """Its kernels are run as code."""
    scaled(4.0)
    nvfuser.serialize()
    workspace.chmod(0o666)
    with pytest.warns(UserWarning, match="others may write"):
        assert new_cache().num_fusions() == 0


def test_a_workspace_with_too_many_fusions_is_left(workspace: Path) -> None:
    """A warning naming both numbers; start empty."""
    scaled(4.0)
    scaled(5.0)
    nvfuser.serialize()
    with pytest.warns(UserWarning, match="2 fusions, and at most 1 are allowed"):
        cache = new_cache(max_fusions=1)
    assert cache.num_fusions() == 0


def test_ranks_have_files_of_their_own(workspace: Path) -> None:
    """LOCAL_RANK, automatic serialization."""
    assert "_rank3_" in Path(serialization.workspace_file(3)).name


def test_automatic_serialization_writes_when_the_process_ends(tmp_path: Path) -> None:
    """Enable and disable."""
    script = (
        "import nvfuser\n"
        "nvfuser.enable_automatic_serialization()\n"
        "{}"
        "with nvfuser.FusionDefinition() as fd:\n"
        "    fd.add_output(fd.ops.neg(fd.define_tensor([-1])))\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "LOCAL_RANK": "2"}
    for switch, expected in (("nvfuser.disable_automatic_serialization()\n", 0), ("", 1)):
        subprocess.run([sys.executable, "-c", script.format(switch)], env=environment, check=True)
        found = list(tmp_path.glob("nvfuser_kernel_db/nvf_serde_rank2_*"))
        assert len(found) == expected


def test_entries_are_loaded_in_parallel(tmp_path: Path) -> None:
    """`parallel_serde`."""
    for factor in range(8):
        scaled(factor + 0.5).execute([torch.ones(2, 2)])
    FusionCache.get().serialize(str(tmp_path / "file"))
    script = (
        "import nvfuser, torch, sys\n"
        "cache = nvfuser.FusionCache.get(load_from_default_workspace=False)\n"
        "cache.deserialize(sys.argv[1])\n"
        "assert cache.num_fusions() == 8\n"
        "(out,) = nvfuser.FusionDefinition(7).execute([torch.ones(2, 2)])\n"
        "assert out[0, 0] == 7.5\n"
    )
    environment = {**os.environ, "NVFUSER_ENABLE": "parallel_serde"}
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "file")], env=environment, check=True
    )

"""KernelCache: what is found again, and every reason for not finding it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nvfuser_direct import KernelCache

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTE = 1 << 20


@pytest.fixture
def cache(tmp_path: Path) -> KernelCache:
    return KernelCache(str(tmp_path / "cache"), MEGABYTE)


def test_a_payload_is_found_under_its_key(cache: KernelCache) -> None:
    assert cache.find(b"key") is None
    cache.store(b"key", b"\0payload\xff")
    assert cache.find(b"key") == b"\0payload\xff"
    assert cache.find(b"other key") is None
    stats = cache.stats()
    assert (stats["hits"], stats["misses_absent"], stats["stores"]) == (1, 2, 1)


def test_another_process_finds_it(cache: KernelCache) -> None:
    cache.store(b"key", b"payload")
    assert KernelCache(cache.folder, MEGABYTE).find(b"key") == b"payload"


@pytest.mark.parametrize("cut", [0, 7, 31, 32, 36, 40])
def test_a_truncated_entry_is_a_miss(cache: KernelCache, cut: int) -> None:
    cache.store(b"key", b"payload")
    path = Path(cache.path_of(b"key"))
    path.write_bytes(path.read_bytes()[:cut])
    assert cache.find(b"key") is None
    assert cache.stats()["misses_corrupt"] == 1


@pytest.mark.parametrize("position", range(16, 42))
def test_a_flipped_bit_is_a_miss(cache: KernelCache, position: int) -> None:
    cache.store(b"key", b"payload")
    path = Path(cache.path_of(b"key"))
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    assert cache.find(b"key") is None


def test_a_file_of_another_format_is_foreign(cache: KernelCache) -> None:
    cache.store(b"key", b"payload")
    path = Path(cache.path_of(b"key"))
    path.write_bytes(b"something else" * 10)
    assert cache.find(b"key") is None
    assert cache.stats()["misses_foreign"] == 1


def test_an_entry_of_another_key_is_foreign(cache: KernelCache) -> None:
    cache.store(b"key", b"payload")
    other = Path(cache.path_of(b"other key"))
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(Path(cache.path_of(b"key")).read_bytes())
    assert cache.find(b"other key") is None
    assert cache.stats()["misses_foreign"] == 1


def test_a_corrupt_entry_is_replaced(cache: KernelCache) -> None:
    cache.store(b"key", b"payload")
    Path(cache.path_of(b"key")).write_bytes(b"")
    assert cache.find(b"key") is None
    cache.store(b"key", b"payload")
    assert cache.find(b"key") == b"payload"


def test_the_folder_stays_within_its_bound(tmp_path: Path) -> None:
    bound = 100_000
    cache = KernelCache(str(tmp_path), bound)
    for i in range(50):
        cache.store(b"key %d" % i, bytes(5_000))
        assert cache.size_bytes <= bound
    assert cache.stats()["evictions"] > 0
    assert cache.find(b"key 49") is not None
    assert cache.find(b"key 0") is None


def test_what_was_used_last_is_evicted_last(tmp_path: Path) -> None:
    cache = KernelCache(str(tmp_path), 100_000)
    cache.store(b"kept", bytes(5_000))
    cache.store(b"lost", bytes(5_000))
    for key in (b"kept", b"lost"):
        os.utime(cache.path_of(key), (1, 1))
    assert cache.find(b"kept") is not None  # a use
    for i in range(18):
        cache.store(b"key %d" % i, bytes(5_000))
    assert cache.find(b"kept") is not None
    assert cache.find(b"lost") is None


def test_a_payload_larger_than_the_cache_is_not_stored(tmp_path: Path) -> None:
    cache = KernelCache(str(tmp_path), 1_000)
    cache.store(b"key", bytes(1_001))
    assert cache.find(b"key") is None


def test_a_folder_that_cannot_be_made_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = KernelCache(str(tmp_path / "file" / "cache"), MEGABYTE)
    cache.store(b"key", b"payload")
    assert cache.find(b"key") is None
    assert cache.stats()["failed_stores"] == 1


def test_clear_removes_every_entry(cache: KernelCache) -> None:
    cache.store(b"key", b"payload")
    assert cache.size_bytes > 0
    cache.clear()
    assert cache.size_bytes == 0
    assert cache.find(b"key") is None


def test_only_its_own_files_are_ever_removed(tmp_path: Path) -> None:
    """The folder may be one where other files lie."""
    cache = KernelCache(str(tmp_path), 100_000)
    cache.store(b"key", bytes(50_000))
    entry = Path(cache.path_of(b"key"))
    foreign = [
        tmp_path / "notes.tmp",
        tmp_path / "some.kernel",
        tmp_path / "work" / "draft.tmp",
        entry.parent / "mine.kernel",
        entry.parent / "mine.tmp",
    ]
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_text("precious")
        os.utime(path, (1, 1))
    for i in range(10):
        cache.store(b"key %d" % i, bytes(50_000))
    assert cache.stats()["evictions"] > 0
    cache.clear()
    assert cache.size_bytes == 0
    assert all(path.read_text() == "precious" for path in foreign)


def test_what_a_writer_left_behind_goes_after_a_while(tmp_path: Path) -> None:
    cache = KernelCache(str(tmp_path), MEGABYTE)
    entry = Path(cache.path_of(b"key"))
    entry.parent.mkdir()
    old, new = (entry.with_name(f"{entry.name}.{name}.tmp") for name in ("1.2.3", "4.5.6"))
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (1, 1))
    cache.store(b"key", b"payload")
    assert not old.exists()
    assert new.exists()


def test_many_threads_see_whole_entries_or_none(cache: KernelCache) -> None:
    payloads = {b"key %d" % i: bytes([i]) * 10_000 for i in range(8)}
    bad = []

    def work() -> None:
        for _ in range(20):
            for key, payload in payloads.items():
                found = cache.find(key)
                if found is None:
                    cache.store(key, payload)
                elif found != payload:
                    bad.append(key)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


def run_python(code: str, **variables: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.strip()


SHOW = "from nvfuser_direct import KernelCache as C; c = C.instance(); "


def test_the_process_cache_follows_the_environment(tmp_path: Path) -> None:
    show = SHOW + "print(c.is_enabled, c.folder, c.max_bytes)"
    folder = str(tmp_path / "here")
    assert run_python(show, NVFUSER_CACHE_DIR=folder, NVFUSER_CACHE_MB="3") == (
        f"True {folder} {3 * MEGABYTE}"
    )
    variables = {"NVFUSER_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path), "NVFUSER_CACHE_MB": "1"}
    assert run_python(show, **variables) == f"True {tmp_path}/nvfuser {MEGABYTE}"


@pytest.mark.parametrize(
    "off", [{"NVFUSER_KERNEL_CACHE": "0"}, {"NVFUSER_DISABLE": "nvrtc_caching"}]
)
def test_one_variable_turns_it_off(tmp_path: Path, off: dict[str, str]) -> None:
    code = SHOW + "c.store(b'k', b'p'); print(c.find(b'k'), c.stats()['misses_disabled'])"
    assert run_python(code, NVFUSER_CACHE_DIR=str(tmp_path), **off) == "None 1"
    assert not list(tmp_path.iterdir())


def test_a_bound_that_is_no_number_is_an_error(tmp_path: Path) -> None:
    code = (
        "from nvfuser_direct import KernelCache as C, UserError\n"
        "try: C.instance()\n"
        "except UserError as error: print(str(error))"
    )
    text = run_python(code, NVFUSER_CACHE_DIR=str(tmp_path), NVFUSER_CACHE_MB="lots")
    assert "NVFUSER_CACHE_MB is not a number" in text
    assert "found:    'lots'" in text


FORGE = """
import glob, struct, torch
from nvfuser_direct import FusionDefinition, KernelCache, KernelExecutor, _core

def run():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([4], contiguity=True)))
    executor = KernelExecutor()
    executor.compile(fd.fusion, [torch.ones(4)])
    return executor.run([torch.ones(4)])[0].tolist()

run()
cache = KernelCache.instance()
for path in glob.glob(cache.folder + "/*/*.kernel"):
    data = open(path, "rb").read()
    key_bytes, _, _ = struct.unpack("<QQQ", data[8:32])
    key, payload = data[32 : 32 + key_bytes], b"\\x7fELF is not enough"
    hash = 0xCBF29CE484222325
    for byte in key + payload:
        hash = ((hash ^ byte) * 0x100000001B3) % 2**64
    head = struct.pack("<QQQ", key_bytes, len(payload), hash)
    open(path, "wb").write(data[:8] + head + key + payload)
_core.clear_loaded_kernels()
print(run(), cache.stats()["hits"], cache.stats()["stores"])
"""


@pytest.mark.parametrize("verify", ["0", "1"])  # with facts, which lead to the entry, and without
def test_an_entry_that_does_not_load_is_compiled_again(tmp_path: Path, verify: str) -> None:
    text = run_python(FORGE, NVFUSER_CACHE_DIR=str(tmp_path), NVFUSER_VERIFY_PASSES=verify)
    assert text == "[-1.0, -1.0, -1.0, -1.0] 1 2"


# ---- What is trusted with code -------------------------------------------------------------------


def link_to_elsewhere(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def replace_with(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(path: Path) -> None:
        path.unlink()
        make(path)

    return replace


SOMETHING_ELSE = {
    "a FIFO": replace_with(os.mkfifo),
    "a folder": replace_with(os.mkdir),
    "a symbolic link": link_to_elsewhere,
    "a device": replace_with(lambda path: path.symlink_to("/dev/zero")),
    "a socket": replace_with(lambda path: os.mknod(path, stat.S_IFSOCK | 0o600)),
}


@pytest.mark.parametrize("kind", SOMETHING_ELSE)
def test_what_is_no_regular_file_is_a_miss_with_one_warning(cache: KernelCache, kind: str) -> None:
    cache.store(b"key", b"payload")
    SOMETHING_ELSE[kind](Path(cache.path_of(b"key")))
    what = "a symbolic link" if kind == "a device" else kind  # a node of its own needs privileges
    with pytest.warns(UserWarning, match=rf"does not use .*: it is {what}, not a regular file"):
        assert cache.find(b"key") is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.find(b"key") is None
    assert cache.stats()["misses_untrusted"] == 2


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_to_is_not_used(cache: KernelCache, mode: int) -> None:
    cache.store(b"key", b"payload")
    os.chmod(cache.path_of(b"key"), mode)
    with pytest.warns(UserWarning, match="others may write to it"):
        assert cache.find(b"key") is None


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_trusted(
    cache: KernelCache, mode: int, depth: int
) -> None:
    cache.store(b"key", b"payload")
    folder = Path(cache.path_of(b"key")).parents[1 - depth]
    folder.chmod(mode)
    with pytest.warns(UserWarning, match=rf"does not use {folder}: others may write to it"):
        assert cache.find(b"key") is None
    cache.store(b"key", b"other payload")
    assert cache.stats()["failed_stores"] == 1
    assert bool(cache.distrust) == (depth == 0)
    folder.chmod(0o700)
    assert cache.find(b"key") == b"payload"
    assert cache.distrust == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_what_belongs_to_another_user_is_not_used(cache: KernelCache, depth: int) -> None:
    cache.store(b"key", b"payload")
    path = Path(cache.path_of(b"key"))
    os.chown([path.parents[1], path.parent, path][depth], 12345, -1)
    with pytest.warns(UserWarning, match="it belongs to another user"):
        assert cache.find(b"key") is None


def test_the_folder_may_be_a_link_and_those_in_it_may_not(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(0o700)
    (tmp_path / "link").symlink_to(real)
    cache = KernelCache(str(tmp_path / "link"), MEGABYTE)
    cache.store(b"key", b"payload")
    assert cache.find(b"key") == b"payload"
    link_to_elsewhere(Path(cache.path_of(b"key")).parent)
    with pytest.warns(UserWarning, match="it is a symbolic link, not a folder"):
        assert cache.find(b"key") is None


def test_folders_and_files_are_for_this_user_alone_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cache = KernelCache(str(tmp_path / "cache"), MEGABYTE)
        cache.store(b"key", b"payload")
    finally:
        os.umask(before)
    path = Path(cache.path_of(b"key"))
    modes = [stat.S_IMODE(x.stat().st_mode) for x in (path, path.parent, path.parents[1])]
    assert modes == [0o600, 0o700, 0o700]
    assert cache.find(b"key") == b"payload"


def test_a_run_with_an_untrusted_folder_compiles_and_warns_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    code = (
        "import torch\n"
        "from nvfuser_direct import FusionDefinition, KernelCache\n"
        "for negate in (True, False):\n"
        "    with FusionDefinition() as fd:\n"
        "        x = fd.define_tensor([-1])\n"
        "        fd.add_output(fd.ops.neg(x) if negate else fd.ops.abs(x))\n"
        "    fd.execute([torch.ones(4)])\n"
        "print(KernelCache.instance().stats()['misses_untrusted'])\n"
        "from nvfuser_direct.__main__ import main; main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NVFUSER_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith("2\n")
    assert result.stderr.count("The kernel cache does not use") == 1
    assert not list(tmp_path.iterdir())
    assert f"{tmp_path}, not used: others may write to it\n" in result.stdout
    assert "-> chmod go-w on the folder" in result.stdout


@pytest.mark.parametrize(
    ("off", "advice"),
    [
        ({"NVFUSER_KERNEL_CACHE": "0"}, "unset NVFUSER_KERNEL_CACHE"),
        ({"NVFUSER_DISABLE": "nvrtc_caching"}, "take nvrtc_caching out of NVFUSER_DISABLE"),
        ({"NVFUSER_CACHE_MB": "0"}, "set NVFUSER_CACHE_MB to more than 0"),
    ],
)
def test_the_doctor_names_what_keeps_the_cache_off(off: dict[str, str], advice: str) -> None:
    code = "import nvfuser_direct as n; print([x.fix for x in n.doctor_report()][-1])"
    assert run_python(code, **off).startswith(advice)

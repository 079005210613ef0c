"""FusionCache to a file and back: ids, statements, and the kernels of what was executed."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from nvfuser_direct import UserError

from . import cache_file, fusion_cache
from .cache_file import CacheFile
from .environment import loads_in_parallel
from .errors import user_error
from .handles import Scalar, Tensor, Vector
from .statements import KINDS

if TYPE_CHECKING:
    from .entry import Entry
    from .fusion_cache import FusionCache, Generation
    from .trie import Node

_LETTERS = {Tensor: "T", Scalar: "S", Vector: "V"}
_CLASSES = {letter: handle for handle, letter in _LETTERS.items()}
_FOLDER = "nvfuser_kernel_db"


def serialize(cache: FusionCache, filename: str) -> None:
    """Write a cache to a file.

    Parameters
    ----------
    cache : FusionCache
        The cache.
    filename : str
        The file.
    """
    code, facts = cache_file.used_kernels()
    contents = CacheFile(_description(cache), code, facts)
    data = cache_file.to_bytes(contents)
    # The kernels are run as code: others may read the file, and not write it.
    with open(os.open(filename, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), "wb") as file:
        file.write(data)


def deserialize(cache: FusionCache, filename: str) -> None:
    """Fill an empty cache from a file.

    Parameters
    ----------
    cache : FusionCache
        The cache.
    filename : str
        The file.
    """
    if cache.num_fusions() > 0:
        raise user_error(
            "Deserialization is prohibited if FusionCache is already populated.",
            found=f"{cache.num_fusions()} fusions",
            fix="FusionCache.reset()",
        )
    contents = cache_file.from_bytes(_read(filename))
    cache_file.check_versions(contents.description)
    _fill(cache, contents)


def _read(filename: str) -> bytes:
    try:
        file = open(filename, "rb")  # noqa: SIM115
    except OSError as error:
        raise user_error(
            "Failed to open FusionCache buffer.", node=filename, found=str(error)
        ) from error
    with file:
        try:
            return file.read()
        except OSError as error:
            raise user_error(
                "Failed to read entire FusionCache buffer.", node=filename, found=str(error)
            ) from error


# -- what a description has --


def _description(cache: FusionCache) -> dict[str, Any]:
    generation = cache._generation
    with generation.lock:
        entries = list(generation.entries)
        counts = {"lookups": generation.lookups, "hits": generation.hits}
        hits = [entry.hits for entry in entries]
    numbers: dict[int, int] = {id(generation.trie.root): -1}
    statements: list[Any] = []
    for node in generation.trie.nodes():
        assert node.parent is not None
        numbers[id(node)] = len(statements)
        results = [None if r is None else [_LETTERS[r[0]], r[1]] for r in node.results]
        statements.append([numbers[id(node.parent)], node.key, results, node.line])
    definitions = [
        {
            "node": numbers[id(entry.node)],
            "hits": count,
            "spelled_out": sorted(entry.spelled_out),
            "was_executed": entry.fec is not None,
        }
        for entry, count in zip(entries, hits, strict=True)
    ]
    return {
        "versions": cache_file.versions(),
        "max_fusions": cache._max_fusions,
        "counts": counts,
        "statements": statements,
        "definitions": definitions,
    }


def _fill(cache: FusionCache, contents: CacheFile) -> None:
    description = contents.description
    if len(description["definitions"]) > cache._max_fusions:
        cache._max_fusions = description["max_fusions"]
    generation = fusion_cache.Generation()
    nodes = _read_statements(generation, description["statements"])
    for number, written in enumerate(description["definitions"]):
        node = generation.trie.root if written["node"] < 0 else nodes[written["node"]]
        entry = generation.add(number, node, written["spelled_out"])
        entry.hits = written["hits"]
    generation.lookups = description["counts"]["lookups"]
    generation.hits = description["counts"]["hits"]
    cache_file.carry_kernels(contents)
    executed = [
        entry
        for entry, written in zip(generation.entries, description["definitions"], strict=True)
        if written["was_executed"]
    ]
    _build(executed)
    old = cache._generation
    with old.lock:
        if old.entries:
            raise user_error(
                "Deserialization is prohibited if FusionCache is already populated.",
                found="fusions that another thread defined meanwhile",
            )
        old.is_reset = True
        cache._generation = generation
    cache._max_fusions = max(description["max_fusions"], len(generation.entries))


def _read_statements(generation: Generation, statements: list[Any]) -> list[Node]:
    nodes: list[Node] = []
    for parent, key, results, line in statements:
        above = generation.trie.root if parent < 0 else nodes[parent]
        read_key = _tuples(key)
        read_results = tuple(None if r is None else (_CLASSES[r[0]], r[1]) for r in results)
        where = None if line is None else (line[0], line[1])
        node = generation.trie.child(above, KINDS[key[0]], read_key, read_results, where)
        nodes.append(node)
    return nodes


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _build(entries: list[Entry]) -> None:
    """Make the IR of fusions that were executed, and their caches of kernels."""
    if not loads_in_parallel():
        for entry in entries:
            entry.executor_cache()
        return
    with ThreadPoolExecutor() as pool:
        failures = [error for error in pool.map(_failure_of, entries) if error is not None]
    if failures:
        raise user_error(
            "Failed to load fusions in parallel.",
            found=f"{len(failures)} of {len(entries)} failed",
            fix="take parallel_serde out of NVFUSER_ENABLE to see the cause",
        ) from failures[0]


def _failure_of(entry: Entry) -> Exception | None:
    try:
        entry.executor_cache()
    except Exception as error:
        return error
    return None


# -- the default workspace --


def workspace_folder() -> str:
    """Where files of all processes of this user lie."""
    return os.path.join(tempfile.gettempdir(), _FOLDER)


def workspace_file(rank: int | None) -> str:
    """The file of this kind of device, compiler and rank."""
    found = cache_file.versions()
    of_rank = "" if rank is None else f"_rank{rank}"
    device = "device{}_{}".format(*found["device"])
    cuda = "cuda{}_{}".format(*found["cuda"])
    return os.path.join(workspace_folder(), f"nvf_serde{of_rank}_{device}_{cuda}")


def load_default_workspace(cache: FusionCache) -> None:
    """Fill a new cache from the file of the default workspace, if it is there and serves.

    A file that does not serve is named in a warning and removed; the program goes on with an empty
    cache.
    """
    if not os.path.isdir(workspace_folder()):  # looking for devices would take time
        return
    path = workspace_file(cache._selected_device)
    if not os.path.exists(path):
        return
    try:
        reason = cache_file.distrust_of(path)
        if reason is not None:
            raise user_error("It is not read.", found=reason)
        contents = cache_file.from_bytes(_read(path))
        cache_file.check_versions(contents.description)
        count = len(contents.description["definitions"])
        if count > cache._max_fusions:
            warnings.warn(
                f"The default workspace has {count} fusions, and at most {cache._max_fusions} are "
                "allowed: it is not read.",
                stacklevel=2,
            )
            return
        limit = cache._max_fusions
        _fill(cache, contents)
        cache._max_fusions = max(limit, count)
    except Exception as error:
        warnings.warn(
            f"Failed to deserialize common workspace {path}, which is removed: {error}",
            stacklevel=2,
        )
        with contextlib.suppress(OSError):
            os.remove(path)


def serialize_to_workspace() -> None:
    """Write the cache of this process to the default workspace."""
    cache = fusion_cache.FusionCache._create()
    folder = workspace_folder()
    path = workspace_file(cache._selected_device)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    temporary = os.path.join(folder, f"nvf_serde_tmp_{os.getpid()}")
    try:
        cache.serialize(temporary)
        os.replace(temporary, path)
    except (OSError, UserError) as error:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        print(f"Failed to rename {temporary} to {path}: {error}")


def enable_automatic_serialization() -> None:
    """Write the cache to the default workspace when the process ends.

    Where LOCAL_RANK is set, the cache is made for that rank.
    """
    rank = os.environ.get("LOCAL_RANK")
    if rank is not None:
        fusion_cache.FusionCache.get(selected_device=int(rank))
    atexit.register(serialize_to_workspace)


def disable_automatic_serialization() -> None:
    """Undo `enable_automatic_serialization`."""
    atexit.unregister(serialize_to_workspace)

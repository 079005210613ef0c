"""The file of a FusionCache: what its bytes say, and whether they may be believed.

    magic | schema version | digest of the rest | length of the description | description | entries

The description is JSON: versions, statements, definitions. The entries are kernels and what it
takes to launch them, each as the bytes of its file (csrc/runtime/kernel_cache.h).
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
from dataclasses import dataclass
from typing import Any

import nvfuser_direct as direct
from nvfuser_direct import KernelCache

from .errors import user_error

MAGIC = b"NVFSERDE"
SCHEMA = 1
_HEAD = struct.Struct("<8sI32sQ")
_LENGTH = struct.Struct("<Q")


@dataclass
class CacheFile:
    """The contents of a file.

    Attributes
    ----------
    description : dict
        Versions, statements and definitions.
    code, facts : list[bytes]
        Entries of the two kernel caches.
    """

    description: dict[str, Any]
    code: list[bytes]
    facts: list[bytes]


def versions() -> dict[str, Any]:
    """The facts that decide whether a file serves in this process."""
    found = direct._core.internal.code_versions()
    return {"device": list(found["device"]), "cuda": list(found["cuda"]), "build": found["build"]}


def to_bytes(contents: CacheFile) -> bytes:
    """The bytes of a file."""
    text = json.dumps(contents.description, separators=(",", ":"), sort_keys=True).encode()
    body = bytearray(text)
    for entries in (contents.code, contents.facts):
        body += _LENGTH.pack(len(entries))
        for entry in entries:
            body += _LENGTH.pack(len(entry)) + entry
    digest = hashlib.sha256(bytes(body)).digest()
    return _HEAD.pack(MAGIC, SCHEMA, digest, len(text)) + bytes(body)


def from_bytes(data: bytes) -> CacheFile:
    """The contents that bytes say; an error unless they are whole, and of this schema."""
    if not data:
        raise user_error("FusionCache buffer is empty.", expected="a file that serialize() wrote")
    if len(data) < _HEAD.size:
        raise _corrupt("too few bytes")
    magic, schema, digest, text_length = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise _corrupt("another kind of file")
    if schema != SCHEMA:
        raise user_error(
            "Failed to verify the schema version of the FusionCache buffer",
            expected=f"schema {SCHEMA}",
            found=f"schema {schema}",
            fix="write the file again with this version",
        )
    body = data[_HEAD.size :]
    if hashlib.sha256(body).digest() != digest or text_length > len(body):
        raise _corrupt("other bytes than were written")
    description = json.loads(body[:text_length])
    code, position = _read_entries(body, text_length)
    facts, _ = _read_entries(body, position)
    return CacheFile(description, code, facts)


def check_versions(description: dict[str, Any]) -> None:
    """Refuse the file of another compiler, kind of device or build."""
    here, there = versions(), description["versions"]
    if here["cuda"] != there["cuda"]:
        raise user_error(
            "Expected cuda version {}.{} but flatbuffer has cuda version {}.{}".format(
                *here["cuda"], *there["cuda"]
            ),
            fix="write the file again with this compiler",
        )
    for what in ("device", "build"):
        if here[what] != there[what]:
            raise user_error(
                f"Expected {what} {here[what]} but the FusionCache buffer is for {there[what]}",
                fix="write the file again here",
            )


def _read_entries(body: bytes, position: int) -> tuple[list[bytes], int]:
    (count,) = _LENGTH.unpack_from(body, position)
    position += _LENGTH.size
    entries = []
    for _ in range(count):
        (length,) = _LENGTH.unpack_from(body, position)
        position += _LENGTH.size
        entries.append(body[position : position + length])
        position += length
    return entries, position


def _corrupt(found: str) -> Exception:
    return user_error(
        "Failed to verify the integrity of FusionCache buffer.",
        expected="a file that serialize() wrote",
        found=found,
    )


def used_kernels() -> tuple[list[bytes], list[bytes]]:
    """Machine code and facts that this process found or stored."""
    return KernelCache.instance().used_entries(), KernelCache.facts().used_entries()


def carry_kernels(contents: CacheFile) -> None:
    """Find the kernels of a file in this process."""
    for cache, entries in (
        (KernelCache.instance(), contents.code),
        (KernelCache.facts(), contents.facts),
    ):
        for entry in entries:
            cache.carry(entry)


def distrust_of(path: str) -> str | None:
    """Why a file that the program did not name is not read; None: it and its folder are this
    user's alone.

    Its kernels are run as code, so another user must not be able to place it.
    """
    for place in (os.path.dirname(path), path):
        facts = os.lstat(place)
        if stat.S_ISLNK(facts.st_mode):
            return f"{place} is a link"
        if facts.st_uid != os.getuid():
            return f"{place} belongs to another user"
        if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others may write to {place}"
    return None

"""A process that defines and runs random fusions, and one that loads its cache and runs them again.

python serialized_runs.py write <folder>    # defines, runs, serializes; keeps the results
python serialized_runs.py read <folder>     # loads, defines and runs: prints what was compiled

NVFUSER_TEST_SERIALIZED=n takes n definitions instead of 25.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from random_definitions import RandomDefinition

from nvfuser import FusionCache, FusionDefinition
from nvfuser_direct import KernelCache

if TYPE_CHECKING:
    import nvfuser

COUNT = int(os.environ.get("NVFUSER_TEST_SERIALIZED", "25"))


def define(seed: int) -> tuple[nvfuser.FusionDefinition, list[torch.Tensor]]:
    """A definition and inputs for it."""
    program = RandomDefinition(seed)
    with FusionDefinition() as fd:
        program.write(fd)
    return fd, program.inputs()


def write(folder: Path) -> None:
    """Run everything but the last definition, which is defined alone, and serialize."""
    ids = []
    for seed in range(COUNT):
        fd, inputs = define(seed)
        torch.save(fd.execute(inputs), folder / f"{seed}.pt")
        ids.append(fd.id())
    never_run, _ = define(COUNT)
    ids.append(never_run.id())
    FusionCache.get().serialize(str(folder / "cache"))
    (folder / "ids.json").write_text(json.dumps(ids))


def read(folder: Path) -> None:
    """Load, define and run again."""
    cache = FusionCache.get(load_from_default_workspace=False)
    cache.deserialize(str(folder / "cache"))
    count = cache.num_fusions()
    ids, equal, stores = [], [], [_stores()]
    for seed in range(COUNT):
        fd, inputs = define(seed)
        ids.append(fd.id())
        outputs = fd.execute(inputs)
        stores.append(_stores())
        kept = torch.load(folder / f"{seed}.pt")
        equal.append(all(_are_equal(a, b) for a, b in zip(outputs, kept, strict=True)))
    never_run, inputs = define(COUNT)
    ids.append(never_run.id())
    compiled = {
        "seeds": [seed for seed in range(COUNT) if stores[seed + 1] > stores[seed]],
        "hits": KernelCache.instance().stats()["hits"],
    }
    never_run.execute(inputs)
    report = {
        "ids": ids,
        "are_equal": all(equal),
        "compiled": compiled,
        "count": count,
        "count_behind": cache.num_fusions(),
    }
    print(json.dumps(report))


def _stores() -> int:
    """How much was compiled, or found out, in this process."""
    return sum(cache.stats()["stores"] for cache in (KernelCache.instance(), KernelCache.facts()))


def _are_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether both have the same elements, byte for byte: NaN is equal to itself."""
    is_alike = a.shape == b.shape and a.dtype == b.dtype
    return is_alike and torch.equal(_bytes(a), _bytes(b))


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    # A copy: what has one element counts as contiguous, whatever its stride is.
    copy = torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor)
    return copy.reshape(-1).view(torch.uint8)


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))

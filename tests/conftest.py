"""Fixtures that every test may use.

``target``  "cpu" and "cuda": numeric tests run on both. NVFUSER_TEST_TARGETS=cpu leaves one out.
``rng``     a torch generator; a failure prints its seed, NVFUSER_TEST_SEED sets it.
``outcome`` counts what became of random cases: where all are refused, nothing was shown.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import torch

TARGETS = ("cpu", "cuda")

# Every kernel that a test lowers is looked at after every pass. Read when the extension is first
# asked for an option, so it is set before anything imports it.
os.environ.setdefault("NVFUSER_VERIFY_PASSES", "1")


def _wanted_targets() -> list[str]:
    wanted = os.environ.get("NVFUSER_TEST_TARGETS", ",".join(TARGETS)).split(",")
    unknown = set(wanted) - set(TARGETS)
    if unknown:
        raise pytest.UsageError(f"NVFUSER_TEST_TARGETS: unknown {unknown}, known {TARGETS}")
    return wanted


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.gpu if name == "cuda" else ()) for name in TARGETS]
)
def target(request: pytest.FixtureRequest) -> str:
    """The kind of device that a test's tensors are on."""
    if request.param not in _wanted_targets():
        pytest.skip("left out by NVFUSER_TEST_TARGETS")
    if request.param == "cuda" and not _has_cuda():
        pytest.skip("no CUDA device")
    return request.param


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> torch.Generator:
    """Random numbers: the same for a test in every run, unless NVFUSER_TEST_SEED says otherwise."""
    import torch

    seed = int(os.environ.get("NVFUSER_TEST_SEED", zlib.crc32(request.node.nodeid.encode())))
    print(f"NVFUSER_TEST_SEED={seed}")  # captured: shown with a failure
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def outcome() -> Iterator[Callable[[str], None]]:
    """Record what became of a case of a property; at most three in four may be "refused: ...".

    The random schedules refuse between a tenth and half of their cases.
    """
    from hypothesis import event

    counts: Counter[str] = Counter()

    def record(text: str) -> None:
        event(text)
        counts["refused" if text.startswith("refused") else "done"] += 1

    yield record
    assert counts["refused"] <= 3 * counts["done"], f"too few cases were run: {dict(counts)}"

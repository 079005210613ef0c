"""Calls that are right but for an argument or two end in errors of ours, and change nothing.

Signatures are read from the stubs, so that every function, method and constructor of the extension
is called with arguments of the right types most of the time. A refused call must not:
crash, raise what a C++ library or Python itself says, or leave anything behind in a fusion. The
fusion after all calls can be printed, translated, cloned and lowered.

tests/lifetime/test_fuzz.py is the other half: arguments of types that make no sense.
"""

from __future__ import annotations

import faulthandler
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import profiles
import pytest
from hostile_arguments import Pool, callees

NUM_CALLS = 400
MAX_TENSORS = 60  # of the fusion that grows
ADDRESS_SPACE = 16 << 30  # bytes: what allocates without bounds fails before the machine does

# Texts of libraries that know nothing about the call. Operations are called std::real, std::imag.
FOREIGN = re.compile(
    r"_M_|basic_string|bad_\w+|std::(?!complex|real\b|imag\b)|::at\b|stoi|INTERNAL ASSERT"
)


def state(fusion: Any) -> object:
    return fusion.print_math(False), fusion.print_transforms(), len(fusion.vals()), fusion.hash()


def check_error(nvf: Any, error: BaseException, call: str) -> None:
    kinds = (nvf.UserError, TypeError, ValueError, IndexError, AttributeError)
    assert isinstance(error, kinds), f"{call}: {error!r}"
    assert str(error).strip(), f"{call}: an error without a text"
    assert not FOREIGN.search(str(error)), f"{call}: {error!r}"


def call_all(seed: int) -> None:
    """Run in a process of its own."""
    import resource

    import nvfuser_direct as nvf

    faulthandler.enable()
    faulthandler.dump_traceback_later(240, exit=True)
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which maps terabytes
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    order = random.Random(seed)
    pool = Pool(nvf, order)
    everything = callees(Path(nvf.__file__).parent / "_core")
    guard = nvf.FusionGuard(pool.fusion)
    for _ in range(NUM_CALLS):
        callee = order.choice(everything)
        owner: Any = nvf
        if callee.owner is not None:
            if callee.owner not in pool.by_class:
                continue
            owner = pool.plain(callee.owner, hostile=False)
        try:
            args, kwargs = pool.arguments(callee)
        except LookupError:
            continue
        path = callee.name.split(".")[-1 if callee.owner is not None else 0 :]
        call = f"{callee.name}{args!r}{kwargs!r}"
        before = [state(fusion) for fusion in pool.fusions]
        print(call, file=sys.stderr)
        try:
            function = owner
            for name in path:
                function = getattr(function, name)
            result = function(*args, **kwargs) if callable(function) else function
            repr(result)
        except Exception as error:
            check_error(nvf, error, call)
            assert [state(fusion) for fusion in pool.fusions] == before, f"changed by {call}"
            continue
        if pool.belongs(result) and len(pool.by_class["TensorView"]) < MAX_TENSORS:
            pool.add(result)
    del guard
    check_usable(nvf, pool.fd)


def check_usable(nvf: Any, fd: Any) -> None:
    """The calls made a fusion like any other; where it has no kernel, an error says so."""
    copy = fd.fusion.clone()
    assert copy == fd.fusion
    for text in (lambda: repr(fd), lambda: nvf.translate_fusion(copy, schedule=True)):
        assert not FOREIGN.search(attempt(nvf, text))
    for target in ("cpu", "cuda"):
        attempt(nvf, lambda target=target: copy.lower(target=target).print_source())


def attempt(nvf: Any, make_text: Any) -> str:
    try:
        return make_text()
    except Exception as error:
        check_error(nvf, error, "in the end")
        return ""


@pytest.mark.parametrize("seed", range(3 * profiles.settings.default.max_examples))
def test_hostile_calls(seed: int) -> None:
    environment = {**os.environ, "NVFUSER_KERNEL_CACHE": "0"}
    result = subprocess.run(
        [sys.executable, __file__, str(seed)], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0, result.stderr[-6000:]


if __name__ == "__main__":
    call_all(int(sys.argv[1]))

"""The effect of one lowering pass: the kernel before it and after it, as text that tests can hold.

Golden texts leave out what the pass does not decide: storage, loops that are bound to hardware, and
numbers of loop indices.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import pytest

from nvfuser_direct import ParallelType, UserError, lowering_passes

if TYPE_CHECKING:
    from nvfuser_direct import FusionDefinition, TensorView

BX, BY = ParallelType.grid_x, ParallelType.grid_y
TX, TY = ParallelType.block_x, ParallelType.block_y
NAMES = [name for name, _ in lowering_passes()]


def bound(fd: FusionDefinition, reference: TensorView, *bindings: ParallelType) -> None:
    """All tensors have the transforms of `reference`, and its first axes these bindings."""
    fd.sched.transform_like(reference)
    for axis, binding in enumerate(bindings):
        reference.axis(axis).parallelize(binding)
    fd.sched.parallelize_like(reference)
    fd.sched.inline_most()


def text_around(fd: FusionDefinition, name: str, target: str = "cuda") -> tuple[str, str]:
    """The whole text of the kernel before the pass and after it."""
    before = NAMES[NAMES.index(name) - 1]
    return tuple(str(fd.fusion.lower(target=target, until=until)) for until in (before, name))


def plain(text: str, *, storage: bool = False) -> str:
    """Statements, loops and conditions: without storage, hardware loops and what is usual."""
    lines, hidden = [], []
    for line in text.splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2
        while hidden and depth <= hidden[-1]:
            hidden.pop()
        if ("ALLOCATE" in line and not storage) or line.startswith("}") or not line.strip():
            continue
        if re.match(r"\s*FOR (thread|block)Idx", line):
            hidden.append(depth)
            continue
        line = line.replace("( ", "(").replace(" )", ")").replace(", allreduce = false", "").strip()
        line = re.sub(
            r"^T\d+_(\w)_.*ALLOCATE\(buffer=(T\d+_\w)_.*mem_type=\w+, size=(.*)\)$", r"\2: \3", line
        )
        line = re.sub(r", T\d+_g_int64_t\[.*?\]\)", ")", line)  # counters of barriers
        line = re.sub(r"\bb\d+\b", "last", line)  # whether this is the last block
        line = re.sub(
            r", (cache_op=\w+|initial value = [^,)]*\)|entrance = 0 of 1|is_last = \w+)", "", line
        )
        line = re.sub(r"FOR (\w+) in [^{]*\{(.*)\}(.*):", r"FOR \1 in \2\3:", line)
        line = re.sub(r"\w+Idx\.(\w)", lambda at: ("b" if "block" in at[0] else "t") + at[1], line)
        lines.append("  " * (depth - len(hidden) - 1) + line.strip())
    text = "\n".join(lines)
    names: dict[str, str] = {}
    for found in re.finditer(r"FOR (i\d+) ", text):
        names.setdefault(found[1], f"k{len(names)}")
    return re.sub(r"\bi\d+\b", lambda name: names.get(name[0], name[0]), text) + "\n"


def check_pass(
    fd: FusionDefinition,
    name: str,
    before: str,
    expected: str,
    *,
    target: str = "cuda",
    storage: bool = False,
) -> None:
    """The kernel is `before` when the pass gets it, and `expected` when it is done."""
    found = [plain(text, storage=storage) for text in text_around(fd, name, target)]
    assert found[0] == textwrap.dedent(before).lstrip("\n")
    assert found[1] == textwrap.dedent(expected).lstrip("\n")


def check_refused(fd: FusionDefinition, name: str, match: str, target: str = "cuda") -> None:
    """The pass is the first one that says no, and says `match`."""
    fd.fusion.lower(target=target, until=NAMES[NAMES.index(name) - 1])
    with pytest.raises(UserError, match=match):
        fd.fusion.lower(target=target, until=name)


def check_unchanged(fd: FusionDefinition, name: str, target: str = "cuda") -> None:
    """The pass leaves the kernel as it is."""
    before, after = text_around(fd, name, target)
    assert before == after

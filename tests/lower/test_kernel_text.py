"""The kernel IR as text: what is computed once has a name where it is computed, and all else is
printed with its computation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from nvfuser_direct import DataType, FusionDefinition, ParallelType

if TYPE_CHECKING:
    from collections.abc import Callable

BX, TX = ParallelType.grid_x, ParallelType.block_x
NAME = re.compile(r"\b[ibdf]\d+\b")


def unrolled() -> FusionDefinition:
    """Four elements a thread, with an unswitched condition: parts of indices have names."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.relu(fd.ops.neg(x))
        fd.add_output(y)
        y.split(0, 128)
        y.split(0, 4)
        fd.sched.transform_like(y)
        for axis, binding in enumerate((BX, ParallelType.unroll, TX)):
            y.axis(axis).parallelize(binding)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    return fd


def computed_scalars() -> FusionDefinition:
    """A factor that is computed from a scalar, and a sum over blocks whose last one goes on."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        n = fd.define_scalar(DataType.Double)
        y = fd.ops.sum(fd.ops.mul(x, fd.ops.mul(n, 3.0)), [0])
        fd.add_output(fd.ops.neg(y))
        y.split(0, 128)
        y.axis(0).parallelize(BX)
        y.axis(1).parallelize(TX)
        fd.sched.transform_like(y)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    return fd


def undeclared(text: str, known: set[str]) -> set[str]:
    """Names that a line reads and no statement, loop or reduction around or before it computes."""
    scopes: list[tuple[int, set[str]]] = [(0, set(known))]
    missing = set()
    for line in text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        while scopes[-1][0] > depth:
            scopes.pop()
        body = re.sub(r"\{[^}]*\}", "", line)  # domains
        made = re.findall(r"^\s*([ibdf]\d+) = |FOR (i\d+) in|is_last = (b\d+)", body)
        names = {name for found in made for name in found if name}
        is_loop = "FOR i" in body
        if is_loop:
            scopes.append((depth + 1, names))
        else:
            scopes[-1][1].update(names)
        seen = set().union(*(scope for _, scope in scopes))
        missing |= set(NAME.findall(body)) - seen
        if re.search(r"(IF .*|ELSE|LOOP.*):$", body):
            scopes.append((depth + 1, set()))
    return missing


@pytest.mark.parametrize("target", ["cuda", "cpu"])
@pytest.mark.parametrize("define", [unrolled, computed_scalars])
def test_every_name_is_declared_before_it_is_read(
    target: str, define: Callable[[], FusionDefinition]
) -> None:
    fusion = define().fusion
    scalars = {str(val) for val in fusion.inputs() if val.is_scalar()}
    assert undeclared(str(fusion.lower(target=target)), known={"i0"} | scalars) == set()


def test_a_declared_part_of_an_index_is_a_name_from_there_on() -> None:
    text = str(unrolled().fusion.lower())
    declared = re.search(
        r"^  (i\d+) = \( blockIdx\.x \* 512 \) \+ threadIdx\.x;$", text, re.MULTILINE
    )
    assert declared
    base = declared[1]
    assert text.count("512") == 1
    assert f"IF ( ( {base} + 384 ) < i0 ):" in text
    assert re.search(rf"T0_g\[\( {base} \+ \( i\d+ \* 128 \) \)\]", text)
    inner = re.search(rf"^ +(i\d+) = {base} \+ \( i\d+ \* 128 \);$", text, re.MULTILINE)
    assert inner
    assert f"IF ( {inner[1]} < i0 ):" in text
    assert f"-T0_g[{inner[1]}];" in text


def test_a_name_ends_with_its_scope() -> None:
    """The other branch, which computes the same index once, spells it out."""
    text = str(unrolled().fusion.lower())
    then, otherwise = text.split("ELSE:")[0], text.split("ELSE:")[1]
    inner = re.search(r"^ +(i\d+) = i\d+ \+", otherwise, re.MULTILINE)
    assert inner
    assert inner[1] not in then


def test_a_scalar_without_a_declaration_is_spelled_out() -> None:
    text = str(computed_scalars().fusion.lower())
    assert re.search(r"= T0_g\[.*\] \* \( d\d+ \* double\(3\) \);", text)


def test_the_last_block_is_named_where_it_turns_out() -> None:
    text = str(computed_scalars().fusion.lower())
    last = re.search(r"GRIDREDUCTION\(.*is_last = (b\d+)", text)
    assert last
    assert re.search(rf"IF .*{last[1]}", text)


def test_the_text_of_one_statement_needs_no_other() -> None:
    """A loop alone: what was computed before it is spelled out."""
    kernel = unrolled().fusion.lower()
    loop = next(s for s in kernel.body if "FOR" in str(s))
    assert "512" in str(loop)

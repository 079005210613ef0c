"""Lowering up to a pass, one pass alone, and what the runner records."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pass_text import BX, NAMES, TX, bound, text_around

from nvfuser_direct import FusionDefinition, MemoryType, UserError, lowering_passes


@pytest.fixture
def fd() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.neg(copy)
        fd.add_output(y)
        copy.set_memory_type(MemoryType.shared)
        bound(fd, y, BX, TX)
    return fd


def test_every_pass_has_its_tests() -> None:
    folder = Path(__file__).parent
    assert [name for name in NAMES if not (folder / f"test_{name}.py").exists()] == []


def test_until_is_the_last_pass_that_runs(fd: FusionDefinition) -> None:
    for count, name in enumerate(NAMES, start=1):
        assert [record.name for record in fd.fusion.lower(until=name).passes] == NAMES[:count]
    assert [record.name for record in fd.fusion.lower().passes] == NAMES


def test_lowering_up_to_a_pass_leaves_what_its_record_holds(fd: FusionDefinition) -> None:
    text = str(fd.fusion.lower(until=NAMES[0]))
    for record in fd.fusion.lower(record_passes=True).passes:
        text = text if record.text == "(unchanged)\n" else record.text
        assert str(fd.fusion.lower(until=record.name)) == text


def test_an_unknown_pass_is_an_error_that_lists_all_and_suggests_one(fd: FusionDefinition) -> None:
    with pytest.raises(ValueError, match='There is no pass "insert_sync"') as error:
        fd.fusion.lower(until="insert_sync")
    assert all(name in str(error.value) for name, _ in lowering_passes())
    assert 'did you mean "insert_syncs"?' in str(error.value)


def test_a_pass_that_changes_no_text_is_recorded_as_unchanged(fd: FusionDefinition) -> None:
    texts = {record.name: record.text for record in fd.fusion.lower(record_passes=True).passes}
    assert texts["validate_schedule"] == texts["model_ranges"] == "(unchanged)\n"
    assert texts["build_loop_nests"].startswith("%kernel_ir {")
    assert all(record.text == "" for record in fd.fusion.lower().passes)


def test_a_dump_of_every_pass_says_where_nothing_changed() -> None:
    script = (
        "from nvfuser_direct import FusionDefinition\n"
        "with FusionDefinition() as fd:\n"
        "    fd.add_output(fd.ops.neg(fd.define_tensor([8], contiguity=True)))\n"
        "fd.fusion.lower()\n"
    )
    command = [sys.executable, "-c", script]
    result = subprocess.run(
        command,
        env={**os.environ, "NVFUSER_DUMP": "lower_verbose"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"After model_loops:\n\(unchanged\)\n", result.stdout)


def test_a_kernel_that_is_not_lowered_to_its_end_has_no_source(fd: FusionDefinition) -> None:
    for name in NAMES[:-1]:
        kernel = fd.fusion.lower(until=name)
        with pytest.raises(UserError, match="The kernel is not lowered to its end"):
            kernel.print_source()
        with pytest.raises(UserError, match="The kernel is not lowered to its end"):
            kernel.bank_conflicts()
    assert "__global__" in fd.fusion.lower(until=NAMES[-1]).print_source()


def test_one_pass_alone_does_what_it_does_in_the_pipeline(fd: FusionDefinition) -> None:
    for before, name in itertools.pairwise(NAMES):
        kernel = fd.fusion.lower(until=before)
        kernel.run_pass(name)
        assert str(kernel) == text_around(fd, name)[1]


def test_passes_on_statements_can_be_left_out(fd: FusionDefinition) -> None:
    kernel = fd.fusion.lower(until="build_loop_nests")
    kernel.run_pass("place_conditions")
    assert "BLOCKSYNC" not in str(kernel)
    assert [record.name for record in kernel.passes][-2:] == [
        "build_loop_nests",
        "place_conditions",
    ]


@pytest.mark.parametrize(
    ("until", "name"), [("insert_syncs", "insert_syncs"), ("replace_sizes", "build_loop_nests")]
)
def test_a_pass_that_is_not_next_is_refused(fd: FusionDefinition, until: str, name: str) -> None:
    kernel = fd.fusion.lower(until=until)
    with pytest.raises(ValueError, match=f'The pass "{name}" cannot be run on this kernel'):
        kernel.run_pass(name)

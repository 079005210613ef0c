"""Statements of kernels as text: what is read back is the kernel that was printed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch
from pass_text import BX, NAMES, TX, bound

from nvfuser_direct import FusionDefinition, Kernel, KernelExecutor, MemoryType
from nvfuser_direct._core.internal import find_violations, print_statements, read_statements

FIRST = NAMES.index("build_loop_nests")
SCHEDULES = Path(__file__).resolve().parents[2] / "examples" / "schedules"


def example(name: str) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        if name == "pointwise":
            y = fd.ops.neg(fd.ops.exp(x))
            fd.add_output(y)
            x.cache_after()
            y.merge(0, 1).split(0, 128)
            bound(fd, y, BX, TX)
        elif name == "reduction":
            y = fd.ops.sum(x, [0, 1])
            fd.add_output(y)
            y.axis(0).parallelize(BX)
            y.axis(1).parallelize(TX)
        elif name == "circular":
            y = fd.ops.neg(x)
            fd.add_output(y)
            loaded = x.cache_after()
            loaded.set_memory_type(MemoryType.shared)
            loaded.axis(1).parallelize(TX)
            loaded.inline_at(1)
            loaded.circular_buffer(3, 2)
        elif name == "welford":
            _, var, _ = fd.ops.welford(x, [1])
            fd.add_output(var)
            var.axis(0).parallelize(BX)
        else:
            y = fd.ops.pad(x, [1, 2])
            fd.add_output(fd.ops.where(fd.ops.gt(y, 0.5), y, 0.0))
            fd.sched.inline_most()
    return fd


EXAMPLES = ["pointwise", "reduction", "circular", "welford", "pad"]


def read_again(kernel: Kernel) -> str:
    text = print_statements(kernel)
    read_statements(kernel, text)
    return text


@pytest.mark.parametrize("target", ["cuda", "cpu"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kernel_after_every_pass_reads_back(name: str, target: str) -> None:
    fd = example(name)
    for until in NAMES[FIRST:]:
        kernel = fd.fusion.lower(target=target, until=until)
        shown = str(kernel)
        text = read_again(kernel)
        assert print_statements(kernel) == text
        assert str(kernel) == shown
        assert find_violations(kernel) == []


@pytest.mark.parametrize("target", ["cuda", "cpu"])
@pytest.mark.parametrize(
    "name", sorted(path.stem for path in SCHEDULES.glob("*.py") if path.stem != "harness")
)
def test_kernels_of_examples_read_back_after_every_pass(
    name: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCHEDULES))
    example, harness = importlib.import_module(name), importlib.import_module("harness")
    fd = harness.scheduled(example, example.SIZES[0])
    source = fd.fusion.lower(target=target).print_source(comments=False)
    kernel = fd.fusion.lower(target=target, until="build_loop_nests")
    for following in NAMES[FIRST + 1 :]:
        text = read_again(kernel)
        assert print_statements(kernel) == text
        kernel.run_pass(following)
    assert print_statements(kernel) == read_again(kernel)
    assert kernel.print_source(comments=False) == source


@pytest.mark.parametrize("target", ["cuda", "cpu"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_passes_that_follow_find_in_the_text_all_that_they_need(name: str, target: str) -> None:
    fd = example(name)
    source = fd.fusion.lower(target=target).print_source(comments=False)
    kernel = fd.fusion.lower(target=target, until="build_loop_nests")
    for following in NAMES[FIRST + 1 :]:
        read_again(kernel)
        kernel.run_pass(following)
    assert kernel.print_source(comments=False) == source


def test_indices_read_back_get_the_same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quotient and a remainder by equal constants belong together, whichever Vals these are."""
    monkeypatch.syspath_prepend(str(SCHEDULES))
    example, harness = importlib.import_module("matmul_mma"), importlib.import_module("harness")
    fd = harness.scheduled(example, (64, 64, 64))
    source = fd.fusion.lower(target="cpu").print_source(comments=False)
    kernel = fd.fusion.lower(target="cpu", until="form_regions")
    read_again(kernel)
    for following in NAMES[NAMES.index("form_regions") + 1 :]:
        kernel.run_pass(following)
    assert kernel.print_source(comments=False) == source


def test_a_pass_runs_on_a_kernel_that_was_written_as_text() -> None:
    """A barrier in the way keeps two conditions apart."""
    fd = example("pointwise")
    kernel = fd.fusion.lower(until="place_conditions")
    text = print_statements(kernel)
    conditions = [line for line in text.splitlines() if line.lstrip().startswith("IfThenElse")]
    assert len(conditions) == 2
    indent = conditions[1][: -len(conditions[1].lstrip())]
    head, _, tail = text.rpartition(conditions[1])
    read_statements(kernel, f"{head}{indent}BlockSync()\n{conditions[1]}{tail}")
    kernel.run_pass("merge_conditions")
    assert str(kernel).count("IF ") == 2
    merged = fd.fusion.lower(until="merge_conditions")
    assert str(merged).count("IF ") <= 2


BLOCKS = "CeilDiv:Index(i0, 128:Index)"
WRITTEN = f"""\
ForLoop(index="blockIdx.x", iter_domain=D2, start=0:Index, stop={BLOCKS}, loop_kind=Hardware)
  body:
    ForLoop(index="threadIdx.x", iter_domain=D3, start=0:Index, stop=128:Index, loop_kind=Hardware)
      body:
        BinaryOp(out=i9, lhs=Mul:Index("blockIdx.x", 128:Index), rhs="threadIdx.x")
        BinaryOp(out=T1[i9], lhs=T0[i9], rhs=T0[i9], op=Mul) origin=T1 ranges=[i9 < i0]
"""


def test_a_whole_kernel_is_written_as_text(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its definition says which tensors there are; all statements are those of the text."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 128)
        bound(fd, y, BX, TX)
    kernel = fd.fusion.lower(target=target, until="build_loop_nests")
    read_statements(kernel, WRITTEN)
    for following in NAMES[FIRST + 1 :]:
        kernel.run_pass(following)
    assert find_violations(kernel) == []
    data = torch.randn(1000, device=target)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [data])
    name, source = executor.kernel_name(), executor.kernel_source()
    of_definition = fd.fusion.lower(target=target).print_source(name)
    assert of_definition in source
    file = tmp_path / "kernel.txt"
    file.write_text(source.replace(of_definition, kernel.print_source(name)))
    monkeypatch.setenv("NVFUSER_EXTERNAL_SRC", str(file))
    written = KernelExecutor()
    written.compile(fd.fusion, [data])
    torch.testing.assert_close(written.run([data])[0], data * data)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Nothing()", "the name of a node"),
        ("BlockSync(war=true)", "a value of a field of BlockSync"),
        ("UnaryOp(out=T99[0:Index], arg=T0[0:Index], op=Neg)", "of the kernel"),
        ("UnaryOp(out=T0[0:Index], arg=Add:Index(1:Index), op=Neg)", "number of operands"),
        ("BlockSync(war_sync=true) since=now", "predicate, origin, ranges"),
        ("BlockSync(war_sync=true", "a name or a number"),
    ],
)
def test_a_line_that_is_no_statement_is_an_error_that_names_it(line: str, expected: str) -> None:
    kernel = example("pointwise").fusion.lower(until="build_loop_nests")
    before = print_statements(kernel)
    with pytest.raises(ValueError, match="Line 1 is no statement of a kernel") as error:
        read_statements(kernel, line)
    assert expected in str(error.value)
    assert print_statements(kernel) == before

"""A table of operations and dtypes: how many runs were compared, and what ran them.

    python tests/differential/report.py [--targets cpu,cuda] [--only add,sum] [--all]

Each cell is for one dtype: "12k" says that 12 runs (a fusion, and one set of inputs) were by a
kernel, "12e" that there is no kernel and the evaluator ran them, "!" that one failed. Every cell
stands for the same runs with the evaluator and, for a fusion of the same cases, for a round
trip through the translator. Numbers of four bits are made and read inside of the fusions, whose
inputs and outputs are Float. `--all` gives every case a kernel of its own. `--bytes` compares no
runs: it writes and reads every fusion, as it is defined and with the automatic schedule; "12k" says
that 12 have one, "12e" that 12 have none.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING

import torch
from case import SHORT, name_of
from operations import LEFT_OUT, OPERATIONS
from runner import UNTRANSLATABLE, Batch, single, usual

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future


@dataclass
class Row:
    """The findings for one operation, or for a part of it."""

    name: str
    cells: dict[str, str] = field(default_factory=dict)
    runs: int = 0
    kernels: int = 0
    refusals: int = 0
    failures: list[str] = field(default_factory=list)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without what operations print and warn about."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def cell_of(name: str, dtype: torch.dtype, targets: list[str], is_all: bool) -> Row:
    """A row with the cell of one dtype."""
    row, cell = Row(name), name_of(dtype)
    with quiet():
        try:
            row.cells[cell] = _cell(row, dtype, targets, is_all)
        except Exception as error:
            row.cells[cell] = "!"
            row.failures.append(f"{name} {cell}: {type(error).__name__}: {error}")
    return row


def refusals_of(name: str) -> Row:
    """A row of the calls that must fail."""
    row = Row(name)
    with quiet():
        for refusal in OPERATIONS[name].refusals:
            _refuse(row, refusal)
    return row


def joined(parts: list[Row]) -> Row:
    """The parts of one operation's row."""
    row = Row(parts[0].name)
    for part in parts:
        row.cells |= part.cells
        row.runs += part.runs
        row.kernels += part.kernels
        row.refusals += part.refusals
        row.failures += part.failures
    return row


def bytes_of(name: str, dtype: torch.dtype, is_all: bool) -> Row:
    """A row with the cell of one dtype: fusions whose bytes say the same."""
    row, cell = Row(name), name_of(dtype)
    cases = OPERATIONS[name].cases_for(dtype)
    with quiet():
        for part in single(cases) if is_all else usual(cases):
            row.runs += 1
            try:
                row.kernels += Batch(part).serialize()
            except Exception as error:
                row.failures.append(f"{name} {cell}: {type(error).__name__}: {error}")
    others = row.runs - row.kernels
    row.cells[cell] = (f"{row.kernels}k" if row.kernels else "") + (f"{others}e" if others else "")
    return row


def _cell(row: Row, dtype: torch.dtype, targets: list[str], is_all: bool) -> str:
    by_kernel, others = 0, 0
    cases = OPERATIONS[row.name].cases_for(dtype)
    for part in single(cases) if is_all else usual(cases):
        for target in targets:
            batch = Batch(part)
            batch.execute(target)
            runs = sum(len(case.runs) for case in part)
            by_kernel += runs * batch.is_run_by_kernel()
            others += runs * (not batch.is_run_by_kernel())
        batch = Batch(part)
        batch.evaluate("cpu")
        if row.name not in UNTRANSLATABLE:
            batch.translate()
    row.runs += by_kernel + others
    row.kernels += by_kernel
    return (f"{by_kernel}k" if by_kernel else "") + (f"{others}e" if others else "")


def _refuse(row: Row, refusal: object) -> None:
    from nvfuser_direct import FusionDefinition

    try:
        with FusionDefinition() as fd:
            refusal.call(fd)
    except Exception as error:
        row.refusals += 1
        if refusal.text in str(error):
            return
        row.failures.append(f"{row.name}: '{refusal.text}' is not in '{error}'")
        return
    row.failures.append(f"{row.name}: no error '{refusal.text}'")


def table(rows: list[Row]) -> str:
    """Lines of the table, then what failed and what was left out."""
    columns = [c for c in SHORT.values() if any(c in row.cells for row in rows)]
    width = max(len(row.name) for row in rows)
    heads = [c.replace("Float8_", "f8_").replace("Float4_", "f4_") for c in columns]
    lines = [" " * width + "".join(f"{head:>14}" for head in heads)]
    for row in rows:
        cells = "".join(f"{row.cells.get(c, '.'):>14}" for c in columns)
        lines.append(f"{row.name:<{width}}{cells}")
    failures = [text for row in rows for text in row.failures]
    runs, kernels = sum(r.runs for r in rows), sum(r.kernels for r in rows)
    lines += [
        "",
        f"{len(rows)} operations, {sum(len(r.cells) for r in rows)} pairs of operation and dtype",
        f"{runs} runs: {kernels} by kernels, {runs - kernels} by the evaluator alone",
        f"{sum(r.refusals for r in rows)} calls that must fail",
        f"{len(failures)} failures",
        *failures,
        "skipped:",
        "  .: the operation does not take the dtype, or nothing about it is new there",
    ]
    lines += [f"  {name}: {reason}" for name, reason in LEFT_OUT.items()]
    lines += [f"  {name}: no round trip, it has no name in translated Python"
              for name in sorted(UNTRANSLATABLE)]  # fmt: skip
    for row in rows:
        left = OPERATIONS[row.name].left_out.items()
        lines += [f"  {row.name} {dtype}: {reason}" for dtype, reason in left]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--targets", default="cpu")
    parser.add_argument("--only", default="", help="operations, with commas between")
    parser.add_argument("--all", action="store_true", help="every case in a kernel of its own")
    parser.add_argument("--bytes", action="store_true", help="write and read the fusions instead")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    names = args.only.split(",") if args.only else list(OPERATIONS)
    targets = args.targets.split(",")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NVFUSER_CACHE_DIR"] = cache
        # The processes are the parallelism; threads of theirs would only get in each other's way.
        with ProcessPoolExecutor(
            args.processes, get_context("spawn"), torch.set_num_threads, (1,)
        ) as pool:

            def submit(name: str) -> list[Future[Row]]:
                dtypes = OPERATIONS[name].dtypes
                if args.bytes:
                    return [pool.submit(bytes_of, name, d, args.all) for d in dtypes]
                cells = [pool.submit(cell_of, name, d, targets, args.all) for d in dtypes]
                return [*cells, pool.submit(refusals_of, name)]

            parts = [submit(name) for name in names]
            rows = [joined([part.result() for part in row]) for row in parts]
    print(table(rows))
    return int(any(row.failures for row in rows))


if __name__ == "__main__":
    sys.exit(main())

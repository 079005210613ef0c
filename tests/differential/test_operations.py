"""Every operation, on every dtype it takes, gives what PyTorch gives.

Three ways: `fd.execute` (by a kernel where there is one), the evaluator, and the fusion that
executing the translated text defines. The default profile tries one dtype of each operation in a
kernel, and three with the evaluator; HYPOTHESIS_PROFILE=nightly tries all, and every case in a
kernel of its own. `report.py` prints a table of all.
"""

from __future__ import annotations

import os
import zlib

import pytest
import torch
from case import ANY, Case, Operation, name_of
from operations import LEFT_OUT, OPERATIONS
from runner import UNTRANSLATABLE, Batch, single, usual

from nvfuser_direct import FusionDefinition, InternalError, ops

REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
IS_NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"

pytestmark = pytest.mark.filterwarnings("ignore:.*imaginary", "ignore:.*complex")


def some(operation: Operation, number: int) -> list[torch.dtype]:
    """All dtypes at night; else the first ones after one that depends on the name."""
    dtypes = list(operation.dtypes)
    start = zlib.crc32(operation.name.encode()) % len(dtypes)
    return dtypes if IS_NIGHTLY else (dtypes[start:] + dtypes[:start])[:number]


def params(number: int) -> list[object]:
    return [
        pytest.param(operation, dtype, id=f"{operation.name}-{name_of(dtype)}")
        for operation in OPERATIONS.values()
        for dtype in some(operation, number)
    ]


def batches(operation: Operation, dtype: torch.dtype) -> list[list[Case]]:
    cases = operation.cases_for(dtype)
    return single(cases) if IS_NIGHTLY else usual(cases)


def test_every_operation_has_a_row() -> None:
    public = {name for name in dir(ops) if not name.startswith("_")}
    assert public == set(OPERATIONS) | set(LEFT_OUT)


@pytest.mark.parametrize(("operation", "dtype"), params(1))
def test_execute(operation: Operation, dtype: torch.dtype, target: str) -> None:
    for cases in batches(operation, dtype):
        Batch(cases).execute(target)


@pytest.mark.parametrize(("operation", "dtype"), params(3))
def test_evaluator_and_round_trip(operation: Operation, dtype: torch.dtype) -> None:
    batch = Batch(operation.cases_for(dtype))
    batch.evaluate("cpu")
    if operation.name not in UNTRANSLATABLE:
        batch.translate()


@pytest.mark.parametrize(("operation", "dtype"), params(1))
def test_round_trip_of_bytes(operation: Operation, dtype: torch.dtype) -> None:
    for cases in batches(operation, dtype):
        Batch(cases).serialize()


@pytest.mark.parametrize(
    ("name", "index"),
    [(op.name, i) for op in OPERATIONS.values() for i in range(len(op.refusals))],
)
@pytest.mark.filterwarnings("ignore")
def test_refusal(name: str, index: int, capsys: pytest.CaptureFixture[str]) -> None:
    refusal = OPERATIONS[name].refusals[index]
    with pytest.raises(REFUSALS) as caught, FusionDefinition() as fd:
        refusal.call(fd)
    capsys.readouterr()
    assert refusal.text in str(caught.value)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_other_dtypes_are_refused_or_computed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dtype that the row leaves out is an error with a text, or works: never a crash."""
    operation = OPERATIONS[name]
    others = [dtype for dtype in ANY if dtype not in operation.dtypes]
    for dtype in others if IS_NIGHTLY else others[-1:]:
        try:
            batch = Batch(operation.cases_for(dtype)[:1])
            batch.fd.fusion.print_math()
        except InternalError:
            raise
        except (*REFUSALS, KeyError):
            pass
    capsys.readouterr()

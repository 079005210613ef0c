"""The meaning of expressions for axes: the table, and that it agrees with the evaluator.

The second part takes every expression of the fusions of `tests/differential`, changes one element
of one operand, and looks which elements of the results change: only those that the table says.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import (
    AxisRead,
    ElementSource,
    FusionDefinition,
    OperandRead,
    StorageKind,
    ViewOf,
)
from nvfuser_direct.evaluator import Evaluator
from nvfuser_direct.evaluator import plan as evaluator_plan
from nvfuser_direct.evaluator.domains import extent_of, root_to_logical

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))
from case import Operation
from operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nvfuser_direct import AxisUse, Expr, TensorView

NODES = Path(__file__).parents[2] / "csrc/ir/nodes.def"

pytestmark = pytest.mark.filterwarnings("ignore")


# ---- The table ----------------------------------------------------------------------------------


def tensor(fd: FusionDefinition, *shape: int, dtype: nvf.DataType = nvf.DataType.Float) -> Any:
    return fd.define_tensor(list(shape), contiguity=True, dtype=dtype)


def uses(producer: TensorView, consumer: TensorView) -> list[str]:
    return [repr(use) for use in nvf.axes_of_use(producer, consumer)]


def test_axes_that_meet_by_position() -> None:
    with FusionDefinition() as fd:
        x, y = tensor(fd, -1, -1), tensor(fd, -1)
        widened = fd.ops.broadcast(y, [True, False])
        total = fd.ops.sum(fd.ops.add(x, widened), [1])
        assert uses(y, widened) == ["same 1"]
        assert uses(x, total.definition().arg) == ["same 0", "same 1"]
        assert uses(total.definition().arg, total) == ["same 0", "reduced 1"]


def test_axes_of_a_matmul() -> None:
    with FusionDefinition() as fd:
        a, b = tensor(fd, 2, 5, 7), tensor(fd, 7, 3)
        out = fd.ops.matmul(a, b)
        assert uses(a, out) == ["same 0", "same 1", "reduced 3"]
        assert uses(b, out) == ["reduced 3", "same 2"]


def test_axes_of_a_linear() -> None:
    with FusionDefinition() as fd:
        x, weight, bias = tensor(fd, 2, 5, 7), tensor(fd, 3, 7), tensor(fd, 3)
        out = fd.ops.linear(x, weight, bias)
        assert uses(x, out) == ["same 0", "same 1", "reduced 3"]
        assert uses(weight, out) == ["same 2", "reduced 3"]
        assert uses(bias, out) == ["same 2"]


def test_axes_of_attention() -> None:
    with FusionDefinition() as fd:
        query, key = tensor(fd, 2, 3, 8, 16), tensor(fd, 2, 3, 12, 16)
        value = tensor(fd, 2, 3, 12, 16)
        out, logsumexp, seed, offset = fd.ops.sdpfa_fwd(query, key, value)
        assert uses(query, out) == ["same 0", "same 1", "same 2", "reduced"]
        assert uses(key, out) == ["same 0", "same 1", "reduced", "reduced"]
        assert uses(value, out) == ["same 0", "same 1", "reduced", "same 3"]
        assert uses(query, logsumexp) == ["same 0", "same 1", "same 2", "reduced"]
        assert uses(key, seed) == ["any"] * 4
        grads = fd.ops.sdpfa_bwd(
            out, query, key, value, out, logsumexp, None, None, seed, offset, None
        )
        grad_query, grad_key, grad_value = grads
        assert uses(query, grad_query) == ["same 0", "same 1", "same 2", "whole 3"]
        assert uses(key, grad_query) == ["same 0", "same 1", "reduced", "whole 3"]
        assert uses(query, grad_key) == ["same 0", "same 1", "reduced", "whole 3"]
        assert uses(value, grad_value) == ["same 0", "same 1", "same 2", "same 3"]
        assert uses(logsumexp, grad_key) == ["same 0", "same 1", "reduced"]


def test_axes_that_elements_address() -> None:
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        index = tensor(fd, -1, -1, dtype=nvf.DataType.Int)
        row = tensor(fd, -1, dtype=nvf.DataType.Int)
        assert uses(x, fd.ops.gather(x, index, 0)) == ["indexed (0)", "leading (1)"]
        assert uses(x, fd.ops.take_along_axis(x, index, 0)) == ["indexed (0)", "same 1"]
        assert uses(x, fd.ops.index_select(x, row, 1)) == ["same 0", "indexed (1)"]
        assert uses(x, fd.ops.select(x, fd.define_scalar(0), 0)) == ["indexed", "same 0"]
        assert uses(x, fd.ops.embedding_fwd(row, x)) == ["indexed", "same 1"]
        copied = fd.ops.scatter(fd.ops.set(x), index, x, 0)
        assert uses(index, copied) == ["same 0", "same 1"]
        assert uses(x, copied) == ["leading (0)", "leading (1)"]


def test_axes_of_searches_and_scans() -> None:
    with FusionDefinition() as fd:
        x = tensor(fd, -1, 8)
        values, indices = fd.ops.topk(x, 3, 1)
        assert uses(x, values) == uses(x, indices) == ["same 0", "whole 1"]
        assert uses(x, fd.ops.argsort(x, 1)) == ["same 0", "whole 1"]
        total = fd.ops.cumsum(x, 1)
        assert uses(x, total) == ["same 0", "scanned 1"]
        assert nvf.axes_read(total, AxisRead.scanned) == [total.axis(1)]


def test_a_tensor_that_is_several_operands_has_the_axes_that_all_agree_on() -> None:
    with FusionDefinition() as fd:
        x = tensor(fd, 4, 4)
        assert uses(x, fd.ops.mul(x, x)) == ["same 0", "same 1"]
        assert uses(x, fd.ops.matmul(x, x)) == ["reduced", "reduced"]


def test_kinds() -> None:
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        copy = fd.ops.set(x)
        part = fd.ops.slice(x, [0, 0], [2, 2])
        total = fd.ops.sum(x, [0])
        row = nvf.semantics_of(copy.definition())
        assert (row.read, row.elements) == (OperandRead.same, ElementSource.copied)
        assert row.has_like_results
        assert nvf.semantics_of(part.definition()).read == OperandRead.elsewhere
        assert nvf.semantics_of(total.definition()).read == OperandRead.reduced
        assert nvf.copied_operand(part.definition()) == x
        assert nvf.copied_operand(total.definition()) is None


def test_what_results_show_of_their_operand() -> None:
    with FusionDefinition() as fd:
        x = tensor(fd, 4, 6)
        shown = {
            "set": fd.ops.set(x),
            "permute": fd.ops.permute(x, [1, 0]),
            "slice": fd.ops.slice(x, [0, 0], [2, 2]),
            "broadcast": fd.ops.broadcast(x, [True, False, False]),
            "reshape": fd.ops.reshape(x, [24]),
            "repeat": fd.ops.repeat(x, [2, 1]),
            "pad": fd.ops.pad(x, [1, 1]),
            "neg": fd.ops.neg(x),
        }
    exprs = {name: out.definition() for name, out in shown.items()}
    rows = {name: nvf.semantics_of(expr) for name, expr in exprs.items()}
    anywhere = {name for name, row in rows.items() if row.view == ViewOf.anything}
    assert anywhere == {"set", "permute", "slice", "broadcast"}
    assert {name for name, row in rows.items() if row.view == ViewOf.packed} == {"reshape"}
    assert {name for name, row in rows.items() if row.repeats_elements} == {"broadcast", "repeat"}
    assert {name for name, row in rows.items() if row.adds_elements} == {"pad"}
    hidden = {name for name, expr in exprs.items() if not nvf.shows_first_operand(expr)}
    assert hidden == {"pad", "neg"}


def test_storage_of_what_is_overwritten_and_updated() -> None:
    with FusionDefinition() as fd:
        x, index = tensor(fd, -1), tensor(fd, -1, dtype=nvf.DataType.Int)
        copy = fd.ops.set(x)
        out = fd.ops.scatter(copy, index, 0.0, 0)
        fd.add_output(out, x)
        assert nvf.overwritten_operand(out.definition()) == copy
        assert nvf.first_axes(out) != out.logical()
        assert nvf.storage_of(copy) == (out, StorageKind.overwritten)
        assert nvf.storage_of(out) == (x, StorageKind.update)
        assert nvf.storage_of(x) == (x, StorageKind.own)
        assert nvf.owner_of(copy) == x


# ---- What the evaluator computes -----------------------------------------------------------------

MOST_ELEMENTS = 4000
CHANGES = 5  # of an operand
NOT_TRIED = {AxisRead.any}  # nothing is said of them


class KeptValues(Evaluator):
    """Values that stay, so that one expression can be computed again."""

    def __init__(self, fusion: nvf.Fusion, inputs: list[Any]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evaluator_plan, "_last_reads", lambda exprs, outputs: {})
            super().__init__(fusion, inputs)

    def again(self, expr: Expr, operand: TensorView, value: torch.Tensor) -> list[torch.Tensor]:
        """The results of an expression with another value of one operand."""
        known = {val: self[val] for val in (operand, *nvf.tensor_outputs(expr))}
        self._values[operand] = value
        try:
            self._run(expr)
            return [self[out] for out in nvf.tensor_outputs(expr)]
        finally:
            self._values.update(known)


def changed(value: torch.Tensor, place: tuple[int, ...]) -> torch.Tensor:
    """Another element at a place: what was there in another element, if that is a position."""
    value = value.clone()
    old = value[place].item()
    if value.dtype == torch.bool:
        value[place] = not old
    elif value.is_floating_point() or value.is_complex():
        value[place] = 2.0 if old == 1.0 else 1.0 if old != old else old * 2 + 1
    else:
        others = [x for x in value.flatten().tolist() if x != old]
        value[place] = others[0] if others else old
    return value


def are_different(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return ~((a == b) | ((a != a) & (b != b)))


def coordinates(ev: Evaluator, result: TensorView, axis: nvf.IterDomain) -> torch.Tensor | None:
    """For every element of a result, its position along a root axis; None: it has none."""
    axes = nvf.TensorDomain.no_reductions(result.maybe_root())
    if axis not in axes:
        return None
    sizes = [extent_of(ev, a) for a in axes]
    shape = [1] * len(axes)
    at = axes.index(axis)
    shape[at] = sizes[at]
    grid = torch.arange(sizes[at]).reshape(shape).expand(sizes).clone()
    return root_to_logical(ev, result, grid, fill=-1)


def is_read(use: AxisUse, at: int, place: torch.Tensor, extent: int, block: int) -> torch.Tensor:
    """Whether an element at `place` of the result reads position `at` of the operand."""
    if use.read in (AxisRead.same, AxisRead.leading, AxisRead.resized):
        return place == at
    if use.read == AxisRead.repeated:
        return place % extent == at
    if use.read == AxisRead.scanned:
        return place >= at
    if use.read == AxisRead.block:
        return (place // block if use.is_partner else place) == at // block
    return torch.ones_like(place, dtype=torch.bool)


def check_operand(ev: KeptValues, expr: Expr, operand: TensorView, elsewhere: set[AxisRead]) -> int:
    """Change elements of an operand; how many elements of results changed.

    Reads by which something changed at another position of the axis are added to `elsewhere`.
    """
    value, results = ev[operand].clone().contiguous(), nvf.tensor_outputs(expr)
    block = getattr(expr, "block_size", 1)
    semantics = nvf.semantics_of(expr)
    of_loops = semantics.loops_over_operands and nvf.overwritten_operand(expr) != operand
    table = [nvf.axes_of_use(operand, result) for result in results]
    for row in table:
        for use in row:
            assert nvf.operand_read(use.read).value <= semantics.read.value
    if value.numel() == 0 or all(use.read in NOT_TRIED for row in table for use in row):
        return -1
    count = 0
    before = ev.again(expr, operand, value)  # of this layout: sums depend on it
    places = torch.randperm(value.numel(), generator=torch.Generator().manual_seed(0))[:CHANGES]
    for flat in places.tolist():
        place = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), value.shape))
        again = ev.again(expr, operand, changed(value, place))
        for result, row, old, new in zip(results, table, before, again, strict=True):
            different = are_different(old, new)
            count += int(different.sum())
            counted = nvf.first_axes(result) if of_loops else result.maybe_root()
            for at, extent, use in zip(place, value.shape, row, strict=True):
                if use.position is None or extent == 1:
                    continue
                position = coordinates(ev, result, counted[use.position])
                if position is not None:
                    if (different & (position != at)).any():
                        elsewhere.add(use.read)
                    allowed = is_read(use, at, position, extent, block)
                    assert not (different & ~allowed).any(), (
                        f"{expr}: changing element {place} of {operand} changes {result} at "
                        f"{(different & ~allowed).nonzero().tolist()}, which {row} excludes"
                    )
    return count


def concretized(fusion: nvf.Fusion, inputs: list[Any]) -> nvf.Fusion:
    if not nvf.has_dynamic_shapes(fusion):
        return fusion
    return nvf.concretize(fusion, nvf.find_concretization(fusion, inputs))


def fusions_of(operation: Operation) -> Iterator[tuple[nvf.Fusion, list[Any]]]:
    """Small cases of an operation, with inputs."""
    wanted = (torch.float64, torch.float32, torch.int64)
    dtype = next((d for d in wanted if d in operation.dtypes), operation.dtypes[0])
    for case in operation.cases_for(dtype):
        fd = FusionDefinition()
        with fd:
            case.define(fd)
        for run in case.runs:
            tensors = [x for x in run if isinstance(x, torch.Tensor)]
            if sum(x.numel() for x in tensors) <= MOST_ELEMENTS:
                yield concretized(fd.fusion, run), run
                break


def check_operation(name: str) -> tuple[list[int], set[AxisRead]]:
    counts: list[int] = []
    elsewhere: set[AxisRead] = set()
    for fusion, inputs in fusions_of(OPERATIONS[name]):
        ev = KeptValues(fusion, inputs)
        for expr in nvf.tensor_exprs(fusion):
            for operand in nvf.tensor_inputs(expr):
                pairs = zip(
                    nvf.tensor_outputs(expr), ev.again(expr, operand, ev[operand]), strict=True
                )
                if not any(are_different(ev[result], same).any() for result, same in pairs):
                    counts.append(check_operand(ev, expr, operand, elsewhere))
    return [count for count in counts if count >= 0], elsewhere


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_results_change_only_where_the_table_says(name: str) -> None:
    counts, _ = check_operation(name)
    assert not counts or any(counts)  # some change was seen


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("gather", AxisRead.indexed),
        ("index_put_accumulate", AxisRead.placed),
        ("cumsum", AxisRead.scanned),
        ("repeat", AxisRead.repeated),
        ("topk", AxisRead.whole),
        ("argsort", AxisRead.whole),
        ("sdpfa_bwd", AxisRead.whole),
        ("nv_block_quantize", AxisRead.block),
    ],
)
def test_what_is_read_elsewhere_changes_results_elsewhere(name: str, read: AxisRead) -> None:
    """The table says no more than is read."""
    assert read in check_operation(name)[1]


def test_every_kind_of_tensor_expression_is_tried() -> None:
    """In the table of operations, as `test_results_change_only_where_the_table_says` runs it."""
    groups = NODES.read_text().split("#define NVF_FOR_EACH_")[1:]
    kinds = {
        kind
        for group in groups
        if not group.startswith(("DOMAIN_EXPR", "KERNEL_EXPR"))
        for kind in re.findall(r"\bX\((\w+)\)", group)
    }
    tried = {
        type(expr).__name__
        for operation in OPERATIONS.values()
        for fusion, _ in fusions_of(operation)
        for expr in nvf.tensor_exprs(fusion)
    }
    assert kinds - tried == {"GroupedReductionOp"}  # which a schedule makes

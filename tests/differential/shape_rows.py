"""Rows of operations that move elements, look them up, or put them elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from case import (
    ANY,
    COMPLEX,
    FLOATING,
    FP4,
    NUMBERS,
    REAL,
    UNSIGNED,
    WHOLE,
    Case,
    Operation,
    Refusal,
    Samples,
    exact,
)
from pointwise_rows import given
from rare_dtypes import bits, by_numpy, filled, moved, ordered, rounded

from nvfuser_direct import BinaryOpType, DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import FusionDefinition

Function = "Callable[..., Any]"


def layouts(s: Samples) -> list[list[torch.Tensor]]:
    """Operands of three dimensions of any layout."""
    return [
        [s.tensor(3, 5, 7)],
        [s.tensor(7, 2, 4).permute(2, 0, 1)],
        [s.tensor(6, 9, 8)[1::2, 2:7, ::3]],
        [s.tensor(3, 1, 2).expand(3, 6, 2)],
        [s.tensor(4, 0, 3)],
        [s.tensor(33, 31, 101)],
    ]


def shape_row(
    name: str,
    make: Callable[[Samples], list[tuple[str, Any, Any, list[Any]]]],
    refusals: Sequence[Refusal] = (),
    dtypes: Sequence[torch.dtype] = (*ANY, *FP4),
    static: bool = False,
) -> Operation:
    """`make` gives a label, what builds, the reference, and the runs."""

    def cases(s: Samples) -> list[Case]:
        return [
            Case(label, build, runs, expected, static=static or "static" in label,
                 as_given="as given" in label, ordinary="ordinary" in label,
                 has_kernel="evaluated" not in label)
            for label, build, expected, runs in make(s)
        ]  # fmt: skip

    return Operation(name, cases, dtypes, list(refusals))


def shape_rows() -> list[Operation]:
    def refusal(text: str, call: Callable[[FusionDefinition], Any]) -> Refusal:
        return Refusal(text, call)

    def known(s: Samples, *shape: int) -> list[Any]:
        return [
            [s.tensor(*shape)],
            [s.tensor(*reversed(shape)).permute(*reversed(range(len(shape))))],
        ]

    return [
        shape_row("broadcast", lambda s: [
            ("front and back",
             lambda ops, x: ops.broadcast(x, [True, False, False, True, False, True]),
             lambda x: x[None, :, :, None, :, None], layouts(s)),
            ("0-dim", lambda ops, x: ops.broadcast(x, [True, True]),
             lambda x: x[None, None], [[s.tensor()]]),
        ], [refusal("Invalid broadcast, number of false entries in is_broadcast_dim expected to be"
                    " 1 but received 2", lambda fd: fd.ops.broadcast(given(fd), [False, False]))]),
        shape_row("broadcast_in_dim", lambda s: [
            ("ranks", lambda ops, x: ops.broadcast_in_dim(x, [2, x.size(0), 4, x.size(1)], [1, 3]),
             lambda x: x[None, :, None, :].expand(2, x.shape[0], 4, x.shape[1]),
             [[x] for x in s.views()[:-1]]),
            ("an extent of 1, static", lambda ops, x: ops.broadcast_in_dim(x, [3, 5, 7], [0, 2]),
             lambda x: x[:, None, :].expand(3, 5, 7), [[s.tensor(3, 1)]]),
        ], [refusal("nonbroadcast_dim (0) is specified more than once.",
                    lambda fd: fd.ops.broadcast_in_dim(given(fd, 2), [3, 4], [0, 0]))]),
        shape_row("expand", lambda s: [
            ("more rank, static", lambda ops, x: ops.expand(x, [6, -1, 5, 4]),
             lambda x: x.expand(6, -1, 5, 4), [[s.tensor(3, 1, 4)]]),
            ("broadcast", lambda ops, x: ops.expand(x, [-1, 9]), lambda x: x.expand(-1, 9),
             [[s.tensor(3, 1)], [s.tensor(0, 1)]]),
            ("to numbers", lambda ops, x, n, m: ops.expand(x, [n, m]),
             lambda x, n, m: x.expand(n, m),
             [[s.tensor(1, 5), 4, 5], [s.tensor(4, 1), 4, 7], [s.tensor(4, 5), 4, 5],
              [s.tensor(1, 1), 3, 2], [s.tensor(1, 5), 1, 5], [s.tensor(5, 1).T, 2, 5],
              [s.tensor(1, 0), 3, 0], [s.tensor(1, 3), 0, 3]]),
        ], [refusal("Invalid expand size",
                    lambda fd: fd.ops.expand(fd.define_tensor([3, 4]), [3, 5]))]),
        shape_row("expand_as", lambda s: [
            ("broadcast", lambda ops, x, y: ops.expand_as(x, y), lambda x, y: x.expand_as(y),
             [[s.tensor(3, 1), s.tensor(3, 7)], [s.tensor(2, 1), s.tensor(7, 2).T]]),
        ]),
        shape_row("squeeze", lambda s: [
            ("broadcasts", lambda ops, x: ops.squeeze(x, [1, -1]), lambda x: x.squeeze([1, -1]),
             [[s.tensor(3, 1, 5, 1)], [s.tensor(0, 1, 4, 1)]]),
            ("expanded, as given", lambda ops, x: ops.squeeze(x, [1], True), lambda x: x[:, 0],
             [[s.tensor(3, 1, 4).expand(3, 6, 4)]]),
            ("none", lambda ops, x: ops.squeeze(x, []), lambda x: x, layouts(s)),
            ("of computed size", lambda ops, x, n: ops.squeeze(ops.reshape(x, [n, -1]), [0]),
             lambda x, n: x.reshape(n, -1).squeeze(0),
             [[s.tensor(3, 4), 1], [s.tensor(1, 1), 1], [s.tensor(4, 3).T, 1]]),
            ("ordinary", lambda ops, x, n: ops.squeeze(ops.expand(x, [n, x.size(1)]), [0]),
             lambda x, n: x.expand(n, -1).squeeze(0),
             [[s.tensor(1, 5), 1], [s.tensor(1, 1), 1], [s.tensor(1, 0), 1]]),
        ], [refusal("Squeeze dim is outside of Tensor size!",
                    lambda fd: fd.ops.squeeze(given(fd), [3])),
            refusal("Can not squeeze non-broadcasting dimension(s).",
                    lambda fd: fd.ops.squeeze(fd.define_tensor([3, 4]), [0]))]),
        shape_row("unsqueeze", lambda s: [
            ("dims", lambda ops, x: [ops.unsqueeze(x, 0), ops.unsqueeze(x, -1)],
             lambda x: [x.unsqueeze(0), x.unsqueeze(-1)], layouts(s)),
        ]),
        shape_row("permute", lambda s: [
            ("rotated", lambda ops, x: ops.permute(x, [2, 0, 1]), lambda x: x.permute(2, 0, 1),
             layouts(s)),
            ("swapped", lambda ops, x: ops.permute(x, [0, -1, 1]), lambda x: x.permute(0, 2, 1),
             layouts(s)),
        ], [refusal("Operator permute expects `dims` argument to have the same length as input!",
                    lambda fd: fd.ops.permute(given(fd, 2), [0]))]),
        shape_row("transpose", lambda s: [
            ("dims", lambda ops, x: ops.transpose(x, 0, -1), lambda x: x.transpose(0, -1),
             layouts(s)),
            ("matrix", lambda ops, x: ops.transpose(x), lambda x: x.T, [[x] for x in s.views()]),
        ]),
        shape_row("stride_order", lambda s: [
            ("columns first", lambda ops, x: ops.stride_order(x, [0, 1, 2]), lambda x: x,
             layouts(s)),
            ("rows first", lambda ops, x: ops.stride_order(x, [2, 1, 0]), lambda x: x, layouts(s)),
        ], [refusal("Operator stride_order expects `stride_order` argument to have the same length",
                    lambda fd: fd.ops.stride_order(given(fd, 2), [0]))]),
        shape_row("reshape", lambda s: [
            ("static", lambda ops, x: [ops.reshape(x, [15, 8]), ops.reshape(x, [5, -1, 3]),
                                       ops.reshape(x, [3, 1, 5, 2, 4])],
             lambda x: [x.reshape(15, 8), x.reshape(5, -1, 3), x.reshape(3, 1, 5, 2, 4)],
             known(s, 3, 5, 8)),
            ("merged", lambda ops, x: ops.reshape(x, [-1, x.size(2)]),
             lambda x: x.reshape(x.shape[0] * x.shape[1], x.shape[2]), layouts(s)),
            ("split, static", lambda ops, x: ops.reshape(x, [x.size(0), 2, -1]),
             lambda x: x.reshape(x.shape[0], 2, x.shape[1] // 2),
             [[s.tensor(7, 10)], [s.tensor(10, 7).T]]),
            ("computed", lambda ops, x: ops.reshape(x, [x.size(0), 2, -1]),
             lambda x: x.reshape(x.shape[0], 2, x.shape[1] // 2),
             [[s.tensor(7, 10)], [s.tensor(10, 7).T], [s.tensor(1, 2)], [s.tensor(5, 4)],
              [s.tensor(1, 8).expand(3, 8)]]),
            ("sizes exchanged", lambda ops, x: ops.reshape(x, [x.size(2), x.size(0), x.size(1)]),
             lambda x: x.reshape(x.shape[2], x.shape[0], x.shape[1]), layouts(s)),
            ("a product and a quotient",
             lambda ops, x, n: ops.reshape(x, [ops.mul(x.size(0), n), -1, x.size(2)]),
             lambda x, n: x.reshape(x.shape[0] * n, x.shape[1] // n, x.shape[2]),
             [[s.tensor(3, 4, 5), 2], [s.tensor(3, 4, 5), 4], [s.tensor(3, 4, 5), 1],
              [s.tensor(5, 6, 1).permute(2, 1, 0), 3], [s.tensor(1, 1, 1), 1]]),
            ("a removable one", lambda ops, x: ops.reshape(x, [ops.mul(x.size(0), x.size(2))]),
             lambda x: x.reshape(x.shape[0] * x.shape[2]),
             [[s.tensor(2, 1, 3)], [s.tensor(1, 1, 7)], [s.tensor(4, 1, 1)], [s.tensor(1, 1, 1)],
              [s.tensor(1, 1, 0)]]),
            ("ordinary ones", lambda ops, x: ops.reshape(x, [x.size(2)]),
             lambda x: x.reshape(x.shape[2]),
             [[s.tensor(1, 1, 7)], [s.tensor(1, 1, 1)], [s.tensor(1, 1, 0)]]),
            ("ordinary, one element", lambda ops, x: ops.reshape(x, []), lambda x: x.reshape(()),
             [[s.tensor(1, 1)]]),
            ("flat", lambda ops, x: ops.reshape(x, [-1]), lambda x: x.reshape(-1), layouts(s)),
            ("nothing, static", lambda ops, x: ops.reshape(x, [7, 0]), lambda x: x.reshape(7, 0),
             [[s.tensor(0, 4)]]),
        ], [refusal("Total element counts across view operation must match",
                    lambda fd: fd.ops.reshape(fd.define_tensor([3]), [4]))]),
        shape_row("flatten", lambda s: [
            ("all", lambda ops, x: ops.flatten(x), lambda x: x.flatten(), layouts(s)),
            ("some", lambda ops, x: ops.flatten(x, 1, 2), lambda x: x.flatten(1, 2), layouts(s)),
        ]),
        shape_row("slice", lambda s: [
            ("static", lambda ops, x: [ops.slice(x, [1, 0, 2], [3, 5, 7]),
                                       ops.slice(x, [0, 4, 0], [1, 5, 8]),
                                       ops.slice(x, [2, 2, 2], [2, 9, 99])],
             lambda x: [x[1:3, :, 2:7], x[0:1, 4:5], x[2:2, 2:, 2:]], known(s, 3, 5, 8)),
            ("symbolic", lambda ops, x, a, b: ops.slice(x, [a, 0], [b, x.size(1)]),
             lambda x, a, b: x[a:b],
             [[s.tensor(7, 5), 2, 5], [s.tensor(5, 7).T, 0, 7], [s.tensor(7, 5), 3, 3],
              [s.tensor(7, 5), 2, 100], [s.tensor(7, 5), -3, -1]]),
        ], [refusal("Number of tensor dimensions does not match slice dimensions!",
                    lambda fd: fd.ops.slice(given(fd, 2), [0], [1])),
            refusal("nvFuser Limitation: All slice operation strides must be of const size 1.",
                    lambda fd: fd.ops.slice(given(fd), [0], [4], [2])),
            refusal("Slice operation end_indices must be greater than or equal to start_indices."
                    " Start Indices: 3 End Indices: 1",
                    lambda fd: fd.ops.slice(given(fd), [3], [1]))]),
        shape_row("chunk", lambda s: [
            ("uneven, static", lambda ops, x: ops.chunk(x, 3, 1), lambda x: x.chunk(3, 1),
             [[s.tensor(2, 8)], [s.tensor(8, 2).T]]),
        ]),
        shape_row("repeat", lambda s: [
            ("dims", lambda ops, x: ops.repeat(x, [2, 3, 1]), lambda x: x.repeat(2, 3, 1),
             layouts(s)[:5]),
            ("broadcast", lambda ops, x: ops.repeat(x, [1, 4]), lambda x: x.repeat(1, 4),
             [[s.tensor(3, 1)]]),
        ]),
        shape_row("view_as_real", lambda s: [
            ("layouts", lambda ops, x: ops.view_as_real(x),
             lambda x: torch.view_as_real(x), layouts(s)),
        ], dtypes=COMPLEX),
        shape_row("pad", pad_cases, [
            refusal("Number of pad widths must be at most twice the input dimension",
                    lambda fd: fd.ops.pad(given(fd), [1, 1, 1, 1])),
            refusal("Tensor arg and pad value must have the same dtype.",
                    lambda fd: fd.ops.pad(given(fd, 1, DataType.Int), [1, 1], 0.5))]),
        *[  # copies that order grids (lower/test_order_grids.py)
            shape_row(name, lambda s, name=name: [
                ("one operand", lambda ops, x, name=name: getattr(ops, name)([x]),
                 lambda x: x, [[x] for x in s.views()[:-1]]),
            ])
            for name in ("wait_for_prior_grid", "launch_dependent_grid")
        ],
        shape_row("cat", cat_cases, [
            refusal("No input tensor given", lambda fd: fd.ops.cat([], 0)),
            refusal("Can't concatenate tensors with different data types",
                    lambda fd: fd.ops.cat([given(fd), given(fd, 1, DataType.Half)])),
            refusal("Invalid dimension to cat: 4",
                    lambda fd: fd.ops.cat([given(fd), given(fd)], 4))]),
        shape_row("triu", lambda s: [
            (f"diagonal {d}", lambda ops, x, d=d: ops.triu(x, d),
             moved(lambda x, d=d: torch.triu(x, d)), [[x] for x in s.views()[:-1]])
            for d in (0, 2, -1)
        ] + [("batch", lambda ops, x: ops.triu(x), moved(torch.triu), layouts(s)[:4])],
            [refusal("input tensor for triu must have 2 or more dims, but got 1 dims",
                     lambda fd: fd.ops.triu(given(fd)))]),
    ]  # fmt: skip


def pad_cases(s: Samples) -> list[Any]:
    value: Any = {torch.bool: True}.get(s.dtype, 2 if s.dtype in WHOLE else 1.5)
    value = 1.5 + 0j if s.dtype in COMPLEX else value

    def padded(x: torch.Tensor, widths: list[int], fill: Any) -> torch.Tensor:
        if s.dtype == torch.bool:
            return torch.nn.functional.pad(x.int(), widths, value=int(fill)).bool()
        return constant_padded(x, widths, fill)

    by_value = ("value", lambda ops, x: ops.pad(x, [0, 1, 2, 0, 1, 1], value),
                lambda x: padded(x, [0, 1, 2, 0, 1, 1], value), layouts(s))  # fmt: skip
    return [
        *([] if s.is_fp4 else [by_value]),  # which is no number of that class
        ("zeros", lambda ops, x: ops.pad(x, [1, 2, 0, 3]), lambda x: padded(x, [1, 2, 0, 3], 0),
         layouts(s)),
        ("cropped", lambda ops, x: ops.pad(x, [-1, 2, 3, -2]),
         lambda x: padded(x, [-1, 2, 3, -2], 0),
         [layouts(s)[0], [s.tensor(5, 7, 3).permute(1, 0, 2)]]),
        ("broadcast", lambda ops, x: ops.pad(x, [2, 1]), lambda x: padded(x, [2, 1], 0),
         [[s.tensor(3, 1)], [s.tensor(5, 1)]]),
        ("symbolic", lambda ops, x, n: ops.pad(x, [n, 1]), lambda x, n: padded(x, [n, 1], 0),
         [[s.tensor(3, 4), 2], [s.tensor(3, 4), 0], [s.tensor(3, 4), -3]]),
    ]  # fmt: skip


def constant_padded(x: torch.Tensor, widths: list[int], fill: Any) -> torch.Tensor:
    """By hand: what is outside of the operand is `fill`."""
    shape, source, target = list(x.shape), [], []
    for dim in range(x.ndim):
        at = 2 * (x.ndim - 1 - dim)
        left, right = widths[at : at + 2] if at < len(widths) else (0, 0)
        shape[dim] = x.shape[dim] + left + right
        source.append(slice(max(0, -left), x.shape[dim] - max(0, -right)))
        target.append(slice(max(0, left), max(0, left) + source[-1].stop - source[-1].start))
    out = filled(shape, fill, x.dtype)
    out[tuple(target)] = x[tuple(source)]
    return out


def cat_cases(s: Samples) -> list[Any]:
    a, b = s.tensor(3, 5), s.tensor(5, 4).T
    return [
        ("columns", lambda ops, *t: ops.cat(list(t), 1), lambda *t: torch.cat(t, 1),
         [[a, s.tensor(4, 3).T, s.tensor(3, 1).expand(3, 2)],
          [s.tensor(0, 5), s.tensor(0, 2), s.tensor(0, 3)],
          [a, s.tensor(3, 0), s.tensor(6, 14)[::2, ::2]]]),
        ("rows", lambda ops, *t: ops.cat(list(t), -2), lambda *t: torch.cat(t, -2), [[a, b]]),
        ("with itself", lambda ops, x: ops.cat([x, x], 0), lambda x: torch.cat([x, x]), [[a], [b]]),
        ("broadcasts", lambda ops, *t: ops.cat(list(t), 1), lambda *t: torch.cat(t, 1),
         [[s.tensor(3, 1), s.tensor(3, 1)], [s.tensor(2, 1), s.tensor(2, 1)]]),
        ("padded by hand", lambda ops, x, y: ops.cat(
            [ops.pad(x, [0, y.size(1)]), ops.pad(y, [x.size(1), 0])], 1, True),
         lambda x, y: torch.cat([x, y], 1), [[a, s.tensor(3, 2)]]),
    ]  # fmt: skip


# ---- Looking up and writing ----------------------------------------------------------------------


def index_select_cases(s: Samples) -> list[Any]:
    found = []
    for dim in (0, 2, -2):
        runs = [
            [x, s.positions(n, below=x.shape[dim], dtype=dtype)]
            for (x,), n, dtype in zip(
                [layouts(s)[i] for i in (0, 1, 2, 3)], (4, 1, 9, 0), [torch.int64] * 4, strict=True
            )
        ]
        found.append(
            (f"dim {dim}", lambda ops, x, i, d=dim: ops.index_select(x, i, d),
             lambda x, i, d=dim: x.index_select(d, i.long()), runs)
        )  # fmt: skip
    x = s.tensor(5, 3)
    found += [
        *((f"positions of {dtype}", lambda ops, x, i: ops.index_select(x, i, 0),
           lambda x, i: x.index_select(0, i.long()), [[x, s.positions(7, below=5, dtype=dtype)]])
          for dtype in (torch.int32, torch.uint64)),
        ("one position", lambda ops, x, i: ops.index_select(x, i, 0),
         lambda x, i: x[int(i)].unsqueeze(0), [[x, torch.tensor(3)], [x, torch.tensor(0)]]),
    ]  # fmt: skip
    return found


def select_cases(s: Samples) -> list[Any]:
    runs = [[x, int(x.shape[1]) - 1] for (x,) in layouts(s) if x.shape[1] > 0]
    return [
        ("number", lambda ops, x, i: ops.select(x, i, 1), lambda x, i: x.select(1, i), runs),
        ("constant", lambda ops, x: ops.select(x, 1, -1), lambda x: x.select(-1, 1),
         layouts(s)[:3]),
        ("0-dim tensor", lambda ops, x, i: ops.select(x, i, 0), lambda x, i: x[int(i)],
         [[s.tensor(4, 5), torch.tensor(2)]]),
    ]  # fmt: skip


def gather_cases(s: Samples) -> list[Any]:
    x = s.tensor(5, 7)
    return [
        ("rows", lambda ops, x, i: ops.gather(x, i, 0), moved(lambda x, i: x.gather(0, i)),
         [[x, s.positions(9, 4, below=5)], [s.tensor(7, 5).T, s.positions(2, 7, below=5)],
          [x, s.positions(0, 3, below=5)]]),
        ("columns", lambda ops, x, i: ops.gather(x, i, -1), moved(lambda x, i: x.gather(-1, i)),
         [[x, s.positions(5, 11, below=7)], [x, s.positions(3, 4, below=7).T[:3]]]),
    ]  # fmt: skip


def take_cases(s: Samples) -> list[Any]:
    x = s.tensor(5, 7)
    return [
        ("rows", lambda ops, x, i: ops.take_along_axis(x, i, 0),
         moved(lambda x, i: torch.take_along_dim(x, i, 0)),
         [[x, s.positions(9, 7, below=5)], [s.tensor(7, 5).T, s.positions(7, 3, below=5).T]]),
        ("columns", lambda ops, x, i: ops.take_along_axis(x, i, 1),
         moved(lambda x, i: torch.take_along_dim(x, i, 1)),
         [[x, s.positions(5, 2, below=7)], [x, s.positions(5, 0, below=7)]]),
    ]  # fmt: skip


def distinct_rows(s: Samples, rows: int, columns: int, below: int) -> torch.Tensor:
    """Positions that differ within a column: nothing is written twice."""
    picks = [torch.randperm(below, generator=s.generator)[:rows] for _ in range(columns)]
    return torch.stack(picks, 1)


def scatter_cases(s: Samples) -> list[Any]:
    x, index = s.tensor(6, 5), distinct_rows(s, 4, 5, 6)
    number: Any = {torch.bool: True}.get(s.dtype, 3)
    return [
        ("rows", lambda ops, x, i, v: ops.scatter(x, i, v, 0),
         moved(lambda x, i, v: x.scatter(0, i, v)),
         [[x, index, s.tensor(4, 5)], [s.tensor(5, 6).T, index[:, :3], s.tensor(5, 9).T[:4]],
          [x, index[:0], s.tensor(0, 5)]]),
        ("columns", lambda ops, x, i, v: ops.scatter(x, i, v, -1),
         moved(lambda x, i, v: x.scatter(-1, i, v)), [[s.tensor(5, 6), index.T, s.tensor(5, 4)]]),
        ("number", lambda ops, x, i: ops.scatter(x, i, number, 0),
         lambda x, i: moved(lambda x, v: x.scatter(0, i, v))(x, filled(i.shape, number, s.dtype)),
         [[x, index]]),
        *(accumulated_scatter_cases(s) if s.dtype in NUMBERS else []),
    ]  # fmt: skip


def accumulate_cases(s: Samples) -> list[Any]:
    x, addend = s.halves(6, 5), s.halves(9, 5)
    index = s.positions(9, below=6)

    def expected(x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = bits(x).clone() if x.dtype in UNSIGNED else exact(x).clone()
        for row, values in zip(i.flatten().tolist(), exact(v), strict=True):
            out[row] += bits(values) if x.dtype in UNSIGNED else values
        return out.view(x.dtype) if x.dtype in UNSIGNED else out.to(x.dtype)

    def build(ops: Any, x: Any, i: Any, v: Any) -> Any:
        return ops.index_put_accumulate(x, i, v)

    return [("rows", build, expected, [[x, index, addend]])]


def embedding_cases(s: Samples) -> list[Any]:
    table = s.tensor(11, 4)
    return [
        ("matrix", lambda ops, i, w: ops.embedding_fwd(i, w), lambda i, w: w[i.long()],
         [[s.positions(2, 3, below=11), table], [s.positions(3, 2, below=11).T, table]]),
        ("Int32", lambda ops, i, w: ops.embedding_fwd(i, w), lambda i, w: w[i.long()],
         [[s.positions(5, below=11, dtype=torch.int32), table]]),
    ]  # fmt: skip


def accumulated_scatter_cases(s: Samples) -> list[Any]:
    runs = [[s.halves(6, 5), s.positions(9, 5, below=6), s.halves(9, 5)]]

    def case(name: str, op: BinaryOpType, reduce: str, of_arrays: Any) -> Any:
        def expected(x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            if x.dtype in UNSIGNED:
                return by_numpy(combined, x, i, v)
            return rounded(exact(x).scatter_reduce(0, i, exact(v), reduce), x.dtype)

        def combined(x: Any, i: Any, v: Any) -> Any:
            out = x.copy()
            of_arrays.at(out, (i, np.arange(x.shape[1])), v)
            return out

        return (name, lambda ops, x, i, v: ops.scatter(x, i, v, 0, op), expected, runs)

    return [
        case("sum, evaluated", BinaryOpType.Add, "sum", np.add),
        case("greatest, evaluated", BinaryOpType.Max, "amax", np.maximum),
        case("least, evaluated", BinaryOpType.Min, "amin", np.minimum),
    ]


def index_rows() -> list[Operation]:
    def zero(name: str, *more: Any) -> Callable[[FusionDefinition], Any]:
        return lambda fd: getattr(fd.ops, name)(given(fd, 0), given(fd, 0, DataType.Int), *more)

    ranks = "Tensor arguments have different dimensions 2 and 1"

    def unlike(name: str) -> Refusal:
        return Refusal(ranks, lambda fd: getattr(fd.ops, name)(
            given(fd, 2), given(fd, 1, DataType.Int), 0))  # fmt: skip

    return [
        shape_row("index_select", index_select_cases, [
            Refusal("index_tv must be a 1d or scalar tensor.",
                    lambda fd: fd.ops.index_select(given(fd), given(fd, 2, DataType.Int), 0)),
            Refusal("lookup_tv argument for indexSelect cannot be a 0-D tensor.",
                    lambda fd: fd.ops.index_select(given(fd, 0), given(fd, 1, DataType.Int), 0))]),
        shape_row("select", select_cases, [
            Refusal("select can not be applied to 0d tensor.",
                    lambda fd: fd.ops.select(given(fd, 0), 0, 0))]),
        shape_row("gather", gather_cases, [
            unlike("gather"),
            Refusal("torch.gather can not be applied to 0d tensor.", zero("gather", 0)),
            Refusal("Tensor arguments have dimension 1 so dim argument must satisfy -1 <= dim < 1,"
                    " but received 2",
                    lambda fd: fd.ops.gather(given(fd), given(fd, 1, DataType.Int), 2))]),
        shape_row("take_along_axis", take_cases, [unlike("take_along_axis")]),
        shape_row("scatter", scatter_cases, [
            Refusal("scatter can not be applied to 0d tensor.", zero("scatter", 1.0, 0))]),
        shape_row("index_put_accumulate", accumulate_cases, dtypes=NUMBERS),
        shape_row("indexPutAccumulate", accumulate_cases, dtypes=(torch.float32,)),
        shape_row("embedding_fwd", embedding_cases, [
            Refusal("Expected input to be atleast 1D, got: 0",
                    lambda fd: fd.ops.embedding_fwd(given(fd, 0, DataType.Int), given(fd, 2))),
            Refusal("Expected weight to be 2D, got: 1",
                    lambda fd: fd.ops.embedding_fwd(given(fd, 1, DataType.Int), given(fd, 1)))],
            dtypes=FLOATING),
    ]  # fmt: skip


# ---- Searching -----------------------------------------------------------------------------------


def topk(x: torch.Tensor, k: int, dim: int, largest: bool = True) -> list[torch.Tensor]:
    indices = torch.topk(ordered(x), k, dim, largest, True).indices
    return [moved(lambda x: x.gather(dim, indices))(x), indices]


def topk_cases(s: Samples) -> list[Any]:
    x, y = s.distinct(4, 9), s.distinct(7, 3).T
    found = []
    for largest in (True, False):
        found.append(
            (f"largest {largest}",
             lambda ops, x, b=largest: ops.topk(x, 3, -1, b, True),
             lambda x, b=largest: topk(x, 3, -1, b), [[x], [y]])
        )  # fmt: skip
    found += [
        ("first dimension", lambda ops, x: ops.topk(x, 2, 0, True, True),
         lambda x: topk(x, 2, 0), [[x], [y]]),
        ("k is an input", lambda ops, x, k: ops.topk(x, k, 1, True, True),
         lambda x, k: topk(x, k, 1), [[x, 4], [x, 1], [x, 0]]),
    ]  # fmt: skip
    return found


def argsort_cases(s: Samples) -> list[Any]:
    x, y = s.distinct(4, 9), s.tensor(7, 3).T
    return [
        (f"dim {dim}, descending {descending}",
         lambda ops, x, d=dim, e=descending: ops.argsort(x, d, e, True),
         lambda x, d=dim, e=descending: torch.argsort(
             ordered(x), dim=d, descending=e, stable=True),
         [[x], [y], [s.tensor(0, 3)]])
        for dim, descending in ((-1, False), (0, True))
    ]  # fmt: skip


def search_rows() -> list[Operation]:
    return [
        shape_row("topk", topk_cases, [
            Refusal("TopKOp expects int64_t input for k but got double",
                    lambda fd: fd.ops.topk(given(fd), 2.0))], dtypes=NUMBERS),
        shape_row("argsort", argsort_cases, dtypes=REAL),
    ]  # fmt: skip


def sizes_of(build: Callable[..., Any]) -> Any:
    """Extents as an output: tensors that are filled with them."""

    def made(ops: Any, x: Any) -> list[Any]:
        extents = build(ops, x)
        return [ops.full([2], extent, DataType.Int) for extent in extents]

    return made


def size_rows() -> list[Operation]:
    def shape(s: Samples) -> list[Any]:
        return [("all", sizes_of(lambda ops, x: ops.shape(x)),
                 lambda x: [torch.full((2,), n) for n in x.shape], layouts(s))]  # fmt: skip

    def size(s: Samples) -> list[Any]:
        return [("two", sizes_of(lambda ops, x: [ops.size(x, 0), ops.size(x, -1)]),
                 lambda x: [torch.full((2,), n) for n in (x.shape[0], x.shape[-1])],
                 layouts(s))]  # fmt: skip

    return [shape_row("shape", shape), shape_row("size", size)]


def rows() -> list[Operation]:
    scatters = index_rows()
    return [*shape_rows(), *scatters, *search_rows(), *size_rows()]

"""Rules can be asked before a scheduling call: they say what the call would raise, and change
nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser_direct import (
    CacheOp,
    DataType,
    FusionDefinition,
    IterType,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    Refusal,
    SwizzleType,
    TensorView,
    UserError,
    concretize,
    find_concretization,
    has_dynamic_shapes,
    schedule,
    try_find_concretization,
)

if TYPE_CHECKING:
    from collections.abc import Callable

BX, TX = ParallelType.grid_x, ParallelType.block_x
XOR = SwizzleType.XOR


class Softmaxish:
    """x -> c = set(x) -> s = sum(c, [1]) -> b = broadcast(s) -> y = c + b"""

    def __init__(self) -> None:
        with FusionDefinition() as fd:
            self.x = fd.define_tensor([16, 32], contiguity=True)
            self.c = fd.ops.set(self.x)
            self.s = fd.ops.sum(self.c, [1])
            self.b = fd.ops.broadcast(self.s, [False, True])
            self.y = fd.ops.add(self.c, self.b)
            fd.add_output(self.y)
        self.fusion = fd.fusion

    def state(self) -> str:
        tensors = [self.x, self.c, self.s, self.b, self.y]
        parts = [str(self.fusion), self.fusion.print_transforms()]
        parts += [f"{tv} {tv.loop()} {tv.schedule_steps()}" for tv in tensors]
        return "\n".join(parts)


def plain(tv: TensorView) -> None:
    assert tv.compute_at_position() == 0


def split(tv: TensorView) -> None:
    tv.split(0, 4)


def bound(tv: TensorView) -> None:
    tv.axis(0).parallelize(BX)
    tv.axis(1).parallelize(TX)


def inlined(tv: TensorView) -> None:
    tv.inline_at(1)


REFUSED = [
    ("c", plain, "split", (2, 4)),
    ("c", plain, "split", (0, 0)),
    ("c", bound, "split", (0, 4)),
    ("b", inlined, "split", (0, 4)),
    ("c", plain, "merge", (0, 0)),
    ("s", plain, "merge", (0, 1)),
    ("c", bound, "merge", (0, 1)),
    ("c", plain, "flatten", (1, 0)),
    ("s", plain, "flatten", (0, 1)),
    ("c", plain, "reorder", ({0: 1, 1: 1},)),
    ("b", inlined, "reorder", ({0: 1},)),
    ("c", plain, "swizzle", (XOR, 0, 1)),
    ("c", plain, "swizzle", (XOR, 1, 1)),
    ("c", plain, "swizzle1d", (0, BX)),
    ("c", plain, "broadcast", (5,)),
    ("b", inlined, "broadcast", (0,)),
    ("c", bound, "resize", (0, 1, 1)),
    ("c", plain, "resize", (0, -1, 1)),
    ("c", plain, "resize", (0, 1, 1, IterType.Broadcast)),
    ("y", plain, "cache_after", ()),
    ("c", plain, "cache_after", (LoadStoreOpType.cp_async, CacheOp.streaming)),
    ("b", inlined, "cache_after", ()),
    ("x", plain, "cache_before", ()),
    ("b", inlined, "cache_before", ()),
    ("c", plain, "cache_fork", ()),
    ("c", plain, "rfactor", ([1],)),
    ("s", plain, "rfactor", ([0],)),
    ("s", plain, "rfactor", ([1],)),
    ("y", plain, "set_memory_type", (MemoryType.shared,)),
    ("c", plain, "promote_reuse", ()),
    ("c", plain, "commit_leaf_to_logical", ()),
    ("s", plain, "clear_reduction_iter_domains", ()),
    ("s", plain, "inline_at", (3,)),
    ("s", plain, "inline_at", (2,)),
    ("c", plain, "compute_with", (-7,)),
    ("y", plain, "circular_buffer", (2,)),
    ("c", plain, "circular_buffer", (1,)),
]
ALLOWED = [
    ("c", plain, "split", (-1, 4)),
    ("c", plain, "merge", (0, 1)),
    ("c", plain, "flatten", ()),
    ("c", plain, "reorder", ({0: 1},)),
    ("c", plain, "swizzle1d", (0, ParallelType.mesh_x)),
    ("c", plain, "broadcast", (2,)),
    ("c", plain, "resize", (0, 1, 1)),
    ("c", plain, "cache_after", ()),
    ("y", plain, "cache_before", ()),
    ("c", plain, "set_memory_type", (MemoryType.shared,)),
    ("y", plain, "commit_leaf_to_logical", ()),
    ("s", plain, "inline_at", (1,)),
    ("s", plain, "compute_with", (1,)),
    ("s", split, "cache_before", ()),
]


def rule_of(method: str) -> Callable[..., Refusal | None]:
    rule: Callable[..., Refusal | None] = getattr(
        schedule, f"find_wrong_{method.removeprefix('set_')}"
    )
    return rule


def raised_by(call: Callable[[], object]) -> str:
    with pytest.raises(UserError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize(("name", "prepare", "method", "arguments"), REFUSED)
def test_a_rule_says_what_the_call_would_raise(
    name: str, prepare: Callable[[TensorView], None], method: str, arguments: tuple[Any, ...]
) -> None:
    fusion = Softmaxish()
    tensor = getattr(fusion, name)
    prepare(tensor)
    before = fusion.state()
    refusal = rule_of(method)(tensor, *arguments)
    assert refusal is not None
    assert fusion.state() == before
    assert raised_by(lambda: getattr(tensor, method)(*arguments)) == str(refusal)
    assert fusion.state() == before


@pytest.mark.parametrize(("name", "prepare", "method", "arguments"), ALLOWED)
def test_a_rule_says_nothing_about_a_call_that_can_be_made(
    name: str, prepare: Callable[[TensorView], None], method: str, arguments: tuple[Any, ...]
) -> None:
    fusion = Softmaxish()
    tensor = getattr(fusion, name)
    prepare(tensor)
    before = fusion.state()
    assert rule_of(method)(tensor, *arguments) is None
    assert fusion.state() == before
    getattr(tensor, method)(*arguments)
    assert fusion.state() != before


@pytest.mark.parametrize(
    ("rule", "method", "binding", "arguments"),
    [
        ("parallel_type", "parallelize", ParallelType.serial, (ParallelType.vectorize,)),
        ("padding", "pad_to_multiple_of_warp", BX, (32,)),
        ("padding", "pad_to_multiple_of_warp", TX, (33,)),
        ("cluster", "set_clustered_blocks", TX, ()),
    ],
)
def test_rules_of_axes_say_what_the_call_would_raise(
    rule: str, method: str, binding: ParallelType, arguments: tuple[Any, ...]
) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
    axis = y.axis(0)
    axis.parallelize(binding)
    refusal = getattr(schedule, f"find_wrong_{rule}")(axis, *arguments)
    assert refusal is not None
    assert raised_by(lambda: getattr(axis, method)(*arguments)) == str(refusal)


def test_rules_of_several_reductions() -> None:
    fusion = Softmaxish()
    assert schedule.find_wrong_group([fusion.s]) is None
    refusal = schedule.find_wrong_group([fusion.c])
    assert refusal is not None
    assert raised_by(lambda: schedule.group_reductions([fusion.c])) == str(refusal)


def test_an_attempt_that_is_refused_changes_nothing() -> None:
    """The axes of `b` are in loops of `y`, and cannot be transformed like those of `c`."""
    fusion = Softmaxish()
    fusion.b.inline_at(1)
    fusion.c.split(0, 4)
    before = fusion.state()
    refusals = [
        schedule.try_transform_like(fusion.c),
        schedule.try_bounded_transform_forward(fusion.c, -1, []),
        schedule.try_bounded_transform_both(fusion.c, -1, [], []),
        schedule.try_bounded_transform_backward(fusion.c, 7, []),
        schedule.try_inline_at(fusion.s, 3),
        schedule.try_parallelize_like(fusion.s, 4),
    ]
    assert all(refusals)
    assert fusion.state() == before
    assert raised_by(lambda: schedule.transform_like(fusion.c)) == str(refusals[0])


def test_an_attempt_that_succeeds_does_what_the_function_does() -> None:
    ours, theirs = Softmaxish(), Softmaxish()
    for fusion in (ours, theirs):
        fusion.c.split(0, 4)
        fusion.c.axis(0).parallelize(BX)
    assert schedule.try_transform_like(ours.c) is None
    assert schedule.try_parallelize_like(ours.c) is None
    assert schedule.try_inline_at(ours.s, 2) is None
    schedule.transform_like(theirs.c)
    schedule.parallelize_like(theirs.c)
    schedule.inline_at(theirs.s, 2)
    assert ours.fusion.print_transforms() == theirs.fusion.print_transforms()


def test_the_trivial_schedule_can_be_refused() -> None:
    assert schedule.try_trivial(Softmaxish().fusion) is None
    scheduled = Softmaxish()
    scheduled.c.axis(0).parallelize(BX)
    refusal = schedule.try_trivial(scheduled.fusion)
    assert refusal is not None
    assert refusal.headline == "trivial: the fusion has a schedule already"


def test_shapes_that_do_not_come_out_are_a_refusal() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        n = fd.define_scalar(None, dtype=DataType.Int)
        fd.add_output(fd.ops.reshape(x, [n, 4]))
    inputs = [torch.zeros(2, 6), 5]
    refusal = try_find_concretization(fd.fusion, inputs)
    assert isinstance(refusal, Refusal)
    assert "Total element counts across view operation must match" in refusal.headline
    assert raised_by(lambda: find_concretization(fd.fusion, inputs)) == str(refusal)
    record = try_find_concretization(fd.fusion, [torch.zeros(2, 6), 3])
    assert not isinstance(record, Refusal)
    assert not has_dynamic_shapes(concretize(fd.fusion, record))

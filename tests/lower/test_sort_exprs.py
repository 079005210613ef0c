"""sort_exprs: definitions before uses, and expressions of one loop next to each other."""

from __future__ import annotations

from pass_text import check_refused, check_unchanged, plain

from nvfuser_direct import FusionDefinition

NAME = "sort_exprs"


def two_chains() -> FusionDefinition:
    """Copies of two inputs, made before either is read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        w = fd.define_tensor([4, 8], contiguity=True)
        a, d = fd.ops.set(x), fd.ops.set(w)
        fd.add_output(fd.ops.neg(a))
        fd.add_output(fd.ops.exp(d))
        fd.sched.inline_most()
    return fd


def test_statements_stay() -> None:
    check_unchanged(two_chains(), NAME)


def test_expressions_that_share_a_loop_become_neighbours() -> None:
    text = plain(str(two_chains().fusion.lower(until="build_loop_nests")))
    assert text == """?"""


def test_a_path_that_leaves_a_shared_loop_and_comes_back_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        first = fd.ops.set(x)
        outside = fd.ops.exp(first)
        last = fd.ops.add(first, outside)
        fd.add_output(last)
        first.inline_at(1)
        outside.inline_at(0)
    check_refused(fd, NAME, "Expressions that share a loop depend on one that does not")

"""sort_exprs: definitions before uses, and expressions of one loop next to each other."""

from __future__ import annotations

import textwrap

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
    assert text == textwrap.dedent("""\
        FOR k0 in 4:
          FOR k1 in 8:
            T2_l[0] = Set(T0_g[((k0 * 8) + k1)])
            T4_g[((k0 * 8) + k1)] = -T2_l[0];
        FOR k2 in 4:
          FOR k3 in 8:
            T3_l[0] = Set(T1_g[((k2 * 8) + k3)])
            T5_g[((k2 * 8) + k3)] = expf(T3_l[0]);
        """)


def test_a_path_that_leaves_a_shared_loop_and_comes_back_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        row = fd.ops.set(x)
        first = fd.ops.exp(row)
        outside = fd.ops.neg(first)
        last = fd.ops.add(row, outside)
        fd.add_output(last)
        row.inline_at(1)
    check_refused(fd, NAME, "Expressions that share a loop depend on one that does not")

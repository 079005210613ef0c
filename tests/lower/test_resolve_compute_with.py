"""resolve_compute_with: a tensor is computed with the first of its consumers."""

from __future__ import annotations

import textwrap

from pass_text import check_unchanged, plain, text_around

from nvfuser_direct import FusionDefinition, TensorView

NAME = "resolve_compute_with"


def softmax_row(*, with_consumer: bool) -> tuple[FusionDefinition, TensorView]:
    """A row that a maximum and a difference read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        top = fd.ops.max(x, [1])
        y = fd.ops.sub(x, fd.ops.broadcast(top, [False, True]))
        fd.add_output(y)
        row = x.cache_after()
        fd.sched.inline_most()
        if with_consumer:
            row.compute_with(-1)
    return fd, row


def test_the_first_consumer_in_the_order_of_the_kernel_is_found() -> None:
    fd, row = softmax_row(with_consumer=True)
    before, after = text_around(fd, NAME)
    assert "compute_with( 2 )" in before
    top = next(t for t in row.consumers() if t.has_reduction())
    assert f"compute_with( T{top.name()}, 2 )" not in before
    assert "compute_with( T" in after


def test_the_tensor_shares_the_inner_loop_of_that_consumer() -> None:
    apart = plain(str(softmax_row(with_consumer=False)[0].fusion.lower(until="build_loop_nests")))
    shared = plain(str(softmax_row(with_consumer=True)[0].fusion.lower(until="build_loop_nests")))
    assert apart.count("FOR") == shared.count("FOR") + 1
    assert shared == textwrap.dedent("""\
        FOR k0 in 4:
          T1_l[0] = Set(float(-inf))
          FOR k1 in 8:
            T4_l[k1] = Set(T0_g[((k0 * 8) + k1)])
            T1_l[0] = max(T1_l[0], T4_l[k1]);
          FOR k2 in 8:
            T2_l[0] = Set(T1_l[0])
            T3_g[((k0 * 8) + k2)] = T4_l[k2] - T2_l[0];
        """)


def test_a_fusion_without_such_positions_stays() -> None:
    check_unchanged(softmax_row(with_consumer=False)[0], NAME)

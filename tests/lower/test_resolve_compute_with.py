"""resolve_compute_with: a tensor is computed with the first of its consumers."""

from __future__ import annotations

import textwrap

import pytest
from pass_text import check_unchanged, plain, text_around

from nvfuser_direct import Fusion, FusionDefinition, MemoryType, ParallelType, TensorView, UserError

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


def copy_with_two_readers(*names: str, cosine: ParallelType) -> FusionDefinition:
    """A copy in blocks along y that the two named functions read; the sine runs along x."""
    with FusionDefinition() as fd:
        copy = fd.ops.set(fd.define_tensor([4, 8], contiguity=True))
        readers = {name: getattr(fd.ops, name)(copy) for name in names}
        for name in ("sin", "cos"):
            fd.add_output(readers[name])
        copy.set_memory_type(MemoryType.Global)
        copy.axis(0).parallelize(ParallelType.grid_y)
        readers["sin"].axis(0).parallelize(ParallelType.grid_x)
        readers["cos"].axis(0).parallelize(cosine)
        copy.compute_with(-1)
    return fd


@pytest.mark.parametrize("names", [("sin", "cos"), ("cos", "sin")])
def test_another_consumer_is_first_where_the_loops_of_the_first_one_do_not_fit(
    names: tuple[str, str],
) -> None:
    """Which of two readers was defined first does not decide whether there is a kernel."""
    fusion = copy_with_two_readers(*names, cosine=ParallelType.grid_y).fusion
    for same in (fusion, Fusion.deserialize(fusion.serialize())):
        text = same.print_kernel(target="cuda", comments=False)
        assert text.index("cosf(") < text.index("sinf(")


def test_the_refusal_is_that_of_the_first_consumer_where_none_fits() -> None:
    fd = copy_with_two_readers("sin", "cos", cosine=ParallelType.grid_z)
    with pytest.raises(UserError, match="Axes that share a loop") as refused:
        fd.fusion.lower(target="cuda")
    assert "found:    iblockIdx.x" in str(refused.value)

"""Equivalence graphs: which iteration domains correspond, in each sense."""

from __future__ import annotations

import itertools

import pytest

from nvfuser_direct import FusionDefinition, IdMappingMode, UserError
from nvfuser_direct.idm import IdModel

EXACT, ALMOST_EXACT = IdMappingMode.exact, IdMappingMode.almost_exact
BROADCAST, PERMISSIVE, LOOP = IdMappingMode.broadcast, IdMappingMode.permissive, IdMappingMode.loop
MODES = (EXACT, ALMOST_EXACT, BROADCAST, PERMISSIVE)


def tensor(fd, *shape):
    return fd.define_tensor(list(shape), contiguity=True)


def mapped_in(fd, axis0, axis1):
    """The graphs that map two axes."""
    model = IdModel(fd.fusion, validate=True)
    return {
        mode
        for mode in MODES
        if model.maybe_build_graph(mode).disjoint_val_sets().strict_are_mapped(axis0, axis1)
    }


def test_pointwise_operations_map_by_position():
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        t = fd.ops.add(fd.ops.neg(x), tensor(fd, -1, -1))
        fd.add_output(t)
        assert mapped_in(fd, x.axis(0), t.axis(0)) == set(MODES)
        assert mapped_in(fd, x.axis(0), t.axis(1)) == set()


def test_operations_that_move_axes():
    """Broadcast, squeeze, permute, reshape, reduction."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1, 1, -1, -1)
        squeezed = fd.ops.squeeze(x, [1])
        permuted = fd.ops.permute(squeezed, [2, 0, 1])
        reduced = fd.ops.sum(permuted, [1])
        broadcast = fd.ops.broadcast(reduced, [True, False, False])
        fd.add_output(broadcast)
        assert mapped_in(fd, x.axis(0), permuted.axis(1)) == set(MODES)
        assert mapped_in(fd, x.axis(0), reduced.axis(1)) == set(MODES)
        assert mapped_in(fd, x.axis(3), broadcast.axis(1)) == set(MODES)
        assert mapped_in(fd, x.axis(2), broadcast.axis(2)) == set(MODES)
        assert mapped_in(fd, x.axis(1), broadcast.axis(0)) == set()


def test_reshapes_of_equal_axes_map():
    """A reshape's splits divide, so equal results come from equal axes."""
    with FusionDefinition() as fd:
        x, y = tensor(fd, 24), tensor(fd, 24)
        a, b = fd.ops.reshape(x, [4, 6]), fd.ops.reshape(y, [4, 6])
        fd.add_output(fd.ops.add(a, b))
        assert mapped_in(fd, x.axis(0), y.axis(0)) == set(MODES)


@pytest.mark.parametrize(
    "order",
    [order for order in itertools.permutations("abcs") if order.index("a") < order.index("s")],
)
def test_pads_of_an_axis_map_in_any_order(order):
    """They do where a pad is said to have the size of what it pads: so it has if there is none."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1)
        size = fd.ops.size(x, 0)
        made = {}
        for name in order:
            made[name] = fd.ops.sub(made["a"], x) if name == "s" else fd.ops.pad(x, [0, size])
            fd.add_output(made[name])
        for pad in (made["b"], made["c"], made["s"]):
            assert mapped_in(fd, made["a"].axis(0), pad.axis(0)) == set(MODES)


def test_splits_with_remainder_say_nothing_about_their_inputs():
    """7 and 8 split by 4 are both [2, 4]."""
    with FusionDefinition() as fd:
        x, y = fd.ops.set(tensor(fd, 7)), fd.ops.set(tensor(fd, 8))
        fd.add_output(x)
        fd.add_output(y)
        x.split(0, 4)
        y.split(0, 4)
        graph = IdModel(fd.fusion).maybe_build_graph(EXACT)
        graph.map_vals(x.axis(0), y.axis(0))
        graph.map_vals(x.axis(1), y.axis(1))
        sets = graph.disjoint_val_sets()
        assert sets.strict_are_mapped(x.axis(1), y.axis(1))
        assert not sets.strict_are_mapped(x.get_logical_domain()[0], y.get_logical_domain()[0])


def test_mapping_propagates_both_ways():
    """Equal transforms of mapped inputs, and of mapped outputs where they can be read backward."""
    with FusionDefinition() as fd:
        x, y = fd.ops.set(tensor(fd, 6, 5)), fd.ops.set(tensor(fd, 6, 5))
        fd.add_output(x)
        fd.add_output(y)
        for t in (x, y):
            t.merge(0, 1)
            t.split(0, 4)
        graph = IdModel(fd.fusion).maybe_build_graph(EXACT)
        sets = graph.disjoint_val_sets()
        assert not sets.strict_are_mapped(x.axis(0), y.axis(0))
        graph.map_vals(x.axis(0), y.axis(0))
        graph.map_vals(x.axis(1), y.axis(1))
        for mine, other in zip(x.get_logical_domain(), y.get_logical_domain(), strict=True):
            assert sets.strict_are_mapped(mine, other)


def test_merge_is_read_backward_with_one_input():
    """The product and one factor determine the other one."""
    with FusionDefinition() as fd:
        x, y = fd.ops.set(tensor(fd, -1, -1)), fd.ops.set(tensor(fd, -1, -1))
        fd.add_output(x)
        fd.add_output(y)
        (x0, x1), (y0, y1) = x.get_logical_domain(), y.get_logical_domain()
        x.merge(0, 1)
        y.merge(0, 1)
        graph = IdModel(fd.fusion).maybe_build_graph(EXACT)
        sets = graph.disjoint_val_sets()
        graph.map_vals(x.axis(0), y.axis(0))
        assert not sets.strict_are_mapped(x1, y1)
        graph.map_vals(x0, y0)
        assert sets.strict_are_mapped(x1, y1)


def test_resolved_broadcasts():
    with FusionDefinition() as fd:
        b = fd.ops.broadcast(tensor(fd, -1), [True, False])
        t = fd.ops.add(b, tensor(fd, -1, -1))
        fd.add_output(t)
        assert mapped_in(fd, b.axis(0), t.axis(0)) == {BROADCAST, PERMISSIVE}
        b.merge(0, 1)
        t.merge(0, 1)
        assert mapped_in(fd, b.axis(0), t.axis(0)) == {BROADCAST, PERMISSIVE}


def test_reductions_of_broadcasts_resolve_nothing():
    with FusionDefinition() as fd:
        x = tensor(fd, -1, 1)
        avg, _, _ = fd.ops.welford(x, [1])
        fd.add_output(avg)
        assert mapped_in(fd, x.axis(1), avg.axis(1)) == set(MODES)


def test_forwarded_splits_map_permissively():
    """The two 128s are permissively, not exactly, equal."""
    with FusionDefinition() as fd:
        c = fd.ops.set(tensor(fd, -1))
        t = fd.ops.add(fd.ops.broadcast(c, [True, False]), tensor(fd, -1, -1))
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 128)
        fd.sched.transform_like(t)
        assert mapped_in(fd, c.axis(1), t.axis(1)) == {PERMISSIVE}


def test_real_parts_of_a_broadcast_are_not_forwarded():
    with FusionDefinition() as fd:
        c = fd.ops.set(tensor(fd, -1))
        b = fd.ops.broadcast(c, [True, False])
        fd.add_output(b)
        b.split(0, 4)
        b.merge(1, 2)
        assert mapped_in(fd, c.axis(0), b.axis(1)) == set()


def test_splits_by_one_are_almost_exact():
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, -1))
        fd.add_output(x)
        (logical,) = x.get_logical_domain()
        x.split(0, 1)
        x.split(0, 1)
        assert mapped_in(fd, logical, x.axis(0)) == {ALMOST_EXACT, BROADCAST, PERMISSIVE}
        # Two axes of size 1, not one.
        assert mapped_in(fd, x.axis(1), x.axis(2)) == set()


def test_merges_with_one_are_almost_exact():
    with FusionDefinition() as fd:
        b = fd.ops.broadcast(tensor(fd, -1), [True, False])
        fd.add_output(b)
        _, logical = b.get_logical_domain()
        b.merge(0, 1)
        assert mapped_in(fd, logical, b.axis(0)) == {ALMOST_EXACT, BROADCAST, PERMISSIVE}


def test_extents_of_one_are_not_almost_exact():
    """8 split by 10 is [1, 10], the 1 split by 4 is [1, 4]: the two 1s differ."""
    with FusionDefinition() as fd:
        s = fd.ops.sum(tensor(fd, 8), [0])
        fd.add_output(s)
        s.split(0, 10)
        one = s.axis(0)
        s.split(0, 4)
        assert mapped_in(fd, one, s.axis(0)) == set()


def test_merge_of_two_ones():
    """Both axes may not become one."""
    with FusionDefinition() as fd:
        x = fd.ops.set(tensor(fd, 1, 1))
        fd.add_output(x)
        first, second = x.get_logical_domain()
        x.merge(0, 1)
        assert mapped_in(fd, first, second) == set()


def test_merges_with_two_ones_in_a_row():
    """The same with an axis between them and the product."""
    with FusionDefinition() as fd:
        b = fd.ops.broadcast(tensor(fd, -1), [True, True, False])
        fd.add_output(b)
        first, second, real = b.get_logical_domain()
        b.merge(1, 2)
        b.merge(0, 1)
        assert ALMOST_EXACT in mapped_in(fd, real, b.axis(0))
        assert mapped_in(fd, first, second) == set()


def test_self_mapping():
    """Legal until it has to be scheduled; the error names the tensor and the two axes."""
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        fd.add_output(fd.ops.add(x, fd.ops.permute(x, [1, 0])))
        assert EXACT in mapped_in(fd, x.axis(0), x.axis(1))
        with pytest.raises(UserError, match="Two axes of one tensor correspond") as error:
            IdModel(fd.fusion, allow_self_mapping=False)
    for part in ("T0", str(x.axis(0)), str(x.axis(1))):
        assert part in str(error.value)


def test_siblings_map():
    with FusionDefinition() as fd:
        avg, m2, n = fd.ops.welford(tensor(fd, -1, -1), [1])
        for result in (avg, m2, n):
            fd.add_output(result)
        for axis in range(2):
            assert mapped_in(fd, avg.axis(axis), n.axis(axis)) == set(MODES)


def test_reshape_cycle():
    """There and back; nothing is mapped to itself, and every construction ends."""
    with FusionDefinition() as fd:
        x = tensor(fd, 3, 5)
        z = fd.ops.reshape(fd.ops.reshape(x, [15]), [3, 5])
        fd.add_output(fd.ops.add(z, x))
        IdModel(fd.fusion, build_graphs=True, allow_self_mapping=False, validate=True)
        assert mapped_in(fd, x.axis(0), z.axis(0)) == set(MODES)


def test_unknown_entry():
    with FusionDefinition() as fd:
        x = tensor(fd, -1)
        fd.add_output(fd.ops.neg(x))
        sets = IdModel(fd.fusion).maybe_build_graph(EXACT).disjoint_val_sets()
        y = tensor(fd, -1)
        with pytest.raises(UserError, match=r"Strict mapping failed on element: iS2\{i2\}"):
            sets.strict_are_mapped(y.axis(0), x.axis(0))


def test_text():
    with FusionDefinition() as fd:
        x = tensor(fd, -1, -1)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.merge(0, 1)
        model = IdModel(fd.fusion)
        assert str(model) == "IterDomainGraphs { \n } IterDomainGraphs\n"
        graph = model.maybe_build_graph(EXACT)
        assert str(graph.disjoint_val_sets()) == (
            "disjoint sets{\n  { iS0{i0}; iS2{i0} }\n  { iS1{i1}; iS3{i1} }\n"
            "  { iS4{( i0 * i1 )} }\n}"
        )
        groups = """\
Disjoint Ids:
(idgs){
  idg{0 2}
  idg{1 3}
  idg{4}
}

Disjoint Expression groups:
(exprgs){
  exprg{2}: idg{0 2}, idg{1 3} --Merge--> idg{4}
}
"""
        assert str(graph) == "IdGraph { \n" + groups + " } IdGraph\n"
        assert str(model).startswith("IterDomainGraphs { \n  IdGraph exact{ \n  Disjoint Ids:\n")
        assert str(model).endswith("  } IdGraph\n\n } IterDomainGraphs\n")


def test_standard_graphs():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(tensor(fd, -1)))
        text = str(IdModel(fd.fusion, build_graphs=True))
    for name in ("exact", "almost_exact", "broadcast", "permissive", "loop"):
        assert f"  IdGraph {name}{{ \n" in text


def test_axes_of_another_fusion_are_refused():
    with FusionDefinition() as other:
        stranger = tensor(other, -1)
    with FusionDefinition() as fd:
        x = tensor(fd, -1)
        fd.add_output(fd.ops.neg(x))
        graph = IdModel(fd.fusion).maybe_build_graph(EXACT)
        with pytest.raises(UserError, match="was not found in the active fusion"):
            graph.map_vals(x.axis(0), stranger.axis(0))

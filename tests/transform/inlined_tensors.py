"""Parts that tests of inlining share: small fusions, and where their tensors are computed."""

from __future__ import annotations

from nvfuser_direct import IdMappingMode, idm


def tensor(fd, *shape):
    return fd.define_tensor(list(shape), contiguity=True)


def positions(*tensors):
    return [t.compute_at_position() for t in tensors]


def loop_classes(fd):
    model = idm.IdModel(fd.fusion)
    return model.maybe_build_graph(IdMappingMode.loop).disjoint_val_sets()


def share_loop(fd, *axes):
    sets = loop_classes(fd)
    return all(sets.strict_are_mapped(axes[0], axis) for axis in axes)


def copies(fd):
    """x -> c -> a -> t, split by 4"""
    x = tensor(fd, -1, -1)
    c = fd.ops.set(x)
    a = fd.ops.neg(c)
    t = fd.ops.set(a)
    fd.add_output(t)
    t.split(1, 4)
    fd.sched.transform_like(t)
    return c, a, t

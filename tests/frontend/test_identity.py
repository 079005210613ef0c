"""Which definitions are the same: statements are compared, not mathematics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser import DataType, FusionCache, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

    Write = Callable[[FusionDefinition, Any], Any]


def id_of(write: Write, shape: tuple[int, ...] = (-1, -1)) -> int | None:
    """The id of a definition with one input, and what is written of it as output."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor(list(shape), contiguity=True)
        out = write(fd, t0)
        fd.add_output(fd.ops.neg(out[0] if isinstance(out, tuple) else out))
    return fd.id()


SAME: dict[str, list[Write]] = {
    "shapes of reshape": [
        lambda fd, t: fd.ops.reshape(t, [2, 5]),
        lambda fd, t: fd.ops.reshape(t, (2, 5)),
        lambda fd, t: fd.ops.reshape(t, fd.define_vector([2, 5])),
        lambda fd, t: fd.ops.reshape(
            t, fd.define_vector([fd.define_scalar(2), fd.define_scalar(5)])
        ),
        lambda fd, t: fd.ops.reshape(t, [fd.define_scalar(2), fd.define_scalar(5)]),
        lambda fd, t: fd.ops.reshape(t, [1, 10], [2, 5]),
    ],
    "strides of slice": [
        lambda fd, t: fd.ops.slice(t, [0, 0], [1, 2]),
        lambda fd, t: fd.ops.slice(t, [0, 0], [1, 2], [1, 1]),
        lambda fd, t: fd.ops.slice(t, (0, 0), (1, 2), (1, 1)),
    ],
    "wrapped dims of permute": [
        lambda fd, t: fd.ops.permute(t, [1, 0]),
        lambda fd, t: fd.ops.permute(t, [-1, -2]),
    ],
    "wrapped ranks of stride_order": [
        lambda fd, t: fd.ops.stride_order(t, [0, 1]),
        lambda fd, t: fd.ops.stride_order(t, [-2, -1]),
    ],
    "sums of everything": [
        lambda fd, t: fd.ops.sum(t),
        lambda fd, t: fd.ops.sum(t, [0, 1]),
        lambda fd, t: fd.ops.sum(t, axes=[0, 1]),
    ],
    "sums of a dimension": [
        lambda fd, t: fd.ops.sum(t, dim=1),
        lambda fd, t: fd.ops.sum(t, dims=[1]),
        lambda fd, t: fd.ops.sum(t, 1),
        lambda fd, t: fd.ops.sum(t, axis=1),
        lambda fd, t: fd.ops.sum(t, axes=[1]),
    ],
    "numbers that are not": [
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(float("nan"))),
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(-float("nan"))),
    ],
    "converted constants": [
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(3.0)),
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(3, DataType.Double)),
    ],
    "methods": [
        lambda fd, t: fd.ops.mul(t, fd.ops.size(t, 1)),
        lambda fd, t: t * t.size(1),
    ],
}

DIFFERENT: dict[str, list[Write]] = {
    "order of operands": [
        lambda fd, t: fd.ops.sub(t, fd.define_scalar(1.0)),
        lambda fd, t: fd.ops.sub(fd.define_scalar(1.0), t),
    ],
    "an unused statement": [
        lambda fd, t: fd.ops.exp(t),
        lambda fd, t: (fd.ops.exp(t), fd.ops.sin(t)),
    ],
    "another order": [
        lambda fd, t: fd.ops.add(*[fd.ops.exp(t), fd.ops.sin(t)]),
        lambda fd, t: fd.ops.add(*reversed([fd.ops.sin(t), fd.ops.exp(t)])),
    ],
    "axes as written": [
        lambda fd, t: fd.ops.sum(t, dims=[-1]),
        lambda fd, t: fd.ops.sum(t, dims=[1]),
    ],
    "integers and floats": [
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(3)),
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(3.0)),
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(True)),
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(1)),
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(3.0, DataType.Float)),
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(None)),
    ],
    "zeros": [
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(0.0)),
        lambda fd, t: fd.ops.mul(t, fd.define_scalar(-0.0)),
    ],
    "pads": [
        lambda fd, t: fd.ops.pad(t, [1, 1]),
        lambda fd, t: fd.ops.pad(t, [2, 2]),
        lambda fd, t: fd.ops.pad(t, [1, 1], fd.define_scalar(1.0)),
        lambda fd, t: fd.ops.pad(t, [1, 1], fd.define_scalar(2.0)),
    ],
    "squeeze_expanded": [
        lambda fd, t: fd.ops.squeeze(fd.ops.broadcast(t, [True, False, False]), [0]),
        lambda fd, t: fd.ops.squeeze(
            fd.ops.broadcast(t, [True, False, False]), [0], squeeze_expanded=True
        ),
    ],
    "flags of different lengths": [
        lambda fd, t: fd.ops.broadcast(t, [False, False, True]),
        lambda fd, t: fd.ops.broadcast(t, [False, False, True, True]),
    ],
    "attributes of sum": [
        lambda fd, t: fd.ops.sum(t, [0]),
        lambda fd, t: fd.ops.sum(t, [0], True),
        lambda fd, t: fd.ops.sum(t, [0], dtype=DataType.Double),
        lambda fd, t: fd.ops.prod(t, [0]),
        lambda fd, t: fd.ops.sum(t, [0, 1]),
    ],
    "attributes of var": [
        lambda fd, t: fd.ops.var(t, [0], 1),
        lambda fd, t: fd.ops.var(t, [0], 0),
        lambda fd, t: fd.ops.var(t, [0], 0, True),
        lambda fd, t: fd.ops.var(t, [1], 0, True),
        lambda fd, t: fd.ops.var_mean(t, [0], 1),
    ],
    "dtypes": [
        lambda fd, t: fd.ops.cast(t, DataType.Double),
        lambda fd, t: fd.ops.cast(t, DataType.Half),
        lambda fd, t: fd.ops.full([2], fd.define_scalar(1.0), DataType.Float),
        lambda fd, t: fd.ops.full([2], fd.define_scalar(1.0), DataType.Double),
    ],
    "broadcast_in_dim": [
        lambda fd, t: fd.ops.broadcast_in_dim(fd.ops.sum(t, [1]), [4, 4], [0]),
        lambda fd, t: fd.ops.broadcast_in_dim(fd.ops.sum(t, [1]), [4, 4], [1]),
    ],
    "slices": [
        lambda fd, t: fd.ops.slice(t, [0, 0], [2, 2]),
        lambda fd, t: fd.ops.slice(t, [0, 0], [2, 2], manual_normalization=True),
        lambda fd, t: fd.ops.slice(t, [1, 0], [2, 2]),
    ],
    "cats": [
        lambda fd, t: fd.ops.cat([t, t], 0),
        lambda fd, t: fd.ops.cat([t, t], 1),
        lambda fd, t: fd.ops.cat([t, t, t], 1),
    ],
    "sorts": [
        lambda fd, t: fd.ops.argsort(t, 0),
        lambda fd, t: fd.ops.argsort(t, 1),
        lambda fd, t: fd.ops.argsort(t, 1, descending=True),
        lambda fd, t: fd.ops.argsort(t, 1, stable=True),
    ],
    "top k": [
        lambda fd, t: fd.ops.topk(t, fd.define_scalar(1)),
        lambda fd, t: fd.ops.topk(t, fd.define_scalar(1), 0),
        lambda fd, t: fd.ops.topk(t, fd.define_scalar(1), largest=False),
        lambda fd, t: fd.ops.topk(t, fd.define_scalar(1), sorted=True),
    ],
    "sizes": [
        lambda fd, t: fd.ops.mul(t, fd.ops.size(t, 0)),
        lambda fd, t: fd.ops.mul(t, fd.ops.size(t, 1)),
        lambda fd, t: fd.ops.mul(t, t.shape()[1]),
    ],
    "triangles": [
        lambda fd, t: fd.ops.triu(t),
        lambda fd, t: fd.ops.triu(t, 1),
        lambda fd, t: fd.ops.triu(t, -1),
    ],
    "scans": [
        lambda fd, t: fd.ops.cumsum(t, 0),
        lambda fd, t: fd.ops.cumsum(t, 1),
        lambda fd, t: fd.ops.cumprod(t, 1),
    ],
}


@pytest.mark.parametrize("name", SAME)
def test_equal_statements_have_one_id(name: str) -> None:
    """Equal definitions share one entry of the cache."""
    ids = {id_of(write) for write in SAME[name]}
    assert ids == {0}


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_statements_have_different_ids(name: str) -> None:
    """Equality compares each of these."""
    ids = [id_of(write) for write in DIFFERENT[name]]
    assert len(set(ids)) == len(ids)
    assert [id_of(write) for write in DIFFERENT[name]] == ids


def test_attributes_of_inputs_are_compared() -> None:
    """Shape, contiguity, order, dtype and device; sizes only if static."""

    def id_with(**kwargs: Any) -> int | None:
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.neg(fd.define_tensor(**kwargs)))
        return fd.id()

    forms: list[dict[str, Any]] = [
        {"shape": [-1, -1], "contiguity": [True, True]},
        {"shape": [-1, -1], "contiguity": [True, True], "stride_order": [1, 0]},
        {"shape": [-1, -1], "contiguity": [True, True], "stride_order": [0, 1]},
        {"shape": [-1, -1], "contiguity": [False, True]},
        {"shape": [-1, 4], "contiguity": [True, True]},
        {"shape": [-1, -1], "contiguity": [True, True], "dtype": DataType.Half},
        {"sizes": [2, 3], "strides": [3, 1], "static_sizes": True},
        {"shape": [], "is_cpu": True},
        {"shape": []},
    ]
    ids = [id_with(**form) for form in forms]
    assert len(set(ids)) == len(forms)
    assert id_with(sizes=[2, 3], strides=[3, 1]) == ids[1]
    assert id_with(sizes=[7, 9], strides=[9, 1]) == ids[1]
    assert id_with(sizes=[7, 9], strides=[18, 2]) not in ids
    assert id_with(symbolic_sizes=[-1, -1], contiguous=[True, True]) == ids[0]


def test_outputs_are_compared() -> None:
    """Aliased input and order of an output."""

    def id_with(*args: Any, **kwargs: Any) -> int | None:
        with FusionDefinition() as fd:
            t0 = fd.define_tensor([-1, -1])
            t1 = fd.ops.neg(t0)
            fd.add_output(t1, *(t0 if arg == "t0" else arg for arg in args), **kwargs)
        return fd.id()

    ids = [id_with(), id_with("t0"), id_with(stride_order=[0, 1]), id_with(stride_order=[1, 0])]
    assert len(set(ids)) == 4
    assert id_with([0, 1]) == ids[2]
    assert id_with(stride_order=[]) == ids[0]


def test_other_sizes_make_no_new_id(target: str) -> None:
    """They may make a new kernel inside the entry."""
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    for size in (3, 1000, 0):
        x = torch.ones(size, device=target)
        assert torch.equal(fd.execute([x])[0], -x)
    assert FusionCache.get().num_fusions() == 1


def test_names_options_and_lengths_are_not_compared() -> None:
    """Equality leaves these out."""
    ids = set()
    for length in (3, 9999):
        with FusionDefinition(max_length=length) as fd:
            first = fd.define_tensor([-1])
            second = fd.ops.neg(first)
            fd.add_output(second)
        ids.add(fd.id())
    assert ids == {0}


def test_the_cache_tells_its_fusions() -> None:
    """`stats`, `print_stats`, repr with literals inside their statements."""
    cache = FusionCache.get()
    assert cache.stats() == "Total Fusions: 0\n"
    id_of(lambda fd, t: fd.ops.reshape(t, [2, 5]))
    assert repr(cache) == (
        "Fusions by id:\n"
        "0:\n"
        "    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float, "
        "is_cpu=False)\n"
        "    T4 = fd.ops.reshape(T0, new_shape=[2, 5])\n"
        "    T5 = fd.ops.neg(T4)\n"
        "    fd.add_output(T5)\n"
    )


def test_print_stats_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    id_of(lambda fd, t: t)
    FusionCache.get().print_stats()
    assert capsys.readouterr().out == FusionCache.get().stats()


def test_the_limit_holds() -> None:
    """`max_fusions`, set by every call of get."""
    cache = FusionCache.get(max_fusions=1)
    id_of(lambda fd, t: t)
    with pytest.raises(
        RuntimeError,
        match=re.escape("The number of fusions in nvfuser has exceeded 1fusions."),
    ):
        id_of(lambda fd, t: fd.ops.exp(t))
    assert id_of(lambda fd, t: t) == 0
    assert FusionCache.get().num_fusions() == 1  # a bare call raises the limit
    assert id_of(lambda fd, t: fd.ops.exp(t)) == 1
    with pytest.raises(RuntimeError, match="The max fusions is set less than the number"):
        FusionCache.get(max_fusions=1)
    assert FusionCache.get() is cache


def test_a_reset_drops_everything() -> None:
    """Ids start again, and objects from before say so."""
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    x = torch.ones(3)
    fd.execute([x])
    by_id = FusionDefinition(0)
    still_open = FusionDefinition()
    still_open._setup_definition()
    t0 = still_open.define_tensor([-1])
    FusionCache.reset()
    assert FusionCache.get().num_fusions() == 0
    for use in (
        lambda: fd.execute([x]),
        lambda: by_id.execute([x]),
        lambda: fd.fusion_ir(),
        lambda: fd.last_cuda_code(),
        lambda: fd.inputs(),
        lambda: fd._setup_schedule([x]),
        lambda: still_open.define_scalar(2.0),
        lambda: still_open.add_output(t0),
        lambda: still_open._finalize_definition(),
    ):
        with pytest.raises(RuntimeError, match="reset"):
            use()
    assert id_of(lambda fd, t: fd.ops.exp(t)) == 0

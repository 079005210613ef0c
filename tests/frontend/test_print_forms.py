"""Printed forms of statements and literals, and older ones that are read."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import nvfuser
from nvfuser import DataType, FusionDefinition

TENSOR = "contiguity=[False, False], dtype=DataType.Float, is_cpu=False)"


def opened() -> FusionDefinition:
    fd = FusionDefinition()
    fd._setup_definition()
    return fd


def lines(fd: FusionDefinition) -> list[str]:
    return [line.strip() for line in repr(fd).strip().splitlines()[1:]]


# T0, T1: matrices; S2: an Int input; S3: a Double constant; V4: a vector of S2 and 3
FORMS: list[tuple[Any, str]] = [
    (lambda o, v: o.add(v[0], v[1]), "T6 = fd.ops.add(T0, T1)"),
    (lambda o, v: o.neg(v[2]), "S6 = fd.ops.neg(S2)"),
    (lambda o, v: o.where(o.gt(v[0], v[3]), v[0], v[3]), "T7 = fd.ops.where(T6, T0, S3)"),
    (lambda o, v: o.clamp(v[0], None, v[3]), "T6 = fd.ops.clamp(T0, None, S3)"),
    (lambda o, v: o.matmul(v[0], v[1]), "T6 = fd.ops.matmul(T0, T1)"),
    (lambda o, v: o.linear(v[0], v[1]), "T6 = fd.ops.linear(T0, T1, None)"),
    (lambda o, v: o.add_alpha(v[0], v[1], v[3]), "T6 = fd.ops.add_alpha(T0, T1, S3)"),
    (lambda o, v: o.addcmul(v[0], v[1], v[1], v[3]), "T6 = fd.ops.addcmul(T0, T1, T1, S3)"),
    (lambda o, v: o.cast(v[0], DataType.Half), "T6 = fd.ops.cast(T0, dtype=DataType.Half)"),
    (
        lambda o, v: o.sum(v[0], [1]),
        "T6 = fd.ops.sum(T0, dims=[1], keepdim=False, dtype=DataType.Null)",
    ),
    (
        lambda o, v: o.max(v[0], [-1], True),
        "T6 = fd.ops.max(T0, dims=[-1], keepdim=True, dtype=DataType.Null)",
    ),
    (
        lambda o, v: o.var(v[0], [1], 1),
        "T6 = fd.ops.var(T0, dims=[1], correction=1, keepdim=False)",
    ),
    (
        lambda o, v: o.var_mean(v[0], [1]),
        "T6, T7 = fd.ops.var_mean(T0, dims=[1], correction=1, keepdim=False)",
    ),
    (lambda o, v: o.welford(v[0], [1]), "T6, T7, T8 = fd.ops.welford(T0, dims=[1])"),
    (
        lambda o, v: o.broadcast(v[0], [False, True, False]),
        "T6 = fd.ops.broadcast(T0, is_broadcast_dim=[False, True, False])",
    ),
    (
        lambda o, v: o.broadcast_in_dim(v[0], [2, 2, 2], [0, 1]),
        "T10 = fd.ops.broadcast_in_dim(T0, shape=[2, 2, 2], broadcast_dims=[0, 1])",
    ),
    (lambda o, v: o.expand(v[0], v[4]), "T6 = fd.ops.expand(T0, shape=V5)"),
    (lambda o, v: o.reshape(v[0], [2, v[2]]), "T8 = fd.ops.reshape(T0, new_shape=[2, S2])"),
    (lambda o, v: o.reshape(v[0], v[4]), "T6 = fd.ops.reshape(T0, new_shape=V5)"),
    (lambda o, v: o.permute(v[0], [-1, 0]), "T6 = fd.ops.permute(T0, dims=[1, 0])"),
    (
        lambda o, v: o.stride_order(v[0], [1, 0]),
        "T6 = fd.ops.stride_order(T0, stride_order=[1, 0])",
    ),
    (
        lambda o, v: o.squeeze(v[0], [1]),
        "T6 = fd.ops.squeeze(T0, dims=[1], squeeze_expanded=False)",
    ),
    (
        lambda o, v: o.slice(v[0], [0, 0], [2, 4]),
        "T15 = fd.ops.slice(T0, start_indices=[0, 0], end_indices=[2, 4], strides=[1, 1], "
        "manual_normalization=0)",
    ),
    (lambda o, v: o.pad(v[0], [1, 1]), "T9 = fd.ops.pad(T0, [1, 1], None)"),
    (lambda o, v: o.pad(v[0], (1, 1), v[3]), "T9 = fd.ops.pad(T0, [1, 1], S3)"),
    (
        lambda o, v: o.cat([v[0], v[1]], 0),
        "T6 = fd.ops.cat([T0, T1], dim=0, manual_padding=0)",
    ),
    (
        lambda o, v: o.full([2, 2], v[3], DataType.Float),
        "T9 = fd.ops.full(shape=[2, 2], fill_value=S3, dtype=DataType.Float)",
    ),
    (
        lambda o, v: o.iota(v[2], None, v[2], DataType.Int),
        "T6 = fd.ops.iota(S2, None, S2, dtype=DataType.Int)",
    ),
    (
        lambda o, v: o.uniform(v[3], v[3], [4]),
        "T8 = fd.ops.uniform(S3, S3, shape=[4], dtype=DataType.Float)",
    ),
    (
        lambda o, v: o.normal(v[3], v[3], [4], rng_seed=v[2], rng_offset=v[2]),
        "T8 = fd.ops.normal(S3, S3, shape=[4], rng_seed=S2, rng_offset=S2, dtype=DataType.Float)",
    ),
    (lambda o, v: o.rand_like(v[0]), "T6 = fd.ops.rand_like(T0)"),
    (
        lambda o, v: o.randn_like(v[0], rng_seed=v[2], rng_offset=v[2]),
        "T6 = fd.ops.randn_like(T0, rng_seed=S2, rng_offset=S2)",
    ),
    (lambda o, v: o.shape(v[0]), "V6 = fd.ops.shape(T0)"),
    (lambda o, v: o.size(v[0], 0), "S6 = fd.ops.size(T0, dim=0)"),
    (lambda o, v: o.at(v[4], 0), "S6 = fd.ops.at(V5, index=0)"),
    (lambda o, v: o.tensor_sizes(v[0]), "S6, S7, = fd.ops.tensor_sizes(T0)"),
    (
        lambda o, v: o.index_select(v[0], v[1], 0),
        "T6 = fd.ops.index_select(T0, T1, dim=0)",
    ),
    (lambda o, v: o.select(v[0], v[2], 0), "T6 = fd.ops.select(T0, S2, dim=0)"),
    (lambda o, v: o.gather(v[0], v[1], 1), "T6 = fd.ops.gather(T0, T1, dim=1)"),
    (lambda o, v: o.scatter(v[0], v[1], v[0], 1), "T6 = fd.ops.scatter(T0, T1, T0, dim=1)"),
    (
        lambda o, v: o.take_along_axis(v[0], v[1], 1),
        "T6 = fd.ops.take_along_axis(T0, T1, dim=1)",
    ),
    (lambda o, v: o.cumsum(v[0], 1), "T6 = fd.ops.cumsum(T0, dim=1)"),
    (
        lambda o, v: o.argsort(v[0], -1),
        "T6 = fd.ops.argsort(T0, dim=-1, descending=False, stable=False)",
    ),
    (
        lambda o, v: o.topk(v[0], v[2]),
        "T6, T7 = fd.ops.topk(T0, S2, dim=-1, largest=True, sorted=False)",
    ),
    (
        lambda o, v: o.batch_norm(v[0], None, None, None, None, v[3], v[3], True),
        "T6, T7, T8 = fd.ops.batch_norm(T0, None, None, None, None, S3, S3, training=True, "
        "channels_last=False)",
    ),
    (
        lambda o, v: o.scaled_mm(v[0], v[1], v[0], v[1]),
        "T6, _, _ = fd.ops.scaled_mm(T0, T1, T0, T1, None, None, None, dtype=DataType.BFloat16, "
        "output_block_scale_size=0, output_block_scale_dtype=DataType.BFloat16, "
        "output_gamma=False)",
    ),
    (
        lambda o, v: o.sdpfa_fwd(v[0], v[0], v[0], dropout_p=v[3]),
        "T6, T7, T8, T9 = fd.ops.sdpfa_fwd(T0, T0, T0, None, None, S3, None, None)",
    ),
    (
        lambda o, v: o.embedding_fwd(v[1], v[0]),
        "T6 = fd.ops.embedding_fwd(T1, T0, None, None, None, None, None)",
    ),
    (lambda o, v: o.triu(v[0], 1), "T7 = fd.ops.triu(T0, 1)"),
    (lambda o, v: o.triu(v[0], v[2]), "T6 = fd.ops.triu(T0, S2)"),
]


@pytest.mark.parametrize(("write", "expected"), FORMS)
def test_statements_print_in_their_form(write: Any, expected: str) -> None:
    """The table: literals in place, and their indices."""
    fd = opened()
    t0, t1 = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
    s2, s3 = fd.define_scalar(None, DataType.Int), fd.define_scalar(3.0)
    vector = fd.define_vector([s2, 3])
    write(fd.ops, (t0, t1, s2, s3, vector))
    written = lines(fd)
    assert written[:5] == [
        f"T0 = fd.define_tensor(shape=[-1, -1], {TENSOR}",
        f"T1 = fd.define_tensor(shape=[-1, -1], {TENSOR}",
        "S2 = fd.define_scalar(None, dtype=DataType.Int)",
        "S3 = fd.define_scalar(3.00000, dtype=DataType.Double)",
        "V5 = fd.define_vector([S2, 3], dtype=DataType.Int)",
    ]
    assert written[-1] == expected


def test_outputs_print_in_their_form() -> None:
    """Outputs."""
    fd = opened()
    t0 = fd.define_tensor([-1, -1])
    t1 = fd.ops.neg(t0)
    fd.add_output(t1)
    fd.add_output(t1, t0)
    fd.add_output(t1, stride_order=[0, 1])
    assert lines(fd)[-3:] == [
        "fd.add_output(T1)",
        "fd.add_output(T1, T0)",
        "fd.add_output(T1, stride_order=[0, 1])",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3.00000"),
        (0.1, "0.100000"),
        (-3.70753, "-3.70753"),
        (1e-5, "1.00000e-05"),
        (123456.0, "123456."),
        (1e20, "1.00000e+20"),
        (-0.0, "-0.00000"),
        (1 / 3, "0.3333333333333333"),
        (float("inf"), 'float("inf")'),
        (float("-inf"), 'float("-inf")'),
        (float("nan"), 'float("nan")'),
        (8, "8"),
        (-(2**63), "-9223372036854775808"),
        (True, "True"),
        (1 + 2j, "1.00000+2.00000j"),
        (1 - 2j, "1.00000+-2.00000j"),
        (complex(0, float("inf")), 'complex(0.00000, float("inf"))'),
        (complex(-0.0, 1), "complex(-0.00000, 1.00000)"),
    ],
)
def test_literals_are_read_back_to_the_same_value(value: Any, text: str) -> None:
    """Six digits, or as many as it takes."""
    fd = opened()
    fd.define_scalar(value)
    assert lines(fd)[-1].startswith(f"S0 = fd.define_scalar({text}, dtype=DataType.")
    read = eval(text)
    assert type(read) is type(value)
    assert repr(read) == repr(value)


def test_what_is_spelled_out_prints_as_statements() -> None:
    """Per definition, also where another one with the same id wrote literals."""
    with FusionDefinition() as inline:
        t0 = inline.define_tensor([-1, -1])
        inline.add_output(inline.ops.reshape(t0, [2, 8]))
    with FusionDefinition() as spelled:
        t0 = spelled.define_tensor([-1, -1])
        sizes = [spelled.define_scalar(2), spelled.define_scalar(8)]
        spelled.add_output(spelled.ops.reshape(t0, spelled.define_vector(sizes)))
    assert spelled.id() == inline.id()
    assert "T4 = fd.ops.reshape(T0, new_shape=[2, 8])" in repr(inline)
    assert lines(spelled)[1:4] == [
        "S1 = fd.define_scalar(2, dtype=DataType.Int)",
        "S2 = fd.define_scalar(8, dtype=DataType.Int)",
        "V3 = fd.define_vector([S1, S2], dtype=DataType.Int)",
    ]
    assert "V3" not in repr(FusionDefinition(0))


def test_literals_are_statements_where_that_is_asked_for() -> None:
    """`python_inline_definitions`; the recorded list stays the same."""
    script = (
        "import nvfuser, re\n"
        "from nvfuser import *\n"
        "with FusionDefinition() as fd:\n"
        "    t0 = fd.define_tensor([-1, -1])\n"
        "    fd.add_output(fd.ops.triu(fd.ops.reshape(t0, [2, 8]), 1))\n"
        "text = repr(fd)\n"
        "assert 'S1 = fd.define_scalar(2, dtype=DataType.Int)' in text, text\n"
        "assert 'V3 = fd.define_vector([S1, S2], dtype=DataType.Int)' in text, text\n"
        "assert 'T6 = fd.ops.triu(T4, S5)' in text, text\n"
        "exec(text)\n"
        "with FusionDefinition() as read:\n"
        "    nvfuser_fusion_id0(read)\n"
        "assert read.id() == 0\n"
    )
    environment = {**os.environ, "NVFUSER_DISABLE": "python_inline_definitions"}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


OLD_TEXTS = {
    "symbolic sizes": (
        "T0 = fd.define_tensor(symbolic_sizes=[-1, 1], contiguous=[True, True], "
        "dtype=DataType.Float)",
        "T0 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float, "
        "is_cpu=False)",
    ),
    "symbolic sizes with contiguity": (
        "T0 = fd.define_tensor(symbolic_sizes=[-1], contiguity=[True], dtype=DataType.Float)",
        "T0 = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float, is_cpu=False)",
    ),
    "define_constant": (
        "S0 = fd.define_constant(3.00000)",
        "S0 = fd.define_scalar(3.00000, dtype=DataType.Double)",
    ),
    "define_scalar of a dtype": (
        "S0 = fd.define_scalar(dtype=DataType.Int)",
        "S0 = fd.define_scalar(None, dtype=DataType.Int)",
    ),
    "axes": (
        "T0 = fd.define_tensor(2)\n    T1 = fd.ops.sum(T0, axes=[0], keepdim=False, "
        "dtype=DataType.Null)",
        "T1 = fd.ops.sum(T0, dims=[0], keepdim=False, dtype=DataType.Null)",
    ),
    "output_shape": (
        "T0 = fd.define_tensor(1)\n    T1 = fd.ops.broadcast_in_dim(T0, output_shape=[2, 3], "
        "broadcast_dims=[1])",
        "T4 = fd.ops.broadcast_in_dim(T0, shape=[2, 3], broadcast_dims=[1])",
    ),
    "slice": (
        "T0 = fd.define_tensor(1)\n    T1 = fd.ops.slice(T0, start_indices=[0], end_indices=[2], "
        "strides=[1])",
        "T7 = fd.ops.slice(T0, start_indices=[0], end_indices=[2], strides=[1], "
        "manual_normalization=0)",
    ),
}


@pytest.mark.parametrize("name", OLD_TEXTS)
@pytest.mark.filterwarnings("ignore:define_constant")
def test_programs_of_older_versions_are_read(name: str) -> None:
    old, new = OLD_TEXTS[name]
    namespace: dict[str, Any] = dict(vars(nvfuser))
    exec(f"def f(fd : FusionDefinition) -> None :\n    {old}\n", namespace)
    fd = opened()
    namespace["f"](fd)
    assert lines(fd)[-1] == new


def test_blank_and_open_definitions_are_incomplete() -> None:
    """The name."""
    fd = FusionDefinition()
    assert repr(fd) == "\ndef nvfuser_incomplete_fusion(fd : FusionDefinition) -> None :\n\n"
    fd._setup_definition()
    fd.define_scalar(None)
    assert repr(fd).startswith("\ndef nvfuser_incomplete_fusion(fd : FusionDefinition) -> None :\n")

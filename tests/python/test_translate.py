"""Translation to Python and repro scripts (translate.md; runtime.md, section 6)."""

from __future__ import annotations

import re

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition


def lines_of(define) -> list[str]:
    with FusionDefinition() as fd:
        define(fd)
    header, *lines = str(fd).splitlines()
    assert header == "def nvfuser_fusion(fd : FusionDefinition) -> None :"
    assert all(line.startswith("    ") for line in lines)
    return [line.strip() for line in lines]


def rebuilt(text: str) -> FusionDefinition:
    namespace: dict = {}
    exec("from nvfuser_direct import *\n" + text, namespace)
    with FusionDefinition() as fd:
        namespace["nvfuser_fusion"](fd)
    return fd


def renumbered(text: str) -> str:
    """Names replaced by their order of appearance."""
    names: dict[str, str] = {}
    return re.sub(
        r"\b(tv|c)\d+\b",
        lambda match: names.setdefault(match[0], f"{match[1]}_{len(names)}"),
        text,
    )


def test_the_documented_example() -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half)
        y = fd.ops.mul(x, 2.0)
        z = fd.ops.max(y, 1, keepdim=True)
        fd.add_output(z)

    assert lines_of(define) == [
        "tv0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Half, "
        "is_cpu=False)",
        "tv1 = fd.ops.cast(tv0, dtype=DataType.Float)",
        "tv2 = fd.ops.mul(tv1, 2.00000)",
        "tv3 = fd.ops.max(tv2, dims=[1])",
        "tv4 = fd.ops.broadcast(tv3, is_broadcast_dim=[False, True])",
        "fd.add_output(tv4)",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (3, "3"),
        (-3, "-3"),
        (3.0, "3.00000"),
        (0.1, "0.100000"),
        (1e-5, "1.00000e-05"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1234567.5, "1234567.5"),
        (float("inf"), 'float("inf")'),
        (float("-inf"), 'float("-inf")'),
        (float("nan"), 'float("nan")'),
        (3 + 0.5j, "3.00000+0.500000j"),
        (3 - 0.5j, "3.00000+-0.500000j"),
    ],
)
def test_values(value, text: str) -> None:
    def define(fd: FusionDefinition) -> None:
        dtypes = {
            bool: DataType.Bool,
            int: DataType.Int,
            float: DataType.Double,
            complex: DataType.ComplexDouble,
        }
        x = fd.define_tensor([4], dtype=dtypes[type(value)])
        op = fd.ops.logical_and if value is True else fd.ops.add
        fd.add_output(op(x, value))

    assert f", {text})" in lines_of(define)[1]


def test_constants_of_other_types_have_a_line() -> None:
    lines = lines_of(lambda fd: fd.add_output(fd.ops.full([2], 2.5, DataType.Float)))
    assert lines[0].endswith(" = fd.define_scalar(2.50000, dtype=DataType.Float)")
    name = lines[0].split()[0]
    assert lines[1] == (f"tv0 = fd.ops.full(shape=[2], fill_value={name}, dtype=DataType.Float)")


def test_layouts_and_in_place_updates() -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, 1, 8], [True, True, None], DataType.Half, stride_order=[2, 0, 1])
        y = fd.ops.permute(x, [2, 0, 1])
        fd.add_output(fd.ops.stride_order(y, [0, 1, 2]))
        z = fd.ops.relu(x)
        fd.add_output(z, x)
        fd.add_output(z)

    lines = lines_of(define)
    assert lines[0] == (
        "tv0 = fd.define_tensor(shape=[-1, 1, 8], contiguity=[True, True, None], "
        "dtype=DataType.Half, is_cpu=False, stride_order=[2, 0, 1])"
    )
    assert "tv1 = fd.ops.permute(tv0, dims=[2, 0, 1])" in lines
    assert "tv2 = fd.ops.stride_order(tv1, stride_order=[0, 1, 2])" in lines
    assert lines[-3:] == [
        "fd.add_output(tv2)",
        "fd.add_output(tv3, tv0)",
        "fd.add_output(tv3)",
    ]


def test_sizes_of_inputs_are_asked_for() -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, 1])
        fd.add_output(fd.ops.expand(x, [x.size(0), fd.define_scalar(DataType.Index)]))

    lines = lines_of(define)
    assert any(line.endswith(" = fd.ops.size(tv0, dim=0)") for line in lines)
    assert any(line.endswith(" = fd.define_scalar(None, dtype=DataType.Index)") for line in lines)


def pointwise(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1, 8], contiguity=True)
    y = fd.define_tensor([8], contiguity=True, dtype=DataType.Half)
    s = fd.define_scalar(DataType.Double)
    z = fd.ops.where(fd.ops.gt(x, y), fd.ops.clamp(x, -1.0, s), fd.ops.neg(y))
    fd.add_output(fd.ops.cast(z, DataType.BFloat16))


def normalization(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1, -1], contiguity=True)
    var, mean = fd.ops.var_mean(x, [1], 0, True)
    fd.add_output(fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5))))


def shapes(fd: FusionDefinition) -> None:
    x = fd.define_tensor([2, 3, 4, 1], contiguity=True)
    y = fd.ops.squeeze(x, [3])
    y = fd.ops.reshape(y, [6, 4])
    y = fd.ops.permute(y, [1, 0])
    fd.add_output(fd.ops.sum(y, [0]))
    fd.add_output(fd.ops.iota(4, 0, 1))
    fd.add_output(fd.ops.set(fd.ops.segment_set(x)))


@pytest.mark.parametrize("define", [pointwise, normalization, shapes])
def test_executing_the_text_gives_the_same_fusion(define) -> None:
    with FusionDefinition() as fd:
        define(fd)
    again = rebuilt(str(fd))
    assert renumbered(str(again)) == renumbered(str(fd))
    # The numbers of a fusion that was made from text have no gaps to lose.
    assert rebuilt(str(again)).fusion == again.fusion


def test_a_rebuilt_fusion_computes_the_same(rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        normalization(fd)
    x = torch.randn(5, 7, generator=rng)
    assert torch.equal(rebuilt(str(fd)).execute([x])[0], fd.execute([x])[0])


def test_repro_scripts_run() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        s0 = fd.define_scalar(DataType.Double)
        fd.add_output(fd.ops.mul(t0, s0))
    assert fd.repro_script_for().endswith(
        "with FusionDefinition() as fd:\n    nvfuser_fusion(fd)\n"
    )
    with pytest.raises(AssertionError, match="cannot provide a repro because"):
        fd.last_repro_script()
    fd.execute([torch.ones(4, 8).t(), 0.5], save_repro_inputs=True)
    script = fd.last_repro_script()
    assert script.startswith("# CUDA devices:\n")
    assert (
        "\ninputs = [\n"
        "    torch.randn(32, dtype=torch.float32, device='cpu').as_strided((8, 4), (1, 8)),\n"
        "    0.5,\n"
        "]\n"
        "fd.execute(inputs)\n"
    ) in script
    assert 'float("inf"),' in fd.repro_script_for([float("inf")])
    exec(script, {})

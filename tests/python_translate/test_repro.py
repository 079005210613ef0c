"""Repro scripts: the lines of inputs, and that the scripts run."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition


def scaled() -> FusionDefinition:
    with FusionDefinition() as fd:
        tensor = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.mul(tensor, fd.define_scalar(DataType.Double)))
    return fd


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (
            torch.zeros(2, 4, 8),
            "torch.testing.make_tensor((2, 4, 8), dtype=torch.float32, device='cpu')",
        ),
        (torch.zeros(()), "torch.testing.make_tensor((), dtype=torch.float32, device='cpu')"),
        (
            torch.zeros(3, 4, dtype=torch.bfloat16).t(),
            "torch.randn(12, dtype=torch.bfloat16, device='cpu').as_strided((4, 3), (1, 4))",
        ),
        (
            torch.zeros(5, 1).expand(5, 7),
            "torch.randn(5, dtype=torch.float32, device='cpu').as_strided((5, 7), (1, 0))",
        ),
        (
            torch.zeros(4, 4, dtype=torch.int64)[:, ::2],
            "torch.randint(0, 10, (15,), dtype=torch.int64, device='cpu')"
            ".as_strided((4, 2), (4, 2))",
        ),
        (
            torch.zeros(4, 4, dtype=torch.bool)[::2],
            "torch.randint(0, 2, (12,), dtype=torch.bool, device='cpu').as_strided((2, 4), (8, 1))",
        ),
        (
            torch.zeros(2, 4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2),
            "torch.randint(0, 120, (2, 4), dtype=torch.uint8, device='cpu')"
            ".view(torch.float4_e2m1fn_x2)",
        ),
        (
            torch.zeros(2, 4).to(torch.float8_e4m3fn).t(),
            "torch.randint(0, 120, (8,), dtype=torch.uint8, device='cpu')"
            ".view(torch.float8_e4m3fn).as_strided((4, 2), (1, 4))",
        ),
        (2, "2"),
        (True, "True"),
        (0.25, "0.25"),
        (float("nan"), 'float("nan")'),
        (float("-inf"), '-float("inf")'),
        (1 - 2j, "(1-2j)"),
        (complex("inf+1j"), 'complex(float("inf"), 1.0)'),
        ([1, float("inf")], '[1, float("inf")]'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_inputs(value: Any, line: str) -> None:
    script = scaled().repro_script_for([value])
    assert f"\ninputs = [\n    {line},\n]\nfd.execute(inputs)\n" in script
    again = eval(line)
    if isinstance(value, torch.Tensor):
        assert (again.shape, again.stride(), again.dtype) == (
            value.shape,
            value.stride(),
            value.dtype,
        )
    else:
        assert str(again) == str(value)


def test_a_script_starts_with_versions_and_the_definition() -> None:
    fd = scaled()
    devices, torch_version, cuda_version, *rest = [
        line for line in fd.repro_script_for().splitlines() if not line.startswith("#  ")
    ]
    assert devices == "# CUDA devices:"
    assert torch_version == f"# torch version: {torch.__version__}"
    assert cuda_version == f"# cuda version: {torch.version.cuda}"
    assert rest[:2] == ["import torch", "from nvfuser_direct import FusionDefinition, DataType"]
    assert rest[2:4] == rest[-4:-2] == ["", ""]  # as PEP 8 has it around functions
    assert "\n".join(rest[4:-4]) + "\n" == str(fd)
    assert rest[-2:] == ["with FusionDefinition() as fd:", "    nvfuser_fusion(fd)"]


def test_a_script_runs_on_inputs_like_those_that_were_saved() -> None:
    fd = scaled()
    fd.execute([torch.ones(3, 4).t(), float("inf")], save_repro_inputs=True)
    namespace: dict[str, Any] = {}
    exec(fd.last_repro_script(), namespace)
    again = namespace["inputs"][0]
    assert (again.shape, again.stride()) == ((4, 3), (1, 4))
    assert namespace["fd"].fusion == fd.fusion


def test_without_saved_inputs_there_is_no_last_script() -> None:
    message = r"fd\.last_repro_script\(\) cannot provide a repro because"
    with pytest.raises(AssertionError, match=message):
        scaled().last_repro_script()

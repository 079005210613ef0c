"""Scripts that repeat a run."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nvfuser import DataType, FusionCache, FusionDefinition


def scaled(dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], dtype=dtype)
        s1 = fd.define_scalar(None)
        fd.add_output(fd.ops.mul(t0, s1))
    return fd


INPUTS: list[tuple[Any, str]] = [
    (
        torch.zeros(4, 4),
        "torch.testing.make_tensor((4, 4), dtype=torch.float32, device='cpu')",
    ),
    (
        torch.zeros(4, 3).t(),
        "torch.randn(12, dtype=torch.float32, device='cpu').as_strided((3, 4), (1, 3))",
    ),
    (
        torch.zeros(4, 3, dtype=torch.int64).t(),
        "torch.randint(0, 10, (12,), dtype=torch.int64, device='cpu').as_strided((3, 4), (1, 3))",
    ),
    (
        torch.zeros(4, 3, dtype=torch.bool).t(),
        "torch.randint(0, 2, (12,), dtype=torch.bool, device='cpu').as_strided((3, 4), (1, 3))",
    ),
    (
        torch.zeros(0, 3).t()[:, ::2],
        "torch.testing.make_tensor((3, 0), dtype=torch.float32, device='cpu')",
    ),
    (2.5, "2.5"),
    (float("inf"), 'float("inf")'),
    (float("-inf"), '-float("inf")'),
    (float("nan"), 'float("nan")'),
]


@pytest.mark.parametrize(("value", "line"), INPUTS)
def test_inputs_have_a_line_each(value: Any, line: str) -> None:
    """The table."""
    script = scaled().repro_script_for([value])
    assert f"inputs = [\n    {line},\n]\nfd.execute(inputs)\n" in script


def test_the_script_is_as_documented() -> None:
    """Its lines, with and without inputs."""
    fd = scaled()
    script = fd.repro_script_for([torch.zeros(4, 4), 2.0])
    heads = [line.split(":")[0] for line in script.splitlines() if line.startswith("#")]
    devices = [f"#  {i}" for i in range(torch.cuda.device_count())]
    versions = ["# torch version", "# cuda version", "# nvfuser version"]
    assert heads == ["# CUDA devices", *devices, *versions]
    behind = script[script.index("import torch") :]
    assert behind == (
        "import torch\n"
        "from nvfuser import FusionDefinition, DataType\n"
        f"{fd!r}"
        "with FusionDefinition() as fd:\n"
        "    nvfuser_fusion_id0(fd)\n"
        "\n"
        "inputs = [\n"
        "    torch.testing.make_tensor((4, 4), dtype=torch.float32, device='cpu'),\n"
        "    2.0,\n"
        "]\n"
        "fd.execute(inputs)\n"
    )
    assert fd.repro_script_for().endswith("    nvfuser_fusion_id0(fd)\n")


def test_the_script_runs(target: str) -> None:
    """The printed text is a program that reaches the same id."""
    fd = scaled()
    x = torch.zeros(6, 4, device=target)
    fd.execute([x, 2.0], save_repro_inputs=True)
    namespace: dict[str, Any] = {}
    exec(fd.last_repro_script(), namespace)
    assert namespace["fd"].id() == fd.id()
    assert FusionCache.get().num_fusions() == 1


def test_saved_inputs_keep_numbers_and_no_data() -> None:
    """`save_repro_inputs` with a number among the inputs."""
    fd = scaled()
    with pytest.raises(AssertionError, match="cannot provide a repro"):
        fd.last_repro_script()
    fd.execute([torch.zeros(3, 4).t(), 2.0], save_repro_inputs=True)
    assert fd.last_repro_script() == fd.repro_script_for([torch.zeros(3, 4).t(), 2.0])


def test_the_script_is_printed_before_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    """`print_repro` survives a crash."""
    fd = scaled()
    inputs: list[Any] = [torch.zeros(3, 4), torch.zeros(3)]
    with pytest.raises(RuntimeError, match="to be a scalar but got"):
        fd.execute(inputs, print_repro=True)
    assert capsys.readouterr().out == fd.repro_script_for(inputs) + "\n"


def test_an_incomplete_definition_has_its_name_everywhere() -> None:
    fd = FusionDefinition()
    fd._setup_definition()
    fd.define_scalar(None)
    script = fd.repro_script_for()
    assert "def nvfuser_incomplete_fusion(fd" in script
    assert script.endswith("    nvfuser_incomplete_fusion(fd)\n")

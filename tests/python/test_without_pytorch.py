"""Without PyTorch, and without NumPy: what works, and what is said where it does not.

PyTorch cannot be imported in the processes that run these programs; another one, with NumPy alone
and with neither, is tried by tools/check_package.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name in {hidden!r} else find_spec(name)
"""
DEFINE = """
import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition

with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.sum(fd.ops.relu(x), [1]))
"""


def run(
    code: str, hidden: tuple[str, ...] = ("torch",), **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDE.format(hidden=hidden) + DEFINE + code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment},
    )


def printed(code: str, hidden: tuple[str, ...] = ("torch",), **environment: str) -> str:
    result = run(code, hidden, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_arrays_of_numpy_run() -> None:
    pytest.importorskip("numpy")
    code = """
import numpy as np
(out,) = fd.execute([np.full((3, 4), 2.0, np.float32)])
print(type(out).__module__, out.tolist(), "torch" in sys.modules)
"""
    assert printed(code) == "numpy [8.0, 8.0, 8.0] False\n"


def test_kernels_are_made_without_any_arrays() -> None:
    code = """
nvf.schedule.trivial(fd.fusion)
executor = nvf.KernelExecutor()
executor.compile(fd.fusion)
print(executor.is_compiled(), "relu" in fd.fusion.print_kernel())
print(sorted({"torch", "numpy"} & set(sys.modules)))
"""
    assert printed(code, ("torch", "numpy")) == "True True\n[]\n"


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("nvf.evaluate(fd.fusion, [])", "Evaluating a fusion"),
        ("fd.fusion.evaluate([])", "Evaluating a fusion"),
        ("fd.validate([])", "Validating results"),
        ("fd.from_pytorch(None)", "from_pytorch"),
        ("fd.execute([], device='cuda:0')", "Naming a device by anything but its index"),
        ("fd.execute([], save_repro_inputs=True)", "Keeping inputs for a script"),
        ("nvf.CompileParams(device='cuda:1').device", "A torch.device"),
        ("nvf.random_state.draw('cpu', 1)", "Drawing the seed of a random tensor"),
        (
            "from nvfuser_direct import pytorch_utils as u; u.get_device_properties()",
            "Asking for the properties of a device",
        ),
        (
            "from nvfuser_direct import pytorch_utils as u; u.torch_dtype_to_nvfuser_dtype('half')",
            "A dtype of PyTorch",
        ),
    ],
)
def test_what_needs_pytorch_says_so_in_one_sentence(call: str, what: str) -> None:
    code = f"""
try:
    {call}
except nvf.UserNotImplementedError as error:
    print(error)
"""
    text = printed(code)
    assert text.startswith(what)
    assert text.endswith(
        " needs PyTorch, which is not installed: pip install torch, version 2.11 or newer.\n"
    )


def test_a_fusion_that_has_no_kernel_names_both_reasons() -> None:
    pytest.importorskip("numpy")
    code = """
import numpy as np
fd.execute([np.full((3, 4), 2.0, np.float32)])
"""
    result = run(code, CXX="/no/such/compiler", NVFUSER_KERNEL_CACHE="0")
    assert "A C++ compiler, which compiles CPU kernels, was not found." in result.stderr
    assert "Evaluating the fusion instead needs PyTorch, which is not installed" in result.stderr


def test_a_device_is_named_without_pytorch() -> None:
    code = """
print(nvf.CompileParams(device="cuda:1") is not None, nvf.CompileParams(device="cpu") is not None)
try:
    nvf.CompileParams(device="cuda:x")
except nvf.UserValueError as error:
    print(str(error).splitlines()[0])
"""
    assert printed(code) == "True True\nNo device is called 'cuda:x'\n"


def test_the_doctor_says_what_pytorch_would_add() -> None:
    code = "from nvfuser_direct.__main__ import main; main()"
    text = printed(code)
    assert "PyTorch         none\n" in text
    assert "-> pip install torch, version 2.11 or newer, to evaluate what has no kernel" in text
    assert "run on arrays of NumPy, CuPy and JAX without it" in text


def test_a_script_that_reproduces_a_definition_needs_no_pytorch() -> None:
    assert "def nvfuser_fusion(fd: FusionDefinition)" in printed("print(fd.repro_script_for())")


def test_the_package_imports_no_array_library(tmp_path: Path) -> None:
    assert printed("print({'torch', 'numpy'} & set(sys.modules))", ()) == "set()\n"

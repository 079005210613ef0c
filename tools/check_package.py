#!/usr/bin/env python3
"""Install a wheel where nothing else is, and see what it can do there.

    check_package.py WHEEL [--env build/package/clean]

A virtual environment gets the wheel and what the wheel requires, and later NumPy. In each state it
runs the program below. The test suite does the rest, in an environment with PyTorch.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from pathlib import Path

# Without arrays: everything up to compiled kernels, and a clear word where PyTorch is needed.
WITH_NEITHER = """
import importlib.util, sys
assert importlib.util.find_spec("torch") is None and importlib.util.find_spec("numpy") is None
import nvfuser_direct as nvf

with nvf.FusionDefinition() as fd:
    fd.add_output(fd.ops.relu(fd.define_tensor([-1], contiguity=True)))
nvf.schedule.trivial(fd.fusion)
assert "relu" in fd.fusion.print_kernel()
executor = nvf.KernelExecutor()
executor.compile(fd.fusion)
assert executor.is_compiled()
try:
    nvf.evaluate(fd.fusion, [1.0])
except nvf.UserError as error:
    print(error)
import warnings
warnings.simplefilter("ignore", UserWarning)  # both packages are meant
import nvfuser
with nvfuser.FusionDefinition() as fd:
    fd.add_output(fd.ops.relu(fd.define_tensor([-1], contiguity=True)))
assert fd.id() == 0 and "relu" in fd.fusion_ir()
assert "torch" not in sys.modules and "numpy" not in sys.modules
print("nvfuser_direct", nvf.__version__, "with neither PyTorch nor NumPy: ok")
"""
WITH_NUMPY = """
import sys
import numpy as np
import nvfuser_direct as nvf

with nvf.FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.sum(fd.ops.relu(x), [1]))
(out,) = fd.execute([np.full((3, 4), 2.0, np.float32)])
assert isinstance(out, np.ndarray) and out.tolist() == [8.0, 8.0, 8.0], out
import warnings
warnings.simplefilter("ignore", UserWarning)  # both packages are meant
import nvfuser
with nvfuser.FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.sum(fd.ops.relu(x), [1]))
(out,) = nvfuser.FusionDefinition(fd.id()).execute([np.full((3, 4), 2.0, np.float32)])
assert out.tolist() == [8.0, 8.0, 8.0], out
assert "torch" not in sys.modules
print("nvfuser_direct", nvf.__version__, "with NumPy", np.__version__, "alone: ok")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--env", type=Path)
    arguments = parser.parse_args()
    wheel = arguments.wheel.resolve()
    folder = arguments.env or wheel.parent.parent / "clean"
    venv.create(folder, with_pip=True, clear=True)
    python = str(folder.resolve() / "bin" / "python")

    def run(*words: str) -> None:
        # Away from the checkout, whose package must not be imported.
        subprocess.run([python, "-I", *words], check=True, cwd=folder)

    run("-m", "pip", "-q", "install", str(wheel))
    run("-m", "nvfuser_direct")
    run("-c", WITH_NEITHER)
    run("-m", "pip", "-q", "install", "numpy")
    run("-c", WITH_NUMPY)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Make the sdist, and from the sdist the wheel; print the path of the wheel.

    build_package.py [--out build/package]

The sdist is unpacked into OUT/tree, where only files that changed are written. The build stays in
OUT/tree/build, so that a second call compiles what changed and nothing else. The wheel is made
there, away from the checkout: what the sdist lacks is missing in the build.

The build tools (tools/requirements.txt) are those of this interpreter.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


def build(kind: str, source: Path, out: Path, *options: str) -> Path:
    """Make the only package of `kind` ("sdist" or "wheel") in `out`."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation"]
    command += ["--outdir", str(out), *options, str(source)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        print(result.stdout, file=sys.stderr)
        sys.exit(f"build_package: the {kind} cannot be built")
    (package,) = out.iterdir()
    return package


def mirror(source: Path, destination: Path) -> None:
    """Let `destination` have the files of `source`; equal ones keep their time.

    The folder ``build`` of `destination` is not touched.
    """
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    for name in wanted:
        target = destination / name
        content = (source / name).read_bytes()
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target)
    for path in list(destination.rglob("*")):
        name = path.relative_to(destination)
        if path.is_file() and name.parts[0] != "build" and name not in wanted:
            path.unlink()


def unpack(sdist: Path, destination: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, tarfile.open(sdist) as archive:
        # Early releases of 3.10 and 3.11 have no filters.
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)
        (root,) = Path(folder).iterdir()  # <name>-<version>/
        mirror(root, destination)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=REPOSITORY / "build" / "package")
    out = parser.parse_args().out.resolve()
    sdist = build("sdist", REPOSITORY, out / "sdist")
    unpack(sdist, out / "tree")
    print(build("wheel", out / "tree", out / "wheel", "-Ccmake.define.NVFUSER_WERROR=ON"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

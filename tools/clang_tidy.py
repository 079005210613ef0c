"""Run clang-tidy on the C++ sources that differ from a branch, or on all.

    python tools/clang_tidy.py               what differs from main, committed or not
    python tools/clang_tidy.py --all         everything: half an hour of one core
    python tools/clang_tidy.py csrc/ir/...   these

`.clang-tidy` says what is checked. Compile commands are those of a build folder of its own
(build/tidy), which CMake fills: nothing is compiled. A header is checked with the source of its
name, or else with one that includes it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "tidy"
FOLDERS = ("csrc/", "python_direct/")


def tool(name: str) -> str:
    """A program that was installed beside Python, or else one on PATH."""
    path = Path(sysconfig.get_path("scripts")) / name
    return str(path) if path.exists() else name


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def configure() -> list[Path]:
    """The sources that CMake knows, with commands for them in BUILD."""
    run(
        tool("cmake"), "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DPython_EXECUTABLE={sys.executable}",
    )  # fmt: skip
    run(tool("ninja"), "-C", str(BUILD), "generated/runtime_sources.h")
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    files = [Path(command["file"]) for command in commands]
    own = [path for path in files if path.is_relative_to(ROOT)]
    return [path for path in own if str(path.relative_to(ROOT)).startswith(FOLDERS)]


def changed(base: str) -> list[Path]:
    """Sources and headers that differ from where `base` was left."""
    try:
        start = run("git", "merge-base", base, "HEAD").strip()
    except (subprocess.CalledProcessError, FileNotFoundError):
        print(f"clang-tidy: there is no {base} to compare with: nothing is checked (--base, --all)")
        return []
    names = run("git", "diff", "--name-only", "--diff-filter=d", start).splitlines()
    names += run("git", "ls-files", "--others", "--exclude-standard").splitlines()
    return [
        ROOT / name for name in names if name.startswith(FOLDERS) and name.endswith((".cpp", ".h"))
    ]


def sources_of(path: Path, known: list[Path]) -> list[Path]:
    """The sources to compile in order to see `path`."""
    if path.suffix == ".cpp":
        return [path] if path in known else []
    own = path.with_suffix(".cpp")
    if own in known:
        return [own]
    shown = str(path.relative_to(ROOT).relative_to(path.relative_to(ROOT).parts[0]))
    return [other for other in known if f'"{shown}"' in other.read_text()][:1]


def check(path: Path) -> tuple[Path, str]:
    """The findings in a source."""
    done = subprocess.run(
        [tool("clang-tidy"), "-p", str(BUILD), "--quiet", str(path)],
        capture_output=True, text=True,
    )  # fmt: skip
    return path, done.stdout if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="check every source")
    parser.add_argument("--base", default="main", help="the branch to compare with")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="checks at a time")
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    wanted = [path.resolve() for path in args.files] or ([] if args.all else changed(args.base))
    if not wanted and not args.all:
        return 0
    known = configure()
    files = known if args.all else [path for name in wanted for path in sources_of(name, known)]
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for path, findings in pool.map(check, dict.fromkeys(files)):
            if findings:
                failed += 1
                print(f"{path.relative_to(ROOT)}\n{findings}", flush=True)
    print(f"clang-tidy: {len(dict.fromkeys(files))} sources, {failed} with findings")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Run every hand-scheduled example on one target, check it against PyTorch, and print a table.

Compile times are those of a first compilation: no cache is asked. On a GPU every example is also
timed against a device copy of the same bytes.
"""

import importlib
import sys
from pathlib import Path

SCHEDULES = Path(__file__).parent / "schedules"
sys.path.insert(0, str(SCHEDULES))

import harness  # noqa: E402


def examples() -> list[harness.Example]:
    """The modules of all examples, by name."""
    names = sorted(path.stem for path in SCHEDULES.glob("*.py") if path.stem != "harness")
    return [importlib.import_module(name) for name in names]


def main() -> None:
    args = harness.arguments(__doc__)
    print(f"target {args.target}")
    print(f"{'example':24} {'size':>16} {'error':>8} {'lower':>8} {'compile':>9}")
    wrong = []
    for example in examples():
        for sizes in example.SIZES:
            result = harness.run(example, sizes, args.target)
            verdict = ""
            if not result.error <= example.RTOL:
                wrong.append(f"{example.__name__} {sizes}")
                verdict = "  WRONG"
            print(
                f"{example.__name__:24} {'x'.join(map(str, sizes)):>16} {result.error:8.1e} "
                f"{result.lower_ms:5.1f} ms "
                f"{harness.compile_time_ms(result, args.target):6.1f} ms{verdict}",
                flush=True,
            )
    if args.target == "cuda":
        print(f"\n{'example':24} {'size':>18} {'ms':>8} {'GB/s':>7} {'of copy':>8}")
        for example in examples():
            speed = harness.measure(harness.run(example, example.BENCHMARK, "cuda"), "cuda")
            print(
                f"{example.__name__:24} {'x'.join(map(str, example.BENCHMARK)):>18} "
                f"{speed.milliseconds:8.3f} {speed.gigabytes_per_second:7.0f} {speed.score:8.2f}",
                flush=True,
            )
    if wrong:
        raise SystemExit("different from PyTorch: " + ", ".join(wrong))


if __name__ == "__main__":
    main()

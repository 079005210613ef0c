"""Random programs with random schedules as bytes: nothing is lost, and no bytes crash.

    python tests/property/serialized_programs.py --count 10000 --seed 0 [--mutations 10]

tries seeds 0 to 9999 on all cores. Each fusion is written and read: the one that was read is equal,
has the same bytes and digest, and is lowered too: kernels are compared by their statements.
With mutations, so many changes of its bytes are read too: each is refused with an error, or says
another fusion, which is written as these bytes, printed and lowered. --corpus keeps the bytes of
each fusion in a folder, for tools/asan_bytes.sh.
"""

from __future__ import annotations

import hashlib
import random
import re
import sys
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

from random_programs import Report, argument_parser, run_arguments
from schedule_scripts import Lines
from scheduled_programs import make_script

from nvfuser_direct import (
    Fusion,
    InternalError,
    UserError,
    UserValueError,
    equal_up_to_numbering,
)

# Lowering follows the order of definition, which bytes do not have: what one order is refused for,
# another one may not be. Seeds of this kind are listed, since lowering could do without.
ONE_REFUSED = "refused in one order"
# The head: magic, version, digest of the node table, digest of all else.
DIGEST = slice(37, 69)
BODY_AT = DIGEST.stop


def sealed(data: bytes) -> bytes:
    """The bytes with the digest that they should have: what is behind it is then read."""
    digest = hashlib.sha256(data[: DIGEST.start] + data[BODY_AT:]).digest()
    return data[: DIGEST.start] + digest + data[BODY_AT:]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A few changes behind the head."""
    body = bytearray(data[BODY_AT:])
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        kind = rng.randrange(5)
        at = rng.randrange(len(body))
        if kind == 0:
            body[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            body[at] = rng.choice([0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        elif kind == 2:
            del body[at : at + rng.choice([1, 2, 8])]
        elif kind == 3:
            body[at:at] = rng.randbytes(rng.choice([1, 2, 8]))
        else:
            other = rng.randrange(len(body))
            body[at : at + 4] = body[other : other + 4]
        body = body or bytearray(1)
    return sealed(data[:BODY_AT] + bytes(body))


def statements(fusion: Fusion, target: str) -> Counter[str] | str:
    """The lines of the kernel without their numbers and order, which are those of the definition;
    or the headline of the error."""
    try:
        text = fusion.print_kernel(target=target, comments=False)
    except InternalError:
        raise
    except RuntimeError as error:
        return re.sub(r"\d+", "", str(error).partition("\n")[0])
    return Counter(re.sub(r"\d+", "", line).strip() for line in text.splitlines())


def check_round_trip(fusion: Fusion) -> Fusion:
    """The fusion that the bytes of this one say."""
    data = fusion.serialize()
    second = Fusion.deserialize(data)
    assert equal_up_to_numbering(fusion, second), "another fusion"
    assert second.serialize() == data, "other bytes"
    assert second.digest() == fusion.digest() == data[DIGEST], "another digest"
    return second


def check_mutations(fusion: Fusion, count: int, rng: random.Random) -> int:
    """How many changes of the bytes say another fusion."""
    data = fusion.serialize()
    num_read = 0
    for _ in range(count):
        changed = mutated(data, rng)
        try:
            second = Fusion.deserialize(changed)
        except UserValueError as error:
            assert str(error).startswith("deserialize: "), error
            continue
        num_read += 1
        assert second.serialize() == changed, "other bytes"
        second.print_math()
        second.print_transforms()
        try:
            # The verifier looks for mistakes of passes; changed bytes may say dtypes that no
            # operation makes.
            second.lower(target="cpu", verify=False)
        except InternalError:
            raise
        except UserError:
            pass
    return num_read


def report_of(seed: int, target: str, mutations: int = 0, corpus: Path | None = None) -> Report:
    """Make, schedule, write and read the program of a seed."""
    text = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script, _ = make_script(seed)
            lines = Lines(script.definition)
            for call in script.calls:
                lines.execute(call)
            text = script.text()
            fusion = lines.fusion
            second = check_round_trip(fusion)
            if corpus is not None:
                (corpus / f"{seed}.fusion").write_bytes(fusion.serialize())
            found, expected = statements(second, target), statements(fusion, target)
            refusals = [isinstance(kernel, str) for kernel in (found, expected)]
            if all(refusals):
                result = "refused alike"
            elif any(refusals):
                result = ONE_REFUSED
            else:
                result = "same statements" if found == expected else "other order"
            num_read = check_mutations(fusion, mutations, random.Random(f"bytes {seed}"))
    except Exception as error:
        return Report(seed, "failed", f"{type(error).__name__}: {error}\n\n{text}")
    return Report(seed, result, refusals=("another fusion",) * num_read)


def summary(reports: list[Report]) -> str:
    """The failures, and how many programs there were of each kind."""
    failed = [report for report in reports if report.result == "failed"]
    lines = [f"seed {report.seed}: {report.text}" for report in failed]
    results = Counter(report.result for report in reports)
    lines.append(f"{len(reports)} fusions: " + ", ".join(f"{n} {r}" for r, n in results.items()))
    read = sum(len(report.refusals) for report in reports)
    lines.append(f"changed bytes that say another fusion: {read}")
    one_refused = [report.seed for report in reports if report.result == ONE_REFUSED]
    lines.append(f"seeds that are {ONE_REFUSED}: {one_refused}")
    lines.append(f"failing seeds: {[report.seed for report in failed]}")
    return "\n".join(lines)


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--mutations", type=int, default=0, help="changes of each fusion's bytes")
    parser.add_argument("--corpus", type=Path, help="a folder for the bytes of each fusion")
    args = parser.parse_args()
    if args.corpus is not None:
        args.corpus.mkdir(parents=True, exist_ok=True)
    report = partial(report_of, mutations=args.mutations, corpus=args.corpus)
    reports = run_arguments(args, report)
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())

"""Cases of section 10 of the catalogue, asynchronous copies and clusters, and their tests."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
CASES = [f"10.{number:02}" for number in range(1, 14)]
QUOTED = re.compile(r"def (test_\w+)\([^:]*?\)(?: -> None)?:\n +\"\"\"((?:10\.\d\d(?:, )?)+)")


def cases_with_tests() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {case: [] for case in CASES}
    for path in sorted(FOLDER.glob("test_*.py")):
        for name, cases in QUOTED.findall(path.read_text()):
            for case in re.findall(r"10\.\d\d", cases):
                found[case].append(f"{path.name}::{name}")
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_quoted_by_a_test(case: str) -> None:
    assert cases_with_tests()[case] != []

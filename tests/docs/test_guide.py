"""The documents are true: their Python runs, and prints what stands below it; what they
name is there.

The ```python blocks of a document run one after another in one namespace, as its reader would type
them. A ```text block right after one is what that block prints; `...` stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{path.name}" for path in DOCS.glob("*.md")),
]
DEMO_OUTPUT = re.compile(r"<!-- output of make demo -->\n+```text\n(.*?)^```$", re.M | re.S)


@dataclass
class Snippet:
    source: str  # with empty lines before it, so that line numbers are the document's
    printed: str | None


def read_snippets(document: Path) -> list[Snippet]:
    text = document.read_text()
    snippets: list[Snippet] = []
    last_end = -1
    for block in BLOCK.finditer(text):
        language, body = block.groups()
        if language == "python":
            line = text.count("\n", 0, block.start(2))
            snippets.append(Snippet("\n" * line + body, None))
            last_end = block.end()
        elif language == "text" and last_end >= 0 and not text[last_end : block.start()].strip():
            snippets[-1].printed = body
    return snippets


def assert_prints(printed: str, shown: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    checker = doctest.OutputChecker()
    if not checker.check_output(shown, printed, flags):
        example = doctest.Example("", shown)
        pytest.fail(checker.output_difference(example, printed, flags), pytrace=False)


RUN = ("README.md", "docs/guide.md", "docs/frontend.md", "docs/older_scripts.md")


@pytest.mark.parametrize("name", [*RUN, "docs/segmentation.md"])
def test_snippets_run_and_print_what_is_shown(name: str) -> None:
    from nvfuser import FusionCache

    snippets = read_snippets(REPOSITORY / name)
    assert snippets
    FusionCache.reset()  # its reader starts with an empty one
    namespace: dict[str, object] = {"__name__": "__main__"}
    for snippet in snippets:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet.source, Path(name).name, "exec"), namespace)
        if snippet.printed is not None:
            assert_prints(printed.getvalue(), snippet.printed)


def test_the_demo_prints_what_the_readme_shows() -> None:
    shown = DEMO_OUTPUT.search((REPOSITORY / "README.md").read_text())
    assert shown is not None
    demo = subprocess.run(
        [sys.executable, REPOSITORY / "examples" / "demo.py", "--target", "cpu"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert demo.returncode == 0, demo.stderr
    assert_prints(demo.stdout, shown.group(1))


def test_the_tables_of_passes_are_the_compilers() -> None:
    from nvfuser_direct import lowering_passes, optimization_passes

    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| \d+ \| `(\w+)` \|.*\| ([^|]*) \|$", text, re.MULTILINE)
    assert rows == [*optimization_passes(), *lowering_passes()]


def anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    document = REPOSITORY / name
    text = BLOCK.sub("", document.read_text())
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([\w-]+))?\)", text):
        path = document.parent / target if target else document
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), anchor


@pytest.mark.parametrize("name", DOCUMENTS)
def test_files_that_are_named_exist(name: str) -> None:
    text = (REPOSITORY / name).read_text()
    folders = [REPOSITORY, REPOSITORY / "csrc"]
    for path in re.findall(r"`((?:\w+/)+\w+\.(?:cpp|h|py|sh|cuh|def))`", text):
        assert any((folder / path).exists() for folder in folders), path


def test_the_lines_of_the_gdb_session_exist() -> None:
    text = (DOCS / "debugging.md").read_text()
    places = re.findall(r"at ((?:csrc|python_direct)/[\w/]+\.\w+):(\d+)", text)
    assert places
    for path, line in places:
        assert int(line) <= len((REPOSITORY / path).read_text().splitlines()), path


def test_the_script_of_the_gdb_session_fails_as_shown() -> None:
    text = (DOCS / "debugging.md").read_text()
    (script,) = re.findall(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    with pytest.raises(RuntimeError, match="A tensor in registers needs a constant size") as error:
        exec(compile(script, "script.py", "exec"), {})
    assert "T5_l_float[iblockIdx.x10{i0}, iS11{i1}] ca_pos( 1 ), made at script.py:9" in str(
        error.value
    )


def test_every_option_is_explained() -> None:
    header = (REPOSITORY / "csrc" / "base" / "options.h").read_text()
    options = set(re.findall(r"  X\(\w+, \"([\w.]+)\"\)", header))
    assert len(options) > 80
    text = (DOCS / "debugging.md").read_text() + (DOCS / "guide.md").read_text()
    assert [name for name in sorted(options) if not re.search(rf"\b{name}\b", text)] == []

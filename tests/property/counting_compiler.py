"""A C++ compiler that lets kernels count the iterations of their loops.

    CXX="python tests/property/counting_compiler.py" COUNT_FILE=count.txt python script.py

Each run of a kernel writes into the file how many iterations all its loops had together, those over
blocks and threads included. Kernels have to run on one worker (`set_num_threads(1)`).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

COUNTER = """\
#include <cstdio>
#include <cstdlib>
static long long nvf_count = 0;
struct CountReport {
  ~CountReport() {
    if (FILE* file = fopen(getenv("COUNT_FILE"), "w")) {
      fprintf(file, "%lld", nvf_count);
      fclose(file);
    }
  }
};
"""
LOOP = re.compile(r"^(\s*for \(.*\) \{)", re.MULTILINE)
HEAD = re.compile(r'^(extern "C" void \w+\(.*\) \{)$', re.MULTILINE)
BLOCKS = re.compile(r"^(\s*run_blocks\(.*\{)$", re.MULTILINE)


def with_counter(source: str) -> str:
    """The source of a kernel, which begins with the sources of the device."""
    (head,) = HEAD.finditer(source)
    before, kernel = source[: head.start()], source[head.start() :]
    kernel = HEAD.sub(r"\1 nvf_count = 0; const CountReport report;", kernel)
    kernel = BLOCKS.sub(r"\1 ++nvf_count;", LOOP.sub(r"\1 ++nvf_count;", kernel))
    return COUNTER + before + kernel


def main() -> int:
    arguments = ["-O1" if word == "-O3" else word for word in sys.argv[1:]]
    for word in arguments:
        if word.endswith(".cpp"):
            path = Path(word)
            path.write_text(with_counter(path.read_text()))
    return subprocess.run(["g++", *arguments]).returncode


if __name__ == "__main__":
    sys.exit(main())

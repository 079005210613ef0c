"""runtime/common/philox.h: the published test vectors, and that every function compiles."""

from __future__ import annotations

import ctypes
import itertools
from typing import TYPE_CHECKING

import pytest
import torch
from device_sources import assemble, compile_cpu, compile_cuda, nvrtc

from nvfuser_direct.evaluator.random import philox

if TYPE_CHECKING:
    from pathlib import Path

# (seed, offset, position) and the four words: key, and low and high half of the counter.
VECTORS = [
    ((0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**64 - 1,) * 3, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x299F31D0A4093822, 0x85A308D3243F6A88, 0x0370734413198A2E),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "words"), VECTORS)
def test_the_evaluator_knows_the_answers(counter, words) -> None:
    seed, offset, position = counter
    signed = position - 2**64 if position >= 2**63 else position
    assert tuple(int(w) for w in philox(seed, offset, torch.tensor([signed]))) == words


def test_the_device_source_knows_the_answers(tmp_path: Path) -> None:
    code = """
extern "C" void block(uint64_t seed, uint64_t offset, uint64_t position, uint32_t* out) {
  const PhiloxBlock block = philox(philox_keys(seed), offset, position);
  for (int i = 0; i < 4; ++i) out[i] = block.words[i];
}
"""
    library = compile_cpu(assemble("cpu", ["philox"], code), tmp_path)
    for counter, words in VECTORS:
        out = (ctypes.c_uint32 * 4)()
        library.block(*(ctypes.c_uint64(c) for c in counter), out)
        assert tuple(out) == words


def test_every_distribution_compiles_for_cuda() -> None:
    if nvrtc() is None:
        pytest.skip("no NVRTC")
    functions = {
        "random_uniform": "",
        "random_uniform_range": ", {zero}, {one}",
        "random_normal": "",
        "random_normal_general": ", {zero}, {one}",
    }
    lines = []
    for (name, parameters), scalar in itertools.product(
        functions.items(), ["float", "double", "__half", "__bfloat"]
    ):
        suffix = "" if scalar == "double" else "f"
        constants = parameters.format(zero="0.0" + suffix, one="1.0" + suffix)
        call = f"{name}<{scalar}>(philox_keys(1), 2, 3, 0{constants})"
        lines.append(f"*({scalar}*)out = {call}; out += 8;\n")
    code = f'extern "C" __global__ void kernel(char* out) {{\n{"".join(lines)}}}\n'
    compile_cuda(assemble("cuda", ["half", "bfloat16", "philox"], code))

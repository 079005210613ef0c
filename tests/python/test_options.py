"""NVFUSER_DUMP, NVFUSER_ENABLE and NVFUSER_DISABLE (runtime.md, section 10)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import FusionDefinition

SCRIPT = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    t0 = fd.define_tensor([-1, 64], contiguity=True)
    t1 = fd.ops.sum(fd.ops.mul(t0, 2.0), [1])
    fd.add_output(t1)
fd.execute([torch.ones(4, 64)])
"""


def run(folder: Path, script: str = SCRIPT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment},
    )


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The output of a run that dumps all there is, and the folder it wrote files to."""
    folder = tmp_path_factory.mktemp("dumps")
    with pytest.raises(RuntimeError) as unknown:
        nvf.call_with_options(lambda: None, ["?"], [])
    assert "Unrecognized enable_option: ?" in str(unknown.value)
    result = run(folder, NVFUSER_DUMP="?")
    names = result.stderr.split("Available options: ")[1].splitlines()[0]
    result = run(folder, NVFUSER_DUMP=names.replace(" ", ""))
    assert result.returncode == 0, result.stderr
    return result.stdout, folder


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("fusion_ir_original", r"Fusion IR \(original\):\nInputs:\n  T0_g_float"),
        ("fusion_ir_concretized", r"Fusion IR \(concretized\):"),
        ("fusion_ir_preseg", r"Fusion IR \(preseg\):"),
        ("fusion_ir_presched", r"Fusion IR \(presched\):"),
        ("fusion_ir", r"Fusion IR of nvfuser_none_f0_c0_r0_g0:(.|\n)*TransformPrinter :"),
        ("fusion_ir_math", r"%kernel_math \{"),
        ("kernel_ir", r"FOR i"),
        ("lower_verbose", r"After validate_schedule:\n(.|\n)*After form_regions:"),
        ("cuda_kernel", r"======= Codegen output for kernel: nvfuser_none_f0_c0_r0_g0 ======="),
        ("launch_param", r"Launch Parameters: BlockDim.x = "),
        ("dynamic_shared_memory", r"dynamic shared memory of nvfuser_none_f0_c0_r0_g0: 0 bytes"),
        ("index_type", r"index type of nvfuser_none_f0_c0_r0_g0: int\n"),
        ("compile_params", r"nvfuser_none_f0_c0_r0_g0: Compile Parameters: index_type"),
        ("fusion_args", r"Arguments for fusion 0:\n  float\[4, 64\] on cpu"),
        ("kernel_args", r"Arguments for nvfuser_none_f0_c0_r0_g0:\n  float\[4, 64\] on cpu"),
        ("python_definition", r"def nvfuser_fusion\(fd : FusionDefinition\)"),
        ("ca_map", r"IterDomainGraphs \{"),
        ("parallel_dimensions", r"Extents of hardware indices:\n  blockIdx.x: "),
        ("expr_sort", r"Order of expressions:\n  T1"),
        ("sync_map", r"After insert_syncs:"),
        ("indexing_verbose", r"After build_loop_nests:"),
        ("predicate_elimination", r"After place_conditions:"),
        ("buffer_reuse_verbose", r"After reuse_memory:"),
        (
            "global_zeroed_memory",
            r"global memory that nvfuser_none_f0_c0_r0_g0 needs zeroed: \d+ of",
        ),
        ("perf_debug_verbose", r"Time of lowering passes \(ms\):\n  validate_schedule: "),
    ],
)
def test_dumps_print(everything: tuple[str, Path], option: str, text: str) -> None:
    assert re.search(text, everything[0]), option


@pytest.mark.parametrize(
    ("option", "name", "text"),
    [
        ("cuda_to_file", "__tmp_nvfuser_none_f0_c0_r0_g0.cpp", "nvfuser_none_f0_c0_r0_g0("),
        ("fusion_ir_graph", "__tmp_nvfuser_none_f0_c0_r0_g0.dot", "digraph fusion {"),
    ],
)
def test_dumps_write_files(everything: tuple[str, Path], option: str, name: str, text: str) -> None:
    assert f"PRINTING: {name}" in everything[0], option
    assert text in (everything[1] / name).read_text()


def test_nothing_is_dumped_unless_asked_for(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert (result.stdout, result.stderr) == ("", "")
    assert not list(tmp_path.iterdir())


def test_passes_are_dumped_by_name(tmp_path: Path) -> None:
    result = run(tmp_path, NVFUSER_DUMP="lower_verbose(sort_exprs, insert_syncs)")
    assert re.findall(r"^After (\w+):", result.stdout, re.M) == ["sort_exprs", "insert_syncs"]


def test_the_old_spelling_of_variables_is_understood(tmp_path: Path) -> None:
    assert "FOR i" in run(tmp_path, PYTORCH_NVFUSER_DUMP="kernel_ir").stdout
    # Only where the new one is not set.
    result = run(tmp_path, PYTORCH_NVFUSER_DUMP="kernel_ir", NVFUSER_DUMP="launch_param")
    assert "FOR i" not in result.stdout
    result = run(tmp_path, PYTORCH_NVFUSER_DISABLE="no_such")
    assert "Parsing DISABLE failed. Invalid option: 'no_such'" in result.stderr


@pytest.mark.parametrize("variable", ["DUMP", "ENABLE", "DISABLE", "PROF"])
def test_unknown_options_are_errors_that_list_the_known_ones(variable: str, tmp_path: Path) -> None:
    result = run(tmp_path, **{f"NVFUSER_{variable}": "no_such"})
    assert f"Parsing {variable} failed. Invalid option: 'no_such'\n" in result.stderr
    listed = result.stderr.split("Available options: ")[1].splitlines()[0].split(", ")
    assert listed == sorted(listed)
    known = {"DUMP": "kernel_ir", "ENABLE": "fast_math", "DISABLE": "fma", "PROF": "print"}
    assert known[variable] in listed


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("kernel_ir(1", r"when parsing arguments for kernel_ir\. Syntax error: unclosed '\('"),
        ("kernel_ir(1)x", r"when parsing arguments for kernel_ir\. Syntax error: expect a ',' aft"),
    ],
)
def test_syntax_errors(value: str, message: str, tmp_path: Path) -> None:
    result = run(tmp_path, NVFUSER_DUMP=value)
    assert re.search("Parsing DUMP failed " + message, result.stderr)


def test_every_documented_option_is_known() -> None:
    """The table of runtime.md, section 10."""
    enable = (
        "fuse_matmul fuse_multiple_matmuls cutlass_scheduler tma_pointwise tma_inner_persistent "
        "tma_reduction ws_normalization memory_promotion reuse_zeroed_memory io_to_lower_precision "
        "fast_math kernel_debug kernel_lineinfo kernel_profile kernel_db warn_register_spill "
        "static_fusion_count id_model_extra_validation host_ir_lowering host_ir_jit "
        "insert_resharding_after p2p_protocol(put) p2p_transport(Tma) multicast_protocol(memcpy) "
        "wait_debugger(0)"
    ).split()
    disable = (
        "compile_to_sass contig_indexing index_hoist magic_zero expr_simplify "
        "predicate_elimination welford_vectorization grouped_grid_welford_outer_opt "
        "reuse_mismatched_type_registers var_name_remapping fma fallback greedy_scheduler "
        "resize_scheduler matmul_expr_eval kernel_reuse nvrtc_caching parallel_compile nvtx "
        "multidevice infer_contiguity python_inline_definitions"
    ).split()
    assert nvf.call_with_options(lambda: 1, enable, disable) == 1


# ---- Effects -------------------------------------------------------------------------------------


def scaled(sizes: tuple[int, ...] = (4, 64)) -> tuple[FusionDefinition, torch.Tensor]:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.mul(fd.define_tensor([-1] * len(sizes), contiguity=True), 2.0))
    return fd, torch.ones(sizes)


def test_options_of_a_call_do_not_outlive_it() -> None:
    fd, x = scaled()
    fd.execute([x], _disable_options=["fma"])
    fd.execute([x])
    fd.execute([x], _disable_options=["fma"])
    assert len(fd.fec._runtimes) == 2  # with the option and without


def test_kernel_reuse() -> None:
    fd, x = scaled()
    for _ in range(2):
        fd.execute([x], _disable_options=["kernel_reuse"])
        fd.execute([x[:2]], _disable_options=["kernel_reuse"])
    assert len(fd.fec._runtimes) == 2
    fd.execute([x])
    fd.execute([x[:2]])
    assert len(fd.fec._runtimes) == 3


def test_fallback(tmp_path: Path) -> None:
    """Errors instead of falling back, under both names."""
    no_compiler = {"CXX": "/no/compiler", "PATH": "", "NVFUSER_KERNEL_CACHE": "0"}
    assert run(tmp_path, **no_compiler).returncode == 0
    for option in ({"NVFUSER_DISABLE": "fallback"}, {"NVFUSER_DISABLE_FALLBACK": "1"}):
        result = run(tmp_path, **no_compiler, **option)
        assert result.returncode != 0
        assert "compiler" in result.stderr


def test_traces_are_read_by_trace_viewers(tmp_path: Path) -> None:
    result = run(tmp_path, NVFUSER_TRACE="trace.json")
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "trace.json").read_text()
    events = json.loads(text.rstrip().rstrip(",") + "]")
    by_name = {event["name"]: event for event in events}
    lowering = by_name["lower nvfuser_none_f0_c0_r0_g0"]
    a_pass = by_name["sort_exprs"]
    assert lowering["ts"] <= a_pass["ts"]
    assert a_pass["ts"] + a_pass["dur"] <= lowering["ts"] + lowering["dur"]
    assert {"compile nvfuser_none_f0_c0_r0_g0", "nvfuser_none_f0_c0_r0_g0"} <= set(by_name)
    result = run(tmp_path, NVFUSER_TRACE="no/such/folder.json")
    assert "NVFUSER_TRACE: cannot write no/such/folder.json" in result.stderr


def test_options_can_be_asked_for() -> None:
    assert not nvf.is_enabled("fast_math")
    assert nvf.call_with_options(lambda: nvf.is_enabled("fast_math"), ["fast_math"], [])
    assert nvf.call_with_options(lambda: nvf.is_disabled("fma"), [], ["fma"])
    assert not nvf.is_dumped("kernel_ir")
    with pytest.raises(RuntimeError, match="There is no option 'no_such'"):
        nvf.is_dumped("no_such")

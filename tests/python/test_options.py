"""NVFUSER_DUMP, NVFUSER_ENABLE and NVFUSER_DISABLE."""

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


IDLE = "Known, but without effect so far: "


def names_listed(folder: Path, variable: str, heading: str = "Available options: ") -> list[str]:
    """The names that the error about an unknown option offers under a heading."""
    result = run(folder, **{f"NVFUSER_{variable}": "no_such"})
    assert f"Parsing {variable} failed. Invalid option: 'no_such'\n" in result.stderr
    lines = [x for x in result.stderr.splitlines() if x.startswith(heading)]
    return lines[0].removeprefix(heading).split(", ") if lines else []


def names_known(folder: Path, variable: str) -> list[str]:
    """All options of a variable."""
    return sorted(names_listed(folder, variable) + names_listed(folder, variable, IDLE))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The output of a run that dumps all there is, and the folder it wrote files to."""
    folder = tmp_path_factory.mktemp("dumps")
    with pytest.raises(RuntimeError) as unknown:
        nvf.call_with_options(lambda: None, ["?"], [])
    assert "Unrecognized enable_option: ?" in str(unknown.value)
    result = run(folder, NVFUSER_DUMP=",".join(names_known(folder, "DUMP")))
    assert result.returncode == 0, result.stderr
    return result.stdout, folder


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("fusion_ir_original", r"Fusion IR \(original\):\nInputs:\n  T0_g_float"),
        ("fusion_ir_concretized", r"Fusion IR \(concretized\):"),
        ("fusion_ir_preseg", r"Fusion IR \(preseg\):"),
        ("fusion_ir_presched", r"Fusion IR \(presched\): segment 0 of 1\nInputs:\n  T0_g_float"),
        ("fusion_ir", r"Fusion IR of nvfuser_reduction_f0_c0_r0_g0:(.|\n)*TransformPrinter :"),
        ("fusion_ir_math", r"%kernel_math \{"),
        ("kernel_ir", r"FOR i"),
        (
            "lower_verbose",
            r"After validate_schedule:\nInputs:\n(.|\n)*After replace_sizes:\n\(unchanged\)\n",
        ),
        ("lower_verbose", r"After build_loop_nests:\n- Inputs:(.|\n)*\n\+ +FOR i"),
        (
            "cuda_kernel",
            r"======= Codegen output for kernel: nvfuser_reduction_f0_c0_r0_g0 =======",
        ),
        ("launch_param", r"Launch Parameters: BlockDim.x = "),
        (
            "dynamic_shared_memory",
            r"dynamic shared memory of nvfuser_reduction_f0_c0_r0_g0: 0 bytes",
        ),
        ("index_type", r"index type of nvfuser_reduction_f0_c0_r0_g0: int64_t\n"),
        ("compile_params", r"nvfuser_reduction_f0_c0_r0_g0: Compile Parameters: index_type"),
        ("fusion_args", r"Arguments for fusion 0:\n  float\[4, 64\] on cpu"),
        ("kernel_args", r"Arguments for nvfuser_reduction_f0_c0_r0_g0:\n  float\[4, 64\] on cpu"),
        ("python_definition", r"def nvfuser_fusion\(fd: FusionDefinition\)"),
        ("ca_map", r"IterDomainGraphs \{"),
        ("parallel_dimensions", r"Extents of hardware indices:\n  blockIdx.x: "),
        ("expr_sort", r"Order of expressions:\n  T1"),
        ("sync_map", r"Barriers between writers and readers:\n"),
        (
            "indexing_verbose",
            r"Indices:\n  T\d+_l\[.*\n    loops: .*blockIdx.x.*\n    writes T\d+_l_float at ",
        ),
        ("predicate_elimination", r"Range tests:\n"),
        ("buffer_reuse_verbose", r"Shared memory: none\n"),
        (
            "global_zeroed_memory",
            r"global memory that nvfuser_reduction_f0_c0_r0_g0 needs zeroed: \d+ of",
        ),
        ("perf_debug_verbose", r"Time of lowering passes \(ms\):\n  validate_schedule: "),
    ],
)
def test_dumps_print(everything: tuple[str, Path], option: str, text: str) -> None:
    assert re.search(text, everything[0]), option


@pytest.mark.parametrize(
    ("option", "name", "text"),
    [
        (
            "cuda_to_file",
            "__tmp_nvfuser_reduction_f0_c0_r0_g0.cpp",
            "nvfuser_reduction_f0_c0_r0_g0(",
        ),
        ("fusion_ir_graph", "__tmp_nvfuser_reduction_f0_c0_r0_g0.dot", "digraph fusion {"),
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


DECISIONS = """
from nvfuser_direct import FusionDefinition, MemoryType, ParallelType
with FusionDefinition() as fd:
    t0 = fd.define_tensor([-1], contiguity=True)
    t1 = fd.ops.neg(t0)
    t2 = fd.ops.exp(t1)
    t3 = fd.ops.sin(t2)
    t4 = fd.ops.cos(t3)
    fd.add_output(t4)
    t4.split(0, 64)
    fd.sched.transform_like(t4)
    t4.axis(0).parallelize(ParallelType.grid_x)
    t4.axis(1).parallelize(ParallelType.block_x)
    fd.sched.parallelize_like(t4)
    for tensor in (t1, t2):  # other threads than those that read
        tensor.axis(1).parallelize(ParallelType.block_y)
    t2.set_memory_type(MemoryType.shared)
    t2.inline_at(1)
    t1.inline_at(2)
    t3.inline_at(2)
fd.fusion.lower()
"""


@pytest.mark.parametrize(
    ("option", "lines"),
    [
        (
            "sync_map",
            [
                "  T2_s_float -> T3_l_float: block\n",
                "Barriers in the kernel:\n  block, before T3_l[0] = sinf(T2_s[threadIdx.x]);, "
                "in loops blockIdx.x\n",
            ],
        ),
        (
            "predicate_elimination",
            [
                "  T1_l[0] = -T0_g[( ( blockIdx.x * 64 ) + threadIdx.y )];\n"
                "    test:      ( ( blockIdx.x * 64 ) + threadIdx.y ) < i0\n"
                "    condition: ( ( ( blockIdx.x * 64 ) + threadIdx.y ) < i0 )\n",
                "  T2_s[threadIdx.y] = expf(T1_l[0]);\n",
                "    test:      owner: ( threadIdx.x == 0 )\n",
            ],
        ),
        (
            "indexing_verbose",
            [
                "  T2_s[threadIdx.y] = expf(T1_l[0]);\n    loops: blockIdx.x, threadIdx.y\n"
                "    writes T2_s_float at threadIdx.y\n    reads T1_l_float at 0\n",
            ],
        ),
        ("buffer_reuse_verbose", ["Shared memory: 256 bytes\n  T2_s_float, from byte 0\n"]),
    ],
)
def test_dumps_named_after_a_decision_print_it_alone(
    option: str, lines: list[str], tmp_path: Path
) -> None:
    result = run(tmp_path, DECISIONS, NVFUSER_DUMP=option)
    assert result.returncode == 0, result.stderr
    for line in lines:
        assert line in result.stdout
    assert "FOR " not in result.stdout


def test_passes_that_are_named_show_what_changed_between_them(tmp_path: Path) -> None:
    result = run(tmp_path, DECISIONS, NVFUSER_DUMP="lower_verbose(prefetch_loads, insert_syncs)")
    first, _, second = result.stdout.partition("After insert_syncs:\n")
    assert first.startswith("After prefetch_loads:\n%kernel_ir {\n")
    changes = [line for line in second.splitlines() if line.startswith(("+", "-"))]
    assert [line.split() for line in changes] == [["+", "BLOCKSYNC(war_sync=false)"]]


def test_an_option_is_idle_if_and_only_if_nothing_asks_for_it(tmp_path: Path) -> None:
    repository = Path(__file__).parents[2]
    sources = [*repository.glob("csrc/**/*.cpp"), *repository.glob("python_direct/*.cpp")]
    sources += repository.glob("python/*/**/*.py")
    text = "".join(path.read_text() for path in sources if not path.match("csrc/base/options.cpp"))
    table = (repository / "csrc/base/options.h").read_text()
    for variable, query in (("DUMP", "dumped"), ("ENABLE", "enabled"), ("DISABLE", "disabled")):
        idle = set(names_listed(tmp_path, variable, IDLE))
        for name in names_known(tmp_path, variable):
            entry = re.search(rf'X\((\w+), *"{name}"\)', table)
            assert entry is not None
            is_used = f"{variable.capitalize()}Option::{entry[1]}" in text
            is_used |= f'is_{query}("{name}")' in text or name.startswith("fusion_ir_")
            assert is_used == (name not in idle), name


@pytest.mark.parametrize("variable", ["DUMP", "ENABLE", "DISABLE", "PROF"])
def test_unknown_options_are_errors_that_list_the_known_ones(variable: str, tmp_path: Path) -> None:
    listed = names_listed(tmp_path, variable)
    assert listed == sorted(listed)
    known = {"DUMP": "kernel_ir", "ENABLE": "fast_math", "DISABLE": "fma", "PROF": "print"}
    assert known[variable] in listed


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("kernel_ir(1", r"when parsing arguments for kernel_ir\. Syntax error: unclosed '\('"),
        ("kernel_ir(1)x", r"when parsing arguments for kernel_ir\. Syntax error: expect a ',' aft"),
        (
            "lower_verbose(bogus)",
            r"when parsing arguments for lower_verbose\. Invalid argument: 'bogus'\n"
            r"Available arguments: validate_schedule, ",
        ),
        (
            "kernel_ir(1)",
            r"when parsing arguments for kernel_ir\. Invalid argument: '1'\nIt takes no arg",
        ),
    ],
)
def test_syntax_errors(value: str, message: str, tmp_path: Path) -> None:
    result = run(tmp_path, NVFUSER_DUMP=value)
    assert re.search("Parsing DUMP failed " + message, result.stderr)


@pytest.mark.parametrize("option", ["p2p_protocol(neither)", "wait_debugger(me)", "fast_math(2)"])
def test_arguments_that_an_option_does_not_take_are_errors(option: str) -> None:
    with pytest.raises(RuntimeError, match="Parsing ENABLE failed when parsing arguments for"):
        nvf.call_with_options(lambda: None, [option], [])


def test_every_documented_option_is_known(tmp_path: Path) -> None:
    """The table of runtime.md, section 10, and what frontend.md, section 12, adds."""
    dump = (
        "fusion_ir_original fusion_ir_concretized fusion_ir_preseg fusion_ir_presched fusion_ir "
        "fusion_ir_math fusion_ir_graph kernel_ir lower_verbose cuda_kernel cuda_full cuda_to_file "
        "ptx cubin sass sass_to_file ptxas_verbose cutlass_compile launch_param "
        "dynamic_shared_memory occupancy index_type compile_params fusion_args kernel_args "
        "segmented_fusion segmenter_logging draw_segmented_fusion scheduler_params "
        "scheduler_verbose pre_segmenter_logging host_ir host_ir_lowering host_ir_jit "
        "python_definition ca_map sync_map parallel_dimensions predicate_elimination "
        "indexing_verbose inlining transform_propagator expr_simplify expr_sort "
        "expr_sort_verbose buffer_reuse_verbose global_zeroed_memory bank_conflict communication "
        "perf_debug_verbose ftrace python_definition_segments python_frontend_debug"
    )
    prof = "enable enable.nocupti print print.nocupti print.verbose"
    assert names_known(tmp_path, "DUMP") == sorted(dump.split())
    assert names_listed(tmp_path, "PROF") == sorted(prof.split())
    enable = (
        "fuse_matmul fuse_multiple_matmuls cutlass_scheduler tma_pointwise tma_inner_persistent "
        "tma_reduction ws_normalization memory_promotion reuse_zeroed_memory io_to_lower_precision "
        "fast_math kernel_debug kernel_lineinfo kernel_profile kernel_db warn_register_spill "
        "static_fusion_count id_model_extra_validation host_ir_lowering host_ir_jit "
        "insert_resharding_after p2p_protocol(put) p2p_transport(Tma) multicast_protocol(memcpy) "
        "wait_debugger(0) parallel_serde launch_graphs(2) dependent_launch"
    ).split()
    disable = (
        "compile_to_sass contig_indexing index_hoist magic_zero expr_simplify "
        "predicate_elimination welford_vectorization grouped_grid_welford_outer_opt "
        "reuse_mismatched_type_registers var_name_remapping fma fallback greedy_scheduler "
        "approximate_math resize_scheduler matmul_expr_eval kernel_reuse nvrtc_caching "
        "parallel_compile nvtx multidevice infer_contiguity python_inline_definitions launch_graphs"
    ).split()
    assert names_known(tmp_path, "ENABLE") == sorted(name.split("(")[0] for name in enable)
    assert names_known(tmp_path, "DISABLE") == sorted(disable)
    assert nvf.call_with_options(lambda: 1, enable, disable) == 1


@pytest.mark.parametrize("variable", ["DUMP", "ENABLE", "DISABLE", "PROF"])
def test_every_option_has_its_line_in_the_documentation(variable: str, tmp_path: Path) -> None:
    docs = Path(__file__).parents[2] / "docs"
    text = "".join((docs / name).read_text() for name in ("debugging.md", "guide.md"))
    listed = set(re.findall(r"[\w.]+", " ".join(re.findall(r"`([^`\n]+)`", text))))
    assert set(names_known(tmp_path, variable)) <= listed


# ---- CUDA kernels, compiled without a GPU --------------------------------------------------------

CUDA_SCRIPT = """
from nvfuser_direct import CompileParams, FusionDefinition, KernelExecutor
with FusionDefinition() as fd:
    t0 = fd.define_tensor([-1, 64], contiguity=True)
    fd.add_output(fd.ops.mul(t0, 2.0))
KernelExecutor().compile(fd.fusion, compile_params=CompileParams(device="cuda:0"))
"""
has_nvrtc = any(
    x.topic == "NVRTC" and not x.finding.startswith("none") for x in nvf.doctor_report()
)
needs_nvrtc = pytest.mark.skipif(not has_nvrtc, reason="no NVRTC")
CUBIN = "nvfuser_none_f0_c0_r0_g0.cubin"


def cuda_run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    result = run(folder, CUDA_SCRIPT, **environment)
    assert result.returncode == 0, result.stderr
    return result


@needs_nvrtc
@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("ptx", r"\.target sm_\d+"),
        ("cuda_full", r"using nvfuser_index_t = (.|\n)*__global__ void nvfuser_none_f0_c0_r0_g0\("),
        ("ptxas_verbose", r"Compiling entry function 'nvfuser_none_[0-9a-f]{8}'"),
    ],
)
def test_dumps_of_the_cuda_compiler_print(option: str, text: str, tmp_path: Path) -> None:
    assert re.search(text, cuda_run(tmp_path, NVFUSER_DUMP=option).stdout)


@needs_nvrtc
def test_machine_code_is_dumped_unless_it_is_left_to_the_driver(tmp_path: Path) -> None:
    result = cuda_run(tmp_path, NVFUSER_DUMP="cubin")
    assert f"PRINTING: {CUBIN}" in result.stdout
    assert (tmp_path / CUBIN).read_bytes().startswith(b"\x7fELF")
    result = cuda_run(tmp_path, NVFUSER_DUMP="cubin,ptx", NVFUSER_DISABLE="compile_to_sass")
    assert "PRINTING" not in result.stdout
    assert ".target sm_" in result.stdout


@needs_nvrtc
@pytest.mark.parametrize("option", ["sass", "sass_to_file"])
def test_a_dump_without_its_tool_is_a_warning(option: str, tmp_path: Path) -> None:
    result = cuda_run(tmp_path, NVFUSER_DUMP=option, PATH="")
    assert "needs nvdisasm, of the CUDA toolkit, on PATH" in result.stderr


@needs_nvrtc
def test_lines_are_in_compiled_kernels_if_asked_for(tmp_path: Path) -> None:
    assert ".loc" not in cuda_run(tmp_path, NVFUSER_DUMP="ptx").stdout
    for option in ("kernel_lineinfo", "kernel_profile"):
        assert ".loc" in cuda_run(tmp_path, NVFUSER_DUMP="ptx", NVFUSER_ENABLE=option).stdout


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
    assert fd.fec.stats().runtimes == 2  # with the option and without


def test_kernel_reuse() -> None:
    fd, x = scaled()
    for _ in range(2):
        fd.execute([x], _disable_options=["kernel_reuse"])
        fd.execute([x[:3]], _disable_options=["kernel_reuse"])
    assert fd.fec.stats().runtimes == 2
    fd.execute([x])
    fd.execute([x[:3]])
    assert fd.fec.stats().runtimes == 3


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("NVFUSER_NUM_THREADS", "four", "NVFUSER_NUM_THREADS is not a number"),
        ("NVFUSER_NUM_THREADS", "4x", "NVFUSER_NUM_THREADS is not a number"),
        ("NVFUSER_KERNEL_CACHE", "off", "NVFUSER_KERNEL_CACHE is neither on nor off"),
        ("NVFUSER_CACHE_MB", "1.5", "NVFUSER_CACHE_MB is not a number"),
        ("NVFUSER_CACHE_MB", "-1", "NVFUSER_CACHE_MB is out of range"),
        ("NVFUSER_MAX_REG_COUNT", "many", "NVFUSER_MAX_REG_COUNT is not a number"),
        ("NVFUSER_MAX_REG_COUNT", "-1", "NVFUSER_MAX_REG_COUNT is out of range"),
        ("NVFUSER_MAX_REG_COUNT", "999", "NVFUSER_MAX_REG_COUNT is out of range"),
        ("NVFUSER_JIT_OPT_LEVEL", "5", "NVFUSER_JIT_OPT_LEVEL is out of range"),
        ("NVFUSER_DISABLE_FALLBACK", "yes", "NVFUSER_DISABLE_FALLBACK is neither on nor off"),
        ("PYTORCH_NVFUSER_DISABLE_FALLBACK", "2", "_DISABLE_FALLBACK is neither on nor off"),
    ],
)
def test_a_malformed_variable_is_an_error_whatever_runs(
    variable: str, value: str, message: str, tmp_path: Path
) -> None:
    result = run(tmp_path, **{variable: value})
    assert result.returncode != 0
    assert message in result.stderr
    assert f"found:    '{value}'" in result.stderr


@pytest.mark.parametrize("value", ["", "1", "1000000", "0", "99999999999999999999"])
def test_a_number_of_threads_is_brought_into_range(value: str, tmp_path: Path) -> None:
    code = "import nvfuser_direct as n, os; print(1 <= n.get_num_threads() <= os.cpu_count())"
    assert run(tmp_path, code, NVFUSER_NUM_THREADS=value).stdout == "True\n"


def test_fallback(tmp_path: Path) -> None:
    """Errors instead of falling back, under both names."""
    no_compiler = {"CXX": "/no/compiler", "PATH": "", "NVFUSER_KERNEL_CACHE": "0"}
    assert run(tmp_path, **no_compiler).returncode == 0
    for option in ({"NVFUSER_DISABLE": "fallback"}, {"NVFUSER_DISABLE_FALLBACK": "1"}):
        result = run(tmp_path, **no_compiler, **option)
        assert result.returncode != 0
        assert "compiler" in result.stderr


def test_traces_are_read_by_trace_viewers(tmp_path: Path) -> None:
    folder = str(tmp_path / "kernels")  # empty: what a folder has is not lowered again
    result = run(tmp_path, NVFUSER_TRACE="trace.json", NVFUSER_CACHE_DIR=folder)
    assert result.returncode == 0, result.stderr
    events = json.loads((tmp_path / "trace.json").read_text())
    by_name = {event["name"]: event for event in events}
    lowering = by_name["lower nvfuser_reduction_f0_c0_r0_g0"]
    a_pass = by_name["sort_exprs"]
    assert lowering["ts"] <= a_pass["ts"]
    assert a_pass["ts"] + a_pass["dur"] <= lowering["ts"] + lowering["dur"]
    assert {"compile nvfuser_reduction_f0_c0_r0_g0", "nvfuser_reduction_f0_c0_r0_g0"} <= set(
        by_name
    )
    result = run(tmp_path, NVFUSER_TRACE="no/such/folder.json")
    assert "NVFUSER_TRACE: cannot write no/such/folder.json" in result.stderr


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)", "pass"])
def test_traces_are_whole_however_the_process_ends(end: str, tmp_path: Path) -> None:
    run(tmp_path, f"{SCRIPT}\nimport os, signal\n{end}", NVFUSER_TRACE="trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())
    run(tmp_path, f"import nvfuser_direct, os, signal\n{end}", NVFUSER_TRACE="empty.json")
    assert not (tmp_path / "empty.json").exists()  # nothing was traced


def test_a_forked_child_leaves_the_trace_to_its_parent(tmp_path: Path) -> None:
    fork = f"{SCRIPT}\nimport os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n"
    run(tmp_path, fork + "fd.fusion.lower()\n", NVFUSER_TRACE="trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())
    assert len({event["pid"] for event in events}) == 1


def test_options_can_be_asked_for() -> None:
    assert not nvf.is_enabled("fast_math")
    assert nvf.call_with_options(lambda: nvf.is_enabled("fast_math"), ["fast_math"], [])
    assert nvf.call_with_options(lambda: nvf.is_disabled("fma"), [], ["fma"])
    assert not nvf.is_dumped("kernel_ir")
    with pytest.raises(RuntimeError, match="There is no option 'no_such'"):
        nvf.is_dumped("no_such")

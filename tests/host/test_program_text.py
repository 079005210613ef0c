"""Host programs and their plans as text, and their profiles."""

from __future__ import annotations

import torch
from programs import fusion_of, kernel_of, matmul, permute, rand, unary

from nvfuser_direct import FusionDefinition, PythonProfiler
from nvfuser_direct.host import HostProgram


def test_a_program_prints_its_steps() -> None:
    program = HostProgram(3)
    a, b = program.add_input(), program.add_input()
    (c,) = program.launch(kernel_of(unary("sin")), [a])
    (d,) = program.evaluate(fusion_of(matmul), [c, b])
    (e,) = program.view(fusion_of(permute), [d])
    (f,) = program.allocate(fusion_of(permute), [d])
    program.copy(e, f)
    program.add_output(f)
    program.insert_frees()
    assert str(program).splitlines() == [
        "program(s0, s1) {",
        "  s2 = launch nvfuser_none_f3_c0_r0_g0(s0)",
        "  s3 = evaluate(s2, s1) {MatmulOp}",
        "  free s2",
        "  s4 = view(s3) {LoadStoreOp}",
        "  s5 = allocate(s3) {T1_g_float[iS3{i1}, iS2{i0}]}",
        "  free s3",
        "  copy s4 to s5",
        "  free s4",
        "  return s5",
        "}",
    ]
    assert [type(step).__name__ for step in program.steps] == [
        "Launch", "Evaluate", "Free", "View", "Allocate", "Free", "Copy", "Free",
    ]  # fmt: skip
    assert program.steps[1].fusion == fusion_of(matmul)


def test_a_plan_prints_what_lies_where(rng: torch.Generator) -> None:
    def strided_neg(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1], contiguity=False)))

    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    (c,) = program.view(fusion_of(permute), [b])
    (d,) = program.evaluate(fusion_of(strided_neg), [c])
    program.add_output(d)
    plan = program.plan([torch.randn(2, 3, generator=rng)])
    lines = str(plan).splitlines()
    assert lines[0].startswith("plan on cpu, workspace of 256 bytes, parameters of ")
    assert lines[1:] == [
        "  s0: float[2, 3] on cpu, argument",
        "  s1: float[2, 3] on cpu, workspace [0, 24)",
        "  s2: float[3, 2] on cpu, workspace [0, 24), a view of s1",
        "  s3: any shape, evaluated",
        "}",
    ]


def test_a_profile_has_every_step_that_computes(target: str, rng: torch.Generator) -> None:
    program = HostProgram()
    a, b = program.add_input(), program.add_input()
    (c,) = program.launch(kernel_of(unary("sin")), [a])
    (d,) = program.evaluate(fusion_of(matmul), [c, b])
    (e,) = program.launch(kernel_of(unary("neg")), [d])
    program.add_output(e)
    x, y = rand(target, rng, 4, 6), rand(target, rng, 6, 2)
    program.run([x, y])
    with PythonProfiler() as prof:
        program.run([x, y])
    profile = prof.profile
    assert profile.segments == 3
    assert [kernel.scheduler for kernel in profile.kernel_profiles] == ["none", "expr_eval", "none"]
    assert [kernel.segment_id for kernel in profile.kernel_profiles] == [0, 1, 2]
    assert profile.input_bytes == (4 * 6 + 6 * 2) * 4
    assert profile.output_bytes == 4 * 2 * 4

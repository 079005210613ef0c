"""execute, what it leaves, and texts about what ran."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch

from nvfuser import DataType, FusionDefinition


def negated(rank: int = 2) -> FusionDefinition:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1] * rank, contiguity=True)))
    return fd


class Doubled(FusionDefinition):
    """A subclass with a definition."""

    attempts = 0

    def definition(self) -> None:
        type(self).attempts += 1
        t0 = self.define_tensor([-1])
        self.add_output(self.ops.add(t0, t0))


def test_three_ways_to_define_and_run(target: str) -> None:
    """Context manager, subclass, and by id."""
    x = torch.arange(4.0, device=target)
    Doubled.attempts = 0
    fd = Doubled()
    assert fd.id() is None
    for _ in range(2):
        assert torch.equal(fd.execute([x])[0], x + x)
    assert Doubled.attempts == 1
    assert fd.id() == 0
    made_first = FusionDefinition()
    with made_first as entered:
        assert entered is made_first
        entered.add_output(entered.ops.neg(entered.define_tensor([-1])))
    assert torch.equal(made_first.execute([x])[0], -x)
    assert torch.equal(FusionDefinition(0).execute([x])[0], x + x)
    assert torch.equal(FusionDefinition(id=1).execute([x])[0], -x)


def test_a_function_that_is_decorated_is_a_definition(target: str) -> None:
    """The first `execute` calls it; equal statements have the id of other forms."""
    calls = []

    @FusionDefinition
    def doubled(fd: FusionDefinition) -> None:
        calls.append(fd)
        t0 = fd.define_tensor([-1])
        fd.add_output(fd.ops.add(t0, t0))

    x = torch.arange(4.0, device=target)
    assert doubled.id() is None
    for _ in range(2):
        assert torch.equal(doubled.execute([x])[0], x + x)
    assert calls == [doubled]
    other = Doubled()
    other.execute([x])
    assert other.id() == doubled.id() == 0


def test_a_decorated_function_that_raises_starts_anew() -> None:
    """A subclass whose definition() raises"""
    wanted = []

    @FusionDefinition
    def negated_once(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1])
        if not wanted:
            raise KeyError("mine")
        fd.add_output(fd.ops.neg(t0))

    with pytest.raises(KeyError, match="mine"):
        negated_once.execute([torch.ones(2)])
    wanted.append(True)
    assert torch.equal(negated_once.execute([torch.ones(2)])[0], -torch.ones(2))


def test_a_definition_by_id_knows_what_the_entry_does() -> None:
    """Repr, inputs, outputs and extents are filled from the entry."""
    with FusionDefinition() as fd:
        s0 = fd.define_scalar(None)
        t1 = fd.define_tensor([-1, -1])
        fd.define_tensor([-1])
        t3 = fd.ops.mul(t1, s0)
        fd.add_output(t3)
        fd.add_output(t1)
        fd.add_output(fd.ops.neg(t3), t1)
    by_id = FusionDefinition(0)
    assert by_id.id() == 0
    for found in (fd, by_id):
        assert found.inputs() == [0, 1, 2]
        assert found.outputs() == [3, 1]
        assert found.extents() == [-1, -2, -3]
        assert repr(found) == repr(fd)
        assert found.fusion_ir() == fd.fusion_ir()


def test_a_subclass_that_raises_starts_anew() -> None:
    """The statements of the failed attempt are cleared."""

    class Fails(FusionDefinition):
        fails = True

        def definition(self) -> None:
            t0 = self.define_tensor([-1])
            if self.fails:
                raise KeyError("mine")
            self.add_output(self.ops.neg(t0))

    fd = Fails()
    with pytest.raises(KeyError, match="mine"):
        fd.execute([torch.ones(2)])
    assert repr(fd) == "\ndef nvfuser_incomplete_fusion(fd : FusionDefinition) -> None :\n\n"
    fd.fails = False
    assert torch.equal(fd.execute([torch.ones(2)])[0], -torch.ones(2))
    assert repr(fd).count("define_tensor") == 1


def test_nothing_defined_cannot_be_executed() -> None:
    """NotImplementedError, and still blank."""
    fd = FusionDefinition()
    with pytest.raises(
        NotImplementedError, match=r"definition\(\) should be implemented by child class!"
    ):
        fd.execute([torch.ones(2)])
    assert fd.id() is None
    with fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    assert torch.equal(fd.execute([torch.ones(2)])[0], -torch.ones(2))


def test_numbers_and_vectors_are_inputs(target: str) -> None:
    """Tensors and numbers in their order, lists flattened; the device where no input tells."""
    with FusionDefinition() as fd:
        s0 = fd.define_scalar(None, DataType.Float)
        size = fd.define_vector(2)
        fd.add_output(fd.ops.full(size, s0, DataType.Float))
    device: Any = None if target == "cpu" else "cuda:0"
    if target == "cuda":
        (out,) = fd.execute([2.5, [3, 4]], device=device)
        assert out.device.type == "cuda"
        assert torch.equal(out.cpu(), torch.full((3, 4), 2.5))


def test_a_device_has_to_be_cuda() -> None:
    """`AssertionError`."""
    fd = negated()
    for device in ("cpu", torch.device("cpu")):
        with pytest.raises(AssertionError, match="If device argument is passed it must be a CUDA"):
            fd.execute([torch.ones(2, 2)], device=device)


def test_a_device_that_inputs_are_not_on() -> None:
    """Contradicting the inputs is an error, before and behind the first run."""
    fd = negated()
    gist = "Inputs are not all on the same device or don't match selection!"
    for _ in range(2):
        with pytest.raises(RuntimeError, match=gist) as error:
            fd.execute([torch.ones(2, 2)], device=0)
        assert "found:    cpu" in str(error.value)
        assert error.value.__cause__ is not None
        assert torch.equal(fd.execute([torch.ones(2, 2)])[0], -torch.ones(2, 2))


def test_debug_output_is_captured(capfd: pytest.CaptureFixture[str]) -> None:
    """Dumps of the call, and None where it did not capture."""
    fd = negated()
    x = torch.ones(2, 3)
    assert fd.debug_output() is None
    fd.execute([x], capture_debug_output=True)
    assert fd.debug_output() == ""
    fd.execute([x])
    assert fd.debug_output() is None
    assert capfd.readouterr().out == ""


def test_options_of_a_call_warn_and_unknown_ones_are_errors() -> None:
    """`_enable_options` and _disable_options."""
    fd = negated()
    x = torch.ones(2, 3)
    with pytest.warns(UserWarning, match="reset the cache"):
        fd.execute([x], _enable_options=["fast_math"])
    with (
        pytest.warns(UserWarning, match="reset the cache"),
        pytest.raises(RuntimeError, match="Unrecognized enable_option: no_such"),
    ):
        fd.execute([x], _enable_options=["no_such"])
    with (
        pytest.warns(UserWarning, match="reset the cache"),
        pytest.raises(RuntimeError, match="Unrecognized disable_option: no_such"),
    ):
        fd.execute([x], _disable_options=["no_such"])
    assert torch.equal(fd.execute([x])[0], -x)


def test_a_profile_is_of_the_last_run_of_the_object(target: str) -> None:
    fd, other = negated(), negated(1)
    x, y = torch.ones(20, 30, device=target), torch.ones(5, device=target)
    assert fd.profiled is False
    with pytest.raises(ValueError, match="not profiled"):
        fd.profile()
    fd.execute([x], profile=True)
    other.execute([y], profile=True)
    assert fd.profiled is True
    profile = fd.profile()
    assert profile.fusion_id == fd.id()
    assert profile.segments == 1
    assert profile.input_bytes == 2400
    assert profile.output_bytes == 2400
    assert profile.percentage_peak_bandwith == profile.percentage_peak_bandwidth
    (kernel,) = profile.kernel_profiles
    assert kernel.scheduler == "pointwise"
    assert other.profile().input_bytes == 20
    fd.execute([x])
    assert fd.profiled is False
    with pytest.raises(ValueError, match="not profiled"):
        fd.profile()


FUSION_FIELDS = """verbose fusion_id segments cuda_evt_time_ms host_time_ms compile_time_ms
kernel_time_ms effective_bandwidth_gbs percentage_peak_bandwith percentage_peak_bandwidth
input_bytes output_bytes kernel_profiles""".split()
KERNEL_FIELDS = """name segment_id device stream correlation_id compile_time_ms time_ms
effective_bandwidth_gbs percentage_peak_bandwidth grid_str block_str cluster_str shared_mem_str
registers input_bytes output_bytes scheduler""".split()


def test_profiles_have_the_documented_fields(target: str) -> None:
    """Fields of both classes."""
    fd = negated()
    fd.execute([torch.ones(20, 30, device=target)], profile=True)
    profile = fd.profile()
    for field in FUSION_FIELDS:
        assert getattr(profile, field) is not None
    (kernel,) = profile.kernel_profiles
    for field in KERNEL_FIELDS:
        assert hasattr(kernel, field)


def test_library_calls_are_profiled_and_views_are_not(target: str, rng: torch.Generator) -> None:
    """One kernel profile per segment, library calls included."""
    with FusionDefinition() as fd:
        t0, t1 = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.exp(fd.ops.matmul(t0, t1)))
    x = torch.randn(4, 4, generator=rng).to(target)
    fd.execute([x, x], profile=True)
    profile = fd.profile()
    assert profile.segments == len(profile.kernel_profiles) == 2
    assert profile.kernel_profiles[0].scheduler == "expr_eval"
    with FusionDefinition() as view:
        view.add_output(view.ops.permute(view.define_tensor([-1, -1]), [1, 0]))
    (out,) = view.execute([x], profile=True)
    assert torch.equal(out, x.t())
    with pytest.raises(ValueError, match="no kernel segments were profiled"):
        view.profile()


def test_texts_are_there_when_they_are(target: str) -> None:
    """Before and behind a run."""
    blank = FusionDefinition()
    for text in (blank.fusion_ir, blank.last_cuda_code, blank.last_scheduled_fusion_ir):
        with pytest.raises(RuntimeError, match="Invalid fusion definition!"):
            text()
    fd = negated()
    x = torch.ones(4, 8, device=target)
    assert "T1_g_float" in fd.fusion_ir()
    never = "Fusion 0 has never been executed via FusionExecutorCache."
    for call in (
        fd.last_cuda_code,
        fd.last_scheduled_fusion_ir,
        lambda: fd.cuda_code_for([x]),
        lambda: fd.scheduled_fusion_ir_for([x]),
    ):
        with pytest.raises(RuntimeError, match=never):
            call()
    fd.execute([x])
    code = fd.last_cuda_code()
    assert "nvfuser_pointwise_f0_c0_r0_g0" in code
    assert fd.cuda_code_for([x]) == code
    whole = fd.last_cuda_code(intrinsic_code=True)
    assert len(whole) > len(code)
    assert fd.cuda_code_for([x], True) == whole
    scheduled = fd.last_scheduled_fusion_ir()
    assert "%kernel {" in scheduled
    assert fd.scheduled_fusion_ir_for([x]) == scheduled
    assert "TransformPrinter" in fd.last_scheduled_fusion_ir(True)
    with pytest.raises(RuntimeError, match="Fusion is not compiled!"):
        fd.cuda_code_for([torch.ones(512, 1024, device=target)])


def test_texts_of_a_run_in_segments(target: str) -> None:
    """Kernels joined by a newline, and the scheduled IR behind the segmented graph."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.exp(fd.ops.sub(y, fd.ops.max(x, [1], keepdim=True))))
    inputs = [torch.ones(2, 32, device=target), torch.ones(2, 128, device=target)]
    fd.execute(inputs)
    assert fd.last_scheduled_fusion_ir() == fd.scheduled_fusion_ir_for(inputs)
    graph, kernels = fd.last_scheduled_fusion_ir().split("} //Segmented_Fusion\n")
    assert graph.startswith("Segmented_Fusion Dump: ")
    assert "TransformPrinter" not in kernels
    assert kernels.count("%kernel {") == 2
    assert fd.last_scheduled_fusion_ir(True).count("TransformPrinter : ") == 2
    code = fd.last_cuda_code()
    first, second = (code.index(f"_f0_c0_r0_g{group}(") for group in (0, 1))
    assert first < second


def test_old_conveniences_print(capsys: pytest.CaptureFixture[str]) -> None:
    """`print`, `print_ir` and `print_math_ir`."""
    fd = negated()
    fd.print()
    assert capsys.readouterr().out == repr(fd) + "\n"
    fd.print_ir()
    assert capsys.readouterr().out == fd.fusion_ir() + "\n"
    fd.print_math_ir()
    assert capsys.readouterr().out == fd.fusion_ir() + "\n"


def test_validate_compares(target: str, rng: torch.Generator) -> None:
    """With references, or with an evaluation."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.sum(fd.ops.exp(t0), [1]))
        fd.add_output(fd.ops.rand_like(t0))
    x = torch.randn(6, 40, generator=rng).to(target)
    outputs = fd.validate([x])
    assert len(outputs) == 2
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.sum(fd.ops.tanh(t0), [1]))
    fd.validate([x], [x.tanh().sum(1)])
    with pytest.raises(AssertionError, match="Max error"):
        fd.validate([x], [x.tanh().sum(1) + 1])
    with pytest.raises(AssertionError, match="reference outputs"):
        fd.validate([x], [])
    ((atol, rtol),) = fd.getValTolerances([x])
    assert 0 < rtol < atol < 1e-3


def test_failures_are_logged_with_a_script_and_raised_unchanged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The logger "nvfuser"."""
    fd = negated()
    for _ in range(2):
        caplog.clear()
        with (
            caplog.at_level(logging.ERROR, "nvfuser"),
            pytest.raises(RuntimeError, match="to be an at::Tensor but got scalar 3"),
        ):
            fd.execute([3.0])
        (record,) = caplog.records
        assert record.name == "nvfuser"
        text = record.getMessage()
        assert text.startswith("An error occurred while executing nvFuser FusionDefinition 0.\n")
        assert "file an issue" in text
        assert "```python\n# CUDA devices:" in text
        assert text.rstrip().endswith("fd.execute(inputs)\n```")
        fd.execute([torch.ones(2, 2)])  # the second time, kernels are there


def test_several_devices_are_refused() -> None:
    """Inputs of one run are on one device."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    with FusionDefinition() as fd:
        a, b = fd.define_tensor([-1]), fd.define_tensor([-1])
        fd.add_output(fd.ops.add(a, b))
    several = "Inputs are not all on the same device or don't match selection!"
    with pytest.raises(RuntimeError, match=several):
        fd.execute([torch.ones(2), torch.ones(2, device="cuda")])

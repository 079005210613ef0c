"""Tensors that come through ``__dlpack__``: NumPy, CuPy, JAX and any other framework."""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition, KernelExecutor


def plus_one(rank: int, dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1] * rank, dtype=dtype)
        fd.add_output(fd.ops.add(t0, 1.0 if dtype == DataType.Float else 1))
    return fd


class Producer:
    """A tensor that is only known by its ``__dlpack__``.

    Parameters
    ----------
    array : object
        Whose memory it hands out.
    accepts : set of str
        The keywords that it understands.
    """

    def __init__(self, array: Any, accepts: set[str]) -> None:
        self.array = array
        self.accepts = accepts
        self.calls: list[dict[str, object]] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return tuple(map(int, self.array.__dlpack_device__()))  # type: ignore[return-value]

    def __dlpack__(self, **options: object) -> object:
        if set(options) - self.accepts:
            raise TypeError(f"unexpected keywords: {set(options) - self.accepts}")
        self.calls.append(options)
        return self.array.__dlpack__(**options)


# ---- Producers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("accepts", [{"stream", "max_version"}, {"stream"}, set()])
def test_producers_of_every_version_are_read(accepts: set[str]) -> None:
    source = Producer(np.arange(4, dtype=np.float32), accepts)
    (out,) = plus_one(1).execute([source])
    assert torch.equal(out, torch.arange(4.0) + 1)
    assert isinstance(out, torch.Tensor)  # there is no framework to give them back to
    asked_for = [call.get("max_version") for call in source.calls]
    versioned = "max_version" in accepts
    assert all((version is not None) == versioned for version in asked_for)
    assert not versioned or asked_for[0][0] == 1
    assert "stream" not in source.calls[0]  # host memory needs none


def test_what_a_producer_hands_out_is_given_back() -> None:
    array = np.arange(4, dtype=np.float32)
    gone = weakref.ref(array)
    for accepts in ({"max_version"}, set()):
        plus_one(1).execute([Producer(array, accepts)])
    del array
    assert gone() is None


def test_errors_of_a_producer_come_through() -> None:
    class Refusing(Producer):
        def __dlpack__(self, **options: object) -> object:
            raise BufferError("not now")

    with pytest.raises(BufferError, match="not now"):
        plus_one(1).execute([Refusing(np.zeros(4, np.float32), set())])


def test_what_is_no_capsule_is_refused() -> None:
    class Strange(Producer):
        def __dlpack__(self, **options: object) -> object:
            return 5

    class Used(Producer):
        def __dlpack__(self, **options: object) -> object:
            capsule = self.array.__dlpack__()
            np.from_dlpack(Given(capsule))
            return capsule

    class Given:
        def __init__(self, capsule: object) -> None:
            self.capsule = capsule

        def __dlpack__(self, **options: object) -> object:
            return self.capsule

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    for kind in (Strange, Used):
        with pytest.raises(RuntimeError, match="`__dlpack__` has to return a new capsule"):
            plus_one(1).execute([kind(np.zeros(4, np.float32), set())])


# ---- NumPy ---------------------------------------------------------------------------------------


def test_numpy_in_numpy_out() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    fd = plus_one(2)
    for inputs in ([x], (x,), iter([x]), [[x]]):
        (out,) = fd.execute(inputs)
        assert isinstance(out, np.ndarray)
        np.testing.assert_array_equal(out, x + 1)
    out += 1  # it is the caller's
    (checked,) = fd.validate([x])
    assert isinstance(checked, np.ndarray)
    fd.validate([x], [x + 1])


def test_hand_scheduled_kernels_take_numpy() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    fd = plus_one(2)
    with fd:
        fd.sched.trivial(fd.fusion)
    (out,) = fd.manual_validate([x])
    assert isinstance(out, np.ndarray)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x])
    np.testing.assert_array_equal(executor.run([x])[0], out)


def test_a_tensor_of_pytorch_decides() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.add(fd.define_tensor([-1]), fd.define_tensor([-1])))
    x = np.ones(4, np.float32)
    for inputs in ([x, torch.ones(4)], [torch.ones(4), x]):
        (out,) = fd.execute(inputs)
        assert isinstance(out, torch.Tensor)
        assert torch.equal(out, torch.full((4,), 2.0))


@pytest.mark.parametrize(
    ("numpy_type", "dtype"),
    [
        (np.bool_, DataType.Bool),
        (np.int8, DataType.Char),
        (np.uint8, DataType.Byte),
        (np.int16, DataType.Short),
        (np.uint16, DataType.UInt16),
        (np.int32, DataType.Int32),
        (np.uint32, DataType.UInt32),
        (np.int64, DataType.Int),
        (np.uint64, DataType.UInt64),
        (np.float16, DataType.Half),
        (np.float32, DataType.Float),
        (np.float64, DataType.Double),
        (np.complex64, DataType.ComplexFloat),
        (np.complex128, DataType.ComplexDouble),
    ],
)
def test_element_types(numpy_type: type, dtype: DataType) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(fd.define_tensor([-1], dtype=dtype)))
    x = np.array([0, 1, 1, 0, 1], dtype=numpy_type)
    (out,) = fd.execute([x])
    assert out.dtype == numpy_type
    np.testing.assert_array_equal(out, x)


def test_element_types_that_numpy_lacks() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.cast(t0, DataType.BFloat16))
    (out,) = fd.execute([np.ones((2, 3), np.float32)])
    assert isinstance(out, nvf.DlpackTensor)
    assert (out.shape, out.dtype) == ([2, 3], DataType.BFloat16)
    for _ in range(2):
        assert torch.equal(torch.from_dlpack(out), torch.ones(2, 3, dtype=torch.bfloat16))


def test_shapes_and_strides() -> None:
    base = np.arange(120, dtype=np.float32)
    for x in (
        base.reshape(10, 12)[::2, ::3],
        base.reshape(10, 12).T,
        np.broadcast_to(base[:1], (3, 4)).copy(),
        base[:0].reshape(0, 5),
        base[:0].reshape(5, 0),
    ):
        (out,) = plus_one(2).execute([x])
        assert out.shape == x.shape
        np.testing.assert_array_equal(out, x + 1)
    (out,) = plus_one(0).execute([np.array(2.5, np.float32)])
    assert out.shape == ()
    assert out == 3.5
    with pytest.raises(RuntimeError, match="negative stride on tensor is not supported"):
        plus_one(1).execute([base[::-1]])


def test_outputs_with_an_order_of_their_own() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    with FusionDefinition() as fd:
        t1 = fd.ops.permute(fd.define_tensor([-1, -1]), [1, 0])
        fd.add_output(t1)
        t1.set_allocation_domain([t1.axis(1), t1.axis(0)], True)
    (out,) = fd.execute([x])
    np.testing.assert_array_equal(out, x.T)
    assert out.strides == (4, 16)


def test_arrays_are_updated_in_place_unless_they_are_read_only() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        t1 = fd.ops.add(t0, 1.0)
        fd.add_output(t1, t0)
        fd.add_output(t1)
    x = np.zeros(4, np.float32)
    (out,) = fd.execute([x])
    assert out is x
    np.testing.assert_array_equal(x, np.ones(4))
    fd.validate([x])
    x.flags.writeable = False
    with pytest.raises(RuntimeError, match="Input 0 is updated in place but is read-only"):
        fd.execute([x])


def test_read_only_arrays_are_read() -> None:
    x = np.ones(4, np.float32)
    x.flags.writeable = False
    np.testing.assert_array_equal(plus_one(1).execute([x])[0], x + 1)


def test_outputs_that_are_inputs_or_equal() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        t1 = fd.ops.neg(t0)
        for output in (t1, t0, t1):
            fd.add_output(output)
    x = np.ones(4, np.float32)
    first, same, again = fd.execute([x])
    assert same is x
    assert again is first


def test_evaluated_fusions_return_arrays_too() -> None:
    code = """
import numpy as np
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    t0 = fd.define_tensor([-1])
    fd.add_output(fd.ops.add(t0, 1.0), t0)
    fd.add_output(fd.ops.mul(t0, 2.0))
x = np.ones(4, np.float32)
(out,) = fd.execute([x])
print(type(out).__module__, out.tolist(), x.tolist())
"""
    environment = {**os.environ, "CXX": "/no/compiler", "PATH": "", "NVFUSER_KERNEL_CACHE": "0"}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert result.stdout == "numpy [2.0, 2.0, 2.0, 2.0] [2.0, 2.0, 2.0, 2.0]\n", result.stderr


def test_numpy_needs_no_pytorch() -> None:
    code = """
import sys
import numpy as np
from nvfuser_direct import FusionDefinition
sys.modules["torch"] = None
with FusionDefinition() as fd:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
print(fd.execute([np.ones(2, np.float32)])[0].tolist())
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "[-1.0, -1.0]\n", result.stderr


def test_repro_scripts_of_numpy_inputs() -> None:
    fd = plus_one(1)
    x = np.ones(4, np.float32)
    fd.execute([x], save_repro_inputs=True)
    line = "torch.testing.make_tensor((4,), dtype=torch.float32, device='cpu'),"
    assert line in fd.repro_script_for([x])
    assert line in fd.last_repro_script()


# ---- Tensors of PyTorch whose memory is not what they show ---------------------------------------


def copied(dtype: DataType) -> FusionDefinition:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(fd.define_tensor([-1], dtype=dtype)))
    return fd


def test_views_that_are_conjugated_when_read() -> None:
    fd = copied(DataType.ComplexFloat)
    x = torch.tensor([1 + 2j, 3 - 4j]).conj()
    with pytest.raises(RuntimeError, match=r"conjugates or negates .* tensor\.resolve_conj\(\)"):
        fd.execute([x])
    assert torch.equal(fd.execute([x.resolve_conj()])[0], x)


@pytest.mark.parametrize("size", [1, 2])
def test_views_that_are_negated_when_read(size: int) -> None:
    fd = copied(DataType.Float)
    x = torch.tensor([1 + 2j, 3 - 4j])[:size].conj().imag
    with pytest.raises(RuntimeError, match=r"conjugates or negates .* tensor\.resolve_neg\(\)"):
        fd.execute([x])
    assert torch.equal(fd.execute([x.resolve_neg()])[0], x)
    other = torch.arange(8.0)[::2][:size]
    assert torch.equal(fd.execute([other])[0], other)


def test_tensors_without_plain_memory() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    fd = copied(DataType.Float)
    for x, text in (
        (torch.ones(3, device="meta"), "only supports cuda or meta device, found: meta"),
        (torch.ones(3).to_sparse(), "Cannot read the memory of a tensor"),
        (torch._to_functional_tensor(torch.ones(3)), "tensor"),
        (FakeTensorMode().from_tensor(torch.ones(3)), "tensor"),
    ):
        with pytest.raises(RuntimeError, match=text) as raised:
            fd.execute([x])
        assert "frame #0" not in str(raised.value)


# ---- What an output exports ----------------------------------------------------------------------


def bfloat16_output() -> Any:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.cast(fd.define_tensor([-1]), DataType.BFloat16))
    return fd.execute([np.ones(4, np.float32)])[0]


def test_exports_follow_the_standard() -> None:
    out = bfloat16_output()
    assert out.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(out.__dlpack__())
    assert '"dltensor"' in repr(out.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(out.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(out.__dlpack__(dl_device=(1, 0), copy=False, stream=None))
    for refused in ({"dl_device": (2, 0)}, {"copy": True}):
        with pytest.raises(BufferError, match="exported in place only"):
            out.__dlpack__(**refused)


def test_exports_that_are_not_taken_are_freed() -> None:
    out = bfloat16_output()
    for _ in range(1000):
        out.__dlpack__()
        out.__dlpack__(max_version=(1, 3))
    del out


# ---- Other frameworks ----------------------------------------------------------------------------


def framework(name: str) -> Any:
    return pytest.importorskip(name, exc_type=ImportError)


def test_jax(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # leave memory to the others
    jax = framework("jax")
    platform = "gpu" if target == "cuda" else "cpu"
    try:
        device = jax.devices(platform)[0]
    except RuntimeError:
        pytest.skip(f"this JAX has no {platform}")
    x = jax.device_put(jax.numpy.arange(12.0).reshape(3, 4), device)
    fd = plus_one(2)
    (out,) = fd.execute([x])
    assert isinstance(out, jax.Array)
    np.testing.assert_array_equal(np.asarray(out), np.asarray(x) + 1)
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.neg(t0), t0)
    with pytest.raises(RuntimeError, match="read-only"):
        fd.execute([x])


@pytest.fixture
def cupy() -> Any:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return framework("cupy")


@pytest.mark.gpu
def test_cupy_in_cupy_out(cupy: Any) -> None:
    x = cupy.arange(12, dtype=cupy.float32).reshape(3, 4)
    fd = plus_one(2)
    (out,) = fd.execute([x])
    assert isinstance(out, cupy.ndarray)
    cupy.testing.assert_array_equal(out, x + 1)
    fd = plus_one(2)
    with fd:
        fd.sched.trivial(fd.fusion)
    (out,) = fd.manual_execute([x[:, ::2]])
    cupy.testing.assert_array_equal(out, x[:, ::2] + 1)
    (out,) = plus_one(2).validate([x])
    assert isinstance(out, cupy.ndarray)


@pytest.mark.gpu
def test_kernels_run_on_the_stream_of_cupy(cupy: Any) -> None:
    """The producer of the input is still running on that stream when the kernel is launched."""
    fd = plus_one(1)
    fd.execute([cupy.zeros(1 << 20, cupy.float32)])
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x = cupy.zeros(1 << 20, cupy.float32)
        big = cupy.ones((4096, 4096), cupy.float32)
        for _ in range(8):
            big = big @ big * 0.0 + 1.0
        x += big[0, 0]
        with nvf.PythonProfiler() as prof:
            (out,) = fd.execute([x])
        x.fill(100)  # after the kernel has read it
        total = out.sum()
    stream.synchronize()
    assert prof.profile.kernel_profiles[0].stream == stream.ptr
    assert float(total) == 2.0 * (1 << 20)


@pytest.mark.gpu
def test_cupy_beside_pytorch(cupy: Any) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.add(fd.define_tensor([-1]), fd.define_tensor([-1])))
    side, other = cupy.cuda.Stream(non_blocking=True), torch.cuda.Stream()
    with side, torch.cuda.stream(other):
        x = cupy.ones(1 << 20, cupy.float32)
        (out,) = fd.execute([x, torch.ones(1 << 20, device="cuda")])
    other.synchronize()
    assert isinstance(out, torch.Tensor)
    assert torch.equal(out, torch.full_like(out, 2.0))


@pytest.mark.gpu
@pytest.mark.parametrize("accepts", [{"stream", "max_version"}, {"stream"}])
def test_device_producers_are_told_the_stream(accepts: set[str], cupy: Any) -> None:
    fd = plus_one(1)
    for stream, expected in ((torch.cuda.default_stream(), 1), (torch.cuda.Stream(), None)):
        source = Producer(cupy.ones(16, cupy.float32), accepts)
        with torch.cuda.stream(stream):
            (out,) = fd.execute([source])
        stream.synchronize()
        assert torch.equal(out, torch.full_like(out, 2.0))
        assert source.calls[0]["stream"] == (expected or stream.cuda_stream)

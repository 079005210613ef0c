"""Only type-checked, never run: a program of the frontend, as ``mypy --strict`` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nvfuser import DataType, FusionCache, FusionDefinition, ParallelType, Scalar, Tensor, Vector

if TYPE_CHECKING:
    import torch
    from typing_extensions import assert_type


def definitions(x: torch.Tensor) -> None:
    with FusionDefinition(max_length=100) as fd:
        assert_type(fd, FusionDefinition)
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        assert_type(t0, Tensor)
        assert_type(fd.define_tensor(3, DataType.Half), Tensor)
        assert_type(fd.define_tensor(symbolic_sizes=[-1], contiguous=[True]), Tensor)
        assert_type(fd.from_pytorch(x), Tensor)
        s0 = fd.define_scalar(2.0)
        assert_type(s0, Scalar)
        assert_type(fd.define_vector([2, s0]), Vector)
        assert_type(fd.ops.add(t0, s0), Tensor)
        assert_type(fd.ops.add(s0, s0), Scalar)
        assert_type(fd.ops.sum(t0, [1]), Tensor)
        assert_type(fd.ops.var_mean(t0, [1]), tuple[Tensor, Tensor])
        assert_type(fd.ops.tensor_sizes(t0), list[Scalar])
        assert_type(t0.shape(), Vector)
        assert_type(t0.size(0), Scalar)
        assert_type(t0 + t0, Tensor)
        assert_type(t0 * s0, Tensor)
        assert_type(s0 / t0, Tensor)
        assert_type(s0 - s0, Scalar)
        assert_type(t0 > s0, Tensor)
        assert_type(s0 <= s0, Scalar)
        assert_type(-t0, Tensor)
        assert_type(abs(s0), Scalar)
        t0 * 2.0  # type: ignore[operator]
        2.0 * s0  # type: ignore[operator]
        fd.ops.add(t0, 1.0)  # type: ignore[call-overload]
        fd.ops.no_such(t0)  # type: ignore[attr-defined]
        fd.add_output(t0, stride_order=[0, 1])
        fd.add_output(t0, t0)
    assert_type(fd.execute([x], profile=True), "list[torch.Tensor]")
    assert_type(fd.id(), "int | None")
    assert_type(fd.profile().segments, int)
    assert_type(fd.last_cuda_code(), str)
    assert_type(FusionCache.get().num_fusions(), int)


class Scheduled(FusionDefinition):
    def definition(self) -> None:
        self.t0 = self.define_tensor([-1])
        self.add_output(self.ops.neg(self.t0))

    def schedule(self) -> None:
        assert_type(self.sched.cache_after(self.t0), Tensor)
        assert_type(self.sched.tensors(), list[Tensor])
        self.sched.parallelize(self.t0, 0, ParallelType.block_x)

"""Steps that tests of every scheduler take with a definition: schedule it for given inputs, run
the kernel, compare with what the evaluator computes in float64, print the schedule and run the text
again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

import nvfuser_direct
from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    evaluate,
    schedule,
    translate_fusion,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import Fusion, HeuristicParams

TOLERANCES = {  # of one rounding to the type, and a few of float's before it
    torch.float64: (1e-12, 1e-12),
    torch.float32: (2e-6, 1e-6),
    torch.float16: (2e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.complex64: (2e-6, 1e-6),
    torch.complex128: (1e-12, 1e-12),
}


def define(
    build: Callable[..., Any], inputs: Sequence[torch.Tensor], **options: Any
) -> FusionDefinition:
    """`build(fd, *tensors)` returns outputs; inputs are declared as the given ones lie."""
    with FusionDefinition() as fd:
        tensors = [
            fd.define_tensor(
                list(x.size()),
                list(x.stride()),
                nvfuser_direct.pytorch_utils.torch_dtype_to_nvfuser_dtype(x.dtype),
                **options,
            )
            for x in inputs
        ]
        outs = build(fd, *tensors)
        for out in outs if isinstance(outs, (tuple, list)) else (outs,):
            fd.add_output(out)
    return fd


def scheduled(
    fd: FusionDefinition,
    scheduler: SchedulerType,
    inputs: Sequence[Any],
    target: str | None = None,
) -> tuple[Fusion, HeuristicParams]:
    """A copy of the definition with the scheduler's schedule."""
    fusion = fd.fusion.clone()
    params = schedule.schedule(fusion, scheduler, inputs, target)
    return fusion, params


def rebuilt(text: str) -> Fusion:
    namespace: dict[str, Any] = dict(vars(nvfuser_direct))
    exec(text, namespace)
    with FusionDefinition() as fd:
        namespace["nvfuser_fusion"](fd)
    return fd.fusion


def check_prints_as_python(fusion: Fusion) -> None:
    """The printed schedule makes the same kernels."""
    text = translate_fusion(fusion, schedule=True)
    again = rebuilt(text)
    for target in ("cuda", "cpu"):
        kernel = fusion.print_kernel(target=target, comments=False)
        assert again.print_kernel(target=target, comments=False) == kernel, text


def between_vectors(x: torch.Tensor) -> torch.Tensor:
    """The same, in memory that begins one element behind a vector: no load of it is one."""
    room = torch.empty(x.numel() + 1, dtype=x.dtype, device=x.device)
    return room[1:].view(x.shape).copy_(x)


def exact(fusion: Fusion, inputs: Sequence[Any]) -> list[torch.Tensor]:
    """The outputs of the evaluator: each operation is rounded to its type."""
    return evaluate(fusion, inputs)


def moved(x: torch.Tensor, target: str) -> torch.Tensor:
    """The same view, of memory on the device: `to` alone writes an expanded tensor out."""
    if 0 not in x.stride():
        return x.to(target)
    once = x[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in x.stride())]
    return once.to(target).expand(x.shape)


def check_runs(
    fd: FusionDefinition,
    scheduler: SchedulerType,
    inputs: Sequence[torch.Tensor],
    target: str,
    expected: Sequence[torch.Tensor] | None = None,
) -> HeuristicParams:
    """Schedule, print, compile, run and compare; the params."""
    here = [moved(x, target) if isinstance(x, torch.Tensor) else x for x in inputs]
    for x, copy in zip(inputs, here, strict=True):
        assert not isinstance(x, torch.Tensor) or x.stride() == copy.stride()
    fusion, params = scheduled(fd, scheduler, here)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    found = executor.run(here, params.lparams, params.cparams)
    wanted = exact(fd.fusion, here) if expected is None else expected
    assert len(found) == len(wanted)
    for own, reference in zip(found, wanted, strict=True):
        check_close(own, reference)
    return params


def check_close(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert found.shape == expected.shape
    rtol, atol = TOLERANCES.get(found.dtype, (0.0, 0.0))
    if not found.dtype.is_floating_point and not found.dtype.is_complex:
        torch.testing.assert_close(found.cpu(), expected.cpu().to(found.dtype), rtol=0, atol=0)
        return
    wide = torch.complex128 if found.dtype.is_complex else torch.float64
    torch.testing.assert_close(
        found.cpu().to(wide), expected.cpu().to(wide), rtol=rtol, atol=atol, equal_nan=True
    )

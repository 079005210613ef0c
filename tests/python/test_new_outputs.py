"""Tensors that runs make: PyTorch's own, with the layout that the definition asks for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[..., FusionDefinition]

TYPES = {
    torch.float32: DataType.Float,
    torch.float64: DataType.Double,
    torch.bfloat16: DataType.BFloat16,
    torch.int64: DataType.Int,
    torch.complex64: DataType.ComplexFloat,
}


def negated(rank: int, dtype: torch.dtype = torch.float32, segments: int = 1) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * rank, contiguity=True, dtype=TYPES[dtype])
        for _ in range(segments - 1):
            x = fd.ops.segment_set(fd.ops.neg(x))
        fd.add_output(fd.ops.cast(fd.ops.neg(x), TYPES[dtype]))
    return fd


def turned(rank: int, segments: int = 1) -> FusionDefinition:
    """Its output lies in memory with the first axis last."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * rank, contiguity=True)
        for _ in range(segments - 1):
            x = fd.ops.segment_set(fd.ops.neg(x))
        y = fd.ops.neg(x)
        first, *others = y.get_logical_domain()
        y.set_allocation_domain([*others, first], True)
        fd.add_output(y)
    return fd


@pytest.mark.parametrize("segments", [1, 3])
@pytest.mark.parametrize("make", [negated, turned])
def test_outputs_are_tensors_that_pytorch_allocated(
    make: Make, segments: int, target: str, rng: torch.Generator
) -> None:
    x = torch.randn(3, 5, 4, generator=rng).to(target)
    (out,) = make(3, segments=segments).execute([x])
    expected = x if segments % 2 == 0 else -x
    assert torch.equal(out, expected)
    assert out.untyped_storage().resizable()
    assert out.untyped_storage().nbytes() == x.numel() * x.element_size()
    assert not out.requires_grad
    assert out.resize_(100, 100).shape == (100, 100)


@pytest.mark.parametrize("segments", [1, 2])
def test_outputs_have_the_strides_that_are_asked_for(
    segments: int, target: str, rng: torch.Generator
) -> None:
    fd = turned(3, segments)
    for sizes in [(2, 3, 4), (2, 3, 4), (3, 4, 2), (1, 3, 1), (5, 1, 2), (0, 2, 3)]:
        x = torch.randn(sizes, generator=rng).to(target)
        (out,) = fd.execute([x])
        assert torch.equal(out, -x if segments == 1 else x)
        if 0 in sizes:
            continue
        wanted = (1, sizes[0] * sizes[2], sizes[0])
        for size, stride, expected in zip(sizes, out.stride(), wanted, strict=True):
            assert size == 1 or stride == expected


@pytest.mark.parametrize("dtype", TYPES)
def test_layouts_that_look_alike_are_not_taken_for_each_other(
    dtype: torch.dtype, target: str
) -> None:
    """Sizes of one rank may be sizes and strides of another."""
    definitions = {rank: negated(rank, dtype) for rank in range(5)}
    for _ in range(2):
        for sizes in [(), (1,), (2, 1), (2, 3), (2, 3, 3, 1), (6,), (6, 1), (3, 2, 2, 1), (2,)]:
            x = torch.arange(torch.Size(sizes).numel(), device=target).reshape(sizes).to(dtype)
            (out,) = definitions[len(sizes)].execute([x])
            assert (out.shape, out.dtype, out.device) == (x.shape, x.dtype, x.device)
            assert torch.equal(out, -x)


def test_more_layouts_than_are_remembered(target: str) -> None:
    fd = negated(1)
    for _ in range(2):
        for size in range(1, 700):
            x = torch.full((size,), float(size), device=target)
            (out,) = fd.execute([x])
            assert out.shape == x.shape
            assert out[-1].item() == -size


def test_an_output_outlives_the_run_and_later_ones(target: str) -> None:
    fd = negated(2, segments=3)
    inputs = [torch.full((64, 64), float(i), device=target) for i in range(50)]
    outputs = [fd.execute([x])[0] for x in inputs]
    for x, out in zip(inputs, outputs, strict=True):
        assert torch.equal(out, -x)


def test_outputs_made_while_inference_is_on(target: str) -> None:
    fd, x = negated(1), torch.ones(4, device=target)
    assert not fd.execute([x])[0].is_inference()
    with torch.inference_mode():
        assert fd.execute([x])[0].is_inference()


def test_a_list_may_change_while_it_is_read() -> None:
    with FusionDefinition() as fd:
        a, b = fd.define_scalar(dtype=DataType.Double), fd.define_scalar(dtype=DataType.Double)
        x = fd.define_tensor([-1])
        fd.add_output(fd.ops.add(fd.ops.mul(x, a), b))
    inputs: list[Any] = []

    class Clearing:
        def __float__(self) -> float:
            inputs.clear()
            return 1.0

    inputs += [Clearing(), 2.0, torch.ones(3)]
    with pytest.raises(UserError, match="less argument"):
        fd.execute(inputs)
    assert torch.equal(fd.execute([1.0, 2.0, torch.ones(3)])[0], torch.full((3,), 3.0))


def test_streams_have_workspaces_of_their_own(target: str) -> None:
    """Threads that run the same segments at once, each on its stream, read nothing of another."""
    fd = negated(2, segments=5)
    inputs = [torch.full((300 + 10 * i, 301), float(i), device=target) for i in range(4)]
    wrong: list[int] = []
    fd.execute([inputs[0]])
    if target == "cuda":
        torch.cuda.synchronize()  # streams of threads do not wait for that of the inputs

    def work(i: int) -> None:
        stream = torch.cuda.Stream() if target == "cuda" else None
        with torch.cuda.stream(stream):
            for x in [inputs[i], inputs[(i + 1) % 4]] * 10:
                (out,) = fd.execute([x])
                if not torch.equal(out, -x):
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

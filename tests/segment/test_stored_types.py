"""The types in which tensors lie in memory between segments."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, UserError, evaluate

LOWER = ["io_to_lower_precision"]
TYPES = {DataType.Half: torch.float16, DataType.BFloat16: torch.bfloat16}
FP4 = DataType.Float4_e2m1fn


def randn(*shape: int, target: str = "cpu", seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(target)


def run(fd: FusionDefinition, inputs: list[torch.Tensor], lowers: bool) -> list[torch.Tensor]:
    return fd.execute(inputs, _enable_options=LOWER if lowers else [])


def types_read(fd: FusionDefinition) -> list[set[str]]:
    """By segment behind the first: the types of the tensors that it reads."""
    pieces = fd.fec.last_pieces()[1:]
    return [{t.dtype().name for t in piece.fusion.inputs()} for piece in pieces]


# -- io_to_lower_precision --


def sum_and_add(fd: FusionDefinition, dtype: DataType, has_float_output: bool = False) -> None:
    """A sum over rows, which another matrix with the same columns meets."""
    x, y = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
    total = fd.ops.sum(x, [0])
    shifted = fd.ops.add(fd.ops.broadcast(total, [True, False]), y)
    fd.add_output(fd.ops.cast(shifted, dtype))
    if has_float_output:
        fd.add_output(fd.ops.sum(fd.ops.mul(shifted, shifted), [1]))


@pytest.mark.parametrize("dtype", list(TYPES), ids=str)
@pytest.mark.parametrize(("rows", "columns"), [(33, 20), (1, 7), (5, 1)])
def test_a_float_between_segments_is_stored_as_the_output(
    target: str, dtype: DataType, rows: int, columns: int
) -> None:
    inputs = [randn(rows, columns, target=target), randn(rows + 3, columns, target=target, seed=1)]
    with FusionDefinition() as fd:
        sum_and_add(fd, dtype)
    (found,) = run(fd, inputs, lowers=True)
    assert found.dtype == TYPES[dtype]
    if rows > 1:
        assert {dtype.name, "Float"} in types_read(fd)
        assert f"lies in memory as {'__half' if dtype == DataType.Half else '__bfloat'}" in (
            fd.fec.explain(inputs)
        )
    stored = inputs[0].double().sum(0).to(TYPES[dtype]).double()
    torch.testing.assert_close(
        found.double(), (stored + inputs[1].double()), rtol=1e-2, atol=1e-2 * rows**0.5
    )


def test_it_stays_a_float_without_the_option(target: str) -> None:
    inputs = [randn(33, 20, target=target), randn(36, 20, target=target, seed=1)]
    with FusionDefinition() as fd:
        sum_and_add(fd, DataType.Half)
    run(fd, inputs, lowers=False)
    assert types_read(fd) == [{"Float"}]
    run(fd, inputs, lowers=True)
    assert types_read(fd) == [{"Half", "Float"}]
    run(fd, inputs, lowers=False)
    assert types_read(fd) == [{"Float"}]


def test_what_leads_to_a_float_output_stays_a_float(target: str) -> None:
    inputs = [randn(33, 20, target=target), randn(36, 20, target=target, seed=1)]
    with FusionDefinition() as fd:
        sum_and_add(fd, DataType.Half, has_float_output=True)
    low, total = run(fd, inputs, lowers=True)
    assert all("Half" not in types for types in types_read(fd))
    exact = inputs[0].double().sum(0) + inputs[1].double()
    torch.testing.assert_close(low.double(), exact, rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(total.double(), (exact * exact).sum(1), rtol=1e-5, atol=1e-4)


def test_an_output_stays_what_it_is(target: str) -> None:
    inputs = [randn(33, 20, target=target), randn(36, 20, target=target, seed=1)]
    with FusionDefinition() as fd:
        x, y = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        total = fd.ops.sum(x, [0])
        fd.add_output(total)
        shifted = fd.ops.add(fd.ops.broadcast(total, [True, False]), y)
        fd.add_output(fd.ops.cast(shifted, DataType.Half))
    total, _ = run(fd, inputs, lowers=True)
    assert total.dtype == torch.float32
    torch.testing.assert_close(total, inputs[0].sum(0), rtol=1e-5, atol=1e-5)


def test_what_a_library_reads_stays_a_float(target: str) -> None:
    inputs = [randn(8, 8, target=target), randn(8, 8, target=target, seed=1)]
    with FusionDefinition() as fd:
        x, y = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.cast(fd.ops.matmul(fd.ops.exp(x), y), DataType.Half))
    run(fd, inputs, lowers=True)
    assert types_read(fd) == [{"Float"}, {"Float"}]


def test_outputs_of_two_lower_types_are_an_error(target: str) -> None:
    inputs = [randn(33, 20, target=target)]
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.cast(x, DataType.Half))
        fd.add_output(fd.ops.cast(x, DataType.BFloat16))
    with pytest.raises(UserError, match="outputs are Half and BFloat16"):
        run(fd, inputs, lowers=True)
    run(fd, inputs, lowers=False)


# -- fp4 --


@pytest.mark.parametrize("shape", [(5, 7), (4, 8), (1, 3), (33, 1), (0, 5)], ids=str)
def test_fp4_crosses_as_fp8(target: str, shape: tuple[int, int]) -> None:
    """It has all numbers of fp4, and a place for each element of an odd number of them."""
    inputs = [randn(*shape, target=target)]
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        low = fd.ops.segment_set(fd.ops.cast(fd.ops.mul(x, 2.0), FP4))
        wide = fd.ops.cast(low, DataType.Float)
        fd.add_output(fd.ops.sum(wide, [0]))
        fd.add_output(fd.ops.sum(wide, [1]))
    found = fd.execute(inputs)
    expected = evaluate(fd.fusion, inputs)
    for own, reference in zip(found, expected, strict=True):
        torch.testing.assert_close(own, reference, rtol=0, atol=0)
    if min(shape) > 1:
        assert len(fd.fec.last_pieces()) == 3
        assert types_read(fd) == [{"Float8_e4m3fn"}, {"Float8_e4m3fn"}]
        assert "lies in memory as __e4m3" in fd.fec.explain(inputs)


def test_views_of_fp4_between_segments(target: str) -> None:
    inputs = [randn(3, 5, target=target)]
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        low = fd.ops.segment_set(fd.ops.cast(x, FP4))
        turned = fd.ops.segment_set(fd.ops.permute(low, [1, 0]))
        fd.add_output(fd.ops.exp(fd.ops.cast(turned, DataType.Float)))
    (found,) = fd.execute(inputs)
    (expected,) = evaluate(fd.fusion, inputs)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=0)


def test_every_number_of_fp4_survives(target: str) -> None:
    numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    x = torch.tensor([numbers + [-n for n in numbers]] * 3).to(target)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1])
        low = fd.ops.segment_set(fd.ops.cast(t, FP4))
        fd.add_output(fd.ops.cast(low, DataType.Float))
    (found,) = fd.execute([x])
    assert torch.equal(found, x)
    assert torch.equal(torch.signbit(found), torch.signbit(x))

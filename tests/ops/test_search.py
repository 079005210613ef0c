"""csrc/ops/search.cpp: topk and argsort."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, IterDomain, Resize, evaluate

D = DataType
TYPES = {
    torch.float32: D.Float,
    torch.float64: D.Double,
    torch.float16: D.Half,
    torch.bfloat16: D.BFloat16,
    torch.int64: D.Int,
    torch.int32: D.Int32,
    torch.bool: D.Bool,
}


def tensor(fd, shape, dtype=D.Float):
    return fd.define_tensor(shape, contiguity=True, dtype=dtype)


def test_topk_resizes_its_dimension(fd, math) -> None:
    values, indices = fd.ops.topk(tensor(fd, [4, 8]), 3)
    assert (values.dtype(), indices.dtype()) == (D.Float, D.Int)
    for out in (values, indices):
        assert [str(s) for s in out.shape()] == ["4", "3"]
        assert out.has_root()
        definition = out.get_logical_domain()[1].definition()
        assert isinstance(definition, Resize)
        assert isinstance(definition.output(0), IterDomain)
    assert math(values, indices) == (
        "( T1_g_float[iS2{4}, iS4{3}rf], T2_g_int64_t[iS5{4}, iS7{3}rf] ) = "
        "topk( T0_g_float[iS0{4}, iS1{8}], 3, dim = 1, largest = True, sorted = False )\n"
    )


def test_all_elements_need_no_resize(fd) -> None:
    values, _ = fd.ops.topk(tensor(fd, [4, 8]), 8)
    assert not values.has_root()


def test_a_symbolic_k(fd) -> None:
    k = fd.define_scalar(None, dtype=D.Int)
    values, _ = fd.ops.topk(tensor(fd, [-1, -1]), k, dim=0)
    assert "__to_index" in str(values.get_logical_domain()[0])


def test_k_must_be_an_int(fd) -> None:
    x = tensor(fd, [4])
    with pytest.raises(RuntimeError, match="TopKOp expects int64_t input for k but got double"):
        fd.ops.topk(x, 2.0)
    with pytest.raises(RuntimeError, match="TopKOp expects int64_t input for k but got int"):
        fd.ops.topk(x, fd.define_scalar(2, dtype=D.Int32))


@pytest.mark.parametrize("k", [-1, 5])
def test_a_constant_k_fits(fd, k) -> None:
    with pytest.raises(RuntimeError, match=f"topk: k = {k} is out of range"):
        fd.ops.topk(tensor(fd, [4]), k)


def test_topk_of_a_zero_dim_tensor(fd) -> None:
    x = tensor(fd, [])
    values, indices = fd.ops.topk(x, 1, dim=-1)
    fd.add_output(values)
    fd.add_output(indices)
    one = torch.tensor(3.0)
    outputs = evaluate(fd.fusion, [one])
    assert outputs[0] == 3
    assert outputs[1] == 0
    assert outputs[1].dtype == torch.int64
    with pytest.raises(RuntimeError, match="dim of a 0-dim tensor must be 0 or -1"):
        fd.ops.topk(x, 1, dim=1)
    with pytest.raises(RuntimeError, match="k of a 0-dim tensor must be 1"):
        fd.ops.topk(x, 2)


def test_argsort_of_a_zero_dim_tensor(fd) -> None:
    fd.add_output(fd.ops.argsort(tensor(fd, []), 0))
    assert evaluate(fd.fusion, [torch.tensor(3.0)])[0].item() == 0


@pytest.mark.parametrize("dim", [0, 1])
def test_equal_elements_have_positions_of_their_own(target, rng, dim) -> None:
    x = torch.randn(4, 1, generator=rng).to(target).expand(4, 5)
    with FusionDefinition() as fd:
        t = fd.define_tensor([4, 5], contiguity=[True, None])
        fd.add_output(fd.ops.argsort(t, dim, stable=True))
    expected = torch.argsort(x, dim=dim, stable=True)
    for outputs in (fd.execute([x]), fd.fusion.evaluate([x])):
        torch.testing.assert_close(outputs[0], expected, rtol=0, atol=0)


@pytest.mark.parametrize("op", ["topk", "argsort"])
def test_dims_and_types_are_checked(fd, op) -> None:
    arguments = (2,) if op == "topk" else ()
    with pytest.raises((RuntimeError, IndexError), match="Tried to access out of boundary index"):
        getattr(fd.ops, op)(tensor(fd, [4]), *arguments, dim=1)
    with pytest.raises(RuntimeError, match=f"{op} is not defined for complex numbers"):
        getattr(fd.ops, op)(tensor(fd, [4], D.ComplexFloat), *arguments, dim=0)


def test_the_text_of_argsort(fd, math) -> None:
    assert math(fd.ops.argsort(tensor(fd, [4, 8]), -1, descending=True)) == (
        "T1_g_int64_t[iS2{4}, iS3{8}] = "
        "argsort( T0_g_float[iS0{4}, iS1{8}], dim = 1, descending = True, stable = False )\n"
    )


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", [t for t in TYPES if t != torch.bool], ids=str)
def test_topk_against_pytorch(target, rng, dtype, largest) -> None:
    x = torch.randperm(3 * 33 * 2, generator=rng).reshape(3, 33, 2).to(dtype).to(target)
    for dim, k in ((0, 1), (1, 33), (1, 5), (2, 0)):
        with FusionDefinition() as fd:
            t = fd.define_tensor([-1, -1, -1], contiguity=True, dtype=TYPES[dtype])
            for out in fd.ops.topk(fd.ops.add(t, 1), k, dim, largest, sorted=True):
                fd.add_output(out)
        values, indices = fd.execute([x])
        source = x + 1 if x.dtype not in (torch.float16, torch.bfloat16) else (x.float() + 1)
        torch.testing.assert_close(values, source.topk(k, dim, largest, sorted=True).values)
        torch.testing.assert_close(values, source.gather(dim, indices))


def test_nan_is_the_largest(target) -> None:
    x = torch.tensor([1.0, float("nan"), float("inf"), -1.0, float("nan")], device=target)
    with FusionDefinition() as fd:
        t = tensor(fd, [-1])
        for largest in (True, False):
            fd.add_output(fd.ops.topk(t, 3, sorted=True, largest=largest)[0])
        fd.add_output(fd.ops.argsort(t, 0, stable=True))
        fd.add_output(fd.ops.argsort(t, 0, descending=True, stable=True))
    largest, smallest, up, down = fd.execute([x])
    nan = float("nan")
    expected = torch.tensor([nan, nan, float("inf")], device=target)
    torch.testing.assert_close(largest, expected, equal_nan=True)
    torch.testing.assert_close(smallest, torch.tensor([-1.0, 1.0, float("inf")], device=target))
    assert up.tolist() == [3, 0, 2, 1, 4]
    assert down.tolist() == [1, 4, 2, 0, 3]


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_stable_argsort_against_pytorch(target, rng, dtype, descending) -> None:
    x = torch.randint(0, 2, (5, 17), generator=rng).to(dtype).to(target)
    for dim in (0, 1):
        with FusionDefinition() as fd:
            t = fd.define_tensor([-1, -1], contiguity=True, dtype=TYPES[dtype])
            fd.add_output(fd.ops.argsort(t, dim, descending, stable=True))
        torch.testing.assert_close(
            fd.execute([x])[0], torch.argsort(x, dim=dim, descending=descending, stable=True)
        )


def test_no_kernel_sorts(fd) -> None:
    fd.add_output(fd.ops.argsort(tensor(fd, [4]), 0))
    with pytest.raises(RuntimeError, match="ArgsortOp has no kernel form"):
        fd.fusion.lower(target="cuda")


def test_results_are_read_by_other_operations(target, rng) -> None:
    x = torch.randn(6, 9, generator=rng).to(target)
    with FusionDefinition() as fd:
        values, indices = fd.ops.topk(tensor(fd, [-1, -1]), 4, sorted=True)
        fd.add_output(fd.ops.sum(fd.ops.mul(values, 2.0), [1]))
        fd.add_output(fd.ops.add(indices, 1))
    expected = x.topk(4, sorted=True)
    outputs = fd.execute([x])
    torch.testing.assert_close(outputs[0], (expected.values * 2).sum(1))
    torch.testing.assert_close(outputs[1], expected.indices + 1)

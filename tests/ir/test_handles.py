"""Handles: one node is one object, keeps its fusion alive, and has its most derived class."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import nvfuser_direct as nvf
from nvfuser_direct import FusionDefinition


def define() -> tuple[FusionDefinition, nvf.TensorView, nvf.TensorView]:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, -1], contiguity=True)
        t1 = fd.ops.sum(fd.ops.add(t0, 1.0), [1])
        fd.add_output(t1)
    return fd, t0, t1


def test_one_node_is_one_object() -> None:
    fd, t0, t1 = define()
    assert fd.fusion.inputs()[0] is t0
    assert fd.fusion.outputs()[0] is t1
    assert t1.definition() is t1.definition()
    assert t1.definition().out is t1
    assert t0.axis(-1) is t0.get_loop_domain()[1]
    assert t0.fusion() is fd.fusion


def test_a_guard_keeps_its_fusion_active_wherever_it_is_destroyed() -> None:
    guards = []

    def work() -> None:
        guards.append(nvf.FusionGuard(nvf.Fusion()))
        guards.append(nvf.FusionGuard(nvf.Fusion()))
        outer = nvf.define_scalar(nvf.DataType.Int).fusion()
        del guards[1]  # the inner one
        assert nvf.define_scalar(nvf.DataType.Int).fusion() is not outer

    fusion = nvf.Fusion()
    guard = nvf.FusionGuard(fusion)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    guards.clear()  # here, after its thread has ended
    assert nvf.define_scalar(nvf.DataType.Int).fusion() is fusion
    del guard
    with pytest.raises(nvf.UserError, match="No fusion is active"):
        nvf.define_scalar(nvf.DataType.Int)


def test_handles_hash_and_compare_by_identity() -> None:
    _, t0, t1 = define()
    assert t0 == t0
    assert t0 != t1
    assert len({t0, t1, t0}) == 2


@pytest.mark.parametrize(
    ("value", "cls"),
    [
        (lambda t: t, "TensorView"),
        (lambda t: t.axis(0), "IterDomain"),
        (lambda t: t.domain(), "TensorDomain"),
        (lambda t: t.axis(1).extent(), "Val"),
        (lambda t: t.definition(), "ReductionOp"),
        (lambda t: t.definition().arg.definition(), "BinaryOp"),
        (lambda t: t.definition().input(0).definition().input(1), "Val"),
    ],
)
def test_a_handle_has_the_most_derived_class(value, cls: str) -> None:
    _, _, t1 = define()
    assert type(value(t1)) is getattr(nvf, cls)


def test_nodes_have_no_constructor() -> None:
    for cls in (nvf.Val, nvf.TensorView, nvf.IterDomain, nvf.BinaryOp, nvf.Expr):
        with pytest.raises(TypeError, match="no constructor defined"):
            cls()


def test_every_expression_has_a_class_with_its_fields() -> None:
    _, _, t1 = define()
    reduction = t1.definition()
    assert reduction.op is nvf.BinaryOpType.Add
    assert reduction.allreduce is False
    assert str(reduction.init) == "float(0)"
    assert reduction.attributes()["op"] == "Add"
    assert list(reduction.attributes()) == ["init", "op", "allreduce", "serial_grid"]
    assert reduction.inputs() == [reduction.arg]


def test_positions_out_of_range_are_index_errors() -> None:
    _, t0, t1 = define()
    for access in (
        lambda: t1.definition().input(1),
        lambda: t1.definition().output(-2),
    ):
        with pytest.raises(IndexError) as error:
            access()
        assert isinstance(error.value, RuntimeError)
    with pytest.raises(
        RuntimeError, match=r"Tried to access out of boundary index 2\. total index: 2"
    ):
        t0.axis(2)


def test_vals_know_where_they_stand() -> None:
    fd, t0, t1 = define()
    assert t0.is_fusion_input()
    assert t1.is_fusion_output()
    assert t0.definition() is None
    assert [type(e) for e in t0.uses()] == [nvf.BinaryOp]
    assert t0.is_symbolic()
    assert t0.is_tensor()
    assert t1.definition().arg.producers() == [t0]
    assert fd.fusion.tensors()[0] is t0


def test_uses_of_a_tensor_lead_to_an_output() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        fd.ops.exp(t0)
        fd.add_output(fd.ops.neg(t0))
    assert [expr.op for expr in t0.uses()] == [nvf.UnaryOpType.Neg]
    assert [expr.op for expr in t0.all_uses()] == [nvf.UnaryOpType.Exp, nvf.UnaryOpType.Neg]


def test_inspection_of_tensors() -> None:
    _, t0, t1 = define()
    assert t0.ndim == 2
    assert t1.ndim == 1
    assert t0.dtype() is nvf.DataType.Float
    assert [str(extent) for extent in t0.shape()] == ["4", "i1"]
    assert t0.size(-1) is t0.axis(1).extent()
    assert t0.get_root_domain() == []
    assert not t0.has_root()
    assert len(t1.get_logical_domain()) == 2
    assert t1.axis(1).is_reduction()


def test_kinds_of_values() -> None:
    fd, t0, _ = define()
    kinds = nvf.ValType
    assert t0.vtype() is kinds.TensorView
    assert t0.axis(0).vtype() is kinds.IterDomain
    assert t0.domain().vtype() is kinds.TensorDomain
    assert t0.size(0).vtype() is kinds.Others is kinds.Scalar
    fd.sched.trivial(fd.fusion)
    vals = fd.fusion.lower().vals()
    assert {kinds.NamedScalar, kinds.TensorIndex} <= {val.vtype() for val in vals}


def test_kinds_of_scalars() -> None:
    with FusionDefinition() as fd:
        zero, one = fd.define_scalar(0), fd.define_scalar(1.0)
        flag, tensor = fd.define_scalar(True), fd.define_tensor([4], dtype=nvf.DataType.Int)
    assert zero.is_integral_scalar()
    assert not tensor.is_integral_scalar()
    assert one.is_floating_point_scalar()
    assert not zero.is_floating_point_scalar()
    assert flag.is_a_bool()
    assert not zero.is_a_bool()
    assert zero.is_zero_int()
    assert one.is_one()
    assert not one.is_one_int()


def test_scalars_that_constants_decide_have_a_value() -> None:
    with FusionDefinition() as fd:
        seven = fd.ops.add(fd.define_scalar(3), fd.define_scalar(4))
        size = fd.define_scalar(nvf.DataType.Int)
        unknown = fd.ops.add(seven, size)
        tensor = fd.define_tensor([4])
    assert seven.is_symbolic()
    assert seven.is_const_scalar()
    assert seven.evaluate() == 7
    for val in (size, unknown, tensor):
        assert not val.is_const_scalar()
        assert val.evaluate() is None


def test_attributes_have_positions() -> None:
    _, _, t1 = define()
    expr = t1.definition()
    assert [expr.attribute(i) for i in range(len(expr.attributes()))] == list(
        expr.attributes().values()
    )
    for index in (-1, len(expr.attributes())):
        with pytest.raises(IndexError, match=f"Attribute index {index} is out of range"):
            expr.attribute(index)


def test_an_axis_stops_at_its_extent() -> None:
    _, t0, _ = define()
    assert t0.axis(1).stop() is t0.axis(1).extent()


def test_an_axis_may_rotate_by_a_device() -> None:
    _, t0, _ = define()
    rotated = nvf.IterDomain.swizzle1d(t0.axis(0), nvf.ParallelType.mesh_x)
    assert rotated.definition().in_ is t0.axis(0)
    assert rotated.definition().parallel_type is nvf.ParallelType.mesh_x
    with pytest.raises(nvf.UserError, match="Swizzle1D only supports device parallel types"):
        nvf.IterDomain.swizzle1d(t0.axis(0), nvf.ParallelType.grid_x)


def test_constants_follow_their_python_type() -> None:
    with FusionDefinition() as fd:
        for value, dtype in [
            (True, nvf.DataType.Bool),
            (3, nvf.DataType.Int),
            (0.5, nvf.DataType.Double),
            (1j, nvf.DataType.ComplexDouble),
        ]:
            constant = fd.define_scalar(value)
            assert constant.dtype() is dtype
            assert constant.value() == value
            assert type(constant.value()) is type(value)
            assert constant.definition() is None
        assert fd.fusion.inputs() == []


def test_a_defined_scalar_is_symbolic_even_if_it_is_an_int() -> None:
    with FusionDefinition() as fd:
        scalar = fd.define_scalar(nvf.DataType.Int)
    assert scalar.is_symbolic()
    assert fd.fusion.inputs() == [scalar]


def test_definitions_accept_any_attribute() -> None:
    fd = FusionDefinition()
    fd.note = "mine"
    assert fd.note == "mine"


def test_ops_is_one_module() -> None:
    import nvfuser_direct.ops as imported

    assert FusionDefinition().ops is nvf.ops is imported
    assert FusionDefinition().sched is nvf.schedule

"""Fusions: interface, equality, clones, foreign nodes, and where statements come from."""

from __future__ import annotations

import inspect

import pytest

from nvfuser_direct import (
    DataType,
    Fusion,
    FusionDefinition,
    FusionGuard,
    UserError,
    define_scalar,
    define_tensor,
    ops,
)


def build(size: int = -1, factor: float = 2.0, op=ops.mul) -> Fusion:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([size, 8], contiguity=True)
        fd.add_output(fd.ops.sum(op(t0, factor), [1]))
    return fd.fusion


# ---- Equality and clones -------------------------------------------------------------------------


def test_equal_definitions_are_equal() -> None:
    assert build() == build()
    assert build().hash() == build().hash()


@pytest.mark.parametrize(
    "other", [build(4), build(factor=3.0), build(op=ops.add), Fusion()], ids=lambda f: str(f)[:1]
)
def test_a_difference_anywhere_makes_fusions_unequal(other: Fusion) -> None:
    assert build() != other


def test_a_position_to_compute_with_is_part_of_the_schedule() -> None:
    def scheduled(position: int) -> Fusion:
        with FusionDefinition() as fd:
            t1 = fd.ops.neg(fd.define_tensor([4, 8]))
            fd.add_output(fd.ops.exp(t1))
            if position > 0:
                t1.compute_with(position)
        return fd.fusion

    assert scheduled(1) == scheduled(1)
    assert scheduled(1).clone() == scheduled(1)
    assert scheduled(1) != scheduled(0)
    assert scheduled(1) != scheduled(2)
    assert scheduled(1).hash() != scheduled(0).hash()


def test_fusions_compare_unequal_to_anything_else() -> None:
    assert build() != 3
    assert (build() == None) is False  # noqa: E711


def test_fusions_are_unhashable() -> None:
    with pytest.raises(TypeError, match=r"unhashable type: '.*Fusion'"):
        hash(build())


def test_a_clone_is_equal_and_independent() -> None:
    fusion = build()
    clone = fusion.clone()
    assert clone == fusion
    assert clone is not fusion
    assert clone.print_math() == fusion.print_math()
    guard = FusionGuard(clone)
    clone.add_output(ops.neg(clone.outputs()[0]))
    del guard
    assert clone != fusion
    assert len(fusion.outputs()) == 1


def test_schedules_count_in_equality() -> None:
    fusion, other = build(), build()
    other.outputs()[0].split(0, 4)
    assert fusion != other


# ---- Interface -----------------------------------------------------------------------------------


def test_inputs_and_outputs_keep_their_order() -> None:
    with FusionDefinition() as fd:
        t0, s0, t1 = fd.define_tensor([4]), fd.define_scalar(), fd.define_tensor([4])
        t2 = fd.ops.add(t0, t1)
        fd.add_output(t2)
        fd.add_output(t2)
    assert fd.fusion.inputs() == [t0, s0, t1]
    assert fd.fusion.outputs() == [t2, t2]


def test_a_constant_is_no_input() -> None:
    with (
        FusionDefinition() as fd,
        pytest.raises(
            RuntimeError,
            match=r"Immediate scalar value cannot be added as an input\. "
            r"It is not necessary to pass it as an input\.",
        ),
    ):
        fd.fusion.add_input(define_scalar(2.0))


def test_an_input_is_registered_once() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        with pytest.raises(RuntimeError, match="is already registered as input, duplicated inputs"):
            fd.fusion.add_input(t0)


def test_a_part_of_a_tensor_is_no_input() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        for part in (t0.axis(0), t0.domain()):
            with pytest.raises(UserError, match="Cannot register input "):
                fd.fusion.add_input(part)
    assert fd.fusion.inputs() == [t0]


def test_a_refused_alias_leaves_the_definition_as_it_was() -> None:
    with FusionDefinition() as fd:
        source = fd.define_tensor([4])
        for target in (fd.define_tensor([4], dtype=DataType.Half), fd.define_tensor([4, 8])):
            with pytest.raises(UserError, match=r"aliased output .* have different "):
                fd.add_output(source, target)
    assert fd.fusion.all_exprs() == []
    assert fd.fusion.outputs() == []


def test_outputs_are_tensors() -> None:
    with FusionDefinition() as fd:
        scalar = fd.define_scalar()
        with pytest.raises(
            RuntimeError, match="Non-TensorView outputs are not supported at this point"
        ):
            fd.add_output(scalar)


def test_an_alias_source_is_an_input_tensor() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        t1 = fd.ops.neg(t0)
        with pytest.raises(RuntimeError, match="alias source can only be a fusion input"):
            fd.add_output(fd.ops.exp(t1), t1)


def test_an_aliased_output_is_hidden_until_it_is_added() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        t1 = fd.ops.neg(t0)
        fd.add_output(t1, t0)
        assert fd.fusion.alias_of(t1) == (t0, True)
        fd.add_output(t1)
        assert fd.fusion.alias_of(t1) == (t0, False)
        assert fd.fusion.alias_of(t0) is None


# ---- Active fusion and foreign nodes -------------------------------------------------------------


def test_operations_need_an_active_fusion() -> None:
    with pytest.raises(UserError, match="No fusion is active"):
        define_tensor([4])


def test_a_guard_restores_the_fusion_before_it() -> None:
    outer, inner = Fusion(), Fusion()
    guard = FusionGuard(outer)
    inner_guard = FusionGuard(inner)
    assert define_tensor([4]).fusion() is inner
    del inner_guard
    assert define_tensor([4]).fusion() is outer
    del guard


def test_guards_may_end_in_any_order() -> None:
    first, second = Fusion(), Fusion()
    first_guard, second_guard = FusionGuard(first), FusionGuard(second)
    del first_guard
    assert define_tensor([4]).fusion() is second
    del second_guard


def test_a_node_of_another_fusion_is_refused() -> None:
    foreign = build().inputs()[0]
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, 8])
        for use in (
            lambda: fd.ops.neg(foreign),
            lambda: fd.ops.add(t0, foreign),
            lambda: fd.ops.sum(foreign, [0]),
            lambda: fd.ops.reshape(foreign, [-1]),
            lambda: fd.ops.add(t0, foreign.axis(0).extent()),
        ):
            with pytest.raises(RuntimeError, match=r"was not found in the active fusion\."):
                use()
        with pytest.raises(RuntimeError, match="Cannot register input"):
            fd.fusion.add_input(foreign)
        with pytest.raises(RuntimeError, match=r"was not found in the active fusion\."):
            fd.add_output(foreign)


def test_operands_of_the_wrong_kind_are_type_errors() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        for use in (
            lambda: fd.ops.add(t0, "2"),
            lambda: fd.ops.add(t0, None),
            lambda: fd.ops.neg(None),
            lambda: fd.ops.neg(t0.axis(0)),
            lambda: fd.ops.sum(t0, "0"),
            lambda: fd.ops.add(a=t0, b=t0),
        ):
            with pytest.raises(TypeError, match="incompatible function arguments"):
                use()
        with pytest.raises(ValueError, match="not compatible with the given data type int64_t"):
            fd.ops.add(t0, 2**70)


# ---- Where statements come from ------------------------------------------------------------------


def test_statements_know_the_line_that_made_them() -> None:
    with FusionDefinition() as fd:
        line = inspect.currentframe().f_lineno + 1
        t0 = fd.define_tensor([4])
        t1 = fd.ops.neg(t0)
    assert t0.location() == (__file__, line)
    assert t1.location()[0] == __file__
    assert line < t1.location()[1] <= line + 3
    assert t1.definition().location() == t1.location()


def test_a_helper_is_the_line_inside_it() -> None:
    def helper(fd: FusionDefinition, x):
        return fd.ops.exp(x)

    with FusionDefinition() as fd:
        t1 = helper(fd, fd.define_tensor([4]))
    assert t1.location()[1] == inspect.getsourcelines(helper)[1] + 1


def test_errors_name_the_line_of_the_node() -> None:
    with FusionDefinition() as fd:
        line = inspect.currentframe().f_lineno + 1
        t0 = fd.define_tensor([4, 8])
        with pytest.raises(UserError) as error:
            t0.split(2, 4)
    assert f"test_fusion.py:{line}" in str(error.value)


def test_define_scalar_rejects_what_does_not_fit() -> None:
    with (
        FusionDefinition() as fd,
        pytest.raises(ValueError, match="Scalar value is not compatible with the given data type"),
    ):
        fd.define_scalar(1 + 2j, DataType.Float)


# ---- Values that are computed alike --------------------------------------------------------------

ALIKE = {
    "reductions of other axes": lambda x: (ops.sum(x, [0]), ops.sum(x, [1])),
    "permutations": lambda x: (ops.permute(x, [1, 0]), ops.set(x)),
    "reshapes": lambda x: (ops.reshape(x, [2, 8]), ops.reshape(x, [8, 2])),
    "splits on other sides": lambda x: (ops.reshape(x, [2, 2, 4]), ops.reshape(x, [4, 2, 2])),
    "broadcasts": lambda x: (
        ops.broadcast(x, [True, False, False]),
        ops.broadcast(x, [False, False, True]),
    ),
    "pads": lambda x: (ops.pad(x, [1, 0, 0, 0]), ops.pad(x, [0, 1, 0, 0])),
    "types": lambda x: (ops.cast(x, DataType.Double), ops.cast(x, DataType.Int)),
    "operands": lambda x: (ops.sub(x, 1.0), ops.sub(1.0, x)),
    "random tensors": lambda x: (ops.rand_like(x), ops.rand_like(x)),
}


@pytest.mark.parametrize("case", ALIKE)
def test_what_is_computed_otherwise_is_not_the_same(case: str) -> None:
    with FusionDefinition() as fd:
        a, b = ALIKE[case](fd.define_tensor([4, 4], contiguity=True))
    for x, y in ((a, b), (b, a)):
        assert not x.same_as(y)
        assert not x.same_definition(y)
        assert not x.definition().same_definition(y.definition())


@pytest.mark.parametrize("case", [name for name in ALIKE if name != "random tensors"])
def test_what_is_computed_alike_is_the_same(case: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 4], contiguity=True)
        for a, b in zip(ALIKE[case](x), ALIKE[case](x), strict=True):
            assert a.same_as(b)
            assert a.same_definition(b)
            assert a.definition().same_definition(b.definition())
            assert a.hash() == b.hash()


def test_only_what_is_computed_has_a_definition_to_compare() -> None:
    with FusionDefinition() as fd:
        x, number, same = fd.define_tensor([4]), fd.define_scalar(3.0), fd.define_scalar(3.0)
        mean, _ = ops.var_mean(x, [0])
        _, other = ops.var_mean(x, [0])
    assert x.same_as(x)
    assert not x.same_definition(x)
    assert number.same_as(same)
    assert not number.same_definition(number)
    assert not mean.same_definition(other)

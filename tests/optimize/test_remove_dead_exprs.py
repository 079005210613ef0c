"""Expressions that lead to no output."""

from __future__ import annotations

from pass_case import after, check_pass, check_unchanged, defined

from nvfuser_direct import FusionDefinition


def test_what_nothing_reads_is_gone() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.ops.sum(fd.ops.exp(x), [0])
        fd.add_output(fd.ops.neg(x))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.neg(x))

    check_pass("remove_dead_exprs", before, expected)


def test_dead_readers_are_no_readers_any_more() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.ops.exp(x)
        fd.add_output(fd.ops.neg(x))

    assert len(defined(definition).all_exprs()) == 2
    fusion = after("remove_dead_exprs", definition)
    assert [type(expr).__name__ for expr in fusion.all_exprs()] == ["UnaryOp"]


def test_scalars_that_sizes_are_made_of_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.reshape(x, [-1]))

    check_unchanged("remove_dead_exprs", definition)


def test_results_that_are_only_written_into_inputs_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.exp(x), x)

    check_unchanged("remove_dead_exprs", definition)

"""One size for axes that are the same."""

from __future__ import annotations

from pass_case import after, check_results, check_unchanged, defined

from nvfuser_direct import FusionDefinition

NAME = "unify_extents"


def test_a_constant_is_the_size_of_all_axes_that_meet_it() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, 3], contiguity=True)
        y = fd.define_tensor([4, -1], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.exp(x), y))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 3], contiguity=True)
        y = fd.define_tensor([4, 3], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.exp(x), y))

    fusion = after(NAME, before)
    assert fusion.print_math() == defined(expected).print_math()


def test_symbols_are_those_of_the_first_input() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.mul(x, y), [1]))

    fusion = after(NAME, definition)
    x, y = fusion.inputs()
    [out] = fusion.outputs()
    assert [size.name() for size in y.shape()] == [size.name() for size in x.shape()]
    assert [id.extent() for id in out.logical()] == x.shape()


def test_sizes_that_are_computed_follow() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, 3], contiguity=True)
        y = fd.define_tensor([4, 3], contiguity=True)
        fd.add_output(fd.ops.reshape(fd.ops.add(x, y), [-1]))

    [out] = after(NAME, before).outputs()
    assert [size.value() for size in out.shape()] == [12]


def test_sizes_of_scalars_that_means_divide_by_follow() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([3, -1], contiguity=True)
        y = fd.define_tensor([3, 5], contiguity=True)
        fd.add_output(fd.ops.mean(fd.ops.add(x, y), [1]))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([3, 5], contiguity=True)
        y = fd.define_tensor([3, 5], contiguity=True)
        fd.add_output(fd.ops.mean(fd.ops.add(x, y), [1]))

    assert after(NAME, before).print_math() == defined(expected).print_math()


def test_broadcasts_keep_their_size() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([3, 1], contiguity=[True, None])
        y = fd.define_tensor([3, 5], contiguity=True)
        fd.add_output(fd.ops.add(x, y))

    check_unchanged(NAME, definition)


def test_contradictions_are_left_to_a_run() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([4], contiguity=True)
        z = fd.define_tensor([5], contiguity=True)
        fd.add_output(fd.ops.add(x, y))
        fd.add_output(fd.ops.add(x, z))

    assert after(NAME, definition).print_math() == defined(definition).print_math()


def test_results_do_not_change() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([3, -1], contiguity=True)
        fd.add_output(fd.ops.add(x, y))

    check_results(defined(definition), after(NAME, definition))

"""Fusions as bytes: nothing is lost, equal fusions have equal bytes, and no bytes crash."""

from __future__ import annotations

import copy
import importlib
import itertools
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import (
    DataType,
    Fusion,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    TensorView,
    UserError,
    concretize,
    equal_up_to_numbering,
    evaluate,
    find_concretization,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TESTS = Path(__file__).resolve().parents[1]
SCHEDULES = TESTS.parent / "examples" / "schedules"
sys.path += [str(SCHEDULES), str(TESTS / "differential"), str(TESTS / "property")]

import harness  # noqa: E402
from operations import OPERATIONS  # noqa: E402
from serialized_programs import mutated, sealed  # noqa: E402

EXAMPLES = sorted(path.stem for path in SCHEDULES.glob("*.py") if path.stem != "harness")

# The head: magic and version, digest of the node table, digest of all else.
VERSION_AT = 4
NODE_TABLE = slice(5, 37)
DIGEST = slice(37, 69)
BODY_AT = 69


def check_round_trip(fusion: Fusion) -> Fusion:
    """Write, read, compare; the fusion that was read."""
    data = fusion.serialize()
    second = Fusion.deserialize(data)
    assert equal_up_to_numbering(fusion, second)
    assert second.serialize() == data
    assert second.digest() == fusion.digest() == data[DIGEST]
    return second


def kernel_text(fusion: Fusion, target: str = "cpu") -> str:
    return fusion.print_kernel(target=target, comments=False)


def pipelined_sums() -> FusionDefinition:
    """Sums of rows: copies, a factored reduction, bindings, positions and a circular buffer."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1024], contiguity=True)
        total = fd.ops.sum(x, [1])
        fd.add_output(total)
        tile = x.cache_after(LoadStoreOpType.cp_async)
        tile.set_memory_type(MemoryType.shared)
        total.split(1, 128)
        partial = total.rfactor([1])
        fd.sched.transform_like(partial)
        partial.axis(0).parallelize(ParallelType.grid_x)
        partial.axis(2).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_at(partial, 2, selected_tensors=[tile])
        fd.sched.inline_most([partial])
        tile.circular_buffer(3, 2)
    return fd


# ---- Round trips ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_scheduled_examples_come_back(name: str) -> None:
    example = importlib.import_module(name)
    for sizes in example.SIZES:
        fd = harness.scheduled(example, sizes)
        second = check_round_trip(fd.fusion)
        assert second.print_transforms().count("\n") == fd.fusion.print_transforms().count("\n")
        for target in ("cpu", "cuda"):
            assert kernel_text(second, target)
        inputs = example.inputs(*sizes, device="cpu")
        executor = nvf.KernelExecutor()
        executor.compile(second, inputs)
        for out, expected in zip(executor.run(inputs), example.reference(inputs), strict=True):
            largest = expected.abs().max().item() if expected.numel() else 0.0
            assert out.shape == expected.shape
            assert torch.all((out.double() - expected).abs() <= example.RTOL * largest)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
@pytest.mark.filterwarnings("ignore")
def test_operations_come_back(name: str) -> None:
    operation = OPERATIONS[name]
    for dtype in operation.dtypes:
        with FusionDefinition() as fd:
            for case in operation.cases_for(dtype):
                case.define(fd)
        check_round_trip(fd.fusion)


@pytest.mark.parametrize(
    "value", [True, 3, -(2**63), 2.5, float("nan"), float("-inf"), -0.0, 1 - 0.5j]
)
def test_constants_come_back(value: complex) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4], contiguity=True, dtype=DataType.ComplexDouble)
        fd.add_output(fd.ops.mul(x, fd.define_scalar(value)))
    second = check_round_trip(fd.fusion)
    constants = [v.value() for v in second.vals() if v.is_const() and not isinstance(v, TensorView)]
    assert repr(value) in [repr(constant) for constant in constants]


def test_schedules_come_back() -> None:
    second = check_round_trip(pipelined_sums().fusion)
    assert any(tensor.memory_type() == MemoryType.shared for tensor in second.tensors())
    stages = [tensor.circular_buffer_options() for tensor in second.tensors()]
    assert [options.stages for options in stages if options is not None] == [3]
    assert max(tensor.compute_at_position() for tensor in second.tensors()) > 0


def test_layouts_come_back() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 3, 8], [True, False, True], stride_order=[0, 2, 1])
        y = fd.ops.stride_order(fd.ops.exp(x), [0, 1, 2])
        fd.add_output(y)
    second = check_round_trip(fd.fusion)
    (read,) = second.inputs()
    assert isinstance(read, TensorView)
    assert read.domain().stride_order() == [0, 2, 1]
    assert read.domain().contiguity() == [True, False, True]


def test_aliases_come_back() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        fd.add_output(fd.ops.add(x, 1.0), x)
        fd.add_output(fd.ops.mul(x, 2.0))
    second = check_round_trip(fd.fusion)
    hidden, shown = second.outputs()
    assert second.alias_of(hidden) == (second.inputs()[0], True)
    assert second.alias_of(shown) is None


def test_dynamic_shapes_come_back() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        sizes = fd.define_vector(2)
        fd.add_output(fd.ops.reshape(x, sizes))
    second = FusionDefinition()
    second.__setstate__({"_fusion": check_round_trip(fd.fusion)})
    data = torch.randn(6, 4)
    (out,) = second.execute([data, 3, 8])
    torch.testing.assert_close(out, data.reshape(3, 8))


def test_sizes_that_a_run_decided_come_back() -> None:
    """The slice leaves one element of these inputs: a broadcast, whatever its size."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.exp(fd.ops.slice(x, [1], [fd.ops.maximum(fd.ops.size(x, 0), 1)])))
    data = torch.randn(2)
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, [data]))
    second = check_round_trip(fusion)
    torch.testing.assert_close(evaluate(second, [data])[0], data[1:].exp())


@pytest.mark.parametrize(
    ("shape", "steps"), [([64], ["merge(0)"]), ([16, 4], ["merge(0)", "split(0, 16)"])], ids=str
)
def test_sizes_that_a_reshape_says_come_back(shape: list[int], steps: list[str]) -> None:
    """Its operand has any size: a launch compares the two."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(x, shape, steps=steps))
    data = torch.randn(8, 8)
    (out,) = evaluate(check_round_trip(fd.fusion), [data])
    torch.testing.assert_close(out, data.reshape(shape), rtol=0, atol=0)


def test_an_open_axis_of_one_element_meets_others() -> None:
    """Whether it is a broadcast is decided with the other sizes of the reshape."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=[True, None])
        y = fd.define_tensor([6, 3], contiguity=True)
        rows = fd.ops.div(fd.ops.size(x, 0), fd.define_scalar(6, dtype=DataType.Index))
        opened = fd.ops.reshape(x, [rows, 6, 1])
        fd.add_output(fd.ops.add(fd.ops.broadcast(y, [True, False, False]), opened))
    check_round_trip(fd.fusion)


def test_loops_that_were_inserted_come_back() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        y = fd.ops.exp(x)
        fd.add_output(fd.ops.neg(y))
        y.broadcast(1, 1)
        y.resize(1, 1, 1)  # made of the axis that was inserted
    check_round_trip(fd.fusion)


def test_a_tensor_may_be_returned_twice() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4], contiguity=True)
        y = fd.ops.exp(x)
        fd.add_output(y)
        fd.add_output(y)
        fd.add_output(x)
    assert len(check_round_trip(fd.fusion).outputs()) == 3


def test_results_that_became_inputs_come_back() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        var, mean = fd.ops.var_mean(x, [1])
        fd.fusion.add_input(mean)
        fd.add_output(fd.ops.add(var, mean))
    check_round_trip(fd.fusion)


def test_an_empty_fusion_comes_back() -> None:
    assert check_round_trip(Fusion()).inputs() == []


def test_long_programs_need_no_deep_recursion() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        for _ in range(5000):
            x = fd.ops.neg(x)
        fd.add_output(x)
    check_round_trip(fd.fusion)


# ---- One form for equal fusions ------------------------------------------------------------------


def chain(fd: FusionDefinition, order: tuple[int, ...], has_dead: bool) -> Fusion:
    """Three independent results, defined in an order that does not matter."""
    with fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        operations: list[Callable[[TensorView], TensorView]] = [
            lambda t: fd.ops.exp(fd.ops.add(t, 2.0)),
            lambda t: fd.ops.sum(fd.ops.mul(t, 2.0), [1], keepdim=True),
            lambda t: fd.ops.cast(t, DataType.Half),
        ]
        made = {}
        for index in order:
            if has_dead:
                fd.ops.tanh(fd.ops.mul(x, float(index)))
            made[index] = operations[index](x)
        for index in range(len(operations)):
            fd.add_output(made[index])
    return fd.fusion


def test_the_order_of_creation_does_not_show() -> None:
    fusions = [
        chain(FusionDefinition(), order, has_dead)
        for order in itertools.permutations(range(3))
        for has_dead in (False, True)
    ]
    assert len({fusion.serialize() for fusion in fusions}) == 1
    assert len({fusion.digest() for fusion in fusions}) == 1
    assert all(equal_up_to_numbering(fusion, fusions[0]) for fusion in fusions)


def test_the_order_of_scheduling_does_not_show() -> None:
    def fusion(order: list[int]) -> Fusion:
        with FusionDefinition() as fd:
            x = fd.define_tensor([64, 64], contiguity=True)
            fd.add_output(fd.ops.exp(fd.ops.neg(x)))
            for index in order:
                tensor = fd.fusion.tensors()[index]
                tensor.split(0, 4)
                tensor.split(-1, 8)
        return fd.fusion

    assert fusion([0, 1, 2]).serialize() == fusion([2, 0, 1]).serialize()


def test_random_streams_count_by_their_order() -> None:
    def fusion(has_dead: bool, is_swapped: bool = False) -> Fusion:
        with FusionDefinition() as fd:
            low, high = fd.define_scalar(0.0), fd.define_scalar(1.0)

            def draw() -> TensorView:
                return fd.ops.uniform(low, high, shape=[8], dtype=DataType.Float)

            if has_dead:
                draw()
            first, second = draw(), draw()
            fd.add_output(fd.ops.neg(second if is_swapped else first))
            fd.add_output(first if is_swapped else second)
        return fd.fusion

    assert fusion(has_dead=False).serialize() == fusion(has_dead=True).serialize()
    assert fusion(has_dead=False).digest() != fusion(has_dead=False, is_swapped=True).digest()
    check_round_trip(fusion(has_dead=True))


def test_sizes_may_be_one_object_or_several() -> None:
    def fusion(is_shared: bool) -> Fusion:
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, 4], contiguity=True)
            rows = fd.ops.mul(x.size(0), 2)
            again = rows if is_shared else fd.ops.mul(x.size(0), 2)
            one = fd.ops.full([rows, 4], 1.0, DataType.Float)
            two = fd.ops.full([again, 4], 1.0, DataType.Float)
            fd.add_output(fd.ops.add(one, two))
            fd.add_output(fd.ops.neg(x))
        return fd.fusion

    assert equal_up_to_numbering(fusion(True), fusion(False))
    assert fusion(True).serialize() == fusion(False).serialize()


def changed() -> dict[str, Callable[[FusionDefinition, TensorView, TensorView], object]]:
    """Edits of a fusion that make it another one."""
    return {
        "nothing": lambda fd, x, y: None,
        "output": lambda fd, x, y: fd.add_output(x),
        "alias": lambda fd, x, y: fd.add_output(fd.ops.neg(y), x),
        "split": lambda fd, x, y: y.split(0, 4),
        "outer split": lambda fd, x, y: y.split(0, 4, False),
        "other factor": lambda fd, x, y: y.split(0, 8),
        "merge": lambda fd, x, y: y.merge(0, 1),
        "reorder": lambda fd, x, y: y.reorder({0: 1}),
        "binding": lambda fd, x, y: y.axis(0).parallelize(ParallelType.grid_x),
        "other binding": lambda fd, x, y: y.axis(0).parallelize(ParallelType.block_x),
        "memory": lambda fd, x, y: y.set_memory_type(MemoryType.shared),
        "position": lambda fd, x, y: y.inline_at(1),
        "layout": lambda fd, x, y: y.set_allocation_domain(y.get_logical_domain()[::-1], True),
        "contiguity": lambda fd, x, y: y.set_contiguity(False),
        "cache": lambda fd, x, y: y.cache_after(),
        "swizzle": lambda fd, x, y: y.swizzle(0, 1),
    }


def test_every_edit_changes_the_digest() -> None:
    digests = {}
    for name, edit in changed().items():
        with FusionDefinition() as fd:
            x = fd.define_tensor([64, 64], contiguity=True)
            y = fd.ops.exp(x)
            fd.add_output(fd.ops.neg(y))
            edit(fd, x, y)
        check_round_trip(fd.fusion)
        digests[name] = fd.fusion.digest()
    assert len(set(digests.values())) == len(digests)


def test_digests_are_those_of_other_processes() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_serialize import pipelined_sums\n"
        "print(pipelined_sums().fusion.digest().hex())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n\n\n" + program, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == pipelined_sums().fusion.digest().hex()
    assert len(pipelined_sums().fusion.digest()) == 32


# ---- Copies --------------------------------------------------------------------------------------


def test_fusions_can_be_pickled() -> None:
    fusion = pipelined_sums().fusion
    second = pickle.loads(pickle.dumps(fusion))
    assert type(second) is Fusion
    assert equal_up_to_numbering(fusion, second)


@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy])
def test_copies_of_fusions_keep_names(make_copy: Callable[[Fusion], Fusion]) -> None:
    fusion = pipelined_sums().fusion
    second = make_copy(fusion)
    assert second == fusion
    assert second.print_math() == fusion.print_math()
    second.tensors()[0].split(0, 4)
    assert second != fusion


@pytest.mark.parametrize(
    "make_copy", [copy.copy, copy.deepcopy, lambda fd: pickle.loads(pickle.dumps(fd))]
)
@pytest.mark.parametrize("was_run", [False, True])
def test_definitions_can_be_copied(
    make_copy: Callable[[FusionDefinition], FusionDefinition], was_run: bool
) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        fd.add_output(fd.ops.relu(x))
    data = torch.randn(3, 8)
    if was_run:
        fd.execute([data])
    second = make_copy(fd)
    with second:  # it was not run
        second.add_output(second.ops.neg(second.fusion.outputs()[0]))
    relu, negative = second.execute([data])
    torch.testing.assert_close(relu, data.relu())
    torch.testing.assert_close(negative, -data.relu())
    assert len(fd.fusion.outputs()) == 1


def test_a_definition_without_a_fusion_can_be_copied() -> None:
    assert repr(copy.deepcopy(FusionDefinition())) == "FusionDefinition()"


def test_kernels_are_not_serialized() -> None:
    kernel = pipelined_sums().fusion.lower(target="cpu")
    for call in (kernel.serialize, kernel.digest, lambda: pickle.dumps(kernel)):
        with pytest.raises(UserError, match="a kernel cannot be serialized"):
            call()


# ---- Bytes from anywhere -------------------------------------------------------------------------


def test_what_was_never_a_fusion_is_refused() -> None:
    for data in (b"", b"\x80\x05", b"NVF", b"ELF" + bytes(200)):
        with pytest.raises(nvf.UserValueError, match=r"no serialized fusion|cut off"):
            Fusion.deserialize(data)
    with pytest.raises(TypeError):
        Fusion.deserialize("NVFB")  # type: ignore[arg-type]


def test_another_version_is_refused() -> None:
    data = bytearray(pipelined_sums().fusion.serialize())
    data[VERSION_AT] += 1
    with pytest.raises(nvf.UserValueError, match=r"another format(.|\n)*version 1(.|\n)*version 2"):
        Fusion.deserialize(bytes(data))


def test_a_build_with_other_nodes_is_refused() -> None:
    data = bytearray(pipelined_sums().fusion.serialize())
    data[NODE_TABLE.start] ^= 1
    with pytest.raises(nvf.UserValueError, match="a build with other nodes"):
        Fusion.deserialize(sealed(bytes(data)))


def test_the_digest_is_sha256_of_all_else() -> None:
    data = pipelined_sums().fusion.serialize()
    assert sealed(data) == data


def test_every_cut_is_refused() -> None:
    data = pipelined_sums().fusion.serialize()
    for size in range(len(data)):
        with pytest.raises(nvf.UserValueError, match="deserialize: "):
            Fusion.deserialize(data[:size])
        if size > BODY_AT:
            with pytest.raises(nvf.UserValueError, match=r"says? no fusion"):
                Fusion.deserialize(sealed(data[:size]))
    for more in (data + b"\0", sealed(data + b"\0")):
        with pytest.raises(nvf.UserValueError, match=r"damaged|left behind"):
            Fusion.deserialize(more)


def test_every_flipped_bit_is_damage() -> None:
    data = pipelined_sums().fusion.serialize()
    for position in range(0, 8 * len(data), 7):
        damaged = bytearray(data)
        damaged[position // 8] ^= 1 << (position % 8)
        with pytest.raises(nvf.UserValueError, match="deserialize: "):
            Fusion.deserialize(bytes(damaged))


def combinations() -> Fusion:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        fd.add_output(fd.ops.sum(x, [1]))
        fd.add_output(fd.ops.cumsum(x, 1))
        fd.add_output(fd.ops.welford(x, [1])[0])
    return fd.fusion


def test_elements_are_combined_in_their_own_type() -> None:
    """A sum of floats is no integer, whatever the bytes say."""
    data = combinations().serialize()
    others = [int(dtype.value) for dtype in (DataType.UInt64, DataType.Int, DataType.Bool)]
    refused = 0
    for position in range(BODY_AT, len(data)):
        if data[position] != int(DataType.Float.value):
            continue
        for other in others:
            changed = data[:position] + bytes([other]) + data[position + 1 :]
            try:
                second = Fusion.deserialize(sealed(changed))
            except nvf.UserValueError as error:
                refused += "combined in another type" in str(error)
                continue
            outputs = [cast("TensorView", output) for output in second.outputs()]
            dtypes = {outputs[0].dtype, outputs[1].dtype}
            assert dtypes == {tensor.dtype for tensor in second.inputs()}
    assert refused >= len(others)


@pytest.mark.parametrize("name", EXAMPLES)
def test_mutated_statements_are_refused_or_say_another_fusion(name: str) -> None:
    example = importlib.import_module(name)
    data = harness.scheduled(example, example.SIZES[0]).fusion.serialize()
    rng = random.Random(name)
    read = 0
    for _ in range(300):
        changed_data = mutated(data, rng)
        try:
            second = Fusion.deserialize(changed_data)
        except nvf.UserValueError as error:
            assert str(error).startswith("deserialize: ")
            continue
        read += 1
        assert second.serialize() == changed_data
    assert read < 300

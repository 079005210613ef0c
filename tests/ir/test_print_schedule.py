"""The documented text of scheduled tensors and domain expressions."""

from __future__ import annotations

import pytest

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    IterDomain,
    MemoryType,
    ParallelType,
    SwizzleType,
    TensorView,
)


def chain() -> tuple[FusionDefinition, TensorView, TensorView]:
    """T0 -> T1 -> T2, one symbolic axis each."""
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        t1 = fd.ops.exp(t0)
        t2 = fd.ops.neg(t1)
        fd.add_output(t2)
    return fd, t1, t2


def axis_text(parallel_type: ParallelType, size: int = 4) -> str:
    with FusionDefinition() as fd:
        t1 = fd.ops.set(fd.define_tensor([size]))
        t1.axis(0).parallelize(parallel_type)
    return str(t1.axis(0))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("mesh_x", "deviceIdx.x"),
        ("mesh_y", "deviceIdx.y"),
        ("mesh_z", "deviceIdx.z"),
        ("grid_x", "blockIdx.x"),
        ("grid_y", "blockIdx.y"),
        ("grid_z", "blockIdx.z"),
        ("block_x", "threadIdx.x"),
        ("block_y", "threadIdx.y"),
        ("block_z", "threadIdx.z"),
        ("stream", "streamIdx"),
        ("serial", "S"),
        ("vectorize", "V"),
        ("unroll", "UR"),
        ("unswitch", "US"),
        ("tma", "B"),
        ("mma", "MMA"),
        ("group", "G"),
    ],
)
def test_parallel_types_in_axes(name: str, word: str) -> None:
    assert axis_text(getattr(ParallelType, name)) == f"i{word}1{{4}}"


def test_split_axes_have_inline_extents() -> None:
    _, t1, _ = chain()
    t1.split(0, 4)
    assert [str(axis) for axis in t1.get_loop_domain()] == [
        f"iS{t1.axis(0).name()}{{( ceilDiv(i0, 4) )}}",
        f"iS{t1.axis(1).name()}{{4}}",
    ]
    assert str(t1.domain()) == f"[{t1.axis(0)}, {t1.axis(1)}]"


def test_tensor_suffixes() -> None:
    fd, t1, t2 = chain()
    with fd:
        t2.split(0, 128)
        fd.sched.transform_like(t2)
        t2.axis(0).parallelize(ParallelType.grid_x)
        t2.axis(1).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(t2)
        fd.sched.inline_most()
    assert str(t1).startswith("T1_l_float[iblockIdx.x")
    assert str(t1).endswith("{128}] ca_pos( 2 )")
    assert str(t2).startswith("T2_g_float[iblockIdx.x")
    assert str(t2).endswith("{128}] produce_pos( 2 )")


@pytest.mark.parametrize(
    ("memory_type", "word"), [("shared", "s"), ("local", "l"), ("global", "g")]
)
def test_memory_words(memory_type: str, word: str) -> None:
    _, t1, _ = chain()
    t1.set_memory_type(getattr(MemoryType, memory_type))
    assert str(t1).startswith(f"T1_{word}_float[")


def test_split_text() -> None:
    _, t1, _ = chain()
    axis = t1.axis(0)
    t1.split(0, 4)
    outer, inner = t1.get_loop_domain()
    assert str(inner.definition()) == f"Split: {axis} by factor 4 -> {outer}, {inner}\n"
    assert outer.definition() is inner.definition()
    assert outer.definition().outer() is outer
    assert outer.definition().inner() is inner


def test_outer_split_text() -> None:
    _, t1, _ = chain()
    axis = t1.axis(0)
    t1.outer_split(0, 4)
    outer, inner = t1.get_loop_domain()
    assert str(inner.definition()) == f"Outer split: {axis} by factor 4 -> {outer}, {inner}\n"


def test_merge_text() -> None:
    with FusionDefinition() as fd:
        t1 = fd.ops.set(fd.define_tensor([4, -1]))
    outer, inner = t1.get_loop_domain()
    t1.merge(0, 1)
    (out,) = t1.get_loop_domain()
    assert str(out.definition()) == f"Merge: {outer} and {inner} -> {out}\n"
    assert out.definition().outer() is outer
    assert str(out) == f"iS{out.name()}{{( i1 * 4 )}}"


@pytest.mark.parametrize(
    ("swizzle_type", "word"),
    [(SwizzleType.XOR, "Xor"), (SwizzleType.CyclicShift, "CyclicShift")],
)
def test_swizzle_text(swizzle_type: SwizzleType, word: str) -> None:
    with FusionDefinition() as fd:
        t1 = fd.ops.set(fd.define_tensor([8, 8]))
    x, y = t1.get_loop_domain()
    t1.swizzle(swizzle_type, 0, 1)
    out_x, out_y = t1.get_loop_domain()
    assert str(out_x.definition()) == f"{word}(2D): {x} , {y} -> {out_x} , {out_y}\n"


def test_reshaped_axes_are_marked() -> None:
    with FusionDefinition() as fd:
        t1 = fd.ops.reshape(fd.define_tensor([4, 8]), [32])
    assert t1.has_root()
    (axis,) = t1.get_logical_domain()
    assert str(axis).endswith("{32}rf")
    assert axis.is_rfactor_product()


def test_padded_axes_are_marked() -> None:
    with FusionDefinition() as fd:
        t1 = fd.ops.set(fd.define_tensor([20]))
    t1.axis(0).parallelize(ParallelType.block_x)
    t1.axis(0).pad_to_multiple_of_warp()
    assert str(t1.axis(0)) == "ithreadIdx.x1{20}_p"


def test_transform_blocks() -> None:
    fd, _, t2 = chain()
    t2.split(0, 128)
    logical = t2.get_logical_domain()[0]
    outer, inner = t2.get_loop_domain()
    assert (
        f"{t2}\n"
        f"  logical domain: ({logical})\n"
        "  contiguity: t\n"
        f"    Split: {logical} by factor 128 -> {outer}, {inner}\n"
        f"  loop domain: ({outer}, {inner})\n"
    ) in fd.fusion.print_transforms()


def test_transforms_of_the_allocation_alone_stand_before_it() -> None:
    fd, t1, _ = chain()
    t1.split(0, 32)
    outer, inner = t1.get_loop_domain()
    padded = IterDomain.resize(inner, 0, 1)
    t1.set_allocation_domain([outer, padded], True)
    assert (
        f"  logical domain: ({t1.get_logical_domain()[0]})\n"
        f"    Resize: {inner} by 0 and 1 -> {padded}\n"
        f"  allocation domain: ({outer}, {padded})\n"
        "  contiguity: t t\n"
        f"    Split: {t1.get_logical_domain()[0]} by factor 32 -> {outer}, {inner}\n"
        f"  loop domain: ({outer}, {inner})\n"
    ) in fd.fusion.print_transforms()


def test_transforms_of_loops_that_are_no_part_of_the_shape_are_printed() -> None:
    fd, t1, _ = chain()
    t1.broadcast(0, 8)
    repeated = t1.axis(0)
    t1.split(0, 4)
    step = f"    Split: {repeated} by factor 4 -> {t1.axis(0)}, {t1.axis(1)}\n"
    assert step in fd.fusion.print_transforms()


def test_scheduled_text_ends_without_a_space() -> None:
    fd, t1, t2 = chain()
    text = (
        "Inputs:\n  T0_g_float[iS0{i0}]\nOutputs:\n"
        f"  {t2}\n\n%kernel {{\n{t1.definition()}{t2.definition()}"
    )
    assert fd.fusion.print_scheduled() == text + "} // %kernel\n"
    transforms = "\n" + fd.fusion.print_transforms()
    with_transforms = fd.fusion.print_scheduled(tensor_transforms=True)
    assert with_transforms == text + transforms + "} // %kernel\n"


def test_contiguity_letters() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, 1, 5], contiguity=[False, None, True])
        fd.add_output(fd.ops.set(t0))
    assert "  contiguity: f n t\n" in fd.fusion.print_transforms()


@pytest.mark.parametrize(
    ("source", "target", "word"),
    [
        (DataType.Half, DataType.Float, "__half2float"),
        (DataType.Float, DataType.BFloat16, "__float2bfloat"),
        (DataType.Int, DataType.Half, "__int2half"),
        (DataType.Half, DataType.Int32, "__half2int32"),
        (DataType.Half, DataType.Int, "__half2int"),
        (DataType.Half, DataType.Index, "__half2index"),
        (DataType.BFloat16, DataType.Half, "__bfloat2half"),
        (DataType.Float8_e4m3fn, DataType.Float, "__e4m32float"),
        (DataType.ComplexFloat, DataType.Half, "__real_then_2half"),
        (DataType.Float, DataType.Double, "__to_double"),
        (DataType.Int, DataType.Bool, "__to_bool"),
        (DataType.Double, DataType.Int32, "__to_int32"),
        (DataType.Double, DataType.ComplexFloat, "__to_complex_float"),
        (DataType.ComplexDouble, DataType.Float, "__real_then_to_float"),
    ],
)
@pytest.mark.filterwarnings("ignore:Casting a complex")
def test_cast_names(source: DataType, target: DataType, word: str) -> None:
    with FusionDefinition() as fd:
        definition = fd.ops.cast(fd.define_tensor([4], dtype=source), target).definition()
    assert f"   = {word}(T0" in str(definition)


def test_illegal_casts_are_refused() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4], dtype=DataType.Float8_e4m3fn)
        with pytest.raises(RuntimeError, match="Illegal Cast value from  DataType: __e4m3 to"):
            fd.ops.cast(t0, DataType.Int)

"""build_loop_nests: loops, storage and statements on elements take the place of expressions."""

from __future__ import annotations

from pass_text import BX, TX, bound, check_pass

from nvfuser_direct import FusionDefinition, MemoryType

NAME = "build_loop_nests"


def chain(*sizes: int) -> FusionDefinition:
    """y = neg(exp(x))"""
    with FusionDefinition() as fd:
        x = fd.define_tensor(list(sizes), contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.exp(x)))
    return fd


def test_a_tensor_has_a_loop_for_each_of_its_axes() -> None:
    check_pass(
        chain(4, 8),
        NAME,
        """
        T0_g_float[iS0{4}, iS1{8}]
        Outputs:
        T2_g_float[iS4{4}, iS5{8}]
        %kernel {
        T1_l_float[iS2{4}, iS3{8}]
        = expf(T0_g_float[iS0{4}, iS1{8}]);
        T2_g_float[iS4{4}, iS5{8}]
        = -T1_l_float[iS2{4}, iS3{8}];
        """,
        """
        T1_l: 32
        FOR k0 in 4:
          FOR k1 in 8:
            T1_l[((k0 * 8) + k1)] = expf(T0_g[((k0 * 8) + k1)]);
        FOR k2 in 4:
          FOR k3 in 8:
            T2_g[((k2 * 8) + k3)] = -T1_l[((k2 * 8) + k3)];
        """,
        storage=True,
    )


def test_tensors_that_are_inlined_share_a_loop_and_need_no_more_storage_than_is_left() -> None:
    fd = chain(4, 8)
    with fd:
        fd.fusion.outputs()[0].definition().arg.inline_at(1)
    check_pass(
        fd,
        NAME,
        """
        T0_g_float[iS0{4}, iS1{8}]
        Outputs:
        T2_g_float[iS4{4}, iS5{8}] produce_pos(1)
        %kernel {
        T1_l_float[iS2{4}, iS3{8}] ca_pos(1)
        = expf(T0_g_float[iS0{4}, iS1{8}]);
        T2_g_float[iS4{4}, iS5{8}] produce_pos(1)
        = -T1_l_float[iS2{4}, iS3{8}] ca_pos(1);
        """,
        """
        FOR k0 in 4:
          T1_l: 8
          FOR k1 in 8:
            T1_l[k1] = expf(T0_g[((k0 * 8) + k1)]);
          FOR k2 in 8:
            T2_g[((k0 * 8) + k2)] = -T1_l[k2];
        """,
        storage=True,
    )


def test_axes_that_are_bound_to_hardware_become_indices() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 128)
        bound(fd, y, BX, TX)
    check_pass(
        fd,
        NAME,
        """
        T0_g_float[iS4{(ceilDiv(i0, 128))}, iS5{128}]
        Outputs:
        T1_g_float[bx2{(ceilDiv(i0, 128))}, tx3{128}]
        %kernel {
        T1_g_float[bx2{(ceilDiv(i0, 128))}, tx3{128}]
        = -T0_g_float[iS4{(ceilDiv(i0, 128))}, iS5{128}];
        """,
        """
        T1_g[((bx * 128) + tx)] = -T0_g[((bx * 128) + tx)];
        """,
    )


def test_a_reduction_starts_from_its_initial_value_before_the_first_reduced_loop() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.sum(x, [1])))
        fd.sched.inline_most()
    check_pass(
        fd,
        NAME,
        """
        T0_g_float[iS0{4}, iS1{8}]
        Outputs:
        T2_g_float[iS4{4}] produce_pos(1)
        %kernel {
        T1_l_float[iS2{4}, rS3{8}] ca_pos(1)
        = reduction(T0_g_float[iS0{4}, iS1{8}], op = add)
        T2_g_float[iS4{4}] produce_pos(1)
        = -T1_l_float[iS2{4}, rS3{8}] ca_pos(1);
        """,
        """
        FOR k0 in 4:
          T1_l: 1
          T1_l[0] = Set(float(0))
          FOR k1 in 8:
            T1_l[0] = T1_l[0] + T0_g[((k0 * 8) + k1)];
          T2_g[k0] = -T1_l[0];
        """,
        storage=True,
    )


def test_strides_of_inputs_that_are_not_contiguous_are_read_from_the_launch() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.neg(x))
    check_pass(
        fd,
        NAME,
        """
        T0_g_float[iS0{i0}, iS1{i1}]
        Outputs:
        T1_g_float[iS2{i0}, iS3{i1}]
        %kernel {
        T1_g_float[iS2{i0}, iS3{i1}]
        = -T0_g_float[iS0{i0}, iS1{i1}];
        """,
        """
        FOR k0 in i0:
          FOR k1 in i1:
            T1_g[((k0 * i1) + k1)] = -T0_g[((k0 * T0.alloc_stride[0]) + (k1 * T0.alloc_stride[1]))];
        """,
    )


def test_a_tensor_in_shared_memory_has_room_for_what_all_threads_hold() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 64], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.neg(copy)
        fd.add_output(y)
        copy.set_memory_type(MemoryType.shared)
        bound(fd, y, BX, TX)
        copy.inline_at(1)
    check_pass(
        fd,
        NAME,
        """
        T0_g_float[iS0{4}, iS1{64}]
        Outputs:
        T2_g_float[bx4{4}, tx5{64}] produce_pos(2)
        %kernel {
        T1_s_float[bx2{4}, tx3{64}] ca_pos(2)
        = Set(T0_g_float[iS0{4}, iS1{64}])
        T2_g_float[bx4{4}, tx5{64}] produce_pos(2)
        = -T1_s_float[bx2{4}, tx3{64}] ca_pos(2);
        """,
        """
        T1_s: 64
        T1_s[tx] = Set(T0_g[((bx * 64) + tx)])
        T2_g[((bx * 64) + tx)] = -T1_s[tx];
        """,
        storage=True,
    )

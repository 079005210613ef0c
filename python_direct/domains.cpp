// Axes and the domains of tensors: what they are, and making axes from others.
#include "ir/all_nodes.h"

#include "all_or_nothing.h"
#include "bindings.h"
#include "field_methods.h"

namespace nvfuser::python {
namespace {

/// Numbers become constants of the axis' fusion.
Val* size_on(const IterDomain* id, const ScalarArg& size) {
  const std::optional<int64_t> number = size.integer();
  return number ? id->fusion()->new_index(*number) : size.require();
}

void bind_iter_domain(nb::module_& m) {
  nb::class_<IterDomain, Val> cls(
      m, "IterDomain", "One axis of an iteration space: its range, how it runs, what it is for.");
  def_field_methods<IterDomainSpec>(cls, &IterDomain::spec);
  cls.def(
         "stop", &IterDomain::stop,
         "End of the indices that run: the extent, without the stop offset.")
      .def("has_expanded_extent", &IterDomain::has_expanded_extent, "Whether it is expanded.")
      .def(
          "maybe_expanded_extent", &IterDomain::maybe_expanded_extent,
          "The expanded extent if there is one, else the extent.")
      .def("is_iteration", &IterDomain::is_iteration, "Whether the iteration type is Iteration.")
      .def("is_reduction", &IterDomain::is_reduction, "Whether the iteration type is Reduction.")
      .def("is_broadcast", &IterDomain::is_broadcast, "Whether the iteration type is Broadcast.")
      .def(
          "is_implicit_broadcast", &IterDomain::is_implicit_broadcast,
          "Whether it is a broadcast that no size was expanded to.")
      .def("is_stride", &IterDomain::is_stride, "Whether the iteration type is Stride.")
      .def(
          "is_gather_scatter", &IterDomain::is_gather_scatter,
          "Whether the iteration type is GatherScatter.")
      .def(
          "is_vector_component", &IterDomain::is_vector_component,
          "Whether the iteration type is VectorComponent.")
      .def(
          "is_symbolic_axis", &IterDomain::is_symbolic_axis,
          "Whether the iteration type is Symbolic: decided when sizes are known.")
      .def("is_parallelized", &IterDomain::is_parallelized, "Whether it is bound to anything.")
      .def("is_grid_dim", &IterDomain::is_grid_dim, "Whether it is bound to a grid index.")
      .def("is_block_dim", &IterDomain::is_block_dim, "Whether it is bound to a thread index.")
      .def("is_thread", &IterDomain::is_thread, "Whether it is bound to a hardware index.")
      .def("is_device_dim", &IterDomain::is_device_dim, "Whether it is bound to a device index.")
      .def("is_stream", &IterDomain::is_stream, "Whether it is bound to streams.")
      .def("is_mma", &IterDomain::is_mma, "Whether it is an axis of a tensor-core instruction.")
      .def("is_bulk", &IterDomain::is_bulk, "Whether it is an axis of a bulk copy.")
      .def(
          "maybe_partial", &IterDomain::maybe_partial,
          "Whether fewer indices run than the extent says.")
      .def(
          "parallelize", &IterDomain::parallelize, "parallel_type"_a,
          R"(Bind the axis.

Parameters
----------
parallel_type : ParallelType
    What to bind it to. ``unroll``, ``unswitch``, ``vectorize`` and ``group`` need start 0 and a
    constant extent.
)")
      .def(
          "pad_to_multiple_of_warp", &IterDomain::pad_to_multiple_of_warp, "size"_a = nb::none(),
          R"(Round the launched size of a ``block_x`` axis up.

Parameters
----------
size : int, optional
    Threads to launch; a whole number of warps if not given.
)")
      .def(
          "set_clustered_blocks", &IterDomain::set_clustered_blocks,
          "Let the blocks of a ``grid_x`` axis form clusters.")
      .def_static(
          "split", all_or_nothing([](IterDomain* id, const ScalarArg& factor, bool inner_split) {
            const Transaction transaction(id->fusion());
            return split_id(id, size_on(id, factor), inner_split);
          }),
          "id"_a, "factor"_a, "inner_split"_a = true,
          R"(Two axes that together are one.

Parameters
----------
id : IterDomain
    The axis; it stays as it is.
factor : int or Val
    Extent of one of the new axes (elements).
inner_split : bool
    Whether `factor` is the inner extent; the other is ``ceilDiv(extent, factor)``.

Returns
-------
tuple[IterDomain, IterDomain]
    Outer and inner axis.
)")
      .def_static(
          "merge",
          [](IterDomain* outer, IterDomain* inner) {
            const Transaction transaction(outer->fusion());
            return merge_ids(outer, inner);
          },
          "outer"_a, "inner"_a, "The product of two axes; both or neither are reductions.")
      .def_static(
          "swizzle", &swizzle_ids, "swizzle_type"_a, "x"_a, "y"_a,
          "Both axes of a square after a permutation of its positions.")
      .def_static(
          "swizzle1d", &swizzle1d_id, "id"_a, "parallel_type"_a,
          R"(An axis rotated by the index of a device dimension.

Parameters
----------
id : IterDomain
    The axis; it stays as it is.
parallel_type : ParallelType
    The dimension: ``mesh_x``, ``mesh_y`` or ``mesh_z``.

Returns
-------
IterDomain
    The rotated axis.
)")
      .def_static(
          "resize",
          all_or_nothing([](IterDomain* id, const ScalarArg& left, const ScalarArg& right,
                            std::optional<IterType> iter_type) {
            const Transaction transaction(id->fusion());
            return resize_id(
                id, size_on(id, left), size_on(id, right), iter_type, /*is_rfactor=*/false);
          }),
          "id"_a, "left"_a, "right"_a, "iter_type"_a = nb::none(),
          R"(An axis with elements added, or with negative numbers removed, at both ends.

Parameters
----------
id : IterDomain
    The axis; it is returned if nothing is added.
left, right : int or Val
    Elements before the first and after the last.
iter_type : IterType, optional
    Of the result; from its extent if not given.
)");
}

void bind_tensor_domain(nb::module_& m) {
  nb::class_<TensorDomain, Val> cls(m, "TensorDomain", "The domains of a tensor.");
  def_field_methods<TensorDomainSpec>(cls, &TensorDomain::spec);
  cls.def("maybe_root", &TensorDomain::maybe_root, "The root domain if there is one, else logical.")
      .def(
          "maybe_allocation", &TensorDomain::maybe_allocation,
          "The allocation domain if there is one, else logical.")
      .def("has_root", &TensorDomain::has_root, "Whether there is a separate root domain.")
      .def("has_allocation", &TensorDomain::has_allocation, "Whether an allocation domain is set.")
      .def("ndims", &TensorDomain::ndims, "Number of loop axes.")
      .def(
          "has_reduction", &TensorDomain::has_reduction, "Whether the loop domain has a reduction.")
      .def(
          "has_broadcast", &TensorDomain::has_broadcast, "Whether the loop domain has a broadcast.")
      .def(
          "has_block_reduction", &TensorDomain::has_block_reduction,
          "Whether a thread axis is a reduction.")
      .def(
          "has_grid_reduction", &TensorDomain::has_grid_reduction,
          "Whether a grid axis is a reduction.")
      .def(
          "has_cluster_reduction", &TensorDomain::has_cluster_reduction,
          "Whether a clustered grid axis is a reduction.")
      .def(
          "has_block_broadcast", &TensorDomain::has_block_broadcast,
          "Whether a thread axis is a broadcast.")
      .def(
          "has_grid_broadcast", &TensorDomain::has_grid_broadcast,
          "Whether a grid axis is a broadcast.")
      .def("has_vectorize", &TensorDomain::has_vectorize, "Whether a loop axis is vectorized.")
      .def(
          "has_symbolic_axis", &TensorDomain::has_symbolic_axis,
          "Whether a logical axis is yet to be decided.")
      .def(
          "has_view_like_rfactor", &TensorDomain::has_view_like_rfactor,
          "Whether the logical domain is made from the root domain without reducing.")
      .def(
          "reduction_axis", &TensorDomain::reduction_axis,
          "Position of the first reduction in the loop domain; None if there is none.")
      .def(
          "axis", &TensorDomain::axis, "index"_a,
          "An axis of the loop domain; negative positions count from the end.")
      .def("pos_of", &TensorDomain::pos_of, "id"_a, "Position of an axis in the loop domain.")
      .def("root_pos_of", &TensorDomain::root_pos_of, "id"_a, "Position in the root domain.")
      .def("is_root", &TensorDomain::is_root, "id"_a, "Whether an axis is in the root domain.")
      .def("is_logical", &TensorDomain::is_logical, "id"_a, "Whether it is in the logical domain.")
      .def(
          "is_allocation", &TensorDomain::is_allocation, "id"_a,
          "Whether it is in the allocation domain.")
      .def("is_loop", &TensorDomain::is_loop, "id"_a, "Whether it is in the loop domain.")
      .def(
          "stride_order", &TensorDomain::stride_order,
          "Per logical axis the rank of its stride, 0 the fastest; empty without an allocation "
          "domain.")
      .def("all_ids", &TensorDomain::all_ids, "Every axis of the tensor, in creation order.")
      .def(
          "all_exprs", &TensorDomain::all_exprs,
          "Every transform between the domains, operands before results.")
      .def_static(
          "no_reductions", &TensorDomain::no_reductions, "ids"_a, "`ids` without reductions.")
      .def_static(
          "no_broadcasts", &TensorDomain::no_broadcasts, "ids"_a, "`ids` without broadcasts.")
      .def_static("no_devices", &TensorDomain::no_devices, "ids"_a, "`ids` without device axes.")
      .def_static(
          "contiguity_filled_with", &TensorDomain::contiguity_filled_with, "ids"_a, "flag"_a,
          "`flag` for every axis that has a stride, None for the others.");
  m.def(
      "exprs_between", &exprs_between, "from_ids"_a, "to_ids"_a,
      R"(The transforms on the paths between axes of one tensor.

Parameters
----------
from_ids, to_ids : list[IterDomain]
    Ends of the paths. Walking back from `to_ids` stops at `from_ids` and at axes without
    definition.

Returns
-------
list[Expr]
    Operands before results.
)");
}

} // namespace

void bind_domains(nb::module_& m) {
  bind_iter_domain(m);
  bind_tensor_domain(m);
}

} // namespace nvfuser::python

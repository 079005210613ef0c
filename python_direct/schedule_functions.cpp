// Scheduling: functions of the submodule `schedule`, each of several tensors or of a fusion.
#include <nanobind/stl/set.h>
#include <nanobind/stl/unordered_map.h>

#include "bindings.h"
#include "schedule/trivial.h"
#include "transform/circular_buffer.h"
#include "transform/group_reductions.h"
#include "transform/inline.h"
#include "transform/parallelize_like.h"
#include "transform/propagate.h"

namespace nvfuser::python {
namespace {

void bind_propagation(nb::module_& m) {
  m.def(
      "bounded_transform_backward", &transform::bounded_transform_backward, nb::arg("from"),
      "pos"_a, "to"_a, "propagate_parallel_type"_a = false,
      nb::sig(
          "def bounded_transform_backward(from_: nvfuser_direct._core.TensorView, pos: int, "
          "to: collections.abc.Sequence[nvfuser_direct._core.TensorView], "
          "propagate_parallel_type: bool = False) -> None"),
      R"(Replay leading loop axes on the tensors between `to`, upstream, and `from`.

Parameters
----------
from : TensorView
    The tensor whose transforms are replayed. The name is a reserved word: pass it by position.
pos : int
    How many of its axes; -1 is all.
to : list[TensorView]
    Where to stop; these are left as they are.
propagate_parallel_type : bool
    Whether mapped axes also take the parallel types.
)");
  m.def(
      "bounded_transform_forward", &transform::bounded_transform_forward, nb::arg("from"), "pos"_a,
      "to"_a, "propagate_parallel_type"_a = false,
      nb::sig(
          "def bounded_transform_forward(from_: nvfuser_direct._core.TensorView, pos: int, "
          "to: collections.abc.Sequence[nvfuser_direct._core.TensorView], "
          "propagate_parallel_type: bool = False) -> None"),
      "As `bounded_transform_backward`, downstream.");
  m.def(
      "bounded_transform_both", &transform::bounded_transform_both, nb::arg("from"), "pos"_a,
      "backward_to"_a, "forward_to"_a, "propagate_parallel_type"_a = false,
      nb::sig(
          "def bounded_transform_both(from_: nvfuser_direct._core.TensorView, pos: int, "
          "backward_to: collections.abc.Sequence[nvfuser_direct._core.TensorView], "
          "forward_to: collections.abc.Sequence[nvfuser_direct._core.TensorView], "
          "propagate_parallel_type: bool = False) -> None"),
      R"(`bounded_transform_backward` to `backward_to` and `bounded_transform_forward` to `forward_to`.

An empty list bounds nothing in its direction.
)");
  m.def(
      "transform_like", &transform::transform_like, "reference_tv"_a,
      "selected_tensors"_a = std::vector<TensorView*>{},
      R"(Replay the loop transforms of a tensor on all that can be reached from it.

Parameters
----------
reference_tv : TensorView
    The tensor whose transforms are replayed.
selected_tensors : list[TensorView]
    Change only these; all if empty.
)");
}

void bind_inlining(nb::module_& m) {
  m.def(
      "inline_most",
      [](const std::vector<TensorView*>& selected) { transform::inline_most(selected); },
      "selected_tensors"_a = std::vector<TensorView*>{},
      R"(Compute every tensor as deep inside the loops of its consumers as is legal.

Parameters
----------
selected_tensors : list[TensorView]
    Change only these; all if empty.
)");
  m.def(
      "inline_at", &transform::inline_at, "reference_tv"_a, "pos"_a = -1, "best_effort"_a = false,
      "selected_tensors"_a = std::vector<TensorView*>{},
      R"(Inline tensors at the position that corresponds to one of the reference.

Parameters
----------
reference_tv : TensorView
    The tensor that `pos` counts the axes of.
pos : int
    Number of loop axes to share; negative values count from the end, -1 is all.
best_effort : bool
    Stop at the deepest legal position instead of raising an error.
selected_tensors : list[TensorView]
    Change only these; all if empty.
)");
  m.def(
      "max_inline_position", &transform::max_inline_position, "tensor"_a,
      "The deepest position at which a tensor and its siblings may be inlined.");
  m.def("reset_inlining", &transform::reset_inlining, "fusion"_a, "Undo all inlining.");
}

void bind_parallelization(nb::module_& m) {
  m.def(
      "parallelize_like", &transform::parallelize_like, "reference_tv"_a, "pos"_a = -1,
      "selected_tensors"_a = std::vector<TensorView*>{},
      "selected_parallel_types"_a = std::set<ParallelType>{}, "propagate_padding"_a = true,
      R"(Copy the parallel types of a tensor's axes to the axes that correspond.

Parameters
----------
reference_tv : TensorView
    The tensor whose types are copied.
pos : int
    How many of its loop axes; -1 is all.
selected_tensors : list[TensorView]
    Change only these; all if empty.
selected_parallel_types : set[ParallelType]
    Copy only these; all if empty.
propagate_padding : bool
    Whether to copy the padding to whole warps as well.
)");
}

void bind_groups(nb::module_& m) {
  m.def(
      "group_reductions", &transform::group_reductions, "tvs"_a,
      R"(Let reductions of one shape run as one, so that they share their barriers.

Parameters
----------
tvs : list[TensorView]
    Results of reductions with the same axes, transforms and parallel types, none of which depends
    on another. Operations, dtypes and identities may differ. The results of the
    `GroupedReductionOp` have the same order.

Raises
------
UserError
    If a tensor is not the result of a reduction, if the reductions are not alike, or if tensors are
    inlined where a tensor that depends on the group is inlined as well.
)");
}

void bind_trivial(nb::module_& m) {
  m.def(
      "warp_specialize", &transform::warp_specialize, "tv"_a, "number_of_stages"_a,
      "prefetch_distance"_a, "parallel_type"_a, "num_registers"_a = nb::none(),
      R"(Let a group of threads do nothing but load a circular buffer.

The group is launched besides the threads that compute, in front of them along `parallel_type`; one
of its threads begins bulk copies. Stages have barriers in shared memory, at which the group waits
until a stage may be overwritten, and all others until it has arrived. Barriers of the block and
reductions count the threads that compute. Where one thread of the host runs all of them, a load
runs `prefetch_distance` iterations before its reads.

Parameters
----------
tv : TensorView
    A copy with ``LoadStoreOpType.tma``, inlined into the serial loop that it is loaded ahead of.
number_of_stages : int
    At least 2.
prefetch_distance : int
    Iterations between a load and its read, less than `number_of_stages`; a negative one counts from
    `number_of_stages`.
parallel_type : ParallelType
    Dimension of the block: the slowest one that is bound, or one that is slower. Faster ones have
    constant sizes.
num_registers : tuple[int, int], optional
    Registers of a loading thread, and of a thread that computes; multiples of 8 between 24 and 256.
    Needs a block of constant size that is a multiple of 128.

Raises
------
UserError
    ``Unsupported stage number``, ``Invalid prefetch distance``, ``The number of registers for
    setmaxnreg must be between ..``, ``The number of registers for async warp group must be <= ..``;
    or as `TensorView.circular_buffer`.
)");
  m.def(
      "trivial", &schedule::trivial, "fusion"_a,
      R"(Schedule a fusion so that it runs as one kernel, on any target and for any sizes.

Parameters
----------
fusion : Fusion
    Is scheduled in place.
)");
  m.def(
      "try_trivial", &schedule::try_trivial, "fusion"_a,
      R"(As `trivial`; what that would raise is returned.

Returns
-------
Refusal or None
    Why there is no such schedule, with the fusion scheduled in part; None: it has one.
)");
}

} // namespace

void bind_schedule_functions(nb::module_& schedule) {
  bind_propagation(schedule);
  bind_parallelization(schedule);
  bind_inlining(schedule);
  bind_groups(schedule);
  bind_trivial(schedule);
}

} // namespace nvfuser::python

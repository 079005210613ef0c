// Circular buffers: how a tensor is loaded ahead of the loop that reads it.
#include "ir/circular_buffer.h"

#include "bindings.h"
#include "field_methods.h"
#include "ir/all_nodes.h"

namespace nvfuser::python {
namespace {

void bind_circular_buffer_types(nb::module_& m) {
  bind_record<Pipelined>(m, "Pipelined", "The threads that compute also load ahead.")
      .def(
          nb::new_([](bool uses_mbarrier_for_war) { return Pipelined{uses_mbarrier_for_war}; }),
          "uses_mbarrier_for_war"_a = false);
  bind_record<WarpSpecialized>(m, "WarpSpecialized", "A group of threads of its own loads.")
      .def(
          nb::new_([](ParallelType on, std::optional<std::pair<int64_t, int64_t>> num_registers,
                      std::optional<int64_t> stage_slice_position) {
            return WarpSpecialized{on, num_registers, stage_slice_position};
          }),
          "on"_a, "num_registers"_a = nb::none(), "stage_slice_position"_a = nb::none());
  bind_record<CircularBuffering>(
      m, "CircularBuffering",
      "Iteration i of a loop reads stage ``i % stages``, and loads for iteration ``i + "
      "prefetch``.");
}

} // namespace

void bind_circular_buffer(nb::module_& m) {
  bind_circular_buffer_types(m);
  nb::borrow<nb::class_<TensorView>>(m.attr("TensorView"))
      .def(
          "circular_buffer", &TensorView::circular_buffer, "number_of_stages"_a,
          "prefetch_distance"_a = -1, "type"_a = Pipelined{},
          R"(Load this copy ahead of the loop that reads it.

The loop is the innermost serial one left of the compute-at position. The storage has a stage for
each iteration that is under way: iteration i reads stage ``i % number_of_stages`` while the one for
iteration ``i + prefetch_distance`` is loaded. Copies with ``LoadStoreOpType.cp_async`` are under way
while their threads compute. Stages of a tensor in registers stay there only if the loop has a
constant extent: a compiler cannot address registers by a number that it does not know.

Parameters
----------
number_of_stages : int
    At least 2.
prefetch_distance : int
    Iterations between a load and its read, less than `number_of_stages`; a negative one counts from
    `number_of_stages`.
type : Pipelined or WarpSpecialized
    Which threads load. ``Pipelined(uses_mbarrier_for_war=True)`` and ``WarpSpecialized`` are for
    bulk copies: readers hand stages back at barriers in shared memory, and no barrier of the block
    stands in the loop. For ``WarpSpecialized`` see `schedule.warp_specialize`.

Raises
------
UserError
    ``Unsupported stage number``, ``Invalid prefetch distance``; or if this is no copy, there is no
    such loop, or the producer is computed inside of it.
NotImplementedError
    If `type` has a ``stage_slice_position``.
)");
}

} // namespace nvfuser::python

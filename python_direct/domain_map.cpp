// Which axis of a producer is which of its consumer, and the expressions of a fusion in order.
#include "graph/domain_map.h"

#include "bindings.h"
#include "graph/pair_graph.h"
#include "ir/fusion.h"
#include "ir/topo_sort.h"

namespace nvfuser::python {

void bind_domain_map(nb::module_& m) {
  nb::class_<PairwiseDomainMap>(
      m, "PairwiseDomainMap",
      "Which logical axis of a producer is which root axis of its consumer. A snapshot.")
      .def(
          "__init__",
          [](PairwiseDomainMap* self, const TensorView* producer, const TensorView* consumer,
             bool keep_broadcasts) {
            new (self) PairwiseDomainMap(
                producer, consumer, keep_broadcasts ? BroadcastPairs::Keep : BroadcastPairs::Drop);
          },
          "producer"_a, "consumer"_a, "keep_broadcasts"_a = true, nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(),
          R"(Pair the axes of two tensors.

Parameters
----------
producer : TensorView
    An operand of the definition of `consumer`.
consumer : TensorView
    Its result.
keep_broadcasts : bool
    Whether a broadcast and the larger axis that it meets are a pair.
)")
      .def(
          "pairs", &PairwiseDomainMap::pairs,
          "(axis of the producer, axis of the consumer), in the order of the consumer.")
      .def(
          "consumer_of", &PairwiseDomainMap::consumer_of, "producer_axis"_a,
          "The partner of an axis of the producer; None if it has none.")
      .def(
          "producer_of", &PairwiseDomainMap::producer_of, "consumer_axis"_a,
          "The partner of an axis of the consumer; None if it has none.")
      .def(
          "producer_only", &PairwiseDomainMap::producer_only,
          "Axes that the consumer lacks: reduced, squeezed, or addressed by another operand.")
      .def(
          "consumer_only", &PairwiseDomainMap::consumer_only,
          "Axes that the producer lacks: new broadcasts, and positions of a gather.");
  m.def(
      "indexed_axes", &indexed_axes, "producer"_a, "consumer"_a,
      "Axes of a producer that the elements of another operand address.");
  m.def(
      "tensor_inputs", &tensor_inputs, "expr"_a,
      "The tensors among the operands of an expression, each once.");
  m.def("tensor_outputs", &tensor_outputs, "expr"_a, "The tensors among its results.");
  m.def(
      "tensor_exprs", &tensor_exprs, "fusion"_a,
      "Expressions on tensors that lead to an output, operands before results.");
  m.def(
      "scheduled_tensors", &scheduled_tensors, "fusion"_a,
      "The tensors that these read and write, and the inputs, in the order they were made.");
  m.def("topo_sort", &topo_sort, "exprs"_a, "Expressions in an order of operands before results.");
}

} // namespace nvfuser::python

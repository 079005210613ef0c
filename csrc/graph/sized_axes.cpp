#include "graph/sized_axes.h"

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "ir/all_nodes.h"
#include "ir/fusion.h"

namespace nvfuser {

IterDomains sized_axes(const TensorView* tensor) {
  IterDomains axes = tensor->root();
  axes.insert(axes.end(), tensor->logical().begin(), tensor->logical().end());
  for (const Expr* transform : tensor->domain()->all_exprs()) {
    if (const auto* resize = transform->as<Resize>()) {
      axes.push_back(resize->out);
    }
  }
  return axes;
}

ValGraph exact_graph_of_sized_axes(const Fusion& fusion) {
  ValGraph graph;
  for (const TensorView* tensor : scheduled_tensors(fusion)) {
    const IterDomains axes = sized_axes(tensor);
    graph.add_one_of_many(axes, exprs_between(tensor->maybe_root(), axes));
  }
  map_exactly(graph, fusion);
  graph.tidy();
  return graph;
}

} // namespace nvfuser

// IdModel: the equivalence graphs of a fusion, one per meaning of "the same axis".
//
//   exact         the same axis of an operand and a result (op_semantics.h), unless a broadcast is
//                 resolved; results of one expression that have the same axes
//   almost_exact  exact, and axes related by a split by 1 or a merge with a provable 1
//   broadcast     exact, and a broadcast with the axis it is resolved to; then provable ones as for
//                 almost_exact, where a broadcast that is resolved is no provable 1 any more
//   permissive    broadcast, and merges that are skipped by a neighbor that lacks an axis of size 1
//   loop          loop axes that one generated loop drives: left of a compute-at position with the
//                 consumer's axes, and the axes of siblings. Not closed over transforms
//   permissive_resize  permissive across resizes
//   innermost     permissive, and a merge's output with its inner input
//
// Graphs are built when first asked for. They describe the fusion at that time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/refusal.h"
#include "graph/val_graph.h"
#include "ir/fwd.h"

namespace nvfuser {

/// Two axes of one domain of one tensor in one group: the graph cannot tell which index goes where.
struct SelfMapping {
  TensorView* tensor = nullptr;
  IterDomain* first = nullptr;
  IterDomain* second = nullptr;
  const char* domain = ""; // "root", "logical", "allocation" or "loop"

  [[nodiscard]] std::string to_string() const;
};

/// The first self mapping of a tensor; empty if it has none. Axes that one loop drives in the loop
/// graph, and axes that correspond in any other.
[[nodiscard]] std::optional<SelfMapping> find_self_mapping(
    const ValGraph& graph, TensorView* tensor);
/// The first of all tensors, in creation order.
[[nodiscard]] std::optional<SelfMapping> find_self_mapping(
    const ValGraph& graph, const Fusion& fusion);

/// Maps the axes that correspond in the exact graph: of operands and results, and of results that
/// are alike. One of many calls of `graph` (val_graph.h).
void map_exactly(ValGraph& graph, const Fusion& fusion);

class IdModel {
 public:
  /// `build_graphs`: build the standard graphs now (exact, almost_exact, broadcast, permissive,
  /// loop). `allow_self_mapping`: false makes a self mapping in the exact graph an error that names
  /// the axes. `validate`: check that every graph is closed when it is built.
  explicit IdModel(
      Fusion* fusion,
      bool build_graphs = false,
      bool allow_self_mapping = true,
      bool validate = false);
  IdModel(const IdModel&) = delete; // owns its graphs
  IdModel& operator=(const IdModel&) = delete;

  /// The graph, built on first use together with those it depends on. The reference stays valid.
  /// Throws UserError where `try_build_graph` says no.
  ValGraph& maybe_build_graph(IdMappingMode mode);
  /// Builds the graph if it is not there yet. Says no to a self mapping that is not allowed and,
  /// for the loop graph, to inlined axes without a counterpart in a consumer.
  [[nodiscard]] std::optional<Refusal> try_build_graph(IdMappingMode mode);
  /// Whether the graph was asked for already.
  [[nodiscard]] bool has_graph(IdMappingMode mode) const {
    return graphs_.contains(mode);
  }
  [[nodiscard]] Fusion* fusion() const {
    return fusion_;
  }
  /// All built graphs.
  [[nodiscard]] std::string to_string() const;

 private:
  [[nodiscard]] std::optional<Refusal> build(IdMappingMode mode, ValGraph& graph);
  [[nodiscard]] ValGraph build_exact() const;
  [[nodiscard]] std::optional<Refusal> build_loop(ValGraph& graph) const;
  void map_resolved_broadcasts(ValGraph& graph) const;
  void map_forwarded(ValGraph& graph) const;

  Fusion* fusion_;
  bool allow_self_mapping_;
  bool validate_;
  std::map<IdMappingMode, std::unique_ptr<ValGraph>> graphs_;
};

/// The model of the fusion as it is now, for reading. The scheduling calls of a thread share it
/// until one changes an axis or the graph of tensors: a call that only binds or inlines finds the
/// graphs built. A model that a caller holds keeps describing the fusion as it was.
[[nodiscard]] std::shared_ptr<IdModel> shared_id_model(Fusion& fusion);

} // namespace nvfuser

// The calls that give a tensor its loop and allocation domains.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/all_nodes.h"

namespace nvfuser::python {

/// Where lines go, and how they name values.
struct ScriptWriter {
  std::function<void(const std::string&)> line;
  std::function<std::string(Val*)> text_of;              // defines what has no name yet
  std::function<std::string(const TensorView*)> name_of; // names what has no name yet
  int64_t num_axes = 0;                                  // axes that have a variable
};

/// Loop axes of a tensor while calls transform them: what `tv.axis(i)` is at each line.
class TranslatedAxes {
 public:
  /// `domain`: what the tensor will have. Its loop domain so far is the one it was made with.
  TranslatedAxes(std::string name, const TensorDomain* domain, ScriptWriter& writer);

  /// Transforms of the axes as `rfactor` needs them: up to `ids`, which are built from the logical
  /// domain.
  void transform_to(const IterDomains& ids);
  /// All of the domain: allocation, loop axes and their order.
  void print_domain(bool has_allocation_already);
  /// Positions of axes, which are there now.
  [[nodiscard]] std::vector<int64_t> positions(const IterDomains& ids) const;
  /// The binding of an axis at this point.
  [[nodiscard]] ParallelType binding_of(const IterDomain* id) const;
  /// Print the binding of an axis, with its padding and its cluster. `text` is the axis as the
  /// printed schedule names it at this point.
  void bind_as(const IterDomain* id, const std::string& text);

 private:
  void bind(const IterDomain* id, ParallelType type, const std::string& text);
  void call(const std::string& text); // of a method of the tensor
  [[nodiscard]] int64_t position(const Val* id) const;
  [[nodiscard]] std::string axis(const IterDomain* id) const;
  [[nodiscard]] std::string logical_axis(const IterDomain* id) const;

  // -- method by method --
  [[nodiscard]] IterDomains inserted_axes() const;
  [[nodiscard]] bool can_transform(const std::vector<Expr*>& exprs) const;
  void insert_axes(const IterDomains& ids);
  void hand_on_bindings(const Expr& expr);
  void note_results(const Expr& expr);
  void transform(const Expr& expr);
  void reorder();

  // -- axis by axis --
  void print_axes_one_by_one(bool has_allocation_already);
  void print_named_axes(const std::vector<Expr*>& exprs, const IterDomains& ids);
  void set_loop(const IterDomains& ids); // which have names
  void name_sources(const std::vector<Expr*>& exprs, const IterDomains& ids);
  void hand_on_bindings_of_names(const Expr& expr);
  void print_axis_expr(const Expr& expr);
  [[nodiscard]] std::string name_of(const Val* id) const;
  [[nodiscard]] std::string names_of(const IterDomains& ids) const;
  std::string new_name(const Val* id);

  void print_allocation(const std::string& ids);

  const std::string name_;
  const TensorDomain& domain_;
  ScriptWriter& writer_;
  const IterDomains start_; // the first loop domain
  IterDomains loop_;        // at this line
  std::unordered_map<const Val*, ParallelType> bindings_;
  std::unordered_map<const Val*, std::string> names_; // of axes that have a variable
};

} // namespace nvfuser::python

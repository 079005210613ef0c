// ValGraph: which iteration domains stand for the same axis, and which transforms for the same
// transform.
//
// Nodes are groups of ids, edges groups of domain expressions. The graph is closed: where two equal
// transforms have mapped inputs, their outputs are mapped; where they have mapped outputs and can
// be read backward, their inputs are. It is kept closed by congruence: every expression is filed
// under keys made of its operation and the groups of some of its operands; two expressions that
// meet under one key are the same. Joining two groups files the expressions of the smaller one
// anew.
//
// Keys of
//   every transform   its inputs
//   merge             its output with the group, or the extent, of one input
//   split             its outputs with the extent of its input: 7 and 8 both split into [2, 4]. The
//                     splits of a reshape divide their inputs: the outputs alone
//   others            their outputs
//
// A transform that an axis passes through unchanged (a split by 1) may have its input and its
// output in one group. It is a loop of the graph, and says nothing about others: [i] split by 1
// twice is [i, 1, 1], whose last two axes are not the same.
//
// A group is named by a number: the position of its oldest member. It stays valid until the group
// is joined with an older one.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/disjoint_set.h"
#include "ir/domain_exprs.h"
#include "ir/tensor_view.h"

namespace nvfuser {

class ValGraph {
 public:
  // -- building --

  void add_ids(const IterDomains& ids);
  /// Every id and transform of a tensor.
  void add_tensor(const TensorView* tensor);
  /// Put two ids into one group, with all that follows. Unknown ids are added.
  /// Cost: near-linear in what follows, over any sequence of calls.
  void map_vals(IterDomain* val0, IterDomain* val1);
  /// The same for one of many calls, behind the last of which `tidy` has to be called: until then
  /// definitions() and uses() may have one transform repeatedly. An axis with many uses is not
  /// sorted anew for each.
  void map_one_of_many(IterDomain* val0, IterDomain* val1);
  void tidy();
  /// The outputs of the same transform applied to `inputs`: those of an equal transform that the
  /// graph has, else new ids, which are added.
  [[nodiscard]] IterDomains replay(const Expr* expr, const IterDomains& inputs);

  // -- groups --

  [[nodiscard]] bool contains(const IterDomain* id) const;
  [[nodiscard]] int64_t group(const IterDomain* id) const;
  /// Unknown ids are mapped to themselves only.
  [[nodiscard]] bool are_mapped(const IterDomain* val0, const IterDomain* val1) const;
  /// In the order in which they were added.
  [[nodiscard]] IterDomains members(int64_t group) const;
  /// One expression per group of expressions, in the order in which they were added.
  [[nodiscard]] const std::vector<Expr*>& definitions(int64_t group) const;
  [[nodiscard]] const std::vector<Expr*>& uses(int64_t group) const;

  [[nodiscard]] const DisjointSets<IterDomain*>& disjoint_val_sets() const {
    return ids_;
  }
  [[nodiscard]] const DisjointSets<Expr*>& disjoint_expr_sets() const {
    return exprs_;
  }

  /// The documented text.
  [[nodiscard]] std::string to_string() const;
  /// Its two lists of groups; `indent` counts levels of two spaces.
  [[nodiscard]] std::string groups_text(int indent) const;

  /// An internal error if two equal transforms of mapped inputs have outputs that are not mapped.
  void validate() const;

 private:
  enum class KeyKind : uint8_t { Inputs, Outputs, OutAndOuter, OutAndInner };
  struct Key {
    KeyKind kind;
    const Expr* expr; // its operation counts, not its operands
    size_t first;     // root of a group
    size_t second;    // another one, or kNoGroup
    const Val* extent;
    [[nodiscard]] bool operator==(const Key& other) const;
  };
  struct KeyHash {
    [[nodiscard]] size_t operator()(const Key& key) const;
  };
  /// Expressions around a group: all of them, to file them anew; and one per expression group.
  struct Neighbors {
    std::vector<Expr*> all;
    std::vector<Expr*> definitions;
    std::vector<Expr*> uses;
  };

  void add_id(IterDomain* id);
  /// Register a transform and, where they are new, its operands; `tidy` has to be called then.
  void add_expr(Expr* expr);
  [[nodiscard]] size_t root(const Val* id) const;
  [[nodiscard]] std::vector<Key> keys_of(const Expr* expr) const;
  void file(Expr* expr);
  [[nodiscard]] bool is_loop(const Expr* expr) const;
  void join(IterDomain* val0, IterDomain* val1);
  void close();
  void remove_duplicates(std::vector<Expr*>& exprs) const;

  DisjointSets<IterDomain*> ids_;
  DisjointSets<Expr*> exprs_;
  std::vector<Neighbors> neighbors_; // by root index of the group; empty for joined ones
  std::unordered_map<Key, Expr*, KeyHash> filed_; // only looked up
  std::vector<std::pair<IterDomain*, IterDomain*>> pending_ids_;
  std::vector<std::pair<Expr*, Expr*>> pending_exprs_;
  std::vector<IterDomain*> touched_; // members of groups whose neighbors may have duplicates
};

} // namespace nvfuser

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

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/disjoint_set.h"
#include "base/numbering.h"
#include "ir/domain_exprs.h"
#include "ir/tensor_view.h"

namespace nvfuser {

class ValGraph {
 public:
  // -- building --

  void add_ids(const IterDomains& ids);
  /// Every id and transform of a tensor.
  void add_tensor(const TensorView* tensor);
  /// The same for one of many calls, behind the last of which `tidy` has to be called: until then
  /// definitions() and uses() are not what they were added.
  void add_one_of_many(const TensorView* tensor);
  /// Ids, and transforms of theirs, operands before results.
  void add_one_of_many(const IterDomains& ids, const std::vector<Expr*>& transforms);
  /// Put two ids into one group, with all that follows. Unknown ids are added.
  /// Cost: near-linear in what follows, over any sequence of calls.
  void map_vals(IterDomain* val0, IterDomain* val1);
  /// The same for one of many calls, behind the last of which `tidy` has to be called: until then
  /// definitions() and uses() may have one transform repeatedly, or lack it. An axis with many uses
  /// is not sorted anew for each.
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
  /// A position in the entries of `ids_` or `exprs_`, or in a list beside them.
  using Number = uint32_t;

  enum class KeyKind : uint8_t { Inputs, Outputs, OutAndOuter, OutAndInner };
  struct Key {
    KeyKind kind;
    const Expr* expr;  // its operation counts, not its operands
    size_t hash_of_op; // of `expr`
    size_t first;      // root of a group
    size_t second;     // another one, or kNoGroup
    const Val* extent;
    size_t hash_of_extent;
    [[nodiscard]] bool operator==(const Key& other) const;
  };
  struct KeyHash {
    [[nodiscard]] size_t operator()(const Key& key) const;
  };
  /// A transform, with the parts of its keys that joining groups does not change.
  struct Transform {
    size_t hash_of_op = 0;
    Number first_operand = 0; // in `operands_`, inputs first
    Number num_inputs = 0;
    Number num_operands = 0;
    /// Extents that stand in its keys: of both inputs of a merge, or of the input of a split.
    std::array<const Val*, 2> extents = {};
    std::array<size_t, 2> hashes_of_extents = {};
  };
  /// Transforms around a group. They are filed anew when the group is joined with a larger one.
  struct Neighbors {
    Number last_link = kNone; // a ring of them
    bool is_touched = false;  // lists may have duplicates
    std::vector<Expr*> definitions;
    std::vector<Expr*> uses;
  };
  struct Link {
    Number transform;
    Number next;
  };
  /// A transform that the list of a group's definitions or uses does not have yet.
  struct Unlisted {
    Number id;
    Number transform;
    bool is_use;
  };
  static constexpr Number kNone = ~Number{0};

  Number add_id(IterDomain* id);
  /// Register a transform and, where they are new, its operands; `tidy` has to be called then.
  void add_expr(Expr* expr);
  void add_neighbor(Number id, Number transform, bool is_use);
  void touch(Number root);
  [[nodiscard]] size_t root(const Val* id) const;
  [[nodiscard]] std::span<const Number> operands(Number transform) const;
  [[nodiscard]] Key inputs_key(
      const Expr* expr, size_t hash_of_op, size_t first, size_t second) const;
  template <typename Fn>
  void for_each_key(Number transform, const Fn& fn) const;
  void file(Number transform);
  [[nodiscard]] bool is_loop(Number transform) const;
  void join(Number id0, Number id1);
  void close();
  void remove_duplicates(std::vector<Expr*>& exprs) const;

  DisjointSets<IterDomain*> ids_;
  DisjointSets<Expr*> exprs_;
  std::vector<Neighbors> neighbors_;  // by root of the group; empty for joined ones
  std::vector<Transform> transforms_; // as many as entries of `exprs_`
  std::vector<Number> operands_;      // of all transforms
  std::vector<Link> links_;           // of all groups
  Numbering<Key, KeyHash> keys_;      // only looked up
  std::vector<Number> filed_;         // by key: the transform that is filed there
  std::vector<std::pair<Number, Number>> pending_ids_;
  std::vector<std::pair<Number, Number>> pending_exprs_;
  std::vector<Unlisted> unlisted_;
  std::vector<Number> touched_; // ids of groups that are touched
};

} // namespace nvfuser

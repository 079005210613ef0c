// Fusion: owns a graph of statements, its inputs and its outputs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/expr.h"
#include "ir/iter_domain.h"
#include "ir/tensor_domain.h"
#include "ir/tensor_view.h"

namespace nvfuser {

class TensorIndex;

/// An output that is written into the memory of an input.
struct AliasInfo {
  TensorView* input = nullptr;
  bool is_hidden = false; // not returned to the caller
};

class Fusion : public std::enable_shared_from_this<Fusion> {
 public:
  [[nodiscard]] static std::shared_ptr<Fusion> create();
  virtual ~Fusion();
  Fusion(const Fusion&) = delete;
  Fusion& operator=(const Fusion&) = delete;

  // -- making statements --

  /// A node with these fields: `make<Merge>({.out = out, .outer = outer, .inner = inner})`. Sets
  /// the definition of the outputs and the uses of the inputs.
  template <typename Node>
  Node* make(typename Node::Fields fields);

  Val* new_scalar(DataType dtype);
  /// The constant `value`, converted to `dtype`.
  Val* new_constant(const ScalarValue& value, DataType dtype);
  Val* new_index(int64_t value) {
    return new_constant(value, DataType::Index);
  }
  /// Shared constants of dtype Index and Bool, made when first asked for.
  Val* zero();
  Val* one();
  Val* true_val();
  Val* false_val();
  /// The scalar of that name; made when first asked for.
  NamedScalar* named_scalar(const std::string& text_name, DataType dtype);
  /// `threadIdx.x` / `blockDim.x` for a hardware index.
  NamedScalar* parallel_index(ParallelType type);
  NamedScalar* parallel_dim(ParallelType type);

  IterDomain* new_iter_domain(const IterDomainSpec& spec);
  /// A serial axis of that type.
  IterDomain* new_iter_domain(Val* extent, IterType type = IterType::Iteration);
  TensorDomain* new_tensor_domain(TensorDomainSpec spec);
  TensorView* new_tensor(
      TensorDomain* domain, DataType dtype, MemoryType memory_type = MemoryType::Local);
  TensorIndex* new_tensor_index(TensorView* view, Val* index);

  /// The next number in the order of everything that happens to this fusion.
  int64_t take_serial() {
    return counters_.serial++;
  }

  /// Counts edits of the graph and of schedules: while it is the same, so is the kernel. A node
  /// that no output reads is no edit.
  [[nodiscard]] int64_t version() const {
    return version_;
  }

  /// Counts edits that can change which axes correspond: of the graph and of domains, not of
  /// positions, parallel types or memory.
  [[nodiscard]] int64_t axes_version() const {
    return axes_version_;
  }

  // -- interface --

  void add_input(Val* input);
  void add_output(Val* output);
  /// Write `output` into the memory of `alias_input`.
  void add_output(Val* output, Val* alias_input);
  [[nodiscard]] const std::vector<Val*>& inputs() const {
    return inputs_;
  }
  /// In registration order, hidden ones included.
  [[nodiscard]] const std::vector<Val*>& outputs() const {
    return outputs_;
  }
  [[nodiscard]] const AliasInfo* alias_of(const Val* output) const;
  /// The outputs that are written into the memory of `input`.
  [[nodiscard]] std::vector<const TensorView*> updates_of(const Val* input) const;

  // -- the graph --

  /// Expressions on tensors and scalars that lead to an output, operands before results; ties in
  /// the order in which they were made.
  [[nodiscard]] std::vector<Expr*> exprs() const;
  /// Every expression that is the definition of some value, in the order they were made.
  [[nodiscard]] std::vector<Expr*> all_exprs() const;
  [[nodiscard]] std::vector<Val*> vals() const;
  /// Tensors that lead to an output or are inputs or outputs, in creation order.
  [[nodiscard]] std::vector<TensorView*> tensors() const;
  [[nodiscard]] bool contains(const Statement* statement) const {
    return statement != nullptr && statement->fusion() == this && !statement->is_taken_back();
  }
  /// `<val> was not found in the active fusion.`
  void check_contains(const Statement* statement) const;

  // -- editing --

  /// Let the expressions in `users` read `to` where they read `from`.
  void replace_uses(Val* from, Val* to, const std::vector<Expr*>& users);
  /// Let `expr` define `to` where it defined `from`.
  void replace_output_of(Expr* expr, Val* from, Val* to);
  /// Swap `from` for `to` in the list of outputs.
  void replace_output(Val* from, Val* to);
  /// Take an expression out of the graph: its outputs have no definition, its inputs lose a use.
  void remove(Expr* expr);
  /// Let `first` be the oldest statements, in this order; all others keep theirs behind them.
  void reorder(const std::vector<Statement*>& first);

  // -- the whole --

  [[nodiscard]] std::shared_ptr<Fusion> clone() const;
  /// Copy everything of `from` into this empty fusion, names included.
  Cloner copy_from(const Fusion& from);
  /// Same definition: numbering, domains, expressions, attributes, constants, aliases.
  [[nodiscard]] bool operator==(const Fusion& other) const;
  [[nodiscard]] size_t hash() const;
  [[nodiscard]] std::string print_math(bool from_outputs_only = true) const;
  /// Scheduled text: expressions, and with `transforms` one block per tensor.
  [[nodiscard]] std::string print_transforms() const;

  /// The fusion that new statements of this thread go to; an error if there is none.
  [[nodiscard]] static Fusion& active();
  [[nodiscard]] static Fusion* maybe_active();

 protected:
  Fusion();

 private:
  friend class Cloner;
  friend class FusionReader;
  friend class Statement;
  friend class Transaction;
  friend class Val;

  template <typename T>
  T* adopt(std::unique_ptr<T> statement, int64_t& counter);
  Expr* register_expr(std::unique_ptr<Expr> expr);
  void add_use(Val* val, Expr* expr);
  void drop_use(Val* val, Expr* expr);
  /// An edit after which the expressions that lead to outputs have to be found again.
  void count_edit_of_graph();
  /// Bring `Expr::leads_to_output` of every expression up to date.
  void update_liveness() const;

  struct Counters {
    int64_t tensor = 0, iter_domain = 0, tensor_domain = 0, scalar = 0, named = 0, index = 0,
            expr = 0, serial = 0;
  };
  /// Let the statements behind the first `size` leave the graph, and number again from `counters`.
  void take_back(size_t size, const Counters& counters);

  Counters counters_;
  int64_t version_ = 0;
  int64_t axes_version_ = 0;
  std::vector<std::unique_ptr<Statement>> statements_;
  /// Alive because there may be handles to them (ir/transaction.h).
  std::vector<std::unique_ptr<Statement>> taken_back_;
  std::vector<Val*> inputs_;
  std::vector<Val*> outputs_;
  std::vector<std::pair<const Val*, AliasInfo>> aliases_;
  std::map<std::string, NamedScalar*> named_scalars_;
  // Facts that follow from the graph, found when they are asked for.
  mutable std::mutex liveness_mutex_;
  mutable std::atomic<bool> is_liveness_valid_ = false;
  mutable std::optional<std::vector<Expr*>> exprs_; // guarded by `liveness_mutex_`
  Val* zero_ = nullptr;
  Val* one_ = nullptr;
  Val* true_ = nullptr;
  Val* false_ = nullptr;
};

/// The fusions that are active in one thread (ir/fusion_guard.cpp).
class ActiveFusions;

/// Makes a fusion the active one of this thread for its lifetime, and keeps it alive. Guards may be
/// destroyed in any order and by any thread (Python decides): each takes itself out of the stack of
/// the thread that made it.
class FusionGuard {
 public:
  explicit FusionGuard(Fusion* fusion);
  ~FusionGuard();
  FusionGuard(const FusionGuard&) = delete;
  FusionGuard& operator=(const FusionGuard&) = delete;

 private:
  std::shared_ptr<ActiveFusions> stack_;
};

// ---- templates ----------------------------------------------------------------------------------

template <typename Node>
Node* Fusion::make(typename Node::Fields fields) {
  auto node = std::make_unique<Node>();
  static_cast<typename Node::Fields&>(*node) = std::move(fields);
  return static_cast<Node*>(register_expr(std::move(node)));
}

} // namespace nvfuser

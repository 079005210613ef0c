#include "lower/passes/join_cluster_reductions.h"

#include <algorithm>
#include <limits>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/powers_about_maxima.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

TensorView* view_of(const Val* val) {
  return val->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(val)->view()
                                              : nullptr;
}

/// The loop, if it is over threads or blocks; nullptr: it is none, or runs more than once.
ForLoop* hardware_loop(Expr* node) {
  auto* loop = node->as<ForLoop>();
  return loop == nullptr || is_serial(*loop) || loop->body.empty() ? nullptr : loop;
}

/// The statement that threads come to last in a node.
Expr* last_statement(Expr* node) {
  while (const ForLoop* loop = hardware_loop(node)) {
    node = loop->body.back();
  }
  return node;
}

/// The only statement of a node; nullptr: there are several.
Expr* only_statement(Expr* node) {
  while (const ForLoop* loop = hardware_loop(node)) {
    if (loop->body.size() != 1) {
      return nullptr;
    }
    node = loop->body.front();
  }
  return bodies_of(*node).empty() ? node : nullptr;
}

/// Put `statement` in the place of the last one of a node; nullptr: take that one out, with the
/// loops that nothing else stands in.
void replace_last(Scope& scope, size_t position, Expr* statement) {
  if (ForLoop* loop = hardware_loop(scope[position])) {
    replace_last(loop->body, loop->body.size() - 1, statement);
    if (!loop->body.empty()) {
      return;
    }
  } else if (statement != nullptr) {
    scope[position] = statement;
    return;
  }
  scope.erase(scope.begin() + static_cast<std::ptrdiff_t>(position));
}

ClusterReduction* cluster_reduction(Expr* node, BinaryOpType op) {
  auto* reduction = last_statement(node)->as<ClusterReduction>();
  const bool is_that = reduction != nullptr && reduction->ops == std::vector<BinaryOpType>{op} &&
                       (reduction->outs.front()->dtype() == DataType::Float ||
                        reduction->outs.front()->dtype() == DataType::Double);
  return is_that ? reduction : nullptr;
}

/// Whether the value is one register of a thread, whatever loops are around.
bool is_register(const Val* val) {
  const TensorView* view = view_of(val);
  return view != nullptr && view->memory_type() == MemoryType::Local &&
         static_cast<const TensorIndex*>(val)->index()->is_const();
}

bool reads(const Expr& statement, const TensorView* view) {
  bool found = false;
  for_each_read(statement, [&](const TensorIndex& element) { found |= element.view() == view; });
  return found;
}

class ClusterReductionJoiner {
 public:
  explicit ClusterReductionJoiner(Kernel& kernel) : kernel_(kernel) {}

  bool visit(Scope& scope) {
    bool has_changed = false;
    for (size_t i = 0; i < scope.size(); ++i) {
      for (Scope* body : bodies_of(*scope[i])) {
        has_changed = visit(*body) || has_changed;
      }
      maximum_ = cluster_reduction(scope[i], BinaryOpType::Max);
      for (size_t j = i + 1; maximum_ != nullptr && j < scope.size(); ++j) {
        sum_ = cluster_reduction(scope[j], BinaryOpType::Add);
        if (sum_ != nullptr) {
          has_changed = join(scope, i, j) || has_changed;
          break;
        }
      }
    }
    return has_changed;
  }

 private:
  /// A statement that copies the maximum to another register.
  struct Copy {
    Expr* statement = nullptr;
    /// It is a node of the scope, and moves behind the exchange. Else only differences read it.
    bool moves = false;
    [[nodiscard]] const TensorView* view() const {
      return view_of(statement->outputs().front());
    }
  };

  bool join(Scope& scope, size_t first, size_t last) {
    const auto at = [&](size_t i) { return scope.begin() + static_cast<std::ptrdiff_t>(i); };
    between_ = Scope(at(first + 1), at(last + 1));
    if (!are_alike() || !find_differences() || !find_readers()) {
      return false;
    }
    Scope result(scope.begin(), at(first + 1));
    Val* own = maximum_->ins.front();
    replace_readers(own, result, first);
    Scope copies;
    for (Expr* node : between_) {
      const bool moves = std::ranges::any_of(copies_, [&](const Copy& copy) {
        return copy.moves && copy.statement == only_statement(node);
      });
      (moves ? copies : result).push_back(node);
    }
    replace_last(result, result.size() - 1, make_exchange());
    result.insert(result.end(), copies.begin(), copies.end());
    result.insert(result.end(), at(last + 1), scope.end());
    scope = std::move(result);
    return true;
  }

  /// Whether both combine registers of the same threads, which hold the same elements.
  bool are_alike() {
    const auto is_own = [](const ClusterReduction& reduction) {
      return is_register(reduction.ins.front()) && is_register(reduction.outs.front());
    };
    const Val* contributes = maximum_->read_predicate;
    const bool have_equal_conditions = contributes == nullptr || sum_->read_predicate == nullptr
                                           ? contributes == sum_->read_predicate
                                           : contributes->same_as(sum_->read_predicate);
    return is_own(*maximum_) && is_own(*sum_) && have_equal_conditions &&
           maximum_->outs.front()->dtype() == sum_->outs.front()->dtype() &&
           maximum_->reduced_dims == sum_->reduced_dims &&
           have_equal_loops(*view_of(maximum_->ins.front()), *view_of(sum_->ins.front()));
  }

  bool have_equal_loops(const TensorView& a, const TensorView& b) {
    const ValGraph& exact = kernel_.id_model->maybe_build_graph(IdMappingMode::exact);
    return std::ranges::equal(
        a.loop(), b.loop(), [&](const IterDomain* one, const IterDomain* other) {
          return one->parallel_type() == other->parallel_type() && exact.are_mapped(one, other);
        });
  }

  /// The differences from the maximum that are made for the sum. False: there are none.
  bool find_differences() {
    const TensorView* maxima = view_of(maximum_->outs.front());
    const TensorView* sums = view_of(sum_->outs.front());
    differences_.clear();
    for (const Expr* expr : tensor_exprs(kernel_)) {
      const std::optional<PowerAboutMaximum> power = power_about_maximum(*expr);
      if (!power || power->maximum->out != maxima || power->out->is_fusion_output()) {
        continue;
      }
      const bool is_summed = std::ranges::all_of(power->out->uses(), [&](const Expr* use) {
        return sum_like_maximum(*power, *use) == sums;
      });
      const Val* difference = expr->inputs().front();
      if (is_summed && difference->uses().size() == 1 && !difference->is_fusion_output()) {
        differences_.push_back(difference);
      }
    }
    return !differences_.empty();
  }

  /// The statements that read the maximum before the sum is known: differences for the sum, and
  /// copies, which others read later. False: something else does.
  bool find_readers() {
    about_own_.clear();
    copies_.clear();
    bool holds = true;
    for_each_node(between_, [&](Expr& statement) {
      const KernelTraits& traits = traits_of(statement);
      const bool is_alone = !traits.is_collective && !traits.needs_all_threads;
      holds = holds && (&statement == sum_ || (is_alone && check_reader(statement)));
    });
    return holds && !about_own_.empty() && std::ranges::all_of(copies_, [&](const Copy& copy) {
             return copy.moves || !is_read_elsewhere(copy.view());
           });
  }

  bool check_reader(Expr& statement) {
    const bool is_reader = reads(statement, view_of(maximum_->outs.front())) ||
                           std::ranges::any_of(copies_, [&](const Copy& copy) {
                             return reads(statement, copy.view());
                           });
    if (!is_reader) {
      return true;
    }
    if (const auto* copy = statement.as<LoadStoreOp>()) {
      const bool moves = std::ranges::any_of(
          between_, [&](Expr* node) { return only_statement(node) == &statement; });
      copies_.push_back({.statement = &statement, .moves = moves});
      if (!moves) {
        about_own_.push_back(&statement);
      }
      return is_register(copy->arg) && is_register(copy->out);
    }
    about_own_.push_back(&statement);
    const auto* difference = statement.as<BinaryOp>();
    return difference != nullptr && difference->op == BinaryOpType::Sub &&
           std::ranges::find(differences_, view_of(difference->out)) != differences_.end() &&
           !is_later(difference->lhs);
  }

  /// Whether the value is the maximum of all, which is not known before the exchange.
  bool is_later(const Val* val) const {
    const TensorView* view = view_of(val);
    return view != nullptr && (view == view_of(maximum_->outs.front()) ||
                               std::ranges::any_of(copies_, [&](const Copy& copy) {
                                 return copy.moves && copy.view() == view;
                               }));
  }

  /// Whether a statement outside of those between both reductions reads the value.
  bool is_read_elsewhere(const TensorView* view) const {
    const auto count = [&](const Scope& scope) {
      int64_t readers = 0;
      for_each_node(
          scope, [&](const Expr& statement) { readers += reads(statement, view) ? 1 : 0; });
      return readers;
    };
    return count(kernel_.body) != count(between_);
  }

  /// Put the thread's own maximum, or 0, in the place of the node that reduces, and let statements
  /// read it that read the maximum of all.
  void replace_readers(Val* own, Scope& scope, size_t position) {
    replace_last(scope, position, nullptr);
    Val* center = make_center(*static_cast<const TensorIndex*>(own), scope);
    for (Expr* statement : about_own_) {
      const std::vector<Val*> ins = statement->inputs();
      for (Val* in : ins) {
        if (is_later(in)) {
          kernel_.replace_uses(in, center, {statement});
        }
      }
    }
  }

  Val* make_center(const TensorIndex& own, Scope& scope) {
    const DataType type = own.dtype();
    TensorView* center = kernel_.new_tensor(kernel_.new_tensor_domain({}), type);
    Val* lowest = kernel_.new_constant(-std::numeric_limits<double>::infinity(), type);
    const auto element = [&](TensorView* view) {
      return kernel_.new_tensor_index(view, kernel_.zero());
    };
    scope.push_back(kernel_.make<Allocate>(
        {.buffer = center, .memory_type = MemoryType::Local, .size = kernel_.one()}));
    scope.push_back(kernel_.make<TernaryOp>(
        {.out = element(center),
         .in1 = scalar::eq(kernel_.new_tensor_index(own.view(), own.index()), lowest),
         .in2 = kernel_.new_constant(0.0, type),
         .in3 = kernel_.new_tensor_index(own.view(), own.index()),
         .op = TernaryOpType::Where}));
    return element(center);
  }

  /// One exchange instead of both.
  Expr* make_exchange() {
    ClusterReductionFields fields = *sum_;
    fields.outs = {maximum_->outs.front(), sum_->outs.front()};
    fields.ins = {maximum_->ins.front(), sum_->ins.front()};
    fields.inits = {maximum_->inits.front(), sum_->inits.front()};
    fields.ops = {BinaryOpType::Max, BinaryOpType::Add};
    const Expr* origin = kernel_.origin.contains(sum_) ? kernel_.origin.at(sum_) : nullptr;
    for (Expr* old : {static_cast<Expr*>(maximum_), static_cast<Expr*>(sum_)}) {
      kernel_.remove(old);
      kernel_.tests.erase(old);
      kernel_.origin.erase(old);
    }
    auto* exchange = kernel_.make<ClusterReduction>(std::move(fields));
    if (origin != nullptr) {
      kernel_.origin[exchange] = origin;
    }
    return exchange;
  }

  Kernel& kernel_;
  // The pair that `visit` looks at:
  ClusterReduction* maximum_ = nullptr;
  ClusterReduction* sum_ = nullptr;
  Scope between_;                       // what stands between them, and the sum
  std::vector<const Val*> differences_; // tensors: the differences that are made for the sum
  std::vector<Expr*> about_own_;        // statements that take the thread's own maximum
  std::vector<Copy> copies_;
};

} // namespace

bool join_cluster_reductions(Kernel& kernel) {
  return ClusterReductionJoiner(kernel).visit(kernel.body);
}

} // namespace nvfuser

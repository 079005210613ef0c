#include "lower/verify.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "ir/kernel_traits.h"
#include "ir/print.h"
#include "ir/scopes.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/checked_copies.h"
#include "lower/analysis/loading_threads.h"

namespace nvfuser {
namespace {

const TensorIndex* as_element(const Val* val) {
  return val->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(val) : nullptr;
}

/// The values that a scalar is computed from, down to those without a computation.
struct Leaves {
  std::vector<const Val*> symbols;          // loop indices, sizes, results of statements
  std::vector<const TensorIndex*> elements; // that are read
  std::vector<const NamedScalar*> hardware; // indices of threads and blocks
};

template <typename T>
void add_new(std::vector<T>& list, const std::vector<T>& more) {
  for (const T& item : more) {
    if (std::find(list.begin(), list.end(), item) == list.end()) {
      list.push_back(item);
    }
  }
}

/// Remembers the leaves of scalars: indices share most of their parts.
class LeavesOfScalars {
 public:
  const Leaves& of(const Val* val) {
    if (const auto found = known_.find(val); found != known_.end()) {
      return found->second;
    }
    Leaves leaves;
    if (const TensorIndex* element = as_element(val)) {
      leaves.elements.push_back(element);
    } else if (val->vtype() == ValType::NamedScalar) {
      const auto* named = static_cast<const NamedScalar*>(val);
      if (named->parallel_index() != ParallelType::Serial) {
        leaves.hardware.push_back(named);
      }
    } else if (val->is_scalar() && !val->is_const()) {
      if (val->definition() == nullptr) {
        leaves.symbols.push_back(val);
      } else {
        for (const Val* input : val->definition()->inputs()) {
          const Leaves part = of(input);
          add_new(leaves.symbols, part.symbols);
          add_new(leaves.elements, part.elements);
          add_new(leaves.hardware, part.hardware);
        }
      }
    }
    return known_.emplace(val, std::move(leaves)).first->second;
  }

 private:
  std::unordered_map<const Val*, Leaves> known_;
};

/// Which hardware indices decide whether a thread comes to a place.
struct Divergence {
  std::array<bool, 3> threads{}; // along x, y, z
  std::array<bool, 3> blocks{};
};

bool is_index_type(DataType type) {
  return type == DataType::Index || type == DataType::Int || type == DataType::Int32;
}

bool has_lists(const Expr& statement) {
  return !bodies_of(statement).empty();
}

/// Real and complex numbers may have another precision where they are read than where they are
/// written: sums of narrow numbers are rounded once, when they are stored.
bool are_alike(const Val* a, const Val* b) {
  const auto both = [&](auto is_kind) { return is_kind(a->dtype()) && is_kind(b->dtype()); };
  return a->dtype() == b->dtype() || both(is_index_type) || both(is_floating_point) ||
         both(is_complex);
}

/// All statements of a kernel's tree; a missing one is nullptr. A statement in several lists comes
/// once. `twice` are those that stand where they cannot.
void collect(
    const Scope& scope,
    std::vector<const Expr*>& statements,
    std::unordered_set<const Expr*>& seen,
    std::vector<const Expr*>& twice) {
  std::unordered_set<const Expr*> in_list;
  for (const Expr* statement : scope) {
    const bool is_new = seen.insert(statement).second;
    const bool is_new_here = in_list.insert(statement).second;
    if (statement != nullptr && (!is_new_here || (!is_new && has_lists(*statement)))) {
      twice.push_back(statement);
    }
    if (!is_new) {
      continue;
    }
    statements.push_back(statement);
    if (statement == nullptr) {
      continue;
    }
    statement->for_each_attr([&](const char*, const AttrValue& value) {
      if (const auto* body = std::get_if<std::vector<Expr*>>(&value)) {
        collect(*body, statements, seen, twice);
      }
    });
  }
}

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  std::vector<std::string> run() {
    std::vector<const Expr*> statements;
    std::vector<const Expr*> twice;
    collect(kernel_.body, statements, statements_, twice);
    for (const Expr* statement : twice) {
      violations_.push_back(std::string("a statement stands twice: ") + statement->op_name());
    }
    if (!is_tree(statements)) {
      return violations_; // nothing else can be said about it
    }
    for (const Expr* statement : statements) {
      if (const auto* loop = statement->as<ForLoop>()) {
        loop_indices_.insert(loop->index);
      }
    }
    for (const SizeSource& size : kernel_.launch.sizes) {
      parameters_.insert(size.extent);
    }
    parameters_.insert(kernel_.inputs().begin(), kernel_.inputs().end());
    for (const GlobalBuffer& buffer : kernel_.launch.buffers) {
      parameters_.insert(buffer.tensor);
    }
    check_scope(kernel_.body);
    check_fences();
    check_facts();
    return violations_;
  }

 private:
  void report(const Expr* statement, const std::string& rule) {
    std::string text = statement->to_string();
    text = text.substr(0, text.find('\n', text.find('\n') + 1));
    violations_.push_back(rule + ", in: " + text);
  }

  // ---- Tree -------------------------------------------------------------------------------------

  bool is_tree(const std::vector<const Expr*>& statements) {
    for (const Expr* statement : statements) {
      if (statement == nullptr) {
        violations_.emplace_back("a statement is missing");
      } else if (statement->fusion() != &kernel_) {
        report(statement, "a statement of another fusion");
      }
      if (statement != nullptr && !has_parts(*statement)) {
        report_parts(*statement);
      }
    }
    return violations_.empty();
  }

  static bool has_parts(const Expr& statement) {
    if (const auto* loop = statement.as<ForLoop>()) {
      return loop->index != nullptr && loop->iter_domain != nullptr && loop->start != nullptr &&
             loop->stop != nullptr;
    }
    if (const auto* condition = statement.as<IfThenElse>()) {
      return condition->condition != nullptr;
    }
    const auto* allocate = statement.as<Allocate>();
    return allocate == nullptr || (allocate->buffer != nullptr && allocate->size != nullptr);
  }

  void report_parts(const Expr& statement) {
    violations_.push_back(std::string("a ") + statement.op_name() + " without all that it needs");
  }

  // ---- Fences -----------------------------------------------------------------------------------

  /// A bulk copy sees values that threads wrote only if they passed a fence after it. Writes of one
  /// iteration of a loop that a copy of the next one reads are not checked, nor circular buffers,
  /// which have such writes behind the fence of an iteration.
  void check_fences() {
    const bool has_fences = std::ranges::any_of(
        kernel_.passes, [](const PassRecord& pass) { return pass.name == "insert_syncs"; });
    if (!has_fences) {
      return;
    }
    std::unordered_set<const TensorView*> unfenced;
    for_each_node(kernel_.body, [&](const Expr& statement) {
      if (statement.is_a<FenceAsyncProxy>()) {
        unfenced.clear();
        return;
      }
      if (const TensorView* box = box_stored_by(kernel_, statement);
          box != nullptr && unfenced.contains(box)) {
        report(
            &statement, "a box is stored that threads wrote, without a fence of the async proxy");
      }
      if (bodies_of(statement).empty() && !loads_box(kernel_, statement)) {
        for (const Val* out : statement.outputs()) {
          const TensorIndex* element = as_element(out);
          if (element != nullptr && element->view()->memory_type() == MemoryType::Shared &&
              circular_loop_of(kernel_, element->view()) == nullptr) {
            unfenced.insert(element->view());
          }
        }
      }
    });
  }

  // ---- Scopes -----------------------------------------------------------------------------------

  void check_scope(const Scope& scope) {
    const size_t num_known = known_order_.size();
    for (const Expr* statement : scope) {
      check_statement(*statement);
    }
    while (known_order_.size() > num_known) {
      known_.erase(known_order_.back());
      known_order_.pop_back();
    }
  }

  void check_statement(const Expr& statement) {
    if (const auto* loop = statement.as<ForLoop>()) {
      return check_loop(*loop);
    }
    if (const auto* condition = statement.as<IfThenElse>()) {
      return check_condition(*condition);
    }
    if (const auto* loop = statement.as<ThreadLoop>()) {
      return check_region(loop->body);
    }
    if (const auto* loop = statement.as<ClusterLoop>()) {
      return check_region(loop->body);
    }
    if (const auto* loop = statement.as<BlockLoop>()) {
      return check_region(loop->body);
    }
    if (const auto* allocate = statement.as<Allocate>()) {
      return check_allocation(*allocate);
    }
    check_operands(statement);
    check_types(statement);
    check_barrier(statement);
    for (const Val* out : statement.outputs()) {
      if (out->is_scalar()) {
        add_known(out);
      }
    }
  }

  /// The threads of a region are iterations of a loop: they do not wait for each other in it.
  void check_region(const Scope& body) {
    const Divergence outside = std::exchange(divergence_, Divergence{});
    check_scope(body);
    divergence_ = outside;
  }

  void check_loop(const ForLoop& loop) {
    for (const Val* bound : {loop.start, loop.stop}) {
      check_use(loop, bound);
      check_index_type(loop, bound, "the bound of a loop");
    }
    if (loop.index->vtype() == ValType::NamedScalar || loop.index->is_const()) {
      // Scalars that a loop bound to hardware computes stay known after it.
      for (const Expr* statement : loop.body) {
        check_statement(*statement);
      }
      return;
    }
    if (!open_indices_.insert(loop.index).second) {
      report(&loop, "a loop in another one with the same index");
    }
    const Divergence outside = divergence_;
    diverge(loop.start);
    diverge(loop.stop);
    check_scope(loop.body);
    divergence_ = outside;
    open_indices_.erase(loop.index);
  }

  /// Threads that only load wait for no others but at the barriers of stages, and the others do
  /// nothing on the side of the loads.
  void check_roles(const IfThenElse& roles) {
    side_ = StageSide::Read;
    check_scope(roles.then_body);
    side_ = StageSide::Load;
    check_scope(roles.else_body);
    side_ = StageSide::None;
  }

  void check_condition(const IfThenElse& condition) {
    check_use(condition, condition.condition);
    if (side_ == StageSide::None && tells_roles_apart(kernel_, condition.condition)) {
      return check_roles(condition);
    }
    if (condition.condition->dtype() != DataType::Bool) {
      report(&condition, "a condition that is not Bool");
    }
    const Divergence outside = divergence_;
    diverge(condition.condition);
    check_scope(condition.then_body);
    check_scope(condition.else_body);
    divergence_ = outside;
  }

  void check_allocation(const Allocate& allocate) {
    check_use(allocate, allocate.size);
    check_index_type(allocate, allocate.size, "the size of an allocation");
    if (allocate.address != nullptr) {
      check_use(allocate, allocate.address);
    }
    if (known_.contains(allocate.buffer)) {
      report(&allocate, "a tensor is allocated twice");
    }
    add_known(allocate.buffer);
  }

  void add_known(const Val* val) {
    if (known_.insert(val).second) {
      known_order_.push_back(val);
    }
  }

  // ---- Uses -------------------------------------------------------------------------------------

  void check_operands(const Expr& statement) {
    for (const Val* input : statement.inputs()) {
      check_use(statement, input);
    }
    for (const Val* output : statement.outputs()) {
      if (as_element(output) != nullptr) {
        check_use(statement, output);
      }
    }
    if (const Val* predicate = statement.predicate()) {
      check_use(statement, predicate);
    }
    const auto* grid = statement.as<GridReduction>();
    const Val* made = grid == nullptr ? nullptr : grid->is_last;
    if (made != nullptr) {
      add_known(made);
    }
    statement.for_each_attr([&](const char*, const AttrValue& value) {
      if (Val* const* val = std::get_if<Val*>(&value); val != nullptr && *val != nullptr) {
        check_use(statement, *val);
      } else if (const auto* list = std::get_if<std::vector<Val*>>(&value)) {
        for (const Val* item : *list) {
          check_use(statement, item);
        }
      }
    });
  }

  void check_use(const Expr& statement, const Val* val) {
    if (val->is_tensor()) {
      return; // buffers of barriers, among them those without an allocation
    }
    if (val->vtype() == ValType::IterDomain || known_.contains(val)) {
      return;
    }
    const Leaves leaves = leaves_.of(val);
    for (const Val* symbol : leaves.symbols) {
      check_symbol(statement, symbol);
    }
    for (const TensorIndex* element : leaves.elements) {
      if (!known_.contains(element->view()) && !is_in_global_memory(*element->view())) {
        report(
            &statement, "T" + std::to_string(element->view()->name()) + " is not allocated here");
      }
      check_index_type(statement, element->index(), "the index of an element");
      check_use(statement, element->index());
    }
  }

  void check_symbol(const Expr& statement, const Val* symbol) {
    if (loop_indices_.contains(symbol)) {
      if (!open_indices_.contains(symbol)) {
        report(&statement, symbol->to_string() + " is the index of a loop around other statements");
      }
    } else if (!known_.contains(symbol) && !parameters_.contains(symbol)) {
      report(&statement, symbol->to_string() + " is not computed before, and no parameter");
    }
  }

  [[nodiscard]] bool is_in_global_memory(const TensorView& tensor) const {
    return tensor.is_fusion_input() || parameters_.contains(&tensor);
  }

  // ---- Types ------------------------------------------------------------------------------------

  void check_index_type(const Expr& statement, const Val* val, const char* what) {
    if (!is_integral(val->dtype()) && val->dtype() != DataType::Index) {
      report(&statement, std::string(what) + " is " + text(val->dtype()));
    }
  }

  void check_alike(const Expr& statement, const Val* a, const Val* b) {
    if (!are_alike(a, b)) {
      report(
          &statement, std::string("values of types ") + text(a->dtype()) + " and " +
                          text(b->dtype()) + " where one kind of numbers is needed");
    }
  }

  void check_types(const Expr& statement) {
    if (const auto* copy = statement.as<LoadStoreOp>()) {
      check_alike(statement, copy->out, copy->arg);
    } else if (const auto* block = statement.as<BlockReduction>()) {
      for (size_t i = 0; i < block->outs.size(); ++i) {
        check_alike(statement, block->outs[i], block->ins[i]);
      }
    } else if (const auto* cluster = statement.as<ClusterReduction>()) {
      for (size_t i = 0; i < cluster->outs.size(); ++i) {
        check_alike(statement, cluster->outs[i], cluster->ins[i]);
      }
    } else if (const auto* grid = statement.as<GridReduction>()) {
      for (size_t i = 0; i < grid->outs.size(); ++i) {
        check_alike(statement, grid->outs[i], grid->ins[i]);
      }
    } else if (const auto* scan = statement.as<BlockScan>()) {
      check_alike(statement, scan->prefix, scan->value);
      check_alike(statement, scan->carry, scan->value);
    }
    if (statement.predicate() != nullptr && statement.predicate()->dtype() != DataType::Bool) {
      report(&statement, "a predicate that is not Bool");
    }
  }

  // ---- Barriers ---------------------------------------------------------------------------------

  void diverge(const Val* decides) {
    for (const NamedScalar* index : leaves_.of(decides).hardware) {
      switch (index->parallel_index()) {
        case ParallelType::TIDx: divergence_.threads[0] = true; break;
        case ParallelType::TIDy: divergence_.threads[1] = true; break;
        case ParallelType::TIDz: divergence_.threads[2] = true; break;
        case ParallelType::BIDx: divergence_.blocks[0] = true; break;
        case ParallelType::BIDy: divergence_.blocks[1] = true; break;
        case ParallelType::BIDz: divergence_.blocks[2] = true; break;
        default: break;
      }
    }
  }

  void check_barrier(const Expr& statement) {
    const StageSide side = stage_side(statement);
    if (side_ != StageSide::None && side != StageSide::None && side != side_) {
      report(&statement, "threads of the other role come to this side of a stage");
    }
    if (side_ == StageSide::Load) {
      if (traits_of(statement).needs_all_threads && side == StageSide::None) {
        report(&statement, "threads that only load wait for others");
      }
      return;
    }
    const auto& threads = divergence_.threads;
    const bool some_threads = threads[0] || threads[1] || threads[2];
    const auto some_blocks = [&](const std::vector<int64_t>& dims) {
      return std::any_of(dims.begin(), dims.end(), [&](int64_t dim) {
        return divergence_.blocks[static_cast<size_t>(dim)];
      });
    };
    bool is_divergent = traits_of(statement).needs_all_threads && some_threads;
    if (const auto* block = statement.as<BlockReduction>(); block != nullptr && block->is_warp) {
      is_divergent = threads[0];
    } else if (const auto* grid = statement.as<GridReduction>()) {
      is_divergent = is_divergent || some_blocks(grid->reduced_dims);
    } else if (const auto* sync = statement.as<GridSync>()) {
      is_divergent = is_divergent || some_blocks(sync->sync_dims);
    } else if (traits_of(statement).barriers.has(Barrier::Cluster)) {
      is_divergent = is_divergent || some_blocks({0});
    }
    if (is_divergent) {
      report(&statement, "not all threads that wait for each other come here");
    }
  }

  // ---- Facts ------------------------------------------------------------------------------------

  void check_facts() {
    for (const auto& [statement, tests] : kernel_.tests) {
      if (!statements_.contains(statement)) {
        report(statement, "kernel.tests has a statement that the kernel does not");
      }
    }
    for (const auto& [statement, origin] : kernel_.origin) {
      if (!statements_.contains(statement)) {
        report(statement, "kernel.origin has a statement that the kernel does not");
      }
    }
    std::sort(violations_.begin(), violations_.end());
    violations_.erase(std::unique(violations_.begin(), violations_.end()), violations_.end());
  }

  const Kernel& kernel_;
  std::vector<std::string> violations_;
  LeavesOfScalars leaves_;
  std::unordered_set<const Expr*> statements_;
  std::unordered_set<const Val*> loop_indices_; // of all loops
  std::unordered_set<const Val*> open_indices_; // of the loops around the statement
  std::unordered_set<const Val*> parameters_;
  std::unordered_set<const Val*> known_; // scalars and allocated tensors, in the open scopes
  std::vector<const Val*> known_order_;
  Divergence divergence_;
  StageSide side_ = StageSide::None; // that threads of a role are on; None: all threads come here
};

} // namespace

std::vector<std::string> find_violations(const Kernel& kernel) {
  return Verifier(kernel).run();
}

void set_statements(Kernel& kernel, Expr* owner, const std::string& list, const Scope& statements) {
  for (const Expr* statement : statements) {
    kernel.check_contains(statement);
  }
  for_each_node(statements, [&](const Expr& statement) {
    NVF_USER_CHECK(&statement != owner, "A statement cannot hold itself");
  });
  Scope* scope = owner == nullptr && list == "body" ? &kernel.body : nullptr;
  if (owner != nullptr) {
    kernel.check_contains(owner);
    if (auto* loop = owner->as<ForLoop>(); loop != nullptr && list == "body") {
      scope = &loop->body;
    } else if (auto* condition = owner->as<IfThenElse>()) {
      scope = list == "then_body"   ? &condition->then_body
              : list == "else_body" ? &condition->else_body
                                    : nullptr;
    }
  }
  if (scope == nullptr) {
    throw UserError(
        {.headline = {"No list of statements \"", list, "\""},
         .node = owner == nullptr ? Part("the kernel") : Part(describe(owner)),
         .expected = "the body of a kernel or loop, then_body or else_body of a condition",
         .found = {"\"", list, "\""},
         .fix = "name a list that the node has"},
        ErrorKind::Value);
  }
  *scope = statements;
}

} // namespace nvfuser

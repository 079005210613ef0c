#include "lower/passes/separate_roles.h"

#include <algorithm>

#include "ir/dependencies.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/statement_facts.h"

namespace nvfuser {
namespace {

using Stage = CircularBufferLoopStage;

class RoleSeparator {
 public:
  explicit RoleSeparator(Kernel& kernel) : kernel_(kernel), loading_(loading_threads(kernel)) {}

  void run() {
    if (loading_.positions == 0) {
      return;
    }
    Scope body = take_common(kernel_.body);
    Scope computing = part(kernel_.body, Stage::ComputeWarp);
    auto* loading = kernel_.make<IfThenElse>(
        {.condition = is_first_of_block(), .then_body = part(kernel_.body, Stage::AsyncWarp)});
    body.push_back(kernel_.make<IfThenElse>(
        {.condition = scalar::ge(kernel_.parallel_index(loading_.along), kernel_.zero()),
         .then_body = std::move(computing),
         .else_body = Scope{loading}}));
    kernel_.body = std::move(body);
    forget_absent_statements(kernel_);
  }

 private:
  /// The thread that loads.
  Val* is_first_of_block() {
    Val* condition =
        scalar::eq(kernel_.parallel_index(loading_.along), kernel_.new_index(-loading_.positions));
    for (const ParallelType type : kBlockDimTypes) {
      const Val* launched = kernel_.launch.extents[type];
      if (type != loading_.along && launched != nullptr && !launched->is_one()) {
        condition = scalar::logical_and(
            condition, scalar::eq(kernel_.parallel_index(type), kernel_.zero()));
      }
    }
    return condition;
  }

  /// Both roles see shared memory, and wait for the prior grid.
  Scope take_common(Scope& scope) {
    Scope taken;
    for (Expr* node : scope) {
      for (Scope* body : bodies_of(*node)) {
        const Scope inner = take_common(*body);
        taken.insert(taken.end(), inner.begin(), inner.end());
      }
      if (is_common(*node)) {
        taken.push_back(node);
      }
    }
    std::erase_if(scope, [](const Expr* node) { return is_common(*node); });
    return taken;
  }
  static bool is_common(const Expr& node) {
    const auto* allocate = node.as<Allocate>();
    return node.is_a<PriorGridWait>() ||
           (allocate != nullptr && allocate->memory_type == MemoryType::Shared);
  }

  [[nodiscard]] Stage role_of(const Expr& statement) const {
    bool loads = stage_side(statement) == StageSide::Load;
    if (statement.is_a<BulkLoad>()) {
      for_each_write(statement, [&](const TensorIndex& box) {
        loads = has_stage_barriers(kernel_, box.view());
      });
    }
    return loads ? Stage::AsyncWarp : Stage::ComputeWarp;
  }

  /// The statements of a role, with the loops and conditions around them.
  Scope part(const Scope& scope, Stage role) {
    Scope result;
    for (Expr* node : scope) {
      if (const auto* loop = node->as<ForLoop>()) {
        if (Scope body = part(loop->body, role); !body.empty()) {
          auto* copy = with_body(kernel_, *loop, std::move(body));
          if (has_loads(*loop)) {
            copy->circular_buffer_stage = role;
          }
          result.push_back(copy);
        }
      } else if (auto* branch = node->as<IfThenElse>()) {
        append_branch(result, *branch, role);
      } else if (role_of(*node) == role) {
        result.push_back(node);
      }
    }
    return result;
  }

  /// Whether a loop is the one whose iterations have stages.
  [[nodiscard]] bool has_loads(const ForLoop& loop) const {
    return std::ranges::any_of(loop.body, [&](const Expr* node) {
      return node->is_a<AsyncCommit>() && role_of(*node) == Stage::AsyncWarp;
    });
  }

  void append_branch(Scope& result, const IfThenElse& branch, Stage role) {
    Scope then_body = part(branch.then_body, role);
    Scope else_body = part(branch.else_body, role);
    if (then_body.empty() && else_body.empty()) {
      return;
    }
    Val* condition = branch.condition;
    if (role == Stage::AsyncWarp) {
      NVF_INVARIANT(else_body.empty(), "loads stand on one path: ", branch.to_string());
      std::vector<Val*> terms = terms_of(condition);
      std::erase_if(terms, [&](const Val* term) { return is_about_threads(term); });
      condition = all_of(terms);
    }
    if (condition == nullptr) {
      result.insert(result.end(), then_body.begin(), then_body.end());
    } else {
      result.push_back(kernel_.make<IfThenElse>(
          {.condition = condition,
           .then_body = std::move(then_body),
           .else_body = std::move(else_body)}));
    }
  }

  [[nodiscard]] bool is_about_threads(const Val* term) const {
    return std::ranges::any_of(kBlockDimTypes, [&](ParallelType type) {
      return depends_on(term, kernel_.parallel_index(type));
    });
  }

  Kernel& kernel_;
  const LoadingThreads loading_;
};

} // namespace

void separate_roles(Kernel& kernel) {
  RoleSeparator(kernel).run();
}

} // namespace nvfuser

#include "lower/passes/unroll_loops.h"

#include <algorithm>
#include <bit>

#include "ir/dependencies.h"
#include "ir/scopes.h"
#include "lower/analysis/loop_copies.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

// Sizes of code, in units of about one statement on elements.
constexpr int64_t kDivision = 4;     // by what is not constant
constexpr int64_t kCollective = 32;  // a reduction or scan over threads, a barrier over blocks
constexpr int64_t kAskedLoop = 1024; // a loop that was bound to `unroll`
constexpr int64_t kOwnLoop = 64;     // one that the compiler is told to unroll on our own account
constexpr int64_t kLeftLoop = 256;   // one that is left to the compiler, which may unroll it
constexpr int64_t kKernel = 4096;    // all together

int64_t divisions_in(const Val* val) {
  return std::ranges::count_if(dependencies(val), [](const Val* part) {
    const auto* op = part->definition() == nullptr ? nullptr : part->definition()->as<BinaryOp>();
    return op != nullptr && !op->rhs->is_const() &&
           (op->op == BinaryOpType::Div || op->op == BinaryOpType::Mod ||
            op->op == BinaryOpType::CeilDiv);
  });
}

int64_t statement_size(const Expr& statement) {
  if (statement.is_a<Allocate>()) {
    return 0;
  }
  if (statement.is_a<BlockReduction>() || statement.is_a<GridReduction>() ||
      statement.is_a<BlockScan>() || statement.is_a<GridSync>()) {
    return kCollective;
  }
  int64_t divisions = statement.predicate() == nullptr ? 0 : divisions_in(statement.predicate());
  for_each_element(
      statement, [&](const TensorIndex& element) { divisions += divisions_in(element.index()); });
  return 1 + kDivision * divisions;
}

bool loads_from_global(const Scope& body) {
  bool found = false;
  for_each_node(body, [&](const Expr& expr) {
    for_each_read(expr, [&](const TensorIndex& element) {
      found = found || element.view()->memory_type() == MemoryType::Global;
    });
  });
  return found;
}

class LoopUnroller {
 public:
  explicit LoopUnroller(Kernel& kernel) : kernel_(kernel), required_(kernel.body) {
    for_each_node(kernel.body, [&](const Expr& expr) {
      if (const auto* allocate = expr.as<Allocate>(); allocate != nullptr && allocate->is_spilled) {
        required_.leave_out(allocate->buffer);
      }
    });
  }

  void run() {
    constexpr int64_t kLeast = 8;
    for (limit_ = kAskedLoop; visit(kernel_.body) > kKernel && limit_ > kLeast;) {
      limit_ /= 2;
    }
  }

 private:
  /// Decide for all loops of `scope`; the size of its code then.
  int64_t visit(const Scope& scope) {
    int64_t size = 0;
    for (Expr* expr : scope) {
      const std::vector<Scope*> bodies = bodies_of(*expr);
      if (auto* loop = expr->as<ForLoop>()) {
        size += visit_loop(*loop);
      } else if (bodies.empty()) {
        size += own_size(*expr);
      } else {
        const auto* branch = expr->as<IfThenElse>();
        size += branch == nullptr ? 0 : 1 + kDivision * divisions_in(branch->condition);
        for (const Scope* body : bodies) {
          size += visit(*body);
        }
      }
    }
    return size;
  }

  int64_t visit_loop(ForLoop& loop) {
    const int64_t body = std::max<int64_t>(1, visit(loop.body));
    if (loop.is_parallel || loop.is_vectorized) {
      return body;
    }
    const int64_t iterations = constant_iterations(loop);
    if (required_.addresses_registers(loop)) {
      loop.is_unrolled = true;
      loop.unroll_count = iterations;
    } else if (iterations == 0) {
      loop.unroll_count = 0;
    } else if (loop.is_unrolled) {
      loop.unroll_count = fitting(iterations, body, limit_);
    } else if (loads_from_global(loop.body)) {
      loop.unroll_count = fitting(iterations, body, std::min(limit_, kOwnLoop));
    } else if (iterations * body > std::min(limit_, kLeftLoop)) {
      loop.unroll_count = fitting(iterations, body, std::min(limit_, kOwnLoop));
    } else {
      loop.unroll_count = 0;
      return iterations * body;
    }
    return std::max<int64_t>(1, loop.unroll_count) * body;
  }

  /// All iterations if so many bodies fit into `limit`; else a power of two, which may be 1.
  static int64_t fitting(int64_t iterations, int64_t body, int64_t limit) {
    const int64_t most = std::max<int64_t>(1, limit / body);
    return iterations <= most ? iterations
                              : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
  }

  int64_t own_size(const Expr& statement) {
    const auto [known, is_new] = sizes_.try_emplace(&statement, 0);
    if (is_new) {
      known->second = statement_size(statement);
    }
    return known->second;
  }

  Kernel& kernel_;
  LoopCopies required_;
  int64_t limit_ = kAskedLoop;
  std::unordered_map<const Expr*, int64_t> sizes_;
};

} // namespace

void unroll_loops(Kernel& kernel) {
  LoopUnroller(kernel).run();
}

} // namespace nvfuser

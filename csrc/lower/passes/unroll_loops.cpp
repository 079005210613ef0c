#include "lower/passes/unroll_loops.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "ir/dependencies.h"
#include "ir/kernel_traits.h"
#include "ir/scopes.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/loop_copies.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

// Sizes of code, in units of about one statement on elements.
constexpr int64_t kDivision = 4;     // by what is not constant
constexpr size_t kChoices = 4;       // so many values of a choice: a test and an address each
constexpr int64_t kCollective = 32;  // a reduction or scan over threads, a barrier over blocks
constexpr int64_t kAskedLoop = 1024; // a loop that was bound to `unroll`
constexpr int64_t kOwnLoop = 64;     // one that the compiler is told to unroll on our own account
constexpr int64_t kLoadLoop = 512;   // the same, for the sake of loads that are few
constexpr int64_t kLeftLoop = 256;   // one that is left to the compiler, which may unroll it
constexpr int64_t kKernel = 4096;    // all together

// A compiler repeats a small body of a loop of unknown length, and has another copy for what is
// left over. Each has bounds, an index and tests of its own.
constexpr int64_t kUnknownCopies = 5;
constexpr int64_t kSmallBody = 16;
constexpr int64_t kLoopHead = 14;

constexpr int64_t kLoads = 16; // of global memory: so many at once make a loop worth more code

/// The size of statements once their loops are unrolled, and the loads among them.
struct Code {
  int64_t size = 0;
  int64_t loads = 0; // of global memory

  void add(Code other) {
    size += other.size;
    loads += other.loads;
  }

  /// A loop over this that has `count` copies of it; 0 means one.
  Code repeated(int64_t count) const {
    const int64_t copies = std::max<int64_t>(1, count);
    return {copies * size, copies * loads};
  }
};

int64_t divisions_in(const Val* val) {
  return std::ranges::count_if(dependencies(val), [](const Val* part) {
    const auto* op = part->definition() == nullptr ? nullptr : part->definition()->as<BinaryOp>();
    return op != nullptr && !op->rhs->is_const() &&
           (op->op == BinaryOpType::Div || op->op == BinaryOpType::Mod ||
            op->op == BinaryOpType::CeilDiv);
  });
}

/// Functions whose code is inlined and long, by the compiler's time for many copies of a call.
struct FunctionSize {
  int64_t in_float = 1;
  int64_t in_double = 1;

  [[nodiscard]] int64_t of(DataType dtype) const {
    constexpr int64_t kComplex = 100; // they call several functions of real numbers
    return is_complex(dtype) && in_double > 1 ? kComplex
           : dtype == DataType::Double        ? in_double
                                              : in_float;
  }
};

FunctionSize size_of(UnaryOpType op) {
  using U = UnaryOpType;
  switch (op) {
    case U::Exp:
    case U::Exp2:
    case U::Expm1:
    case U::Log:
    case U::Log2:
    case U::Log10:
    case U::Sinh:
    case U::Cosh:
    case U::Tanh:
    case U::Asin:
    case U::Acos:
    case U::Atan:
    case U::Erf:
    case U::Gelu:
    case U::Sigmoid:
    case U::Silu: return {1, 8};
    case U::Log1p:
    case U::Asinh:
    case U::Acosh:
    case U::Atanh:
    case U::Erfc: return {4, 16};
    case U::Sin:
    case U::Cos:
    case U::Tan: return {12, 8};
    case U::Erfinv: return {4, 24};
    case U::Erfcinv: return {4, 64};
    case U::Lgamma: return {24, 40};
    default: return {};
  }
}

FunctionSize size_of(BinaryOpType op) {
  switch (op) {
    case BinaryOpType::Pow: return {8, 16};
    case BinaryOpType::Atan2: return {8, 12};
    case BinaryOpType::Fmod:
    case BinaryOpType::Remainder: return {8, 64};
    default: return {};
  }
}

int64_t function_size(const Expr& statement) {
  if (const auto* unary = statement.as<UnaryOp>()) {
    return size_of(unary->op).of(unary->arg->dtype());
  }
  if (const auto* binary = statement.as<BinaryOp>()) {
    return is_integral(binary->out->dtype()) ? 1 : size_of(binary->op).of(binary->out->dtype());
  }
  if (const auto* choice = statement.as<ChosenElement>()) {
    return static_cast<int64_t>(std::max<size_t>(choice->values.size() / kChoices, 1));
  }
  return 1;
}

Code code_of(const Expr& statement) {
  const KernelTraits& traits = traits_of(statement);
  if (traits.is_declaration) {
    return {};
  }
  if (traits.is_large) {
    return {.size = kCollective};
  }
  int64_t divisions = statement.predicate() == nullptr ? 0 : divisions_in(statement.predicate());
  for_each_element(
      statement, [&](const TensorIndex& element) { divisions += divisions_in(element.index()); });
  int64_t loads = 0;
  for_each_read(statement, [&](const TensorIndex& element) {
    loads += element.view()->memory_type() == MemoryType::Global ? 1 : 0;
  });
  return {.size = function_size(statement) + kDivision * divisions, .loads = loads};
}

/// Whether the loop adds elements to a Welford that began before it. In copies of its body the
/// counts are constants, and nothing is divided.
bool counts_elements(const ForLoop& loop) {
  std::unordered_set<const TensorView*> own; // only looked up
  std::vector<const TensorView*> sums;
  for_each_node(loop.body, [&](const Expr& expr) {
    if (const auto* allocate = expr.as<Allocate>()) {
      own.insert(allocate->buffer);
    }
    const auto* welford = expr.as<WelfordOp>();
    if (welford != nullptr && welford->in_n->is_const()) {
      for_each_write(expr, [&](const TensorIndex& sum) { sums.push_back(sum.view()); });
    }
  });
  return std::ranges::any_of(sums, [&](const TensorView* sum) { return !own.contains(sum); });
}

/// Whether iterations add to Welfords. Compilers leave the loads of a second copy behind so much
/// arithmetic, where half as many loads as are wanted at once stand already.
bool has_welfords(const ForLoop& loop) {
  bool found = false;
  for_each_node(loop.body, [&](const Expr& expr) { found = found || expr.is_a<WelfordOp>(); });
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
    repeats_unknown_ = visit(kernel_.body).size <= kKernel;
    for (limit_ = kAskedLoop; visit(kernel_.body).size > kKernel && limit_ > kLeast;) {
      limit_ /= 2;
    }
  }

 private:
  /// Decide for all loops of `scope`; its code then.
  Code visit(const Scope& scope) {
    Code code;
    for (Expr* expr : scope) {
      const std::vector<Scope*> bodies = bodies_of(*expr);
      if (auto* loop = expr->as<ForLoop>()) {
        code.add(visit_loop(*loop));
      } else if (bodies.empty()) {
        code.add(own_code(*expr));
      } else {
        const auto* branch = expr->as<IfThenElse>();
        code.size += branch == nullptr ? 0 : 1 + kDivision * divisions_in(branch->condition);
        for (const Scope* body : bodies) {
          code.add(visit(*body));
        }
      }
    }
    return code;
  }

  Code visit_loop(ForLoop& loop) {
    Code body = visit(loop.body);
    body.size = std::max<int64_t>(1, body.size);
    if (!is_serial(loop)) {
      return body;
    }
    const int64_t iterations = constant_iterations(loop);
    if (required_.addresses_registers(loop)) {
      loop.loop_kind = LoopKind::Unrolled;
      loop.unroll_count = iterations;
    } else if (iterations == 0) {
      return visit_unknown(loop, body);
    } else if (traits_of(loop.loop_kind).is_written_out || counts_elements(loop)) {
      loop.unroll_count = fitting(iterations, body.size, limit_);
    } else if (body.loads > 0) {
      // One iteration's arithmetic, however much, leaves the memory idle: others load meanwhile.
      const bool has_enough = 2 * body.loads >= kLoads && has_welfords(loop);
      const int64_t copies = has_enough ? 1 : kLoads / body.loads;
      const int64_t few = std::min(kLoadLoop, copies * body.size);
      loop.unroll_count = fitting(iterations, body.size, std::min(limit_, std::max(kOwnLoop, few)));
    } else if (iterations * body.size > std::min(limit_, kLeftLoop)) {
      loop.unroll_count = fitting(iterations, body.size, std::min(limit_, kOwnLoop));
    } else {
      loop.unroll_count = 0;
      return body.repeated(iterations);
    }
    return body.repeated(loop.unroll_count);
  }

  /// A loop whose length is not constant.
  Code visit_unknown(ForLoop& loop, Code body) const {
    const bool is_repeated = body.size <= kSmallBody && !traits_of(loop.loop_kind).is_written_out;
    loop.unroll_count = is_repeated && !repeats_unknown_ ? 1 : 0;
    if (is_repeated && repeats_unknown_) {
      return {.size = kUnknownCopies * (body.size + kLoopHead), .loads = body.loads};
    }
    return body;
  }

  /// All iterations if so many bodies fit into `limit`; else a power of two, which may be 1.
  static int64_t fitting(int64_t iterations, int64_t body, int64_t limit) {
    const int64_t most = std::max<int64_t>(1, limit / body);
    return iterations <= most ? iterations
                              : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
  }

  Code own_code(const Expr& statement) {
    const auto [known, is_new] = codes_.try_emplace(&statement);
    if (is_new) {
      known->second = code_of(statement);
    }
    return known->second;
  }

  Kernel& kernel_;
  LoopCopies required_;
  int64_t limit_ = kAskedLoop;
  bool repeats_unknown_ = true; // compilers may repeat bodies of loops of unknown length
  std::unordered_map<const Expr*, Code> codes_;
};

} // namespace

void unroll_loops(Kernel& kernel) {
  LoopUnroller(kernel).run();
}

} // namespace nvfuser

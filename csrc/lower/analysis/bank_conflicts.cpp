#include "lower/analysis/bank_conflicts.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/target.h"
#include "ir/scopes.h"
#include "lower/analysis/for_loops.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kBanks = 32;
constexpr int64_t kWordBytes = 4;
constexpr int64_t kBytesPerPhase = 128; // that a warp does
constexpr int64_t kSampledIterations = 32;
constexpr int64_t kRowBytes = 16; // of a matrix

using Addresses = std::vector<std::optional<int64_t>>; // byte of each thread; none: it does not act

/// Rounds for threads [first, last) that access `bytes` each.
int64_t rounds(const Addresses& addresses, int64_t first, int64_t last, int64_t bytes) {
  std::array<std::set<int64_t>, kBanks> words;
  for (int64_t thread = first; thread < last; ++thread) {
    const std::optional<int64_t> address = addresses[static_cast<size_t>(thread)];
    if (!address) {
      continue;
    }
    for (int64_t word = *address / kWordBytes; word * kWordBytes < *address + bytes; ++word) {
      words[static_cast<size_t>(word % kBanks)].insert(word);
    }
  }
  size_t most = 0;
  for (const std::set<int64_t>& of_bank : words) {
    most = std::max(most, of_bank.size());
  }
  return static_cast<int64_t>(most);
}

int64_t ways_of(Addresses addresses, int64_t bytes) {
  const auto threads = static_cast<int64_t>(addresses.size());
  const int64_t at_once = std::min(bytes, Target::cuda().max_vector_bytes);
  const int64_t per_phase = std::min(threads, kBytesPerPhase / std::max(at_once, kWordBytes));
  int64_t ways = 0;
  for (int64_t done = 0; done < bytes; done += at_once) {
    for (int64_t first = 0; first < threads; first += per_phase) {
      ways =
          std::max(ways, rounds(addresses, first, std::min(first + per_phase, threads), at_once));
    }
    for (std::optional<int64_t>& address : addresses) {
      address = address ? std::optional(*address + at_once) : std::nullopt;
    }
  }
  return ways;
}

class ConflictFinder {
 public:
  ConflictFinder(const Kernel& kernel, const ExpressionEvaluator& known)
      : kernel_(kernel), known_(known) {
    for (const ParallelType type : kHardwareTypes) {
      const Val* launched = kernel.launch.extents[type];
      const int64_t size =
          launched == nullptr ? 1 : std::max<int64_t>(known_.evaluate_int(launched), 1);
      if (is_block_dim(type)) {
        block_.push_back(size);
      }
      if (launched != nullptr) {
        known_.bind(
            std::string(is_block_dim(type) ? "blockDim." : "gridDim.") + "xyz"[traits_of(type).dim],
            size);
      }
    }
  }

  std::vector<BankConflict> run() {
    visit(kernel_.body, 1);
    return std::move(found_);
  }

 private:
  /// A condition or loop around a statement.
  struct Guard {
    const Val* condition = nullptr;
    bool holds = true;
  };

  void visit(const Scope& scope, int64_t lanes) {
    for (const Expr* node : scope) {
      if (const auto* branch = node->as<IfThenElse>()) {
        for (const bool holds : {true, false}) {
          guards_.push_back({branch->condition, holds});
          visit(holds ? branch->then_body : branch->else_body, lanes);
          guards_.pop_back();
        }
        continue;
      }
      const auto* loop = node->as<ForLoop>();
      const bool repeats = loop != nullptr && is_serial(*loop);
      if (repeats) {
        loops_.push_back(loop);
      }
      for (const Scope* body : bodies_of(*node)) {
        visit(
            *body, loop != nullptr && loop->loop_kind == LoopKind::Vector
                       ? known_.evaluate_int(loop->stop)
                       : lanes);
      }
      if (repeats) {
        loops_.pop_back();
      }
      if (bodies_of(*node).empty() && !node->is_a<Allocate>()) {
        visit_statement(*node, lanes);
      }
    }
  }

  void visit_statement(const Expr& statement, int64_t lanes) {
    for (const bool is_write : {false, true}) {
      for (const Val* val : is_write ? statement.outputs() : statement.inputs()) {
        if (val->vtype() != ValType::TensorIndex) {
          continue;
        }
        const auto& element = static_cast<const TensorIndex&>(*val);
        if (element.view()->memory_type() == MemoryType::Shared) {
          // A lane of a copy of matrices tells where a row begins, which is read at once.
          const bool is_row = is_matrix_copy(&statement);
          add(statement, element, is_write,
              is_row ? kRowBytes : lanes * size_bytes(element.dtype()));
        }
      }
    }
  }

  void add(const Expr& statement, const TensorIndex& element, bool is_write, int64_t bytes) {
    const int64_t ways = worst(element, bytes);
    if (ways == 0) {
      return; // no thread comes here
    }
    // The two paths of an unswitched loop have the same statement.
    const auto same = std::find_if(found_.begin(), found_.end(), [&](const BankConflict& other) {
      return other.statement == &statement && other.tensor == element.view() &&
             other.is_write == is_write;
    });
    if (same != found_.end()) {
      same->ways = std::max(same->ways, ways);
    } else {
      found_.push_back({&statement, element.view(), is_write, bytes, ways});
    }
  }

  /// Over the iterations of each loop around the statement.
  int64_t worst(const TensorIndex& element, int64_t bytes) const {
    int64_t ways = ways_of(addresses(element, nullptr, 0), bytes);
    for (const ForLoop* loop : loops_) {
      for (int64_t i = 1; i < kSampledIterations; ++i) {
        ways = std::max(ways, ways_of(addresses(element, loop, i), bytes));
      }
    }
    return ways;
  }

  /// Addresses of the threads of warp 0, in iteration `iteration` of `varied` and the first of
  /// other loops.
  Addresses addresses(const TensorIndex& element, const ForLoop* varied, int64_t iteration) const {
    const int64_t warp = kernel_.target().warp_size;
    Addresses result;
    for (int64_t thread = 0; thread < std::min(warp, block_[0] * block_[1] * block_[2]); ++thread) {
      ExpressionEvaluator evaluator = known_;
      const std::array<int64_t, 3> position{
          thread % block_[0], thread / block_[0] % block_[1], thread / (block_[0] * block_[1])};
      for (size_t i = 0; i < kBlockDimTypes.size(); ++i) {
        evaluator.bind(text(kBlockDimTypes[i]), position[i]);
        evaluator.bind(text(kGridDimTypes[i]), int64_t{0});
      }
      result.push_back(
          acts(evaluator, varied, iteration)
              ? std::optional(evaluator.evaluate_int(element.index()) * size_bytes(element.dtype()))
              : std::nullopt);
    }
    return result;
  }

  /// Binds the indices of the loops; whether a thread comes to the statement.
  bool acts(ExpressionEvaluator& evaluator, const ForLoop* varied, int64_t iteration) const {
    for (const ForLoop* loop : loops_) {
      const int64_t index = evaluator.evaluate_int(loop->start) + (loop == varied ? iteration : 0);
      const std::optional<ScalarValue> stop = evaluator.evaluate(loop->stop);
      if (stop && index >= as_int(*stop)) {
        return false;
      }
      if (!loop->index->is_const()) {
        evaluator.bind(loop->index, index);
      }
    }
    return std::all_of(guards_.begin(), guards_.end(), [&](const Guard& guard) {
      const std::optional<ScalarValue> value = evaluator.evaluate(guard.condition);
      return !value || as_bool(*value) == guard.holds;
    });
  }

  const Kernel& kernel_;
  ExpressionEvaluator known_;
  std::vector<int64_t> block_; // threads along x, y, z
  std::vector<const ForLoop*> loops_;
  std::vector<Guard> guards_;
  std::vector<BankConflict> found_;
};

} // namespace

std::string BankConflict::to_string() const {
  std::string text = statement->to_string();
  text.erase(text.find_last_not_of(" \n") + 1);
  return "T" + std::to_string(tensor->name()) + (is_write ? " is written, " : " is read, ") +
         std::to_string(bytes) + " bytes a thread, " +
         (ways == 1 ? std::string("no conflict") : std::to_string(ways) + " ways") + ": " + text;
}

std::vector<BankConflict> find_bank_conflicts(
    const Kernel& kernel, const ExpressionEvaluator& known) {
  return ConflictFinder(kernel, known).run();
}

} // namespace nvfuser

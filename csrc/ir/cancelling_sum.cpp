#include "ir/cancelling_sum.h"

#include <limits>
#include <unordered_map>
#include <utility>

#include "ir/fusion.h"
#include "ir/pointwise.h"
#include "ir/scalar.h"

namespace nvfuser::scalar {
namespace {

struct SameVal {
  bool operator()(const Val* a, const Val* b) const {
    return detail::same_val(a, b);
  }
};

struct HashVal {
  size_t operator()(const Val* val) const {
    return detail::hash_val(val);
  }
};

class CancellingSum {
 public:
  void add(Val* summand) {
    std::vector<std::pair<Val*, bool>> pending = {{summand, false}}; // whether it is subtracted
    while (!pending.empty()) {
      const auto [val, is_negative] = pending.back();
      pending.pop_back();
      const Expr* definition = val->definition();
      const auto* binary = definition == nullptr ? nullptr : definition->as<BinaryOp>();
      const auto* unary = definition == nullptr ? nullptr : definition->as<UnaryOp>();
      if (val->is_const_int()) {
        add_constant(as_int(val->value()), is_negative);
      } else if (
          binary != nullptr &&
          (binary->op == BinaryOpType::Add || binary->op == BinaryOpType::Sub)) {
        pending.emplace_back(binary->rhs, is_negative != (binary->op == BinaryOpType::Sub));
        pending.emplace_back(binary->lhs, is_negative); // read first
      } else if (unary != nullptr && unary->op == UnaryOpType::Neg) {
        pending.emplace_back(unary->arg, !is_negative);
      } else {
        cancel_or_append(val, is_negative);
      }
    }
  }

  [[nodiscard]] Val* value(Fusion& fusion) const {
    if (is_too_large_) {
      return nullptr;
    }
    Val* sum = fusion.zero();
    for (const bool negative : {false, true}) {
      for (const Term& term : terms_) {
        if (term.is_negative == negative && !term.is_cancelled) {
          sum = negative ? sub(sum, term.val) : scalar::add(sum, term.val);
        }
      }
    }
    return constant_ < 0 ? sub(sum, fusion.new_index(-constant_))
                         : scalar::add(sum, fusion.new_index(constant_));
  }

 private:
  struct Term {
    Val* val;
    bool is_negative;
    bool is_cancelled = false;
  };
  /// Positions of the terms with one value. Those from `first` on have the same sign and are not
  /// cancelled; the oldest is cancelled first.
  struct Occurrences {
    std::vector<size_t> positions;
    size_t first = 0;
  };

  void add_constant(int64_t number, bool is_negative) {
    const bool has_wrapped = is_negative ? __builtin_sub_overflow(constant_, number, &constant_)
                                         : __builtin_add_overflow(constant_, number, &constant_);
    is_too_large_ = is_too_large_ || has_wrapped ||
                    constant_ == std::numeric_limits<int64_t>::min(); // has no negative
  }

  void cancel_or_append(Val* val, bool is_negative) {
    Occurrences& same = occurrences_[val];
    if (same.first < same.positions.size()) {
      Term& oldest = terms_[same.positions[same.first]];
      if (oldest.is_negative != is_negative) {
        oldest.is_cancelled = true;
        ++same.first;
        return;
      }
    }
    same.positions.push_back(terms_.size());
    terms_.push_back({val, is_negative});
  }

  std::vector<Term> terms_;
  std::unordered_map<const Val*, Occurrences, HashVal, SameVal> occurrences_; // only looked up
  int64_t constant_ = 0;
  bool is_too_large_ = false;
};

} // namespace

Val* cancelling_sum(const std::vector<Val*>& summands) {
  CancellingSum sum;
  for (Val* summand : summands) {
    sum.add(summand);
  }
  return sum.value(*summands.at(0)->fusion());
}

} // namespace nvfuser::scalar

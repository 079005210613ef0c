// Mistakes of passes from fusion to fusion, found between two of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/fusion.h"

namespace nvfuser::optimize {

/// The part of a fusion that callers see and no pass changes: inputs and outputs, and for each
/// output its dtype, which axes are broadcasts, the order of strides that is asked for, and the
/// input that it is written into. Passes may add inputs that repeat others.
class Interface {
 public:
  explicit Interface(const Fusion& fusion);
  /// Whether `now` has the same outputs, and the same inputs with perhaps others behind them.
  [[nodiscard]] bool is_kept_by(const Interface& now) const;

 private:
  struct Output {
    const Val* tensor = nullptr;
    DataType dtype = DataType::Null;
    std::vector<std::pair<bool, bool>> axes; // whether each is a broadcast, and expanded
    std::vector<int64_t> memory_order;
    const Val* updated_input = nullptr;
    bool is_hidden = false;
    bool operator==(const Output&) const = default;
    [[nodiscard]] bool is_kept_by(Output now) const;
  };
  std::vector<const Val*> inputs_;
  std::vector<Output> outputs_;
};

/// One line for each mistake:
///   - `before` is not kept;
///   - a value and the expressions that define and read it do not know each other;
///   - two axes that an expression maps to each other have different constant sizes;
///   - an expression that combines nothing has a result with reduction axes;
///   - what only moves elements changes their dtype, or operands of arithmetic differ in theirs.
/// Cost: linear in the expressions.
[[nodiscard]] std::vector<std::string> find_violations(
    const Fusion& fusion, const Interface& before);

} // namespace nvfuser::optimize

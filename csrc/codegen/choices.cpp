// The text of one value among several, by conditions.

#include <algorithm>

#include "codegen/expressions.h"
#include "lower/analysis/memory_layout.h"

namespace nvfuser {

/// c0 ? v0 : c1 ? v1 : v2; of many values c1 ? (c0 ? v0 : v1) : v2. Among elements of memory their
/// addresses are chosen, so that there is one read: *(c0 ? &T0[i] : &T1[j]).
Text ExpressionPrinter::choice(const ChosenElement& op) {
  const DataType to = op.out->dtype();
  if (op.values.size() > 2 && has_addresses(op.values, to)) {
    const std::string read = chosen_element(op);
    return {are_read_only(op.values) ? dialect_.read_only_element(read) : read, Precedence::Unary};
  }
  const bool all_are_there =
      std::ranges::all_of(op.values, [&](const Val* value) { return present_.contains(value); });
  const ConditionalReads values(*this, !all_are_there);
  return choice_among(
      op, 0, op.values.size(), [&](const Val* value) { return value_as(value, to, true); },
      all_are_there ? dialect_.select_function(to) : "");
}

/// *(c0 ? &T0[i] : &T1[j])
std::string ExpressionPrinter::chosen_element(const ChosenElement& op) {
  const Text chosen = choice_among(op, 0, op.values.size(), [&](const Val* value) -> Text {
    return {"&" + element(static_cast<const TensorIndex*>(value), false).str()};
  });
  return "*(" + chosen.str() + ")";
}

std::string ExpressionPrinter::choice_where(const std::string& condition, const ChosenElement& op) {
  const bool is_read = has_addresses(op.values, op.out->dtype()) && are_read_only(op.values);
  return is_read ? dialect_.read_only_element_where(condition, chosen_element(op)) : "";
}

bool ExpressionPrinter::are_read_only(const std::vector<Val*>& elements) const {
  return std::ranges::all_of(elements, [&](const Val* element) {
    return is_read_only(static_cast<const TensorIndex*>(element)->view());
  });
}

bool ExpressionPrinter::has_addresses(const std::vector<Val*>& values, DataType type) const {
  return std::ranges::all_of(values, [&](const Val* value) {
    const auto* view = value->vtype() == ValType::TensorIndex
                           ? static_cast<const TensorIndex*>(value)->view()
                           : nullptr;
    return view != nullptr && view->memory_type() == MemoryType::Global && !view->is_cpu_scalar() &&
           !is_stored_in_pairs(view) && value->dtype() == type;
  });
}

/// Values [first, end). A condition that holds makes later ones hold: many are halved.
Text ExpressionPrinter::choice_among(
    const ChosenElement& op,
    size_t first,
    size_t end,
    const std::function<Text(const Val*)>& text_of,
    const std::string& select) {
  constexpr size_t kMostInARow = 4;
  const size_t count = end - first;
  if (count == 1) {
    return text_of(op.values[first]);
  }
  const size_t middle = first + (count > kMostInARow ? count / 2 : 1);
  const Text condition = value_as(op.conditions[middle - 1], DataType::Bool);
  const Text left = choice_among(op, first, middle, text_of, select);
  const Text right = choice_among(op, middle, end, text_of, select);
  if (!select.empty()) {
    return selection(select, op.out->dtype(), condition, left, right);
  }
  return {
      condition.within(Precedence::Or) + " ? " + left.within(Precedence::Or) + " : " +
          right.within(Precedence::Conditional),
      Precedence::Conditional};
}

Text ExpressionPrinter::selection(
    const std::string& select,
    DataType type,
    const Text& condition,
    const Text& a,
    const Text& b) const {
  return {
      select + "<" + c_type(type) + ">(" + condition.str() + ", " + a.str() + ", " + b.str() + ")"};
}

} // namespace nvfuser

#include "codegen/present_elements.h"

#include <algorithm>
#include <initializer_list>

#include "ir/all_nodes.h"
#include "ir/scopes.h"

namespace nvfuser {
namespace {

constexpr int64_t kMost = int64_t{1} << 31; // of an operand: products of two do not overflow

} // namespace

PresentElements::PresentElements(const Scope& body) {
  for_each_node(body, [&](const Expr& expr) {
    if (const auto* loop = expr.as<ForLoop>()) {
      const bool is_constant = loop->start->is_const_int() && loop->stop->is_const_int();
      const int64_t start = is_constant ? as_int(loop->start->value()) : 0;
      const int64_t stop = is_constant ? as_int(loop->stop->value()) : 0;
      if (start < stop) {
        loops_.emplace(loop->index, Range{.least = start, .most = stop - 1});
      }
    } else if (
        const auto* array = expr.as<Allocate>(); array != nullptr &&
                                                 array->memory_type == MemoryType::Local &&
                                                 array->size->is_const_int()) {
      elements_.emplace(array->buffer, as_int(array->size->value()));
    }
  });
}

bool PresentElements::contains(const Val* value) const {
  if (value->vtype() != ValType::TensorIndex) {
    return true;
  }
  const auto* element = static_cast<const TensorIndex*>(value);
  const auto array = elements_.find(element->view());
  if (array == elements_.end()) {
    return false;
  }
  const std::optional<Range> index = range_of(element->index());
  return array->second == 1 ||
         (index.has_value() && index->least >= 0 && index->most < array->second);
}

std::optional<PresentElements::Range> PresentElements::range_of(const Val* index) const {
  if (index->is_const_int()) {
    const int64_t value = as_int(index->value());
    return Range{.least = value, .most = value};
  }
  if (const auto loop = loops_.find(index); loop != loops_.end()) {
    return loop->second;
  }
  const auto* operation =
      index->definition() == nullptr ? nullptr : index->definition()->as<BinaryOp>();
  if (operation == nullptr) {
    return std::nullopt;
  }
  const std::optional<Range> a = range_of(operation->lhs);
  const std::optional<Range> b = range_of(operation->rhs);
  const auto is_small = [](const std::optional<Range>& range) {
    return range.has_value() && range->least > -kMost && range->most < kMost;
  };
  if (!is_small(a) || !is_small(b)) {
    return std::nullopt;
  }
  switch (operation->op) {
    case BinaryOpType::Add: return Range{a->least + b->least, a->most + b->most};
    case BinaryOpType::Sub: return Range{a->least - b->most, a->most - b->least};
    case BinaryOpType::Mul: {
      const auto [least, most] = std::minmax(
          {a->least * b->least, a->least * b->most, a->most * b->least, a->most * b->most});
      return Range{least, most};
    }
    case BinaryOpType::Mod:
      if (a->least >= 0 && b->least > 0) {
        return Range{.least = 0, .most = std::min(a->most, b->most - 1)};
      }
      return std::nullopt;
    default: return std::nullopt;
  }
}

} // namespace nvfuser

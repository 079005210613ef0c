// Tools for binding operations: one overload for every mix of tensors and scalars.
#pragma once

#include <array>
#include <utility>

#include "all_or_nothing.h"
#include "bindings.h"

namespace nvfuser::python {

/// The module of the operations: none of them leaves half of its nodes behind.
class OpModule : public nb::module_ {
 public:
  explicit OpModule(nb::module_ m) : nb::module_(std::move(m)) {}

  template <typename Fn, typename... Extra>
  OpModule& def(const char* name, Fn fn, const Extra&... extra) {
    nb::module_::def(name, all_or_nothing(fn), extra...);
    return *this;
  }
};

/// How an operand reaches an operation.
inline Val* to_val(TensorView* tensor) {
  return tensor;
}
inline Val* to_val(const ScalarArg& scalar) {
  return scalar.require();
}

template <bool is_tensor, bool is_checked>
using OperandArg = std::conditional_t<
    is_tensor,
    TensorView*,
    std::conditional_t<is_checked, CheckedScalarArg, ScalarArg>>;

/// The documentation of an operation on named operands, in NumPy style.
std::string operation_doc(const std::string& summary, const std::vector<const char*>& operands);

/// Bind the overload of `fn(Val*, ...)` whose operand i is a tensor where bit i of `mask` is set.
/// Where bit i of `checked` is set, `fn` refuses tensors itself. It takes positional arguments
/// only.
template <size_t mask, size_t checked = 0, typename Fn, size_t... I>
void bind_mix(
    OpModule& m, const char* name, Fn fn, const std::string& doc, std::index_sequence<I...>) {
  using Result = std::conditional_t<mask == 0, Val*, TensorView*>;
  m.def(
      name,
      [fn](OperandArg<((mask >> I) & 1) != 0, ((checked >> I) & 1) != 0>... operands) {
        // Braces: constants are made in the order of the operands.
        const std::array<Val*, sizeof...(I)> vals = {to_val(operands)...};
        return static_cast<Result>(std::apply(fn, vals));
      },
      doc.c_str());
}

/// Bind `fn` for every mix of tensors and scalars, all tensors first. The result is a tensor if an
/// operand is one.
template <size_t count, typename Fn>
void bind_all_mixes(OpModule& m, const char* name, Fn fn, const std::string& doc) {
  constexpr size_t kMixes = size_t{1} << count;
  [&]<size_t... M>(std::index_sequence<M...>) {
    (bind_mix<kMixes - 1 - M>(m, name, fn, doc, std::make_index_sequence<count>{}), ...);
  }(std::make_index_sequence<kMixes>{});
}

void bind_pointwise_ops(OpModule& ops);
void bind_shape_ops(OpModule& ops);
void bind_reduce_ops(OpModule& ops);
void bind_create_ops(OpModule& ops);
void bind_composite_ops(OpModule& ops);
void bind_search_ops(OpModule& ops);
void bind_random_ops(OpModule& ops);
void bind_index_ops(OpModule& ops);
void bind_resize_ops(OpModule& ops);
void bind_grid_order_ops(OpModule& ops);
void bind_layer_ops(OpModule& ops);
void bind_matmul_ops(OpModule& ops);
void bind_quantize_ops(OpModule& ops);

} // namespace nvfuser::python

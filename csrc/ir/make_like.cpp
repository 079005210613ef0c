#include "ir/make_like.h"

#include "ir/all_nodes.h"
#include "ir/fusion.h"

namespace nvfuser {
namespace {

/// Hands out the values of a list, one after the other, to fields that have one.
class Operands {
 public:
  explicit Operands(const std::vector<Val*>& values) : values_(values) {}

  template <typename Leaf>
  void operator()(Leaf&& leaf) {
    using T = std::remove_cvref_t<Leaf>;
    if constexpr (is_statement_pointer_v<T>) {
      if constexpr (std::is_base_of_v<Val, std::remove_pointer_t<T>>) {
        leaf = leaf == nullptr ? nullptr : static_cast<T>(values_.at(next_++));
      }
    }
  }
  [[nodiscard]] bool are_all_taken() const {
    return next_ == values_.size();
  }

 private:
  const std::vector<Val*>& values_;
  size_t next_ = 0;
};

} // namespace

Expr* make_like(
    const Expr& expr, const std::vector<Val*>& inputs, const std::vector<Val*>& outputs) {
  Fusion& fusion = *outputs.at(0)->fusion();
  return visit(expr, [&]<typename Node>(const Node& node) -> Expr* {
    typename Node::Fields fields = node;
    Operands take_input(inputs);
    Operands take_output(outputs);
    for_each_field<Node>([&](const auto& field) {
      if (field.role == Role::Input) {
        for_each_leaf(fields.*field.member, take_input);
      } else if (field.role == Role::Output) {
        for_each_leaf(fields.*field.member, take_output);
      }
    });
    NVF_INVARIANT(
        take_input.are_all_taken() && take_output.are_all_taken(), "as many operands as a ",
        expr.op_name(), " has");
    return fusion.make<Node>(std::move(fields));
  });
}

} // namespace nvfuser

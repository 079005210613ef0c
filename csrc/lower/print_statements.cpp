#include <array>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "lower/kernel_text.h"
#include "lower/kernel_text_names.h"

namespace nvfuser {
namespace {

std::string number_text(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-inf" : "inf";
  }
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), end.ptr};
}

std::string value_text(const ScalarValue& value) {
  return std::visit(
      []<typename T>(const T& v) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "none";
        } else if constexpr (std::is_same_v<T, bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return std::to_string(v);
        } else if constexpr (std::is_same_v<T, double>) {
          return number_text(v);
        } else {
          return number_text(v.real()) + "|" + number_text(v.imag());
        }
      },
      value);
}

class StatementPrinter {
 public:
  explicit StatementPrinter(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    print_scope(kernel_.body, 0);
    return std::move(text_);
  }

 private:
  // ---- Values -----------------------------------------------------------------------------------

  std::string text_of(const Val* val) {
    if (val == nullptr) {
      return "null";
    }
    switch (val->vtype()) {
      case ValType::TensorView: return "T" + std::to_string(val->name());
      case ValType::IterDomain: return "D" + std::to_string(val->name());
      case ValType::NamedScalar:
        return '"' + static_cast<const NamedScalar*>(val)->text_name() + '"';
      case ValType::TensorIndex: {
        const auto* element = static_cast<const TensorIndex*>(val);
        return text_of(element->view()) + "[" + text_of(element->index()) + "]";
      }
      default: break;
    }
    if (val->is_const()) {
      return value_text(val->value()) + ":" + enum_name(val->dtype());
    }
    if (val->definition() == nullptr || declared_.contains(val)) {
      return val->to_string();
    }
    return computation(*val);
  }

  /// `Add:Index(i3, 4:Index)`; of other expressions the node with its fields.
  std::string computation(const Val& val) {
    const Expr& expr = *val.definition();
    const std::string dtype = std::string(":") + enum_name(val.dtype());
    if (const auto* unary = expr.as<UnaryOp>()) {
      return enum_name(unary->op) + dtype + "(" + text_of(unary->arg) + ")";
    }
    if (const auto* binary = expr.as<BinaryOp>()) {
      return enum_name(binary->op) + dtype + "(" + text_of(binary->lhs) + ", " +
             text_of(binary->rhs) + ")";
    }
    if (const auto* ternary = expr.as<TernaryOp>()) {
      return enum_name(ternary->op) + dtype + "(" + text_of(ternary->in1) + ", " +
             text_of(ternary->in2) + ", " + text_of(ternary->in3) + ")";
    }
    return expr.op_name() + dtype + "(" + fields_of(expr, /*with_outputs=*/false) + ")";
  }

  template <typename T>
  std::string text_of(const std::vector<T>& list) {
    std::string out;
    for (const T& item : list) {
      out += (out.empty() ? "" : ", ") + text_of(item);
    }
    return "[" + out + "]";
  }

  template <typename T>
    requires(std::is_same_v<T, bool> || std::is_same_v<T, int64_t>)
  std::string text_of(T value) {
    return value_text(ScalarValue(value));
  }

  template <typename Enum>
    requires(std::is_enum_v<Enum>)
  std::string text_of(Enum value) {
    return kernel_text::MemberNames<Enum>::names[static_cast<size_t>(value)];
  }

  // ---- Statements -------------------------------------------------------------------------------

  std::string fields_of(const Expr& expr, bool with_outputs) {
    std::string out;
    visit(expr, [&]<typename Node>(const Node& node) {
      const typename Node::Fields defaults{};
      for_each_field<Node>([&](const auto& field) {
        using T = typename std::decay_t<decltype(field)>::Type;
        if constexpr (!kernel_text::is_scope_v<T>) {
          const T& value = node.*field.member;
          if (value != defaults.*field.member && (with_outputs || field.role != Role::Output)) {
            out += (out.empty() ? "" : ", ") + std::string(field.name) + "=" + text_of(value);
          }
        }
      });
    });
    return out;
  }

  std::string facts_of(const Expr& statement) {
    std::string out;
    if (const Val* predicate = statement.predicate()) {
      out += " predicate=" + text_of(predicate);
    }
    if (const auto found = kernel_.origin.find(&statement); found != kernel_.origin.end()) {
      out += " origin=" +
             (found->second == nullptr ? "null" : text_of(found->second->outputs().front()));
    }
    if (const auto found = kernel_.tests.find(&statement); found != kernel_.tests.end()) {
      const StatementTests& tests = found->second;
      out += " ranges=" + ranges_of(tests.ranges) + " storage=" + ranges_of(tests.storage) +
             " owner=" + text_of(tests.owner);
    }
    return out;
  }

  std::string ranges_of(const std::vector<RangeTest>& ranges) {
    std::string out;
    for (const RangeTest& test : ranges) {
      out += (out.empty() ? "" : ", ") + std::string(test.may_be_negative ? "0 <= " : "") +
             text_of(test.index) + " < " + text_of(test.extent);
    }
    return "[" + out + "]";
  }

  void print_scope(const Scope& scope, int depth) {
    const size_t num_declared = order_.size();
    for (const Expr* statement : scope) {
      print_statement(*statement, depth);
    }
    while (order_.size() > num_declared) {
      declared_.erase(order_.back());
      order_.pop_back();
    }
  }

  void print_statement(const Expr& statement, int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    for (const Val* out : statement.outputs()) {
      if (out->is_scalar() && declared_.insert(out).second) {
        order_.push_back(out);
      }
    }
    text_ += indent + statement.op_name() + "(" + fields_of(statement, /*with_outputs=*/true) +
             ")" + facts_of(statement) + "\n";
    visit(statement, [&]<typename Node>(const Node& node) {
      for_each_field<Node>([&](const auto& field) {
        using T = typename std::decay_t<decltype(field)>::Type;
        if constexpr (kernel_text::is_scope_v<T>) {
          if (!(node.*field.member).empty()) {
            text_ += indent + "  " + field.name + ":\n";
            print_scope(node.*field.member, depth + 2);
          }
        }
      });
    });
  }

  const Kernel& kernel_;
  std::string text_;
  std::unordered_set<const Val*> declared_; // scalars that statements computed in the open scopes
  std::vector<const Val*> order_;
};

} // namespace

std::string print_statements(const Kernel& kernel) {
  return StatementPrinter(kernel).run();
}

} // namespace nvfuser

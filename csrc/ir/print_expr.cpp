#include "ir/fusion.h"
#include "ir/print_node.h"

namespace nvfuser {

namespace print_detail {

std::string str(const Val* val) {
  return val == nullptr ? "nullptr" : print_val(val);
}

std::string inline_or(const Val* val, const char* absent) {
  return val == nullptr ? absent : print_inline(val);
}

bool is_tensor_op(const Val* out) {
  return out->is_tensor();
}

std::string assign(const Val* out, const std::string& computation) {
  return str(out) + (is_tensor_op(out) ? "\n   = " : " = ") + computation + "\n";
}

std::string comma(const Val* out) {
  return is_tensor_op(out) ? "\n  , " : ", ";
}

std::string flags_text(const std::vector<bool>& flags) {
  std::string out;
  for (const bool flag : flags) {
    out += (out.empty() ? "" : ", ") + std::string(bool_text(flag));
  }
  return "{" + out + "}";
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string out;
  for (const int64_t dim : dims) {
    out += (out.empty() ? "" : ", ") + std::string(1, "xyz"[dim]);
  }
  return "{" + out + "}";
}

} // namespace print_detail

namespace {

/// Every line of `text` moved right by `indent` levels.
std::string indented(const std::string& text, int indent) {
  if (indent == 0) {
    return text;
  }
  const std::string margin(static_cast<size_t>(2 * indent), ' ');
  std::string out;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    end = end == std::string::npos ? text.size() : end + 1;
    out += margin;
    out.append(text, begin, end - begin);
    begin = end;
  }
  return out;
}

} // namespace

std::string print_expr(const Expr* expr, int indent) {
  std::string text = visit(*expr, [](const auto& e) { return print_node(e); });
  if (expr->predicate() != nullptr) {
    text.insert(text.size() - 1, " WHEN " + print_inline(expr->predicate()));
  }
  return indented(text, indent);
}

std::string print_scope(const std::vector<Expr*>& scope, int indent) {
  std::string out;
  for (const Expr* expr : scope) {
    out += print_expr(expr, indent);
  }
  return out;
}

} // namespace nvfuser

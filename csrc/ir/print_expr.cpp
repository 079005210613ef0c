#include <unordered_map>

#include "ir/fusion.h"
#include "ir/print_node.h"

namespace nvfuser {

namespace print_detail {
namespace {

/// The names in use while a thread prints.
struct Naming {
  std::vector<const Val*> names;              // those of inner scopes last
  std::unordered_map<const Val*, int> counts; // how often each stands there
  int depth = 0;                              // number of scopes
};
thread_local Naming naming;

} // namespace

NamedScalars::NamedScalars() : begin_(naming.names.size()) {
  ++naming.depth;
}

NamedScalars::~NamedScalars() {
  while (naming.names.size() > begin_) {
    const auto counted = naming.counts.find(naming.names.back());
    if (--counted->second == 0) {
      naming.counts.erase(counted);
    }
    naming.names.pop_back();
  }
  --naming.depth;
}

void NamedScalars::add(const Expr& statement) {
  for (const Val* out : statement.outputs()) {
    if (out->is_scalar()) {
      naming.names.push_back(out);
      ++naming.counts[out];
    }
  }
}

bool NamedScalars::contains(const Val* val) {
  return naming.counts.contains(val);
}

bool NamedScalars::is_spelled_out(const Val* val) {
  return naming.depth > 0 && val->definition() != nullptr && !contains(val);
}

std::string print_in_scope(const std::vector<Expr*>& statements, int indent) {
  std::string out;
  for (const Expr* statement : statements) {
    NamedScalars::add(*statement);
    out += print_expr(statement, indent);
  }
  return out;
}

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

std::string print_exprs(const std::vector<Expr*>& exprs) {
  std::string out;
  for (const Expr* expr : exprs) {
    out += print_expr(expr);
  }
  return out;
}

std::string print_scope(const std::vector<Expr*>& scope, int indent) {
  const print_detail::NamedScalars names;
  return print_detail::print_in_scope(scope, indent);
}

} // namespace nvfuser

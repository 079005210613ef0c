// Texts of values: constants, names, domains, tensors, and scalars with their computation.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/print_node.h"

namespace nvfuser {

using print_detail::NamedScalars;

namespace {

/// Significant digits with which a constant can be read back.
int round_trip_digits(DataType type) {
  switch (type) {
    case DataType::Double:
    case DataType::ComplexDouble: return 17;
    case DataType::Half: return 5;
    case DataType::BFloat16: return 4;
    case DataType::Float8_e4m3fn:
    case DataType::Float8_e5m2:
    case DataType::Float4_e2m1fn: return 4;
    default: return 9;
  }
}

std::string real_text(double value, DataType type) {
  if (std::isnan(value)) {
    return "nan";
  }
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*g", round_trip_digits(type), value);
  return buffer.data();
}

std::string scalar_name(const Val* val) {
  return scalar_prefix(val->dtype()) + std::to_string(val->name());
}

/// Text of a scalar as an operand: its constant or its name.
std::string scalar_text(const Val* val) {
  if (val->vtype() == ValType::NamedScalar) {
    return static_cast<const NamedScalar*>(val)->text_name();
  }
  return val->is_const() ? print_constant(val->value(), val->dtype()) : scalar_name(val);
}

std::string join(const IterDomains& ids) {
  std::string out;
  for (const IterDomain* id : ids) {
    out += (out.empty() ? "" : ", ") + print_val(id);
  }
  return "[" + out + "]";
}

std::string tensor_name(const TensorView* tv) {
  std::string out = "T" + std::to_string(tv->name()) + "_";
  return out + text(tv->memory_type());
}

std::string tensor_text(const TensorView* tv) {
  std::string out = tensor_name(tv) + "_" + text(tv->dtype()) + join(tv->loop());
  if (tv->compute_at_position() > 0) {
    out += " ca_pos( " + std::to_string(tv->compute_at_position()) + " )";
  }
  if (tv->compute_with_position() > 0) {
    out += " compute_with( ";
    for (const TensorView* consumer : tv->compute_with_consumers()) {
      out += "T" + std::to_string(consumer->name()) + ", ";
    }
    out += std::to_string(tv->compute_with_position()) + " )";
  }
  if (tv->max_producer_position() > 0) {
    out += " produce_pos( " + std::to_string(tv->max_producer_position()) + " )";
  }
  if (tv->maybe_max_producer_position() > tv->max_producer_position()) {
    out += " maybe_produce_pos( " + std::to_string(tv->maybe_max_producer_position()) + " )";
  }
  return out;
}

/// Inline text of a scalar's computation. Values that share parts would print exponentially long
/// texts, and long chains would recurse deeply: past the budget values print as their names.
class InlinePrinter {
 public:
  using Names = std::function<std::string(const Val*)>;
  explicit InlinePrinter(Names name_of = scalar_text) : name_of_(std::move(name_of)) {}

  std::string val(const Val* val) {
    if (val->is_tensor()) {
      throw UserError(Part(
          "Printing inline computations involving values other than scalars is not currently "
          "supported."));
    }
    if (!val->is_scalar()) {
      return print_val(val);
    }
    const Expr* definition = val->definition();
    if (val->is_const() || definition == nullptr || NamedScalars::contains(val) || --budget_ <= 0) {
      return name_of_(val);
    }
    return "( " + expr(*definition) + " )";
  }

  std::string expr(const Expr& expr) {
    if (const auto* unary = expr.as<UnaryOp>()) {
      return unary_text(*unary);
    }
    if (const auto* binary = expr.as<BinaryOp>()) {
      const std::string lhs = val(binary->lhs);
      const std::string rhs = val(binary->rhs);
      const char* symbol = op_symbol(binary->op);
      return symbol != nullptr ? lhs + " " + symbol + " " + rhs
                               : op_text(binary->op) + ("(" + lhs) + ", " + rhs + ")";
    }
    if (const auto* ternary = expr.as<TernaryOp>()) {
      return op_text(ternary->op) + ("(" + val(ternary->in1)) + ", " + val(ternary->in2) + ", " +
             val(ternary->in3) + ")";
    }
    if (const auto* copy = expr.as<LoadStoreOp>()) {
      return val(copy->arg);
    }
    std::string operands;
    for (const Val* input : expr.inputs()) {
      operands += (operands.empty() ? "" : ", ") + val(input);
    }
    return std::string(expr.op_name()) + "(" + operands + ")";
  }

 private:
  std::string unary_text(const UnaryOp& unary) {
    const std::string arg = val(unary.arg);
    if (const char* symbol = op_symbol(unary.op)) {
      return symbol + arg;
    }
    if (unary.op == UnaryOpType::Cast) {
      return cast_text(unary.arg->dtype(), unary.out->dtype()) + "(" + arg + ")";
    }
    return op_text(unary.op) + ("(" + arg) + ")";
  }

  static constexpr int kBudget = 500; // operations
  int budget_ = kBudget;
  Names name_of_;
};

} // namespace

std::string print_constant(const ScalarValue& value, DataType dtype) {
  if (is_boolean(dtype)) {
    return as_bool(value) ? "true" : "false";
  }
  if (is_integral(dtype)) {
    return dtype == DataType::UInt64 ? std::to_string(static_cast<uint64_t>(as_int(value)))
                                     : std::to_string(as_int(value));
  }
  const std::complex<double> number = as_complex(value);
  std::string out = text(dtype) + ("(" + real_text(number.real(), dtype));
  if (is_complex(dtype)) {
    out += "," + real_text(number.imag(), dtype);
  }
  return out + ")";
}

std::string print_val(const Val* val) {
  switch (val->vtype()) {
    case ValType::Scalar:
      return NamedScalars::is_spelled_out(val) ? print_inline(val) : scalar_text(val);
    case ValType::NamedScalar: return scalar_text(val);
    case ValType::IterDomain: return print_axis(static_cast<const IterDomain*>(val), scalar_text);
    case ValType::TensorDomain: return join(static_cast<const TensorDomain*>(val)->loop());
    case ValType::TensorView: return tensor_text(static_cast<const TensorView*>(val));
    case ValType::TensorIndex: {
      const auto* element = static_cast<const TensorIndex*>(val);
      return tensor_name(element->view()) + "[" + print_inline(element->index()) + "]";
    }
  }
  throw InternalError(__FILE__, __LINE__, "known kind", {"print_val: ValType out of range"});
}

std::string print_inline(const Val* val) {
  return InlinePrinter().val(val);
}

std::string print_axis(const IterDomain* id, const InlinePrinter::Names& name_of) {
  const auto inline_text = [&](const Val* val) { return InlinePrinter(name_of).val(val); };
  std::string out = text(id->iter_type());
  out += text(id->parallel_type());
  out += std::to_string(id->name()) + "{";
  if (!id->start()->is_zero()) {
    out += inline_text(id->start()) + " : ";
  }
  if (!id->stop_offset()->is_zero()) {
    out += inline_text(id->stop_offset()) + " : ";
  }
  out += inline_text(id->extent());
  if (id->has_expanded_extent()) {
    out += " ex " + inline_text(id->expanded_extent());
  }
  out += '}';
  out += id->is_rfactor_product() ? "rf" : "";
  out += id->has_padding_to_multiple_of_warp() ? "_p" : "";
  out += id->is_clustered_grid_dim() ? "_c" : "";
  return out;
}

std::string print_inline(const Expr* expr) {
  const auto is_tensor = [](const Val* val) { return val->is_tensor(); };
  if (std::any_of(expr->outputs().begin(), expr->outputs().end(), is_tensor)) {
    throw UserError(Part("Tensor op can not be printed inline"));
  }
  return InlinePrinter().expr(*expr);
}

std::string print_list(const std::vector<Val*>& vals) {
  std::string out;
  for (const Val* val : vals) {
    out += (out.empty() ? "" : ", ") + print_val(val);
  }
  return out;
}

const char* debug_string(const Statement* statement) {
  thread_local std::string buffer;
  try {
    buffer = statement == nullptr ? "nullptr" : statement->to_string();
  } catch (const std::exception& error) {
    buffer = std::string("<unprintable: ") + error.what() + ">";
  }
  return buffer.c_str();
}

} // namespace nvfuser

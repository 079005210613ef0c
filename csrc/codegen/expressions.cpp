#include "codegen/expressions.h"

#include <algorithm>

#include "lower/analysis/memory_layout.h"

namespace nvfuser {
namespace {

Precedence tighter(Precedence precedence) {
  return static_cast<Precedence>(static_cast<uint8_t>(precedence) + 1);
}

/// Precedence of an operation that is printed between its operands.
Precedence infix_precedence(BinaryOpType op) {
  switch (op) {
    case BinaryOpType::Mul:
    case BinaryOpType::Div:
    case BinaryOpType::Mod: return Precedence::Product;
    case BinaryOpType::Add:
    case BinaryOpType::Sub: return Precedence::Sum;
    case BinaryOpType::LT:
    case BinaryOpType::LE:
    case BinaryOpType::GT:
    case BinaryOpType::GE: return Precedence::Relational;
    case BinaryOpType::Eq:
    case BinaryOpType::NE: return Precedence::Equality;
    case BinaryOpType::BitwiseAnd: return Precedence::BitAnd;
    case BinaryOpType::BitwiseXor: return Precedence::BitXor;
    case BinaryOpType::BitwiseOr: return Precedence::BitOr;
    case BinaryOpType::LogicalAnd: return Precedence::And;
    case BinaryOpType::LogicalOr: return Precedence::Or;
    default: return Precedence::Primary; // a call
  }
}

Text call(const std::string& function, const std::string& arguments) {
  return {function + "(" + arguments + ")"};
}

/// The name of a C library function for `type`: `expf`, `exp`. Complex numbers overload `exp`.
std::string libm_name(const std::string& name, DataType type) {
  return type == DataType::Float ? name + "f" : name;
}

/// Whether C and the target have a quotient of every number of `type`. By 0 they have none, and a
/// constant may be 0 in a type that is narrower than its own.
bool is_divisor_of_all(const Val* divisor, DataType type, bool division_traps) {
  if (!divisor->is_const()) {
    return !division_traps;
  }
  const int64_t number = as_int(convert_value(divisor->value(), divisor->dtype(), type));
  return number > 0 || (number < 0 && !division_traps);
}

/// Lowering refuses what has no code (lower/kernel_forms.h).
[[noreturn]] void has_no_code(const char* op) {
  throw InternalError(__FILE__, __LINE__, "has code", {op, " in a kernel"});
}

/// Widest of the operands' types: what a comparison is done in. Tensors decide over scalars.
DataType comparison_type(const Val* lhs, const Val* rhs) {
  const auto rank = [](const Val* val) {
    const DataType type = val->dtype();
    const int kind = is_complex(type) ? 3 : is_floating_point(type) ? 2 : is_integral(type) ? 1 : 0;
    const bool is_element = val->vtype() == ValType::TensorIndex;
    return std::tuple{kind, is_element, size_bits(type)};
  };
  return compute_type(rank(lhs) < rank(rhs) ? rhs->dtype() : lhs->dtype());
}

} // namespace

ExpressionPrinter::ExpressionPrinter(const Kernel& kernel, Dialect& dialect)
    : kernel_(kernel),
      dialect_(dialect),
      names_(kernel),
      rounded_(kernel),
      normalized_(
          dialect.normalized_power_function().empty() ? NormalizedPowers()
                                                      : NormalizedPowers(kernel, rounded_)),
      normal_(
          dialect.normal_probability_function().empty() ? NormalProbabilities()
                                                        : NormalProbabilities(kernel, rounded_)),
      round_trips_(dialect.rounding_function().empty() ? RoundTrips() : RoundTrips(kernel)),
      counted_(kernel),
      nonnegative_(kernel),
      present_(kernel.body) {
  for (const SizeSource& source : kernel.launch.sizes) {
    sizes_.emplace(source.extent, &source);
  }
  for (const Val* input : kernel.inputs()) {
    if (input->is_scalar()) {
      defined_[input] = names_.of(input);
    }
  }
}

// ---- Names --------------------------------------------------------------------------------------

void ExpressionPrinter::define(const Val* val, const std::string& text) {
  defined_[val] = text;
  order_.push_back(val);
}

void ExpressionPrinter::close_scope(size_t mark) {
  while (order_.size() > mark) {
    defined_.erase(order_.back());
    order_.pop_back();
  }
}

// ---- Values -------------------------------------------------------------------------------------

bool ExpressionPrinter::same_c_type(DataType a, DataType b) const {
  const auto resolved = [&](DataType type) {
    return type == DataType::Index ? kernel_.index_type() : type;
  };
  return resolved(a) == resolved(b);
}

Text ExpressionPrinter::cast(const Text& text, DataType from, DataType to) const {
  return same_c_type(from, to) ? text : call("cast<" + c_type(to) + ">", text.str());
}

Text ExpressionPrinter::value_as(const Val* val, DataType type, bool exact_type) {
  if (val->is_const()) {
    const std::string text =
        literal(convert_value(val->value(), val->dtype(), type), type, exact_type);
    return {text, text.front() == '-' ? Precedence::Unary : Precedence::Primary};
  }
  if (std::optional<Text> text = type == DataType::Float ? unpacked(val) : std::nullopt) {
    return *std::move(text);
  }
  if (const Val* source = type == DataType::Float ? round_trips_.rounded_by(val) : nullptr) {
    return call(dialect_.rounding_function(), value_as(source, type).str());
  }
  return cast(value(val), val->dtype(), type);
}

std::optional<Text> ExpressionPrinter::unpacked(const Val* val) {
  if (val->vtype() != ValType::TensorIndex) {
    return std::nullopt;
  }
  const auto* element = static_cast<const TensorIndex*>(val);
  const std::string function = dialect_.unpack_function(element->view());
  return function.empty()
             ? std::nullopt
             : std::optional(call(
                   function, names_.of(element->view()) + ", " + value(element->index()).str()));
}

Text ExpressionPrinter::value(const Val* val) {
  if (val->is_const()) {
    return value_as(val, val->dtype());
  }
  if (val->vtype() == ValType::TensorIndex) {
    return read_element(static_cast<const TensorIndex*>(val));
  }
  NVF_INVARIANT(
      val->is_scalar(), "an operand of a kernel is an element or a scalar: ", describe(val));
  return scalar(val);
}

Text ExpressionPrinter::destination(const Val* out) {
  return out->vtype() == ValType::TensorIndex
             ? element(static_cast<const TensorIndex*>(out), /*is_written=*/true)
             : value(out);
}

Text ExpressionPrinter::element(const TensorIndex* element, bool is_written) {
  const TensorView* view = element->view();
  const std::string name = names_.of(view);
  if (view->is_cpu_scalar() || is_variable(view)) {
    return {name};
  }
  std::string index = value(element->index()).str();
  if (is_conditional_ && !is_written && !element->index()->is_const()) {
    index = dialect_.guarded_index(view, std::move(index));
  }
  if (view->memory_type() != MemoryType::Shared) {
    return {name + "[" + index + "]"};
  }
  return {
      name + "_s[" + dialect_.shared_index(view, name, std::move(index), is_written, lanes_) + "]"};
}

Text ExpressionPrinter::read_element(const TensorIndex* element) {
  Text text = this->element(element, /*is_written=*/false);
  const TensorView* view = element->view();
  if (is_read_only(view) && !view->is_cpu_scalar() && !is_stored_in_pairs(view)) {
    text.text = dialect_.read_only_element(std::move(text.text));
  }
  return text;
}

std::string ExpressionPrinter::address(const Val* val, int64_t lanes, bool is_written) {
  NVF_INVARIANT(val->vtype() == ValType::TensorIndex, "only elements have an address");
  const auto* element = static_cast<const TensorIndex*>(val);
  if (is_stored_in_pairs(element->view())) {
    return names_.of(element->view()) + ".pairs(" + value(element->index()).str() + ")";
  }
  if (element->view()->memory_type() == MemoryType::Tensor) { // has addresses of its own
    return names_.of(element->view()) + ".column(" + value(element->index()).str() + ")";
  }
  lanes_ = lanes;
  const Text text = this->element(element, is_written);
  lanes_ = 1;
  return "&" + text.str();
}

Text ExpressionPrinter::scalar(const Val* val) {
  if (const auto named = defined_.find(val); named != defined_.end()) {
    // A definition may stand for an expression.
    const bool is_name = named->second.find(' ') == std::string::npos;
    return {named->second, is_name ? Precedence::Primary : Precedence::Conditional};
  }
  if (val->vtype() == ValType::NamedScalar) {
    if (const auto stride = kernel_.strides.find(val); stride != kernel_.strides.end()) {
      const StrideSource& source = stride->second;
      return {names_.of(source.tensor) + ".alloc_stride[" + std::to_string(source.axis) + "]"};
    }
    const auto& named = static_cast<const NamedScalar&>(*val);
    const bool is_hardware = named.parallel_index() != ParallelType::Serial ||
                             named.parallel_dim() != ParallelType::Serial;
    return {is_hardware ? dialect_.hardware_value(named) : named.text_name()};
  }
  if (const auto size = sizes_.find(val); size != sizes_.end()) {
    used_sizes_.emplace(names_.number_of(val), size->second);
    return {names_.of(val)};
  }
  NVF_INVARIANT(
      val->definition() != nullptr,
      "a scalar of a kernel is declared, known to the host or defined: ", describe(val));
  return result(val->definition());
}

// ---- Operations ---------------------------------------------------------------------------------

Text ExpressionPrinter::result(const Expr* expr) {
  return visit(
      *expr, overloaded{
                 [&](const UnaryOp& op) { return unary(op); },
                 [&](const BinaryOp& op) { return binary(op); },
                 [&](const TernaryOp& op) { return ternary(op); },
                 [&](const LoadStoreOp& op) { return value_as(op.arg, op.out->dtype()); },
                 [&](const RandomElement& op) { return random(op); },
                 [&](const ChosenElement& op) { return choice(op); },
                 [&](const Expr& other) -> Text { has_no_code(other.op_name()); },
             });
}

Text ExpressionPrinter::unary(const UnaryOp& op) {
  const DataType from = op.arg->dtype();
  const DataType to = op.out->dtype();
  switch (op.op) {
    case UnaryOpType::Cast:
    case UnaryOpType::RefCast: return value_as(op.arg, to);
    case UnaryOpType::BitCast:
      return call("bit_cast<" + c_type(to) + ">", value_as(op.arg, from, true).str());
    case UnaryOpType::LogicalNot:
      return {"!" + value_as(op.arg, DataType::Bool).within(Precedence::Unary), Precedence::Unary};
    case UnaryOpType::Signbit:
    case UnaryOpType::IsFinite:
    case UnaryOpType::IsInf:
    case UnaryOpType::IsNan:
    case UnaryOpType::IsNegInf:
    case UnaryOpType::IsPosInf:
    case UnaryOpType::IsReal: {
      const DataType type = compute_type(from);
      return unary_call(op.op, value_as(op.arg, type, true), type);
    }
    case UnaryOpType::Abs:
    case UnaryOpType::Real:
    case UnaryOpType::Imag:
      if (is_complex(from)) {
        return unary_call(op.op, value(op.arg), from);
      }
      break;
    default: break;
  }
  if (const BinaryOp* difference = normalized_.difference_of(op); difference != nullptr) {
    return call(
        dialect_.normalized_power_function(), value_as(difference->lhs, to, true).str() + ", " +
                                                  value_as(difference->rhs, to, true).str());
  }
  // Activations of integers are computed in float, as their definitions need.
  const bool needs_float = (op.op == UnaryOpType::Silu || op.op == UnaryOpType::Gelu) &&
                           !is_floating_point(to) && !is_complex(to);
  const DataType type = needs_float ? DataType::Float : compute_type(to);
  const Text arg = value_as(op.arg, type, true);
  if (const std::string function = approximate_function(op); !function.empty()) {
    return call(function, arg.str());
  }
  return cast(unary_call(op.op, arg, type), type, to);
}

std::string ExpressionPrinter::approximate_function(const UnaryOp& op) const {
  const bool is_element = op.out->vtype() == ValType::TensorIndex;
  return is_element && rounded_.contains(static_cast<const TensorIndex*>(op.out)->view())
             ? dialect_.approximate_function(op.op)
             : "";
}

Text ExpressionPrinter::unary_call(UnaryOpType op, const Text& arg, DataType type) const {
  const bool is_integer = is_integral(type) || is_boolean(type);
  const std::string name = c_type(type);
  const auto function = [&](const std::string& text) { return call(text, arg.str()); };
  switch (op) {
    case UnaryOpType::Neg: return {"-" + arg.within(Precedence::Primary), Precedence::Unary};
    case UnaryOpType::BitwiseNot: return {"~" + arg.within(Precedence::Primary), Precedence::Unary};
    case UnaryOpType::Abs:
      return is_integer ? (is_unsigned(type) || is_boolean(type) ? arg : function("absolute"))
             : is_complex(type) ? function("abs")
                                : function(libm_name("fabs", type));
    case UnaryOpType::Ceil:
    case UnaryOpType::Floor:
    case UnaryOpType::Trunc: // integers are integers already
      return is_integer ? arg : function(libm_name(op_text(op), type));
    case UnaryOpType::Round: return is_integer ? arg : function(libm_name("rint", type));
    case UnaryOpType::Frac: return is_integer ? Text{name + "(0)"} : function("frac");
    case UnaryOpType::Real: return is_complex(type) ? function("real") : arg;
    case UnaryOpType::Imag: return function("imag");
    case UnaryOpType::Reciprocal:
      return is_complex(type) ? function("reciprocal")
                              : Text{
                                    literal(1.0, type) + " / " + arg.within(Precedence::Unary),
                                    Precedence::Product};
    case UnaryOpType::Relu:
      return is_integer ? call("maximum", arg.str() + ", " + literal(int64_t(0), type, true))
                        : function("relu");
    case UnaryOpType::Sigmoid: return function("sigmoid");
    case UnaryOpType::Silu: return function("silu");
    case UnaryOpType::Gelu: return function("gelu");
    case UnaryOpType::Signbit: return function("sign_bit");
    case UnaryOpType::IsFinite: return function("is_finite");
    case UnaryOpType::IsInf: return function("is_inf");
    case UnaryOpType::IsNan: return function("is_nan");
    case UnaryOpType::IsNegInf: return function("is_neginf");
    case UnaryOpType::IsPosInf: return function("is_posinf");
    case UnaryOpType::IsReal: return function("is_real");
    case UnaryOpType::BitCeil: return function("bit_ceil");
    case UnaryOpType::Acos:
    case UnaryOpType::Acosh:
    case UnaryOpType::Asin:
    case UnaryOpType::Asinh:
    case UnaryOpType::Atan:
    case UnaryOpType::Atanh:
    case UnaryOpType::Cos:
    case UnaryOpType::Cosh:
    case UnaryOpType::Exp:
    case UnaryOpType::Exp2:
    case UnaryOpType::Expm1:
    case UnaryOpType::Erf:
    case UnaryOpType::Erfc:
    case UnaryOpType::Erfinv:
    case UnaryOpType::Erfcinv:
    case UnaryOpType::Lgamma:
    case UnaryOpType::Log:
    case UnaryOpType::Log10:
    case UnaryOpType::Log1p:
    case UnaryOpType::Log2:
    case UnaryOpType::Rsqrt:
    case UnaryOpType::Sin:
    case UnaryOpType::Sinh:
    case UnaryOpType::Sqrt:
    case UnaryOpType::Tan:
    case UnaryOpType::Tanh: return function(libm_name(op_text(op), type));
    default: has_no_code(enum_name(op));
  }
}

std::optional<Text> ExpressionPrinter::counted_comparison(const BinaryOp& op) {
  if (op.lhs->vtype() != ValType::TensorIndex ||
      !counted_.contains(static_cast<const TensorIndex*>(op.lhs)->view())) {
    return std::nullopt;
  }
  const StepComparison comparison =
      *compare_steps(op.op, static_cast<float>(as_double(op.rhs->value())));
  return Text{
      value(op.lhs).within(Precedence::Shift) + " " + comparison.symbol + " " +
          std::to_string(comparison.steps) + "u",
      Precedence::Relational};
}

Text ExpressionPrinter::binary(const BinaryOp& op) {
  if (std::optional<Text> comparison = counted_comparison(op)) {
    return *comparison;
  }
  if (const Val* x = normal_.argument_of(op); x != nullptr) {
    return call(dialect_.normal_probability_function(), value_as(x, DataType::Float).str());
  }
  const DataType to = op.out->dtype();
  if (op.op == BinaryOpType::Complex) {
    const DataType part = real_type_of(to);
    return {
        c_type(to) + "{" + value_as(op.lhs, part).str() + ", " + value_as(op.rhs, part).str() +
        "}"};
  }
  const DataType type = is_comparison(op.op) ? comparison_type(op.lhs, op.rhs)
                        : op.op == BinaryOpType::LogicalAnd || op.op == BinaryOpType::LogicalOr
                            ? DataType::Bool
                            : compute_type(to);
  if (op.op == BinaryOpType::Pow) {
    return cast(power(op, type), type, to);
  }
  // Between constants no operand decides the type: one of them must have it.
  const bool is_exact = op.lhs->is_const() && op.rhs->is_const();
  const Text lhs = value_as(op.lhs, type, is_exact);
  const bool is_shift = op.op == BinaryOpType::Lshift || op.op == BinaryOpType::Rshift;
  const Text rhs = is_shift ? value(op.rhs) : value_as(op.rhs, type);
  const bool divides = op.op == BinaryOpType::Div || op.op == BinaryOpType::Mod;
  const bool is_integer = is_integral(type) || is_boolean(type);
  const bool needs_function = dialect_.division_traps() || is_boolean(type); // 0 is half of Bool
  if (divides && is_integer && !is_divisor_of_all(op.rhs, type, needs_function)) {
    const char* function = op.op == BinaryOpType::Div ? "divide" : "modulo";
    return cast(call(function, lhs.str() + ", " + rhs.str()), type, to);
  }
  if (divides && to == DataType::Index && dialect_.divides_indices_unsigned() &&
      nonnegative_.divides_unsigned(op)) {
    const char* function = op.op == BinaryOpType::Div ? "index_quotient" : "index_remainder";
    return call(function, lhs.str() + ", " + rhs.str());
  }
  const DataType result_type = is_comparison(op.op) ? DataType::Bool : type;
  return cast(binary(op.op, lhs, rhs, type), result_type, to);
}

Text ExpressionPrinter::power(const BinaryOp& op, DataType type) {
  const std::string base = value_as(op.lhs, type, true).str();
  if (is_floating_point(type) && op.rhs->is_const()) {
    const double exponent = as_double(op.rhs->value());
    const auto whole = static_cast<int64_t>(std::clamp(exponent, -4.0, 4.0));
    if (static_cast<double>(whole) == exponent) { // repeated multiplication is exact enough
      return call("power<" + std::to_string(whole) + ">", base);
    }
  }
  const bool is_integer = is_integral(type) || is_boolean(type);
  const std::string function = is_integer ? "power" : libm_name("pow", type);
  return call(function, base + ", " + value_as(op.rhs, type).str());
}

Text ExpressionPrinter::binary(
    BinaryOpType op, const Text& lhs, const Text& rhs, DataType type) const {
  const bool is_integer = is_integral(type) || is_boolean(type);
  const auto function = [&](const std::string& text) {
    return call(text, lhs.str() + ", " + rhs.str());
  };
  switch (op) {
    case BinaryOpType::Atan2: return function(libm_name("atan2", type));
    case BinaryOpType::Nextafter: return function(libm_name("nextafter", type));
    case BinaryOpType::Max: return function("maximum");
    case BinaryOpType::Min: return function("minimum");
    case BinaryOpType::FMax: return function(is_integer ? "maximum" : libm_name("fmax", type));
    case BinaryOpType::FMin: return function(is_integer ? "minimum" : libm_name("fmin", type));
    case BinaryOpType::Fmod:
    case BinaryOpType::Mod: {
      if (!is_integer) {
        return function(libm_name("fmod", type));
      }
      if (op == BinaryOpType::Fmod) {
        return function("modulo");
      }
      break;
    }
    case BinaryOpType::Remainder: return function("floor_remainder");
    case BinaryOpType::CeilDiv: return function("ceilDiv");
    case BinaryOpType::Gcd: return function("gcd");
    case BinaryOpType::Pow: return function(is_integer ? "power" : libm_name("pow", type));
    case BinaryOpType::Lshift: return function("shift_left<" + c_type(type) + ">");
    case BinaryOpType::Rshift: return function("shift_right<" + c_type(type) + ">");
    default: break;
  }
  const Precedence precedence = infix_precedence(op);
  if (precedence == Precedence::Primary) {
    has_no_code(enum_name(op));
  }
  // Floating-point operations stay grouped as the user wrote them: `a + (b + c)`. Parentheses also
  // stand in mixtures of operators whose order few know by heart.
  const bool is_logical = precedence == Precedence::And || precedence == Precedence::Or;
  const bool is_bitwise = precedence == Precedence::BitAnd || precedence == Precedence::BitXor ||
                          precedence == Precedence::BitOr;
  const Precedence least = precedence == Precedence::Or                  ? Precedence::Equality
                           : is_bitwise                                  ? Precedence::Unary
                           : precedence >= Precedence::Sum || is_logical ? precedence
                                                                         : Precedence::Sum;
  // Integer products do not regroup: `a * (b % c)` is another number than `a * b % c`.
  const bool is_associative = is_logical || (is_integer && op == BinaryOpType::Add);
  const auto operand = [&](const Text& side, Precedence needed) {
    return side.precedence == precedence && is_associative ? side.text : side.within(needed);
  };
  return {
      operand(lhs, least) + " " + op_symbol(op) + " " +
          operand(rhs, std::max(tighter(precedence), least)),
      precedence};
}

Text ExpressionPrinter::ternary(const TernaryOp& op) {
  const DataType to = op.out->dtype();
  if (op.op == TernaryOpType::Where) {
    const auto is_read = [](const Val* val) { return val->vtype() == ValType::TensorIndex; };
    if (const std::string select = dialect_.select_function(to);
        !select.empty() && (is_read(op.in2) || is_read(op.in3))) {
      return selection(
          select, to, value_as(op.in1, DataType::Bool), value_as(op.in2, to, true),
          value_as(op.in3, to, true));
    }
    return {
        value_as(op.in1, DataType::Bool).within(Precedence::Or) + " ? " +
            value_as(op.in2, to, true).within(Precedence::Or) + " : " +
            value_as(op.in3, to, true).within(Precedence::Or),
        Precedence::Conditional};
  }
  if (op.op == TernaryOpType::Philox) {
    has_no_code(enum_name(op.op));
  }
  const DataType type = compute_type(to);
  const std::string arguments = value_as(op.in1, type).str() + ", " + value_as(op.in2, type).str() +
                                ", " + value_as(op.in3, type).str();
  return cast(call(std::string(op_text(op.op)) + "<" + c_type(type) + ">", arguments), type, to);
}

Text ExpressionPrinter::random(const RandomElement& op) {
  static constexpr const char* kFunctions[] = {
      "random_uniform", "random_uniform_range", "random_normal", "random_normal_general"};
  const DataType type = op.out->dtype();
  const std::string seed = value_as(op.seed, DataType::UInt64).str();
  const bool is_of_run = op.seed->vtype() == ValType::NamedScalar; // a launch passes its keys
  std::string arguments = (is_of_run ? seed : "philox_keys(" + seed + ")") + ", " +
                          value_as(op.offset, DataType::UInt64).str() + ", " +
                          value(op.counter).str() + ", " + value(op.lane).str();
  if (op.out->vtype() == ValType::TensorIndex &&
      counted_.contains(static_cast<const TensorIndex*>(op.out)->view())) {
    return call("random_steps", arguments);
  }
  for (const Val* parameter : op.parameters) {
    arguments += ", " + value_as(parameter, compute_type(type), /*exact_type=*/true).str();
  }
  const std::string function = kFunctions[static_cast<size_t>(op.op)];
  return call(function + "<" + c_type(type) + ">", arguments);
}

} // namespace nvfuser

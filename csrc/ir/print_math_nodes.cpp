// Texts of the expressions of arithmetic, shapes, reductions and creation.
#include "ir/print_node.h"

namespace nvfuser {

using namespace print_detail;

namespace {

/// Float versions of the mathematical functions end in `f`; these do not.
bool has_float_suffix(UnaryOpType op) {
  switch (op) {
    case UnaryOpType::Abs:
    case UnaryOpType::Cast:
    case UnaryOpType::Frac:
    case UnaryOpType::Imag:
    case UnaryOpType::Silu:
    case UnaryOpType::BitCast:
    case UnaryOpType::RefCast:
    case UnaryOpType::BitCeil:
    case UnaryOpType::Real:
    case UnaryOpType::Relu:
    case UnaryOpType::Reciprocal:
    case UnaryOpType::Sigmoid:
    case UnaryOpType::IsFinite:
    case UnaryOpType::IsInf:
    case UnaryOpType::IsNan:
    case UnaryOpType::IsNegInf:
    case UnaryOpType::IsPosInf:
    case UnaryOpType::IsReal:
    case UnaryOpType::Print: return false;
    default: return true;
  }
}

bool has_float_suffix(BinaryOpType op) {
  return op == BinaryOpType::Atan2 || op == BinaryOpType::Fmod || op == BinaryOpType::Div;
}

CacheOp effective_cache_op(const LoadStoreOp& copy) {
  if (copy.cache_op != CacheOp::Unspecified) {
    return copy.cache_op;
  }
  switch (copy.op) {
    case LoadStoreOpType::Set: return CacheOp::Streaming;
    case LoadStoreOpType::CpAsync: return CacheOp::AllLevels;
    default: return CacheOp::Unspecified;
  }
}

} // namespace

// ---- Elements -----------------------------------------------------------------------------------

std::string print_node(const UnaryOp& e) {
  if (const char* symbol = op_symbol(e.op)) {
    return assign(e.out, symbol + str(e.arg) + ";");
  }
  std::string name = op_text(e.op);
  if (e.op == UnaryOpType::Cast) {
    name = cast_text(e.arg->dtype(), e.out->dtype());
  } else if (e.out->dtype() == DataType::Float && has_float_suffix(e.op)) {
    name += 'f';
  }
  return assign(e.out, name + "(" + str(e.arg) + ");");
}

std::string print_node(const BinaryOp& e) {
  if (const char* symbol = op_symbol(e.op)) {
    const std::string gap = is_tensor_op(e.out) ? "\n   " : " ";
    return assign(e.out, str(e.lhs) + gap + symbol + " " + str(e.rhs) + ";");
  }
  std::string name = op_text(e.op);
  if (e.out->dtype() == DataType::Float && has_float_suffix(e.op)) {
    name += 'f';
  }
  return assign(e.out, name + "(" + str(e.lhs) + comma(e.out) + str(e.rhs) + ");");
}

std::string print_node(const TernaryOp& e) {
  return assign(
      e.out, op_text(e.op) + ("(" + str(e.in1)) + comma(e.out) + str(e.in2) + comma(e.out) +
                 str(e.in3) + ");");
}

std::string print_node(const LoadStoreOp& e) {
  std::string name = enum_name(e.op);
  if (e.out->is_tensor() && static_cast<const TensorView*>(e.out)->has_root()) {
    name += ".Permute";
  }
  const CacheOp cache_op = effective_cache_op(e);
  const std::string hint =
      cache_op == CacheOp::Unspecified ? "" : std::string(", cache_op=") + enum_name(cache_op);
  return assign(e.out, name + "( " + str(e.arg) + hint + " )");
}

std::string print_node(const BroadcastOp& e) {
  return assign(e.out, "broadcast( " + str(e.arg) + ", flags = " + flags_text(e.flags) + " )");
}

std::string print_node(const SqueezeOp& e) {
  return assign(e.out, "squeeze( " + str(e.arg) + ", flags = " + flags_text(e.flags) + " )");
}

std::string print_node(const ExpandOp& e) {
  return str(e.out) + " = expand( " + str(e.arg) + " )\n";
}

std::string print_node(const ReshapeOp& e) {
  return str(e.out) + " = reshape( " + str(e.arg) + " )\n";
}

std::string print_node(const ReductionOp& e) {
  return assign(
      e.out, "reduction( " + str(e.arg) + ", op = " + op_text(e.op) + ", initial value = " +
                 str(e.init) + ", allreduce = " + bool_text(e.allreduce) + " )");
}

std::string print_node(const WelfordOp& e) {
  std::string out = str(e.out_avg) + "(Avg),\n" + str(e.out_var) + "(Var),\n" + str(e.out_n) +
                    "(Count)\n = Welford ( " + str(e.in_avg) + "(Avg), ";
  if (e.in_n != nullptr && !e.in_n->is_const()) {
    out += str(e.in_var) + "(Var), " + str(e.in_n) + "(Count), ";
  }
  const bool has_initial_value = e.init_n != nullptr && !e.init_n->is_zero();
  if (has_initial_value) {
    out += "\n  initial value = " + str(e.init_avg) + "(Avg), " + str(e.init_var) + "(Var), " +
           str(e.init_n) + "(Count),";
  }
  return out + "\n  allreduce = " + bool_text(e.allreduce) + " )\n";
}

std::string print_node(const FullOp& e) {
  return assign(
      e.out, "full({" + print_list(e.shape) + "}" + (e.shape.empty() ? "" : ", ") +
                 str(e.fill_value) + ");");
}

std::string print_node(const IotaOp& e) {
  return assign(
      e.out, "iota(" + str(e.length) + ", " + str(e.start) + ", " + str(e.step) + ", " +
                 text(e.out->dtype()) + ");");
}

std::string print_node(const EyeOp& e) {
  return assign(e.out, "eye(" + str(e.rows) + ", " + text(e.out->dtype()) + ");");
}

std::string print_node(const TensorConstruct& e) {
  return str(e.out) + " = TensorConstruct({" + print_list(e.elements) + "})\n";
}

std::string print_node(const GroupedReductionOp& e) {
  std::string out = "GroupedReductionOp(\n";
  for (size_t i = 0; i < e.outs.size(); ++i) {
    out += "  " + str(e.outs[i]) + " = reduction( " + str(e.args[i]) +
           ", op = " + op_text(e.ops[i]) + ", initial value = " + str(e.inits[i]) + " )\n";
  }
  return out + "allreduce = " + bool_text(e.allreduce) + " )\n";
}

} // namespace nvfuser

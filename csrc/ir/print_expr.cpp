// Texts of expressions. Three forms:
//
//   two lines   T1_l_float[iS2{i0}]          expressions that make a tensor
//                  = expf(T0_g_float[iS0{i0}]);
//   one line    i3 = ceilDiv(i0, 4);         expressions on scalars and on elements of tensors
//   block       FOR i7 in iS6{4}:            kernel statements that hold others
#include <string_view>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/print.h"

namespace nvfuser {
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

const char* bool_text(bool value) {
  return value ? "true" : "false";
}

std::string str(const Val* val) {
  return val == nullptr ? "nullptr" : print_val(val);
}

/// Has the expression the two-line form?
bool is_tensor_op(const Val* out) {
  return out->is_tensor();
}

/// `OUT` and the text of its computation, in the form that the output asks for.
std::string assign(const Val* out, const std::string& computation) {
  return str(out) + (is_tensor_op(out) ? "\n   = " : " = ") + computation + "\n";
}

/// Between the operands of a call: tensors stand on lines of their own.
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

// ---- Values from values -------------------------------------------------------------------------

std::string print(const UnaryOp& e) {
  if (const char* symbol = op_symbol(e.op)) {
    return assign(e.out, symbol + str(e.arg) + ";");
  }
  std::string name = op_text(e.op);
  if (e.op == UnaryOpType::Cast) {
    name = cast_text(e.arg->dtype(), e.out->dtype());
  } else if (e.out->dtype() == DataType::Float && has_float_suffix(e.op)) {
    name += "f";
  }
  return assign(e.out, name + "(" + str(e.arg) + ");");
}

std::string print(const BinaryOp& e) {
  if (const char* symbol = op_symbol(e.op)) {
    const std::string gap = is_tensor_op(e.out) ? "\n   " : " ";
    return assign(e.out, str(e.lhs) + gap + symbol + " " + str(e.rhs) + ";");
  }
  std::string name = op_text(e.op);
  if (e.out->dtype() == DataType::Float && has_float_suffix(e.op)) {
    name += "f";
  }
  return assign(e.out, name + "(" + str(e.lhs) + comma(e.out) + str(e.rhs) + ");");
}

std::string print(const TernaryOp& e) {
  return assign(
      e.out, op_text(e.op) + ("(" + str(e.in1)) + comma(e.out) + str(e.in2) + comma(e.out) +
                 str(e.in3) + ");");
}

std::string print(const LoadStoreOp& e) {
  std::string name = enum_name(e.op);
  if (e.out->is_tensor() && static_cast<const TensorView*>(e.out)->has_root()) {
    name += ".Permute";
  }
  const CacheOp cache_op = effective_cache_op(e);
  const std::string hint =
      cache_op == CacheOp::Unspecified ? "" : std::string(", cache_op=") + enum_name(cache_op);
  return assign(e.out, name + "( " + str(e.arg) + hint + " )");
}

std::string print(const BroadcastOp& e) {
  return assign(e.out, "broadcast( " + str(e.arg) + ", flags = " + flags_text(e.flags) + " )");
}

std::string print(const SqueezeOp& e) {
  return assign(e.out, "squeeze( " + str(e.arg) + ", flags = " + flags_text(e.flags) + " )");
}

std::string print(const ExpandOp& e) {
  return str(e.out) + " = expand( " + str(e.arg) + " )\n";
}

std::string print(const ReshapeOp& e) {
  return str(e.out) + " = reshape( " + str(e.arg) + " )\n";
}

std::string print(const ReductionOp& e) {
  return assign(
      e.out, "reduction( " + str(e.arg) + ", op = " + op_text(e.op) + ", initial value = " +
                 str(e.init) + ", allreduce = " + bool_text(e.allreduce) + " )");
}

std::string print(const WelfordOp& e) {
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

std::string print(const FullOp& e) {
  return assign(
      e.out, "full({" + print_list(e.shape) + "}" + (e.shape.empty() ? "" : ", ") +
                 str(e.fill_value) + ");");
}

std::string print(const IotaOp& e) {
  return assign(
      e.out, "iota(" + str(e.length) + ", " + str(e.start) + ", " + str(e.step) + ", " +
                 text(e.out->dtype()) + ");");
}

// ---- Domains ------------------------------------------------------------------------------------

std::string print(const Split& e) {
  return (e.inner_split ? "Split: " : "Outer split: ") + str(e.in) + " by factor " +
         print_inline(e.factor) + " -> " + str(e.outer) + ", " + str(e.inner) + "\n";
}

std::string print(const Merge& e) {
  return "Merge: " + str(e.outer) + " and " + str(e.inner) + " -> " + str(e.out) + "\n";
}

std::string print(const Resize& e) {
  return "Resize: " + str(e.in) + " by " + print_inline(e.left) + " and " + print_inline(e.right) +
         " -> " + str(e.out) + "\n";
}

std::string print(const Swizzle& e) {
  const std::string name = e.swizzle_type == SwizzleType::XOR ? "Xor" : enum_name(e.swizzle_type);
  return name + "(2D): " + str(e.in_x) + " , " + str(e.in_y) + " -> " + str(e.out_x) + " , " +
         str(e.out_y) + "\n";
}

std::string print(const Swizzle1D& e) {
  return str(e.out) + " = Swizzle1D(" + str(e.in) + ", parallelType=" + text(e.parallel_type) +
         ")\n";
}

// ---- Kernel statements --------------------------------------------------------------------------

/// `x, y`: dimensions 0, 1, 2 by their letters.
std::string dims_text(const std::vector<int64_t>& dims) {
  std::string out;
  for (const int64_t dim : dims) {
    out += (out.empty() ? "" : ", ") + std::string(1, "xyz"[dim]);
  }
  return "{" + out + "}";
}

std::string inline_or(const Val* val, const char* absent) {
  return val == nullptr ? absent : print_inline(val);
}

std::string print(const ForLoop& e) {
  std::string header = "FOR " + str(e.index) + " in " + str(e.iter_domain);
  if (!e.is_parallel && e.start != nullptr && !e.start->is_zero()) {
    header += " from " + print_inline(e.start);
  }
  if (!e.is_parallel && e.step != nullptr && !e.step->is_one()) {
    header += " step " + print_inline(e.step);
  }
  header += e.is_vectorized ? " vectorized" : "";
  header += e.is_unrolled ? " unrolled" : "";
  return header + ":\n" + print_scope(e.body, 1);
}

std::string print(const IfThenElse& e) {
  std::string out = "IF " + inline_or(e.condition, "true") + ":\n" + print_scope(e.then_body, 1);
  if (!e.else_body.empty()) {
    out += "ELSE:\n" + print_scope(e.else_body, 1);
  }
  return out;
}

std::string print(const Allocate& e) {
  static constexpr const char* kWords[] = {"register", "shared", "global", "tensor", "symmetric"};
  std::string out = str(e.buffer) + " = ALLOCATE(buffer=" + str(e.buffer) +
                    ", mem_type=" + kWords[static_cast<size_t>(e.memory_type)] +
                    ", size=" + inline_or(e.size, "1");
  if (e.address != nullptr) {
    out += ", address=" + print_inline(e.address);
  }
  if (e.alias != nullptr) {
    out += ", alias=T" + std::to_string(e.alias->name());
  }
  return out + (e.zero_init ? ", zero_init=true)\n" : ")\n");
}

std::string print(const BlockSync& e) {
  return std::string("BLOCKSYNC(war_sync=") + bool_text(e.war_sync) + ")\n";
}

std::string print(const GridSync& e) {
  return "GRIDSYNC(" + dims_text(e.sync_dims) +
         (e.sync_buffer == nullptr ? "" : ", " + str(e.sync_buffer)) + ")\n";
}

std::string print(const BlockReduction& e) {
  std::string out = print_list(e.outs) + " = BLOCKREDUCTION( " + print_list(e.ins) +
                    ", op = " + (e.is_welford ? "welford" : op_text(e.op)) +
                    ", initial value = " + print_list(e.inits) +
                    ", reduced_dims = " + dims_text(e.reduced_dims);
  out += e.is_warp ? ", warp" : "";
  if (e.read_predicate != nullptr) {
    out += ", read predicate = " + print_inline(e.read_predicate);
  }
  return out + " )\n";
}

std::string print(const GridReduction& e) {
  std::string out = print_list(e.outs) + " = GRIDREDUCTION( " + print_list(e.ins) +
                    ", op = " + (e.is_welford ? "welford" : op_text(e.op)) +
                    ", initial value = " + print_list(e.inits) +
                    ", reduced_dims = " + dims_text(e.reduced_dims) +
                    ", allreduce = " + bool_text(e.allreduce);
  if (e.read_predicate != nullptr) {
    out += ", read predicate = " + print_inline(e.read_predicate);
  }
  if (e.entrances != nullptr) {
    out += ", entrance = " + inline_or(e.entrance, "0") + " of " + print_inline(e.entrances);
  }
  return out + " )\n";
}

std::string print(const ThreadLoop& e) {
  return "THREADLOOP:\n" + print_scope(e.body, 1);
}

std::string print(const BlockLoop& e) {
  return std::string(e.is_parallel ? "BLOCKLOOP parallel:\n" : "BLOCKLOOP:\n") +
         print_scope(e.body, 1);
}

// ---- Any other node -----------------------------------------------------------------------------

std::string attr_text(const AttrValue& value) {
  return std::visit(
      []<typename T>(const T& v) -> std::string {
        if constexpr (std::is_same_v<T, bool>) {
          return bool_text(v);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return std::to_string(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else if constexpr (std::is_same_v<T, Val*>) {
          return str(v);
        } else if constexpr (std::is_same_v<T, Expr*>) {
          return v == nullptr ? "nullptr" : v->op_name();
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          return flags_text(v);
        } else if constexpr (std::is_same_v<T, std::vector<Val*>>) {
          return "{" + print_list(v) + "}";
        } else {
          return "{" + std::to_string(v.size()) + " items}";
        }
      },
      value);
}

/// `OUTS = Name( INS, attr = value )`
[[maybe_unused]] std::string print(const Expr& e) {
  std::string arguments = print_list(e.inputs());
  e.for_each_attr([&](const char* name, const AttrValue& value) {
    arguments += (arguments.empty() ? "" : ", ") + std::string(name) + " = " + attr_text(value);
  });
  return print_list(e.outputs()) + " = " + e.op_name() + "( " + arguments + " )\n";
}

} // namespace

std::string print_expr(const Expr* expr, int indent) {
  std::string text = visit(*expr, [](const auto& e) { return print(e); });
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

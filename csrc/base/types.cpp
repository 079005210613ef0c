// Tables of what the types mean and how they print.
#include "base/types.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/errors.h"

namespace nvfuser {
namespace {

/// fp8 and fp4: formats that convert only to and from other floating-point types.
bool is_narrow_float(DataType type) {
  return type == DataType::Float8_e4m3fn || type == DataType::Float8_e5m2 ||
         type == DataType::Float8_e8m0fnu || type == DataType::Float4_e2m1fn;
}

/// Word of a low-precision conversion's name: the `half` of `__float2half`; empty if it has none.
std::string conversion_word(DataType type, bool is_source) {
  switch (type) {
    case DataType::Half: return "half";
    case DataType::BFloat16: return "bfloat";
    case DataType::Float8_e4m3fn: return "e4m3";
    case DataType::Float8_e5m2: return "e5m2";
    case DataType::Float8_e8m0fnu: return "e8m0";
    case DataType::Float4_e2m1fn: return "e2m1";
    case DataType::Float: return "float";
    case DataType::Double: return "double";
    case DataType::Bool: return "bool";
    case DataType::ComplexFloat: return is_source ? "" : "complex_float";
    case DataType::ComplexDouble: return is_source ? "" : "complex_double";
    default: break;
  }
  if (!is_integral(type)) {
    return "";
  }
  if (is_source) {
    return "int";
  }
  switch (type) {
    case DataType::Int: return "int";
    case DataType::Index: return "index";
    case DataType::Int32: return "int32";
    case DataType::Char: return "int8";
    case DataType::Short: return "int16";
    case DataType::Byte: return "uint8";
    case DataType::UInt16: return "uint16";
    case DataType::UInt32: return "uint32";
    case DataType::UInt64: return "uint64";
    default: return "";
  }
}

/// Word of a plain conversion's name: the `int64` of `__to_int64`; empty if it has none.
std::string plain_word(DataType type) {
  if (type == DataType::Int) {
    return "int64";
  }
  return is_low_precision(type) ? "" : conversion_word(type, /*is_source=*/false);
}

std::string lower_case(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return word;
}

} // namespace

// ---- DataType -----------------------------------------------------------------------------------

bool is_low_precision(DataType type) {
  return type == DataType::Half || type == DataType::BFloat16 || is_narrow_float(type) ||
         type == DataType::Float4_e2m1fn_x2;
}

bool is_floating_point(DataType type) {
  return type == DataType::Double || type == DataType::Float || is_low_precision(type);
}

bool is_integral(DataType type) {
  switch (type) {
    case DataType::Int:
    case DataType::Int32:
    case DataType::UInt64:
    case DataType::Index:
    case DataType::Char:
    case DataType::Short:
    case DataType::Byte:
    case DataType::UInt16:
    case DataType::UInt32:
    case DataType::SMemAddress:
    case DataType::TMemAddress: return true;
    default: return false;
  }
}

bool is_unsigned(DataType type) {
  switch (type) {
    case DataType::UInt64:
    case DataType::Byte:
    case DataType::UInt16:
    case DataType::UInt32:
    case DataType::SMemAddress:
    case DataType::TMemAddress: return true;
    default: return false;
  }
}

bool is_complex(DataType type) {
  return type == DataType::ComplexFloat || type == DataType::ComplexDouble;
}

int64_t size_bits(DataType type) {
  switch (type) {
    case DataType::ComplexDouble: return 128;
    case DataType::Double:
    case DataType::Int:
    case DataType::UInt64:
    case DataType::Index:
    case DataType::ComplexFloat: return 64;
    case DataType::Float:
    case DataType::Int32:
    case DataType::UInt32:
    case DataType::SMemAddress:
    case DataType::TMemAddress: return 32;
    case DataType::Half:
    case DataType::BFloat16:
    case DataType::Short:
    case DataType::UInt16: return 16;
    case DataType::Bool:
    case DataType::Char:
    case DataType::Byte:
    case DataType::Float8_e4m3fn:
    case DataType::Float8_e5m2:
    case DataType::Float8_e8m0fnu:
    case DataType::Float4_e2m1fn_x2: return 8;
    case DataType::Float4_e2m1fn: return 4;
    case DataType::Null: break;
  }
  throw UserError(Part("No size found for data type ", type));
}

DataType real_type_of(DataType type) {
  switch (type) {
    case DataType::ComplexFloat: return DataType::Float;
    case DataType::ComplexDouble: return DataType::Double;
    default: return type;
  }
}

// ---- Words --------------------------------------------------------------------------------------

const char* text(DataType type) {
  switch (type) {
    case DataType::Double: return "double";
    case DataType::Float: return "float";
    case DataType::Half: return "__half";
    case DataType::Int: return "int64_t";
    case DataType::Int32: return "int";
    case DataType::UInt64: return "uint64_t";
    case DataType::Index: return "nvfuser_index_t";
    case DataType::Bool: return "bool";
    case DataType::BFloat16: return "__bfloat";
    case DataType::Float8_e4m3fn: return "__e4m3";
    case DataType::Float8_e5m2: return "__e5m2";
    case DataType::Float8_e8m0fnu: return "__e8m0";
    case DataType::Float4_e2m1fn: return "__e2m1";
    case DataType::Float4_e2m1fn_x2: return "__e2m1_x2";
    case DataType::ComplexFloat: return "std::complex<float>";
    case DataType::ComplexDouble: return "std::complex<double>";
    case DataType::Null: return "null_type";
    case DataType::Char: return "int8_t";
    case DataType::Short: return "int16_t";
    case DataType::Byte: return "uint8_t";
    case DataType::UInt16: return "uint16_t";
    case DataType::UInt32:
    case DataType::SMemAddress:
    case DataType::TMemAddress: return "uint32_t";
  }
  return "?";
}

const char* text(ParallelType type) {
  return traits_of(type).text;
}

const char* text(IterType type) {
  switch (type) {
    case IterType::Iteration: return "i";
    case IterType::Reduction: return "r";
    case IterType::Broadcast: return "b";
    case IterType::Stride: return "s";
    case IterType::GatherScatter: return "n";
    case IterType::VectorComponent: return "v";
    case IterType::Symbolic: return "?";
  }
  return "?";
}

const char* text(MemoryType type) {
  switch (type) {
    case MemoryType::Local: return "l";
    case MemoryType::Shared: return "s";
    case MemoryType::Global: return "g";
    case MemoryType::Tensor: return "t";
    case MemoryType::Symmetric: return "sym";
  }
  return "?";
}

const char* scalar_prefix(DataType type) {
  if (type == DataType::Bool) {
    return "b";
  }
  if (type == DataType::Double) {
    return "d";
  }
  if (is_floating_point(type)) {
    return "f";
  }
  if (is_complex(type)) {
    return "c";
  }
  return is_integral(type) ? "i" : "var";
}

size_t hardware_type_index(ParallelType type) {
  NVF_INVARIANT(is_hardware_index(type), "not a hardware index: ", type);
  const size_t dim = static_cast<size_t>(traits_of(type).dim);
  return is_grid_dim(type) ? dim : kGridDimTypes.size() + dim;
}

// ---- Operations ---------------------------------------------------------------------------------

const char* op_text(UnaryOpType type) {
  static const auto& names = *new std::vector<std::string>([] { // outlives all threads
    std::vector<std::string> list;
    for (const char* name : kUnaryOpTypeNames) {
      list.push_back(lower_case(name));
    }
    const auto rename = [&](UnaryOpType op, const char* name) {
      list[static_cast<size_t>(op)] = name;
    };
    rename(UnaryOpType::Round, "nearbyint");
    rename(UnaryOpType::Real, "std::real");
    rename(UnaryOpType::Imag, "std::imag");
    rename(UnaryOpType::BitCast, "bit_cast");
    rename(UnaryOpType::RefCast, "ref_cast");
    rename(UnaryOpType::BitCeil, "bit_ceil");
    rename(UnaryOpType::LogicalNot, "logical_not");
    rename(UnaryOpType::BitwiseNot, "bitwise_not");
    rename(UnaryOpType::ToUnsignedSmemAddr, "toSmem");
    rename(UnaryOpType::ElectSync, "elect_sync");
    return list;
  }());
  return names[static_cast<size_t>(type)].c_str();
}

const char* op_text(BinaryOpType type) {
  static const auto& names = *new std::vector<std::string>([] { // outlives all threads
    std::vector<std::string> list;
    for (const char* name : kBinaryOpTypeNames) {
      list.push_back(lower_case(name));
    }
    const auto rename = [&](BinaryOpType op, const char* name) {
      list[static_cast<size_t>(op)] = name;
    };
    rename(BinaryOpType::CeilDiv, "ceilDiv");
    rename(BinaryOpType::BitwiseAnd, "bitwise_and");
    rename(BinaryOpType::BitwiseOr, "bitwise_or");
    rename(BinaryOpType::BitwiseXor, "bitwise_xor");
    rename(BinaryOpType::LogicalAnd, "logical_and");
    rename(BinaryOpType::LogicalOr, "logical_or");
    rename(BinaryOpType::Complex, "std::complex");
    return list;
  }());
  return names[static_cast<size_t>(type)].c_str();
}

const char* op_text(TernaryOpType type) {
  switch (type) {
    case TernaryOpType::Clamp: return "clamp";
    case TernaryOpType::Lerp: return "lerp";
    case TernaryOpType::Threshold: return "threshold";
    case TernaryOpType::Where: return "where";
    case TernaryOpType::Philox: return "philox";
  }
  return "?";
}

const char* op_symbol(UnaryOpType type) {
  switch (type) {
    case UnaryOpType::Neg: return "-";
    case UnaryOpType::LogicalNot: return "!";
    case UnaryOpType::BitwiseNot: return "~";
    case UnaryOpType::Dereference: return "*";
    case UnaryOpType::Address: return "&";
    default: return nullptr;
  }
}

const char* op_symbol(BinaryOpType type) {
  switch (type) {
    case BinaryOpType::Add: return "+";
    case BinaryOpType::Sub: return "-";
    case BinaryOpType::Mul: return "*";
    case BinaryOpType::Div: return "/";
    case BinaryOpType::Mod: return "%";
    case BinaryOpType::Lshift: return "<<";
    case BinaryOpType::Rshift: return ">>";
    case BinaryOpType::Eq: return "==";
    case BinaryOpType::GE: return ">=";
    case BinaryOpType::GT: return ">";
    case BinaryOpType::LE: return "<=";
    case BinaryOpType::LT: return "<";
    case BinaryOpType::NE: return "!=";
    case BinaryOpType::LogicalAnd: return "&&";
    case BinaryOpType::LogicalOr: return "||";
    case BinaryOpType::BitwiseAnd: return "&";
    case BinaryOpType::BitwiseOr: return "|";
    case BinaryOpType::BitwiseXor: return "^";
    default: return nullptr;
  }
}

bool is_comparison(BinaryOpType type) {
  switch (type) {
    case BinaryOpType::Eq:
    case BinaryOpType::NE:
    case BinaryOpType::LT:
    case BinaryOpType::LE:
    case BinaryOpType::GT:
    case BinaryOpType::GE: return true;
    default: return false;
  }
}

std::string cast_text(DataType from, DataType to) {
  const auto is_wide_float = [](DataType type) {
    return type == DataType::Float || type == DataType::Double || type == DataType::Half ||
           type == DataType::BFloat16;
  };
  if ((is_narrow_float(from) && !is_wide_float(to)) ||
      (is_narrow_float(to) && !is_wide_float(from))) {
    return "";
  }
  if (is_low_precision(from) || is_low_precision(to)) {
    const std::string target = conversion_word(to, /*is_source=*/false);
    if (is_complex(from)) {
      return target.empty() ? "" : "__real_then_2" + target;
    }
    const std::string source = conversion_word(from, /*is_source=*/true);
    return source.empty() || target.empty() ? "" : "__" + source + "2" + target;
  }
  const std::string target = plain_word(to);
  if (target.empty() || conversion_word(from, /*is_source=*/false).empty()) {
    return "";
  }
  return (is_complex(from) && !is_complex(to) ? "__real_then_to_" : "__to_") + target;
}

} // namespace nvfuser

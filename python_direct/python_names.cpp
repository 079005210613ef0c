#include "python_names.h"

#include "ops/binary.h"
#include "ops/reduce.h"
#include "ops/scan.h"
#include "ops/unary.h"

namespace nvfuser::python {
namespace {

template <typename Op>
struct FunctionName {
  Op op;
  const char* name;
};

constexpr FunctionName<UnaryOpType> kUnaryNames[] = {
#define NVF_NAME_REGULAR(name, op, policy, doc) {UnaryOpType::op, #name},
#define NVF_NAME_SPECIAL(name, op, doc) {UnaryOpType::op, #name},
    NVF_FOR_EACH_UNARY_FUNCTION(NVF_NAME_REGULAR)
        NVF_FOR_EACH_SPECIAL_UNARY_FUNCTION(NVF_NAME_SPECIAL)
#undef NVF_NAME_SPECIAL
#undef NVF_NAME_REGULAR
};

// Where a type stands in several rows, the first one counts.
constexpr FunctionName<BinaryOpType> kBinaryNames[] = {
#define NVF_NAME_REGULAR(name, op, policy, doc) {BinaryOpType::op, #name},
#define NVF_NAME_SPECIAL(name, op, doc) {BinaryOpType::op, #name},
    NVF_FOR_EACH_BINARY_FUNCTION(NVF_NAME_REGULAR)
        NVF_FOR_EACH_SPECIAL_BINARY_FUNCTION(NVF_NAME_SPECIAL)
#undef NVF_NAME_SPECIAL
#undef NVF_NAME_REGULAR
            {BinaryOpType::Complex, "complex"},
    {BinaryOpType::FMax, "maximum"},
    {BinaryOpType::FMin, "minimum"},
};

constexpr FunctionName<BinaryOpType> kReductionNames[] = {
#define NVF_NAME_REDUCTION(name, op, doc) {BinaryOpType::op, #name},
    NVF_FOR_EACH_REDUCTION_FUNCTION(NVF_NAME_REDUCTION)
#undef NVF_NAME_REDUCTION
};

constexpr FunctionName<BinaryOpType> kScanNames[] = {
#define NVF_NAME_SCAN(name, op, doc) {BinaryOpType::op, #name},
    NVF_FOR_EACH_SCAN_FUNCTION(NVF_NAME_SCAN)
#undef NVF_NAME_SCAN
};

constexpr FunctionName<TernaryOpType> kTernaryNames[] = {
    {TernaryOpType::Clamp, "clamp"},
    {TernaryOpType::Lerp, "lerp"},
    {TernaryOpType::Threshold, "threshold"},
    {TernaryOpType::Where, "where"},
};

template <typename Op, size_t N>
std::string name_in(const FunctionName<Op> (&table)[N], Op op, const Expr& expr) {
  for (const FunctionName<Op>& row : table) {
    if (row.op == op) {
      return std::string("fd.ops.") + row.name;
    }
  }
  throw UserError({
      .headline = {"Unexpected operator type: ", enum_name(op), " in ", expr.to_string()},
      .node = describe(expr),
      .expected = {"an operation that the submodule ops has a documented name for"},
      .found = {enum_name(op)},
      .fix = {"leave it out of fusions that are translated"},
  });
}

} // namespace

std::string function_name(UnaryOpType op, const Expr& expr) {
  return name_in(kUnaryNames, op, expr);
}

std::string function_name(BinaryOpType op, const Expr& expr) {
  return name_in(kBinaryNames, op, expr);
}

std::string function_name(TernaryOpType op, const Expr& expr) {
  return name_in(kTernaryNames, op, expr);
}

std::string reduction_name(BinaryOpType op, const Expr& expr) {
  return name_in(kReductionNames, op, expr);
}

std::string scan_name(BinaryOpType op, const Expr& expr) {
  return name_in(kScanNames, op, expr);
}

} // namespace nvfuser::python

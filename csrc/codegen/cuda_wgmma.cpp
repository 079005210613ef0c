#include "codegen/cuda_wgmma.h"

#include <map>

#include "base/mma_macro.h"
#include "ir/scopes.h"
#include "lower/analysis/wgmma.h"

namespace nvfuser {
namespace {

std::string shape_of(const MmaMacro& macro) {
  return "m" + std::to_string(macro.m) + "n" + std::to_string(macro.n) + "k" +
         std::to_string(macro.k);
}

const char* name_of_type(DataType type) {
  switch (type) {
    case DataType::BFloat16: return "bf16";
    case DataType::Half: return "f16";
    case DataType::Float8_e4m3fn: return "e4m3";
    case DataType::Float: return "tf32";
    case DataType::Char: return "s8";
    default: return "e5m2";
  }
}

/// Types of both factors, once if they are the same: `bf16`, `e4m3_e5m2`.
std::string function_of(const MmaOp& product) {
  const std::string a = name_of_type(product.a->dtype());
  const std::string b = name_of_type(product.b->dtype());
  return "wgmma_" + shape_of(MmaMacro::from_int(product.macro)) + "_" + a + (a == b ? "" : "_" + b);
}

/// The tile of a factor that begins at an element, as the instruction is told.
std::string descriptor_of(KernelPrinter& printer, const Val* first) {
  const auto* factor = static_cast<const TensorIndex*>(first)->view();
  return "wgmma_descriptor<" + std::to_string(printer.swizzle_bytes(factor)) + ">(" +
         printer.expressions().address(first, 1, /*is_written=*/false) + ")";
}

/// One instruction with a register of the sum for each `%`: as many as a lane holds.
std::string function_text(const MmaOp& product) {
  const MmaMacro macro = MmaMacro::from_int(product.macro);
  const bool is_integer = product.out->dtype() == DataType::Int32;
  const int registers = macro.m * macro.n / 128;
  std::string names;
  std::string operands;
  for (int i = 0; i < registers; ++i) {
    const std::string number = std::to_string(i);
    const bool begins_line = i % 8 == 0;
    names += (i == 0 ? "" : ", ") + std::string(begins_line && i > 0 ? "\"\n      \"" : "") + "%" +
             number;
    operands += (i == 0 ? "" : ", ") + std::string(begins_line && i > 0 ? "\n        " : "") +
                (is_integer ? "\"+r\"(sum[" : "\"+f\"(sum[") + number + "])";
  }
  const std::string a = "%" + std::to_string(registers);
  const std::string b = "%" + std::to_string(registers + 1);
  const std::string types = std::string(is_integer ? ".s32." : ".f32.") +
                            name_of_type(product.a->dtype()) + "." +
                            name_of_type(product.b->dtype());
  // Factors may be negated, but for integers, and those of 16 bits transposed; these are not.
  const std::string options = std::string(is_integer ? "" : ", 1, 1") +
                              (size_bytes(product.a->dtype()) == 2 ? ", 0, 0" : "");
  return "NVF_FUNCTION void " + function_of(product) + (is_integer ? "(int* sum" : "(float* sum") +
         ", unsigned long long a, unsigned long long b) {\n"
         "  asm volatile(\n"
         "      \"{\\n\"\n"
         "      \"  .reg .pred adds;\\n\"\n"
         "      \"  setp.ne.b32 adds, 1, 0;\\n\"\n"
         "      \"  wgmma.mma_async.sync.aligned." +
         shape_of(macro) + types + " {\"\n      \"" + names + "}, \"\n      \"" + a + ", " + b +
         ", adds" + options + ";\\n\"\n      \"}\"\n      : " + operands +
         "\n      : \"l\"(a), \"l\"(b));\n}\n";
}

} // namespace

void print_wgmma(KernelPrinter& printer, const MmaOp& product) {
  printer.statement(
      product, function_of(product) + "(" +
                   printer.expressions().address(product.out, 1, /*is_written=*/true) + ", " +
                   descriptor_of(printer, product.a) + ", " + descriptor_of(printer, product.b) +
                   ");");
}

std::string wgmma_functions(const Kernel& kernel) {
  std::map<std::string, std::string> functions;
  for_each_node(kernel.body, [&](const Expr& statement) {
    if (is_wgmma(&statement)) {
      const auto& product = *statement.as<MmaOp>();
      functions.try_emplace(function_of(product), function_text(product));
    }
  });
  std::string text;
  for (const auto& [name, function] : functions) {
    text += function;
  }
  return text;
}

} // namespace nvfuser

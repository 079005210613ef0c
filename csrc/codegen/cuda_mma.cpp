#include "codegen/cuda_mma.h"

#include "base/mma_macro.h"

namespace nvfuser {

std::string shape_of(const MmaOp& product) {
  const MmaMacro macro = MmaMacro::from_int(product.macro);
  return "m" + std::to_string(macro.m) + "n" + std::to_string(macro.n) + "k" +
         std::to_string(macro.k);
}

const char* type_of_factor(const Val* factor) {
  switch (factor->dtype()) {
    case DataType::BFloat16: return "bf16";
    case DataType::Half: return "f16";
    case DataType::Float8_e4m3fn: return "e4m3";
    case DataType::Float: return "tf32";
    case DataType::Char: return "s8";
    default: return "e5m2";
  }
}

std::string types_of_factors(const MmaOp& product) {
  const std::string a = type_of_factor(product.a);
  const std::string b = type_of_factor(product.b);
  return a + (a == b ? "" : "_" + b);
}

void print_mma(KernelPrinter& printer, const MmaOp& product) {
  const auto address = [&](const Val* element, bool is_written) {
    return printer.expressions().address(element, 1, is_written);
  };
  printer.statement(
      product, "mma_" + shape_of(product) + "_" + types_of_factors(product) + "(" +
                   address(product.out, true) + ", " + address(product.a, false) + ", " +
                   address(product.b, false) + ");");
}

} // namespace nvfuser

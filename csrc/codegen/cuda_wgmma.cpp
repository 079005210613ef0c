#include "codegen/cuda_wgmma.h"

#include <map>

#include "base/mma_macro.h"
#include "codegen/cuda_mma.h"
#include "ir/scopes.h"
#include "lower/analysis/wgmma.h"

namespace nvfuser {
namespace {

bool is_in_registers(const Val* factor) {
  return view_of(factor)->memory_type() == MemoryType::Local;
}

bool is_transposed(const MmaOp& product, const Val* factor) {
  const auto& definition = *view_of(product.out)->definition()->as<MmaOp>();
  return !is_in_registers(factor) && is_transposed_factor(definition, view_of(factor));
}

/// The boxes of a factor, one behind the other.
int64_t bytes_of_box(const Kernel& kernel, const TensorView* factor) {
  int64_t bytes = 0;
  for_each_node(kernel.body, [&](const Expr& statement) {
    const auto* load = statement.as<BulkLoad>();
    if (load != nullptr && view_of(load->out) == factor) {
      bytes = load->box.at(0) * load->box.at(1) * size_bytes(factor->dtype());
    }
  });
  return bytes;
}

/// The shape, both types and where factors lie, unless it is in shared memory with k innermost:
/// `wgmma_m64n16k16_bf16_registers_transposed`.
std::string function_of(const MmaOp& product) {
  const auto place = [&](const Val* factor) {
    return is_in_registers(factor)          ? "registers"
           : is_transposed(product, factor) ? "transposed"
                                            : "";
  };
  const std::string a = place(product.a);
  const std::string b = place(product.b);
  std::string name = "wgmma_" + shape_of(product) + "_" + types_of_factors(product);
  if (!a.empty() || !b.empty()) {
    name += "_" + (a.empty() ? "straight" : a) + (b.empty() ? "" : "_" + b);
  }
  return name;
}

/// The tile of a factor that begins at an element, as the instruction is told.
std::string descriptor_of(KernelPrinter& printer, const MmaOp& product, const Val* first) {
  const TensorView* factor = view_of(first);
  std::string layout = std::to_string(printer.swizzle_bytes(factor));
  if (is_transposed(product, first)) {
    layout += ", " + std::to_string(bytes_of_box(printer.kernel(), factor));
  }
  return "wgmma_descriptor<" + layout + ">(" +
         printer.expressions().address(first, 1, /*is_written=*/false) + ")";
}

/// One instruction with a register of the sum for each `%`: as many as a lane holds. A first factor
/// in registers is ready before the fence that stands in front of the instruction.
std::string function_text(const MmaOp& product) {
  const MmaMacro macro = MmaMacro::from_int(product.macro);
  const bool is_integer = product.out->dtype() == DataType::Int32;
  const bool is_held = is_in_registers(product.a);
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
  int next = registers;
  const auto operand = [&] { return "%" + std::to_string(next++); };
  std::string a;
  std::string passed;
  if (is_held) {
    constexpr int kRegisters = 4;
    const int64_t held = 4 / size_bytes(product.a->dtype()); // elements of a register
    for (int i = 0; i < kRegisters; ++i) {
      a += (i == 0 ? "{" : ", ") + operand();
      passed += (i == 0 ? "\"r\"(register_bits(a" : ", \"r\"(register_bits(a + ") +
                (i == 0 ? "" : std::to_string(i * held)) + "))";
    }
    a += '}';
  } else {
    a = operand();
    passed = "\"l\"(a)";
  }
  const std::string b = operand();
  const std::string types = std::string(is_integer ? ".s32." : ".f32.") +
                            type_of_factor(product.a) + "." + type_of_factor(product.b);
  // Factors may be negated, but for integers, and those of 16 bits in shared memory transposed.
  std::string options = is_integer ? "" : ", 1, 1";
  if (size_bytes(product.a->dtype()) == 2) {
    const auto flag = [&](const Val* factor) {
      return is_transposed(product, factor) ? ", 1" : ", 0";
    };
    options += std::string(is_held ? "" : flag(product.a)) + flag(product.b);
  }
  return std::string(is_held ? "template <typename T>\n" : "") + "NVF_FUNCTION void " +
         function_of(product) + (is_integer ? "(int* sum" : "(float* sum") +
         (is_held ? ", const T* a" : ", unsigned long long a") +
         ", unsigned long long b) {\n"
         "  asm volatile(\n"
         "      \"{\\n\"\n"
         "      \"  .reg .pred adds;\\n\"\n"
         "      \"  setp.ne.b32 adds, 1, 0;\\n\"\n" +
         (is_held ? "      \"  wgmma.fence.sync.aligned;\\n\"\n" : "") +
         "      \"  wgmma.mma_async.sync.aligned." + shape_of(product) + types + " {\"\n      \"" +
         names + "}, \"\n      \"" + a + ", " + b + ", adds" + options +
         ";\\n\"\n      \"}\"\n      : " + operands + "\n      : " + passed + ", \"l\"(b));\n}\n";
}

} // namespace

void print_wgmma(KernelPrinter& printer, const MmaOp& product) {
  const std::string a = is_in_registers(product.a)
                            ? printer.expressions().address(product.a, 1, /*is_written=*/false)
                            : descriptor_of(printer, product, product.a);
  printer.statement(
      product, function_of(product) + "(" +
                   printer.expressions().address(product.out, 1, /*is_written=*/true) + ", " + a +
                   ", " + descriptor_of(printer, product, product.b) + ");");
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

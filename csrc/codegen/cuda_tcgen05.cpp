#include "codegen/cuda_tcgen05.h"

#include <algorithm>
#include <bit>

#include "base/mma_macro.h"
#include "codegen/cuda_bulk.h"
#include "ir/scopes.h"
#include "lower/analysis/block_scales.h"
#include "lower/analysis/tcgen05.h"

namespace nvfuser {
namespace {

constexpr int64_t kFewestColumns = 32; // that a block can have

int64_t columns_of(const Allocate& allocate) {
  const int64_t elements = as_int(allocate.size->value());
  return is_block_scale(allocate.buffer) ? columns_of_scales(elements) : elements;
}

/// Columns of the tensors that are allocated before `end`, or, if it is nullptr, of all.
int64_t columns_before(const Kernel& kernel, const Allocate* end) {
  int64_t columns = 0;
  bool has_ended = false;
  for_each_node(kernel.body, [&](const Expr& node) {
    const auto* allocate = node.as<Allocate>();
    has_ended = has_ended || &node == end;
    if (!has_ended && allocate != nullptr && allocate->memory_type == MemoryType::Tensor) {
      columns += columns_of(*allocate);
    }
  });
  return columns;
}

bool is_in_tensor_memory(const Val* element) {
  return view_of(element) != nullptr && view_of(element)->memory_type() == MemoryType::Tensor;
}

std::string descriptor_of(KernelPrinter& printer, const Val* first) {
  return "tcgen05_descriptor<" + std::to_string(printer.swizzle_bytes(view_of(first))) + ">(" +
         printer.expressions().address(first, 1, /*is_written=*/false) + ")";
}

const char* format_of(DataType type) {
  switch (type) {
    case DataType::Half: return "kFormatHalf";
    case DataType::BFloat16: return "kFormatBFloat16";
    case DataType::Float8_e4m3fn: return "kFormatE4m3";
    case DataType::Float: return "kFormatTf32";
    case DataType::Char: return "kFormatSigned";
    default: return "kFormatE5m2";
  }
}

/// Elements that one statement copies: those of the axes bound to mma.
int64_t copied_columns(const TensorView* copy) {
  int64_t columns = 1;
  for (const IterDomain* axis : copy->loop()) {
    columns *= axis->is_mma() ? as_int(axis->extent()->value()) : 1;
  }
  return columns;
}

/// `, 2` of a pair of blocks; nothing of one.
std::string blocks_argument(bool is_pair) {
  return is_pair ? ", 2" : "";
}

/// A product of blocks that have scales.
void print_scaled(KernelPrinter& printer, const MmaOp& product) {
  const MmaMacro macro = MmaMacro::from_int(product.macro);
  const auto address = [&](const Val* element, bool is_written) {
    return printer.expressions().address(element, 1, is_written);
  };
  printer.statement(
      product, std::string("tcgen05_multiply_scaled<tcgen05_scaled_instruction(") +
                   format_of(product.a->dtype()) + ", " + format_of(product.b->dtype()) + ", " +
                   std::to_string(macro.m) + ", " + std::to_string(macro.n) + ")>(" +
                   address(product.out, true) + ", " + descriptor_of(printer, product.a) + ", " +
                   descriptor_of(printer, product.b) + ", " + address(product.a_scale, false) +
                   ", " + address(product.b_scale, false) + ");");
}

} // namespace

void print_tcgen05(KernelPrinter& printer, const MmaOp& product) {
  if (product.a_scale != nullptr) {
    print_scaled(printer, product);
    return;
  }
  const MmaMacro macro = MmaMacro::from_int(product.macro);
  const std::string bits = std::to_string(size_bytes(product.a->dtype()) * 8);
  printer.statement(
      product,
      "tcgen05_multiply<" + bits + ", tcgen05_instruction(" + format_of(product.a->dtype()) + ", " +
          format_of(product.b->dtype()) + ", " + std::to_string(macro.m) + ", " +
          std::to_string(macro.n) + (product.out->dtype() == DataType::Int32 ? ", kSumInt32" : "") +
          ")" + blocks_argument(is_product_of_pair(&product)) + ">(" +
          printer.expressions().address(product.out, 1, /*is_written=*/true) + ", " +
          descriptor_of(printer, product.a) + ", " + descriptor_of(printer, product.b) + ");");
}

void declare_tensor_memory(KernelPrinter& printer) {
  if (!printer.mentions("tensor_memory")) {
    return;
  }
  const int64_t columns = std::max(kFewestColumns, columns_before(printer.kernel(), nullptr));
  const bool is_pair = blocks_of_products(printer.kernel()) > 1;
  declare_barriers(
      printer,
      "BlockTensorMemory<" + std::to_string(std::bit_ceil(static_cast<uint64_t>(columns))) +
          blocks_argument(is_pair) + ">",
      "tensor_memory", "tensor_memory_barrier", is_pair ? 3 : 2);
}

void allocate_columns(KernelPrinter& printer, const Allocate& allocate) {
  printer.line(
      std::string(
          is_block_scale(allocate.buffer) ? "const ScaleColumns " : "const TensorColumns ") +
      printer.name_of(allocate.buffer) + "(tensor_memory, " +
      std::to_string(columns_before(printer.kernel(), &allocate)) + ");");
}

bool touches_tensor_memory(const LoadStoreOp& copy) {
  return is_in_tensor_memory(copy.out) || is_in_tensor_memory(copy.arg);
}

void copy_tensor_memory(KernelPrinter& printer, const LoadStoreOp& copy) {
  ExpressionPrinter& expressions = printer.expressions();
  if (const TensorView* scales = scales_copied_by(copy)) {
    printer.statement(
        copy, "tcgen05_copy_scales<" + std::to_string(chunks_of(scales)) + ">(" +
                  expressions.address(copy.out, 1, /*is_written=*/true) + ", " +
                  expressions.address(copy.arg, 1, /*is_written=*/false) + ");");
    return;
  }
  const bool stores = is_in_tensor_memory(copy.out);
  const bool is_first_value = view_of(copy.arg) == nullptr; // of a sum
  printer.statement(
      copy,
      std::string(stores ? "tensor_memory_store" : "tensor_memory_load") +
          (is_first_value ? "" : "<" + std::to_string(copied_columns(view_of(copy.out))) + ">") +
          "(" + expressions.address(copy.out, 1, /*is_written=*/true) + ", " +
          (is_first_value ? expressions.value_as(copy.arg, copy.out->dtype()).str()
                          : expressions.address(copy.arg, 1, /*is_written=*/false)) +
          ");");
}

} // namespace nvfuser

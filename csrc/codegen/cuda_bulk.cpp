#include "codegen/cuda_bulk.h"

#include <algorithm>

#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/kernel_parameters.h"

namespace nvfuser {
namespace {

/// The parameter that describes the tensor of a bulk copy: `T0_map1`.
std::string map_of(KernelPrinter& printer, const BoxedTensor& boxed) {
  const std::vector<BoxedTensor> all = boxed_tensors(printer.kernel());
  const auto found =
      std::ranges::find_if(all, [&](const BoxedTensor& other) { return other.same_as(boxed); });
  return name_of_tensor_map(printer.name_of(boxed.tensor), found - all.begin());
}

/// `, i3 * 64, 0`
std::string coordinates_text(KernelPrinter& printer, const std::vector<Val*>& coordinates) {
  std::string text;
  for (const Val* coordinate : coordinates) {
    text += ", " + printer.expressions().value_as(coordinate, DataType::Int32).str();
  }
  return text;
}

} // namespace

void print_bulk_statement(KernelPrinter& printer, const Expr& statement) {
  ExpressionPrinter& expressions = printer.expressions();
  if (const auto* load = statement.as<BulkLoad>()) {
    const BoxedTensor boxed = *boxed_tensor(statement);
    printer.statement(
        *load, "bulk_load<" + std::to_string(boxed.bytes_of_box()) + ">(" +
                   expressions.address(load->out, 1, /*is_written=*/true) + ", " +
                   map_of(printer, boxed) + ", bulk_groups" +
                   coordinates_text(printer, load->coordinates) + ");");
  } else if (const auto* store = statement.as<BulkStore>()) {
    printer.statement(
        *store, "bulk_store(" + map_of(printer, *boxed_tensor(statement)) + ", " +
                    expressions.address(store->arg, 1, /*is_written=*/false) +
                    coordinates_text(printer, store->coordinates) + ");");
  } else if (const auto* wait = statement.as<BulkStoreWait>()) {
    printer.line(
        std::string("bulk_store_wait</*only_reads=*/") + (wait->only_reads ? "true" : "false") +
        ">();");
  } else {
    NVF_INVARIANT(statement.is_a<FenceAsyncProxy>(), "of bulk copies: ", statement.to_string());
    printer.line("fence_async_proxy();");
  }
}

std::string commit_of_bulk_loads() {
  return "bulk_groups.commit();";
}

std::string wait_for_bulk_loads(int64_t keep_stages) {
  return "bulk_groups.wait<" + std::to_string(keep_stages) + ">();";
}

void declare_bulk_groups(KernelPrinter& printer) {
  if (!printer.mentions("bulk_groups")) {
    return;
  }
  constexpr int64_t kBarrierBytes = 8;
  const int64_t groups = num_bulk_groups(printer.kernel());
  // The memory of boxes follows: it begins at a multiple of its alignment if barriers fill one.
  const int64_t alignment = alignment_of_shared_memory(printer.kernel());
  const int64_t bytes = (groups * kBarrierBytes + alignment - 1) / alignment * alignment;
  printer.line(
      "__shared__ __align__(" + std::to_string(alignment) + ") unsigned long long bulk_barriers[" +
      std::to_string(bytes / kBarrierBytes) + "];");
  printer.line("BulkGroups<" + std::to_string(groups) + "> bulk_groups(bulk_barriers);");
}

int64_t alignment_of_shared_memory(const Kernel& kernel) {
  int64_t alignment = 128;
  for (const auto& [tensor, of_boxes] : find_box_alignments(kernel)) {
    alignment = std::max(alignment, of_boxes);
  }
  return alignment;
}

} // namespace nvfuser

#include "codegen/cuda_bulk.h"

#include <algorithm>

#include "codegen/cuda_cache.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/kernel_parameters.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/shared_loads.h"
#include "lower/analysis/tcgen05.h"
#include "lower/analysis/wgmma.h"

namespace nvfuser {
namespace {

/// The parameter that describes the tensor of a bulk copy: `T0_map1`.
std::string map_of(KernelPrinter& printer, const BoxedTensor& boxed) {
  const std::vector<BoxedTensor> all = boxed_tensors(printer.kernel());
  const auto found =
      std::ranges::find_if(all, [&](const BoxedTensor& other) { return other.same_as(boxed); });
  return name_of_tensor_map(printer.name_of(boxed.tensor), found - all.begin());
}

/// The name of the object that counts the loads of a tensor.
const char* counter_of(const Kernel& kernel, const BulkLoad& load) {
  return has_stage_barriers(kernel, view_of(load.out)) ? "bulk_stages" : "bulk_groups";
}

/// `, i3 * 64, 0`
std::string coordinates_text(KernelPrinter& printer, const std::vector<Val*>& coordinates) {
  std::string text;
  for (const Val* coordinate : coordinates) {
    text += ", " + printer.expressions().value_as(coordinate, DataType::Int32).str();
  }
  return text;
}

std::string bytes_of_run(const TensorView* tensor, const std::vector<int64_t>& box) {
  return std::to_string(size_bytes(tensor->dtype()) * box.front());
}

/// `bulk_store_run<`, or `bulk_update_run<Update::Add, `
std::string store_of_run(const BulkStore& store) {
  const auto* update = store.tensor->definition()->as<BinaryOp>();
  return update == nullptr ? "bulk_store_run<"
                           : std::string("bulk_update_run<Update::") + enum_name(update->op) + ", ";
}

/// `&T0[i3 * 64]`
std::string place_of_run(
    KernelPrinter& printer, const TensorView* tensor, const std::vector<Val*>& coordinates) {
  return "&" + printer.name_of(tensor) + "[" +
         printer.expressions().value(coordinates.front()).str() + "]";
}

} // namespace

// The memory of boxes follows: it begins at a multiple of its alignment if barriers fill one.
void declare_barriers(
    KernelPrinter& printer,
    const std::string& type,
    const std::string& counter,
    const std::string& memory,
    int64_t barriers) {
  constexpr int64_t kBarrierBytes = 8;
  const int64_t alignment = alignment_of_shared_memory(printer.kernel());
  const int64_t bytes = (barriers * kBarrierBytes + alignment - 1) / alignment * alignment;
  printer.line(
      "__shared__ __align__(" + std::to_string(alignment) + ") unsigned long long " + memory + "[" +
      std::to_string(bytes / kBarrierBytes) + "];");
  printer.line(type + " " + counter + "(" + memory + ");");
}

void print_bulk_statement(KernelPrinter& printer, const Expr& statement) {
  ExpressionPrinter& expressions = printer.expressions();
  if (const auto* load = statement.as<BulkLoad>()) {
    const std::string to = expressions.address(load->out, 1, /*is_written=*/true);
    const std::string counter = counter_of(printer.kernel(), *load);
    const std::string hint = hint_argument(view_of(load->out));
    if (copies_run(statement)) {
      printer.statement(
          *load, "bulk_load_run<" + bytes_of_run(load->tensor, load->box) + hint + ">(" + to +
                     ", " + place_of_run(printer, load->tensor, load->coordinates) + ", " +
                     counter + ");");
      return;
    }
    const BoxedTensor boxed = *boxed_tensor(statement);
    const bool is_part = loading_blocks(printer.kernel(), view_of(load->out)) > 1;
    printer.statement(
        *load, std::string(is_part ? "bulk_load_part" : "bulk_load") +
                   (hint.empty() ? "<" : "_hinted<") + std::to_string(boxed.bytes_of_box()) + hint +
                   ">(" + to + ", " + map_of(printer, boxed) + ", " + counter +
                   coordinates_text(printer, load->coordinates) + ");");
  } else if (const auto* store = statement.as<BulkStore>()) {
    const std::string from = expressions.address(store->arg, 1, /*is_written=*/false);
    const std::string hint = hint_argument(store->tensor);
    if (copies_run(statement)) {
      printer.statement(
          *store, store_of_run(*store) + bytes_of_run(store->tensor, store->box) + hint + ">(" +
                      place_of_run(printer, store->tensor, store->coordinates) + ", " + from +
                      ");");
      return;
    }
    printer.statement(
        *store, (hint.empty() ? "bulk_store(" : "bulk_store_hinted<" + hint.substr(2) + ">(") +
                    map_of(printer, *boxed_tensor(statement)) + ", " + from +
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

std::string commit_text(const AsyncCommit& commit) {
  switch (commit.async_op) {
    case LoadStoreOpType::CpAsyncBulkTensorTile: return "bulk_groups.commit();";
    case kLoadsOfStage: return "bulk_stages.arrive_full();";
    case kReadsOfStage: return "bulk_stages.arrive_empty();";
    case kProducts: return "wgmma_commit();";
    case kProductsOfBlock: return "tensor_memory.commit();";
    default: return "cp_async_commit();";
  }
}

std::string wait_text(const AsyncWait& wait) {
  const std::string keep = "<" + std::to_string(wait.keep_stages) + ">();";
  switch (wait.async_op) {
    case LoadStoreOpType::CpAsyncBulkTensorTile: return "bulk_groups.wait" + keep;
    case kLoadsOfStage: return "bulk_stages.wait_full();"; // one after the other
    case kReadsOfStage: return "bulk_stages.wait_empty" + keep;
    case kProducts: return "wgmma_wait" + keep;
    case kRegistersOfProducts: return "wgmma_fence();";
    case kProductsOfBlock: return "tensor_memory.wait" + keep;
    default: return "cp_async_wait" + keep;
  }
}

void prefetch_tensor_maps(KernelPrinter& printer) {
  std::string names;
  for (const KernelPrinter::Parameter& parameter : printer.parameters()) {
    if (parameter.type == kTensorMapType) {
      names += (names.empty() ? "" : ", ") + parameter.name;
    }
  }
  if (!names.empty()) {
    printer.line("prefetch_maps(" + names + ");");
  }
}

void declare_bulk_barriers(KernelPrinter& printer) {
  const auto type = [](const char* name, int64_t count) {
    return std::string(name) + "<" + std::to_string(count) + ">";
  };
  if (printer.mentions("bulk_groups")) {
    const int64_t groups = num_bulk_groups(printer.kernel());
    declare_barriers(printer, type("BulkGroups", groups), "bulk_groups", "bulk_barriers", groups);
  }
  if (printer.mentions("bulk_stages")) {
    const int64_t stages = num_stage_barriers(printer.kernel());
    const int64_t blocks = loading_blocks(printer.kernel());
    const std::string stages_type = blocks == 1 ? type("BulkStages", stages)
                                                : "ClusterStages<" + std::to_string(stages) + ", " +
                                                      std::to_string(blocks) + ">";
    declare_barriers(printer, stages_type, "bulk_stages", "stage_barriers", 2 * stages);
  }
}

std::string register_share(const Kernel& kernel, const IfThenElse& branch, const Scope& body) {
  if (!tells_roles_apart(kernel, branch.condition)) {
    return "";
  }
  const auto registers = loading_threads(kernel).registers;
  if (!registers) {
    return "";
  }
  const auto& [loading, computing, at_start] = *registers;
  return &body == &branch.then_body ? "take_registers<" + std::to_string(computing) + ">();"
                                    : "give_registers<" + std::to_string(loading) + ">();";
}

int64_t alignment_of_shared_memory(const Kernel& kernel) {
  int64_t alignment = 128;
  for (const auto& [tensor, of_boxes] : find_box_alignments(kernel)) {
    alignment = std::max(alignment, of_boxes);
  }
  return alignment;
}

} // namespace nvfuser

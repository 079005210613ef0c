// Texts of domain transforms and of kernel statements.
#include <algorithm>

#include "ir/print_node.h"

namespace nvfuser {

using namespace print_detail;

namespace {

std::string ops_text(const std::vector<BinaryOpType>& ops) {
  std::string out;
  for (const BinaryOpType op : ops) {
    out += (out.empty() ? "" : ", ") + std::string(op_text(op));
  }
  return out;
}

/// `64 x 32`: innermost last, as axes are written.
std::string product_text(const std::vector<int64_t>& factors) {
  std::string product;
  for (const int64_t factor : factors) {
    product = std::to_string(factor) + (product.empty() ? "" : " x ") + product;
  }
  return product;
}

/// ` in steps of 2 x 1`; nothing for a box of neighbours.
std::string steps_text(const BulkLoad& e) {
  const bool has_neighbours = std::ranges::all_of(e.steps, [](int64_t step) { return step == 1; });
  return has_neighbours ? "" : " in steps of " + product_text(e.steps);
}
std::string steps_text(const BulkStore& /*e*/) {
  return "";
}

/// `box 64 x 32 at {..}`
template <typename BulkCopy>
std::string box_text(const BulkCopy& e) {
  return "box " + product_text(e.box) + steps_text(e) + " at " +
         print_list({e.coordinates.rbegin(), e.coordinates.rend()}) +
         (e.swizzle_bytes > 0 ? ", swizzled by " + std::to_string(e.swizzle_bytes) + " bytes" : "");
}

} // namespace

// ---- Domains ------------------------------------------------------------------------------------

std::string print_node(const Split& e) {
  return (e.inner_split ? "Split: " : "Outer split: ") + str(e.in) + " by factor " +
         print_inline(e.factor) + " -> " + str(e.outer) + ", " + str(e.inner) + "\n";
}

std::string print_node(const Merge& e) {
  return "Merge: " + str(e.outer) + " and " + str(e.inner) + " -> " + str(e.out) + "\n";
}

std::string print_node(const Resize& e) {
  return "Resize: " + str(e.in) + " by " + print_inline(e.left) + " and " + print_inline(e.right) +
         " -> " + str(e.out) + "\n";
}

std::string print_node(const Swizzle& e) {
  const std::string name = e.swizzle_type == SwizzleType::XOR ? "Xor" : enum_name(e.swizzle_type);
  return name + "(2D): " + str(e.in_x) + " , " + str(e.in_y) + " -> " + str(e.out_x) + " , " +
         str(e.out_y) + "\n";
}

std::string print_node(const Swizzle1D& e) {
  return str(e.out) + " = Swizzle1D(" + str(e.in) + ", parallelType=" + text(e.parallel_type) +
         ")\n";
}

// ---- Kernel statements --------------------------------------------------------------------------

std::string print_node(const ForLoop& e) {
  std::string header = "FOR " + str(e.index) + " in " + str(e.iter_domain);
  const bool is_hardware = e.loop_kind == LoopKind::Hardware;
  if (!is_hardware && e.start != nullptr && !e.start->is_zero()) {
    header += " from " + print_inline(e.start);
  }
  header += e.loop_kind == LoopKind::Vector ? " vectorized" : "";
  header += traits_of(e.loop_kind).is_written_out || e.unroll_count > 0 ? " unrolled" : "";
  if (e.unroll_count > 0 && !e.stop->is_const_int(e.unroll_count)) {
    header += " by " + std::to_string(e.unroll_count);
  }
  if (e.circular_buffer_depth > 0) {
    header += std::string(" ") + enum_name(e.circular_buffer_stage) + " of " +
              std::to_string(e.circular_buffer_depth) + " stages to " + print_inline(e.stop);
  }
  // Scalars that a loop bound to hardware computes stay known after it.
  return header + ":\n" + (is_hardware ? print_in_scope(e.body, 1) : print_scope(e.body, 1));
}

std::string print_node(const IfThenElse& e) {
  std::string out = "IF " + inline_or(e.condition, "true") + ":\n" + print_scope(e.then_body, 1);
  if (!e.else_body.empty()) {
    out += "ELSE:\n" + print_scope(e.else_body, 1);
  }
  return out;
}

std::string print_node(const Allocate& e) {
  static constexpr const char* kWords[] = {"register", "shared", "global", "tensor", "symmetric"};
  std::string out = str(e.buffer) + " = ALLOCATE(buffer=" + str(e.buffer) +
                    ", mem_type=" + kWords[static_cast<size_t>(e.memory_type)] +
                    ", size=" + inline_or(e.size, "1");
  if (e.address != nullptr) {
    out += ", address=" + print_inline(e.address);
  }
  return out + ")\n";
}

std::string print_node(const BlockSync& e) {
  return std::string("BLOCKSYNC(war_sync=") + bool_text(e.war_sync) + ")\n";
}

std::string print_node(const AsyncCommit& e) {
  return std::string("ASYNCCOMMIT(") + enum_name(e.async_op) + ")\n";
}

std::string print_node(const AsyncWait& e) {
  return std::string("ASYNCWAIT(") + enum_name(e.async_op) +
         ", keep_stages=" + std::to_string(e.keep_stages) + ")\n";
}

std::string print_node(const GridSync& e) {
  return "GRIDSYNC(" + dims_text(e.sync_dims) +
         (e.sync_buffer == nullptr ? "" : ", " + str(e.sync_buffer)) + ")\n";
}

std::string print_node(const BlockReduction& e) {
  std::string out = print_list(e.outs) + " = BLOCKREDUCTION( " + print_list(e.ins) +
                    ", op = " + (e.is_welford ? "welford" : ops_text(e.ops)) +
                    ", initial value = " + print_list(e.inits) +
                    ", reduced_dims = " + dims_text(e.reduced_dims);
  out += e.is_warp ? ", warp" : "";
  if (e.read_predicate != nullptr) {
    out += ", read predicate = " + print_inline(e.read_predicate);
  }
  return out + " )\n";
}

std::string print_node(const BlockScan& e) {
  return print_list({e.prefix, e.carry}) + " = BLOCKSCAN( " + print_list({e.value}) +
         ", op = " + op_text(e.op) + ", scanned_dim = " + dims_text({e.scanned_dim}) + " )\n";
}

std::string print_node(const GridReduction& e) {
  std::string out = print_list(e.outs) + " = GRIDREDUCTION( " + print_list(e.ins) +
                    ", op = " + (e.is_welford ? "welford" : ops_text(e.ops)) +
                    ", initial value = " + print_list(e.inits) +
                    ", reduced_dims = " + dims_text(e.reduced_dims) +
                    ", allreduce = " + bool_text(e.allreduce);
  out += e.is_serial ? ", serial" : "";
  if (e.read_predicate != nullptr) {
    out += ", read predicate = " + print_inline(e.read_predicate);
  }
  if (e.is_last != nullptr) {
    out += ", is_last = " + str(e.is_last);
  }
  if (e.entrances != nullptr) {
    out += ", entrance = " + inline_or(e.entrance, "0") + " of " + print_inline(e.entrances);
  }
  return out + " )\n";
}

std::string print_node(const BlockSerializeWait& e) {
  return "BLOCKSERIALIZEWAIT(" + dims_text(e.sync_dims) + ", " + str(e.sync_buffer) + ")\n";
}

std::string print_node(const BlockSerializeRelease& e) {
  return "BLOCKSERIALIZERELEASE(" + dims_text(e.sync_dims) + ", " + str(e.sync_buffer) + ")\n";
}

std::string print_node(const RandomElement& e) {
  static constexpr const char* kNames[] = {
      "RANDOMUNIFORM", "RANDOMUNIFORMRANGE", "RANDOMNORMAL", "RANDOMNORMALGENERAL"};
  std::string out = str(e.out) + " = " + kNames[static_cast<size_t>(e.op)] +
                    "( seed = " + print_inline(e.seed) + ", offset = " + print_inline(e.offset) +
                    ", counter = " + print_inline(e.counter) + ", lane = " + print_inline(e.lane);
  if (!e.parameters.empty()) {
    out += ", " + print_list(e.parameters);
  }
  return out + " )\n";
}

std::string print_node(const ChosenElement& e) {
  std::string out = str(e.out) + " = ";
  for (size_t i = 0; i < e.conditions.size(); ++i) {
    out += print_inline(e.conditions[i]) + " ? " + str(e.values[i]) + " : ";
  }
  return out + str(e.values.back()) + "\n";
}

std::string print_node(const ThreadLoop& e) {
  return "THREADLOOP:\n" + print_scope(e.body, 1);
}

std::string print_node(const BlockLoop& e) {
  return "BLOCKLOOP parallel:\n" + print_scope(e.body, 1);
}

std::string print_node(const ClusterSync& /*e*/) {
  return "CLUSTERSYNC()\n";
}

std::string print_node(const ClusterReduction& e) {
  std::string out = print_list(e.outs) + " = CLUSTERREDUCTION( " + print_list(e.ins) +
                    ", op = " + (e.is_welford ? "welford" : ops_text(e.ops)) +
                    ", initial value = " + print_list(e.inits) +
                    ", reduced_dims = " + dims_text(e.reduced_dims);
  if (e.read_predicate != nullptr) {
    out += ", read predicate = " + print_inline(e.read_predicate);
  }
  return out + " )\n";
}

std::string print_node(const ClusterLoop& e) {
  return "CLUSTERLOOP:\n" + print_scope(e.body, 1);
}

std::string print_node(const BulkLoad& e) {
  return str(e.out) + " = BULKLOAD( " + str(e.tensor) + ", " + box_text(e) + " )\n";
}

std::string print_node(const BulkStore& e) {
  const auto* update = e.tensor->definition()->as<BinaryOp>();
  return str(e.tensor) + " = BULKSTORE( " + str(e.arg) + ", " + box_text(e) +
         (update == nullptr ? "" : ", op = " + std::string(op_text(update->op))) + " )\n";
}

std::string print_node(const BulkStoreWait& e) {
  return std::string("BULKSTOREWAIT(only_reads=") + bool_text(e.only_reads) + ")\n";
}

std::string print_node(const FenceAsyncProxy& /*e*/) {
  return "FENCEASYNCPROXY()\n";
}

std::string print_node(const PriorGridWait& /*e*/) {
  return "PRIORGRIDWAIT()\n";
}

std::string print_node(const DependentGridLaunch& /*e*/) {
  return "DEPENDENTGRIDLAUNCH()\n";
}

} // namespace nvfuser

// C++ for the host compiler. A kernel is a sequence of phases; each runs every block of the grid,
// on several workers. Threads of a block are loops.
//
//   extern "C" void name(const void* const* params, const long long* launch, const nvf_cpu_runtime*
//   rt) {
//     const auto T0 = parameter<Tensor<float, 1, 1>>(params[0]);
//     ...
//     run_blocks(rt, gridDim, /*parallel=*/true, scratch_bytes, [=](Dim3 blockIdx, char* scratch) {
//       Dim3 threadIdx = {0, 0, 0}; // dimensions that are not used stay 0
//       for (threadIdx.x = 0; threadIdx.x < 128; ++threadIdx.x) {
//
// Storage: registers of a thread loop are variables and small arrays. The block's scratch memory
// holds shared memory and values that live across thread loops; memory of the whole kernel holds
// those that live across phases. Where blocks form clusters, a cluster is one task: its blocks are
// a loop, and share its scratch memory.
#include <algorithm>
#include <array>
#include <set>

#include "base/options.h"
#include "codegen/block_parts.h"
#include "codegen/cpu_combine.h"
#include "codegen/cpu_race.h"
#include "codegen/cpu_scratch.h"
#include "codegen/cpu_threads.h"
#include "codegen/dialect.h"
#include "codegen/printer.h"
#include "ir/dependencies.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/block_collectives.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/loading_threads.h"

namespace nvfuser {
namespace {

/// Whether the address of an operand differs between the positions along a hardware index.
bool varies_along(const Val* operand, const std::string& hardware_name) {
  if (operand->vtype() != ValType::TensorIndex) {
    return false;
  }
  const std::vector<const Val*> address =
      dependencies(static_cast<const TensorIndex*>(operand)->index());
  return std::any_of(address.begin(), address.end(), [&](const Val* val) {
    return val->vtype() == ValType::NamedScalar &&
           static_cast<const NamedScalar*>(val)->text_name() == hardware_name;
  });
}

bool contains(const std::vector<int64_t>& dims, int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

class CpuDialect final : public Dialect {
 public:
  [[nodiscard]] const char* fixed_width_index(bool is_32_bit) const override {
    return is_32_bit ? "__INT32_TYPE__" : "__INT64_TYPE__";
  }
  [[nodiscard]] std::string hardware_value(const NamedScalar& value) const override {
    return value.text_name(); // the loops have the same names
  }
  [[nodiscard]] bool division_traps() const override {
    return true;
  }
  /// Register arrays are memory here: writing loops out gains nothing. Those over the lanes of a
  /// vector have to be loops until they have become one.
  [[nodiscard]] std::string unroll_hint(const ForLoop& loop) const override {
    constexpr int64_t kFewestLanes = 8;
    const bool has_lanes = may_be_unrolled(loop.stop) && as_int(loop.stop->value()) >= kFewestLanes;
    return has_lanes && !has_loops(loop.body) ? "NVF_ROLLED" : "";
  }

  [[nodiscard]] std::string shared_index(
      const TensorView* tensor,
      const std::string& name,
      std::string index,
      bool is_written,
      int64_t lanes) const override {
    return checks_races_
               ? checked_index({*kernel_, *statement_, is_written}, tensor, name, index, lanes)
               : index;
  }
  void begin_statement(const Kernel& kernel, const Expr& statement) override {
    kernel_ = &kernel;
    statement_ = &statement;
  }

  /// A local array may be read at any time, inside of its bounds; what lies behind a pointer not.
  [[nodiscard]] std::string guarded_index(
      const TensorView* view, std::string index) const override {
    const bool is_local = view->memory_type() == MemoryType::Local && in_scratch_.count(view) == 0;
    return is_local ? index : "guarded(" + index + ")";
  }
  [[nodiscard]] std::string kept_branch() const override {
    return "keep_branch();";
  }
  [[nodiscard]] std::string likely(std::string condition) const override {
    return "likely(" + condition + ")";
  }
  [[nodiscard]] std::string select_function(DataType /*type*/) const override {
    return "select";
  }

  void open_kernel(KernelPrinter& printer, const std::string& name) override {
    printer.line(
        "extern \"C\" void " + name +
        "(const void* const* params, const long long* launch, const nvf_cpu_runtime* rt) {");
    printer.indented([&] {
      size_t position = 0;
      for (const KernelPrinter::Parameter& parameter : printer.parameters()) {
        if (printer.mentions(parameter.name)) {
          printer.line(
              "const auto " + parameter.name + " = parameter<" + parameter.type + ">(params[" +
              std::to_string(position) + "]);");
        }
        ++position;
      }
      printer.line(
          "const Dim3 gridDim = {nvfuser_index_t(launch[0]), nvfuser_index_t(launch[1]), "
          "nvfuser_index_t(launch[2])};");
      if (printer.mentions("blockDim")) {
        printer.line(
            "const Dim3 blockDim = {nvfuser_index_t(launch[3]), nvfuser_index_t(launch[4]), "
            "nvfuser_index_t(launch[5])};");
      }
    });
  }

  void allocate(KernelPrinter& printer, const Allocate& allocate) override {
    if (allocate.memory_type == MemoryType::Global) {
      return; // a parameter
    }
    if (!is_in_block_) {
      printer.line(
          pointer(printer, allocate) + "static_cast<" + element_type(allocate) +
          "*>(rt->allocate(rt, " + bytes(printer, allocate) + "));");
      across_phases_.push_back(&allocate);
    } else if (allocate.memory_type == MemoryType::Shared) {
      printer.line(
          pointer(printer, allocate) + "reinterpret_cast<" + element_type(allocate) +
          "*>(scratch + " +
          printer.expressions().value(allocate.address).within(Precedence::Product) + ");");
      declare_tags(
          printer, allocate, "shared_memory", printer.expressions().value(allocate.address).str());
    } else if (is_in_scratch(allocate)) {
      in_scratch_.insert(allocate.buffer);
      printer.line(
          pointer(printer, allocate) + "reinterpret_cast<" + element_type(allocate) +
          "*>(scratch + " + offset_name(printer, allocate) + ");");
    } else {
      printer.declare_array(allocate, "");
    }
  }

  [[nodiscard]] std::string fill_arguments(const TensorView* /*to*/) const override {
    return "";
  }
  void copy_vector(KernelPrinter& printer, const LoadStoreOp& copy, int64_t lanes) override {
    ExpressionPrinter& expressions = printer.expressions();
    const std::string from = expressions.address(copy.arg, lanes, /*is_written=*/false);
    const std::string to = expressions.address(copy.out, lanes, /*is_written=*/true);
    const std::string width = std::to_string(KernelPrinter::copied_units(copy, lanes));
    printer.statement(copy, "copy_vector<" + width + ">(" + to + ", " + from + ");");
  }

  void copy_element(KernelPrinter& printer, const LoadStoreOp& copy) override {
    ExpressionPrinter& expressions = printer.expressions();
    printer.statement(
        copy,
        expressions.destination(copy.out).str() + " = " + expressions.value(copy.arg).str() + ";");
  }

  // Barriers are where one loop ends and the next begins.
  void block_sync(KernelPrinter& printer, const BlockSync& /*sync*/) override {
    NVF_INVARIANT(!is_in_threads_, "a thread loop ends before a barrier");
    if (checks_races_) {
      printer.line("race.barrier();");
    }
  }
  // Copies are synchronous: only the race check counts them. Stages stand in an order in which no
  // thread has to wait for them.
  void async_commit(KernelPrinter& printer, const AsyncCommit& commit) override {
    if (stage_side(commit) == StageSide::None) {
      return about_copies(printer, commit);
    }
    stage_barrier(printer, commit, "race.arrive_full();", "race.arrive_empty();");
  }
  void async_wait(KernelPrinter& printer, const AsyncWait& wait) override {
    if (stage_side(wait) == StageSide::None) {
      return about_copies(printer, wait);
    }
    stage_barrier(
        printer, wait, "race.wait_empty(" + std::to_string(wait.keep_stages) + ");",
        "race.wait_full();");
  }
  void bulk_copy(KernelPrinter& printer, const Expr& statement) override {
    NVF_INVARIANT(
        !statement.is_a<BulkLoad>() && !statement.is_a<BulkStore>(),
        "copies of boxes are loops on this target: ", statement.to_string());
    about_copies(printer, statement);
  }
  void multiply(KernelPrinter& /*printer*/, const MmaOp& product) override {
    NVF_INVARIANT(false, "instructions of warps are loops on this target: ", product.to_string());
  }
  void grid_sync(KernelPrinter& /*printer*/, const GridSync& /*sync*/) override {
    NVF_INVARIANT(!is_in_block_, "a phase ends before a barrier over blocks");
  }

  void block_serialize_wait(
      KernelPrinter& /*printer*/, const BlockSerializeWait& /*wait*/) override {
    NVF_INVARIANT(false, "phases need no turns");
  }
  void block_serialize_release(
      KernelPrinter& /*printer*/, const BlockSerializeRelease& /*release*/) override {
    NVF_INVARIANT(false, "phases need no turns");
  }

  void thread_loop(KernelPrinter& printer, const ThreadLoop& loop) override {
    NVF_INVARIANT(is_in_block_ && !is_in_threads_, "a thread loop stands in a block");
    is_in_threads_ = true;
    std::vector<std::string> axes;
    for (const int64_t dim : launched_dims(printer.kernel())) {
      if (is_for_first_only(loop.body, kBlockDimTypes[static_cast<size_t>(dim)])) {
        constexpr std::array<const char*, 3> kFirst = {
            "threadIdx.x = 0;", "threadIdx.y = 0;", "threadIdx.z = 0;"};
        printer.line(kFirst[static_cast<size_t>(dim)]);
      } else {
        axes.push_back(axis_name(dim));
      }
    }
    const bool may_be_one_iteration = std::ranges::all_of(axes, [&](const std::string& axis) {
      return may_be_unrolled(threads_along(printer.kernel(), axis.back() - 'x'));
    });
    const ConditionalReads reads(
        printer.expressions(), printer.expressions().is_conditional() && may_be_one_iteration);
    const auto body = [&] {
      set_thread(printer);
      printer.statements(loop.body);
    };
    const bool is_loading = checks_races_ && loads_stages(printer.kernel(), loop.body);
    if (is_loading) {
      printer.line("race.is_loading = true;");
    }
    if (axes.empty()) {
      printer.block("{", body);
    } else {
      nest(printer, axes, /*is_independent=*/true, body);
    }
    if (is_loading) {
      printer.line("race.is_loading = false;");
    }
    is_in_threads_ = false;
  }

  void block_loop(KernelPrinter& printer, const BlockLoop& loop) override {
    NVF_INVARIANT(!is_in_block_, "phases do not nest");
    const ScratchNeeds needs = find_scratch_needs(loop.body);
    const int64_t blocks = cluster_size(printer.kernel());
    const std::string grid =
        blocks > 1 ? "Dim3{gridDim.x / " + std::to_string(blocks) + ", gridDim.y, gridDim.z}"
                   : grid_of(loop);
    const char* position = blocks > 1 ? "clusterIdx" : "blockIdx";
    const auto run = [&](const std::string& scratch_bytes) {
      is_in_block_ = true;
      printer.block(
          "run_blocks(rt, " + grid + ", /*parallel=*/true, " + scratch_bytes + ", [=](Dim3 " +
              position + ", char* scratch) NVF_INLINED {",
          [&] {
            if (blocks > 1) { // each block has an x of its own
              printer.line("const Dim3 blockIdx = clusterIdx;");
            }
            declare_thread(printer);
            if (checks_races_) {
              const Scope& phases = printer.kernel().body;
              const bool is_last = phases.back() == &loop;
              printer.line(
                  "RaceCheck race(rt, " + threads_of_block(printer.kernel()) + ", " +
                  std::to_string(blocks) + (is_last ? ");" : ", /*ends_block=*/false);"));
              declare_race_memory(printer, needs.has_shared);
            }
            block_body(printer, loop.body);
          },
          ");");
      is_in_block_ = false;
    };
    if (needs.arrays.empty() && !needs.has_shared) {
      run("0");
      return;
    }
    printer.block("{", [&] {
      printer.line("long long scratch_bytes = 0;");
      if (needs.has_shared) { // first: addresses of shared memory count from 0
        printer.line("reserve(scratch_bytes, " + shared_bytes(printer) + ");");
      }
      for (const Allocate* array : needs.arrays) {
        printer.line(
            "const long long " + offset_name(printer, *array) + " = reserve(scratch_bytes, " +
            bytes(printer, *array) + ");");
      }
      run("scratch_bytes");
    });
  }

  /// A region of its own: fold the values of all threads in their order, then give every thread the
  /// result.
  void block_reduction(KernelPrinter& printer, const BlockReduction& reduction) override {
    NVF_INVARIANT(
        is_in_block_ && !is_in_threads_,
        "a reduction over threads stands between thread loops: ", reduction.to_string());
    // Over `folded` the values are combined, over `written` the result is stored, and along `kept`
    // there are several results. A dimension that the result's address does not depend on holds one
    // result: it is neither kept nor written.
    std::vector<std::string> kept;
    std::vector<std::string> folded;
    std::vector<std::string> written;
    for (const int64_t dim : launched_dims(printer.kernel())) {
      const std::string axis = axis_name(dim);
      const bool is_reduced = contains(reduction.reduced_dims, dim);
      if (is_reduced) {
        folded.push_back(axis);
      }
      if (varies_along(reduction.outs.front(), axis)) {
        (is_reduced ? written : kept).push_back(axis);
      }
    }
    printer.line("threadIdx = {0, 0, 0};");
    const auto body = [&] { fold(printer, reduction, folded, written); };
    if (kept.empty()) {
      printer.block("{", body);
    } else {
      nest(printer, kept, false, body);
    }
    if (checks_races_ && always_waits(printer.kernel(), reduction)) {
      printer.line("race.barrier();"); // memory may be reused across the reduction
    }
  }

  /// A region of its own: each thread in turn takes what was combined so far for its own value.
  void block_scan(KernelPrinter& printer, const BlockScan& scan) override {
    NVF_INVARIANT(
        is_in_block_ && !is_in_threads_,
        "a scan over threads stands between thread loops: ", scan.to_string());
    std::vector<std::string> kept;
    std::vector<std::string> scanned;
    for (const int64_t dim : launched_dims(printer.kernel())) {
      (dim == scan.scanned_dim ? scanned : kept).push_back(axis_name(dim));
    }
    printer.line("threadIdx = {0, 0, 0};");
    const auto body = [&] { scan_threads(printer, scan, scanned); };
    if (kept.empty()) {
      printer.block("{", body);
    } else {
      nest(printer, kept, false, body);
    }
    if (checks_races_ && always_waits(printer.kernel(), scan)) {
      printer.line("race.barrier();"); // memory may be reused across the scan
    }
  }

  void cluster_sync(KernelPrinter& printer, const ClusterSync& /*sync*/) override {
    NVF_INVARIANT(!is_in_cluster_, "a loop over the blocks of a cluster ends before a barrier");
    if (checks_races_) {
      printer.line("race.cluster_barrier();");
    }
  }
  void cluster_reduction(KernelPrinter& /*printer*/, const ClusterReduction& reduction) override {
    NVF_INVARIANT(
        false, "lowering writes reductions over a cluster out on a target with regions: ",
        reduction.to_string());
  }
  void cluster_loop(KernelPrinter& printer, const ClusterLoop& loop) override {
    NVF_INVARIANT(is_in_block_ && !is_in_cluster_, "loops over a cluster do not nest");
    is_in_cluster_ = true;
    const std::string blocks = std::to_string(cluster_size(printer.kernel()));
    printer.block("for (nvfuser_index_t block = 0; block < " + blocks + "; ++block) {", [&] {
      printer.line(
          "const Dim3 blockIdx = {clusterIdx.x * " + blocks +
          " + block, clusterIdx.y, clusterIdx.z};");
      if (checks_races_) {
        printer.line("race.block = int(block);");
      }
      printer.statements(loop.body);
    });
    is_in_cluster_ = false;
  }

  void grid_reduction(KernelPrinter& /*printer*/, const GridReduction& reduction) override {
    NVF_INVARIANT(
        false, "lowering writes reductions over blocks out on a target with phases: ",
        reduction.to_string());
  }

 private:
  // -- storage --

  /// Bytes of shared memory: of a block, or of all blocks of a cluster side by side.
  static std::string shared_bytes(KernelPrinter& printer) {
    const int64_t blocks = cluster_size(printer.kernel());
    const Text bytes = printer.expressions().value(printer.kernel().launch.shared_bytes);
    return blocks > 1 ? std::to_string(blocks) + " * " + bytes.within(Precedence::Product)
                      : bytes.str();
  }
  static std::string element_type(const Allocate& allocate) {
    return c_type(allocate.buffer->dtype());
  }
  static std::string pointer(const KernelPrinter& printer, const Allocate& allocate) {
    const char* suffix = allocate.memory_type == MemoryType::Shared ? "_s = " : " = ";
    return element_type(allocate) + "* const " + printer.name_of(allocate.buffer) + suffix;
  }
  static std::string offset_name(const KernelPrinter& printer, const Allocate& allocate) {
    return printer.name_of(allocate.buffer) + "_offset";
  }
  static std::string bytes(KernelPrinter& printer, const Allocate& allocate) {
    return printer.expressions().value(allocate.size).within(Precedence::Product) + " * sizeof(" +
           element_type(allocate) + ")";
  }

  // -- loops over blocks and threads --

  /// A commit, wait or fence of asynchronous copies, as the race check has to know it.
  void about_copies(KernelPrinter& printer, const Expr& statement) const {
    if (checks_races_) {
      printer.line(race_statement(statement));
    }
  }

  /// The barrier of a side, as the race check has to know it.
  void stage_barrier(
      KernelPrinter& printer,
      const Expr& barrier,
      const std::string& of_load,
      const std::string& of_reads) const {
    const StageSide side = stage_side(barrier);
    NVF_INVARIANT(
        side != StageSide::None && !is_in_threads_,
        "only stages are committed and waited for here, between thread loops: ",
        barrier.to_string());
    if (checks_races_) {
      printer.line(side == StageSide::Load ? of_load : of_reads);
    }
  }

  /// The statements of a block; many of them as several functions.
  void block_body(KernelPrinter& printer, const Scope& body) const {
    if (checks_races_ || has_stack_variables(body)) {
      printer.statements(body);
      return;
    }
    for (const BlockPart& part : parts_of_block(body)) {
      if (!part.is_function) {
        printer.statements(part.statements);
        continue;
      }
      printer.block(
          "run_apart([=] {",
          [&] {
            declare_thread(printer);
            printer.statements(part.statements);
          },
          ");");
    }
  }

  /// Dimensions that are not used stay 0.
  static void declare_thread(KernelPrinter& printer) {
    if (!launched_dims(printer.kernel()).empty()) {
      printer.line("Dim3 threadIdx = {0, 0, 0};");
    }
  }

  /// The blocks that do something.
  static std::string grid_of(const BlockLoop& loop) {
    constexpr std::array<const char*, 3> kSizes = {"gridDim.x", "gridDim.y", "gridDim.z"};
    std::string extents;
    bool is_whole = true;
    for (size_t dim = 0; dim < kSizes.size(); ++dim) {
      const bool is_first_only = is_for_first_only(loop.body, kGridDimTypes[dim]);
      is_whole = is_whole && !is_first_only;
      extents += dim == 0 ? "" : ", ";
      extents += is_first_only ? "1" : kSizes[dim];
    }
    return is_whole ? "gridDim" : "Dim3{" + extents + "}";
  }

  /// `for` over every axis (`threadIdx.x`), the first outermost. Independent: the innermost may
  /// become vector code.
  void nest(
      KernelPrinter& printer,
      const std::vector<std::string>& axes,
      bool is_independent,
      const std::function<void()>& body,
      size_t depth = 0) const {
    if (depth == axes.size()) {
      body();
      return;
    }
    if (is_independent && depth + 1 == axes.size() && !checks_races_) {
      printer.line("NVF_INDEPENDENT");
    }
    const std::string& axis = axes[depth];
    const std::string bound = size_text(printer.kernel(), axis.back() - 'x');
    const std::string forward =
        "for (" + axis + " = 0; " + axis + " < " + bound + "; ++" + axis + ") {";
    const std::string backward =
        "for (" + axis + " = " + bound + " - 1; " + axis + " >= 0; --" + axis + ") {";
    printer.block(checks_races_ && is_independent ? backward : forward, [&] {
      nest(printer, axes, is_independent, body, depth + 1);
    });
  }

  /// Before the statements of a thread: its number, which the race check reads.
  void set_thread(KernelPrinter& printer) const {
    if (checks_races_ && !launched_dims(printer.kernel()).empty()) {
      printer.line("race.thread = int(" + number_of_thread(printer.kernel()) + ");");
    }
  }

  /// Memory that records which thread touched shared memory: that of the block, and of buffers that
  /// outlive it.
  void declare_race_memory(KernelPrinter& printer, bool has_shared) const {
    if (has_shared) {
      printer.line("const RaceMemory shared_memory(" + shared_bytes(printer) + ");");
    }
    for (const Allocate* allocate : across_phases_) {
      if (allocate->memory_type == MemoryType::Shared) {
        const std::string memory = printer.name_of(allocate->buffer) + "_memory";
        printer.line("const RaceMemory " + memory + "(" + bytes(printer, *allocate) + ");");
        declare_tags(printer, *allocate, memory, "0");
      }
    }
  }

  void declare_tags(
      KernelPrinter& printer,
      const Allocate& allocate,
      const std::string& memory,
      const std::string& offset) const {
    if (checks_races_) {
      const std::string name = printer.name_of(allocate.buffer);
      printer.line(
          "const RaceTags " + name + "_tags(\"" + name + "\", " + memory + ", " + offset +
          ", sizeof(" + element_type(allocate) + "));");
    }
  }

  // -- scans --

  /// `T5_all`: what was combined so far. Every thread has a carry, with the same value.
  void scan_threads(
      KernelPrinter& printer,
      const BlockScan& scan,
      const std::vector<std::string>& scanned) const {
    ExpressionPrinter& expressions = printer.expressions();
    const DataType dtype = scan.value->dtype();
    const DataType type = compute_type(dtype);
    for (const std::string& axis : scanned) {
      printer.line(axis + " = 0;"); // whose carry is read
    }
    const std::string all = printer.name_of(view_of(scan.carry)) + "_all";
    const std::string own = printer.name_of(view_of(scan.value)) + "_own";
    printer.line(c_type(dtype) + " " + all + " = " + expressions.value(scan.carry).str() + ";");
    nest(printer, scanned, false, [&] {
      printer.line(
          "const " + c_type(dtype) + " " + own + " = " + expressions.value(scan.value).str() + ";");
      printer.statement(scan, expressions.value(scan.prefix).str() + " = " + all + ";");
      const Text sum = expressions.binary(
          scan.op, expressions.cast({all}, dtype, type), expressions.cast({own}, dtype, type),
          type);
      printer.line(all + " = " + expressions.cast(sum, type, dtype).str() + ";");
    });
    nest(printer, scanned, false, [&] {
      printer.line(expressions.value(scan.carry).str() + " = " + all + ";");
    });
  }

  // -- reductions --

  void fold(
      KernelPrinter& printer,
      const BlockReduction& reduction,
      const std::vector<std::string>& folded,
      const std::vector<std::string>& written) const {
    ExpressionPrinter& expressions = printer.expressions();
    std::vector<std::string> totals;
    for (size_t i = 0; i < reduction.outs.size(); ++i) {
      const DataType type = compute_type(reduction.outs[i]->dtype());
      const bool is_group = reduction.ops.size() > 1; // lanes are elements of one tensor
      totals.push_back(
          printer.name_of(view_of(reduction.outs[i])) + "_all" +
          (is_group ? std::to_string(i) : ""));
      printer.line(
          c_type(type) + " " + totals.back() + " = " +
          expressions.value_as(reduction.inits[i], type).str() + ";");
    }
    nest(printer, folded, false, [&] {
      set_thread(printer);
      const auto combine = [&] { combine_into(printer, reduction, totals); };
      if (reduction.read_predicate == nullptr || reduction.read_predicate->is_true()) {
        combine();
      } else {
        const std::string head = "if (" + printer.condition(reduction.read_predicate) + ") {";
        const ConditionalReads reads(printer.expressions(), true);
        printer.block(head, combine);
      }
    });
    nest(printer, written, false, [&] { combine_totals(printer, reduction, totals); });
  }

  bool is_in_block_ = false;
  bool is_in_threads_ = false;
  bool is_in_cluster_ = false;
  /// Threads run in reverse, and every access to shared memory is checked
  /// (runtime/cpu/race_check.h).
  const bool checks_races_ = has_option(EnableOption::KernelDebug);
  const Kernel* kernel_ = nullptr;
  const Expr* statement_ = nullptr; // whose elements are printed
  std::vector<const Allocate*> across_phases_;
  std::set<const TensorView*> in_scratch_; // arrays too large for the stack
};

} // namespace

std::unique_ptr<Dialect> make_cpu_dialect() {
  return std::make_unique<CpuDialect>();
}

} // namespace nvfuser

// CUDA C++ for NVRTC. Functions that generated statements call are in runtime/cuda.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "codegen/cuda_bulk.h"
#include "codegen/cuda_cache.h"
#include "codegen/cuda_mma.h"
#include "codegen/cuda_packed.h"
#include "codegen/cuda_positions.h"
#include "codegen/cuda_tcgen05.h"
#include "codegen/cuda_welford.h"
#include "codegen/cuda_wgmma.h"
#include "codegen/dialect.h"
#include "codegen/printer.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/kernel_parameters.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/loop_copies.h"
#include "lower/analysis/matrix_copies.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/powers_about_maxima.h"
#include "lower/analysis/shifted_lanes.h"
#include "lower/analysis/tcgen05.h"
#include "lower/analysis/wgmma.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

/// Values of a Welford: mean, sum of squared deviations, count.
constexpr size_t kTriple = 3;

/// `true, false, false`: which of x, y, z are in `dims`.
std::string dimension_flags(const std::vector<int64_t>& dims) {
  std::string text;
  for (const int64_t dim : {0, 1, 2}) {
    const bool is_in = std::find(dims.begin(), dims.end(), dim) != dims.end();
    text += (text.empty() ? "" : ", ") + std::string(is_in ? "true" : "false");
  }
  return text;
}

const char* combiner(BinaryOpType op) {
  switch (op) {
    case BinaryOpType::Add: return "ReduceAdd";
    case BinaryOpType::Mul: return "ReduceMul";
    case BinaryOpType::Max: return "ReduceMax";
    case BinaryOpType::Min: return "ReduceMin";
    case BinaryOpType::FMax: return "ReduceFMax";
    case BinaryOpType::FMin: return "ReduceFMin";
    case BinaryOpType::LogicalAnd:
    case BinaryOpType::BitwiseAnd: return "ReduceAnd";
    case BinaryOpType::LogicalOr:
    case BinaryOpType::BitwiseOr: return "ReduceOr";
    case BinaryOpType::BitwiseXor: return "ReduceXor";
    default: break;
  }
  NVF_INVARIANT(false, "an operation that combines across threads: ", enum_name(op));
  return nullptr;
}

/// The name of a hardware index, or of its launched extent, in the kernel: the built-in variables
/// are unsigned and of 32 bits, index arithmetic is not.
///   threadIdx.x -> thread_x    gridDim.y -> grid_dim_y
std::string hardware_name(ParallelType type, bool is_extent) {
  const bool is_thread = is_block_dim(type);
  const auto& types = is_thread ? kBlockDimTypes : kGridDimTypes;
  const auto dim = static_cast<size_t>(std::ranges::find(types, type) - types.begin());
  const std::string unit =
      is_extent ? (is_thread ? "block_dim_" : "grid_dim_") : (is_thread ? "thread_" : "block_");
  return unit + "xyz"[dim];
}

void declare_hardware_values(KernelPrinter& printer) {
  for (const ParallelType type : kHardwareTypes) {
    for (const bool is_extent : {false, true}) {
      const std::string name = hardware_name(type, is_extent);
      if (printer.mentions(name)) {
        const std::string built_in = is_block_dim(type) ? (is_extent ? "blockDim." : "threadIdx.")
                                                        : (is_extent ? "gridDim." : "blockIdx.");
        const int64_t loading =
            is_block_dim(type) ? loading_positions(printer.kernel(), traits_of(type).dim) : 0;
        std::string value = built_in + name.back();
        if (loading > 0) { // they come before the threads that compute
          value = "nvfuser_index_t(" + value + ") - " + std::to_string(loading);
        }
        printer.line("const nvfuser_index_t " + name + " = " + value + ";");
        const Val* size = printer.kernel().launch.extents[type];
        if (is_block_dim(type) && !is_extent && loading == 0 && size != nullptr &&
            size->is_const_int()) {
          // Compilers then drop the tests of all vectors of a row but its last.
          printer.line(
              "__builtin_assume(" + name + " < " + std::to_string(as_int(size->value())) + ");");
        }
      }
    }
  }
}

class CudaDialect final : public Dialect {
 public:
  explicit CudaDialect(const Kernel& kernel)
      : packed_(kernel.body), words_(kernel.body), counts_(kernel.body) {}

  [[nodiscard]] const char* fixed_width_index(bool is_32_bit) const override {
    return is_32_bit ? "int" : "long long";
  }
  [[nodiscard]] std::string hardware_value(const NamedScalar& value) const override {
    const ParallelType index = value.parallel_index();
    return hardware_name(
        index == ParallelType::Serial ? value.parallel_dim() : index,
        index == ParallelType::Serial);
  }
  [[nodiscard]] bool division_traps() const override {
    return false;
  }
  [[nodiscard]] bool divides_indices_unsigned() const override {
    return true;
  }
  [[nodiscard]] std::string read_only_element(std::string element) const override {
    return "load_readonly(" + element + ")";
  }
  [[nodiscard]] std::string read_only_element_where(
      const std::string& condition, const std::string& element) const override {
    return "load_readonly_where(" + condition + ", " + element + ")";
  }

  [[nodiscard]] std::string first_of_branch(
      const Kernel& kernel, const IfThenElse& branch, const Scope& body) const override {
    return register_share(kernel, branch, body);
  }
  [[nodiscard]] std::string approximate_function(UnaryOpType op) const override {
    switch (op) {
      case UnaryOpType::Exp: return "approximate_exp";
      case UnaryOpType::Exp2: return "approximate_exp2";
      case UnaryOpType::Sigmoid: return "approximate_sigmoid";
      case UnaryOpType::Silu: return "approximate_silu";
      default: return "";
    }
  }
  [[nodiscard]] std::string normalized_power_function() const override {
    return "approximate_exp_about";
  }
  [[nodiscard]] std::string normal_probability_function() const override {
    return "approximate_normal_cdf";
  }
  [[nodiscard]] std::string rounding_function() const override {
    return "rounded_to_bfloat";
  }
  [[nodiscard]] std::string unpack_function(const TensorView* view) const override {
    return view->dtype() == DataType::BFloat16 && words_.contains(view) ? "unpack" : "";
  }
  [[nodiscard]] bool print_shorter(KernelPrinter& printer, const ForLoop& loop) override {
    return print_packed_extremum(printer, loop, words_) ||
           print_merged_sets(printer, loop, counts_);
  }

  void open_kernel(KernelPrinter& printer, const std::string& name) override {
    // A parameter may be written to, so the compiler copies each, and looks at all the copies
    // whenever it asks what a store may change: its time grows with their square.
    constexpr size_t kMany = 64;
    const std::vector<KernelPrinter::Parameter> all = printer.parameters();
    const bool has_many = all.size() > kMany && printer.kernel().target().architecture >= 70;
    std::string parameters;
    for (const KernelPrinter::Parameter& parameter : all) {
      // Bulk copies take the address of a tensor map, which must be that of the parameter.
      const bool is_read = has_many || parameter.type == kTensorMapType;
      parameters += (parameters.empty() ? "" : ", ") +
                    std::string(is_read ? "const __grid_constant__ " : "") + parameter.type + " " +
                    parameter.name;
    }
    // Warps can share out only registers that the kernel was launched with.
    const auto registers = loading_threads(printer.kernel()).registers;
    const std::string at_start =
        registers ? "__maxnreg__(" + std::to_string(registers->back()) + ") " : "";
    printer.line("__global__ void " + at_start + name + "(" + parameters + ") {");
    printer.indented([&] { declare_hardware_values(printer); });
    if (printer.mentions("smem")) {
      const std::string alignment = std::to_string(alignment_of_shared_memory(printer.kernel()));
      printer.indented(
          [&] { printer.line("extern __shared__ __align__(" + alignment + ") char smem[];"); });
    }
    printer.indented([&] { prefetch_tensor_maps(printer); });
    printer.indented([&] { declare_bulk_barriers(printer); });
    printer.indented([&] { declare_tensor_memory(printer); });
    if (printer.mentions("cluster_turns")) {
      printer.indented([&] { printer.line("ClusterTurns cluster_turns;"); });
    }
  }

  void allocate(KernelPrinter& printer, const Allocate& allocate) override {
    const TensorView* view = allocate.buffer;
    if (allocate.memory_type == MemoryType::Global) {
      return; // a parameter
    }
    if (allocate.memory_type == MemoryType::Shared) {
      allocate_shared(printer, allocate);
    } else if (allocate.memory_type == MemoryType::Tensor) {
      allocate_columns(printer, allocate);
    } else {
      const int64_t alignment =
          std::min(printer.vector_bytes(view), printer.kernel().target().max_vector_bytes);
      printer.declare_array(
          allocate, alignment > size_bytes(view->dtype())
                        ? "alignas(" + std::to_string(alignment) + ") "
                        : "");
    }
  }

  void copy_vector(KernelPrinter& printer, const LoadStoreOp& copy, int64_t lanes) override {
    if (copy.op == LoadStoreOpType::CpAsync) {
      copy_async(printer, copy, lanes);
      return;
    }
    const TensorView* from = view_of(copy.arg);
    const TensorView* to = view_of(copy.out);
    const bool loads = from->memory_type() == MemoryType::Global;
    const bool stores = to->memory_type() == MemoryType::Global;
    const std::string load = std::string(", ") + load_operator(printer, copy);
    const std::string store = std::string(", ") + store_operator(copy);
    // Elements that are packed on one side only are unpacked one by one on the other.
    const bool repacks = is_stored_in_pairs(from) != is_stored_in_pairs(to);
    const auto other_side = [&](const TensorView* side) {
      return repacks || side->memory_type() == MemoryType::Local ? "" : ", " + memory_of(side);
    };
    const std::string width = std::to_string(KernelPrinter::copied_units(copy, lanes));
    std::string function;
    if (const std::string hint = hint_argument(to);
        !hint.empty() && !repacks && (loads || stores)) {
      function = "copy_hinted<" + width + hint + ", " + memory_of(to) + ", " + memory_of(from);
    } else if (loads && !stores && is_unaligned(printer.kernel(), to)) {
      function = "load_unaligned<" + width + load;
    } else if (loads && !stores) {
      function = "load_vector<" + width + load + other_side(to);
    } else if (stores && !loads) {
      function = "store_vector<" + width + store + other_side(from);
    } else {
      function = "copy_vector<" + width + ", " + memory_of(to) + ", " + memory_of(from) +
                 (loads ? load + store : "");
    }
    ExpressionPrinter& expressions = printer.expressions();
    printer.statement(
        copy, function + ">(" + expressions.address(copy.out, lanes, /*is_written=*/true) + ", " +
                  expressions.address(copy.arg, lanes, /*is_written=*/false) + ");");
  }

  [[nodiscard]] std::string fill_arguments(const TensorView* to) const override {
    return ", " + memory_of(to);
  }

  void copy_element(KernelPrinter& printer, const LoadStoreOp& copy) override {
    if (is_matrix_copy(&copy)) {
      copy_matrices(printer, copy);
      return;
    }
    if (touches_tensor_memory(copy)) {
      copy_tensor_memory(printer, copy);
      return;
    }
    if (copy.op == LoadStoreOpType::CpAsync) {
      copy_async(printer, copy, 1);
      return;
    }
    if (has_hint_for_element(copy)) {
      copy_vector(printer, copy, 1);
      return;
    }
    ExpressionPrinter& expressions = printer.expressions();
    printer.statement(
        copy,
        expressions.destination(copy.out).str() + " = " + expressions.value(copy.arg).str() + ";");
  }

  [[nodiscard]] std::string select_function(DataType type) const override {
    return is_low_precision(type) && size_bits(type) >= 8 ? "select" : ""; // those are structures
  }

  [[nodiscard]] std::string assumption(
      const Kernel& kernel, const Val* index, const std::string& name) const override {
    const std::optional<int64_t> end = end_of_positions(kernel, index);
    return end ? "__builtin_assume(" + name + " < " + std::to_string(*end) + ");" : "";
  }
  [[nodiscard]] std::string unroll_hint(const ForLoop& loop) const override {
    if (loop.unroll_count == 0) {
      return traits_of(loop.loop_kind).is_written_out ? "#pragma unroll" : "";
    }
    const bool is_whole = loop.unroll_count == constant_iterations(loop);
    return is_whole ? "#pragma unroll" : "#pragma unroll " + std::to_string(loop.unroll_count);
  }

  void block_sync(KernelPrinter& printer, const BlockSync& /*sync*/) override {
    print_block_barrier(printer);
  }

  void async_commit(KernelPrinter& printer, const AsyncCommit& commit) override {
    printer.line(commit_text(commit));
  }
  void async_wait(KernelPrinter& printer, const AsyncWait& wait) override {
    if (wait.async_op == kStoresToTensorMemory) {
      printer.line("tensor_memory_stored();");
      print_block_barrier(printer);
      printer.line("tensor_memory_seen();");
      if (blocks_of_products(printer.kernel()) > 1) {
        printer.line("tensor_memory.await_pair();");
      }
      return;
    }
    printer.line(wait_text(wait));
  }
  void bulk_copy(KernelPrinter& printer, const Expr& statement) override {
    print_bulk_statement(printer, statement);
  }
  void multiply(KernelPrinter& printer, const MmaOp& product) override {
    if (is_wgmma(&product)) {
      print_wgmma(printer, product);
      return;
    }
    if (is_tcgen05(&product)) {
      print_tcgen05(printer, product);
      return;
    }
    print_mma(printer, product);
  }
  void grid_sync(KernelPrinter& printer, const GridSync& sync) override {
    NVF_INVARIANT(sync.sync_buffer != nullptr, "a barrier over blocks has counters");
    printer.line(
        "grid_sync<" + dimension_flags(sync.sync_dims) + ">(" + printer.name_of(sync.sync_buffer) +
        ".data);");
  }

  void block_serialize_wait(KernelPrinter& printer, const BlockSerializeWait& wait) override {
    printer.line(turn_call(printer, "block_serialize_wait", wait));
  }
  void block_serialize_release(
      KernelPrinter& printer, const BlockSerializeRelease& release) override {
    printer.line(turn_call(printer, "block_serialize_release", release));
  }

  void block_reduction(KernelPrinter& printer, const BlockReduction& reduction) override {
    check_unconditional(reduction);
    print_keep_packed(printer, reduction, packed_);
    const std::string shape = dimension_flags(reduction.reduced_dims) +
                              (reduction.is_warp ? ", /*warps=*/true" : ", /*warps=*/false");
    printer.statement(
        reduction, "block_reduce" + function_of(reduction, shape) + operands(printer, reduction) +
                       ", " + printer.condition(reduction.read_predicate) + ", " +
                       scratch(printer, reduction.workspace_offset) + ");");
  }

  void cluster_sync(KernelPrinter& /*printer*/, const ClusterSync& sync) override {
    NVF_INVARIANT(false, "reductions over a cluster wait themselves: ", sync.to_string());
  }

  void cluster_reduction(KernelPrinter& printer, const ClusterReduction& reduction) override {
    check_unconditional(reduction);
    print_keep_packed(printer, reduction, packed_);
    const std::string shape = std::to_string(cluster_size(printer.kernel())) + ", " +
                              dimension_flags(reduction.reduced_dims);
    const bool has_factor = printer.expressions().have_factor(view_of(reduction.outs.front()));
    const std::string function =
        combines_about_maximum(reduction)
            ? "_about_maximum<" + shape + (has_factor ? ", PowersWithFactor>(" : ", ExactPowers>(")
            : function_of(reduction, shape);
    printer.statement(
        reduction, "cluster_reduce" + function + operands(printer, reduction) + ", " +
                       printer.condition(reduction.read_predicate) + ", " +
                       scratch(printer, reduction.workspace_offset) + ", cluster_turns);");
  }

  void block_scan(KernelPrinter& printer, const BlockScan& scan) override {
    check_unconditional(scan);
    printer.statement(
        scan, "block_scan<" + dimension_flags({scan.scanned_dim}) + ", " + combiner(scan.op) +
                  ">(" + printer.elements({scan.prefix, scan.carry}) + ", " +
                  printer.expressions().value(scan.value).str() + ", " +
                  scratch(printer, scan.workspace_offset) + ");");
  }

  void grid_reduction(KernelPrinter& printer, const GridReduction& reduction) override {
    check_unconditional(reduction);
    print_keep_packed(printer, reduction, packed_);
    const std::string shape = "GridShape<" + dimension_flags(reduction.reduced_dims) + ", " +
                              dimension_flags(reduction.reduced_thread_dims) + ">";
    std::string text = reduction.is_serial   ? "serial_grid_reduce"
                       : reduction.allreduce ? "grid_allreduce"
                                             : "grid_reduce";
    text += function_of(reduction, shape) + operands(printer, reduction) + ", " +
            printer.condition(reduction.read_predicate) + ", " + buffers(printer, reduction) + ", ";
    if (!reduction.is_serial) {
      text += printer.name_of(reduction.sync_buffer) + ".data, ";
    }
    text +=
        reduction.entrance == nullptr ? "0" : printer.expressions().value(reduction.entrance).str();
    text += ");";
    if (reduction.is_last != nullptr) {
      const std::string name = printer.name_of(reduction.is_last);
      text = "const bool " + name + " = " + text;
      printer.expressions().define(reduction.is_last, name);
    }
    printer.statement(reduction, text);
  }

  void thread_loop(KernelPrinter& printer, const ThreadLoop& loop) override {
    printer.statements(loop.body);
  }
  void block_loop(KernelPrinter& printer, const BlockLoop& loop) override {
    printer.statements(loop.body);
  }
  void cluster_loop(KernelPrinter& printer, const ClusterLoop& loop) override {
    printer.statements(loop.body);
  }

 private:
  /// The predicate of an asynchronous copy is no condition: where it does not hold, the copy fills.
  static void copy_async(KernelPrinter& printer, const LoadStoreOp& copy, int64_t lanes) {
    const int64_t bytes = lanes * size_bytes(copy.out->dtype());
    ExpressionPrinter& expressions = printer.expressions();
    const std::string hint = hint_argument(view_of(copy.out));
    std::string text = copy.cache_op == CacheOp::Global ? "cp_async_cg" : "cp_async_ca";
    text += (hint.empty() ? "<" : "_hinted<") + std::to_string(bytes) + hint + ">(" +
            expressions.address(copy.out, lanes, /*is_written=*/true) + ", " +
            expressions.address(copy.arg, lanes, /*is_written=*/false);
    if (copy.predicate() != nullptr) {
      text += ", " + printer.name_of(view_of(copy.arg)) + ".data, " +
              printer.condition(copy.predicate());
    }
    printer.commented_line(copy, text + ");");
  }

  static void copy_matrices(KernelPrinter& printer, const LoadStoreOp& copy) {
    const MatrixCopy matrices = matrix_copy_of(view_of(copy.out));
    ExpressionPrinter& expressions = printer.expressions();
    printer.statement(
        copy, std::string(copy.op == LoadStoreOpType::StMatrix ? "store_matrix<" : "load_matrix<") +
                  std::to_string(matrices.count) +
                  (is_transposed(printer.kernel(), matrices) ? ", /*transposed=*/true>("
                                                             : ", /*transposed=*/false>(") +
                  expressions.address(copy.out, 1, /*is_written=*/true) + ", " +
                  expressions.address(copy.arg, 1, /*is_written=*/false) + ");");
  }

  static void check_unconditional(const Expr& collective) {
    NVF_INVARIANT(
        collective.predicate() == nullptr || collective.predicate()->is_true(),
        "every thread takes part in it: ", collective.to_string());
  }

  /// Shared memory at an offset; nullptr: none.
  static std::string scratch(KernelPrinter& printer, const Val* offset) {
    return offset == nullptr
               ? "nullptr"
               : "smem + " + printer.expressions().value(offset).within(Precedence::Product);
  }

  template <typename Turn>
  static std::string turn_call(
      const KernelPrinter& printer, const std::string& function, const Turn& turn) {
    return function + "<" + dimension_flags(turn.sync_dims) + ">(" +
           printer.name_of(turn.sync_buffer) + ".data);";
  }

  /// `_group<shape, GroupCombine<ReduceAdd, ReduceMax>>(`: the rest of the function's name, its
  /// template arguments, and what is common to all its arguments.
  template <typename Reduction>
  static std::string function_of(const Reduction& reduction, const std::string& shape) {
    if (reduction.is_welford && reduction.outs.size() == kTriple) {
      return "_welford<" + shape + ">(";
    }
    if (reduction.is_welford) {
      return "_welford_group<" + shape + ", " + std::to_string(reduction.outs.size() / kTriple) +
             ", " + c_type(reduction.outs.front()->dtype()) + ", int64_t>(";
    }
    if (reduction.ops.size() == 1) {
      return "<" + shape + ", " + combiner(reduction.ops.front()) + ">(";
    }
    std::string combiners;
    for (const BinaryOpType op : reduction.ops) {
      combiners += (combiners.empty() ? "" : ", ") + std::string(combiner(op));
    }
    return "_group<" + shape + ", GroupCombine<" + combiners + ">>(";
  }

  /// `T7.data`: where partial results go; in braces for a group.
  static std::string buffers(const KernelPrinter& printer, const GridReduction& reduction) {
    std::vector<std::string> names;
    for (const TensorView* buffer : reduction.work_buffers) {
      names.push_back(printer.name_of(buffer) + ".data");
    }
    return reduction.ops.size() > 1 ? "{" + joined(names) + "}" : joined(names);
  }

  static std::string joined(std::span<const std::string> texts) {
    std::string all;
    for (const std::string& text : texts) {
      all += (all.empty() ? "" : ", ") + text;
    }
    return all;
  }
  /// `{{T4, T5, T6}, {T7, T8, T9}}`
  static std::string in_triples(std::span<const std::string> texts) {
    std::vector<std::string> triples;
    for (size_t i = 0; i < texts.size(); i += kTriple) {
      triples.push_back("{" + joined(texts.subspan(i, kTriple)) + "}");
    }
    return "{" + joined(triples) + "}";
  }

  /// Whether only a contributing thread may read it: elements in memory, and those of an array of
  /// registers that has none for the threads and iterations that are out of range.
  static bool may_be_out_of_range(const Val* in) {
    const TensorView* view = view_of(in);
    return view != nullptr && (view->memory_type() != MemoryType::Local ||
                               !static_cast<const TensorIndex*>(in)->index()->is_const_int());
  }

  /// Accumulators, contribution, identity. The contribution is an argument of a function that every
  /// thread calls: what only a contributing thread may read is read under its condition.
  template <typename Reduction>
  static std::string operands(KernelPrinter& printer, const Reduction& reduction) {
    ExpressionPrinter& expressions = printer.expressions();
    const std::vector<Val*>& ins = reduction.ins;
    const Val* contributes = reduction.read_predicate;
    const bool is_guarded = contributes != nullptr && std::ranges::any_of(ins, may_be_out_of_range);
    const auto guarded = [&](const std::string& text, const std::string& otherwise) {
      return is_guarded ? "(" + printer.condition(contributes) + ") ? " + text + " : " + otherwise
                        : text;
    };
    std::vector<std::string> outs;
    std::vector<std::string> values;
    std::vector<std::string> identities;
    for (size_t i = 0; i < ins.size(); ++i) {
      // Welford triples hold means and deviations of one type.
      const bool is_count = reduction.is_welford && i % kTriple == kTriple - 1;
      const DataType type = is_count               ? DataType::Int
                            : reduction.is_welford ? reduction.outs.front()->dtype()
                                                   : reduction.outs[i]->dtype();
      identities.push_back(
          reduction.is_welford ? "0" : expressions.value_as(reduction.inits[i], type).str());
      values.push_back(guarded(expressions.value_as(ins[i], type).str(), identities.back()));
      outs.push_back(printer.elements({reduction.outs[i]}));
    }
    if (reduction.is_welford) {
      return outs.size() == kTriple ? joined(outs) + ", {" + joined(values) + "}"
                                    : in_triples(outs) + ", " + in_triples(values);
    }
    return reduction.ops.size() == 1
               ? joined(outs) + ", " + joined(values) + ", " + joined(identities)
               : "refs(" + joined(outs) + "), {" + joined(values) + "}, {" + joined(identities) +
                     "}";
  }

  static void print_block_barrier(KernelPrinter& printer) {
    const bool has_loading_threads = loading_threads(printer.kernel()).positions > 0;
    printer.line(has_loading_threads ? "block_barrier();" : "__syncthreads();");
  }

  static void allocate_shared(KernelPrinter& printer, const Allocate& allocate) {
    const std::string type = c_type(allocate.buffer->dtype());
    const std::string name = printer.name_of(allocate.buffer) + "_s";
    NVF_INVARIANT(
        allocate.address != nullptr, "shared memory has an address: ", describe(allocate.buffer));
    printer.line(
        type + "* " + name + " = reinterpret_cast<" + type + "*>(smem + " +
        printer.expressions().value(allocate.address).within(Precedence::Product) + ");");
  }

  static std::string memory_of(const TensorView* view) {
    switch (view->memory_type()) {
      case MemoryType::Shared: return "Memory::Shared";
      case MemoryType::Global: return "Memory::Global";
      default: return "Memory::Registers";
    }
  }

  const PackedArrays packed_;
  const WordArrays words_;
  const AlikeCounts counts_;
};

} // namespace

std::unique_ptr<Dialect> make_cuda_dialect(const Kernel& kernel) {
  return std::make_unique<CudaDialect>(kernel);
}

} // namespace nvfuser

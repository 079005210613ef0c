// CUDA C++ for NVRTC. Functions that generated statements call are in runtime/cuda.
#include <algorithm>
#include <array>

#include "codegen/dialect.h"
#include "codegen/printer.h"

namespace nvfuser {
namespace {

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

class CudaDialect final : public Dialect {
 public:
  [[nodiscard]] const char* fixed_width_index(bool is_32_bit) const override {
    return is_32_bit ? "int" : "long long";
  }
  [[nodiscard]] std::string hardware_value(const NamedScalar& value) const override {
    // The built-in variables are unsigned and of 32 bits.
    return "nvfuser_index_t(" + value.text_name() + ")";
  }
  [[nodiscard]] bool division_traps() const override {
    return false;
  }

  void open_kernel(KernelPrinter& printer, const std::string& name) override {
    std::string parameters;
    for (const KernelPrinter::Parameter& parameter : printer.parameters()) {
      parameters += (parameters.empty() ? "" : ", ") + parameter.type + " " + parameter.name;
    }
    printer.line("__global__ void " + name + "(" + parameters + ") {");
    if (printer.mentions("smem")) {
      printer.indented([&] { printer.line("extern __shared__ __align__(128) char smem[];"); });
    }
  }

  void allocate(KernelPrinter& printer, const Allocate& allocate) override {
    const TensorView* view = allocate.buffer;
    if (allocate.memory_type == MemoryType::Global) {
      return; // a parameter
    }
    if (allocate.memory_type == MemoryType::Shared) {
      allocate_shared(printer, allocate);
    } else if (allocate.alias != nullptr) {
      printer.declare_alias(allocate);
    } else {
      const int64_t alignment = std::min<int64_t>(printer.vector_bytes(view), kWidestAccess);
      printer.declare_array(
          allocate, alignment > size_bytes(view->dtype())
                        ? "alignas(" + std::to_string(alignment) + ") "
                        : "");
    }
  }

  void copy_vector(KernelPrinter& printer, const LoadStoreOp& copy, int64_t lanes) override {
    const TensorView* from = view_of(copy.arg);
    const TensorView* to = view_of(copy.out);
    const bool loads = from->memory_type() == MemoryType::Global;
    const bool stores = to->memory_type() == MemoryType::Global;
    const std::string load = std::string(", ") + load_hint(printer, copy);
    const std::string store = std::string(", ") + store_hint(copy);
    const std::string function = loads && stores
                                     ? "copy_vector<" + std::to_string(lanes) + load + store
                                 : loads  ? "load_vector<" + std::to_string(lanes) + load
                                 : stores ? "store_vector<" + std::to_string(lanes) + store
                                          : "copy_vector<" + std::to_string(lanes);
    ExpressionPrinter& expressions = printer.expressions();
    printer.statement(
        copy, function + ">(&" + expressions.value(copy.out).str() + ", &" +
                  expressions.value(copy.arg).str() + ");");
  }

  void copy_element(KernelPrinter& printer, const LoadStoreOp& copy) override {
    ExpressionPrinter& expressions = printer.expressions();
    const TensorView* from = view_of(copy.arg);
    std::string value = expressions.value(copy.arg).str();
    if (printer.is_read_only(from) && !from->is_cpu_scalar()) {
      value = "load_readonly(" + value + ")";
    }
    printer.statement(copy, expressions.value(copy.out).str() + " = " + value + ";");
  }

  [[nodiscard]] std::string unroll_hint() const override {
    return "#pragma unroll";
  }

  void block_sync(KernelPrinter& printer, const BlockSync& /*sync*/) override {
    printer.line("__syncthreads();");
  }

  void grid_sync(KernelPrinter& printer, const GridSync& sync) override {
    NVF_INVARIANT(sync.sync_buffer != nullptr, "a barrier over blocks has counters");
    printer.line(
        "grid_sync<" + dimension_flags(sync.sync_dims) + ">(" +
        ExpressionPrinter::name_of(sync.sync_buffer) + ".data);");
  }

  void block_reduction(KernelPrinter& printer, const BlockReduction& reduction) override {
    check_unconditional(reduction);
    const std::string scratch = reduction.workspace_offset == nullptr
                                    ? "nullptr"
                                    : "smem + " + printer.expressions()
                                                      .value(reduction.workspace_offset)
                                                      .within(Precedence::Product);
    const std::string shape = "<" + dimension_flags(reduction.reduced_dims) +
                              (reduction.is_warp ? ", /*warps=*/true" : ", /*warps=*/false");
    const std::string function =
        reduction.is_welford ? "block_reduce_welford" + shape + ">("
                             : "block_reduce" + shape + ", " + combiner(reduction.op) + ">(";
    printer.statement(
        reduction, function +
                       operands(
                           printer, reduction.outs, reduction.ins, reduction.inits,
                           reduction.is_welford, reduction.read_predicate) +
                       ", " + printer.condition(reduction.read_predicate) + ", " + scratch + ");");
  }

  void grid_reduction(KernelPrinter& printer, const GridReduction& reduction) override {
    check_unconditional(reduction);
    const std::string shape = "<GridShape<" + dimension_flags(reduction.reduced_dims) + ", " +
                              dimension_flags(reduction.reduced_thread_dims) + ">";
    std::string text = reduction.allreduce ? "grid_allreduce" : "grid_reduce";
    text += reduction.is_welford ? "_welford" + shape + ">("
                                 : shape + ", " + combiner(reduction.op) + ">(";
    text += operands(
        printer, reduction.outs, reduction.ins, reduction.inits, reduction.is_welford,
        reduction.read_predicate);
    text += ", " + printer.condition(reduction.read_predicate);
    for (const TensorView* buffer : reduction.work_buffers) {
      text += ", " + ExpressionPrinter::name_of(buffer) + ".data";
    }
    text += ", " + ExpressionPrinter::name_of(reduction.sync_buffer) + ".data, ";
    text +=
        reduction.entrance == nullptr ? "0" : printer.expressions().value(reduction.entrance).str();
    text += ");";
    if (reduction.is_last != nullptr) {
      const std::string name = ExpressionPrinter::name_of(reduction.is_last);
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

 private:
  static constexpr int64_t kWidestAccess = 16; // bytes

  static void check_unconditional(const Expr& reduction) {
    NVF_INVARIANT(
        reduction.predicate() == nullptr || reduction.predicate()->is_true(),
        "every thread takes part in a reduction: ", reduction.to_string());
  }

  /// Accumulators, contribution, identity. What is contributed is an argument of a function that
  /// every thread calls: memory that only a contributing thread may touch is read under its
  /// condition.
  static std::string operands(
      KernelPrinter& printer,
      const std::vector<Val*>& outs,
      const std::vector<Val*>& ins,
      const std::vector<Val*>& inits,
      bool is_welford,
      const Val* contributes) {
    ExpressionPrinter& expressions = printer.expressions();
    const bool reads_memory = std::any_of(ins.begin(), ins.end(), [](const Val* in) {
      const TensorView* view = view_of(in);
      return view != nullptr && view->memory_type() != MemoryType::Local;
    });
    const bool is_guarded = reads_memory && contributes != nullptr;
    const auto guarded = [&](const std::string& text, const std::string& otherwise) {
      return is_guarded ? "(" + printer.condition(contributes) + ") ? " + text + " : " + otherwise
                        : text;
    };
    const DataType type = outs.front()->dtype();
    if (is_welford) {
      std::string triple;
      const std::array<DataType, 3> types = {type, type, DataType::Int};
      for (size_t i = 0; i < ins.size(); ++i) {
        const std::string text = expressions.value_as(ins[i], types[i]).str();
        triple += (i == 0 ? "{" : ", ") + guarded(text, "0");
      }
      return printer.elements(outs) + ", " + triple + "}";
    }
    const std::string init = expressions.value_as(inits.front(), type).str();
    const std::string in = expressions.value_as(ins.front(), type).str();
    return printer.elements(outs) + ", " + guarded(in, init) + ", " + init;
  }

  static void allocate_shared(KernelPrinter& printer, const Allocate& allocate) {
    const std::string type = c_type(allocate.buffer->dtype());
    const std::string name = ExpressionPrinter::name_of(allocate.buffer) + "_s";
    std::string storage;
    if (allocate.alias != nullptr) {
      storage = ExpressionPrinter::name_of(allocate.alias) + "_s";
    } else {
      NVF_INVARIANT(
          allocate.address != nullptr, "shared memory has an address: ", describe(allocate.buffer));
      storage =
          "smem + " + printer.expressions().value(allocate.address).within(Precedence::Product);
    }
    printer.line(type + "* " + name + " = reinterpret_cast<" + type + "*>(" + storage + ");");
  }

  static const char* load_hint(const KernelPrinter& printer, const LoadStoreOp& copy) {
    switch (copy.cache_op) {
      case CacheOp::Streaming: return "Cache::Streaming";
      case CacheOp::Global: return "Cache::Global";
      case CacheOp::AllLevels:
      case CacheOp::Unspecified: break;
    }
    return printer.is_read_only(view_of(copy.arg)) ? "Cache::ReadOnly" : "Cache::AllLevels";
  }
  static const char* store_hint(const LoadStoreOp& copy) {
    switch (copy.cache_op) {
      case CacheOp::Streaming: return "Cache::Streaming";
      case CacheOp::Global: return "Cache::Global";
      case CacheOp::AllLevels:
      case CacheOp::Unspecified: break;
    }
    return "Cache::AllLevels";
  }
};

} // namespace

std::unique_ptr<Dialect> make_cuda_dialect() {
  return std::make_unique<CudaDialect>();
}

} // namespace nvfuser

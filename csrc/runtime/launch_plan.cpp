#include "runtime/launch_plan.h"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <unordered_map>

#include "base/errors.h"
#include "base/options.h"
#include "ir/dependencies.h"
#include "lower/analysis/bank_conflicts.h"
#include "runtime/launch_words.h"
#include "runtime/overlap.h"
#include "runtime/paired_tensor.h"
#include "runtime/scalar_bytes.h"

namespace nvfuser {
namespace {

constexpr int64_t kParameterAlignment = 16;
constexpr int64_t kWorkspaceAlignment = 256;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Appends kernel parameters to the bytes of a plan, as the ABI has them.
class ParameterWriter {
 public:
  ParameterWriter(LaunchPlan& plan, DataType index_type) : plan_(plan), index_type_(index_type) {}

  /// { T* data; IndexT logical_size[N]; IndexT alloc_stride[M]; } Returns the offset of `data`.
  size_t add_tensor(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
    const size_t start = begin();
    append(uint64_t{0});
    for (const int64_t size : sizes) {
      append_index(size);
    }
    for (const int64_t stride : strides) {
      append_index(stride);
    }
    end();
    return start;
  }

  /// Room for a scalar. Returns its offset.
  size_t add_scalar() {
    const size_t start = begin();
    plan_.parameters.resize(start + kMaxScalarBytes);
    end();
    return start;
  }

 private:
  size_t begin() {
    plan_.parameter_offsets.push_back(plan_.parameters.size());
    return plan_.parameters.size();
  }
  /// Who reads a parameter reads the padding at its end too.
  void end() {
    const auto bytes = static_cast<int64_t>(plan_.parameters.size());
    plan_.parameters.resize(static_cast<size_t>(round_up(bytes, kParameterAlignment)));
  }
  template <typename T>
  void append(T value) {
    const size_t end = plan_.parameters.size();
    plan_.parameters.resize(end + sizeof(T));
    std::memcpy(plan_.parameters.data() + end, &value, sizeof(T));
  }
  void append_index(int64_t value) {
    if (index_type_ == DataType::Int32) {
      append(static_cast<int32_t>(value));
    } else {
      append(value);
    }
  }

  LaunchPlan& plan_;
  const DataType index_type_;
};

/// What failed, with the sizes that it depends on.
Refusal why_not(const LaunchCondition& condition, ExpressionEvaluator& evaluator) {
  Refusal refusal = refuse(condition.report, condition.kind);
  if (!refusal.report.found.empty()) {
    return refusal;
  }
  std::vector<const Val*> shown = condition.shown;
  if (shown.empty()) {
    shown = dependencies(condition.holds);
    std::erase_if(shown, [](const Val* val) { return val->is_const() || val->definition(); });
  }
  std::string found;
  for (const Val* val : shown) {
    const std::optional<ScalarValue> value = evaluator.evaluate(val);
    found += (found.empty() ? "" : ", ") + val->to_inline_string() + " = " +
             (value ? value_text(ScalarArg{*value}) : "?");
  }
  refusal.report.found = {found};
  return refusal;
}

class Planner {
 public:
  Planner(
      LaunchPlan& plan,
      std::span<const Argument> args,
      const EqualDims& equal_dims,
      const LaunchParams& constraints)
      : plan_(plan),
        kernel_(*plan.code->kernel),
        args_(args),
        equal_dims_(equal_dims),
        constraints_(constraints),
        writer_(plan, kernel_.index_type()) {}

  void run() {
    layouts_ = bind_arguments(kernel_, args_, equal_dims_, evaluator_);
    std::vector<const LaunchCondition*> of_launch = check_conditions();
    plan_launch();
    check_conditions(of_launch);
    plan_inputs();
    plan_buffers();
    plan_random_state();
    plan_outputs();
    check_vector_accesses();
    check_resources();
    plan_.is_small = plan_.device.is_cpu() && is_small();
  }

 private:
  /// Conditions on sizes. Returns those that depend on how many threads and blocks are launched.
  std::vector<const LaunchCondition*> check_conditions() {
    std::vector<const LaunchCondition*> of_launch;
    for (const LaunchCondition& condition : kernel_.launch.conditions) {
      const std::optional<ScalarValue> holds = evaluator_.evaluate(condition.holds);
      if (!holds) {
        of_launch.push_back(&condition);
      } else if (!as_bool(*holds)) {
        throw_refusal(why_not(condition, evaluator_));
      }
    }
    return of_launch;
  }

  void check_conditions(const std::vector<const LaunchCondition*>& conditions) {
    for (const LaunchCondition* condition : conditions) {
      if (evaluator_.evaluate_int(condition->holds) == 0) {
        throw_refusal(why_not(*condition, evaluator_));
      }
    }
  }

  /// The launch dimensions: what the kernel needs, which must agree with what the caller asks for.
  void plan_launch() {
    for (const ParallelType type : kHardwareTypes) {
      if (constraints_.is_set(type)) {
        evaluator_.bind(dimension_name(type), constraints_.raw(type));
      }
    }
    LaunchParams launch = constraints_;
    for (const ParallelType type : kHardwareTypes) {
      const Val* extent = kernel_.launch.extents[type];
      if (extent != nullptr) {
        // An axis of size 0 beside outputs that are not empty: its loops run zero times.
        launch.bind(
            type, std::max<int64_t>(launched_size(extent, type), 1),
            [this](std::span<const ParallelType> types) { return bound_axes(types); });
      } else if (launch.is_set(type)) {
        launch.bind(type, 1); // several threads would do the same, to the same memory
      }
      evaluator_.bind(dimension_name(type), launch.get(type));
    }
    if (kernel_.launch.shared_bytes != nullptr) {
      launch.set_smem_bytes(evaluator_.evaluate_int(kernel_.launch.shared_bytes));
    }
    plan_.launch = launch;
    plan_.is_cooperative = kernel_.launch.is_cooperative;
    if (has_option(DumpOption::BankConflict)) {
      dump_bank_conflicts();
    }
  }

  void dump_bank_conflicts() const {
    std::cout << "Shared memory accesses of " << plan_.code->name << ":\n";
    for (const BankConflict& conflict : find_bank_conflicts(kernel_, evaluator_)) {
      std::cout << "  " << conflict.to_string() << "\n";
    }
    std::cout << std::flush;
  }

  /// The tensors whose axes are bound to hardware indices, one a line.
  std::string bound_axes(std::span<const ParallelType> types) const {
    std::string lines;
    for (const ParallelType type : types) {
      for (const TensorView* tensor : kernel_.launch.bound_tensors[type]) {
        lines += (lines.empty() ? "" : "\n") + describe(tensor) + ", bound to " + text(type);
      }
    }
    return lines;
  }

  int64_t launched_size(const Val* extent, ParallelType type) {
    const std::optional<ScalarValue> value = evaluator_.evaluate(extent);
    if (!value) {
      throw UserError({
          .headline =
              {"Could not launch kernel as program could not infer ", extent->to_inline_string(),
               " for the ptype: ", text(type)},
          .node = describe(extent),
          .expected = {"an extent that follows from the inputs or from launch constraints"},
          .found = {extent->to_inline_string()},
          .fix = {"pass LaunchParams with ", dimension_name(type)},
      });
    }
    return as_int(*value);
  }

  void plan_inputs() {
    for (size_t i = 0; i < kernel_.inputs().size(); ++i) {
      const Val* input = kernel_.inputs()[i];
      if (!input->is_tensor()) {
        plan_.patches.push_back({writer_.add_scalar(), NumberPatch{i, input->dtype()}});
        continue;
      }
      const auto* tensor = static_cast<const TensorView*>(input);
      if (tensor->is_cpu_scalar()) {
        plan_.patches.push_back({writer_.add_scalar(), HostElementPatch{i, input->dtype()}});
        continue;
      }
      const size_t offset =
          writer_.add_tensor(std::get<TensorArg>(args_[i]).sizes(), layouts_[i].strides);
      plan_.patches.push_back({offset, PointerPatch{i}});
    }
  }

  size_t input_position(const Val* input) const {
    const auto& inputs = kernel_.inputs();
    const auto found = std::find(inputs.begin(), inputs.end(), input);
    NVF_INVARIANT(found != inputs.end(), "an aliased input is an input: ", input->to_string());
    return static_cast<size_t>(found - inputs.begin());
  }

  void plan_buffers() {
    bool is_empty = true;
    for (const GlobalBuffer& buffer : kernel_.launch.buffers) {
      PlannedBuffer planned;
      planned.dtype = buffer.tensor->dtype();
      planned.zero_init = buffer.zero_init;
      const AliasInfo* alias = kernel_.alias_of(buffer.tensor);
      if (alias != nullptr) {
        planned.source = PlannedBuffer::Source::Input;
        planned.input = input_position(alias->input);
        const auto& arg = std::get<TensorArg>(args_[planned.input]);
        planned.layout.sizes.assign(arg.sizes().begin(), arg.sizes().end());
        planned.layout.strides.assign(arg.strides().begin(), arg.strides().end());
        planned.layout.elements = arg.num_elements();
        check_alias_shape(buffer.tensor, planned);
        check_alias_memory(buffer.tensor, planned.input, arg);
        planned.layout.memory = bind_memory(planned.input, buffer.tensor, arg, evaluator_);
      } else {
        planned.layout = layout_of_new(buffer.tensor, evaluator_);
        planned.source =
            buffer.is_output ? PlannedBuffer::Source::NewTensor : PlannedBuffer::Source::Workspace;
      }
      const std::vector<int64_t>& sizes = planned.layout.sizes; // as a user sees them
      is_empty = is_empty &&
                 (!buffer.is_output || std::find(sizes.begin(), sizes.end(), 0) != sizes.end());
      planned.offset = writer_.add_tensor(planned.layout.sizes, planned.layout.memory.strides);
      if (planned.source == PlannedBuffer::Source::NewTensor &&
          planned.dtype == DataType::Float4_e2m1fn) {
        planned.dtype = framework_dtype(planned.dtype);
        pair_up(buffer.tensor, planned.layout);
      }
      buffer_of_.emplace(buffer.tensor, plan_.buffers.size());
      plan_.buffers.push_back(std::move(planned));
    }
    plan_.is_empty = is_empty;
    place_workspaces();
  }

  void plan_random_state() {
    plan_.random_streams = kernel_.launch.random_streams;
    if (plan_.random_streams > 0) {
      plan_.random_seed = writer_.add_scalar();
      plan_.random_offset = writer_.add_scalar();
    }
  }

  static void check_alias_memory(const TensorView* tensor, size_t input, const TensorArg& arg) {
    if (may_overlap_itself(arg)) {
      throw UserError({
          .headline = {"Input ", input, " is updated in place but overlaps itself"},
          .node = {describe(tensor)},
          .expected = {"one address for every element"},
          .found = {arg.str(), " with strides that let elements share memory"},
          .fix = {"pass a tensor that owns its elements, such as a clone"},
      });
    }
  }

  /// What is written in place must have the shape of what it is written into.
  void check_alias_shape(const TensorView* tensor, const PlannedBuffer& planned) {
    const IterDomains axes = logical_axes(tensor);
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t size = evaluator_.evaluate_int(axes[i]->maybe_expanded_extent());
      NVF_USER_CHECK(
          size == planned.layout.sizes[i], "An output of size ", size, " in dimension ", i,
          " cannot be written into input ", planned.input, " of size ", planned.layout.sizes[i],
          " there: ", describe(tensor));
    }
  }

  /// All workspaces are one allocation; those that start with zeros come first, to be filled at
  /// once.
  void place_workspaces() {
    for (const bool zero_init : {true, false}) {
      for (PlannedBuffer& buffer : plan_.buffers) {
        if (buffer.source == PlannedBuffer::Source::Workspace && buffer.zero_init == zero_init) {
          buffer.byte_offset = plan_.workspace_bytes;
          plan_.workspace_bytes +=
              round_up(storage_bytes(buffer.dtype, buffer.layout.elements), kWorkspaceAlignment);
        }
      }
      if (zero_init) {
        plan_.workspace_zero_bytes = plan_.workspace_bytes;
      }
    }
  }

  void plan_outputs() {
    std::unordered_map<const Val*, size_t> seen; // only looked up
    for (const Val* output : kernel_.outputs()) {
      const AliasInfo* alias = kernel_.alias_of(output);
      if (alias != nullptr && alias->is_hidden) {
        continue;
      }
      PlannedOutput planned;
      const auto [earlier, is_new] = seen.emplace(output, plan_.outputs.size());
      if (alias != nullptr) {
        planned = {PlannedOutput::Source::Input, input_position(alias->input)};
      } else if (output->is_fusion_input()) {
        planned = {PlannedOutput::Source::Input, input_position(output)};
      } else if (!is_new) {
        planned = {PlannedOutput::Source::Output, earlier->second};
      } else {
        planned = {PlannedOutput::Source::Buffer, buffer_of_.at(output)};
      }
      plan_.outputs.push_back(planned);
    }
  }

  void check_vector_accesses() {
    for (const VectorAccess& access : kernel_.launch.vector_accesses) {
      const int64_t bytes = storage_bytes(access.tensor->dtype(), access.width);
      check_vector_strides(access);
      const auto buffer = buffer_of_.find(access.tensor);
      if (buffer == buffer_of_.end()) {
        plan_.alignment_checks.push_back(
            {input_position(access.tensor), bytes, access.width, access.tensor, access.made_by});
      } else if (plan_.buffers[buffer->second].source == PlannedBuffer::Source::Input) {
        plan_.alignment_checks.push_back(
            {plan_.buffers[buffer->second].input, bytes, access.width, access.tensor,
             access.made_by});
      }
    }
  }

  /// Steps along every axis that is not part of the contiguous run must keep vectors aligned.
  void check_vector_strides(const VectorAccess& access) {
    const auto buffer = buffer_of_.find(access.tensor);
    const MemoryLayout& layout = buffer != buffer_of_.end()
                                     ? plan_.buffers[buffer->second].layout.memory
                                     : layouts_[input_position(access.tensor)];
    const bool is_empty =
        std::find(layout.sizes.begin(), layout.sizes.end(), 0) != layout.sizes.end();
    for (size_t k = 0; k < layout.sizes.size() && !is_empty; ++k) {
      const bool is_in_run =
          std::find(access.run_dims.begin(), access.run_dims.end(), static_cast<int64_t>(k)) !=
          access.run_dims.end();
      if (is_in_run || layout.sizes[k] == 1 || layout.strides[k] % access.width == 0) {
        continue;
      }
      throw UserError({
          .headline =
              {"Vectorization of ", access.tensor->to_string(), " with word size ", access.width,
               " not possible due to invalid stride."},
          .node = {describe(access.made_by), ", vectorized"},
          .expected = {"stride of allocation axis ", k, " divisible by ", access.width},
          .found = {"stride ", layout.strides[k], " (elements), axis of size ", layout.sizes[k]},
          .fix = {"vectorize with a smaller factor, or pass a tensor with other strides"},
      });
    }
  }

  void check_resources() {
    if (plan_.is_empty) {
      return;
    }
    const int64_t limit = kernel_.target().max_shared_bytes;
    if (plan_.device.is_cpu()) {
      check_shared_bytes(plan_.launch.smem_bytes(), 0, limit);
      return;
    }
    const CudaDriver& driver = CudaDriver::get();
    const CudaContextGuard guard(driver, plan_.device.index);
    const CudaDeviceInfo& info = driver.device(plan_.device.index);
    const CudaFunction& function = plan_.code->cuda->on_device(driver, plan_.device.index);
    plan_.function = function.function;
    const int64_t shared_bytes = plan_.launch.smem_bytes();
    check_shared_bytes(shared_bytes, function.static_shared_bytes, info.max_shared_bytes);
    plan_.code->cuda->allow_shared_bytes(driver, plan_.device.index, shared_bytes);
    if (plan_.launch.num_threads() > function.max_threads) {
      plan_.register_limit = register_limit(info.registers_per_block);
    }
    if (plan_.is_cooperative && plan_.register_limit == 0) {
      check_residency(driver, info);
    }
  }

  /// Registers of a thread if a block of this launch is to fit.
  [[nodiscard]] int64_t register_limit(int64_t registers_per_block) const {
    constexpr int64_t kGranularity = 8; // registers are given out in multiples of this, per warp
    const int64_t threads = round_up(plan_.launch.num_threads(), kernel_.target().warp_size);
    const int64_t limit = registers_per_block / threads / kGranularity * kGranularity;
    return std::max(limit, kGranularity);
  }

  void check_shared_bytes(int64_t dynamic_bytes, int64_t static_bytes, int64_t limit) const {
    if (dynamic_bytes + static_bytes <= limit) {
      return;
    }
    throw UserError({
        .headline = {"The total shared memory allocation is larger than available memory."},
        .node = {"kernel ", plan_.code->name},
        .expected = {"at most ", limit, " bytes for a block on ", plan_.device.str()},
        .found = {dynamic_bytes, " dynamic + ", static_bytes, " static bytes"},
        .fix = {"use smaller tiles, or keep fewer tensors in shared memory"},
    });
  }

  void check_residency(const CudaDriver& driver, const CudaDeviceInfo& info) const {
    int per_sm = 0;
    driver.check(
        driver.occupancy_max_active_blocks(
            &per_sm, plan_.function, static_cast<int>(plan_.launch.num_threads()),
            static_cast<size_t>(plan_.launch.smem_bytes())),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    const int64_t resident = info.has_cooperative_launch ? int64_t{per_sm} * info.num_sms : 0;
    if (plan_.launch.num_blocks() <= resident) {
      return;
    }
    throw UserError({
        .headline =
            {"Wanted to launch a cooperative kernel, however the number of blocks is greater"
             " than what can be resident on the GPU at once."},
        .node = {"kernel ", plan_.code->name},
        .expected =
            {"at most ", resident, " blocks (", per_sm, " on each of ", info.num_sms,
             " multiprocessors)"},
        .found = {plan_.launch.num_blocks(), " blocks of ", plan_.launch.num_threads(), " threads"},
        .fix = {"let blocks do more work, or use fewer registers or less shared memory"},
    });
  }

  /// Does the kernel compute fewer elements than it takes to wake a thread? What a split leaves
  /// over counts for nothing: blocks without elements pass.
  bool is_small() {
    constexpr int64_t kWorthAThread = 32768; // elements; some ten microseconds
    int64_t work = 0;
    for (const TensorView* tensor : kernel_.tensors()) {
      int64_t elements = 1;
      for (const IterDomain* id : tensor->logical()) {
        const std::optional<ScalarValue> extent = evaluator_.evaluate(id->extent());
        elements *= std::min(extent ? as_int(*extent) : 1, kWorthAThread);
        if (elements >= kWorthAThread) {
          return false;
        }
      }
      work += elements;
    }
    return work < kWorthAThread;
  }

  LaunchPlan& plan_;
  const Kernel& kernel_;
  std::span<const Argument> args_;
  const EqualDims& equal_dims_;
  const LaunchParams& constraints_;
  ParameterWriter writer_;
  ExpressionEvaluator evaluator_;
  std::vector<MemoryLayout> layouts_;                // by input
  std::unordered_map<const Val*, size_t> buffer_of_; // only looked up
};

} // namespace

LaunchPlan make_launch_plan(
    std::shared_ptr<const CompiledKernel> code,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    Device device,
    const LaunchParams& constraints) {
  LaunchPlan plan;
  plan.code = std::move(code);
  plan.device = device;
  Planner(plan, args, equal_dims, constraints).run();
  return plan;
}

} // namespace nvfuser

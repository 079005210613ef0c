#include "runtime/launch_plan.h"

#include <algorithm>
#include <cstring>
#include <iostream>

#include "base/errors.h"
#include "base/options.h"
#include "base/workspace.h"
#include "ir/dependencies.h"
#include "lower/analysis/bank_conflicts.h"
#include "runtime/launch_resources.h"
#include "runtime/launch_words.h"
#include "runtime/overlap.h"
#include "runtime/paired_tensor.h"
#include "runtime/random_state.h"
#include "runtime/scalar_bytes.h"

namespace nvfuser {
namespace {

constexpr int64_t kParameterAlignment = 16;

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

  /// Room for a value. Returns its offset.
  size_t add_room(size_t bytes) {
    const size_t start = begin();
    plan_.parameters.resize(start + bytes);
    end();
    return start;
  }
  size_t add_scalar() {
    return add_room(kMaxScalarBytes);
  }

 private:
  size_t begin() {
    plan_.parameter_offsets.push_back(plan_.parameters.size());
    return plan_.parameters.size();
  }
  /// A kernel reads the padding at the end of a parameter with it.
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

/// The condition that failed, with the sizes that it depends on.
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
  Planner(LaunchPlan& plan, BoundArguments& bound, const LaunchParams& constraints)
      : plan_(plan),
        code_(*plan.code),
        recipe_(code_.recipe),
        bound_(bound),
        args_(bound.args),
        constraints_(constraints),
        writer_(plan, code_.index_type),
        registers_(recipe_.program.num_registers()) {}

  std::optional<Refusal> run() {
    bound_.words.fill(args_, bound_.layouts, registers_);
    recipe_.program.run(registers_);
    std::vector<size_t> of_launch; // that depend on how many threads are launched
    NVF_RETURN_REFUSAL(find_broken_condition(of_launch));
    plan_launch();
    for (const size_t i : of_launch) {
      NVF_RETURN_REFUSAL(find_broken(i));
    }
    plan_inputs();
    plan_buffers();
    // Strides that no description of a tensor can have are refused by what they are needed for.
    NVF_RETURN_REFUSAL(plan_vector_accesses());
    NVF_RETURN_REFUSAL(plan_tensor_maps());
    plan_random_state();
    plan_.outputs = recipe_.outputs;
    NVF_RETURN_REFUSAL(plan_resources(plan_));
    plan_.is_small = plan_.device.is_cpu() && is_small();
    return std::nullopt;
  }

 private:
  using Register = LaunchRecipe::Register;

  // -- for errors, which have names --

  /// Lowered now where the code came from the disk.
  [[nodiscard]] const Kernel& kernel() const {
    return *code_.kernel();
  }
  /// Everything that is known so far, under the names of the kernel.
  [[nodiscard]] ExpressionEvaluator symbols() const {
    ExpressionEvaluator evaluator;
    bind_arguments(kernel(), args_, bound_.equal_dims, evaluator);
    for (const ParallelType type : kHardwareTypes) {
      if (const ScalarRegister& size = registers_[bound_.words.dim(type)]; size.has_value()) {
        evaluator.bind(dimension_name(type), size.word);
      }
    }
    return evaluator;
  }
  [[noreturn]] void throw_unknown(const Val* val) const {
    static_cast<void>(symbols().evaluate_int(val));
    NVF_INVARIANT(false, "the evaluator refuses what the program refused: ", val->to_string());
  }
  [[nodiscard]] const TensorView* output(const LaunchRecipe::Buffer& buffer) const {
    return static_cast<const TensorView*>(bound_.fusion.outputs()[buffer.output]);
  }

  // -- sizes of the launch --

  /// Conditions on sizes. Those that depend on how many threads and blocks are launched are added
  /// to `of_launch`.
  std::optional<Refusal> find_broken_condition(std::vector<size_t>& of_launch) {
    for (size_t i = 0; i < recipe_.conditions.size(); ++i) {
      if (registers_[recipe_.conditions[i]].status == ScalarStatus::Unknown) {
        of_launch.push_back(i);
      } else {
        NVF_RETURN_REFUSAL(find_broken(i));
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> find_broken(size_t i) {
    const ScalarRegister& holds = registers_[recipe_.conditions[i]];
    if (holds.has_value() && holds.word != 0) {
      return std::nullopt;
    }
    const LaunchCondition& condition = kernel().launch.conditions.at(i);
    if (!holds.has_value()) {
      throw_unknown(condition.holds);
    }
    ExpressionEvaluator evaluator = symbols();
    return why_not(condition, evaluator);
  }

  void set_dim(ParallelType type, int64_t size) {
    registers_[bound_.words.dim(type)] = ScalarRegister::of(size);
  }

  /// The launch dimensions: what the kernel needs, which must agree with what the caller asks for.
  void plan_launch() {
    for (const ParallelType type : kHardwareTypes) {
      if (constraints_.is_set(type)) {
        set_dim(type, constraints_.raw(type));
      }
    }
    recipe_.program.run(registers_);
    LaunchParams launch = constraints_;
    for (const ParallelType type : kHardwareTypes) {
      if (const auto& extent = recipe_.extents.at(hardware_type_index(type))) {
        // An axis of size 0 beside outputs that are not empty: its loops run zero times.
        launch.bind(
            type, std::max<int64_t>(launched_size(*extent, type), 1),
            [this](std::span<const ParallelType> types) { return bound_axes(types); });
      } else if (launch.is_set(type)) {
        launch.bind(type, 1); // several threads would do the same, to the same memory
      }
      set_dim(type, launch.get(type));
    }
    recipe_.program.run(registers_);
    if (recipe_.shared_bytes) {
      const ScalarRegister& bytes = registers_[*recipe_.shared_bytes];
      if (!bytes.has_value()) {
        throw_unknown(kernel().launch.shared_bytes);
      }
      launch.set_smem_bytes(bytes.word);
    }
    launch = with_loading_threads(launch);
    launch.set_cluster_size(recipe_.cluster_size);
    plan_.launch = launch;
    plan_.is_cooperative = recipe_.is_cooperative;
    plan_.waits_for_prior_grid = recipe_.waits_for_prior_grid;
    if (has_option(DumpOption::BankConflict)) {
      dump_bank_conflicts();
    }
  }

  /// The launch of threads that compute, with those that only load.
  [[nodiscard]] LaunchParams with_loading_threads(const LaunchParams& computing) const {
    const std::array<int64_t, 3>& more = recipe_.loading_positions;
    if (more == std::array<int64_t, 3>{}) {
      return computing;
    }
    LaunchParams all(
        computing.gdimx(), computing.gdimy(), computing.gdimz(), computing.bdimx() + more[0],
        computing.bdimy() + more[1], computing.bdimz() + more[2]);
    all.set_smem_bytes(computing.smem_bytes());
    return all;
  }

  void dump_bank_conflicts() const {
    std::cout << "Shared memory accesses of " << plan_.code->name << ":\n";
    ExpressionEvaluator evaluator = symbols();
    for (const BankConflict& conflict : find_bank_conflicts(kernel(), evaluator)) {
      std::cout << "  " << conflict.to_string() << "\n";
    }
    std::cout << std::flush;
  }

  /// The tensors whose axes are bound to hardware indices, one a line.
  std::string bound_axes(std::span<const ParallelType> types) const {
    std::string lines;
    for (const ParallelType type : types) {
      for (const TensorView* tensor : kernel().launch.bound_tensors[type]) {
        lines += (lines.empty() ? "" : "\n") + describe(tensor) + ", bound to " + text(type);
      }
    }
    return lines;
  }

  int64_t launched_size(Register extent, ParallelType type) {
    if (registers_[extent].status == ScalarStatus::Unknown) {
      recipe_.program.run(registers_); // it may follow from dimensions that are known by now
    }
    if (registers_[extent].has_value()) {
      return registers_[extent].word;
    }
    const Val* val = kernel().launch.extents[type];
    if (registers_[extent].status == ScalarStatus::DivideByZero) {
      throw_unknown(val);
    }
    throw UserError({
        .headline =
            {"Could not launch kernel as program could not infer ", val->to_inline_string(),
             " for the ptype: ", text(type)},
        .node = describe(val),
        .expected = {"an extent that follows from the inputs or from launch constraints"},
        .found = {val->to_inline_string()},
        .fix = {"pass LaunchParams with ", dimension_name(type)},
    });
  }

  // -- parameters --

  void plan_inputs() {
    using Kind = LaunchRecipe::Parameter::Kind;
    for (size_t i = 0; i < recipe_.inputs.size(); ++i) {
      const auto [kind, dtype] = recipe_.inputs[i];
      switch (kind) {
        case Kind::Number:
          plan_.patches.push_back({writer_.add_scalar(), NumberPatch{i, dtype}});
          break;
        case Kind::HostElement:
          plan_.patches.push_back({writer_.add_scalar(), HostElementPatch{i, dtype}});
          break;
        case Kind::Tensor: {
          const size_t offset =
              writer_.add_tensor(std::get<TensorArg>(args_[i]).sizes(), bound_.layouts[i].strides);
          plan_.patches.push_back({offset, PointerPatch{i}});
          break;
        }
      }
    }
  }

  void plan_buffers() {
    std::vector<int64_t> sizes; // by register
    for (const ScalarRegister& value : registers_) {
      sizes.push_back(value.word);
    }
    bool is_empty = true;
    for (size_t i = 0; i < recipe_.buffers.size(); ++i) {
      PlannedBuffer planned = recipe_.buffers[i].source == BufferSource::Input
                                  ? plan_update(recipe_.buffers[i])
                                  : plan_new(i, sizes);
      const std::vector<int64_t>& visible = planned.layout.sizes; // as a user sees them
      is_empty = is_empty && (planned.source == BufferSource::Workspace ||
                              std::find(visible.begin(), visible.end(), 0) != visible.end());
      planned.offset = writer_.add_tensor(planned.layout.sizes, planned.layout.memory.strides);
      if (planned.source == BufferSource::NewTensor && planned.dtype == DataType::Float4_e2m1fn) {
        planned.dtype = framework_dtype(planned.dtype);
        pair_up(output(recipe_.buffers[i]), planned.layout);
      }
      plan_.buffers.push_back(std::move(planned));
    }
    plan_.is_empty = is_empty;
    place_workspaces();
  }

  /// The memory of an input, which an output updates.
  PlannedBuffer plan_update(const LaunchRecipe::Buffer& buffer) {
    PlannedBuffer planned;
    planned.source = BufferSource::Input;
    planned.dtype = buffer.dtype;
    planned.zero_init = buffer.zero_init;
    planned.input = buffer.input;
    const auto& arg = std::get<TensorArg>(args_[planned.input]);
    planned.layout.sizes.assign(arg.sizes().begin(), arg.sizes().end());
    planned.layout.strides.assign(arg.strides().begin(), arg.strides().end());
    planned.layout.elements = arg.num_elements();
    check_alias_shape(buffer, planned);
    check_alias_memory(output(buffer), planned.input, arg);
    planned.layout.memory = bind_memory(planned.input, output(buffer), arg, bound_.evaluator);
    return planned;
  }

  /// A new tensor, or a workspace.
  PlannedBuffer plan_new(size_t i, std::span<const int64_t> sizes) {
    const LaunchRecipe::Buffer& buffer = recipe_.buffers[i];
    PlannedBuffer planned;
    planned.source = buffer.source;
    planned.dtype = buffer.dtype;
    planned.zero_init = buffer.zero_init;
    const bool is_known = std::ranges::all_of(
        buffer.layout.sizes_read(), [&](Register size) { return registers_[size].has_value(); });
    auto layout = make_layout(buffer.layout, sizes);
    if (!is_known || std::holds_alternative<LayoutFault>(layout)) {
      const TensorView* tensor = kernel().launch.buffers.at(i).tensor;
      ExpressionEvaluator evaluator = symbols();
      static_cast<void>(layout_of_new(tensor, evaluator));
      NVF_INVARIANT(false, "a tensor refuses what its recipe refused: ", describe(tensor));
    }
    planned.layout = std::get<BufferLayout>(std::move(layout));
    return planned;
  }

  /// Descriptions of tensors, which begin where the parameter of the tensor says.
  std::optional<Refusal> plan_tensor_maps() {
    std::optional<CudaContextGuard> guard; // a thread that launches nothing before has no context
    if (!recipe_.tensor_maps.empty()) {
      guard.emplace(CudaDriver::get(), plan_.device.index);
    }
    for (const LaunchRecipe::TensorMap& recipe : recipe_.tensor_maps) {
      auto map = try_encode_tensor_map(CudaDriver::get(), recipe, registers_);
      if (auto* refusal = std::get_if<Refusal>(&map)) {
        return std::move(*refusal);
      }
      const size_t tensor = recipe.position + (recipe.is_buffer ? recipe_.inputs.size() : 0);
      plan_.tensor_maps.push_back(
          {.map = std::get<CUtensorMap>(map),
           .offset = writer_.add_room(sizeof(CUtensorMap)),
           .tensor_offset = plan_.parameter_offsets.at(tensor)});
    }
    return std::nullopt;
  }

  void plan_random_state() {
    if (recipe_.random_streams > 0) {
      plan_.random_seed = writer_.add_room(sizeof(RandomKeys));
    }
    for (int64_t i = 0; i < recipe_.random_streams; ++i) {
      plan_.random_offsets.push_back(writer_.add_scalar());
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

  /// An output that is written in place must have the shape of what it is written into.
  void check_alias_shape(const LaunchRecipe::Buffer& buffer, const PlannedBuffer& planned) {
    for (size_t i = 0; i < buffer.sizes.size(); ++i) {
      const ScalarRegister& size = registers_[buffer.sizes[i]];
      if (!size.has_value()) {
        throw_unknown(logical_axes(output(buffer))[i]->maybe_expanded_extent());
      }
      NVF_USER_CHECK(
          size.word == planned.layout.sizes[i], "An output of size ", size.word, " in dimension ",
          i, " cannot be written into input ", planned.input, " of size ", planned.layout.sizes[i],
          " there: ", describe(output(buffer)));
    }
  }

  /// All workspaces are one piece of memory, and all counters are another one.
  void place_workspaces() {
    for (PlannedBuffer& buffer : plan_.buffers) {
      if (buffer.source == PlannedBuffer::Source::Workspace) {
        int64_t& bytes = buffer.zero_init ? plan_.counter_bytes : plan_.workspace_bytes;
        buffer.byte_offset = bytes;
        bytes += round_up(storage_bytes(buffer.dtype, buffer.layout.elements), kWorkspaceAlignment);
      }
    }
  }

  std::optional<Refusal> plan_vector_accesses() {
    for (size_t i = 0; i < recipe_.vector_accesses.size(); ++i) {
      const LaunchRecipe::VectorAccess& access = recipe_.vector_accesses[i];
      NVF_RETURN_REFUSAL(find_split_vector(i));
      if (!access.is_buffer) {
        plan_.alignment_checks.push_back({access.position, access.bytes, i});
      } else if (plan_.buffers[access.position].source == BufferSource::Input) {
        plan_.alignment_checks.push_back({plan_.buffers[access.position].input, access.bytes, i});
      }
    }
    return std::nullopt;
  }

  /// Steps along every axis that is not part of the contiguous run must keep vectors aligned.
  std::optional<Refusal> find_split_vector(size_t i) {
    const LaunchRecipe::VectorAccess& access = recipe_.vector_accesses[i];
    const MemoryLayout& layout = access.is_buffer ? plan_.buffers[access.position].layout.memory
                                                  : bound_.layouts[access.position];
    const bool is_empty =
        std::find(layout.sizes.begin(), layout.sizes.end(), 0) != layout.sizes.end();
    for (size_t k = 0; k < layout.sizes.size() && !is_empty; ++k) {
      const bool is_in_run =
          std::find(access.run_dims.begin(), access.run_dims.end(), static_cast<int64_t>(k)) !=
          access.run_dims.end();
      if (is_in_run || layout.sizes[k] == 1 || layout.strides[k] % access.width == 0) {
        continue;
      }
      const VectorAccess& named = kernel().launch.vector_accesses.at(i);
      return refuse({
          .headline =
              {"Vectorization of ", named.tensor->to_string(), " with word size ", access.width,
               " not possible due to invalid stride."},
          .node = {describe(named.made_by), ", vectorized"},
          .expected = {"stride of allocation axis ", k, " divisible by ", access.width},
          .found = {"stride ", layout.strides[k], " (elements), axis of size ", layout.sizes[k]},
          .fix = {"vectorize with a smaller factor, or pass a tensor with other strides"},
      });
    }
    return std::nullopt;
  }

  /// Does the kernel compute fewer elements than it takes to wake a thread? Iterations that a split
  /// leaves over count for nothing: blocks without elements pass.
  bool is_small() {
    constexpr int64_t kWorthAThread = 32768; // elements; some ten microseconds
    const ScalarRegister& elements = registers_[recipe_.num_elements];
    return elements.status == ScalarStatus::Known && elements.word < kWorthAThread;
  }

  LaunchPlan& plan_;
  const CompiledKernel& code_;
  const LaunchRecipe& recipe_;
  BoundArguments& bound_;
  std::span<const Argument> args_;
  const LaunchParams& constraints_;
  ParameterWriter writer_;
  std::vector<ScalarRegister> registers_; // of the recipe's program
};

} // namespace

BoundArguments bind_to_fusion(
    const Fusion& fusion,
    const EqualDims& equal_dims,
    const LaunchWords& words,
    std::span<const Argument> args) {
  BoundArguments bound{.fusion = fusion, .equal_dims = equal_dims, .words = words, .args = args};
  bound.layouts = bind_arguments(fusion, args, equal_dims, bound.evaluator);
  return bound;
}

std::variant<LaunchPlan, Refusal> try_make_launch_plan(
    std::shared_ptr<const CompiledKernel> code,
    BoundArguments& bound,
    Device device,
    const LaunchParams& constraints) {
  LaunchPlan plan;
  plan.code = std::move(code);
  plan.device = device;
  if (std::optional<Refusal> refusal = Planner(plan, bound, constraints).run()) {
    return std::move(*refusal);
  }
  return plan;
}

} // namespace nvfuser

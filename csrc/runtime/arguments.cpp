#include "runtime/arguments.h"

#include <sstream>
#include <unordered_map>

#include "base/errors.h"
#include "base/value_or_throw.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "runtime/cuda_driver.h"
#include "runtime/paired_tensor.h"

namespace nvfuser {
namespace {

const TensorView* as_tensor(const Val* val) {
  return val->is_tensor() ? static_cast<const TensorView*>(val) : nullptr;
}

/// "Expected input 0, T0_g_float[iS0{i0}], "
std::string expected_input(size_t i, const Val* input) {
  return "Expected input " + std::to_string(i) + ", " + input->to_string() + ", ";
}

/// Does a number become `dtype` without changing its class, or an integer its value?
bool is_compatible(const ScalarArg& number, DataType dtype) {
  const ScalarValue& value = number.value;
  if (std::holds_alternative<bool>(value)) {
    return is_boolean(dtype);
  }
  if (std::holds_alternative<int64_t>(value)) {
    const DataType type = number.is_large_unsigned ? DataType::UInt64 : DataType::Int;
    return is_integral(dtype) && is_representable(value, type, dtype);
  }
  if (std::holds_alternative<double>(value)) {
    return is_floating_point(dtype);
  }
  return std::holds_alternative<std::complex<double>>(value) && is_complex(dtype);
}

/// Says no to the argument of an input. The headline is documented.
Refusal refuse_argument(
    size_t i, const Val* input, Part headline, Part expected, Part found, Part fix) {
  return refuse(
      {.headline = std::move(headline),
       .node = {"input ", i, ", ", describe(input)},
       .expected = std::move(expected),
       .found = std::move(found),
       .fix = std::move(fix)});
}

std::optional<Refusal> find_unfit_scalar(size_t i, const Val* input, const Argument& arg) {
  if (const auto* tensor = std::get_if<TensorArg>(&arg)) {
    return refuse_argument(
        i, input,
        {expected_input(i, input), "to be a scalar but got ", text(tensor->dtype),
         " tensor of rank ", tensor->rank},
        {"a number of dtype ", text(input->dtype())}, {"a tensor of rank ", tensor->rank},
        "pass arguments in the order of Fusion.inputs(), or the element itself: tensor.item()");
  }
  const auto& number = std::get<ScalarArg>(arg);
  if (!is_compatible(number, input->dtype())) {
    return refuse({
        .headline =
            {"Scalar value ", value_text(number),
             " is not compatible with the expected data type: ", text(input->dtype()), "."},
        .node = {"input ", i, ", ", describe(input)},
        .expected = {text(input->dtype())},
        .found = {value_text(number)},
        .fix = {"pass a Python number of the class and in the range of the input's dtype"},
    });
  }
  return std::nullopt;
}

std::optional<Refusal> find_unfit_tensor(size_t i, const TensorView* input, const Argument& arg) {
  const auto* tensor = std::get_if<TensorArg>(&arg);
  if (tensor == nullptr) {
    const std::string value = value_text(std::get<ScalarArg>(arg));
    return refuse_argument(
        i, input, {expected_input(i, input), "to be an at::Tensor but got scalar ", value},
        "a tensor", {"the number ", value},
        "pass arguments in the order of Fusion.inputs(), or define the input with define_scalar");
  }
  const auto rank = static_cast<int32_t>(logical_axes(input).size());
  if (tensor->rank != rank) {
    return refuse_argument(
        i, input,
        {expected_input(i, input), "to be bound to a tensor of rank ", rank,
         ", but got a tensor of rank ", tensor->rank},
        {rank, " dimensions"}, {tensor->rank, " dimensions"},
        "pass a tensor with a dimension for each of the definition's");
  }
  const DataType dtype = framework_dtype(input->dtype());
  if (tensor->dtype != dtype) {
    return refuse_argument(
        i, input,
        {expected_input(i, input), "to be bound to a tensor of dtype ", text(dtype),
         ", but got a tensor of dtype ", text(tensor->dtype)},
        text(dtype), text(tensor->dtype), "cast the tensor, or define the input with its dtype");
  }
  if (tensor->device.kind == DeviceKind::Other) {
    return refuse_argument(
        i, input,
        {"nvfuser only supports cuda or meta device, found: ", tensor->device.str(),
         " (CPU tensors are supported too)"},
        "a tensor on the CPU or on a CUDA device", tensor->device.str(),
        "move the tensor to one of them");
  }
  if (input->is_cpu_scalar() && !tensor->device.is_cpu()) {
    return refuse_argument(
        i, input,
        {expected_input(i, input),
         "to be bound to a CPU or meta scalar tensor, but got a tensor on device ",
         tensor->device.str()},
        "a tensor of one element on the CPU, as is_cpu=True says", tensor->device.str(),
        "pass tensor.cpu(), or define the input without is_cpu");
  }
  return std::nullopt;
}

/// Calls `fn(i, input, tensor)` for all tensors but CPU scalars.
template <typename Fn>
void for_each_device_tensor(const Fusion& fusion, std::span<const Argument> args, const Fn& fn) {
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    const TensorView* input = as_tensor(fusion.inputs()[i]);
    if (input != nullptr && !input->is_cpu_scalar()) {
      fn(i, input, std::get<TensorArg>(args[i]));
    }
  }
}

/// All tensors but CPU scalars lie on one device; the first of rank > 0, else the first, decides.
std::optional<Device> common_device(const Fusion& fusion, std::span<const Argument> args) {
  const TensorArg* leader = nullptr;
  for_each_device_tensor(fusion, args, [&](size_t, const TensorView*, const TensorArg& tensor) {
    if (leader == nullptr || (leader->rank == 0 && tensor.rank > 0)) {
      leader = &tensor;
    }
  });
  return leader == nullptr ? std::nullopt : std::optional(leader->device);
}

std::optional<Refusal> find_other_device(
    const Fusion& fusion, std::span<const Argument> args, Device device) {
  std::optional<Refusal> refusal;
  for_each_device_tensor(
      fusion, args, [&](size_t i, const TensorView* input, const TensorArg& tensor) {
        if (refusal || tensor.device == device) {
          return;
        }
        const bool wants_cuda = device.is_cuda() && tensor.device.is_cpu();
        refusal = refuse({
            .headline =
                {expected_input(i, input), "to be bound to a ",
                 wants_cuda ? "CUDA or meta tensor" : "tensor on device " + device.str(),
                 ", but got a tensor on device ", tensor.device.str()},
            .node = describe(input),
            .expected = {"all tensors on one device: ", device.str()},
            .found = {tensor.str()},
            .fix = {"move the tensor; a 0-dim host tensor beside device tensors is defined with "
                    "is_cpu=True"},
        });
      });
  return refusal;
}

/// Let sizes of an input's dimensions be the values of its extents, or say which one cannot be.
std::optional<Refusal> find_unfit_size(
    size_t i, const TensorView* input, const TensorArg& tensor, ExpressionEvaluator& evaluator) {
  const IterDomains axes = logical_axes(input);
  for (size_t dim = 0; dim < axes.size(); ++dim) {
    const int64_t size = tensor.sizes()[dim];
    const Val* extent = axes[dim]->maybe_expanded_extent();
    const std::optional<ScalarValue> known = evaluator.evaluate(extent);
    if (!known) {
      evaluator.bind(extent, size);
      continue;
    }
    if (as_int(*known) == size) {
      continue;
    }
    return refuse({
        .headline =
            {extent->is_const() ? "Tried to bind to a constant value: "
                                : "Tried to bind to a value: ",
             as_int(*known), " as ", size},
        .node = {"input ", i, ", dimension ", dim, " of ", describe(input)},
        .expected = {"size ", as_int(*known), ", the value of ", extent->to_inline_string()},
        .found = {"size ", size, " of ", tensor.str()},
        .fix = {"pass a tensor of that size, or define the dimension as -1"},
    });
  }
  return std::nullopt;
}

std::optional<Refusal> find_unequal_dims(
    const Fusion& fusion, std::span<const Argument> args, const EqualDims& equal_dims) {
  const auto size_of = [&](const InputDim& dim) {
    return std::get<TensorArg>(args[dim.input]).sizes()[dim.dim];
  };
  for (const std::vector<InputDim>& group : equal_dims) {
    for (const InputDim& other : group) {
      const InputDim& first = group.front();
      if (size_of(first) == size_of(other)) {
        continue;
      }
      return refuse({
          .headline =
              {"Tried to bind to a value: ", size_of(first), " as ", size_of(other),
               ": dimensions that are computed together differ in size"},
          .node =
              {"dimension ", first.dim, " of input ", first.input, ", ",
               describe(fusion.inputs()[first.input]), "; dimension ", other.dim, " of input ",
               other.input, ", ", describe(fusion.inputs()[other.input])},
          .expected = {"equal sizes; a dimension defined as -1 is not broadcast"},
          .found = {size_of(first), " and ", size_of(other)},
          .fix = {"pass equal sizes, or define the dimension of size 1 as 1"},
      });
    }
  }
  return std::nullopt;
}

} // namespace

std::string value_text(const ScalarArg& arg) {
  if (arg.is_large_unsigned) {
    return std::to_string(static_cast<uint64_t>(as_int(arg.value)));
  }
  std::ostringstream out;
  out << std::boolalpha;
  std::visit(
      [&](const auto& number) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(number)>, std::monostate>) {
          out << number;
        }
      },
      arg.value);
  return out.str();
}

std::string arguments_text(std::span<const Argument> args) {
  std::string out;
  for (const Argument& arg : args) {
    const auto* tensor = std::get_if<TensorArg>(&arg);
    out += "  " + (tensor != nullptr ? tensor->str() : value_text(std::get<ScalarArg>(arg)));
    out += '\n';
  }
  return out;
}

EqualDims equal_input_dims(Fusion& fusion) {
  IdModel model(&fusion);
  const ValGraph& exact = model.maybe_build_graph(IdMappingMode::exact);
  EqualDims groups;
  std::unordered_map<int64_t, size_t> place_of; // by group of axes
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    const TensorView* input = as_tensor(fusion.inputs()[i]);
    const IterDomains axes = input != nullptr ? logical_axes(input) : IterDomains{};
    for (size_t dim = 0; dim < axes.size(); ++dim) {
      if (axes[dim]->is_broadcast() || axes[dim]->is_symbolic_axis()) {
        continue; // size 1 by definition, or not decided yet
      }
      const auto [place, is_new] = place_of.emplace(exact.group(axes[dim]), groups.size());
      if (is_new) {
        groups.emplace_back();
      }
      groups[place->second].push_back({i, dim});
    }
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return groups;
}

Device default_device() {
  return CudaDriver::maybe_get() != nullptr ? Device::cuda(0) : Device::cpu();
}

std::optional<Refusal> find_unfit_argument(const Fusion& fusion, std::span<const Argument> args) {
  const std::vector<Val*>& inputs = fusion.inputs();
  if (args.size() != inputs.size()) {
    return refuse({
        .headline =
            {args.size() < inputs.size()
                 ? "KernelArgumentHolder contains less argument than kernel's input."
                 : "KernelArgumentHolder contains more arguments than kernel's inputs."},
        .node = Part::none(),
        .expected = {inputs.size(), " inputs"},
        .found = {args.size(), " arguments"},
        .fix = {"pass one argument per input, in the order of Fusion.inputs()"},
    });
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView* tensor = as_tensor(inputs[i]);
    NVF_RETURN_REFUSAL(
        tensor != nullptr ? find_unfit_tensor(i, tensor, args[i])
                          : find_unfit_scalar(i, inputs[i], args[i]));
  }
  const std::optional<Device> device = common_device(fusion, args);
  return device ? find_other_device(fusion, args, *device) : std::nullopt;
}

Device device_of_run(
    const Fusion& fusion, std::span<const Argument> args, std::optional<Device> wanted) {
  if (const std::optional<Device> device = common_device(fusion, args)) {
    return *device;
  }
  return wanted ? *wanted : default_device();
}

Device check_arguments(
    const Fusion& fusion, std::span<const Argument> args, std::optional<Device> wanted) {
  check(find_unfit_argument(fusion, args));
  return device_of_run(fusion, args, wanted);
}

std::variant<MemoryLayout, Refusal> try_bind_memory(
    size_t i, const TensorView* tensor, const TensorArg& arg, ExpressionEvaluator& evaluator) {
  const IterDomains axes = logical_axes(tensor);
  for (size_t dim = 0; dim < axes.size(); ++dim) {
    const int64_t stride = arg.strides()[dim];
    if (stride < 0) {
      return refuse_argument(
          i, tensor,
          {"negative stride on tensor is not supported: strides[", dim, "]=", stride, " (",
           expected_input(i, tensor), "made contiguous first)"},
          "strides of at least 0", {"stride ", stride}, "pass tensor.contiguous()");
    }
    const bool is_expanded = axes[dim]->is_broadcast() && axes[dim]->has_expanded_extent();
    if (is_expanded && stride != 0 && arg.sizes()[dim] > 1) {
      return refuse_argument(
          i, tensor,
          {expected_input(i, tensor), "dimension ", dim,
           " should be an expanded broadcasting, but it does not have stride zero:"
           " its stride is ",
           stride},
          "stride 0", {"stride ", stride},
          "pass tensor.expand(..) of one element, or define the dimension without an expansion");
    }
  }

  MemoryLayout layout = layout_of_existing(tensor, arg.sizes(), arg.strides(), evaluator);
  const IterDomains& allocation = tensor->maybe_allocation();
  const Contiguity& flags = tensor->domain()->contiguity();
  const bool is_empty = arg.is_empty();
  const IterDomains memory = memory_axes(tensor);
  int64_t run = 1; // the stride a contiguous axis has here
  size_t position = allocation.size();
  for (size_t k = memory.size(); k-- > 0;) {
    do {
      --position;
    } while (allocation[position] != memory[k]);
    int64_t& stride = layout.strides[k];
    if (memory[k]->is_broadcast()) {
      continue;
    }
    if (layout.sizes[k] == 1 || is_empty) {
      stride = run; // never stepped along
    } else if (flags[position].value_or(false) && stride != run) {
      return refuse({
          .headline =
              {expected_input(i, tensor), "to have contiguous dimension ", k,
               " (in allocation order), but its stride is ", stride},
          .node = describe(tensor),
          .expected = {"stride ", run, " (elements), as contiguity=True says"},
          .found = {"stride ", stride, " of ", arg.str()},
          .fix = {"pass a contiguous tensor, or define the input with contiguity=False there"},
      });
    }
    run = stride * layout.sizes[k];
  }
  return layout;
}

MemoryLayout bind_memory(
    size_t i, const TensorView* tensor, const TensorArg& arg, ExpressionEvaluator& evaluator) {
  return value_or_throw(try_bind_memory(i, tensor, arg, evaluator));
}

std::variant<std::vector<MemoryLayout>, Refusal> try_bind_arguments(
    const Fusion& fusion,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    ExpressionEvaluator& evaluator) {
  const std::vector<Val*>& inputs = fusion.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (as_tensor(inputs[i]) == nullptr) {
      evaluator.bind(inputs[i], std::get<ScalarArg>(args[i]).value);
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (const TensorView* tensor = as_tensor(inputs[i])) {
      if (auto refusal = find_unfit_size(i, tensor, std::get<TensorArg>(args[i]), evaluator)) {
        return *std::move(refusal);
      }
    }
  }
  if (auto refusal = find_unequal_dims(fusion, args, equal_dims)) {
    return *std::move(refusal);
  }
  std::vector<MemoryLayout> layouts(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (const TensorView* tensor = as_tensor(inputs[i])) {
      auto layout = try_bind_memory(i, tensor, std::get<TensorArg>(args[i]), evaluator);
      if (auto* refusal = std::get_if<Refusal>(&layout)) {
        return std::move(*refusal);
      }
      layouts[i] = std::get<MemoryLayout>(std::move(layout));
    }
  }
  return layouts;
}

std::vector<MemoryLayout> bind_arguments(
    const Fusion& fusion,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    ExpressionEvaluator& evaluator) {
  return value_or_throw(try_bind_arguments(fusion, args, equal_dims, evaluator));
}

} // namespace nvfuser

// The fields of a recipe are listed once, for both directions.
#include "runtime/launch_recipe_bytes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>

namespace nvfuser {
namespace {

/// How many members an enumeration has that a recipe holds.
template <typename Enum>
constexpr size_t kNumMembers = 3;
template <>
constexpr size_t kNumMembers<DataType> = std::size(kDataTypeNames);
static_assert(static_cast<size_t>(BufferSource::Workspace) + 1 == kNumMembers<BufferSource>);
static_assert(
    static_cast<size_t>(PlannedOutput::Source::Output) + 1 == kNumMembers<PlannedOutput::Source>);
static_assert(
    static_cast<size_t>(LaunchRecipe::Parameter::Kind::HostElement) + 1 ==
    kNumMembers<LaunchRecipe::Parameter::Kind>);
static_assert(
    static_cast<size_t>(LayoutRecipe::Step::Kind::Unfit) + 1 ==
    kNumMembers<LayoutRecipe::Step::Kind>);

struct Writer {
  ByteWriter& bytes;

  template <typename T>
  void operator()(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
      bytes.byte(static_cast<uint8_t>(value));
    } else if constexpr (std::is_signed_v<T>) {
      bytes.signed_number(value);
    } else {
      bytes.number(value);
    }
  }
  template <typename T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) {
      (*this)(*value);
    }
  }
  template <typename T, typename Fn>
  void list(const std::vector<T>& values, const Fn& fn) {
    bytes.number(values.size());
    for (const T& value : values) {
      fn(*this, value);
    }
  }
  void program(const ScalarProgram& program) {
    program.write(bytes);
  }
};

struct Reader {
  ByteReader& bytes;

  template <typename T>
  void operator()(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(bytes.number_below(kNumMembers<T>, "enumerator"));
    } else if constexpr (std::is_same_v<T, bool>) {
      value = bytes.number_below(2, "truth value") != 0;
    } else if constexpr (std::is_signed_v<T>) {
      value = bytes.signed_number();
    } else {
      value = static_cast<T>(
          bytes.number_below(uint64_t{std::numeric_limits<uint32_t>::max()} + 1, "position"));
    }
  }
  template <typename T>
  void operator()(std::optional<T>& value) {
    bool has_value = false;
    (*this)(has_value);
    if (has_value) {
      (*this)(value.emplace());
    }
  }
  template <typename T, typename Fn>
  void list(std::vector<T>& values, const Fn& fn) {
    for (size_t i = bytes.count(); i > 0 && bytes.is_good(); --i) {
      fn(*this, values.emplace_back());
    }
  }
  void program(ScalarProgram& program) {
    program = ScalarProgram::read(bytes);
  }
};

constexpr auto kItself = [](auto& io, auto& value) { io(value); };

template <typename Io, typename Layout>
void fields_of_layout(Io& io, Layout& layout) {
  io(layout.num_axes);
  io.list(layout.dims, [](auto& each, auto& dim) {
    each(dim.axis);
    each(dim.size);
    each(dim.is_expanded);
    each(dim.is_device_dim);
  });
  io.list(layout.memory, [](auto& each, auto& axis) {
    each(axis.axis);
    each(axis.size);
    each(axis.is_expanded);
  });
  io.list(layout.inner, [](auto& each, auto& axis) {
    each(axis.axis);
    each(axis.extent);
  });
  io.list(layout.steps, [](auto& each, auto& step) {
    each(step.kind);
    each(step.is_broadcast);
    for (auto& axis : step.axes) {
      each(axis);
    }
  });
}

template <typename Io, typename Buffer>
void fields_of_buffer(Io& io, Buffer& buffer) {
  io(buffer.source);
  io(buffer.dtype);
  io(buffer.zero_init);
  io(buffer.output);
  io(buffer.input);
  io.list(buffer.sizes, kItself);
  fields_of_layout(io, buffer.layout);
}

template <typename Io, typename Recipe>
void fields_of_recipe(Io& io, Recipe& recipe) {
  io.program(recipe.program);
  io.list(recipe.conditions, kItself);
  for (auto& extent : recipe.extents) {
    io(extent);
  }
  io(recipe.shared_bytes);
  io(recipe.num_elements);
  io(recipe.is_cooperative);
  io(recipe.waits_for_prior_grid);
  io(recipe.cluster_size);
  for (auto& positions : recipe.loading_positions) {
    io(positions);
  }
  io(recipe.random_streams);
  io.list(recipe.inputs, [](auto& each, auto& input) {
    each(input.kind);
    each(input.dtype);
  });
  io.list(recipe.buffers, [](auto& each, auto& buffer) { fields_of_buffer(each, buffer); });
  io.list(recipe.outputs, [](auto& each, auto& output) {
    each(output.source);
    each(output.index);
  });
  io.list(recipe.vector_accesses, [](auto& each, auto& access) {
    each(access.is_buffer);
    each(access.position);
    each(access.width);
    each(access.bytes);
    each.list(access.run_dims, kItself);
  });
  io.list(recipe.tensor_maps, [](auto& each, auto& map) {
    each(map.is_buffer);
    each(map.position);
    each(map.element_bytes);
    each(map.swizzle_bytes);
    each.list(map.dims, [](auto& of_dim, auto& dim) {
      of_dim(dim.extent);
      of_dim(dim.stride);
      of_dim(dim.box);
      of_dim(dim.step);
    });
  });
}

/// Whether every position in a recipe is one that a launch of `fusion` has.
class Checker {
 public:
  Checker(const LaunchRecipe& recipe, const Fusion& fusion, const LaunchWords& words)
      : recipe_(recipe), fusion_(fusion), words_(words) {}

  [[nodiscard]] bool is_good() const {
    const auto is_register = [this](auto number) { return this->is_register(number); };
    return recipe_.program.num_inputs() == words_.count() &&
           std::ranges::all_of(recipe_.conditions, is_register) &&
           std::ranges::all_of(
               recipe_.extents,
               [&](const auto& extent) { return !extent || is_register(*extent); }) &&
           (!recipe_.shared_bytes || is_register(*recipe_.shared_bytes)) &&
           is_register(recipe_.num_elements) && recipe_.random_streams >= 0 &&
           recipe_.cluster_size >= 1 && has_inputs() &&
           std::ranges::all_of(
               recipe_.loading_positions, [](int64_t positions) { return positions >= 0; }) &&
           std::ranges::all_of(recipe_.buffers, [&](const auto& buffer) { return fits(buffer); }) &&
           has_outputs() &&
           std::ranges::all_of(
               recipe_.vector_accesses, [&](const auto& access) { return fits(access); }) &&
           std::ranges::all_of(recipe_.tensor_maps, [&](const auto& map) { return fits(map); });
  }

 private:
  using Kind = LaunchRecipe::Parameter::Kind;

  [[nodiscard]] bool is_register(LaunchRecipe::Register number) const {
    return number < recipe_.program.num_registers();
  }

  [[nodiscard]] bool has_inputs() const {
    return std::ranges::equal(
        recipe_.inputs, fusion_.inputs(), [](const auto& parameter, const Val* input) {
          const bool is_host =
              input->is_tensor() && static_cast<const TensorView*>(input)->is_cpu_scalar();
          const Kind kind = is_host              ? Kind::HostElement
                            : input->is_tensor() ? Kind::Tensor
                                                 : Kind::Number;
          return parameter.kind == kind && parameter.dtype == input->dtype();
        });
  }
  [[nodiscard]] bool is_tensor_input(size_t input) const {
    return input < recipe_.inputs.size() && recipe_.inputs[input].kind == Kind::Tensor;
  }

  [[nodiscard]] bool fits(const LaunchRecipe::Buffer& buffer) const {
    const bool is_output = buffer.source != BufferSource::Workspace;
    if (is_output && (buffer.output >= fusion_.outputs().size() ||
                      fusion_.outputs()[buffer.output]->dtype() != buffer.dtype)) {
      return false;
    }
    if (buffer.source != BufferSource::Input) {
      return fits(buffer.layout);
    }
    const Val* output = fusion_.outputs()[buffer.output];
    return is_tensor_input(buffer.input) && output->is_tensor() &&
           rank_of(fusion_.inputs()[buffer.input]) == buffer.sizes.size() &&
           rank_of(output) == buffer.sizes.size() &&
           std::ranges::all_of(buffer.sizes, [this](auto number) { return is_register(number); });
  }
  [[nodiscard]] static size_t rank_of(const Val* tensor) {
    return logical_axes(static_cast<const TensorView*>(tensor)).size();
  }

  [[nodiscard]] bool fits(const LayoutRecipe& layout) const {
    const auto is_axis = [&](uint32_t axis) { return axis < layout.num_axes; };
    const size_t num_named =
        layout.dims.size() + layout.memory.size() + layout.inner.size() +
        std::tuple_size_v<decltype(LayoutRecipe::Step::axes)> * layout.steps.size();
    return layout.num_axes <= num_named &&
           std::ranges::all_of(
               layout.sizes_read(), [this](auto number) { return is_register(number); }) &&
           std::ranges::all_of(layout.dims, is_axis, &LayoutRecipe::Dim::axis) &&
           std::ranges::all_of(layout.memory, is_axis, &LayoutRecipe::MemoryAxis::axis) &&
           std::ranges::all_of(layout.inner, is_axis, &LayoutRecipe::InnerAxis::axis) &&
           std::ranges::all_of(layout.steps, [&](const LayoutRecipe::Step& step) {
             return step.kind == LayoutRecipe::Step::Kind::Unfit ||
                    std::ranges::all_of(step.axes, is_axis);
           });
  }

  [[nodiscard]] bool has_outputs() const {
    using Source = PlannedOutput::Source;
    for (size_t i = 0; i < recipe_.outputs.size(); ++i) {
      const PlannedOutput& output = recipe_.outputs[i];
      const bool is_there = output.source == Source::Input ? output.index < recipe_.inputs.size()
                            : output.source == Source::Output
                                ? output.index < i
                                : output.index < recipe_.buffers.size();
      if (!is_there) {
        return false;
      }
    }
    return recipe_.outputs.size() <= fusion_.outputs().size();
  }

  [[nodiscard]] bool fits(const LaunchRecipe::VectorAccess& access) const {
    return access.width > 0 && access.bytes > 0 &&
           (access.is_buffer ? access.position < recipe_.buffers.size()
                             : is_tensor_input(access.position));
  }

  [[nodiscard]] bool fits(const LaunchRecipe::TensorMap& map) const {
    constexpr size_t kMostDims = 5;
    return !map.dims.empty() && map.dims.size() <= kMostDims &&
           (map.is_buffer ? map.position < recipe_.buffers.size()
                          : is_tensor_input(map.position)) &&
           std::ranges::all_of(map.dims, [this](const LaunchRecipe::TensorMap::Dim& dim) {
             return is_register(dim.extent) && is_register(dim.stride) && dim.box > 0 &&
                    dim.step > 0;
           });
  }

  const LaunchRecipe& recipe_;
  const Fusion& fusion_;
  const LaunchWords& words_;
};

} // namespace

void write_recipe(ByteWriter& bytes, const LaunchRecipe& recipe) {
  Writer writer{bytes};
  fields_of_recipe(writer, recipe);
}

LaunchRecipe read_recipe(ByteReader& bytes, const Fusion& fusion, const LaunchWords& words) {
  LaunchRecipe recipe;
  Reader reader{bytes};
  fields_of_recipe(reader, recipe);
  if (bytes.is_good() && !Checker(recipe, fusion, words).is_good()) {
    bytes.fail("a position that the fusion does not have");
  }
  return bytes.is_good() ? recipe : LaunchRecipe();
}

} // namespace nvfuser

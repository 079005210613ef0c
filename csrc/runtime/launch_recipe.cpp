#include "runtime/launch_recipe.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/errors.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/loading_threads.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {
namespace {

uint32_t position_in(const std::vector<Val*>& vals, const Val* val) {
  const auto found = std::find(vals.begin(), vals.end(), val);
  NVF_INVARIANT(found != vals.end(), "inputs and outputs stay in the kernel: ", val->to_string());
  return static_cast<uint32_t>(found - vals.begin());
}

class RecipeMaker {
 public:
  RecipeMaker(const Kernel& kernel, const LaunchWords& words)
      : kernel_(kernel), launch_(kernel.launch), builder_(words.builder(kernel)) {}

  LaunchRecipe make() {
    for (const LaunchCondition& condition : launch_.conditions) {
      recipe_.conditions.push_back(builder_.add(condition.holds));
    }
    for (const ParallelType type : kHardwareTypes) {
      if (const Val* extent = launch_.extents[type]) {
        recipe_.extents.at(hardware_type_index(type)) = builder_.add(extent);
      }
    }
    if (launch_.shared_bytes != nullptr) {
      recipe_.shared_bytes = builder_.add(launch_.shared_bytes);
    }
    recipe_.num_elements = builder_.add(launch_.num_elements);
    recipe_.is_cooperative = launch_.is_cooperative;
    recipe_.waits_for_prior_grid = launch_.waits_for_prior_grid;
    recipe_.cluster_size = cluster_size(kernel_);
    for (const int64_t dim : {0, 1, 2}) {
      recipe_.loading_positions.at(static_cast<size_t>(dim)) = loading_positions(kernel_, dim);
    }
    recipe_.random_streams = launch_.random_streams;
    add_inputs();
    for (const GlobalBuffer& buffer : launch_.buffers) {
      buffer_of_.emplace(buffer.tensor, static_cast<uint32_t>(recipe_.buffers.size()));
      recipe_.buffers.push_back(recipe_of(buffer));
    }
    add_outputs();
    add_vector_accesses();
    add_tensor_maps();
    recipe_.program = std::move(builder_).build();
    return std::move(recipe_);
  }

 private:
  using Parameter = LaunchRecipe::Parameter;

  void add_inputs() {
    for (const Val* input : kernel_.inputs()) {
      Parameter parameter{.kind = Parameter::Kind::Number, .dtype = input->dtype()};
      if (input->is_tensor()) {
        const bool is_host = static_cast<const TensorView*>(input)->is_cpu_scalar();
        parameter.kind = is_host ? Parameter::Kind::HostElement : Parameter::Kind::Tensor;
      }
      recipe_.inputs.push_back(parameter);
    }
  }

  LaunchRecipe::Buffer recipe_of(const GlobalBuffer& buffer) {
    LaunchRecipe::Buffer recipe;
    recipe.dtype = buffer.tensor->dtype();
    recipe.zero_init = buffer.zero_init;
    if (const AliasInfo* alias = kernel_.alias_of(buffer.tensor)) {
      recipe.source = BufferSource::Input;
      recipe.input = position_in(kernel_.inputs(), alias->input);
      recipe.output = position_in(kernel_.outputs(), buffer.tensor);
      for (const IterDomain* id : logical_axes(buffer.tensor)) {
        recipe.sizes.push_back(builder_.add(id->maybe_expanded_extent()));
      }
      return recipe;
    }
    recipe.source = buffer.is_output ? BufferSource::NewTensor : BufferSource::Workspace;
    if (buffer.is_output) {
      recipe.output = position_in(kernel_.outputs(), buffer.tensor);
    }
    recipe.layout =
        layout_recipe(buffer.tensor, [&](const Val* size) { return builder_.add(size); });
    return recipe;
  }

  void add_outputs() {
    std::unordered_map<const Val*, size_t> seen; // only looked up
    for (const Val* output : kernel_.outputs()) {
      const AliasInfo* alias = kernel_.alias_of(output);
      if (alias != nullptr && alias->is_hidden) {
        continue;
      }
      using Source = PlannedOutput::Source;
      const auto [earlier, is_new] = seen.emplace(output, recipe_.outputs.size());
      PlannedOutput planned{Source::Output, earlier->second};
      if (alias != nullptr) {
        planned = {Source::Input, position_in(kernel_.inputs(), alias->input)};
      } else if (output->is_fusion_input()) {
        planned = {Source::Input, position_in(kernel_.inputs(), output)};
      } else if (is_new) {
        planned = {Source::Buffer, buffer_of_.at(output)};
      }
      recipe_.outputs.push_back(planned);
    }
  }

  void add_vector_accesses() {
    for (const VectorAccess& access : launch_.vector_accesses) {
      const auto buffer = buffer_of_.find(access.tensor);
      const bool is_buffer = buffer != buffer_of_.end();
      recipe_.vector_accesses.push_back(
          {.is_buffer = is_buffer,
           .position = is_buffer ? buffer->second : position_in(kernel_.inputs(), access.tensor),
           .width = access.width,
           .bytes = storage_bytes(access.tensor->dtype(), access.width),
           .run_dims = access.run_dims});
    }
  }

  void add_tensor_maps() {
    for (const BoxedTensor& boxed : boxed_tensors(kernel_)) {
      const auto buffer = buffer_of_.find(boxed.tensor);
      const bool is_buffer = buffer != buffer_of_.end();
      LaunchRecipe::TensorMap map{
          .is_buffer = is_buffer,
          .position = is_buffer ? buffer->second : position_in(kernel_.inputs(), boxed.tensor),
          .element_bytes = size_bytes(boxed.tensor->dtype()),
          .swizzle_bytes = boxed.swizzle_bytes,
          .dims = {}};
      for (size_t i = 0; i < boxed.box.size(); ++i) {
        map.dims.push_back(
            {builder_.add(boxed.extents[i]), builder_.add(boxed.strides[i]), boxed.box[i],
             boxed.steps[i]});
      }
      recipe_.tensor_maps.push_back(std::move(map));
    }
  }

  const Kernel& kernel_;
  const LaunchFacts& launch_;
  ScalarProgramBuilder builder_;
  LaunchRecipe recipe_;
  std::unordered_map<const Val*, uint32_t> buffer_of_; // only looked up
};

} // namespace

LaunchRecipe make_launch_recipe(const Kernel& kernel, const LaunchWords& words) {
  return RecipeMaker(kernel, words).make();
}

} // namespace nvfuser

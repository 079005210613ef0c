// LaunchRecipe: what the host does for a launch, apart from the kernel. It is numbers and one
// scalar program over launch words (runtime/launch_words.h), so that it can lie on disk beside the
// machine code: a process that finds both launches without lowering.
//
// It has no names. Where a launch is refused, the error is made with the kernel
// (CompiledKernel::kernel), which is lowered then if it was not before.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "eval/scalar_program.h"
#include "lower/kernel.h"
#include "runtime/buffer_layout.h"
#include "runtime/launch_words.h"

namespace nvfuser {

/// The tensor that the caller gets as output i.
struct PlannedOutput {
  enum class Source : uint8_t { Buffer, Input, Output };
  Source source = Source::Buffer;
  size_t index = 0; // of the buffer; of the argument that is returned; of the equal earlier output
};

/// Where the memory of a tensor comes from that the host provides beside the arguments.
enum class BufferSource : uint8_t { NewTensor, Input, Workspace };

struct LaunchRecipe {
  using Register = ScalarProgram::Register;

  /// A parameter that an argument fills.
  struct Parameter {
    enum class Kind : uint8_t { Tensor, Number, HostElement };
    Kind kind = Kind::Tensor;
    DataType dtype = DataType::Float;
  };
  /// A parameter for a tensor that the host provides.
  struct Buffer {
    BufferSource source = BufferSource::NewTensor;
    DataType dtype = DataType::Float;
    bool zero_init = false;
    uint32_t output = 0;         // among the outputs of the fusion, but for Workspace
    uint32_t input = 0;          // whose memory it is, of Input
    std::vector<Register> sizes; // that the input must have, of Input
    LayoutRecipe layout;         // of all others; its sizes are registers
  };
  /// A vector access that strides and pointers must allow, in the order of
  /// LaunchFacts::vector_accesses.
  struct VectorAccess {
    bool is_buffer = false; // or an input
    uint32_t position = 0;  // of the buffer, of the input
    int64_t width = 1;      // elements
    int64_t bytes = 1;
    std::vector<int64_t> run_dims; // as in nvfuser::VectorAccess
  };

  /// A tensor as bulk copies see it: a parameter behind the buffers. Innermost axes first.
  struct TensorMap {
    struct Dim {
      Register extent = 0;
      Register stride = 0; // elements
      int64_t box = 1;
      int64_t step = 1; // as in lower/analysis/tensor_maps.h
    };
    bool is_buffer = false; // or an input
    uint32_t position = 0;  // of the buffer, of the input
    int64_t element_bytes = 1;
    int64_t swizzle_bytes = 0;
    std::vector<Dim> dims;
  };

  /// Computes the registers that all else refers to, from launch words.
  ScalarProgram program;
  std::vector<Register> conditions; // in the order of LaunchFacts::conditions
  /// Sizes of grid and block, in the order of kHardwareTypes; none: 1.
  std::array<std::optional<Register>, 6> extents{};
  std::optional<Register> shared_bytes;
  Register num_elements = 0; // of all tensors of the kernel
  bool is_cooperative = false;
  bool waits_for_prior_grid = false;
  int64_t cluster_size = 1; // blocks, along x
  /// Threads that only load: positions along x, y or z in front of those that `extents` counts.
  std::array<int64_t, 3> loading_positions{};
  int64_t random_streams = 0; // as in LaunchFacts
  std::vector<Parameter> inputs;
  std::vector<Buffer> buffers; // parameters after the inputs
  std::vector<PlannedOutput> outputs;
  std::vector<VectorAccess> vector_accesses;
  std::vector<TensorMap> tensor_maps; // as lower/analysis/bulk_copies.h: boxed_tensors
};

/// The recipe of launches of `kernel`, which was lowered to its end. `words` are those of its
/// fusion.
[[nodiscard]] LaunchRecipe make_launch_recipe(const Kernel& kernel, const LaunchWords& words);

} // namespace nvfuser

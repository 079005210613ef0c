// LaunchPlan: everything about a run that follows from the shapes of its arguments. It is made once
// per signature; a run then fills in pointers and scalars, makes the outputs, and launches.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/launch_params.h"
#include "runtime/arguments.h"
#include "runtime/buffer_layout.h"
#include "runtime/compiled_kernel.h"
#include "runtime/dlpack_tensor.h"
#include "runtime/launch_recipe.h"
#include "runtime/launch_words.h"
#include "runtime/tensor_map.h"

namespace nvfuser {

/// A run writes into its parameters the address of an argument's elements,
struct PointerPatch {
  size_t arg = 0;
};
/// an argument that is a number, as `dtype`,
struct NumberPatch {
  size_t arg = 0;
  DataType dtype = DataType::Float;
};
/// or the one element of an argument in the host's memory.
struct HostElementPatch {
  size_t arg = 0;
  DataType dtype = DataType::Float;
};

/// A place in the parameter bytes that the arguments of a run fill, and with what.
struct ParameterPatch {
  size_t offset = 0;
  std::variant<PointerPatch, NumberPatch, HostElementPatch> value;
};

/// A tensor the host provides beside the arguments.
struct PlannedBuffer {
  using Source = BufferSource;
  Source source = Source::NewTensor;
  size_t input = 0;                 // of Input
  int64_t byte_offset = 0;          // of Workspace; among the counters, if it starts with zeros
  bool zero_init = false;           // of NewTensor and Workspace
  DataType dtype = DataType::Float; // of the framework's tensor, for NewTensor
  BufferLayout layout;              // in units of `dtype`, but for the memory axes
  size_t offset = 0;                // of its pointer in the parameter bytes
};

/// A parameter that describes a tensor to bulk copies.
struct PlannedTensorMap {
  CUtensorMap map;          // without the address
  size_t offset = 0;        // in the parameter bytes
  size_t tensor_offset = 0; // of the parameter that has the tensor's address
};

/// A pointer that has to be a multiple of `bytes`.
struct AlignmentCheck {
  size_t arg = 0;
  int64_t bytes = 0;
  size_t access = 0; // which of the kernel's vector accesses needs it, for the error
};

class LaunchGraphs;

struct LaunchPlan {
  std::shared_ptr<const CompiledKernel> code;
  Device device;
  LaunchParams launch;
  bool is_empty = false; // every output is empty: nothing is launched
  bool is_cooperative = false;
  bool waits_for_prior_grid = false; // may begin while the grid before it in the stream runs
  bool is_small = false;             // on the CPU target: not worth waking other threads
  CUfunction function = nullptr;     // on the CUDA target
  /// Not 0: blocks of this size need the kernel compiled with at most so many registers.
  int64_t register_limit = 0;

  std::vector<std::byte> parameters;     // sizes and strides filled in
  std::vector<size_t> parameter_offsets; // where each kernel parameter starts
  std::vector<ParameterPatch> patches;
  std::vector<PlannedBuffer> buffers;
  std::vector<PlannedOutput> outputs; // the visible ones
  std::vector<AlignmentCheck> alignment_checks;
  std::vector<PlannedTensorMap> tensor_maps;
  size_t random_seed = 0;             // where the seed goes in the parameter bytes, and the offset
  std::vector<size_t> random_offsets; // of each random tensor; empty: there are none without seed
  int64_t workspace_bytes = 0;
  int64_t counter_bytes = 0;    // of workspaces that start with zeros (runtime/counters.h)
  bool dumps_arguments = false; // NVFUSER_DUMP=kernel_args when the plan was made
  /// The kernel alone as graphs; nullptr: it is launched.
  std::shared_ptr<LaunchGraphs> graphs;
};

/// Arguments of a run, and what binding them to the inputs of the fusion found out.
struct BoundArguments {
  const Fusion& fusion; // scheduled
  const EqualDims& equal_dims;
  const LaunchWords& words;
  std::span<const Argument> args;      // they count elements (UnpairedArguments)
  ExpressionEvaluator evaluator{};     // knows scalars and sizes
  std::vector<MemoryLayout> layouts{}; // by input
};
/// Check sizes and strides. Throws UserError where they do not fit. Requires: check_arguments.
[[nodiscard]] BoundArguments bind_to_fusion(
    const Fusion& fusion,
    const EqualDims& equal_dims,
    const LaunchWords& words,
    std::span<const Argument> args);

/// Plan runs with arguments like those; or why the kernel cannot be launched with them. Throws
/// UserError for arguments that do not fit its inputs, or each other.
/// Requires: `code` was compiled for `device`'s target, with an index type that is wide enough.
[[nodiscard]] std::variant<LaunchPlan, Refusal> try_make_launch_plan(
    std::shared_ptr<const CompiledKernel> code,
    BoundArguments& bound,
    Device device,
    const LaunchParams& constraints);

} // namespace nvfuser

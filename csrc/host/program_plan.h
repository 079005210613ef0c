// ProgramPlan: everything about a run of a program that follows from the shapes of its arguments:
// the launch plans of its kernels, the shape of every slot, and whose memory each slot sees. It is
// made once per signature; a run then allocates, fills in addresses and enqueues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "host/steps.h"
#include "runtime/kernel_refusal.h"
#include "runtime/launch_plan.h"

namespace nvfuser::host {

inline constexpr Slot kNoSlot = -1;

/// Where the memory of a slot comes from.
enum class SlotMemory : uint8_t {
  None,      // a number, or a slot that no step has set
  Argument,  // the caller's
  Workspace, // one piece for all tensors that live only between steps
  NewTensor, // the caller's framework allocates it: an output, or what an output sees
  Evaluated, // an evaluation makes it
};

/// "workspace"
[[nodiscard]] const char* to_string(SlotMemory memory);

struct SlotPlan {
  SlotMemory memory = SlotMemory::None; // of its owner
  /// The slot whose memory this one sees, from `byte_offset` on; itself, if the memory is its own.
  Slot owner = kNoSlot;
  int64_t byte_offset = 0;
  /// The slot that holds the very same tensor: an input that a kernel updates and returns; itself,
  /// if there is none.
  Slot same_as = kNoSlot;

  DataType dtype = DataType::Null; // of the framework's tensor
  Device device;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; // elements
  /// Does a step or another slot need to know its shape? That of an evaluated tensor is only known
  /// then.
  bool has_shape = false;

  // -- of owners --
  int64_t elements = 0; // of the storage
  int64_t bytes = 0;
  bool is_row_major = true;
  int64_t workspace_offset = 0; // of those in the workspace
  /// A new tensor that the caller gets as it is: nothing else that outlives a run sees it.
  bool is_handed_over = false;
};

/// All that differs between two runs of a kernel: addresses among the parameters of a program.
struct LaunchAddresses {
  struct OfSlot {
    size_t offset = 0;
    Slot slot = kNoSlot;
  };
  struct OfWorkspace {
    size_t offset = 0;
    int64_t byte_offset = 0;
    bool is_counter = false;
  };
  struct Alignment {
    Slot slot = kNoSlot;
    int64_t bytes = 0; // its address has to be a multiple of
  };
  std::vector<OfSlot> slots;
  std::vector<OfWorkspace> workspaces;
  std::vector<Alignment> alignments;
};

/// A kernel of the chain. Its parameters are a part of the program's block.
struct PlannedLaunch {
  std::shared_ptr<KernelProgram> kernel;
  std::shared_ptr<const LaunchPlan> plan;
  std::vector<Slot> inputs;
  std::vector<Slot> tensors; // by buffer of the plan; kNoSlot for those that are not new
  std::vector<int64_t> random_numbers;
  size_t first_parameter = 0; // in ProgramPlan::parameters
  size_t first_address = 0;   // in ProgramPlan::parameter_offsets
  /// No value: more than addresses differs from run to run, or has to be checked.
  std::optional<LaunchAddresses> addresses{};
};

struct PlannedEvaluation {
  EvaluatedFusion evaluated;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs; // by output of the fusion; kNoSlot where none is new
  KernelIdentity identity;   // in profiles
  std::vector<int64_t> random_numbers;
};

struct PlannedCopy {
  Slot from = kNoSlot;
  Slot to = kNoSlot;
  int64_t bytes = 0; // of both, if they are one piece of memory with equal strides; else 0
};

/// No later step reads what an evaluation made; kNoSlot: there is nothing to let go of yet.
struct PlannedRelease {
  Slot owner = kNoSlot;
};

using PlannedStep = std::variant<PlannedLaunch, PlannedEvaluation, PlannedCopy, PlannedRelease>;

struct ProgramPlan {
  Device device;
  std::vector<SlotPlan> slots;
  std::vector<PlannedStep> steps;
  std::vector<Slot> outputs;
  int64_t workspace_bytes = 0; // for tensors between steps
  /// The most that a kernel has: each leaves counters as it found them, and no other kernel reads
  /// its partial results.
  int64_t counter_bytes = 0;
  int64_t kernel_workspace_bytes = 0;
  /// All steps are launches, and none writes to an argument: what a run did before it failed is not
  /// seen.
  bool leaves_arguments = true;
  /// New tensors are made before the first launch, all of them.
  bool allocates_first = true;
  bool has_evaluations = false;
  int64_t random_streams = 0; // random tensors of all steps, which share one state of a run
  /// The parameters of all kernels, with what does not differ from run to run.
  std::vector<std::byte> parameters;
  std::vector<size_t> parameter_offsets; // where each parameter of each kernel starts
  /// The plan of the only kernel, where a program is nothing but one launch of its arguments.
  const PlannedLaunch* single_launch = nullptr;
  /// The kernels as graphs; nullptr: they are launched one by one.
  std::shared_ptr<LaunchGraphs> graphs;

  /// One line for each slot: its shape, and where it lies.
  [[nodiscard]] std::string to_string() const;
};

/// Why a launch among the steps of a program cannot be planned.
struct StepRefusal {
  size_t step = 0; // its position
  KernelRefusal refusal;
};

/// Plan runs of `steps` with arguments like `args`; or the launch for which there is no kernel.
/// Throws UserError for shapes that do not fit.
[[nodiscard]] std::variant<std::shared_ptr<const ProgramPlan>, StepRefusal> try_make_program_plan(
    std::span<const Step> steps,
    std::span<const Slot> outputs,
    size_t num_slots,
    int64_t random_streams,
    std::span<const Argument> args,
    std::optional<Device> device);

} // namespace nvfuser::host

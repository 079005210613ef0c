// Steps of a host program. Each reads slots and sets slots; a slot is set once.
//
//   s1 = launch nvfuser_pointwise_f0_c0_r0_g0(s0)   a kernel
//   s3 = evaluate(s1, s2) {matmul}                  no kernel: the caller's framework computes it
//   s4 = view(s3) {permute}                         memory of s3, with other sizes and strides
//   s5 = allocate(s3) {T1_g_float[..]}              a tensor whose elements mean nothing yet
//   copy s4 to s5
//   free s3                                         nothing reads s3 any more
//
// A step computes a fusion, whose inputs are the slots it reads and whose visible outputs
// are the slots it sets. Sizes of slots follow from the arguments of a run, step by step.
//
// A step that communicates with other devices has its place here: it reads and sets slots as well,
// and enqueues on the stream of the run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "host/evaluated_fusion.h"
#include "runtime/kernel_program.h"

namespace nvfuser::host {

/// The number of a place that holds a tensor or a number during a run.
using Slot = int64_t;

/// Run a scheduled fusion as one kernel.
struct Launch {
  std::shared_ptr<KernelProgram> kernel;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
  std::vector<int64_t> random_numbers = {}; // RandomShare::numbers

  [[nodiscard]] const std::shared_ptr<Fusion>& fusion() const {
    return kernel->fusion();
  }
};

/// Evaluate a fusion through the caller's framework.
struct Evaluate {
  EvaluatedFusion evaluated;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
  KernelIdentity identity;                  // its name in profiles
  std::vector<int64_t> random_numbers = {}; // RandomShare::numbers

  [[nodiscard]] const std::shared_ptr<Fusion>& fusion() const {
    return evaluated.fusion;
  }
};

/// See the memory of inputs as a fusion says that only moves elements: every output lies in the
/// memory of one of them.
struct View {
  std::shared_ptr<Fusion> fusion;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
};

/// Make tensors like the outputs of a fusion, without computing anything.
struct Allocate {
  std::shared_ptr<Fusion> fusion;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
};

/// Copy the elements of one tensor into another of the same type and shape.
struct Copy {
  Slot from = 0;
  Slot to = 0;
};

/// No later step reads the slot.
struct Free {
  Slot slot = 0;
};

using Step = std::variant<Launch, Evaluate, View, Allocate, Copy, Free>;

/// Outputs that a step sets slots to: those the caller of the fusion would get.
[[nodiscard]] std::vector<const Val*> visible_outputs(const Fusion& fusion);
/// The slots that a step reads. Copy reads both of its own: it keeps them in use.
[[nodiscard]] std::vector<Slot> slots_read(const Step& step);
/// The slots that a step sets.
[[nodiscard]] std::vector<Slot> slots_set(const Step& step);
/// "s2 = launch nvfuser_none_f0_c0_r0_g0(s0, s1)"
[[nodiscard]] std::string to_string(const Step& step);

} // namespace nvfuser::host

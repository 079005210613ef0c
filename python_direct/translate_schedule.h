// A schedule as the calls that lead to it from the math.
//
//   1. Changes of the graph of tensors, in the order in which they happened: caches, factored and
//      grouped reductions. These calls are known from the steps that tensors remember.
//   2. For each tensor its axes, memory and bindings, then all positions, then circular buffers.
//      These are read off the tensors, however they came about: by calls on them, by propagation
//      from others, or by a scheduler that edits axes itself.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "transform/graph_steps.h"
#include "translate_axes.h"

namespace nvfuser::python {

class ScheduleTranslator {
 public:
  /// Reads the schedule of `fusion`. After that, graph steps may be undone and the math printed.
  explicit ScheduleTranslator(const Fusion& fusion);

  /// The lines that come after those of the math. `steps`: all graph steps, undone, oldest first.
  /// `tensors`: those of the math, in the order of their lines.
  void print(
      const std::vector<const TensorView*>& tensors,
      const std::vector<GraphStep>& steps,
      ScriptWriter& writer);

 private:
  /// The schedule of a tensor, as it was before steps were undone.
  struct State {
    TensorView* tensor;
    TensorDomain* domain;
    TensorSchedule schedule;
    bool is_interface;        // an input or an output: in global memory unless told otherwise
    bool is_serial_reduction; // blocks take turns
    int64_t macro;            // the instruction that computes a sum of products; 0: none
    std::string origin;       // "cache of tv0"
    /// Ranks of strides that the tensor has without a call; empty: no allocation domain.
    std::vector<int64_t> layout;
  };
  State& state_of(const TensorView* tensor) {
    return states_.at(index_.at(tensor));
  }

  /// The name of a tensor in the text; one that a step makes gets its name here.
  [[nodiscard]] std::string name_of(const TensorView* tensor) const;
  [[nodiscard]] std::string names_of(const std::vector<TensorView*>& tensors) const;
  void order_as_printed(
      const std::vector<const TensorView*>& tensors, const std::vector<GraphStep>& steps);
  [[nodiscard]] std::vector<const TensorView*> consumers_first() const;
  void find_layouts();
  void print_step(const GraphStep& step);
  void print_cache(const GraphStep& step);
  void print_rfactor(const GraphStep& step);
  void print_tensor(const State& state, TranslatedAxes& axes);
  void print_memory(const State& state);
  void print_settings(const State& state);
  void print_macro(const State& state);
  void print_axis_bindings(const State& state, TranslatedAxes& axes, bool is_inlined);
  void print_positions();
  void print_late_steps(const State& state);

  std::vector<State> states_;
  std::unordered_map<const TensorView*, size_t> index_; // in `states_`
  /// First results of expressions, and the first results of those that read any of its results.
  std::unordered_map<const TensorView*, std::vector<const TensorView*>> readers_;
  ScriptWriter* writer_ = nullptr;
};

} // namespace nvfuser::python

// The evaluator that the package implements: what has no kernel goes through PyTorch.
#pragma once

#include "dlpack_exchange.h"
#include "host/evaluator.h"

namespace nvfuser::python {

/// The tensor of PyTorch that an evaluation made; the same object. Needs the GIL.
[[nodiscard]] nb::object evaluated_object(const DLManagedTensorVersioned& tensor);

/// Calls `nvfuser_direct.evaluator.steps`, which is imported when a run first needs it.
class PythonEvaluator final : public host::Evaluator {
 public:
  /// For a run with these, which live longer.
  PythonEvaluator(const PythonArguments& arguments, PythonAllocator& allocator)
      : arguments_(arguments), allocator_(allocator) {}
  [[nodiscard]] std::optional<Refusal> find_unavailable() override;
  [[nodiscard]] std::vector<DlpackHandle> evaluate(
      const host::EvaluatedFusion& evaluated,
      std::span<const host::EvaluatorInput> inputs,
      Device device,
      const RandomShare& random) override;
  void copy(const host::EvaluatorInput& from, const host::EvaluatorInput& to) override;

 private:
  /// The object that Python code gets for an input. Needs the GIL.
  [[nodiscard]] nb::object object_of(const host::EvaluatorInput& input, Device device);
  /// The memory of a result. Needs the GIL.
  [[nodiscard]] DlpackHandle read_result(nb::handle result, Device device);
  /// The tensor of a result. Needs the GIL.
  [[nodiscard]] DlpackHandle tensor_of(nb::handle result, Device device);

  const PythonArguments& arguments_;
  PythonAllocator& allocator_;
};

} // namespace nvfuser::python

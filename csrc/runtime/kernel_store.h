// KernelStore: the kernels of one fusion on disk, with what it takes to choose and to launch them.
// A second process that defines the same fusion goes on from there: nothing is lowered.
//
//   definition, schedule -> digest -> facts: which code a launch needs (CodeChooser)
//                                  -> facts: its recipe, and the names of its machine code
//                                  -> machine code (KernelCache)
//
// Facts are believed if their key is equal, and it has everything that lowering depends on: the
// bytes of the fusion (of the definition and the name of its schedule, where that is applied when
// it is needed), the scheduler, the device, options, parameters, the build of this
// library; and the compiler's files, since a new compiler makes other machine code.
//
// Nothing is read and nothing kept where lowering has more to do than a kernel: it is dumped, or
// its mistakes are looked for (NVFUSER_VERIFY_PASSES); nor if the source comes from elsewhere
// (NVFUSER_EXTERNAL_SRC, include paths).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/compiled_kernel.h"

namespace nvfuser {

/// A text that says which compiler makes code for a device, without running it.
[[nodiscard]] std::string compiler_of(Device device);
/// The part of all keys on disk that is not the fusion: the build of this library, options, the
/// device and its compiler. Empty: nothing is read and nothing kept.
[[nodiscard]] std::string environment_of_facts(Device device);
/// The name of a fusion in keys.
[[nodiscard]] std::string digest_of_definition(const Fusion& definition);

class KernelStore {
 public:
  /// `words` are those of `fusion`.
  KernelStore(std::shared_ptr<const ScheduledFusion> fusion, const LaunchWords& words);

  /// The facts that decide about the code for the target of `request`.
  [[nodiscard]] std::optional<CodeChooser> find_chooser(const KernelRequest& request);
  void store(const CodeChooser& chooser, const KernelRequest& request);

  /// The code for a request; nullptr if it is not there, or not whole.
  [[nodiscard]] std::shared_ptr<const CompiledKernel> find_code(const KernelRequest& request);
  void store(const CompiledKernel& code, const KernelRequest& request);

 private:
  /// Empty: this request is not kept.
  [[nodiscard]] std::string key(const std::string& kind, const KernelRequest& request);
  [[nodiscard]] std::string chooser_key(KernelRequest request);

  const std::shared_ptr<const ScheduledFusion> fusion_;
  const LaunchWords& words_;
  std::string digest_; // of the fusion and its random numbers, once it was needed
};

} // namespace nvfuser

// FusionExecutorCache: runs a definition without a schedule. Later calls find what an earlier one
// worked out:
//
//   signature of a call            types, sizes, strides, alignments, devices, numbers that sizes
//      |                           depend on, options: one look-up without a lock
//   specialization                 what dynamic shapes come out as (host/dynamic_shapes.h)
//      |
//   runtime                        kernels and programs (host/fusion_runtime.h), for a kind of
//      |                           device, options, and what schedulers decided
//   plan                           of a program for a signature (host/program_plan.h)
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/read_mostly_map.h"
#include "host/dynamic_shapes.h"
#include "host/event_counter.h"
#include "host/fusion_runtime.h"
#include "host/run_program.h"
#include "runtime/signature.h"

namespace nvfuser::host {

/// The contents of a cache, and how it was used.
struct ExecutorCacheStats {
  int64_t hits = 0;            // calls whose signature was known
  int64_t misses = 0;          // calls that were planned
  int64_t plans = 0;           // signatures that are known
  int64_t specializations = 0; // of dynamic shapes
  int64_t runtimes = 0;
  int64_t compiled = 0;  // kernels
  int64_t evictions = 0; // plans, runtimes, specializations that were forgotten to make room

  [[nodiscard]] std::string to_string() const;
};

/// Thread-safe. A call whose signature is known takes no lock. Others wait for those that need the
/// same kernels, and for no more.
class FusionExecutorCache {
 public:
  /// `fusion` must not be changed any more. `fusion_id` is a part of the names of kernels.
  /// `auto_schedule`: schedule it; if not, it is compiled as it is.
  explicit FusionExecutorCache(
      std::shared_ptr<Fusion> fusion, int64_t fusion_id = 0, bool auto_schedule = true);
  FusionExecutorCache(const FusionExecutorCache&) = delete;
  FusionExecutorCache& operator=(const FusionExecutorCache&) = delete;

  /// Run on the caller's current stream, compiling when needed. `device`: the CUDA device of a
  /// fusion without tensor inputs; those of others have to be on it. Throws UserError for arguments
  /// that do not fit, for a definition that was edited, and where the stream is being captured in a
  /// CUDA graph and a kernel is missing.
  [[nodiscard]] std::vector<RunOutput> execute(
      std::span<const Argument> args, const Caller& caller, std::optional<Device> device = {});

  /// The definition.
  [[nodiscard]] const std::shared_ptr<Fusion>& fusion() const {
    return fusion_;
  }
  /// NVFUSER_DUMP=python_definition, python_definition_segments print nothing of it: its frontend
  /// does.
  void set_definition_is_printed() {
    is_definition_printed_ = true;
  }

  /// Compute a segment of runs like those with `args`, or of the last run if there are none, with
  /// another schedule (FusionRuntime::use_schedule). Throws UserError where there was no such run.
  void use_schedule(
      std::optional<std::span<const Argument>> args, size_t segment, const HandSchedule* schedule);
  /// As FusionRuntime::use_params and store_tuned.
  void use_params(
      std::optional<std::span<const Argument>> args, size_t segment, const HeuristicParams& params);
  void store_tuned(std::optional<std::span<const Argument>> args, size_t segment);

  /// A user's wishes about cuts, from now on: runtimes compiled before are forgotten.
  void set_cut_hints(CutHints hints);
  [[nodiscard]] CutHints cut_hints() const;

  // -- looking into --

  /// The runtime for these arguments, preferably one without options of a call; nullptr: there is
  /// none yet. Refused: arguments that do not fit.
  [[nodiscard]] std::variant<std::shared_ptr<const FusionRuntime>, Refusal> try_find_runtime(
      std::span<const Argument> args);
  /// The same; throws what is refused.
  [[nodiscard]] std::shared_ptr<const FusionRuntime> find_runtime(std::span<const Argument> args);
  /// Whether a run with these arguments would compile nothing; not if they do not fit.
  [[nodiscard]] bool is_compiled(std::span<const Argument> args);
  /// That of the last call; nullptr before the first.
  [[nodiscard]] std::shared_ptr<const FusionRuntime> last_runtime() const;
  [[nodiscard]] ExecutorCacheStats stats() const;
  /// Why runtimes were made, in their order: the latest ones.
  [[nodiscard]] std::vector<std::string> compilations() const;

 private:
  /// The one of runs like those with `args`, or of the last run; throws UserError if there is none.
  [[nodiscard]] std::shared_ptr<FusionRuntime> runtime_to_change(
      std::optional<std::span<const Argument>> args);

  /// The runtime and the program that a signature leads to.
  struct Call {
    std::shared_ptr<FusionRuntime> runtime;
    std::shared_ptr<HostProgram> program; // that was planned
    std::shared_ptr<const ProgramPlan> plan;
    bool dumps_arguments = false;               // NVFUSER_DUMP=fusion_args when it was planned
    mutable std::atomic<bool> was_used = false; // again, since calls were forgotten last
  };
  using CallPtr = std::shared_ptr<const Call>;

  /// The runs that one runtime serves, beside what schedulers propose (FusionRuntime::serves).
  struct RuntimeKey {
    DeviceKind device = DeviceKind::Cpu;
    int64_t options = 0;
    int64_t specialization = 0;
    std::vector<int64_t> sizes; // empty, unless kernels are not to be used for other sizes
    bool operator==(const RuntimeKey&) const = default;
  };
  struct Entry {
    RuntimeKey key;
    std::shared_ptr<FusionRuntime> runtime;
    std::string plan;     // the bytes on disk that it was made of; empty: planned in this process
    int64_t last_use = 0; // the number of the plan that used it
  };

  [[nodiscard]] std::vector<RunOutput> run(
      std::span<const Argument> args, const Caller& caller, std::optional<Device> device);
  void write_signature(
      std::span<const Argument> args, std::optional<Device> device, Signature& words) const;
  [[nodiscard]] CallPtr make_call(
      std::span<const Argument> args,
      const Caller& caller,
      std::optional<Device> device,
      const Signature& words);
  [[nodiscard]] static RuntimeKey runtime_key_for(
      const Specialization& specialization, std::span<const Argument> args, Device device);
  [[nodiscard]] std::shared_ptr<FusionRuntime> runtime_for(
      const Specialization& specialization, std::span<const Argument> args, Device device);
  /// The key of the plan for such calls on disk; empty: none is kept.
  [[nodiscard]] std::string plan_key_for(Device device, const Signature& words);
  /// A runtime of the plan that an earlier process left; nullptr: there is none, or this process
  /// has planned such runs itself, which is faster then. Sizes with equal plans share it.
  [[nodiscard]] std::shared_ptr<FusionRuntime> stored_runtime(
      const std::string& key,
      const Specialization& specialization,
      std::span<const Argument> args,
      Device device);
  /// Why no runtime serves `pieces`. `alike`: the latest one with the same key.
  [[nodiscard]] std::string reason_for(
      const RuntimeKey& key, const PlannedPieces& pieces, const Entry* alike) const;
  /// Make room for new calls: those go that were not used since it was made last.
  void evict_calls();
  void note_compilation(std::string reason);
  void evict_runtimes();
  [[nodiscard]] std::shared_ptr<PiecePlanner> planner_for(const Specialization& specialization);
  void note_call(const CallPtr& call);

  const std::shared_ptr<Fusion> fusion_;
  const int64_t version_; // of the fusion
  const int64_t fusion_id_;
  const bool auto_schedule_;
  std::atomic<bool> is_definition_printed_ = false;
  DynamicShapes shapes_;

  ReadMostlyMap<Signature, CallPtr, SignatureHash> calls_;
  EventCounter hits_;
  EventCounter misses_;

  mutable std::mutex runtimes_mutex_; // of what follows; nothing is compiled while it is held
  std::vector<Entry> runtimes_;       // in the order of first use
  int64_t num_uses_ = 0;
  int64_t num_evictions_ = 0;
  std::deque<std::string> compilations_;
  struct KnownPlanner {
    std::shared_ptr<PiecePlanner> planner;
    int64_t last_use = 0; // as of an entry
  };
  std::map<int64_t, KnownPlanner> planners_; // by specialization
  CutHints hints_;
  std::string digest_; // of the definition, once it was needed

  std::mutex stored_mutex_; // held while a runtime is made of a plan on disk

  mutable std::mutex last_mutex_; // of what follows
  CallPtr last_call_owner_;
  std::atomic<const Call*> last_call_ = nullptr; // that of last_call_owner_; read by itself
};

/// The CUDA device with that index. Throws UserError for an index that no device can have.
[[nodiscard]] Device cuda_device_of_call(int64_t index);

} // namespace nvfuser::host

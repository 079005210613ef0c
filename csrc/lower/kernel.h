// Kernel: a lowered fusion. It owns a copy of the scheduled fusion and the kernel IR made from it.
//
// Lowering is a list of passes (lower/pipeline.cpp). Facts that a pass finds for later ones stand
// in the kernel (below), so that every pass is a function of the kernel.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/launch_dims.h"
#include "base/pass_table.h"
#include "base/refusal.h"
#include "base/target.h"
#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "lower/analysis/circular_loops.h"

namespace nvfuser {

class IdModel;
class IndexSimplifier;
class LoopModel;

/// How a symbolic extent is known: the size of a dimension of an input.
struct SizeSource {
  Val* extent = nullptr;
  TensorView* tensor = nullptr;
  int64_t dim = 0; // of the logical domain without reductions
};

/// Where a kernel finds a stride: with the parameter of a tensor in global memory.
struct StrideSource {
  const TensorView* tensor = nullptr;
  size_t axis = 0; // in global_axes()
};

/// A buffer the host allocates for one run: an output, an intermediate in global memory, or a
/// workspace. Sizes are evaluated on the host.
struct GlobalBuffer {
  TensorView* tensor = nullptr;
  bool zero_init = false;
  bool is_output = false;
};

/// A vector access that strides and pointers of a launch must allow. Sizes are conditions.
struct VectorAccess {
  TensorView* tensor = nullptr;  // the global tensor
  TensorView* made_by = nullptr; // the vectorized tensor, for the message
  int64_t width = 1;             // elements
  /// Allocation dims (positions) merged into the contiguous run; the byte strides of all others
  /// must be multiples of the vector.
  std::vector<int64_t> run_dims;
};

/// A condition that must hold for the sizes of a launch, or it is refused.
struct LaunchCondition {
  Val* holds = nullptr; // Bool
  ErrorReport report;   // why not; with `found` empty, a launch says what `shown` came out as
  ErrorKind kind = ErrorKind::Runtime;
  std::vector<const Val*> shown{}; // empty: the symbols that `holds` depends on
};

/// `0 <= index && index < extent` must hold for a statement to run. Only where an axis was resized
/// can an index be negative.
struct RangeTest {
  Val* index = nullptr;
  Val* extent = nullptr;
  bool may_be_negative = false;

  [[nodiscard]] Val* holds() const; // Bool
  [[nodiscard]] bool same_as(const RangeTest& other) const;
};

/// When a statement of the kernel runs.
struct StatementTests {
  /// No axis on its path is a hole. Loops with one hoisted test decide these once for all.
  std::vector<RangeTest> ranges;
  /// Which threads and blocks act, where several hold the same value; nullptr: all.
  Val* owner = nullptr;
  /// Conditions under which written elements lie in the tensor's storage. For copies that fill
  /// holes: `ranges` decide whether they load, these whether they write at all.
  std::vector<RangeTest> storage{};
};

/// Facts that decide which code a launch needs, by the sizes, strides and scalars of its inputs. It
/// is the same for all kernels of a fusion on a target, whatever LoweringOptions they were made
/// with.
struct CodeFacts {
  /// Every index lies between these (bound_indices).
  Val* smallest_index = nullptr;
  Val* largest_index = nullptr;
  /// Bool: as LoweringOptions::has_empty_parallel_axis means it.
  Val* has_empty_axis = nullptr;
  /// The largest axis bound to each hardware index; nullptr: none.
  LaunchDims<Val*> bound_extents{};
};

/// Facts that the host needs to launch the kernel.
struct LaunchFacts {
  /// Extent of every hardware index, and of clusters of blocks; nullptr: unused, 1.
  LaunchDims<Val*> extents{};
  /// Tensors whose axes are bound to them, one for every extent: errors name them.
  LaunchDims<std::vector<const TensorView*>> bound_tensors{};
  bool is_cooperative = false;       // needs all blocks resident
  bool waits_for_prior_grid = false; // may begin while the grid before it runs
  Val* shared_bytes = nullptr;       // dynamic shared memory; nullptr: none
  std::vector<GlobalBuffer>
      buffers; // outputs, then intermediates and workspaces: parameters after the inputs
  std::vector<VectorAccess> vector_accesses;
  std::vector<LaunchCondition> conditions;
  std::vector<SizeSource> sizes;
  CodeFacts code;
  /// Elements of all tensors together (bound_indices), as far as sizes are known before a launch.
  Val* num_elements = nullptr;
  /// Random tensors with implicit seed that the definition counts, 0: none in the kernel. Not 0:
  /// the last two parameters are the seed and the offset of the run, 64 bits each.
  int64_t random_streams = 0;
};

struct LoweringOptions {
  Target target = Target::cuda();
  DataType index_type = DataType::Int; // Int or Int32: width of index arithmetic
  /// Some axis bound to a hardware index has extent 0 at run time. A launch has at least one thread
  /// and block, so no index can be taken to stay below such an extent.
  bool has_empty_parallel_axis = false;
  /// Sizes that hardware indices are launched with at least, in the order of kHardwareTypes;
  /// 0: as large as their axes. Axes that are smaller are tested.
  std::array<int64_t, 6> least_extents{};
  /// Keep the printed kernel after every pass (Kernel.passes in Python).
  bool record_passes = false;
  /// The last pass that runs; empty: all do.
  std::string until{};
  /// Look for mistakes of the compiler after every pass (lower/verify.h); no value: as
  /// NVFUSER_VERIFY_PASSES says.
  std::optional<bool> verifies_passes{};
};

class Kernel final : public Fusion {
 public:
  /// Run the pipeline on a copy of `fusion`, which stays as it is: the kernel, or why there is
  /// none.
  [[nodiscard]] static std::variant<std::shared_ptr<Kernel>, Refusal> try_lower(
      const Fusion& fusion, const LoweringOptions& options = {});
  /// The kernel; throws what is refused.
  [[nodiscard]] static std::shared_ptr<Kernel> lower(
      const Fusion& fusion, const LoweringOptions& options = {});
  ~Kernel() override;

  [[nodiscard]] const LoweringOptions& options() const {
    return options_;
  }
  [[nodiscard]] const Target& target() const {
    return options_.target;
  }
  [[nodiscard]] DataType index_type() const {
    return options_.index_type;
  }
  /// Only the printed source has a width of indices: it may be chosen when the kernel is lowered.
  void set_index_type(DataType type) {
    options_.index_type = type;
  }

  /// The statements.
  Scope body;
  LaunchFacts launch;
  std::vector<PassRecord> passes;

  // -- facts that passes leave for later passes (each named after the pass that makes it) --
  std::unique_ptr<IdModel> id_model;
  std::unique_ptr<LoopModel> loop_model;
  std::unique_ptr<IndexSimplifier> simplifier; // knows the ranges of all loop indices
  std::vector<CircularLoop> circular_loops;
  /// Expressions in the order of the kernel.
  std::vector<Expr*> sorted_exprs;
  /// Tests of the statements of `body`, until conditions are made of them.
  std::unordered_map<const Expr*, StatementTests> tests;
  /// The tensor expression a statement of `body` was made from; for comments and analyses.
  std::unordered_map<const Expr*, const Expr*> origin;
  /// Strides that are read where the kernel runs: `T0.alloc_stride[1]`.
  std::unordered_map<const Val*, StrideSource> strides;
  /// Names of sums of many sizes (lower/analysis/size_names.h), parts first.
  std::vector<Val*> size_names;
  /// Tensors of the fusion in the order of definition (transform/definition_order.h).
  std::vector<TensorView*> definition_order;

  /// Refuses a kernel whose lowering ended early: it has no source, and no accesses to look at.
  void check_complete() const;

  // -- refusals that a pass finds in its depth; it goes on with something harmless --
  /// Remember why there can be no kernel. The first refusal counts.
  void note_refusal(Refusal refusal) const {
    if (!refusal_) {
      refusal_ = std::move(refusal);
    }
  }
  [[nodiscard]] bool is_refused() const {
    return refusal_.has_value();
  }
  /// The refusal that the pass returns at its end.
  [[nodiscard]] std::optional<Refusal> take_refusal() const {
    return std::exchange(refusal_, std::nullopt);
  }

  /// Kernel IR as text.
  [[nodiscard]] std::string print_kernel_ir() const;

 private:
  explicit Kernel(LoweringOptions options);
  [[nodiscard]] std::optional<Refusal> lower_copy_of(const Fusion& fusion);
  LoweringOptions options_;
  mutable std::optional<Refusal>
      refusal_; // analyses of a kernel that stays as it is note it as well
};

} // namespace nvfuser

// Kernel: a lowered fusion. It owns a copy of the scheduled fusion and the kernel IR made from it.
//
// Lowering is a list of passes (lower/pipeline.cpp). What a pass learns for later ones stands in
// the kernel's facts below, so that every pass is `void pass(Kernel&)`.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

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

/// Something to check with actual sizes and pointers before a launch.
struct VectorAccess {
  TensorView* tensor = nullptr;  // the global tensor
  TensorView* made_by = nullptr; // the vectorized tensor, for the message
  int64_t width = 1;             // elements
  /// Allocation dims (positions) merged into the contiguous run; the byte strides of all others
  /// must be multiples of the vector.
  std::vector<int64_t> run_dims;
};

/// `dividend` must be divisible by `divisor` (sizes in elements), or the launch is refused.
struct DivisibilityCheck {
  Val* dividend = nullptr;
  Val* divisor = nullptr;
  std::string message; // what was scheduled that needs it
};

/// What must hold for the sizes of a launch, or it is refused: a position along an empty dimension
/// has no element, whatever it is.
struct SizeCheck {
  Val* holds = nullptr; // Bool
  std::string message;
};

/// A loop around the store of an output that runs over an axis of another tensor: without elements
/// it would leave the output as it was, and the launch is refused.
struct EnclosingLoop {
  const TensorView* output = nullptr;
  Val* extent = nullptr;
};

/// An expanded dimension of an input whose one element is read whatever its size is. Of size 0, it
/// has none, and the launch is refused.
struct ExpandedRead {
  const TensorView* input = nullptr;
  size_t dim = 0;
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
  /// What is written lies in the tensor's storage. For copies that fill holes: `ranges` decide
  /// whether they load, these whether they write at all.
  std::vector<RangeTest> storage{};
};

/// What the host must know to launch the kernel.
struct LaunchFacts {
  /// Extent of every hardware index, in the order of kHardwareTypes; nullptr: unused, 1.
  std::array<Val*, 6> extents{};
  /// Tensors whose axes are bound to them, one for every extent: errors name them.
  std::array<std::vector<const TensorView*>, 6> bound_tensors{};
  bool is_cooperative = false; // needs all blocks resident
  Val* shared_bytes = nullptr; // dynamic shared memory; nullptr: none
  std::vector<GlobalBuffer>
      buffers; // outputs, then intermediates and workspaces: parameters after the inputs
  std::vector<VectorAccess> vector_accesses;
  std::vector<DivisibilityCheck> divisibility_checks;
  std::vector<SizeCheck> size_checks;
  std::vector<EnclosingLoop> enclosing_loops;
  std::vector<ExpandedRead> expanded_reads;
  std::vector<SizeSource> sizes;
  /// Random tensors with implicit seed that the definition counts, 0: none in the kernel. Not 0:
  /// the last two parameters are the seed and the offset of the run, 64 bits each.
  int64_t random_streams = 0;
};

struct LoweringOptions {
  Target target = Target::cuda();
  DataType index_type = DataType::Int; // Int or Int32: width of index arithmetic
  bool enable_unswitch = true;
  /// Some axis bound to a hardware index has extent 0 at run time. A launch has at least one thread
  /// and block, so no index can be taken to stay below such an extent.
  bool has_empty_parallel_axis = false;
  /// Sizes that hardware indices are launched with at least, in the order of kHardwareTypes;
  /// 0: as large as their axes. Axes that are smaller are tested.
  std::array<int64_t, 6> least_extents{};
  /// Keep the printed kernel after every pass (Kernel.passes in Python).
  bool record_passes = false;
};

/// A pass that ran and, if asked for, the kernel after it.
struct PassRecord {
  std::string name;
  std::string text;
  double milliseconds = 0;
};

class Kernel final : public Fusion {
 public:
  /// Run the pipeline on a copy of `fusion`, which stays as it is.
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

  /// Kernel IR as text.
  [[nodiscard]] std::string print_kernel_ir() const;

 private:
  explicit Kernel(LoweringOptions options);
  LoweringOptions options_;
};

} // namespace nvfuser

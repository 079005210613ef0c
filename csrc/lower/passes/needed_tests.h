// Which range tests statements need: those of an axis that has holes, unless what a statement
// computes for holes is of no consequence.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "eval/simplify.h"
#include "lower/kernel.h"

namespace nvfuser {

/// Whether a statement computes an element of a factor of tensor cores, which multiply its holes.
/// Holes of boxes are zeros anyway.
[[nodiscard]] bool defines_factor(const Expr& statement);

[[nodiscard]] bool contains_test(const std::vector<RangeTest>& tests, const RangeTest& test);

/// Tests of a vector along a shifted axis, in which some lanes may be holes.
struct LaneTests {
  RangeTest first; // the first lane is no hole; those behind it are its neighbours
  RangeTest whole; // all lanes can be moved at once
};

/// For the statements of a kernel before conditions are placed.
class NeededTests {
 public:
  /// Requires: `kernel.tests`.
  explicit NeededTests(Kernel& kernel);

  /// The range tests that a statement needs; nothing: it runs for holes as well.
  [[nodiscard]] std::vector<RangeTest> of(const Expr* statement) const;
  /// Those of a statement that the kernel did not have before.
  void set(const Expr* statement, std::vector<RangeTest> tests) {
    needed_[statement] = std::move(tests);
  }
  /// nullptr: the statement is no vector along a shifted axis.
  [[nodiscard]] const LaneTests* lanes_of(const Expr* statement) const;

 private:
  /// Elements of every array in registers or shared memory.
  using ArraySizes = std::unordered_map<const TensorView*, Val*>;

  [[nodiscard]] static ArraySizes array_sizes(const Scope& body);
  void find(const Scope& scope, int64_t lanes);
  void test_lanes(const Expr& statement, int64_t lanes, std::vector<RangeTest>& tests);
  [[nodiscard]] std::optional<RangeTest> test_of_vector(
      const Expr& statement, int64_t lanes, const RangeTest& first);
  [[nodiscard]] bool runs_for_holes(const Expr& statement, bool is_vectorized) const;
  [[nodiscard]] bool combines_for_holes(const Expr& statement) const;
  [[nodiscard]] bool is_of_results(const RangeTest& test, const TensorView* out) const;
  [[nodiscard]] bool stays_in_arrays(const Expr& statement) const;
  [[nodiscard]] bool stays_in_stage(const TensorIndex& element, Val* size) const;

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
  ArraySizes array_sizes_;
  std::unordered_map<const Expr*, std::vector<RangeTest>> needed_; // nothing: none
  std::unordered_map<const Expr*, LaneTests> lane_tests_;          // of vectors along shifted axes
};

} // namespace nvfuser

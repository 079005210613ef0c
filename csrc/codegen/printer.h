// KernelPrinter: the statements of a kernel as C-like source. The dialect has all that differs
// between targets.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/dialect.h"
#include "codegen/expressions.h"
#include "codegen/shifted_sums.h"
#include "ir/scopes.h"
#include "lower/kernel.h"

namespace nvfuser {

class KernelPrinter {
 public:
  KernelPrinter(const Kernel& kernel, Dialect& dialect, std::string name, Comments comments);

  /// `// Codegen generated code` and the function. Call once.
  [[nodiscard]] std::string print();

  // -- for dialects --

  [[nodiscard]] const Kernel& kernel() const {
    return kernel_;
  }
  [[nodiscard]] ExpressionPrinter& expressions() {
    return expressions_;
  }
  /// The name of a tensor (`T4`) or of a scalar that the kernel declares (`i3`).
  template <typename T>
  [[nodiscard]] std::string name_of(const T* val) const {
    return expressions_.names().of(val);
  }
  /// A line, indented.
  void line(const std::string& text);
  /// `head {`, what `body` prints one level deeper, `}` and `tail`. Names defined inside end with
  /// it.
  void block(
      const std::string& head, const std::function<void()>& body, const std::string& tail = "");
  /// Prints `body` one level deeper.
  void indented(const std::function<void()>& body);
  void statements(const Scope& scope);
  /// A line with the line of the user's program that a statement comes from.
  void commented_line(const Expr& expr, const std::string& text);
  /// The same under the statement's predicate.
  void statement(const Expr& expr, const std::string& text);

  /// Inputs and buffers of the host in the order of the kernel's parameters, as C types and names.
  struct Parameter {
    std::string type;
    std::string name;
  };
  [[nodiscard]] std::vector<Parameter> parameters() const;
  /// Whether the body has this name. For `Dialect::open_kernel`.
  [[nodiscard]] bool mentions(const std::string& name) const;

  /// `float T4[8];` (a variable for one element), `attributes` before it; registers the name.
  void declare_array(const Allocate& allocate, const std::string& attributes);
  /// Bytes of the widest vector access to the storage of a tensor; 0: none.
  [[nodiscard]] int64_t vector_bytes(const TensorView* view) const;
  /// Width in bytes of the swizzled boxes that statements load `box` with; 0: there are none.
  [[nodiscard]] int64_t swizzle_bytes(const TensorView* box) const;
  /// The number of units that a copy of `lanes` elements moves: elements, or pairs where both sides
  /// hold pairs.
  [[nodiscard]] static int64_t copied_units(const LoadStoreOp& copy, int64_t lanes);
  /// Elements in braces: `{T4, 0.0f, 1}`; the form in which functions take a Welford triple.
  [[nodiscard]] std::string triple(const std::vector<Val*>& vals, DataType type);
  /// `a, b, c` as they stand on the left side of assignments.
  [[nodiscard]] std::string elements(const std::vector<Val*>& vals);
  /// The text of a condition; "true" for nullptr.
  [[nodiscard]] std::string condition(const Val* predicate);

 private:
  void statement(const Expr& expr);
  void loop(const ForLoop& loop);
  void vector_statements(const Scope& scope, int64_t lanes);
  void vector_copy(const LoadStoreOp& copy, int64_t lanes);
  void branch(const IfThenElse& branch, const std::function<void(const Scope&)>& body);
  /// Prints a branch around one read of chosen elements as a read with a condition. False: it is
  /// another branch.
  bool reads_where(const IfThenElse& branch);
  void pointwise(const Expr& expr);
  void welford(const WelfordOp& welford);
  /// `ShiftedSums<float> T4_sums = {};` before a loop.
  void open_sums(const ForLoop& loop);
  /// `T4_sums.merge_into(0, T4, T5, T6);` behind it.
  void close_sums(const ForLoop& loop);
  void multiply(const MmaOp& product);
  void copy(const LoadStoreOp& copy);
  void analyze(const Scope& scope, const Scope* branch = nullptr);
  /// Whether values that are read in a branch are used in it alone: what leaves it is stored.
  [[nodiscard]] bool keeps_its_reads(const Scope& branch) const;
  /// `const nvfuser_index_t i0 = T0.logical_size[0];` for every size that the body uses.
  void declare_sizes();
  /// Comments, with the space before them; empty: none.
  [[nodiscard]] std::string location_of(const Expr& expr) const;
  [[nodiscard]] std::string axis_of(const ForLoop& loop) const;

  const Kernel& kernel_;
  Dialect& dialect_;
  std::string name_;
  const Comments comments_;
  ExpressionPrinter expressions_;
  ShiftedSums sums_;
  struct OpenSums {
    const LoopSums* sums = nullptr;
    std::string name;
  };
  std::vector<OpenSums> open_sums_;                    // of the loops around the next line
  std::unordered_map<const TensorView*, int> sums_of_; // how many were declared
  std::string text_;
  std::string body_; // complete before the head is printed
  int indent_ = 0;
  std::set<const TensorView*> written_; // in global memory
  std::unordered_map<const TensorView*, int64_t> vector_bytes_;
  std::unordered_map<const TensorView*, int64_t> swizzle_bytes_;
  /// The branch that registers are used in; nullptr: outside, or in several.
  std::unordered_map<const TensorView*, const Scope*> branch_of_;
};

/// `T4` of an operand that is a tensor element.
[[nodiscard]] const TensorView* view_of(const Val* val);
/// Whether a compiler may write out all iterations of a loop as one.
[[nodiscard]] bool may_be_unrolled(const Val* extent);
/// Whether statements of `scope`, or of what it holds, are repeated in it.
[[nodiscard]] bool has_loops(const Scope& scope);

} // namespace nvfuser

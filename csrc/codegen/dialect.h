// Dialect: what the generated source of one target does not share with the others. An object serves
// one kernel and may remember where in it the printer stands.
#pragma once

#include <memory>
#include <string>

#include "lower/kernel.h"

namespace nvfuser {

class KernelPrinter;

class Dialect {
 public:
  virtual ~Dialect() = default;

  /// The C type behind `nvfuser_index_t`.
  [[nodiscard]] virtual const char* fixed_width_index(bool is_32_bit) const = 0;
  /// A hardware index or launch dimension in index arithmetic: `threadIdx.x`, `gridDim.y`.
  [[nodiscard]] virtual std::string hardware_value(const NamedScalar& value) const = 0;
  /// Whether dividing by zero, or the smallest integer by -1, ends the process.
  [[nodiscard]] virtual bool division_traps() const = 0;
  /// Whether indices that are not negative are divided by `index_quotient` and `index_remainder`.
  [[nodiscard]] virtual bool divides_indices_unsigned() const {
    return false;
  }

  /// The kernel's first line up to its opening brace, and the declarations of what its body
  /// mentions: parameters, launch dimensions, shared memory.
  virtual void open_kernel(KernelPrinter& printer, const std::string& name) = 0;

  virtual void allocate(KernelPrinter& printer, const Allocate& allocate) = 0;
  /// A copy of `lanes` neighbouring elements; the operands are the elements of lane 0.
  virtual void copy_vector(KernelPrinter& printer, const LoadStoreOp& copy, int64_t lanes) = 0;
  /// Further template arguments of `fill_vector<4, ..>`, which say where it writes.
  [[nodiscard]] virtual std::string fill_arguments(const TensorView* to) const = 0;
  /// A copy of one element from tensor to tensor.
  virtual void copy_element(KernelPrinter& printer, const LoadStoreOp& copy) = 0;
  /// A statement of facts about an index that was just named; empty: there are none.
  [[nodiscard]] virtual std::string assumption(
      const Kernel& /*kernel*/, const Val* /*index*/, const std::string& /*name*/) const {
    return "";
  }
  /// The line before a loop that says how often its body is repeated; empty: none.
  [[nodiscard]] virtual std::string unroll_hint(const ForLoop& loop) const = 0;
  /// The statement whose elements are printed next.
  virtual void begin_statement(const Kernel& /*kernel*/, const Expr& /*statement*/) {}
  /// The index of an element of shared memory, as it is printed; `lanes`: of how many neighbours.
  [[nodiscard]] virtual std::string shared_index(
      const TensorView* /*tensor*/,
      const std::string& /*name*/,
      std::string index,
      bool /*is_written*/,
      int64_t /*lanes*/) const {
    return index;
  }
  /// An element of memory that nothing writes while the kernel runs, as it is read.
  [[nodiscard]] virtual std::string read_only_element(std::string element) const {
    return element;
  }
  /// The same where `condition` holds, and anything where not, without a branch: several such reads
  /// are under way at once. Empty: there is no such expression.
  [[nodiscard]] virtual std::string read_only_element_where(
      const std::string& /*condition*/, const std::string& /*element*/) const {
    return "";
  }
  /// The index of an element that is read under a condition, as it is printed.
  [[nodiscard]] virtual std::string guarded_index(
      const TensorView* /*view*/, std::string index) const {
    return index;
  }
  /// The statement with which a branch stays one, and its reads are made in it alone; empty: reads
  /// need no such care.
  [[nodiscard]] virtual std::string kept_branch() const {
    return "";
  }
  /// The statement with which one body of a branch begins; empty: none.
  [[nodiscard]] virtual std::string first_of_branch(
      const Kernel& /*kernel*/, const IfThenElse& /*branch*/, const Scope& /*body*/) const {
    return "";
  }
  /// Faster function for a Float that is rounded before anything sees it; empty: none.
  [[nodiscard]] virtual std::string approximate_function(UnaryOpType /*op*/) const {
    return "";
  }
  /// Function of x and m that is exp(x - m) with one fused multiply-add, up to a factor that
  /// depends on m alone (codegen/normalized_powers.h); empty: none.
  [[nodiscard]] virtual std::string normalized_power_function() const {
    return "";
  }
  /// Function of x that is 0.5 * (1 + erf(x * sqrt(1/2))) within what a rounding to 16 bits hides
  /// (codegen/normal_probabilities.h); empty: none.
  [[nodiscard]] virtual std::string normal_probability_function() const {
    return "";
  }
  /// Function of a Float that is the Float which its rounding to BFloat16 stands for, in less time
  /// than both conversions take; empty: none.
  [[nodiscard]] virtual std::string rounding_function() const {
    return "";
  }
  /// Function of an array and an index that is an element as a Float, for elements that are read
  /// from the words they lie in; empty: they are converted as all others.
  [[nodiscard]] virtual std::string unpack_function(const TensorView* /*view*/) const {
    return "";
  }
  /// Print a loop, with all that it holds, in a shorter form that the target has for it. Returns
  /// whether it has one.
  [[nodiscard]] virtual bool print_shorter(KernelPrinter& /*printer*/, const ForLoop& /*loop*/) {
    return false;
  }
  /// A condition that holds most of the time.
  [[nodiscard]] virtual std::string likely(std::string condition) const {
    return condition;
  }
  /// Function that chooses one of two values of a type, both of which can be read; empty:
  /// `c ? a : b` does.
  [[nodiscard]] virtual std::string select_function(DataType type) const = 0;
  virtual void block_sync(KernelPrinter& printer, const BlockSync& sync) = 0;
  virtual void async_commit(KernelPrinter& printer, const AsyncCommit& commit) = 0;
  virtual void async_wait(KernelPrinter& printer, const AsyncWait& wait) = 0;
  /// A BulkLoad, BulkStore, BulkStoreWait or FenceAsyncProxy.
  virtual void bulk_copy(KernelPrinter& printer, const Expr& statement) = 0;
  /// An MmaOp that names an instruction: its operands are where the fragments of a lane begin.
  virtual void multiply(KernelPrinter& printer, const MmaOp& product) = 0;
  virtual void grid_sync(KernelPrinter& printer, const GridSync& sync) = 0;
  virtual void block_serialize_wait(KernelPrinter& printer, const BlockSerializeWait& wait) = 0;
  virtual void block_serialize_release(
      KernelPrinter& printer, const BlockSerializeRelease& release) = 0;
  virtual void block_reduction(KernelPrinter& printer, const BlockReduction& reduction) = 0;
  virtual void block_scan(KernelPrinter& printer, const BlockScan& scan) = 0;
  virtual void cluster_sync(KernelPrinter& printer, const ClusterSync& sync) = 0;
  virtual void cluster_reduction(KernelPrinter& printer, const ClusterReduction& reduction) = 0;
  virtual void grid_reduction(KernelPrinter& printer, const GridReduction& reduction) = 0;
  virtual void thread_loop(KernelPrinter& printer, const ThreadLoop& loop) = 0;
  virtual void block_loop(KernelPrinter& printer, const BlockLoop& loop) = 0;
  virtual void cluster_loop(KernelPrinter& printer, const ClusterLoop& loop) = 0;
};

[[nodiscard]] std::unique_ptr<Dialect> make_cuda_dialect(const Kernel& kernel);
[[nodiscard]] std::unique_ptr<Dialect> make_cpu_dialect();

} // namespace nvfuser

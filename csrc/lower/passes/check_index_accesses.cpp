#include "lower/passes/check_index_accesses.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "graph/storage.h"
#include "ir/scalar.h"
#include "lower/analysis/launch_conditions.h"

namespace nvfuser {
namespace {

class IndexAccessCheck {
 public:
  explicit IndexAccessCheck(Kernel& kernel) : kernel_(kernel) {}

  std::optional<Refusal> run() {
    for (Expr* expr : kernel_.exprs()) {
      if (const auto* scatter = expr->as<ScatterOp>()) {
        NVF_RETURN_REFUSAL(find_wrong_memory(*scatter));
      }
      visit(
          *expr, overloaded{
                     [&](const SelectOp& op) { require_positions(op.arg, op.dim, op.out); },
                     [&](const IndexSelectOp& op) { require_positions(op.arg, op.dim, op.index); },
                     [&](const GatherOp& op) {
                       require_positions(op.arg, op.dim, op.index);
                       if (!op.exact_sizes) { // else they are equal, or broadcast together
                         require_at_most(op.index, op.arg, op.dim);
                       }
                     },
                     [&](const ScatterOp& op) { require_sizes(op); },
                     [](const Expr&) {},
                 });
    }
    for (const Val* input : kernel_.inputs()) {
      if (input->is_tensor()) {
        require_elements(static_cast<const TensorView*>(input));
      }
    }
    return std::nullopt;
  }

 private:
  void require_sizes(const ScatterOp& op) {
    require_at_most(op.index, op.out, op.dim);
    if (op.src->is_tensor()) {
      require_at_most(op.index, static_cast<const TensorView*>(op.src), /*except=*/-1);
    }
  }

  [[nodiscard]] static std::optional<Refusal> find_wrong_memory(const ScatterOp& op) {
    for (const TensorView* tensor : {op.out, op.arg}) {
      if (tensor == op.arg && storage_of(tensor).kind != StorageKind::Overwritten) {
        return refuse({
            .headline = {"A scatter overwrites the memory of its operand"},
            .node = {describe(op.out), "\nscatters into ", describe(op.arg)},
            .expected = {"an operand that the fusion computes and nothing else reads"},
            .found =
                {op.arg->definition() == nullptr ? "an input of the fusion"
                                                 : "an output, or a tensor with other readers"},
            .fix = {"scatter into a copy: ops.set before the scatter, or cache_after on the "
                    "operand, and give the copy global memory"},
        });
      }
      if (tensor->memory_type() != MemoryType::Global) {
        return refuse({
            .headline = {"A scatter needs global memory"},
            .node = {describe(tensor)},
            .expected = {"memory that every thread may write"},
            .found = {enum_name(tensor->memory_type())},
            .fix = {"set_memory_type(MemoryType.Global) on the result of the scatter and on the "
                    "tensor it scatters into"},
        });
      }
    }
    return std::nullopt;
  }

  /// No position along an empty dimension is in range.
  void require_positions(const TensorView* arg, int64_t dim, const TensorView* positions) {
    Val* extent = arg->size(dim);
    Val* count = kernel_.one();
    for (Val* size : positions->shape()) {
      count = scalar::mul(count, size);
    }
    require(
        scalar::logical_or(scalar::lt(kernel_.zero(), extent), scalar::eq(count, kernel_.zero())),
        arg, {"Dimension ", dim, " of ", arg->to_string(), ", which is looked up, has no element"});
  }

  /// Extents of `small` are at most those of `large`, but in the dimension `except`.
  void require_at_most(const TensorView* small, const TensorView* large, int64_t except) {
    for (int64_t dim = 0; dim < small->rank(); ++dim) {
      if (dim != except) {
        require(
            scalar::le(small->size(dim), large->size(dim)), small,
            {"Dimension ", dim, " of ", small->to_string(), " is larger than that of ",
             large->to_string()});
      }
    }
  }

  /// A reader with elements along the dimension has a loop over them, or tests whether the operand
  /// has one there (`pad`). All others read the one element.
  void require_elements(const TensorView* input) {
    const IterDomains axes = TensorDomain::no_reductions(input->logical());
    for (size_t dim = 0; dim < axes.size(); ++dim) {
      const auto reads_one = [&](const TensorView* reader) {
        const IterDomain* axis = PairwiseDomainMap(input, reader).consumer_of(axes[dim]);
        return axis == nullptr || axis->is_broadcast();
      };
      if (axes[dim]->has_expanded_extent() && std::ranges::any_of(input->consumers(), reads_one)) {
        Val* size = axes[dim]->maybe_expanded_extent();
        kernel_.launch.conditions.push_back(
            {.holds = scalar::logical_or(scalar::lt(kernel_.zero(), size), is_empty(kernel_)),
             .report =
                 {.headline =
                      {"An expanded dimension of size 0 has no element that a kernel reads"},
                  .node = {describe(input)},
                  .expected = {"a size of 1 or more for ", axes[dim]->to_string()},
                  .found = {"size 0, beside outputs that are not empty"},
                  .fix = {"evaluate the fusion: fd.execute does"}},
             .kind = ErrorKind::NotImplemented});
      }
    }
  }

  void require(Val* condition, const TensorView* tensor, const Part& headline) {
    if (!condition->is_true()) {
      kernel_.launch.conditions.push_back(size_condition(condition, headline, describe(tensor)));
    }
  }

  Kernel& kernel_;
};

} // namespace

std::optional<Refusal> check_index_accesses(Kernel& kernel) {
  return IndexAccessCheck(kernel).run();
}

} // namespace nvfuser

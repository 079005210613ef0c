#include "lower/passes/check_index_accesses.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "ir/scalar.h"
#include "lower/analysis/launch_conditions.h"
#include "lower/analysis/loop_model.h"
#include "lower/statements/size_conditions.h"

namespace nvfuser {
namespace {

class IndexAccessCheck {
 public:
  explicit IndexAccessCheck(Kernel& kernel) : kernel_(kernel) {}

  std::optional<Refusal> run() {
    SizeConditions conditions(kernel_);
    for (const Expr* expr : kernel_.exprs()) {
      if (const TensorView* operand = overwritten_operand(expr)) {
        NVF_RETURN_REFUSAL(find_wrong_memory(operand, first_output(expr)));
      }
      visit(*expr, [&](const auto& op) {
        if constexpr (requires { require_sizes(op, conditions); }) {
          require_sizes(op, conditions);
        }
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
  /// The operand that `result` begins as and overwrites lies in global memory, which every thread
  /// may write.
  [[nodiscard]] static std::optional<Refusal> find_wrong_memory(
      const TensorView* operand, const TensorView* result) {
    for (const TensorView* tensor : {result, operand}) {
      if (tensor == operand && storage_of(tensor).kind != StorageKind::Overwritten) {
        return refuse({
            .headline = {"A scatter overwrites the memory of its operand"},
            .node = {describe(result), "\nscatters into ", describe(operand)},
            .expected = {"an operand that the fusion computes and nothing else reads"},
            .found =
                {operand->definition() == nullptr ? "an input of the fusion"
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

  Kernel& kernel_;
};

} // namespace

std::optional<Refusal> check_index_accesses(Kernel& kernel) {
  return IndexAccessCheck(kernel).run();
}

} // namespace nvfuser

#include "lower/passes/check_in_place.h"

#include <unordered_set>
#include <vector>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "graph/val_graph.h"
#include "lower/analysis/loop_model.h"

namespace nvfuser {
namespace {

const Loop* loop_bound_to(const LoopNest& nest, ParallelType type) {
  for (const Loop* loop : nest) {
    if (loop->parallel_type == type && !loop->index->is_const()) {
      return loop;
    }
  }
  return nullptr;
}

class InPlaceCheck {
 public:
  InPlaceCheck(const Kernel& kernel, const TensorView* output, const TensorView* input)
      : kernel_(kernel),
        exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)),
        output_(output),
        input_(input) {}

  [[nodiscard]] std::optional<Refusal> run() const {
    NVF_RETURN_REFUSAL(find_expanded_update());
    for (const Expr* expr : kernel_.sorted_exprs) {
      for (const Val* in : expr->inputs()) {
        if (in == input_) {
          NVF_RETURN_REFUSAL(find_repeated_update());
          const auto* reader = static_cast<const TensorView*>(expr->outputs().front());
          NVF_RETURN_REFUSAL(find_unsafe_read(reader));
        }
      }
    }
    return std::nullopt;
  }

 private:
  /// The memory of an expanded axis holds one element for all; the input's holds each.
  [[nodiscard]] std::optional<Refusal> find_expanded_update() const {
    const IterDomains written = TensorDomain::no_reductions(output_->logical());
    for (size_t i = 0; i < written.size(); ++i) {
      if (written[i]->has_expanded_extent() && !input_->logical().at(i)->is_broadcast()) {
        return refuse(
            {
                .headline = {"An expanded tensor cannot be written into an input"},
                .node = {describe(output_), "\nis written into ", describe(input_)},
                .expected = {"an element for each one of the input"},
                .found = {written[i]->to_string(), ", one element for all"},
                .fix = {"make an element for each, for instance by adding a tensor of zeros"},
            },
            ErrorKind::NotImplemented);
      }
    }
    return std::nullopt;
  }

  /// Done twice, an update takes the updated element for the old one.
  [[nodiscard]] std::optional<Refusal> find_repeated_update() const {
    for (const IterDomain* axis : output_->loop()) {
      const IterDomain* promoted = kernel_.loop_model->loop_of(axis)->promoted;
      if (!runs_once_for_each(axis, promoted)) {
        return refuse({
            .headline = {"An update in place would be done several times"},
            .node = {describe(output_), "\nis written into ", describe(input_)},
            .expected = {"loops over the axes of the update"},
            .found =
                {"a loop over ", promoted->to_string(), " in place of ", axis->to_string(),
                 ", because a tensor that it shares loops with has more axes"},
            .fix = {"inline less deep what the update reads"},
        });
      }
    }
    // No index tells the iterations of such an axis apart, also where it was merged with others.
    for (const IterDomain* axis : output_->domain()->all_ids()) {
      if (axis->is_broadcast() && !axis->extent()->is_one()) {
        return refuse({
            .headline = {"An update in place would be done several times"},
            .node = {describe(output_), "\nis written into ", describe(input_)},
            .expected = {"loops over the axes of the update"},
            .found = {"the broadcast axis ", axis->to_string(), ", which is no axis of the update"},
            .fix = {"do not split broadcast axes of an update, and insert none"},
        });
      }
    }
    return std::nullopt;
  }

  /// Whether a loop over `promoted` has an iteration for each position of `axis`, and no others.
  /// Merging an axis of size 1 makes another axis, but no more iterations.
  [[nodiscard]] bool runs_once_for_each(const IterDomain* axis, const IterDomain* promoted) const {
    return promoted->extent()->is_one() || exact_.are_mapped(axis, promoted) ||
           kernel_.id_model->maybe_build_graph(IdMappingMode::almost_exact)
               .are_mapped(axis, promoted);
  }

  [[nodiscard]] std::optional<Refusal> find_unsafe_read(const TensorView* reader) const {
    // The tensor that a scatter overwrites is computed in place: each of its elements by the thread
    // that reads it.
    const bool is_overwritten = reader != output_ && buffer_of(reader) == output_;
    const bool is_scattered =
        overwritten_operand(output_->definition()) != nullptr && !is_overwritten;
    if (is_scattered || !indexed_axes(input_, reader).empty()) {
      return reject(
          reader, {"readers and updates whose elements are known by their axes"},
          {"elements at positions that a tensor holds"});
    }
    if (!updates_same_elements(exact_, output_, input_)) {
      return reject(reader, {"the same element of both"}, {"axes that do not correspond"});
    }
    if (is_overwritten) {
      return std::nullopt;
    }
    const LoopNest& reading = kernel_.loop_model->nest(reader);
    const LoopNest& writing = kernel_.loop_model->nest(output_);
    for (const ParallelType type : kHardwareTypes) {
      const Loop* from = loop_bound_to(reading, type);
      const Loop* to = loop_bound_to(writing, type);
      const bool is_same_thread = from == to || (from != nullptr && to != nullptr &&
                                                 exact_.are_mapped(from->promoted, to->promoted));
      if (!is_same_thread) {
        return reject(
            reader, {type, " bound to the same axis in the reader and in the update"},
            {from == nullptr ? std::string("no axis") : from->promoted->to_string(), " and ",
             to == nullptr ? std::string("no axis") : to->promoted->to_string()});
      }
      if (from == nullptr && is_computed_by_all(reader, type) && is_stored_besides(reader)) {
        return reject(
            reader, {"a reader in the thread that writes the update"},
            {"a tensor that is computed anew for every ", type});
      }
    }
    return std::nullopt;
  }

  /// Whether a tensor without an axis that is bound to `type` is computed wherever it is needed:
  /// what others see has one writer.
  [[nodiscard]] bool is_computed_by_all(const TensorView* tensor, ParallelType type) const {
    const Val* launched = kernel_.launch.extents[type];
    const bool is_launched = launched != nullptr && !launched->is_one();
    const MemoryType memory = tensor->memory_type();
    return is_launched &&
           (memory == MemoryType::Local || (memory == MemoryType::Shared && is_grid_dim(type)));
  }

  /// Whether anything but the update is stored that depends on `tensor`: a kernel that only updates
  /// has read what it needs before.
  [[nodiscard]] bool is_stored_besides(const TensorView* tensor) const {
    std::unordered_set<const TensorView*> seen = {tensor};
    std::vector<const TensorView*> pending = {tensor};
    while (!pending.empty()) {
      const TensorView* dependent = pending.back();
      pending.pop_back();
      if (dependent == output_) {
        continue;
      }
      if (dependent->memory_type() == MemoryType::Global) {
        return true;
      }
      for (const TensorView* consumer : dependent->consumers()) {
        if (seen.insert(consumer).second) {
          pending.push_back(consumer);
        }
      }
    }
    return false;
  }

  [[nodiscard]] Refusal reject(
      const TensorView* reader, const Part& expected, const Part& found) const {
    return refuse({
        .headline = {"An input is updated in place while another thread may still read it"},
        .node =
            {describe(output_), "\nis written into ", describe(input_), "\nwhich is read by ",
             describe(reader)},
        .expected = expected,
        .found = found,
        .fix = {"give the reader and the update the same schedule, or return the update as an "
                "output of its own and copy it afterwards"},
    });
  }

  const Kernel& kernel_;
  const ValGraph& exact_;
  const TensorView* output_;
  const TensorView* input_;
};

} // namespace

std::optional<Refusal> check_in_place(Kernel& kernel) {
  for (const Val* output : kernel.outputs()) {
    if (const TensorView* input = updated_input(output)) {
      NVF_RETURN_REFUSAL(InPlaceCheck(kernel, static_cast<const TensorView*>(output), input).run());
    }
  }
  return std::nullopt;
}

} // namespace nvfuser

#include "transform/other_threads.h"

#include <algorithm>
#include <array>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "transform/one_loop.h"
#include "transform/source_axes.h"

namespace nvfuser::transform {
namespace {

/// The position of the axis that is bound to an index of threads; none: the rank.
int64_t position_of(const TensorView* tensor, ParallelType type) {
  const auto& loop = tensor->loop();
  return std::ranges::find(loop, type, &IterDomain::parallel_type) - loop.begin();
}

class ReaderSearch {
 public:
  explicit ReaderSearch(Fusion& fusion)
      : model_(shared_id_model(fusion)),
        exact_(model_->maybe_build_graph(IdMappingMode::exact)),
        alignments_(shared_alignments(fusion)),
        loop_(positions_, *alignments_) {
    for (const TensorView* tensor : scheduled_tensors(fusion)) {
      tensors_.insert(tensor);
    }
  }

  [[nodiscard]] bool has_other_threads(const TensorView* tensor) {
    return std::ranges::any_of(kTypes, [&](ParallelType type) {
      const int64_t own = position_of(tensor, type);
      return own < tensor->ndims() && own >= tensor->compute_at_position() &&
             has_wider_reader(tensor, tensor->axis(own), type);
    });
  }

 private:
  static constexpr std::array kTypes = {ParallelType::TIDx, ParallelType::TIDy, ParallelType::TIDz};

  /// Broadcasts and results of reductions are in all threads.
  [[nodiscard]] bool has_wider_reader(
      const TensorView* tensor, IterDomain* axis, ParallelType type) {
    if (axis->is_broadcast() || axis->is_reduction() || axis->extent()->is_one()) {
      return false;
    }
    const SourceAxes parts(exact_, axis);
    const auto is_wider = [&](const OneLoop::Node& node) {
      return parts.are_exceeded_by(node.tensor->axis(node.axis));
    };
    return std::ranges::any_of(tensor->consumers(), [&](TensorView* consumer) {
      const OneLoop::Node start{consumer, position_of(consumer, type)};
      return start.axis < consumer->ndims() &&
             (is_wider(start) || loop_.peak_before(start, is_wider, tensors_).has_value());
    });
  }

  std::shared_ptr<IdModel> model_; // keeps the graph
  const ValGraph& exact_;
  std::shared_ptr<Alignments> alignments_;
  InlineLimits::Positions positions_; // none: those of the tensors
  OneLoop loop_;
  OneLoop::Tensors tensors_; // only looked up
};

} // namespace

std::vector<TensorView*> read_by_other_threads(Fusion& fusion) {
  std::vector<TensorView*> found;
  ReaderSearch search(fusion);
  for (TensorView* tensor : scheduled_tensors(fusion)) {
    if (tensor->definition() != nullptr && tensor->memory_type() == MemoryType::Local &&
        search.has_other_threads(tensor)) {
      found.push_back(tensor);
    }
  }
  return found;
}

} // namespace nvfuser::transform

// Tensors: what they are. The scheduling primitives stand in transform/.
#include "ir/tensor_view.h"

#include <algorithm>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/rules.h"

namespace nvfuser {
namespace {

/// The tensors of `vals` behind those that are listed already, each once.
void append_tensors(std::vector<TensorView*>& tensors, const std::vector<Val*>& vals) {
  const auto first = static_cast<std::ptrdiff_t>(tensors.size());
  for (Val* val : vals) {
    if (val->is_tensor() &&
        std::find(tensors.begin() + first, tensors.end(), val) == tensors.end()) {
      tensors.push_back(static_cast<TensorView*>(val));
    }
  }
}

std::vector<TensorView*> tensors_among(const std::vector<Val*>& vals) {
  std::vector<TensorView*> tensors;
  tensors.reserve(vals.size());
  append_tensors(tensors, vals);
  return tensors;
}

} // namespace

std::vector<TensorView*> tensor_inputs(const Expr* expr) {
  return tensors_among(expr->inputs());
}

std::vector<TensorView*> tensor_outputs(const Expr* expr) {
  return tensors_among(expr->outputs());
}

std::optional<Refusal> find_wrong_axis(int64_t position, int64_t size, const Statement* node) {
  if (position >= -size && position < size) {
    return std::nullopt;
  }
  return refuse(
      {.headline = {"Tried to access out of boundary index ", position, ". total index: ", size},
       .node = node == nullptr ? "" : describe(node),
       .expected =
           size == 0 ? Part("an object with axes") : Part("index in [", -size, ", ", size, ")"),
       .found = {"index = ", position},
       .fix = "print the tensor to see its axes: reductions are no dimensions, and loop axes count "
              "after earlier transforms"},
      ErrorKind::Index);
}

int64_t wrap_axis(int64_t position, int64_t size, const Statement* node) {
  if (position < 0 || position >= size) { // most calls are right, and positive
    check(find_wrong_axis(position, size, node));
  }
  return position < 0 ? position + size : position;
}

int64_t TensorView::rank() const {
  return std::ranges::count_if(
      logical(), [](const IterDomain* axis) { return !axis->is_reduction(); });
}

IterDomain* TensorView::axis(int64_t position) const {
  return loop()[static_cast<size_t>(wrap_axis(position, ndims(), this))];
}

Val* TensorView::size(int64_t dim) const {
  const IterDomains ids = TensorDomain::no_reductions(logical());
  return ids[static_cast<size_t>(wrap_axis(dim, static_cast<int64_t>(ids.size()), this))]
      ->maybe_expanded_extent();
}

std::vector<Val*> TensorView::shape() const {
  std::vector<Val*> sizes;
  for (const IterDomain* id : TensorDomain::no_reductions(logical())) {
    sizes.push_back(id->maybe_expanded_extent());
  }
  return sizes;
}

int64_t TensorView::compute_position(const TensorView* consumer) const {
  const auto& chosen = schedule_.compute_with_consumers;
  return std::find(chosen.begin(), chosen.end(), consumer) != chosen.end()
             ? schedule_.compute_with_position
             : schedule_.compute_at_position;
}

bool TensorView::has_reduction() const {
  return domain_->has_reduction();
}

bool TensorView::has_broadcast() const {
  return domain_->has_broadcast();
}

std::vector<TensorView*> TensorView::producers() const {
  return definition() == nullptr ? std::vector<TensorView*>{} : tensor_inputs(definition());
}

std::vector<TensorView*> TensorView::consumers() const {
  const std::vector<Expr*> readers = uses();
  std::vector<TensorView*> found;
  found.reserve(readers.size());
  for (const Expr* reader : readers) { // no two of them define the same tensor
    append_tensors(found, reader->outputs());
  }
  return found;
}

std::vector<TensorView*> TensorView::siblings() const {
  std::vector<TensorView*> outputs =
      definition() == nullptr ? std::vector<TensorView*>{} : tensor_outputs(definition());
  std::erase(outputs, this);
  return outputs;
}

void TensorView::record_step(ScheduleCall call, GraphEffect effect) {
  count_edit();
  schedule_steps_.push_back(
      {.tensor = this,
       .call = std::move(call),
       .location = current_source_location(),
       .serial = fusion()->take_serial(),
       .effect = std::move(effect)});
}

} // namespace nvfuser

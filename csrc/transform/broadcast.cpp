// TensorView::broadcast: a loop that repeats what is inside of it.
#include "ir/fusion.h"
#include "ir/rules.h"
#include "ir/scalar.h"
#include "transform/axis_checks.h"
#include "transform/rules.h"

namespace nvfuser::transform {

std::optional<Refusal> find_wrong_broadcast(const TensorView* tv, int64_t axis, const Val* extent) {
  // A new axis may also stand behind all others.
  NVF_RETURN_REFUSAL(find_wrong_axis(axis, tv->ndims() + 1, tv));
  const int64_t position = wrap_axis(axis, tv->ndims() + 1, tv);
  if (position < tv->ndims()) {
    NVF_RETURN_REFUSAL(find_shared_axis(tv, position, "broadcast"));
  }
  if (extent == nullptr) {
    return std::nullopt;
  }
  NVF_RETURN_REFUSAL(find_wrong_size(tv, extent, "broadcast", "extent"));
  if (!extent->is_symbolic() && as_int(extent->value()) <= 0) {
    return refuse_node(
        tv, {"Invalid extent for broadcast. Extent must be greater than 0. Extent = ",
             extent->to_string()});
  }
  return std::nullopt;
}

} // namespace nvfuser::transform

namespace nvfuser {

TensorView* TensorView::broadcast(int64_t axis, Val* extent) {
  check(transform::find_wrong_broadcast(this, axis, extent));
  const int64_t position = wrap_axis(axis, ndims() + 1, this);
  if (extent == nullptr) {
    extent = fusion()->one();
  }
  IterDomain* id = fusion()->new_iter_domain(
      IterDomainSpec{
          .extent = scalar::cast(DataType::Index, extent), .iter_type = IterType::Broadcast});
  IterDomains ids = loop();
  ids.insert(ids.begin() + position, id);
  domain()->assign_loop(std::move(ids));
  record_step(steps::Broadcast{.axis = axis, .extent = extent});
  return this;
}

} // namespace nvfuser

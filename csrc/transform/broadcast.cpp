// TensorView::broadcast: a loop that repeats what is inside of it.
#include "base/errors.h"
#include "ir/fusion.h"
#include "ir/node_check.h"
#include "ir/scalar.h"
#include "transform/axis_checks.h"

namespace nvfuser {

TensorView* TensorView::broadcast(int64_t axis, Val* extent) {
  // A new axis may also stand behind all others.
  const int64_t position = wrap_axis(axis, ndims() + 1, this);
  if (position < ndims()) {
    static_cast<void>(check_free_axis(this, position, "broadcast"));
  }
  if (extent == nullptr) {
    extent = fusion()->one();
  }
  check_size(this, extent, "broadcast", "extent");
  NVF_NODE_CHECK(
      extent->is_symbolic() || as_int(extent->value()) > 0, this,
      "Invalid extent for broadcast. Extent must be greater than 0. Extent = ",
      extent->to_string());
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

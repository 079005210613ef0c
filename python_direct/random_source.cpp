// Seeds for random tensors that have none: the package asks PyTorch's generators.
#include "bindings.h"
#include "gil.h"
#include "runtime/random_state.h"

namespace nvfuser::python {
namespace {

/// Calls `nvfuser_direct.random_state.draw`, which is imported when a kernel first needs it.
class PythonRandomSource final : public RandomSource {
 public:
  RandomState draw(Device device, int64_t streams) override {
    const GilAcquire gil;
    const nb::object state =
        nb::module_::import_("nvfuser_direct.random_state").attr("draw")(device.str(), streams);
    const auto [seed, offset] = nb::cast<std::pair<uint64_t, uint64_t>>(state);
    return {seed, offset};
  }
};

} // namespace

void bind_random_source(nb::module_& /*m*/) {
  set_random_source(std::make_shared<PythonRandomSource>());
}

} // namespace nvfuser::python

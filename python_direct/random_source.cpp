// Seeds for random tensors that have none: the package asks PyTorch's generators.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <unordered_map>

#include "bindings.h"
#include "gil.h"
#include "runtime/random_state.h"

namespace nvfuser::python {
namespace {

nb::object random_state_module() {
  return nb::module_::import_("nvfuser_direct.random_state");
}

nb::object call(nb::handle function, nb::handle argument = {}) {
  PyObject* arguments = argument.ptr();
  const size_t count = argument.is_valid() ? 1 : 0;
  PyObject* result = PyObject_Vectorcall(function.ptr(), &arguments, count, nullptr);
  if (result == nullptr) {
    throw nb::python_error();
  }
  return nb::steal(result);
}

/// The calls that a draw makes on the default generator of a GPU, looked up once.
struct GeneratorCalls {
  nb::handle lock;
  nb::handle unlock;
  nb::handle is_capturing; // the current stream
  nb::handle seed;
  nb::handle offset;
  nb::handle set_offset;
  uint64_t numbers_per_offset = 1;

  static const GeneratorCalls& of(Device device) {
    // Never destroyed: Python may be gone before.
    static auto& known = *new std::unordered_map<int, GeneratorCalls>;
    const auto found = known.find(device.index);
    if (found != known.end()) {
      return found->second;
    }
    const nb::object calls = random_state_module().attr("generator_calls")(device.str());
    const auto item = [&](int i) { return nb::object(calls[i]).release(); };
    GeneratorCalls found_calls{item(0), item(1), item(2), item(3), item(4), item(5)};
    found_calls.numbers_per_offset = nb::cast<uint64_t>(calls[6]);
    return known.emplace(device.index, found_calls).first->second;
  }
};

class GeneratorLock {
 public:
  explicit GeneratorLock(const GeneratorCalls& calls) : calls_(calls) {
    static_cast<void>(call(calls.lock));
  }
  ~GeneratorLock() {
    nb::steal(PyObject_Vectorcall(calls_.unlock.ptr(), nullptr, 0, nullptr));
  }
  GeneratorLock(const GeneratorLock&) = delete;
  GeneratorLock& operator=(const GeneratorLock&) = delete;

 private:
  const GeneratorCalls& calls_;
};

/// Calls the generators of `nvfuser_direct.random_state`, which is imported when a kernel first
/// needs it.
class PythonRandomSource final : public RandomSource {
 public:
  RandomState draw(Device device, int64_t streams) override {
    const GilAcquire gil;
    if (!device.is_cuda()) {
      return draw_by_python(device, streams);
    }
    const GeneratorCalls& calls = GeneratorCalls::of(device);
    if (call(calls.is_capturing).is(Py_True)) {
      return draw_by_python(device, streams); // which says why not
    }
    const GeneratorLock lock(calls);
    const auto offset = nb::cast<uint64_t>(call(calls.offset));
    const auto drawn = calls.numbers_per_offset * static_cast<uint64_t>(streams);
    static_cast<void>(call(calls.set_offset, nb::cast(offset + drawn)));
    return {nb::cast<uint64_t>(call(calls.seed)), offset / calls.numbers_per_offset};
  }

 private:
  static RandomState draw_by_python(Device device, int64_t streams) {
    const nb::object state = random_state_module().attr("draw")(device.str(), streams);
    const auto [seed, offset] = nb::cast<std::pair<uint64_t, uint64_t>>(state);
    return {seed, offset};
  }
};

} // namespace

void bind_random_source(nb::module_& /*m*/) {
  set_random_source(std::make_shared<PythonRandomSource>());
}

} // namespace nvfuser::python

// ReadMostlyMap, for the tests of the package: the map behind every cache of plans.
#include "base/read_mostly_map.h"

#include "bindings.h"
#include "gil.h"

namespace nvfuser::python {
namespace {

/// Numbers to numbers. Keys share a few hashes, so that look-ups pass over other entries.
class NumberMap {
 public:
  [[nodiscard]] std::optional<int64_t> find(int64_t key) const {
    const std::shared_ptr<const int64_t> value = map_.find(key);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  int64_t insert(int64_t key, int64_t value) {
    return *map_.insert(key, std::make_shared<const int64_t>(value));
  }
  void clear() {
    map_.clear();
  }
  [[nodiscard]] size_t size() const {
    return map_.size();
  }
  [[nodiscard]] std::vector<std::pair<int64_t, int64_t>> items() const {
    std::vector<std::pair<int64_t, int64_t>> result;
    for (const auto& [key, value] : map_.items()) {
      result.emplace_back(key, *value);
    }
    return result;
  }

 private:
  struct FewHashes {
    size_t operator()(int64_t key) const {
      constexpr int64_t kHashes = 5;
      return static_cast<size_t>(key % kHashes);
    }
  };
  ReadMostlyMap<int64_t, std::shared_ptr<const int64_t>, FewHashes> map_;
};

} // namespace

void bind_read_mostly_map(nb::module_& m) {
  const nb::call_guard<GilRelease> no_gil; // threads are in the map at once
  nb::class_<NumberMap>(
      internal_module(m), "NumberMap", "A ReadMostlyMap of numbers, which tests look into.")
      .def(nb::init<>())
      .def("find", &NumberMap::find, "key"_a, no_gil, "The value of a key; None if there is none.")
      .def(
          "insert", &NumberMap::insert, "key"_a, "value"_a, no_gil,
          "Let a key have a value, unless it has one. Returns the one it has.")
      .def("clear", &NumberMap::clear, no_gil, "Forget all entries.")
      .def("items", &NumberMap::items, no_gil, "Keys and values in the order in which they came.")
      .def("__len__", &NumberMap::size, no_gil);
}

} // namespace nvfuser::python

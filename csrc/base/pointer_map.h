// PointerMap: what is known about objects. It is only asked, never listed: addresses have no order
// that a result may depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace nvfuser {

/// An array of places: an object is looked for from the place of its address on. An insertion
/// allocates nothing, unless the array is half full. References to values last until the next
/// insertion.
template <typename T, typename Value>
class PointerMap {
 public:
  /// The value of `object`, which is in the map from now on, and whether it is new; then it is
  /// `value`. Requires: `object` is not nullptr.
  std::pair<Value&, bool> try_emplace(const T* object, Value value = {}) {
    if (2 * count_ >= places_.size()) {
      grow();
    }
    Place& place = places_[place_of(object)];
    if (place.object != nullptr) {
      return {place.value, false};
    }
    place = {object, std::move(value)};
    ++count_;
    return {place.value, true};
  }
  void insert_or_assign(const T* object, Value value) {
    try_emplace(object).first = std::move(value);
  }

  /// nullptr: `object` is not in the map.
  [[nodiscard]] const Value* find(const T* object) const {
    if (places_.empty()) {
      return nullptr;
    }
    const Place& place = places_[place_of(object)];
    return place.object == nullptr ? nullptr : &place.value;
  }
  [[nodiscard]] bool contains(const T* object) const {
    return find(object) != nullptr;
  }
  [[nodiscard]] const Value& at(const T* object) const {
    const Value* value = find(object);
    NVF_INVARIANT(value != nullptr, "the map has the object");
    return *value;
  }

  void clear() {
    places_.clear();
    count_ = 0;
  }

 private:
  struct Place {
    const T* object = nullptr; // nullptr: an empty place
    [[no_unique_address]] Value value{};
  };
  static constexpr size_t kFewest = 64; // places; a power of two

  /// The index of the place that has `object`, or would.
  [[nodiscard]] size_t place_of(const T* object) const {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
    constexpr int kShift = 32; // the upper bits of a product depend on all bits
    const size_t mask = places_.size() - 1;
    size_t i = (reinterpret_cast<uintptr_t>(object) * kGolden >> kShift) & mask;
    while (places_[i].object != nullptr && places_[i].object != object) {
      i = (i + 1) & mask;
    }
    return i;
  }

  void grow() {
    std::vector<Place> old(places_.empty() ? kFewest : 2 * places_.size());
    old.swap(places_);
    for (Place& place : old) {
      if (place.object != nullptr) {
        places_[place_of(place.object)] = std::move(place);
      }
    }
  }

  std::vector<Place> places_; // at least half of them are empty
  size_t count_ = 0;
};

} // namespace nvfuser

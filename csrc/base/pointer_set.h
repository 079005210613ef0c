// PointerSet: which objects were met. It is only asked, never listed: addresses have no order that
// a result may depend on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvfuser {

/// An array of places: an object is looked for from the place of its address on. An insertion
/// allocates nothing, unless the array is half full.
template <typename T>
class PointerSet {
 public:
  /// Whether `object`, which is in the set from now on, is new. Requires: it is not nullptr.
  bool insert(const T* object) {
    if (2 * count_ >= places_.size()) {
      grow();
    }
    const T*& place = place_of(object);
    if (place != nullptr) {
      return false;
    }
    place = object;
    ++count_;
    return true;
  }

 private:
  static constexpr size_t kFewest = 64; // places; a power of two

  /// The place that has `object`, or would.
  const T*& place_of(const T* object) {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
    constexpr int kShift = 32; // the upper bits of a product depend on all bits
    size_t i = reinterpret_cast<uintptr_t>(object) * kGolden >> kShift;
    for (;; ++i) {
      const T*& place = places_[i & (places_.size() - 1)];
      if (place == nullptr || place == object) {
        return place;
      }
    }
  }

  void grow() {
    std::vector<const T*> old(places_.empty() ? kFewest : 2 * places_.size());
    old.swap(places_);
    for (const T* object : old) {
      if (object != nullptr) {
        place_of(object) = object;
      }
    }
  }

  std::vector<const T*> places_; // at least half of them are empty
  size_t count_ = 0;
};

} // namespace nvfuser

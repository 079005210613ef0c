// Numbering: objects in the order in which they were added, and the place of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace nvfuser {

/// A list without duplicates that knows where its entries stand. Beside the list it has one array
/// of positions: an entry is looked for from the place of its hash on. Adding one allocates
/// nothing, unless an array is full.
template <typename T, typename Hash = std::hash<T>>
class Numbering {
 public:
  /// The position of `entry`, which is in the list from now on, and whether it is new.
  std::pair<size_t, bool> add(const T& entry) {
    if (2 * entries_.size() >= places_.size()) {
      grow();
    }
    Place& place = places_[place_of(entry)];
    if (place != kEmpty) {
      return {place, false};
    }
    place = static_cast<Place>(entries_.size());
    entries_.push_back(entry);
    return {place, true};
  }

  [[nodiscard]] std::optional<size_t> find(const T& entry) const {
    if (places_.empty()) {
      return std::nullopt;
    }
    const Place place = places_[place_of(entry)];
    return place == kEmpty ? std::nullopt : std::optional<size_t>(place);
  }

  [[nodiscard]] const std::vector<T>& entries() const {
    return entries_;
  }

  void reserve(size_t size) {
    entries_.reserve(size);
    while (2 * size >= places_.size()) {
      grow();
    }
  }

 private:
  using Place = uint32_t; // a position in `entries_`
  static constexpr Place kEmpty = std::numeric_limits<Place>::max();
  static constexpr size_t kFewest = 32; // places; a power of two

  /// The index of the place that has the position of `entry`, or that would have it.
  [[nodiscard]] size_t place_of(const T& entry) const {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
    constexpr int kShift = 32; // the upper bits of a product depend on all bits
    const size_t mask = places_.size() - 1;
    size_t i = (Hash{}(entry)*kGolden >> kShift) & mask;
    while (places_[i] != kEmpty && entries_[places_[i]] != entry) {
      i = (i + 1) & mask;
    }
    return i;
  }

  void grow() {
    places_.assign(places_.empty() ? kFewest : 2 * places_.size(), kEmpty);
    for (size_t i = 0; i < entries_.size(); ++i) {
      places_[place_of(entries_[i])] = static_cast<Place>(i);
    }
  }

  std::vector<T> entries_;
  std::vector<Place> places_; // at least half of them are empty
};

} // namespace nvfuser

// PointerMap: what is known about objects. It is only asked, never listed: addresses have no order
// that a result may depend on.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/numbering.h"

namespace nvfuser {

/// Adding an object allocates nothing, unless an array is full.
template <typename T, typename Value>
class PointerMap {
 public:
  /// Note `value` of an object that nothing is known about. Returns false, and changes nothing, if
  /// something is.
  bool emplace(const T* object, Value value) {
    const bool is_new = objects_.add(object).second;
    if (is_new) {
      values_.push_back(std::move(value));
    }
    return is_new;
  }

  /// The value of an object, which is the default one if nothing was known.
  [[nodiscard]] Value& operator[](const T* object) {
    const auto [position, is_new] = objects_.add(object);
    if (is_new) {
      values_.emplace_back();
    }
    return values_[position];
  }

  /// nullptr: nothing is known.
  [[nodiscard]] const Value* find(const T* object) const {
    const std::optional<size_t> position = objects_.find(object);
    return position.has_value() ? &values_[*position] : nullptr;
  }

 private:
  Numbering<const T*> objects_;
  std::vector<Value> values_; // as many
};

} // namespace nvfuser

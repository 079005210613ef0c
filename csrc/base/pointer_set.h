// PointerSet: which objects were met. It is only asked, never listed: addresses have no order that
// a result may depend on.
#pragma once

#include "base/pointer_map.h"

namespace nvfuser {

template <typename T>
class PointerSet {
 public:
  /// Whether `object`, which is in the set from now on, is new. Requires: it is not nullptr.
  bool insert(const T* object) {
    return objects_.try_emplace(object).second;
  }
  [[nodiscard]] bool contains(const T* object) const {
    return objects_.contains(object);
  }

 private:
  struct Nothing {};
  PointerMap<T, Nothing> objects_;
};

} // namespace nvfuser

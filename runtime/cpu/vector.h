// Several neighbouring elements in one access, aligned or not.
//
// provides: copy_vector fill_vector
// requires: types
#pragma once

template <int kLanes, typename T>
NVF_FUNCTION void copy_vector(T* to, const T* from) {
  T lanes[kLanes]; // all are read before one is written
  __builtin_memcpy(lanes, from, sizeof(lanes));
  __builtin_memcpy(to, lanes, sizeof(lanes));
}

/// Let `kLanes` elements be `value`.
template <int kLanes, typename T, typename V>
NVF_FUNCTION void fill_vector(T* to, V value) {
  for (int i = 0; i < kLanes; ++i) {
    to[i] = value;
  }
}

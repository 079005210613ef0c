// Several neighbouring elements in one access, aligned or not.
//
// provides: copy_vector
// requires: types
#pragma once

template <int kLanes, typename T>
NVF_FUNCTION void copy_vector(T* to, const T* from) {
  T lanes[kLanes]; // all are read before one is written
  __builtin_memcpy(lanes, from, sizeof(lanes));
  __builtin_memcpy(to, lanes, sizeof(lanes));
}

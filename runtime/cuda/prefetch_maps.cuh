// Descriptions of tensors that bulk copies read, fetched where the kernel begins. Compute
// capability 9.0 and above.
//
// provides: prefetch_maps
// requires: types thread_index bulk_copy
#pragma once

NVF_FUNCTION void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" : : "l"(map.address()) : "memory");
}

/// The thread that loads asks for them: it is the one that waits for them otherwise.
template <typename... Maps>
NVF_FUNCTION void prefetch_maps(const Maps&... maps) {
  if (begins_block()) {
    (prefetch_map(maps), ...);
  }
}

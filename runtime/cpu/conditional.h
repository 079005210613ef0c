// Conditional evaluation: values that are computed only where a condition holds.
//
// provides: guarded keep_branch likely
// requires: types
#pragma once

/// The index of an element that is read under a condition that the use of the value is not under.
/// g++ before 14 may turn several such reads of one iteration into vectors that are all loaded
/// under the mask of the first; it cannot where the index comes from nowhere.
NVF_FUNCTION nvfuser_index_t guarded(nvfuser_index_t index) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
  asm("" : "+r"(index));
#endif
  return index;
}

/// Stands in a branch whose reads are not guarded, since no mask may take its place.
NVF_FUNCTION void keep_branch() {
#if defined(__GNUC__) && !defined(__clang__)
  asm volatile("");
#endif
}

/// g++ makes no vectors of loops where it takes the branch for a rare one.
NVF_FUNCTION bool likely(bool condition) {
  return __builtin_expect(condition, true);
}

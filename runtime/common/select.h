// Selection: one of two values, both of which are there.
//
// provides: select
// requires: types
#pragma once

template <typename T, typename = void>
struct Choice {
  NVF_FUNCTION static T of(bool condition, T a, T b) {
    return condition ? a : b;
  }
};

/// One of two narrow floats. Compilers move structures, and jump around one of them.
template <typename T>
struct Choice<T, decltype(void(T().bits))> {
  NVF_FUNCTION static T of(bool condition, T a, T b) {
    return {condition ? a.bits : b.bits};
  }
};

/// `condition ? a : b`, with both evaluated: one instruction, also for vectors of a processor.
template <typename T>
NVF_FUNCTION T select(bool condition, T a, T b) {
  return Choice<T>::of(condition, a, b);
}

// Cut: why a tensor lies in memory between two segments, as a value.
//
//   T7 (model.py:31) needs another reduction pattern than T3 (model.py:22)
#pragma once

#include <cstdint>
#include <string>

#include "ir/tensor_view.h"

namespace nvfuser::segment {

enum class CutRule : uint8_t {
  Asked,      // a segment_set asks for it, or a hint
  Library,    // one of both sides is evaluated, or has a segment of its own
  Lookup,     // elements are read at other positions
  Pattern,    // two reductions reduce different axes
  Space,      // what reads it runs over other axes
  OnChip,     // what is needed before and after a reduction does not fit on chip
  Shapes,     // outputs of different shapes
  Reshape,    // reshapes that share no loops
  Itself,     // a tensor would meet its own transpose or reshape
  View,       // what reads it is a view, which needs no kernel
  Repeated,   // its reader would compute it again for each of many elements
  Update,     // an input is read before it is written in place
  Order,      // what reads it also waits for a third segment
  Unsuitable, // no scheduler takes both sides together
};

/// "pattern"
[[nodiscard]] const char* to_string(CutRule rule);

struct Cut {
  CutRule rule = CutRule::Order;
  TensorView* tensor = nullptr; // that is written by one segment and read by another
  TensorView* reader = nullptr; // result of the expression that reads it
  TensorView* other = nullptr;  // what the reader cannot be with; nullptr: the tensor itself

  /// One sentence, which names tensors and the lines of Python that made them.
  [[nodiscard]] std::string to_string() const;
};

/// "T7 (model.py:31)"; "T7" where no line is known.
[[nodiscard]] std::string name_of(const TensorView* tensor);

} // namespace nvfuser::segment

// Rules of the user's program that are about one node.
#pragma once

#include "base/errors.h"
#include "ir/statement.h"

/// Check a rule that says everything in its headline. The error also names `about`, with the line
/// of Python that made it.
#define NVF_NODE_CHECK(condition, about, ...)      \
  do {                                             \
    if (!(condition)) {                            \
      throw ::nvfuser::UserError(                  \
          ::nvfuser::ErrorReport{                  \
              .headline = {__VA_ARGS__},           \
              .node = ::nvfuser::describe(about),  \
              .expected = ::nvfuser::Part::none(), \
              .found = ::nvfuser::Part::none(),    \
              .fix = ::nvfuser::Part::none()});    \
    }                                              \
  } while (false)

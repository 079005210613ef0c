// Traces: NVFUSER_TRACE=file.json records what ran when, for chrome://tracing and Perfetto.
//
//   const TraceSpan span("insert_syncs");   // from here to the end of its scope
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nvfuser {

class TraceSpan {
 public:
  explicit TraceSpan(std::string_view name);
  ~TraceSpan();
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  std::string name_;
  int64_t begin_us_; // kNotTraced: nothing is recorded
};

} // namespace nvfuser

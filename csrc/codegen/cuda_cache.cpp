#include "codegen/cuda_cache.h"

#include "lower/analysis/memory_layout.h"

namespace nvfuser {

CacheHint cache_hint_of(const TensorView* result) {
  return result->schedule().cache_hint;
}

std::string hint_argument(const TensorView* result) {
  switch (cache_hint_of(result)) {
    case CacheHint::EvictFirst: return ", Hint::EvictFirst";
    case CacheHint::EvictLast: return ", Hint::EvictLast";
    case CacheHint::NoAllocate: return ", Hint::NoAllocate";
    case CacheHint::Unspecified: break;
  }
  return "";
}

bool has_hint_for_element(const LoadStoreOp& copy) {
  const TensorView* from = view_of(copy.arg);
  const TensorView* to = view_of(copy.out);
  const auto is_in_memory = [](const TensorView* view) {
    return view != nullptr && !view->is_cpu_scalar() && !is_stored_in_pairs(view);
  };
  if (!is_in_memory(from) || !is_in_memory(to)) {
    return false;
  }
  // Other cache operators are not about what other multiprocessors see.
  const bool has_hint =
      copy.cache_op == CacheOp::Global || cache_hint_of(to) != CacheHint::Unspecified;
  return has_hint &&
         (from->memory_type() == MemoryType::Global || to->memory_type() == MemoryType::Global);
}

const char* load_operator(KernelPrinter& printer, const LoadStoreOp& copy) {
  switch (copy.cache_op) {
    case CacheOp::Streaming: return "Cache::Streaming";
    case CacheOp::Global: return "Cache::Global";
    case CacheOp::AllLevels:
    case CacheOp::Unspecified: break;
  }
  return printer.expressions().is_read_only(view_of(copy.arg)) ? "Cache::ReadOnly"
                                                               : "Cache::AllLevels";
}

const char* store_operator(const LoadStoreOp& copy) {
  switch (copy.cache_op) {
    case CacheOp::Streaming: return "Cache::Streaming";
    case CacheOp::Global: return "Cache::Global";
    case CacheOp::AllLevels:
    case CacheOp::Unspecified: break;
  }
  return "Cache::AllLevels";
}

} // namespace nvfuser

#include "codegen/cpu_scratch.h"

#include <algorithm>

namespace nvfuser {
namespace {

constexpr int64_t kMaxStackBytes = 16 * 1024; // of one array

} // namespace

bool is_in_scratch(const Allocate& allocate) {
  return allocate.memory_type == MemoryType::Local &&
         (!allocate.size->is_const() ||
          as_int(allocate.size->value()) * size_bytes(allocate.buffer->dtype()) > kMaxStackBytes);
}

ScratchNeeds find_scratch_needs(const Scope& body) {
  ScratchNeeds needs;
  for_each_node(body, [&](const Expr& expr) {
    const auto* allocate = expr.as<Allocate>();
    if (allocate == nullptr) {
      return;
    }
    needs.has_shared = needs.has_shared || allocate->memory_type == MemoryType::Shared;
    if (is_in_scratch(*allocate)) {
      needs.arrays.push_back(allocate);
    }
  });
  return needs;
}

bool has_stack_variables(const Scope& body) {
  return std::ranges::any_of(body, [](const Expr* expr) {
    const auto* allocate = expr->as<Allocate>();
    return allocate != nullptr && allocate->memory_type == MemoryType::Local &&
           !is_in_scratch(*allocate);
  });
}

} // namespace nvfuser

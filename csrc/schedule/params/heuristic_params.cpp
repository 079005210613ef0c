#include "schedule/params/heuristic_params.h"

#include <typeinfo>

namespace nvfuser {
namespace {

/// CompileParams compare only where an index type is set; two without one are equal in that.
bool are_equal(CompileParams a, CompileParams b) {
  if (a.index_type != b.index_type) {
    return false;
  }
  a.index_type = b.index_type = DataType::Int;
  return a == b;
}

} // namespace

bool HeuristicParams::operator==(const HeuristicParams& other) const {
  return scheduler_type_ == other.scheduler_type_ && typeid(*this) == typeid(other) &&
         lparams.dims().block == other.lparams.dims().block && are_equal(cparams, other.cparams) &&
         has_equal_fields(other);
}

size_t HeuristicParams::hash() const {
  size_t hash = detail::hash_combine(static_cast<size_t>(scheduler_type_), hash_of_fields());
  for (const int64_t size : lparams.dims().block) {
    hash = detail::hash_combine(hash, static_cast<size_t>(size));
  }
  return detail::hash_combine(hash, static_cast<size_t>(cparams.maxrregcount));
}

std::string HeuristicParams::to_string() const {
  return std::string("\n===== ") + title() + " Parameters ========\n" + body() +
         "====================================\n";
}

} // namespace nvfuser

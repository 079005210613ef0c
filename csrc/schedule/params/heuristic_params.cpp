#include "schedule/params/heuristic_params.h"

#include <algorithm>
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
         has_equal_fields(other) && are_equal(cparams, other.cparams) &&
         std::ranges::all_of(kBlockDimTypes, [&](ParallelType type) {
           return !is_fixed(type) || lparams.raw(type) == other.lparams.raw(type);
         });
}

size_t HeuristicParams::hash() const {
  size_t hash = detail::hash_combine(static_cast<size_t>(scheduler_type_), hash_of_fields());
  for (const ParallelType type : kBlockDimTypes) {
    hash = detail::hash_combine(hash, is_fixed(type) ? static_cast<size_t>(lparams.raw(type)) : 0);
  }
  return detail::hash_combine(hash, static_cast<size_t>(cparams.maxrregcount));
}

std::string HeuristicParams::differences_from(const HeuristicParams& other) const {
  if (scheduler_type_ != other.scheduler_type_ || typeid(*this) != typeid(other)) {
    return std::string(enum_name(scheduler_type_)) + " instead of " +
           enum_name(other.scheduler_type_);
  }
  std::vector<std::string> found = differing_fields(other);
  for (const ParallelType type : kBlockDimTypes) {
    if (is_fixed(type) && lparams.raw(type) != other.lparams.raw(type)) {
      found.push_back(
          std::to_string(lparams.raw(type)) + " of " + text(type) + " instead of " +
          std::to_string(other.lparams.raw(type)));
    }
  }
  if (!are_equal(cparams, other.cparams)) {
    found.emplace_back("other compile params");
  }
  std::string list;
  for (const std::string& difference : found) {
    list += (list.empty() ? "" : ", ") + difference;
  }
  return list;
}

std::string HeuristicParams::to_string() const {
  return std::string("\n===== ") + title() + " Parameters ========\n" + body() +
         "====================================\n";
}

} // namespace nvfuser

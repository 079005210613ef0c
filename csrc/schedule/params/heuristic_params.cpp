#include "schedule/params/heuristic_params.h"

#include <algorithm>
#include <iterator>
#include <optional>
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

/// "name value instead of its value", as for fields.
std::string difference(const std::string& name, const std::string& own, const std::string& its) {
  return name + " " + own + " instead of " + its;
}

std::string size_text(int64_t size) {
  return size == LaunchParams::kUnset ? "unset" : std::to_string(size);
}

std::string paths_text(const std::vector<std::string>& paths) {
  std::string list;
  for (const std::string& path : paths) {
    list += (list.empty() ? "" : ":") + path;
  }
  return "[" + list + "]";
}

/// One line for each member that differs.
std::vector<std::string> differing_members(const CompileParams& own, const CompileParams& its) {
  std::vector<std::string> found;
  const auto add = [&](const char* name, const auto& own_value, const auto& its_value,
                       auto text_of) {
    if (own_value != its_value) {
      found.push_back(difference(name, text_of(own_value), text_of(its_value)));
    }
  };
  const auto flag_text = [](bool flag) { return std::string(flag ? "true" : "false"); };
  add("index_type", own.index_type, its.index_type, [](const std::optional<DataType>& type) {
    return std::string(type ? text(*type) : "unset");
  });
  add("maxrregcount", own.maxrregcount, its.maxrregcount,
      [](int64_t cap) { return cap == 0 ? "unset" : std::to_string(cap); });
  add("enable_magic_zero", own.enable_magic_zero, its.enable_magic_zero, flag_text);
  add("enable_ptxas_verbose", own.enable_ptxas_verbose, its.enable_ptxas_verbose, flag_text);
  add("device", own.device, its.device,
      [](const std::optional<Device>& device) { return device ? device->str() : "unset"; });
  add("include_paths", own.include_paths, its.include_paths, paths_text);
  return found;
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
          difference(text(type), size_text(lparams.raw(type)), size_text(other.lparams.raw(type))));
    }
  }
  std::ranges::move(differing_members(cparams, other.cparams), std::back_inserter(found));
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

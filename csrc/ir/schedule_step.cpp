#include "ir/schedule_step.h"

#include <algorithm>
#include <utility>

#include "ir/tensor_view.h"

namespace nvfuser {
namespace {

std::string arg_text(int64_t number) {
  return std::to_string(number);
}

std::string arg_text(bool flag) {
  return flag ? "True" : "False";
}

std::string arg_text(const std::optional<bool>& flag) {
  return flag ? arg_text(*flag) : "None";
}

std::string arg_text(const Val* size) {
  return size->to_inline_string();
}

std::string arg_text(const IterDomain* id) {
  return id->to_string();
}

std::string arg_text(const TensorView* tensor) {
  return "T" + std::to_string(tensor->name());
}

std::string arg_text(const std::optional<IterType>& type) {
  return type ? std::string("IterType.") + enum_name(*type) : "None";
}

template <typename Enum>
  requires std::is_enum_v<Enum>
std::string arg_text(Enum value) {
  return enum_name(value);
}

template <typename List, typename TextOf>
std::string joined(const List& list, const char* begin, const char* end, TextOf text_of) {
  std::string out = begin;
  const char* separator = "";
  for (const auto& item : list) {
    out += separator + text_of(item);
    separator = ", ";
  }
  return out + end;
}

template <typename T>
std::string arg_text(const std::vector<T>& list) {
  return joined(list, "[", "]", [](const T& item) { return arg_text(item); });
}

std::string arg_text(const std::vector<ParallelType>& types) {
  return joined(types, "{", "}", [](ParallelType type) { return arg_text(type); });
}

std::string arg_text(const std::vector<std::pair<int64_t, int64_t>>& entries) {
  return joined(entries, "{", "}", [](const auto& entry) {
    return arg_text(entry.first) + ": " + arg_text(entry.second);
  });
}

template <typename Step>
std::string call_text(const Step& step) {
  std::vector<std::string> args;
  for_each_arg(step, [&]<typename Field, typename T>(const Field& field, const T& value) {
    using steps::Shown;
    if constexpr (Field::shown == Shown::Always) {
      args.push_back(arg_text(value));
    } else if constexpr (Field::shown != Shown::Never) {
      if (value != Step{}.*field.member) {
        std::string text = arg_text(value);
        if (Field::shown == Shown::KeywordUnlessDefault) {
          text.insert(0, "=").insert(0, field.name);
        }
        args.push_back(std::move(text));
      }
    }
  });
  return Step::kName + joined(args, "(", ")", [](const std::string& text) { return text; });
}

template <size_t... i>
std::vector<std::string> names_of_alternatives(std::index_sequence<i...>) {
  std::vector<std::string> names;
  for (const char* name : {std::variant_alternative_t<i, ScheduleCall>::kName...}) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.emplace_back(name);
    }
  }
  return names;
}

} // namespace

const char* ScheduleStep::name() const {
  return std::visit([]<typename Step>(const Step&) { return Step::kName; }, call);
}

std::string ScheduleStep::text() const {
  return std::visit([](const auto& step) { return call_text(step); }, call);
}

const std::vector<std::string>& schedule_primitives() {
  static const auto& names = *new std::vector<std::string>(
      names_of_alternatives(std::make_index_sequence<std::variant_size_v<ScheduleCall>>{}));
  return names;
}

} // namespace nvfuser

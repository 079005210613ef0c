// Values with fields as text: `{stages = 3, prefetch = 2, type = {uses_mbarrier_for_war = false}}`.
#pragma once

#include <string>

#include "ir/fields.h"
#include "ir/print.h"

namespace nvfuser {

template <typename T>
[[nodiscard]] std::string field_text(const T& value) {
  const auto list = [](const auto& items) {
    std::string out;
    for (const auto& item : items) {
      out += (out.empty() ? "" : ", ") + field_text(item);
    }
    return out;
  };
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return enum_name(value);
  } else if constexpr (is_statement_pointer_v<T>) {
    return value == nullptr ? "none" : print_val(value);
  } else if constexpr (is_optional_v<T>) {
    return value.has_value() ? field_text(*value) : "none";
  } else if constexpr (is_variant_v<T>) {
    return std::visit([](const auto& alternative) { return field_text(alternative); }, value);
  } else if constexpr (is_pair_v<T>) {
    return "(" + field_text(value.first) + ", " + field_text(value.second) + ")";
  } else if constexpr (is_vector_v<T>) {
    return "[" + list(value) + "]";
  } else if constexpr (HasFields<T>) {
    std::string out;
    for_each_field<T>([&](const auto& field) {
      out += (out.empty() ? "" : ", ") + std::string(field.name) + " = " +
             field_text(value.*field.member);
    });
    return "{" + out + "}";
  } else {
    return std::to_string(value);
  }
}

} // namespace nvfuser

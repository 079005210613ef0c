// How an enumeration of the core becomes one of Python.
#pragma once

#include "bindings.h"
#include "enum_names.h"

namespace nvfuser::python {

/// Another name of a member: as an attribute and as a key, but not once more in the iteration.
template <typename Enum>
void add_alias(nb::enum_<Enum>& cls, const char* member, const char* alias) {
  cls.attr(alias) = cls.attr(member);
  cls.attr("_member_map_")[alias] = cls.attr(member);
}

template <typename Enum, size_t N>
void bind_enum(
    nb::module_& m, const char* name, const char* const (&core_names)[N], const char* doc) {
  nb::enum_<Enum> cls(m, name, doc);
  // Enumerations of pybind11 have this dictionary, and scripts iterate over it.
  nb::dict entries;
  for (size_t i = 0; i < N; ++i) {
    const char* member = python_name(static_cast<Enum>(i));
    cls.value(member, static_cast<Enum>(i));
    entries[member] = nb::make_tuple(cls.attr(member), nb::none());
  }
  cls.attr("__entries") = entries;
  for (size_t i = 0; i < N; ++i) {
    const char* member = python_name(static_cast<Enum>(i));
    if (std::string_view(member) != core_names[i]) {
      add_alias(cls, member, core_names[i]);
    }
    if (const char* documented = documented_name(static_cast<Enum>(i));
        std::string_view(documented) != member) {
      add_alias(cls, member, documented);
    }
  }
}

} // namespace nvfuser::python

#define NVF_BIND_ENUM(Enum, doc) bind_enum<Enum>(m, #Enum, k##Enum##Names, doc)

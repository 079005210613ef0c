// The methods of a value that give its fields: derived from their declaration, like the attributes
// of expressions.
#pragma once

#include "bindings.h"
#include "ir/fields.h"

namespace nvfuser::python {

/// A method for each field of `Record`; `record` gives it of an object of the class.
template <typename Record, typename Class>
void def_field_methods(Class& cls, const Record& (Class::Type::*record)() const) {
  for_each_field<Record>([&](const auto& field) {
    cls.def(
        field.name,
        [record, member = field.member](const typename Class::Type& self) {
          return (self.*record)().*member;
        },
        field.doc);
  });
}

/// A class with a property for each field of `Record`, and equality.
template <typename Record>
nanobind::class_<Record> bind_record(nanobind::module_& m, const char* name, const char* doc) {
  namespace nb = nanobind;
  nb::class_<Record> cls(m, name, doc);
  for_each_field<Record>(
      [&](const auto& field) { cls.def_ro(field.name, field.member, field.doc); });
  cls.def(
      "__eq__", [](const Record& self, const Record& other) { return self == other; },
      nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
  return cls;
}

} // namespace nvfuser::python

// How enumerations come from Python: as their members only. nanobind by itself takes plain integers
// too, and `cast(x, 1)`, or a flag in the place of a type, would mean something.
#pragma once

#include <nanobind/nanobind.h>

#include <type_traits>

namespace nanobind::detail {

/// Chosen over nanobind's own, being more constrained.
template <typename T>
  requires std::is_enum_v<T>
struct type_caster<T, enable_if_t<std::is_enum_v<T>>> {
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    int64_t number = 0;
    if (!NB_CALL(enum_from_python)(
            NB_CTX_C(cleanup), &typeid(T), source.ptr(), &number, flags & ~cast_flags::convert)) {
      return false;
    }
    value = static_cast<T>(number);
    return true;
  }

  static handle from_cpp(T source, rv_policy, cleanup_list* cleanup) noexcept {
    return NB_CALL(enum_from_cpp)(NB_CTX_C(cleanup), &typeid(T), static_cast<int64_t>(source));
  }

  NB_TYPE_CASTER(T, const_name<T>())
};

} // namespace nanobind::detail

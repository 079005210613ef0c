// How statements cross the border to Python.
//
// A statement belongs to its fusion, so its handle never owns it: the handle keeps the fusion's
// Python object alive, which keeps the fusion alive. Handles are found again by address, so one
// node is one Python object for as long as anything holds it, and a handle has the class of the
// node's dynamic type. One specialization does this for every subclass of Statement; no binding
// needs a return value policy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <type_traits>

#include "ir/fusion.h"

namespace nanobind::detail {

template <typename T>
struct type_caster<T, enable_if_t<std::is_base_of_v<nvfuser::Statement, T>>> : type_caster_base<T> {
  /// None is a null pointer only for arguments that ask for it, never as an item of a list.
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if (source.is_none() && (flags & cast_flags::accepts_none) == 0) {
      return false;
    }
    return type_caster_base<T>::from_python(source, flags, cleanup);
  }

  static handle from_cpp(const T* statement, rv_policy, cleanup_list* cleanup) noexcept {
    if (statement == nullptr) {
      return none().release();
    }
    bool is_new = false;
    handle result = NB_CALL(nb_type_put)(
        NB_CTX_C(cleanup), &typeid(T), &typeid(*statement), const_cast<T*>(statement),
        rv_policy::reference, cleanup, &is_new);
    if (!is_new || !result.is_valid()) {
      return result;
    }
    handle fusion =
        make_caster<nvfuser::Fusion>::from_cpp(statement->fusion(), rv_policy::reference, cleanup);
    if (!fusion.is_valid()) {
      result.dec_ref();
      return {};
    }
    keep_alive_obj(result, fusion);
    fusion.dec_ref();
    return result;
  }
  static handle from_cpp(const T& statement, rv_policy policy, cleanup_list* cleanup) noexcept {
    return from_cpp(&statement, policy, cleanup);
  }
};

} // namespace nanobind::detail

// How records that point to statements cross the border to Python: like a statement, each keeps the
// fusion alive that they belong to.
#pragma once

#include <utility>

#include "statement_caster.h"

namespace nvfuser::python {

/// Base of `type_caster<Record>`. `statement` is a member of it that is never nullptr.
template <typename Record, auto statement>
struct RecordCaster : nanobind::detail::type_caster_base<Record> {
  using Base = nanobind::detail::type_caster_base<Record>;

  template <typename T>
  static nanobind::handle from_cpp(
      T&& record, nanobind::rv_policy policy, nanobind::detail::cleanup_list* cleanup) noexcept {
    Fusion* fusion = (record.*statement)->fusion();
    const nanobind::handle result = Base::from_cpp(std::forward<T>(record), policy, cleanup);
    const nanobind::handle owner = nanobind::detail::make_caster<Fusion>::from_cpp(
        fusion, nanobind::rv_policy::reference, cleanup);
    if (result.is_valid() && owner.is_valid()) {
      nanobind::keep_alive_obj(result, owner);
    }
    owner.dec_ref();
    return result;
  }
};

} // namespace nvfuser::python

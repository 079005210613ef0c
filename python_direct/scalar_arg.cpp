#include "scalar_arg.h"

#include "base/errors.h"
#include "flag_caster.h"

namespace nvfuser::python {

Val* ScalarArg::val() const {
  if (val_ != nullptr || !has_value(number_.value)) {
    return val_;
  }
  return constant(number_.type);
}

Val* ScalarArg::constant(DataType dtype) const {
  return Fusion::active().new_constant(value_for(number_, dtype), dtype);
}

Val* ScalarArg::flag() const {
  const std::optional<bool> flag = flag_of(number_);
  return flag ? Fusion::active().new_constant(*flag, DataType::Bool) : val();
}

std::optional<int64_t> ScalarArg::integer() const {
  if (number_.type != DataType::Int && number_.type != DataType::UInt64) {
    return std::nullopt;
  }
  return as_int(value_for(number_, DataType::Int));
}

Val* ScalarArg::require() const {
  Val* scalar = val();
  if (scalar == nullptr) {
    throw UserError({"None is no operand: expected a Val or a number"}, ErrorKind::Type);
  }
  return scalar;
}

std::vector<Val*> ShapeArg::vals() const {
  if (bad_item >= 0) {
    throw UserError(
        {"Unsupported iterable object type for define_vector! Index:", bad_item}, ErrorKind::Type);
  }
  std::vector<Val*> out;
  out.reserve(items.size());
  for (const Item& item : items) {
    if (const auto* number = std::get_if<int64_t>(&item)) {
      out.push_back(Fusion::active().new_constant(*number, DataType::Int));
    } else {
      out.push_back(std::get<Val*>(item));
    }
  }
  return out;
}

std::vector<Val*> ShapeArg::sizes() const {
  for (size_t i = 0; i < items.size(); ++i) {
    const auto* number = std::get_if<int64_t>(&items[i]);
    NVF_USER_CHECK(
        number == nullptr || *number >= -1, "The value ", *number, " at index ", i,
        " was neither symbolic(-1), zero_element(0), broadcast(1), or static(>1).");
  }
  return vals();
}

} // namespace nvfuser::python

#include "ir/statement.h"

#include <algorithm>

#include "base/errors.h"
#include "ir/fusion.h"
#include "ir/print.h"
#include "ir/topo_sort.h"

namespace nvfuser {

std::string Statement::to_string(int indent) const {
  constexpr int kMaxIndent = 1000;
  if (indent < 0 || indent > kMaxIndent) {
    throw UserError(
        {.headline = "to_string: indent out of range",
         .node = describe(this),
         .expected = {"a number of levels in [0, ", kMaxIndent, "]"},
         .found = {"indent = ", indent},
         .fix = Part::none()},
        ErrorKind::Value);
  }
  return is_val() ? std::string(static_cast<size_t>(2 * indent), ' ') +
                        print_val(static_cast<const Val*>(this))
                  : print_expr(static_cast<const Expr*>(this), indent);
}

void Statement::count_edit() {
  ++fusion_->version_;
}

void Statement::count_edit_of_axes() {
  count_edit();
  ++fusion_->axes_version_;
}

std::string Statement::to_inline_string() const {
  return is_val() ? print_inline(static_cast<const Val*>(this))
                  : print_inline(static_cast<const Expr*>(this));
}

std::string describe(const Statement* statement) {
  if (statement == nullptr) {
    return "nothing";
  }
  std::string text = statement->to_string();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  const std::string place = statement->location().str();
  return place.empty() ? text : text + ", made at " + place;
}

// ---- Val ----------------------------------------------------------------------------------------

bool Val::is_const_scalar() const {
  if (definition_ == nullptr || !is_scalar()) {
    return is_scalar() && is_const();
  }
  const auto is_known = [](const Val* val) {
    return val->is_scalar() && (val->is_const() || val->definition() != nullptr);
  };
  return std::ranges::all_of(sorted_definitions(definition_->outputs()), [&](const Expr* expr) {
    return std::ranges::all_of(expr->inputs(), is_known);
  });
}

bool Val::is_zero() const {
  return is_const() && !is_boolean(dtype_) && as_complex(value_) == 0.0;
}

bool Val::is_one() const {
  return is_const() && !is_boolean(dtype_) && as_complex(value_) == 1.0;
}

std::vector<Expr*> Val::uses() const {
  if (!is_tensor() || fusion()->outputs().empty()) {
    return uses_;
  }
  fusion()->update_liveness();
  std::vector<Expr*> live;
  live.reserve(uses_.size());
  std::copy_if(uses_.begin(), uses_.end(), std::back_inserter(live), [](const Expr* use) {
    return use->leads_to_output();
  });
  return live;
}

// ---- NamedScalar --------------------------------------------------------------------------------

namespace {

/// `threadIdx.x` / `blockDim.x`: the words of a hardware index and of its launch dimension.
std::string dim_text(ParallelType type) {
  const char* prefix = is_block_dim(type) ? "blockDim" : "gridDim";
  const std::string index = text(type);
  return prefix + index.substr(index.find('.'));
}

} // namespace

ParallelType NamedScalar::parallel_index() const {
  for (const ParallelType type : kHardwareTypes) {
    if (text_name_ == text(type)) {
      return type;
    }
  }
  return ParallelType::Serial;
}

ParallelType NamedScalar::parallel_dim() const {
  for (const ParallelType type : kHardwareTypes) {
    if (text_name_ == dim_text(type)) {
      return type;
    }
  }
  return ParallelType::Serial;
}

NamedScalar* Fusion::parallel_index(ParallelType type) {
  if (!is_hardware_index(type)) {
    throw UserError(
        {.headline = {"No block and no thread has an index of parallel type ", type},
         .node = "a scalar of the fusion",
         .expected = "grid_x, grid_y, grid_z, block_x, block_y or block_z",
         .found = {type},
         .fix = "name the hardware index that the rows of a tensor are bound to"});
  }
  return named_scalar(text(type), DataType::Index);
}

NamedScalar* Fusion::parallel_dim(ParallelType type) {
  NVF_INVARIANT(is_hardware_index(type), "a hardware index: ", type);
  return named_scalar(dim_text(type), DataType::Index);
}

// ---- Expr ---------------------------------------------------------------------------------------

namespace {

template <typename T>
T item_at(const Expr& expr, const std::vector<T>& list, int64_t index, const char* role) {
  if (index < 0 || index >= static_cast<int64_t>(list.size())) {
    throw UserError(
        {.headline = {role, " index ", index, " is out of range"},
         .node = describe(expr),
         .expected = {"index in [0, ", list.size(), ")"},
         .found = {"index = ", index},
         .fix = Part::none()},
        ErrorKind::Index);
  }
  return list[static_cast<size_t>(index)];
}

} // namespace

Val* Expr::input(int64_t index) const {
  return item_at(*this, inputs_, index, "Input");
}

Val* Expr::output(int64_t index) const {
  return item_at(*this, outputs_, index, "Output");
}

AttrValue Expr::attribute(int64_t index) const {
  std::vector<AttrValue> values;
  for_each_attr([&](const char*, const AttrValue& value) { values.push_back(value); });
  return item_at(*this, values, index, "Attribute");
}

} // namespace nvfuser

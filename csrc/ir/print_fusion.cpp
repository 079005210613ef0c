// Texts of whole fusions.
#include <algorithm>
#include <unordered_set>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/print.h"
#include "ir/print_fields.h"
#include "ir/topo_sort.h"

namespace nvfuser {
namespace {

std::string interface_text(const Fusion& fusion) {
  std::string out = "Inputs:\n";
  for (const Val* input : fusion.inputs()) {
    out += "  " + print_val(input) + "\n";
  }
  out += "Outputs:\n";
  for (const Val* output : fusion.outputs()) {
    out += "  " + print_val(output) + "\n";
  }
  return out + "\n";
}

/// Values without readers: tensors without uses, and computed scalars that are neither operands
/// nor sizes of an axis.
std::vector<Val*> unread_values(const Fusion& fusion) {
  std::unordered_set<const Val*> read_by_domains;
  for (const Val* val : fusion.vals()) {
    if (val->vtype() == ValType::IterDomain) {
      const IterDomainSpec& spec = static_cast<const IterDomain*>(val)->spec();
      read_by_domains.insert({spec.extent, spec.start, spec.stop_offset, spec.expanded_extent});
    }
  }
  std::vector<Val*> unread;
  for (Val* val : fusion.vals()) {
    const bool is_computed = (val->is_tensor() || val->is_scalar()) && val->definition() != nullptr;
    if (is_computed && val->all_uses().empty() && read_by_domains.count(val) == 0) {
      unread.push_back(val);
    }
  }
  return unread;
}

std::string ids_text(const IterDomains& ids) {
  return "(" + print_list(std::vector<Val*>(ids.begin(), ids.end())) + ")";
}

std::string steps_text(const std::vector<Expr*>& steps) {
  std::string out;
  for (const Expr* step : steps) {
    out += print_expr(step, 2);
  }
  return out;
}

/// Transforms that lead to `ids`, wherever they begin, without those in `known`.
std::vector<Expr*> steps_to(const IterDomains& ids, const std::vector<Expr*>& known) {
  std::vector<Expr*> steps = sorted_definitions(std::vector<Val*>(ids.begin(), ids.end()));
  std::erase_if(steps, [&](const Expr* step) {
    const bool is_transform = step->outputs().front()->vtype() == ValType::IterDomain;
    return !is_transform || std::find(known.begin(), known.end(), step) != known.end();
  });
  return steps;
}

/// The schedule of a tensor, but for memory and positions, which stand beside its name.
std::string schedule_text(const TensorSchedule& schedule) {
  std::string out;
  for_each_field<TensorSchedule>([&]<typename Declared>(const Declared& field) {
    if constexpr (requires { field.setter; } || is_optional_v<typename Declared::Type>) {
      const std::string text = field_text(schedule.*field.member);
      if (text != field_text(TensorSchedule{}.*field.member)) {
        out += std::string("  ") + field.name + ": " + text + "\n";
      }
    }
  });
  return out;
}

std::string tensor_block(const TensorView* tv) {
  const TensorDomain* domain = tv->domain();
  std::vector<Expr*> known = steps_to(domain->maybe_root(), {});
  const std::vector<Expr*> logical_steps = steps_to(domain->logical(), known);
  known.insert(known.end(), logical_steps.begin(), logical_steps.end());
  const std::vector<Expr*> loop_steps = steps_to(domain->loop(), known);
  known.insert(known.end(), loop_steps.begin(), loop_steps.end());

  std::string out = print_val(tv) + "\n";
  if (domain->has_root()) {
    out += "  root domain: " + ids_text(domain->root()) + "\n" + steps_text(logical_steps);
  }
  out += "  logical domain: " + ids_text(domain->logical()) + "\n";
  if (domain->has_allocation()) {
    out += steps_text(steps_to(domain->allocation(), known)); // padding, for one
    out += "  allocation domain: " + ids_text(domain->allocation()) + "\n";
  }
  out += "  contiguity:";
  for (const std::optional<bool>& flag : domain->contiguity()) {
    out += flag.has_value() ? (*flag ? " t" : " f") : " n";
  }
  out += "\n" + steps_text(loop_steps);
  out += "  loop domain: " + ids_text(domain->loop()) + "\n";
  return out + schedule_text(tv->schedule());
}

} // namespace

std::string Fusion::print_math(bool from_outputs_only) const {
  std::string out = interface_text(*this) + "%kernel_math {\n";
  std::vector<Val*> targets = outputs_;
  if (!from_outputs_only) {
    const std::vector<Val*> unread = unread_values(*this);
    targets.insert(targets.end(), unread.begin(), unread.end());
  }
  out += print_exprs(sorted_definitions(targets));
  return out + "} // %kernel_math \n\n";
}

std::string Fusion::print_transforms() const {
  std::string out = "TransformPrinter : \n";
  for (const TensorView* tv : tensors()) {
    out += tensor_block(tv);
  }
  return out;
}

std::string print_scheduled(const Fusion& fusion, bool with_transforms) {
  std::string out = interface_text(fusion) + "%kernel {\n" + print_exprs(fusion.exprs());
  if (with_transforms) {
    out += "\n" + fusion.print_transforms();
  }
  return out + "} // %kernel\n";
}

} // namespace nvfuser

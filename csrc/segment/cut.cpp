#include "segment/cut.h"

#include "ir/expr.h"
#include "schedule/common/kernel_rules.h"
#include "segment/facts.h"

namespace nvfuser::segment {

const char* to_string(CutRule rule) {
  switch (rule) {
    case CutRule::Asked: return "asked";
    case CutRule::Library: return "library";
    case CutRule::Lookup: return "lookup";
    case CutRule::Pattern: return "pattern";
    case CutRule::Space: return "space";
    case CutRule::OnChip: return "on_chip";
    case CutRule::Shapes: return "shapes";
    case CutRule::Reshape: return "reshape";
    case CutRule::Itself: return "itself";
    case CutRule::View: return "view";
    case CutRule::Repeated: return "repeated";
    case CutRule::Update: return "update";
    case CutRule::Order: return "order";
    case CutRule::Unsuitable: return "unsuitable";
  }
  return "";
}

std::string name_of(const TensorView* tensor) {
  std::string text = "T" + std::to_string(tensor->name());
  if (tensor->location().is_known()) {
    text += " (" + tensor->location().str() + ")";
  }
  return text;
}

std::string Cut::to_string() const {
  const std::string at_reader = name_of(reader);
  const std::string at_other = name_of(other == nullptr ? tensor : other);
  const Expr* made_by = reader->definition();
  switch (rule) {
    case CutRule::Asked:
      return at_reader + " reads " + at_other + ", where " +
             (asks_for_cut(tensor->definition()) ? "segment_set" : "a hint") + " asks for a cut";
    case CutRule::Library: {
      const bool is_reader_evaluated = other == reader;
      const TensorView* evaluated = is_reader_evaluated ? reader : tensor;
      const Expr* alone = evaluated->definition();
      return at_reader + " reads " + name_of(tensor) + ": " + alone->op_name() +
             (schedule::is_in_order(alone) ? " has a segment of its own" : " is evaluated alone");
    }
    case CutRule::Lookup:
      return at_reader + " reads elements of " + name_of(tensor) +
             " at other positions: it has to lie in memory";
    case CutRule::Pattern: return at_reader + " needs another reduction pattern than " + at_other;
    case CutRule::Space: return at_reader + " runs over other axes than " + at_other;
    case CutRule::OnChip:
      return at_reader + " meets " + at_other +
             " again: what is needed before and after the reduction does not fit on chip";
    case CutRule::Shapes: return at_reader + " has another shape than the output " + at_other;
    case CutRule::Reshape:
      return at_reader + " and " + at_other + " are reshaped in different ways";
    case CutRule::Itself: return at_reader + " meets " + at_other + " along two of its axes";
    case CutRule::View: return at_reader + " is a view of " + at_other + ": it needs no kernel";
    case CutRule::Repeated:
      return at_reader + " is read for many elements of each of " + at_other +
             ": they are computed once";
    case CutRule::Update:
      return at_reader + " is written into memory that " + at_other + " is read from before";
    case CutRule::Order: return at_reader + " reads " + at_other + " and waits for another segment";
    case CutRule::Unsuitable:
      return "no scheduler takes " + at_reader + " (" + made_by->op_name() + ") together with " +
             at_other;
  }
  return "";
}

} // namespace nvfuser::segment

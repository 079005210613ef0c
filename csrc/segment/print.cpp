// Texts and drawings of a segmented fusion.
#include <algorithm>
#include <sstream>

#include "segment/segmented_fusion.h"

namespace nvfuser {
namespace {

std::string tensor_name(const Val* tensor) {
  return "T" + std::to_string(tensor->name());
}

std::string input_text(const Val* input) {
  return input->is_tensor() ? input->to_string() : input->to_inline_string();
}

/// The name of the way in which a segment runs: "pointwise", "trivial schedule".
std::string runner_of(const SegmentedGroup& segment) {
  switch (segment.kind) {
    case SegmentKind::View: return "view, no kernel";
    case SegmentKind::Evaluated: return "evaluated";
    case SegmentKind::Kernel: break;
  }
  return segment.scheduler == SchedulerType::none ? "trivial schedule"
                                                  : enum_name(segment.scheduler);
}

std::string list_of(const std::vector<TensorView*>& tensors) {
  std::string text;
  for (const TensorView* tensor : tensors) {
    text += (text.empty() ? "" : ", ") + segment::name_of(tensor);
  }
  return text;
}

void print_details(std::ostream& out, size_t position, const SegmentedGroup& segment) {
  out << "g{(" << enum_name(segment.scheduler) << ")\n"
      << "group id: " << position << "\n"
      << "inputs:\n";
  for (const Val* input : segment.inputs) {
    out << "  " << input_text(input) << "\n";
  }
  out << "outputs:\n";
  for (const TensorView* output : segment.outputs) {
    out << "  " << output->to_string() << "\n";
  }
  out << "\n";
  for (const Expr* expr : segment.exprs) {
    out << expr->to_string(1);
  }
  out << "}\n\n";
}

/// In quotation marks, for Graphviz.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    out += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string{letter};
  }
  return out + "\"";
}

} // namespace

std::string SegmentedGroup::to_string() const {
  std::vector<int64_t> numbers;
  for (const Expr* expr : exprs) {
    numbers.push_back(expr->name());
  }
  std::ranges::sort(numbers);
  std::string text = enum_name(scheduler);
  text += '{';
  for (size_t i = 0; i < numbers.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  return text + "}";
}

std::string SegmentedFusion::to_string() const {
  std::ostringstream out;
  out << "Segmented_Fusion{ \n"
      << "groups: \n";
  for (const SegmentedGroup& group : groups_) {
    out << "  " << group.to_string() << "\n";
  }
  out << "edges: \n";
  for (const SegmentedEdge& edge : edges_) {
    out << "  e{ " << groups_[edge.from].to_string() << " -> " << groups_[edge.to].to_string()
        << "(" << edge.tensor->to_string() << ") }\n";
  }
  out << "\n"
      << "group details:\n";
  for (size_t i = 0; i < groups_.size(); ++i) {
    print_details(out, i, groups_[i]);
  }
  out << "} //Segmented_Fusion\n";
  return out.str();
}

std::vector<const segment::Cut*> SegmentedFusion::cuts_before(size_t segment) const {
  const SegmentedGroup& group = groups_.at(segment);
  std::vector<const segment::Cut*> found;
  for (const segment::Cut& cut : cuts_) {
    const bool is_read_here = std::ranges::any_of(
        group.exprs, [&](const Expr* expr) { return cut.reader->definition() == expr; });
    const bool is_made_elsewhere =
        std::ranges::find(group.inputs, static_cast<const Val*>(cut.tensor)) != group.inputs.end();
    if (is_read_here && is_made_elsewhere) {
      found.push_back(&cut);
    }
  }
  return found;
}

std::vector<std::string> SegmentedFusion::notes_on(size_t segment) const {
  std::vector<std::string> notes;
  for (const segment::Cut* cut : cuts_before(segment)) {
    notes.push_back("cut at " + segment::name_of(cut->tensor) + ": " + cut->to_string());
  }
  const auto is_of = [&](const SegmentedEdge& edge) {
    return edge.from == segment || edge.to == segment;
  };
  if (groups_.size() > 1 && std::ranges::none_of(edges_, is_of)) {
    notes.emplace_back("apart: no tensor crosses between it and another segment");
  }
  for (const SegmentedEdge& edge : edges_) {
    if (edge.to == segment && edge.dtype != edge.tensor->dtype()) {
      notes.push_back(
          segment::name_of(edge.tensor) + " lies in memory as " + text(edge.dtype) +
          ", and is cast back");
    }
  }
  if (!groups_.at(segment).kept_together.empty()) {
    notes.push_back("kept together, as a hint asks: " + list_of(groups_[segment].kept_together));
  }
  return notes;
}

std::string SegmentedFusion::explain() const {
  std::ostringstream out;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const SegmentedGroup& group = groups_[i];
    out << "segment " << i << ": " << runner_of(group) << ", " << group.exprs.size()
        << (group.exprs.size() == 1 ? " expression" : " expressions") << ", makes "
        << list_of(group.outputs) << "\n";
    for (const std::string& note : notes_on(i)) {
      out << "  " << note << "\n";
    }
    for (const Rejection& rejection : group.rejections) {
      const ErrorReport& report = rejection.refusal.report;
      out << "  not " << enum_name(rejection.scheduler) << ": " << report.headline.text();
      if (!report.node.empty()) {
        out << " (" << report.node.text() << ")";
      }
      out << "\n";
    }
  }
  for (const LateUpdate& update : late_updates_) {
    out << "at the end " << segment::name_of(update.output) << " is copied into "
        << tensor_name(update.argument) << "\n";
  }
  return out.str();
}

std::string SegmentedFusion::draw() const {
  std::ostringstream out;
  out << "digraph segments {\n"
      << "  node [shape = box, fontname = \"monospace\"];\n";
  for (size_t i = 0; i < groups_.size(); ++i) {
    std::string label = std::to_string(i) + ": " + runner_of(groups_[i]);
    for (const Expr* expr : groups_[i].exprs) {
      label += "\\l" + tensor_name(expr->outputs().front()) + " = " + expr->op_name();
    }
    out << "  g" << i << " [label = \"" << label << "\\l\"];\n";
  }
  for (const Val* input : complete_->inputs()) {
    out << "  " << quoted(input_text(input)) << " [style = filled, fillcolor = lightgreen];\n";
  }
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (const Val* input : groups_[i].inputs) {
      if (input->is_fusion_input()) {
        out << "  " << quoted(input_text(input)) << " -> g" << i << ";\n";
      }
    }
    for (const TensorView* output : groups_[i].outputs) {
      if (output->is_fusion_output()) {
        out << "  g" << i << " -> " << quoted(output->to_string()) << ";\n";
      }
    }
  }
  for (const SegmentedEdge& edge : edges_) {
    out << "  g" << edge.from << " -> g" << edge.to
        << " [label = " << quoted(tensor_name(edge.tensor)) << "];\n";
  }
  out << "}\n";
  return out.str();
}

} // namespace nvfuser

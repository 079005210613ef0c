#include "ir/graphviz.h"

#include <sstream>

#include "ir/fusion.h"

namespace nvfuser {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
    }
    out += letter;
  }
  return out + "\"";
}

std::string node_of(const Val* val) {
  return quoted(val->is_tensor() ? "T" + std::to_string(val->name()) : val->to_inline_string());
}

const char* color_of(const Val* val) {
  if (val->is_fusion_input()) {
    return "lightgreen";
  }
  return val->is_fusion_output() ? "lightblue" : "white";
}

} // namespace

std::string graphviz(const Fusion& fusion) {
  std::ostringstream out;
  out << "digraph fusion {\n"
      << "  node [fontname = \"monospace\", style = filled, fillcolor = white];\n";
  for (const Val* input : fusion.inputs()) {
    if (!input->is_tensor()) {
      out << "  " << node_of(input) << " [fillcolor = " << color_of(input) << "];\n";
    }
  }
  for (const TensorView* tensor : fusion.tensors()) {
    out << "  " << node_of(tensor) << " [shape = box, fillcolor = " << color_of(tensor)
        << ", label = " << quoted(tensor->to_string()) << "];\n";
  }
  int64_t count = 0;
  for (const Expr* expr : fusion.exprs()) {
    const std::string node = "expr" + std::to_string(count++);
    out << "  " << node << " [label = " << quoted(expr->op_name()) << "];\n";
    for (const Val* input : expr->inputs()) {
      if (input->is_tensor() || !input->is_const()) {
        out << "  " << node_of(input) << " -> " << node << ";\n";
      }
    }
    for (const Val* output : expr->outputs()) {
      out << "  " << node << " -> " << node_of(output) << ";\n";
    }
  }
  out << "}\n";
  return out.str();
}

} // namespace nvfuser

#include "schedule/params/pointwise_params.h"

#include <sstream>

namespace nvfuser {

std::string PointwiseChoice::body_of(const PointwiseParams& params) {
  std::ostringstream out;
  if (!params.tag.empty()) {
    out << "Tag: " << params.tag << " ";
  }
  out << "Pointwise Characteristics:\n"
      << " Gridx: " << params.lparams.gdimx() << " BlckY: " << params.lparams.bdimy()
      << " BlckX: " << params.lparams.bdimx() << "\n";
  if (params.break_point > 0) {
    out << "2D Schedule\n  Bcast break point: " << params.break_point << "\n";
    if (params.split_block) {
      out << "Split block into y-dim\n";
    }
    if (params.split_grid_y_dim) {
      out << "  Split y grid dim\n";
    }
  }
  out << "vectorization_factor: " << params.vectorization_factor << "\n"
      << "unroll_factor_outer: " << params.unroll_factor_outer << "\n"
      << "unroll_factor_inner: " << params.unroll_factor_inner << "\n";
  if (params.flip_grid_binding) {
    out << "Flip BIDx/BIDy bindings\n";
  }
  if (params.runs_in_tasks) {
    out << "Blocks are tasks\n";
  }
  if (!params.vector_widths.empty()) {
    out << "vector_widths: " << detail::field_text(params.vector_widths) << "\n";
  }
  return out.str();
}

} // namespace nvfuser

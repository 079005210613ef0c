#include "schedule/params/reduction_params.h"

#include <vector>

namespace nvfuser {
namespace {

/// "threadIdx.x"
std::string index_text(ParallelType type) {
  return text(type);
}

/// Items separated by " / ", as in `Iteration Domain: cross grid - blockIdx.x / `.
class Items {
 public:
  Items& add(bool holds, const std::string& item) {
    if (holds) {
      text_ += item + " / ";
    }
    return *this;
  }
  Items& bound(const char* what, ParallelType type) {
    return add(type != ParallelType::Serial, what + (" - " + index_text(type)));
  }
  Items& factor(const char* what, int64_t number, const char* between = " - ") {
    return add(number > 1, what + (between + std::to_string(number)));
  }
  [[nodiscard]] std::string line(const char* title) const {
    return std::string(title) + ": " + text_ + "\n";
  }

 private:
  std::string text_;
};

std::string iteration_line(const ReductionParams& p) {
  return Items()
      .bound(p.multiple_reds_per_blk ? "multiple reds per block" : "block", p.block_dim_iter_dom)
      .bound("grid", p.grid_dim_iter_dom)
      .add(p.split_grid_dim_iter_dom_outer, "split grid dim outer")
      .add(p.split_grid_dim_iter_dom_inner, "split grid dim inner")
      .factor(p.vectorize_iter_dom ? "vectorize / factor" : "unroll", p.unroll_factor_iter_dom, " ")
      .line("Iteration Domain");
}

std::string outer_line(const ReductionParams& p) {
  return Items()
      .add(p.cross_grid_outer_reduction, "cross grid - " + index_text(p.grid_dim_outer_reduction))
      .add(
          p.cross_block_outer_reduction, "cross block - " + index_text(p.block_dim_outer_reduction))
      .factor("persistent batch", p.batches_per_block_outer_reduction)
      .factor("unroll", p.unroll_factor_outer_reduction, " ")
      .line("Outer Reduction Domain");
}

std::string inner_line(const ReductionParams& p) {
  return Items()
      .add(p.cross_grid_inner_reduction, "cross grid - " + index_text(p.grid_dim_inner_reduction))
      .add(
          p.cross_block_inner_reduction, "cross block - " + index_text(p.block_dim_inner_reduction))
      .add(p.pad_inner_reduction_to_warp, "pad to warp")
      .factor("persistent batch", p.batches_per_block_inner_reduction)
      .factor("unroll", p.unroll_factor_top_of_vectorization, " ")
      .factor(
          p.vectorize_inner_reduction ? "vectorize / factor" : "unroll",
          p.unroll_factor_inner_reduction, " ")
      .line("Inner Reduction Domain");
}

} // namespace

std::string ReductionChoice::body_of(const ReductionParams& p) {
  std::string lines;
  if (!p.tag.empty()) {
    lines += "Tag: " + p.tag + "\n";
  }
  lines += p.fastest_dim ? "Red On Fastest Dim\n" : "Red On Slow Dim\n";
  if (p.persistent_kernel) {
    lines += "Persistent Kernel\n";
  }
  if (p.project_persistent_buffers) {
    lines += "Project Persistent Buffers\n";
  }
  if (p.batches_per_block_inner_reduction > 1 || p.persistent_kernel) {
    lines += "Batches per block: " + std::to_string(p.batches_per_block_inner_reduction) + "\n";
  }
  lines += "Circular buffer: ";
  lines += p.circular_buffer_stages > 1 ? std::to_string(p.circular_buffer_stages) + " stages\n"
                                        : "not used\n";
  if (p.schedule_3d) {
    lines += "3D Schedule\n" + outer_line(p);
  }
  lines += iteration_line(p) + inner_line(p);
  if (p.runs_in_tasks) {
    lines += "Blocks are tasks\n";
  }
  if (p.blocks_per_reduction > 1) {
    lines += "Blocks per reduction: " + std::to_string(p.blocks_per_reduction) + "\n";
  }
  if (p.blocks_per_cluster > 1) {
    lines += "Blocks per cluster: " + std::to_string(p.blocks_per_cluster) + "\n";
  }
  if (p.keeps_rows_in_shared_memory) {
    lines += "Rows in shared memory\n";
  }
  if (p.shifts_rows) {
    lines += "Rows shifted to vectors\n";
  }
  if (p.elements_per_chunk > 1) {
    lines += "Elements per chunk: " + std::to_string(p.elements_per_chunk) + "\n";
  }
  if (!p.vector_widths.empty()) {
    lines += "vector_widths: " + detail::field_text(p.vector_widths) + "\n";
  }
  return lines + p.lparams.to_string() + p.cparams.to_string();
}

} // namespace nvfuser

// Texts of the expressions that index, resize, search, multiply matrices and quantize.
#include "ir/print_node.h"

namespace nvfuser {

using namespace print_detail;

namespace {

/// `, name=T3_g_float[...]`, or nothing for an absent operand.
std::string keyword(const char* name, const Val* val) {
  return val == nullptr ? "" : std::string(", ") + name + "=" + str(val);
}

/// A line of its own for an operand: `,\n          name = VAL`, or nothing for an absent one.
std::string operand_line(const std::string& name, const Val* val) {
  return val == nullptr ? "" : ",\n          " + name + str(val);
}

/// `T1, T2`: the results that are there.
std::string results(std::initializer_list<const Val*> outs) {
  std::string out;
  for (const Val* val : outs) {
    if (val != nullptr) {
      out += (out.empty() ? "" : ", ") + str(val);
    }
  }
  return out;
}

/// `T1, T2`: any number of operands.
std::string list_text(const std::vector<TensorView*>& tensors) {
  std::string text;
  for (const TensorView* tensor : tensors) {
    text += (text.empty() ? "" : ", ") + str(tensor);
  }
  return text;
}

/// The results of attention, each on a line.
std::string result_lines(std::initializer_list<const Val*> outs) {
  std::string out;
  for (const Val* val : outs) {
    out += (out.empty() ? "" : ",\n") + str(val);
  }
  return out + "\n";
}

} // namespace

// ---- Indexing -----------------------------------------------------------------------------------

std::string print_node(const SelectOp& e) {
  const IterDomains axes = TensorDomain::no_reductions(e.arg->logical());
  return assign(
      e.out, "select( " + str(e.arg) + ", axis = " + str(axes.at(static_cast<size_t>(e.dim))) +
                 ", index = " + str(e.index) + " )");
}

std::string print_node(const IndexSelectOp& e) {
  return assign(
      e.out, "indexSelect( " + str(e.arg) + ", dim = " + std::to_string(e.dim) + ", " +
                 str(e.index) + " )");
}

std::string print_node(const GatherOp& e) {
  const std::string dim = "dim = " + std::to_string(e.dim);
  return assign(
      e.out, e.exact_sizes
                 ? "takeAlongAxis( " + str(e.arg) + ", " + str(e.index) + ", " + dim + " )"
                 : "torchGather( " + str(e.arg) + ", " + dim + ", " + str(e.index) + " )");
}

std::string print_node(const ScatterOp& e) {
  std::string out = "scatter(in = " + str(e.arg) + ", dim = " + std::to_string(e.dim) +
                    ", src = " + str(e.src) + ", idx = " + str(e.index);
  if (e.accumulate) {
    out += std::string(", accumulate = ") + op_text(e.accumulate_op);
  }
  return assign(e.out, out + " )");
}

std::string print_node(const IndexPutAccumulateOp& e) {
  return assign(
      e.out,
      "indexPutAccumulate( " + str(e.arg) + ", " + str(e.index) + ", " + str(e.value) + " )");
}

std::string print_node(const EmbeddingFwdOp& e) {
  return assign(
      e.out, "embedding(" + str(e.arg) + operand_line("", e.weight) +
                 operand_line("padding_idx = ", e.padding_idx) +
                 operand_line("max_norm = ", e.max_norm) +
                 operand_line("norm_type = ", e.norm_type) +
                 operand_line("scale_grad_by_freq = ", e.scale_grad_by_freq) +
                 operand_line("sparse = ", e.sparse) + ")");
}

// ---- Parts and surroundings ---------------------------------------------------------------------

std::string print_node(const SliceOp& e) {
  std::string ranges;
  for (size_t i = 0; i < e.starts.size(); ++i) {
    ranges += " {" + print_inline(e.starts[i]) + ", " + print_inline(e.stops[i]) + ", " +
              print_inline(e.steps[i]) + "}";
  }
  return assign(e.out, "slice( " + str(e.arg) + ", {" + ranges + " } )");
}

std::string print_node(const PadOp& e) {
  std::string widths;
  for (const Val* width : e.widths) {
    widths += (widths.empty() ? "" : ", ") + print_inline(width);
  }
  return assign(e.out, "pad( " + str(e.arg) + ", {" + widths + "} )");
}

std::string print_node(const CatOp& e) {
  std::string args;
  for (const TensorView* arg : e.args) {
    args += str(arg) + ", ";
  }
  return assign(e.out, "cat( " + args + std::to_string(e.dim) + " )");
}

std::string print_node(const WaitForPriorGridOp& e) {
  return str(e.out) + " = waitForPriorGrid(" + list_text(e.ins) + ")\n";
}

std::string print_node(const LaunchDependentGridOp& e) {
  return str(e.out) + " = launchDependentGrid(" + list_text(e.ins) + ")\n";
}

std::string print_node(const RepeatOp& e) {
  return str(e.out) + " = repeat( " + str(e.arg) + " )\n";
}

std::string print_node(const ViewAsScalar& e) {
  return str(e.out) + " = view_as_scalar( " + str(e.arg) + ", " + str(e.vector_id) + " )\n";
}

// ---- Scans and sorts ----------------------------------------------------------------------------

std::string print_node(const ScanOp& e) {
  return assign(
      e.out, "scan(" + str(e.arg) + ",\n          dim=" + std::to_string(e.dim) +
                 ",\n          op_type=" + op_text(e.op) + ",\n          init=" + str(e.init) +
                 ")");
}

std::string print_node(const TopKOp& e) {
  return "( " + str(e.values) + ", " + str(e.indices) + " ) = topk( " + str(e.arg) + ", " +
         str(e.k) + ", dim = " + std::to_string(e.dim) + ", largest = " + flag_text(e.largest) +
         ", sorted = " + flag_text(e.sorted) + " )\n";
}

std::string print_node(const ArgsortOp& e) {
  return str(e.out) + " = argsort( " + str(e.arg) + ", dim = " + std::to_string(e.dim) +
         ", descending = " + flag_text(e.descending) + ", stable = " + flag_text(e.stable) + " )\n";
}

std::string print_node(const RNGOp& e) {
  std::string parameters;
  for (const Val* parameter : e.parameters) {
    parameters += str(parameter) + ", ";
  }
  static constexpr const char* kNames[] = {
      "rng_uniform", "rng_uniform_range", "rng_normal_standard", "rng_normal_general"};
  return assign(
      e.out, std::string(kNames[static_cast<size_t>(e.op)]) + "({" + print_list(e.shape) + "}, " +
                 parameters + text(e.out->dtype()) + (e.seed == nullptr ? "" : ", " + str(e.seed)) +
                 ");");
}

// ---- Matrices -----------------------------------------------------------------------------------

std::string print_node(const MmaOp& e) {
  const std::string scales =
      e.a_scale == nullptr ? "" : ",\n" + str(e.a_scale) + ",\n" + str(e.b_scale);
  return assign(e.out, "mma(" + str(e.a) + ",\n" + str(e.b) + scales + ")");
}

std::string print_node(const MatmulOp& e) {
  return assign(e.out, "matmul(" + str(e.a) + ",\n            " + str(e.b) + ")");
}

std::string print_node(const LinearOp& e) {
  const std::string bias = e.bias == nullptr ? "" : ",\n" + str(e.bias);
  return assign(e.out, "linear(" + str(e.a) + ",\n" + str(e.b) + bias + ")");
}

std::string print_node(const GroupedMmaOp& e) {
  return results({e.out, e.out_block_scale, e.out_gamma}) + " = GroupedMmaOp(mat1=" + str(e.mat1) +
         keyword("mat2", e.mat2) + keyword("offsets", e.offsets) + keyword("scale1", e.scale1) +
         keyword("scale2", e.scale2) + keyword("alpha", e.alpha) + keyword("bias", e.bias) +
         keyword("beta", e.beta) + ")\n";
}

std::string print_node(const ScaledMmaOp& e) {
  return results({e.out, e.out_block_scale, e.out_gamma}) + " = ScaledMmaOp(mat1=" + str(e.mat1) +
         keyword("mat2", e.mat2) + keyword("scale1", e.scale1) + keyword("scale2", e.scale2) +
         keyword("alpha", e.alpha) + keyword("bias", e.bias) + keyword("beta", e.beta) + ")\n";
}

std::string print_node(const CutlassNvfp4GroupedMmaOp& e) {
  return str(e.out) + " = CutlassNvfp4GroupedMmaOp(mat1=" + str(e.mat1) + keyword("mat2", e.mat2) +
         keyword("scale1", e.scale1) + keyword("scale2", e.scale2) + keyword("alpha", e.alpha) +
         keyword("problem_sizes", e.problem_sizes) + keyword("expert_offsets", e.expert_offsets) +
         keyword("sf_offsets", e.sf_offsets) + ")\n";
}

std::string print_node(const SdpaFwdOp& e) {
  return result_lines({e.out, e.logsumexp, e.philox_seed, e.philox_offset}) + "   = sdpa(" +
         str(e.query) + operand_line("", e.key) + operand_line("", e.value) +
         operand_line("bias=", e.bias) + operand_line("mask=", e.mask) +
         operand_line("dropout_p = ", e.dropout_p) + operand_line("is_causal=", e.is_causal) +
         operand_line("scale=", e.scale) + ")\n";
}

std::string print_node(const SdpaBwdOp& e) {
  return result_lines({e.grad_query, e.grad_key, e.grad_value}) + "   = sdpa_bwd(" +
         str(e.grad_output) + operand_line("", e.query) + operand_line("", e.key) +
         operand_line("", e.value) + operand_line("", e.out) +
         operand_line("logsum_exp = ", e.logsumexp) + operand_line("dropout_p = ", e.dropout_p) +
         operand_line("is_causal = ", e.is_causal) + operand_line("philox_seed = ", e.philox_seed) +
         operand_line("philox_offset = ", e.philox_offset) + operand_line("scale = ", e.scale) +
         ")\n";
}

// ---- Quantization -------------------------------------------------------------------------------

std::string print_node(const BlockQuantizationOp& e) {
  return "(" + str(e.block_scales) + ",\n " + str(e.quantized) + ")\n = block_quantize(" +
         str(e.arg) + ")\n";
}

std::string print_node(const GroupedBlockQuantizationOp& e) {
  return "(" + str(e.block_scales) + ",\n " + str(e.quantized) + ")\n = grouped_block_quantize(" +
         str(e.arg) + ",\n " + str(e.input_offsets) + ",\n " + str(e.output_offsets) + ")\n";
}

std::string print_node(const PreprocessGroupedMatmulInputSf& e) {
  return assign(
      e.out, "preprocessGroupedMatmulInputSf(\ninput = " + str(e.arg) +
                 ",\ninput_offsets = " + str(e.input_offsets) +
                 ",\noutput_offsets = " + str(e.output_offsets) + ",\nlayout = Block128x4\n)");
}

} // namespace nvfuser

// Lines of indexing, slices and padding, scans and sorts, random numbers, matrices and
// quantization.
#include "ops/resize.h"
#include "translator.h"

namespace nvfuser::python {

// ---- Indexing -----------------------------------------------------------------------------------

void PythonTranslator::handle(const SelectOp& op) {
  assign(
      {op.out}, PythonCall("fd.ops.select")
                    .arg(text_of(op.arg))
                    .arg(text_of(op.index))
                    .keyword("dim", python_text(op.dim)));
}

void PythonTranslator::handle(const IndexSelectOp& op) {
  assign(
      {op.out}, PythonCall("fd.ops.index_select")
                    .arg(text_of(op.arg))
                    .arg(text_of(op.index))
                    .keyword("dim", python_text(op.dim)));
}

void PythonTranslator::handle(const GatherOp& op) {
  assign(
      {op.out}, PythonCall(op.exact_sizes ? "fd.ops.take_along_axis" : "fd.ops.gather")
                    .arg(text_of(op.arg))
                    .arg(text_of(op.index))
                    .keyword("dim", python_text(op.dim)));
}

void PythonTranslator::handle(const ScatterOp& op) {
  PythonCall call("fd.ops.scatter");
  call.arg(text_of(op.arg))
      .arg(text_of(op.index))
      .arg(text_of(op.src))
      .keyword("dim", python_text(op.dim));
  if (op.accumulate) {
    call.keyword("accumulate_op", python_text(op.accumulate_op));
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const IndexPutAccumulateOp& op) {
  assign(
      {op.out}, PythonCall("fd.ops.index_put_accumulate")
                    .arg(text_of(op.arg))
                    .arg(text_of(op.index))
                    .arg(text_of(op.value)));
}

void PythonTranslator::handle(const EmbeddingFwdOp& op) {
  PythonCall call("fd.ops.embedding_fwd");
  call.arg(text_of(op.arg)).arg(text_of(op.weight));
  optional_keyword(call, "padding_idx", op.padding_idx);
  optional_keyword(call, "max_norm", op.max_norm);
  optional_keyword(call, "norm_type", op.norm_type);
  optional_keyword(call, "scale_grad_by_freq", op.scale_grad_by_freq);
  optional_keyword(call, "sparse", op.sparse);
  assign({op.out}, call);
}

// ---- Parts and surroundings ---------------------------------------------------------------------

void PythonTranslator::handle(const SliceOp& op) {
  PythonCall call("fd.ops.slice");
  call.arg(text_of(op.arg))
      .keyword("start_indices", text_of(op.starts))
      .keyword("end_indices", text_of(op.stops))
      .keyword("strides", text_of(op.steps))
      .keyword("manual_normalization", "True");
  if (ops::would_clip_ends(op)) {
    call.keyword("clip_ends", "False");
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const PadOp& op) {
  std::vector<Val*> widths; // the node has the outermost dimension first, the call the innermost
  for (size_t i = op.widths.size(); i >= 2; i -= 2) {
    widths.push_back(op.widths[i - 2]);
    widths.push_back(op.widths[i - 1]);
  }
  assign(
      {op.out}, PythonCall("fd.ops.pad")
                    .arg(text_of(op.arg))
                    .keyword("pad_widths", text_of(widths))
                    .keyword("value", text_of(op.value)));
}

void PythonTranslator::handle(const CatOp& op) {
  assign(
      {op.out}, PythonCall("fd.ops.cat")
                    .arg(text_of(op.args))
                    .keyword("dim", python_text(op.dim))
                    .keyword("manual_padding", "True"));
}

void PythonTranslator::handle(const WaitForPriorGridOp& op) {
  assign({op.out}, PythonCall("fd.ops.wait_for_prior_grid").arg(text_of(op.ins)));
}

void PythonTranslator::handle(const LaunchDependentGridOp& op) {
  assign({op.out}, PythonCall("fd.ops.launch_dependent_grid").arg(text_of(op.ins)));
}

void PythonTranslator::handle(const RepeatOp& op) {
  assign(
      {op.out},
      PythonCall("fd.ops.repeat").arg(text_of(op.arg)).keyword("repeats", python_list(op.repeats)));
}

void PythonTranslator::handle(const ViewAsScalar& op) {
  assign({op.out}, PythonCall("fd.ops.view_as_real").arg(text_of(op.arg)));
}

// ---- Scans, sorts and random numbers ------------------------------------------------------------

void PythonTranslator::handle(const ScanOp& op) {
  const bool is_named = op.op != BinaryOpType::FMax && op.op != BinaryOpType::FMin;
  PythonCall call(is_named ? scan_name(op.op, op) : "fd.ops.scan");
  call.arg(text_of(op.arg)).keyword("dim", python_text(op.dim));
  if (!is_named) {
    call.keyword("op", python_text(op.op));
  }
  if (!is_identity_of(op.op, op.init)) {
    call.keyword("init", text_of(op.init));
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const TopKOp& op) {
  PythonCall call("fd.ops.topk");
  call.arg(text_of(op.arg)).arg(text_of(op.k));
  if (op.dim != -1) {
    call.keyword("dim", python_text(op.dim));
  }
  if (!op.largest) {
    call.keyword("largest", "False");
  }
  if (op.sorted) {
    call.keyword("sorted", "True");
  }
  assign({op.values, op.indices}, call);
}

void PythonTranslator::handle(const ArgsortOp& op) {
  PythonCall call("fd.ops.argsort");
  call.arg(text_of(op.arg)).keyword("dim", python_text(op.dim));
  if (op.descending) {
    call.keyword("descending", "True");
  }
  if (op.stable) {
    call.keyword("stable", "True");
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const RNGOp& op) {
  const bool is_uniform = op.op == RNGOpType::Uniform || op.op == RNGOpType::UniformRange;
  PythonCall call(is_uniform ? "fd.ops.uniform" : "fd.ops.normal");
  if (op.parameters.empty()) {
    call.arg("0").arg("1");
  }
  for (const Val* parameter : op.parameters) {
    call.arg(text_of(parameter));
  }
  call.arg(text_of(op.shape));
  optional_keyword(call, "rng_seed", op.seed);
  optional_keyword(call, "rng_offset", op.offset);
  if (op.out->dtype() != DataType::Float) {
    call.keyword("dtype", python_text(op.out->dtype()));
  }
  assign({op.out}, call);
}

// ---- Matrices -----------------------------------------------------------------------------------

void PythonTranslator::handle(const MmaOp& op) {
  const std::vector<int64_t> dims = reduced_dims(op, as_tensor(op.out));
  if (op.a_scale != nullptr) { // what set_mma_macro makes it from
    const auto scaled = [&](const Val* factor, const Val* scale) {
      PythonCall product("fd.ops.mul");
      for (const Val* val : {factor, scale}) {
        product.arg(PythonCall("fd.ops.cast")
                        .arg(text_of(val))
                        .keyword("dtype", python_text(op.out->dtype()))
                        .str());
      }
      return product.str();
    };
    const std::string product =
        PythonCall("fd.ops.mul").arg(scaled(op.a, op.a_scale)).arg(scaled(op.b, op.b_scale)).str();
    assign({op.out}, PythonCall("fd.ops.sum").arg(product).keyword("dims", python_list(dims)));
    return;
  }
  assign(
      {op.out}, PythonCall("fd.ops.fused_multiply_sum")
                    .arg(text_of(op.a))
                    .arg(text_of(op.b))
                    .keyword("dims", python_list(dims)));
}

void PythonTranslator::handle(const MatmulOp& op) {
  assign({op.out}, PythonCall("fd.ops.matmul").arg(text_of(op.a)).arg(text_of(op.b)));
}

void PythonTranslator::handle(const LinearOp& op) {
  PythonCall call("fd.ops.linear");
  call.arg(text_of(op.a)).arg(text_of(op.b));
  optional_keyword(call, "bias", op.bias);
  assign({op.out}, call);
}

void PythonTranslator::handle(const GroupedMmaOp& op) {
  PythonCall call("fd.ops.grouped_mm");
  call.arg(text_of(op.mat1)).arg(text_of(op.mat2)).arg(text_of(op.offsets));
  if (op.inputs().size() == 3 && op.out->dtype() == op.mat1->dtype()) {
    assign({op.out}, call);
    return;
  }
  call.arg(text_of(op.scale1)).arg(text_of(op.scale2));
  optional_keyword(call, "alpha", op.alpha);
  optional_keyword(call, "bias", op.bias);
  optional_keyword(call, "beta", op.beta);
  add_block_scale_keywords(call, op.out, op.out_block_scale, op.out_gamma);
  assign({op.out, op.out_block_scale, op.out_gamma}, call);
}

void PythonTranslator::handle(const ScaledMmaOp& op) {
  PythonCall call("fd.ops.scaled_mm");
  call.arg(text_of(op.mat1)).arg(text_of(op.mat2)).arg(text_of(op.scale1)).arg(text_of(op.scale2));
  optional_keyword(call, "alpha", op.alpha);
  optional_keyword(call, "bias", op.bias);
  optional_keyword(call, "beta", op.beta);
  add_block_scale_keywords(call, op.out, op.out_block_scale, op.out_gamma);
  assign({op.out, op.out_block_scale, op.out_gamma}, call);
}

/// The facts about their results that long forms of grouped and scaled products print.
void PythonTranslator::add_block_scale_keywords(
    PythonCall& call, const TensorView* out, const TensorView* scale, const TensorView* gamma) {
  if (out->dtype() != DataType::BFloat16) {
    call.keyword("dtype", python_text(out->dtype()));
  }
  if (scale != nullptr) {
    call.keyword("output_block_scale_size", python_text(block_size_of(out, scale)));
    if (scale->dtype() != DataType::BFloat16) {
      call.keyword("output_block_scale_dtype", python_text(scale->dtype()));
    }
  }
  if (gamma != nullptr) {
    call.keyword("output_gamma", "True");
  }
}

void PythonTranslator::handle(const CutlassNvfp4GroupedMmaOp& op) {
  PythonCall call("fd.ops.cutlass_nvfp4_grouped_mm");
  for (const Val* input : op.inputs()) {
    call.arg(text_of(input));
  }
  if (op.out->dtype() != DataType::BFloat16) {
    call.keyword("dtype", python_text(op.out->dtype()));
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const SdpaFwdOp& op) {
  PythonCall call("fd.ops.sdpfa_fwd");
  call.arg(text_of(op.query)).arg(text_of(op.key)).arg(text_of(op.value));
  optional_keyword(call, "bias", op.bias);
  optional_keyword(call, "mask", op.mask);
  call.keyword("dropout_p", text_of(op.dropout_p)).keyword("is_causal", text_of(op.is_causal));
  optional_keyword(call, "scale", op.scale);
  assign({op.out, op.logsumexp, op.philox_seed, op.philox_offset}, call);
}

void PythonTranslator::handle(const SdpaBwdOp& op) {
  PythonCall call("fd.ops.sdpfa_bwd");
  for (const TensorView* tv : {op.grad_output, op.query, op.key, op.value, op.out, op.logsumexp}) {
    call.arg(text_of(tv));
  }
  call.keyword("dropout_p", text_of(op.dropout_p))
      .keyword("is_causal", text_of(op.is_causal))
      .keyword("philox_seed", text_of(op.philox_seed))
      .keyword("philox_offset", text_of(op.philox_offset))
      .keyword("scale", text_of(op.scale));
  assign({op.grad_query, op.grad_key, op.grad_value}, call);
}

// ---- Quantization -------------------------------------------------------------------------------

void PythonTranslator::handle(const BlockQuantizationOp& op) {
  PythonCall call("fd.ops.nv_block_quantize");
  call.arg(text_of(op.arg));
  optional_keyword(call, "global_scale", op.global_scale);
  if (op.block_size != 16) {
    call.keyword("block_size", python_text(op.block_size));
  }
  if (op.swizzled) {
    call.keyword("swizzle_block_scales", "True");
  }
  if (op.quantized->dtype() != DataType::Float4_e2m1fn) {
    call.keyword("dtype", python_text(op.quantized->dtype()));
  }
  assign({op.quantized, op.block_scales}, call);
}

void PythonTranslator::handle(const GroupedBlockQuantizationOp& op) {
  PythonCall call("fd.ops.nv_grouped_block_quantize");
  call.arg(text_of(op.arg)).arg(text_of(op.input_offsets)).arg(text_of(op.output_offsets));
  optional_keyword(call, "global_scale", op.global_scale);
  if (op.block_size != 16) {
    call.keyword("block_size", python_text(op.block_size));
  }
  if (op.quantized->dtype() != DataType::Float4_e2m1fn) {
    call.keyword("dtype", python_text(op.quantized->dtype()));
  }
  assign({op.quantized, op.block_scales}, call);
}

void PythonTranslator::handle(const PreprocessGroupedMatmulInputSf& op) {
  assign(
      {op.out}, PythonCall("fd.ops.preprocess_grouped_matmul_input_sf")
                    .arg(text_of(op.arg))
                    .arg(text_of(op.input_offsets))
                    .arg(text_of(op.output_offsets)));
}

} // namespace nvfuser::python

#include "ir/node_rules.h"

#include <algorithm>
#include <initializer_list>

#include "ir/all_nodes.h"
#include "ir/scalar.h"

namespace nvfuser {
namespace {

/// The dimensions that a reader of the tensor sees.
IterDomains dims_of(const TensorView* tensor) {
  return TensorDomain::no_reductions(tensor->logical());
}

const TensorView* as_tensor(const Val* val) {
  return val != nullptr && val->is_tensor() ? static_cast<const TensorView*>(val) : nullptr;
}

/// The axes of a result that operands meet.
const IterDomains& met_axes(const TensorView* out) {
  return out->maybe_root();
}

int64_t num_met(const TensorView* out) {
  return static_cast<int64_t>(met_axes(out).size());
}

class NodeRules {
 public:
  explicit NodeRules(SampledSizes& sizes) : sizes_(sizes) {}

  [[nodiscard]] const std::string& fault() const {
    return fault_;
  }

  // -- ir/domain_exprs.h: sizes follow from those of operands --

  void operator()(const Split& op) {
    if (!op.factor->is_integral_scalar()) {
      return fail("the factor is no integer");
    }
    if (op.factor->is_const() && as_int(op.factor->value()) <= 0) {
      return fail("the factor is not positive");
    }
    const IterDomain* part = op.inner_split ? op.inner : op.outer;
    const IterDomain* rest = op.inner_split ? op.outer : op.inner;
    equal(sizes_.of(part->extent()), sizes_.of(op.factor));
    if (!is_said(*rest, {op.in->extent(), op.factor})) {
      equal(sizes_.of(rest->extent()), folded(BinaryOpType::CeilDiv, op.in->extent(), op.factor));
    }
  }

  void operator()(const Merge& op) {
    if (!is_said(*op.out, {op.outer->extent(), op.inner->extent()})) {
      equal(
          sizes_.of(op.out->extent()),
          folded(BinaryOpType::Mul, op.outer->extent(), op.inner->extent()));
    }
  }

  void operator()(const Swizzle& op) {
    equal(sizes_.of(op.out_x->extent()), sizes_.of(op.in_x->extent()));
    equal(sizes_.of(op.out_y->extent()), sizes_.of(op.in_y->extent()));
  }

  void operator()(const Swizzle1D& op) {
    equal(sizes_.of(op.out->extent()), sizes_.of(op.in->extent()));
    expect(is_device_dim(op.parallel_type), "it is no device dimension");
  }

  void operator()(const Resize& op) {
    if (!op.left->is_integral_scalar() || !op.right->is_integral_scalar()) {
      return fail("a width is no integer");
    }
    // Concretization found that one element is left: a size that a run decides is a number.
    const Val* read = op.in->maybe_expanded_extent();
    const bool is_decided = op.out->is_broadcast() && op.out->extent()->is_one() &&
                            !(read->is_const() && op.left->is_const() && op.right->is_const());
    if (!is_decided) {
      equal(
          sizes_.of(op.out->extent()),
          folded(BinaryOpType::Add, folded(BinaryOpType::Add, op.left, op.right), sizes_.of(read)));
    }
  }

  // -- ir/pointwise.h --

  void operator()(const UnaryOp& op) {
    pointwise(op.out, {op.arg});
  }
  void operator()(const BinaryOp& op) {
    pointwise(op.out, {op.lhs, op.rhs});
  }
  void operator()(const TernaryOp& op) {
    pointwise(op.out, {op.in1, op.in2, op.in3});
  }
  void operator()(const LoadStoreOp& op) {
    pointwise(op.out, {op.arg});
  }

  // -- ir/shape_exprs.h --

  void operator()(const BroadcastOp& op) {
    expect_count(op.flags.size(), num_met(op.out));
    expect_count(std::ranges::count(op.flags, false), op.arg->rank());
    for (size_t i = 0; is_good() && i < op.flags.size(); ++i) {
      expect(
          !op.flags[i] || met_axes(op.out)[i]->is_broadcast(), "a new dimension is no broadcast");
    }
    if (is_good()) {
      IterDomains kept;
      for (size_t i = 0; i < op.flags.size(); ++i) {
        if (!op.flags[i]) {
          kept.push_back(met_axes(op.out)[i]);
        }
      }
      meet(dims_of(op.arg), kept);
    }
  }

  void operator()(const SqueezeOp& op) {
    expect_count(op.flags.size(), op.arg->rank());
    if (!is_good()) {
      return;
    }
    IterDomains kept;
    const IterDomains dims = dims_of(op.arg);
    for (size_t i = 0; i < op.flags.size(); ++i) {
      if (!op.flags[i]) {
        kept.push_back(dims[i]);
      }
    }
    meet(kept, met_axes(op.out));
  }

  void operator()(const ExpandOp& op) {
    expect_count(op.extents.size(), num_met(op.out));
    expect_sizes(op.extents);
    meet(op.arg, op.out);
  }

  void operator()(const ReshapeOp& op) {
    meet(op.arg, op.out);
  }

  // -- ir/reduce.h --

  void operator()(const ReductionOp& op) {
    reduce({op.out}, {op.arg});
    combine(op.out, op.arg);
    expect(op.init->is_scalar(), "the initial value is no scalar");
  }

  void operator()(const WelfordOp& op) {
    reduce({op.out_avg, op.out_var, op.out_n}, {op.in_avg, op.in_var, op.in_n});
    combine(op.out_avg, op.in_avg);
    combine(op.out_var, op.in_avg);
    for (const Val* init : {op.init_avg, op.init_var, op.init_n}) {
      expect(init->is_scalar(), "an initial value is no scalar");
    }
  }

  void operator()(const GroupedReductionOp& op) {
    expect_count(op.args.size(), std::ssize(op.outs));
    expect_count(op.inits.size(), std::ssize(op.outs));
    expect_count(op.ops.size(), std::ssize(op.outs));
    for (size_t i = 0; is_good() && i < op.outs.size(); ++i) {
      reduce({op.outs[i]}, {op.args[i]});
      combine(op.outs[i], op.args[i]);
      expect(op.inits[i]->is_scalar(), "an initial value is no scalar");
    }
  }

  // -- ir/create.h --

  void operator()(const FullOp& op) {
    expect_shape(op.shape, op.out);
    expect(op.fill_value->is_scalar(), "the element is no scalar");
  }

  void operator()(const IotaOp& op) {
    expect_rank(op.out, 1);
    expect_scalars({op.length, op.start, op.step});
  }

  void operator()(const EyeOp& op) {
    expect_rank(op.out, 2);
    expect_scalars({op.rows, op.columns});
  }

  void operator()(const TensorConstruct& op) {
    expect_scalars(op.elements);
    int64_t count = 1;
    for (const IterDomain* id : dims_of(op.out)) {
      expect(id->extent()->is_const(), "a size is no constant");
      const bool has_wrapped =
          __builtin_mul_overflow(count, sizes_.of(id->extent()).value_or(0), &count);
      expect(!has_wrapped, "there are too many elements");
    }
    expect_count(op.elements.size(), count);
  }

  // -- ir/random_exprs.h --

  void operator()(const RNGOp& op) {
    const bool has_parameters =
        op.op == RNGOpType::UniformRange || op.op == RNGOpType::NormalGeneral;
    expect_shape(op.shape, op.out);
    expect_count(op.parameters.size(), has_parameters ? 2 : 0);
    expect_scalars(op.parameters);
    expect((op.seed == nullptr) == (op.offset == nullptr), "seed and offset come together");
    expect_scalars({op.seed, op.offset});
  }

  // -- ir/index_exprs.h --

  void operator()(const SelectOp& op) {
    expect_dim(op.dim, op.arg);
    expect_index(op.index);
    if (const TensorView* index = as_tensor(op.index)) {
      expect_rank(index, 0);
    }
    if (is_good()) {
      IterDomains kept = dims_of(op.arg);
      kept.erase(kept.begin() + op.dim);
      meet(kept, met_axes(op.out));
    }
  }

  void operator()(const IndexSelectOp& op) {
    look_up(op);
  }
  void operator()(const GatherOp& op) {
    look_up(op);
  }

  void operator()(const ScatterOp& op) {
    meet(op.arg, op.out);
    expect_dim(op.dim, op.arg);
    expect_index(op.index);
    expect_rank(op.index, op.arg->rank());
    if (const TensorView* src = as_tensor(op.src)) {
      expect_rank(src, op.index->rank());
    }
  }

  void operator()(const IndexPutAccumulateOp& op) {
    meet(op.arg, op.out);
    expect_index(op.index);
    expect_rank(op.value, op.arg->rank());
    expect(op.arg->rank() >= 1, "a scalar has no rows");
    expect(op.index->rank() == 1 || op.index->rank() == 2, "row numbers have one dimension");
  }

  void operator()(const EmbeddingFwdOp& op) {
    expect_rank(op.weight, 2);
    expect_index(op.arg);
    expect_count(num_met(op.out), op.arg->rank() + 1);
    expect_scalars({op.norm_type, op.scale_grad_by_freq, op.sparse, op.padding_idx, op.max_norm});
  }

  // -- ir/resize_exprs.h --

  void operator()(const SliceOp& op) {
    meet(op.arg, op.out);
    for (const std::vector<Val*>* list : {&op.starts, &op.stops, &op.steps}) {
      expect_count(list->size(), op.arg->rank());
      expect_sizes(*list);
    }
  }

  void operator()(const PadOp& op) {
    meet(op.arg, op.out);
    expect_count(op.widths.size(), 2 * op.arg->rank());
    expect_sizes(op.widths);
    if (const TensorView* value = as_tensor(op.value)) {
      expect_rank(value, 0);
    }
  }

  void operator()(const CatOp& op) {
    expect(!op.args.empty(), "there is nothing to join");
    for (const TensorView* arg : op.args) {
      meet(arg, op.out);
    }
    expect(op.dim >= 0 && op.dim < num_met(op.out), "there is no such dimension");
  }

  void operator()(const WaitForPriorGridOp& op) {
    copies_first(op.ins, op.out);
  }
  void operator()(const LaunchDependentGridOp& op) {
    copies_first(op.ins, op.out);
  }

  void operator()(const RepeatOp& op) {
    expect_count(op.repeats.size(), op.arg->rank());
    expect_count(num_met(op.out), op.arg->rank());
    expect(
        std::ranges::all_of(op.repeats, [](int64_t count) { return count > 0; }),
        "something is repeated less than once");
  }

  void operator()(const ViewAsScalar& op) {
    expect_count(num_met(op.out), op.arg->rank() + 1);
    expect(
        num_met(op.out) > 0 && met_axes(op.out).back() == op.vector_id,
        "components are not the last dimension");
  }

  // -- ir/search_exprs.h --

  void operator()(const ScanOp& op) {
    meet(op.arg, op.out);
    combine(op.out, op.arg);
    expect_dim(op.dim, op.arg);
    expect(op.init->is_scalar(), "the initial value is no scalar");
  }

  void operator()(const TopKOp& op) {
    meet(op.arg, op.values);
    meet(op.arg, op.indices);
    expect_dim(op.dim, op.arg);
    expect_sizes({op.k});
  }

  void operator()(const ArgsortOp& op) {
    meet(op.arg, op.out);
    expect_dim(op.dim, op.arg);
  }

  // -- ir/matmul_exprs.h --

  void operator()(const MmaOp& op) {
    reduce({op.out}, {op.inputs().begin(), op.inputs().end()});
    expect(as_tensor(op.a) != nullptr && as_tensor(op.b) != nullptr, "a factor is no tensor");
    expect((op.a_scale == nullptr) == (op.b_scale == nullptr), "one factor has scales");
    expect(op.init->is_scalar(), "the initial value is no scalar");
  }

  void operator()(const MatmulOp& op) {
    product(op.out, op.a, op.b);
  }

  void operator()(const LinearOp& op) {
    expect(op.a->rank() >= 1, "a has no dimensions");
    expect(op.b->rank() >= 2, "b has less than two dimensions");
    expect_result_of_sum(op.out, op.a->rank() - 1 + op.b->rank() - 1);
    expect(
        op.bias == nullptr || (op.bias->rank() >= 1 && op.bias->rank() < op.b->rank()),
        "the bias has other dimensions");
  }

  void operator()(const GroupedMmaOp& op) {
    const int64_t rank_1 = op.mat1->rank();
    const int64_t rank_2 = op.mat2->rank();
    expect(
        rank_1 >= 2 && rank_2 >= 2 && (rank_1 + rank_2 == 4 || rank_1 + rank_2 == 5),
        "factors are neither two matrices nor a matrix and a stack of them");
    expect_rank(op.offsets, 1);
    expect_result_of_sum(op.out, rank_1 + rank_2 == 4 ? 3 : 2);
    expect_beside(op.out, op.out_block_scale, op.out_gamma);
  }

  void operator()(const ScaledMmaOp& op) {
    product(op.out, op.mat1, op.mat2);
    expect_beside(op.out, op.out_block_scale, op.out_gamma);
  }

  void operator()(const CutlassNvfp4GroupedMmaOp& op) {
    expect_rank(op.mat1, 2);
    expect_rank(op.mat2, 3);
    expect_result_of_sum(op.out, 2);
  }

  void operator()(const SdpaFwdOp& op) {
    const int64_t rank = op.query->rank();
    expect(rank >= 2, "query has less than two dimensions");
    expect_rank(op.key, rank);
    expect_rank(op.value, rank);
    expect_rank(op.out, rank);
    expect_rank(op.logsumexp, rank - 1);
    for (const TensorView* addend : {op.bias, op.mask}) {
      expect(addend == nullptr || addend->rank() <= rank, "an addend has more dimensions");
    }
    expect_scalars({op.dropout_p, op.is_causal, op.scale});
  }

  void operator()(const SdpaBwdOp& op) {
    const int64_t rank = op.query->rank();
    expect(rank >= 2, "query has less than two dimensions");
    for (const TensorView* tensor :
         {op.key, op.value, op.grad_output, op.out, op.grad_query, op.grad_key, op.grad_value}) {
      expect_rank(tensor, rank);
    }
    expect_rank(op.logsumexp, rank - 1);
    expect_scalars({op.dropout_p, op.is_causal, op.scale});
  }

  // -- ir/quantize_exprs.h --

  void operator()(const BlockQuantizationOp& op) {
    expect(op.arg->rank() >= 1 && op.block_size > 0, "there are no blocks");
    meet(op.arg, op.quantized);
    expect_rank(op.block_scales, op.arg->rank());
  }

  void operator()(const GroupedBlockQuantizationOp& op) {
    expect_rank(op.arg, 2);
    expect(op.block_size > 0, "there are no blocks");
    meet(op.arg, op.quantized);
    expect_rank(op.block_scales, 2);
    expect_rank(op.input_offsets, 1);
    expect_rank(op.output_offsets, 1);
    expect_scalars({op.k, op.num_groups});
  }

  void operator()(const PreprocessGroupedMatmulInputSf& op) {
    expect_rank(op.arg, 2);
    expect_rank(op.out, 2);
    expect_rank(op.input_offsets, 1);
    expect_rank(op.output_offsets, 1);
    expect_scalars({op.k, op.num_groups});
  }

#define NVF_NO_RULES(Node) \
  void operator()(const Node&) {}
  NVF_FOR_EACH_KERNEL_EXPR(NVF_NO_RULES)
#undef NVF_NO_RULES

 private:
  [[nodiscard]] bool is_good() const {
    return fault_.empty();
  }
  void fail(const std::string& fault) {
    if (is_good()) {
      fault_ = fault;
    }
  }
  void expect(bool holds, const char* fault) {
    if (!holds) {
      fail(fault);
    }
  }

  // -- numbers --

  /// Whether the size of an axis is the constant that a reshape says for it: a launch compares it
  /// with what the operands give.
  static bool is_said(const IterDomain& axis, std::initializer_list<const Val*> operands) {
    return axis.is_rfactor_product() && axis.extent()->is_const() &&
           !std::ranges::all_of(operands, [](const Val* operand) { return operand->is_const(); });
  }

  /// A size that has no value, as a quotient by zero, is as large as nothing.
  void equal(std::optional<int64_t> size, std::optional<int64_t> expected) {
    if (size != expected) {
      fail("the size of an axis does not follow from its operands");
    }
  }

  static std::optional<int64_t> folded(
      BinaryOpType op, std::optional<int64_t> a, std::optional<int64_t> b) {
    if (!a.has_value() || !b.has_value()) {
      return std::nullopt;
    }
    const ScalarValue value = scalar::fold(op, *a, *b, DataType::Index);
    return has_value(value) ? std::optional(as_int(value)) : std::nullopt;
  }
  std::optional<int64_t> folded(BinaryOpType op, const Val* a, const Val* b) {
    return folded(op, sizes_.of(a), sizes_.of(b));
  }

  void expect_count(auto count, int64_t expected) {
    if (static_cast<int64_t>(count) != expected) {
      fail(
          std::to_string(static_cast<int64_t>(count)) + " entries for " + std::to_string(expected));
    }
  }
  void expect_rank(const TensorView* tensor, int64_t rank) {
    if (tensor->rank() != rank) {
      fail(
          "a tensor of rank " + std::to_string(tensor->rank()) + " where there should be " +
          std::to_string(rank));
    }
  }
  void expect_dim(int64_t dim, const TensorView* tensor) {
    if (dim < 0 || dim >= tensor->rank()) {
      fail("dimension " + std::to_string(dim) + " of " + std::to_string(tensor->rank()));
    }
  }
  void expect_scalars(const std::vector<Val*>& vals) {
    for (const Val* val : vals) {
      expect(val == nullptr || val->is_scalar(), "an operand is no scalar");
    }
  }
  void expect_sizes(const std::vector<Val*>& vals) {
    for (const Val* val : vals) {
      expect(val->is_integral_scalar(), "a size is no integer");
    }
  }
  void expect_shape(const std::vector<Val*>& shape, const TensorView* out) {
    expect_count(shape.size(), num_met(out));
    expect_scalars(shape);
  }
  void expect_index(const Val* index) {
    expect(is_integral(index->dtype()), "a position is no integer");
  }

  // -- axes --

  /// Dimensions of an operand meet axes of a result one by one. Sizes that are known are equal,
  /// unless the operand has one element for all, or may turn out to have.
  void meet(const IterDomains& dims, const IterDomains& axes) {
    expect_count(dims.size(), std::ssize(axes));
    for (size_t i = 0; is_good() && i < dims.size(); ++i) {
      const Val* size = dims[i]->maybe_expanded_extent();
      const Val* met = axes[i]->maybe_expanded_extent();
      const bool may_repeat =
          dims[i]->is_broadcast() || (dims[i]->is_symbolic_axis() && size->is_one());
      if (size->is_const() && met->is_const() && !may_repeat) {
        expect(as_int(size->value()) == as_int(met->value()), "an operand has another size");
      }
    }
  }

  void meet(const TensorView* arg, const TensorView* out) {
    meet(dims_of(arg), met_axes(out));
  }

  void copies_first(const std::vector<TensorView*>& ins, const TensorView* out) {
    expect(!ins.empty(), "there is nothing to copy");
    if (is_good()) {
      meet(ins.front(), out);
    }
  }

  void pointwise(const Val* out, const std::vector<const Val*>& args) {
    const TensorView* result = as_tensor(out);
    for (const Val* arg : args) {
      if (const TensorView* tensor = as_tensor(arg)) {
        expect(result != nullptr, "a scalar is computed from a tensor");
        if (is_good()) {
          meet(tensor, result);
        }
      }
    }
    if (result != nullptr) {
      expect(
          std::ranges::any_of(args, [](const Val* arg) { return arg->is_tensor(); }),
          "a tensor is computed from scalars");
    }
  }

  void reduce(const std::vector<const Val*>& outs, const std::vector<const Val*>& args) {
    for (const Val* out : outs) {
      const TensorView* result = as_tensor(out);
      expect(result != nullptr, "a result is no tensor");
      expect(as_tensor(args.front()) != nullptr, "an operand is no tensor");
      for (const Val* arg : args) {
        if (const TensorView* tensor = as_tensor(arg); tensor != nullptr && is_good()) {
          meet(tensor, result);
        }
      }
    }
  }

  /// Elements together are of the type of each. Floats may be combined in a wider type, and rounded
  /// in the end.
  void combine(const Val* out, const Val* arg) {
    const bool are_floats = is_floating_point(out->dtype()) && is_floating_point(arg->dtype());
    expect(out->dtype() == arg->dtype() || are_floats, "elements are combined in another type");
  }

  template <typename Node>
  void look_up(const Node& op) {
    expect_dim(op.dim, op.arg);
    expect_index(op.index);
    expect_rank(op.index, op.arg->rank());
    expect_count(num_met(op.out), op.arg->rank());
  }

  /// A result with `rank` dimensions and perhaps the one that was summed over.
  void expect_result_of_sum(const TensorView* out, int64_t rank) {
    expect_rank(out, rank);
    const bool is_summed = !met_axes(out).empty() && met_axes(out).back()->is_reduction();
    expect_count(num_met(out), rank + (is_summed ? 1 : 0));
  }

  void product(const TensorView* out, const TensorView* a, const TensorView* b) {
    const int64_t rank_a = a->rank();
    const int64_t rank_b = b->rank();
    expect(rank_a >= 1 && rank_b >= 1, "a factor has no dimensions");
    const int64_t batch = std::max<int64_t>({rank_a - 2, rank_b - 2, 0});
    expect_result_of_sum(out, batch + (rank_a > 1 ? 1 : 0) + (rank_b > 1 ? 1 : 0));
  }

  void expect_beside(
      const TensorView* out, const TensorView* block_scale, const TensorView* gamma) {
    if (block_scale != nullptr) {
      expect_rank(block_scale, out->rank());
    }
    if (gamma != nullptr) {
      expect_rank(gamma, 0);
    }
  }

  SampledSizes& sizes_;
  std::string fault_; // the first one
};

} // namespace

std::string find_broken_rule(const Expr& expr, SampledSizes& sizes) {
  NodeRules rules(sizes);
  visit(expr, rules);
  return rules.fault().empty() ? "" : std::string(expr.op_name()) + ": " + rules.fault();
}

} // namespace nvfuser

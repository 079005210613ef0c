#include "lower/passes/expand_cluster_reductions.h"

#include <limits>

#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/parallel_dims.h"
#include "lower/analysis/powers_about_maxima.h"

namespace nvfuser {
namespace {

class ClusterReductionExpander {
 public:
  ClusterReductionExpander(Kernel& kernel, const ClusterReduction& reduction)
      : kernel_(kernel), reduction_(reduction) {}

  [[nodiscard]] Scope expand() {
    allocate_partials();
    std::vector<Val*> values = reduction_.ins;
    Val* contributes = reduction_.read_predicate;
    if (!reduction_.reduced_dims.empty()) {
      values = combines_about_maximum(reduction_) ? reduce_about_maximum() : reduce_in_block();
      contributes = nullptr;
    }
    store(values, contributes);
    statements_.push_back(kernel_.make<ClusterSync>({}));
    combine();
    statements_.push_back(kernel_.make<ClusterSync>({})); // the next entry overwrites the partials
    return statements_;
  }
  [[nodiscard]] const std::vector<TensorView*>& partials() const {
    return partials_;
  }

 private:
  /// In the scratch of the first block, one after the other.
  void allocate_partials() {
    Val* threads = kernel_.new_index(cluster_size(kernel_));
    for (const ParallelType type : kBlockDimTypes) {
      threads = scalar::mul(threads, launched_extent(kernel_, type));
    }
    constexpr int64_t kBytesOfElement = 16; // of the widest type: as much as planned for each
    Val* address = reduction_.workspace_offset;
    for (const Val* out : reduction_.outs) {
      TensorView* partial =
          kernel_.new_tensor(kernel_.new_tensor_domain({}), out->dtype(), MemoryType::Shared);
      statements_.push_back(kernel_.make<Allocate>(
          {.buffer = partial,
           .memory_type = MemoryType::Shared,
           .size = threads,
           .address = address}));
      partials_.push_back(partial);
      address = scalar::add(address, scalar::mul(threads, kernel_.new_index(kBytesOfElement)));
    }
  }

  /// The block's own result, in registers of every thread.
  std::vector<Val*> reduce_in_block() {
    return reduce_in_block(reduction_.outs, reduction_.ins, reduction_.inits, reduction_.ops);
  }
  std::vector<Val*> reduce_in_block(
      const std::vector<Val*>& like,
      const std::vector<Val*>& ins,
      const std::vector<Val*>& inits,
      const std::vector<BinaryOpType>& ops) {
    std::vector<TensorView*> registers;
    std::vector<Val*> outs;
    for (size_t i = 0; i < like.size(); ++i) {
      TensorView* own = new_register(statements_, like[i]->dtype());
      statements_.push_back(kernel_.make<LoadStoreOp>(
          {.out = element(own), .arg = inits[i], .op = LoadStoreOpType::Set}));
      outs.push_back(element(own));
      registers.push_back(own);
    }
    statements_.push_back(kernel_.make<BlockReduction>(
        {.outs = outs,
         .ins = ins,
         .inits = inits,
         .ops = ops,
         .is_welford = reduction_.is_welford,
         .reduced_dims = reduction_.reduced_dims,
         .read_predicate = reduction_.read_predicate}));
    std::vector<Val*> values;
    for (TensorView* own : registers) {
      values.push_back(element(own));
    }
    return values;
  }

  /// The block's maximum, and its sum about that.
  std::vector<Val*> reduce_about_maximum() {
    const auto reduce = [&](size_t i, Val* in) {
      return reduce_in_block({reduction_.outs[i]}, {in}, {reduction_.inits[i]}, {reduction_.ops[i]})
          .front();
    };
    Val* maximum = reduce(0, reduction_.ins[0]);
    Val* sum = sum_about(maximum, {reduction_.ins[0], reduction_.ins[1]}, statements_);
    return {maximum, reduce(1, sum)};
  }

  struct SumAboutMaximum {
    Val* maximum = nullptr;
    Val* sum = nullptr;
  };

  /// The sum about another maximum, in a register. About 0 instead of -inf, as there is no
  /// difference of two infinities then.
  Val* sum_about(Val* maximum, const SumAboutMaximum& value, Scope& statements) {
    const DataType type = value.sum->dtype();
    const auto append = [&](auto make) {
      TensorView* made = new_register(statements, type);
      statements.push_back(make(element(made)));
      return element(made);
    };
    Val* lowest = kernel_.new_constant(-std::numeric_limits<double>::infinity(), type);
    Val* center = append([&](Val* out) {
      return kernel_.make<TernaryOp>(
          {.out = out,
           .in1 = scalar::eq(again(maximum), lowest),
           .in2 = kernel_.new_constant(0.0, type),
           .in3 = again(maximum),
           .op = TernaryOpType::Where});
    });
    Val* difference = append([&](Val* out) {
      return kernel_.make<BinaryOp>(
          {.out = out, .lhs = again(value.maximum), .rhs = center, .op = BinaryOpType::Sub});
    });
    Val* scale = append([&](Val* out) {
      return kernel_.make<UnaryOp>({.out = out, .arg = difference, .op = UnaryOpType::Exp});
    });
    return append([&](Val* out) {
      return kernel_.make<BinaryOp>(
          {.out = out, .lhs = again(value.sum), .rhs = scale, .op = BinaryOpType::Mul});
    });
  }

  TensorView* new_register(Scope& statements, DataType type) {
    TensorView* made = kernel_.new_tensor(kernel_.new_tensor_domain({}), type);
    statements.push_back(kernel_.make<Allocate>(
        {.buffer = made, .memory_type = MemoryType::Local, .size = kernel_.one()}));
    return made;
  }

  void store(const std::vector<Val*>& values, Val* contributes) {
    Scope own;
    Scope neutral;
    for (size_t i = 0; i < values.size(); ++i) {
      Val* slot = slot_of(block_of_cluster(kernel_));
      own.push_back(kernel_.make<LoadStoreOp>(
          {.out = kernel_.new_tensor_index(partials_[i], slot),
           .arg = values[i],
           .op = LoadStoreOpType::Set}));
      if (contributes != nullptr) {
        neutral.push_back(kernel_.make<LoadStoreOp>(
            {.out = kernel_.new_tensor_index(partials_[i], slot),
             .arg = reduction_.inits[i],
             .op = LoadStoreOpType::Set}));
      }
    }
    if (contributes == nullptr) {
      statements_.insert(statements_.end(), own.begin(), own.end());
    } else {
      statements_.push_back(kernel_.make<IfThenElse>(
          {.condition = contributes, .then_body = own, .else_body = neutral}));
    }
  }

  void combine() {
    if (!combines_about_maximum(reduction_)) {
      for_each_block([&](const std::vector<Val*>& ins) { return combine_with(ins); });
      return;
    }
    Val* maximum = reduction_.outs[0];
    Val* sum = reduction_.outs[1];
    const auto accumulate = [&](Val* out, Val* value, BinaryOpType op) {
      return kernel_.make<BinaryOp>({.out = again(out), .lhs = again(out), .rhs = value, .op = op});
    };
    for_each_block([&](const std::vector<Val*>& ins) {
      return Scope{accumulate(maximum, ins[0], BinaryOpType::Max)};
    });
    for_each_block([&](const std::vector<Val*>& ins) {
      Scope statements;
      Val* own = sum_about(maximum, {ins[0], ins[1]}, statements);
      statements.push_back(accumulate(sum, own, BinaryOpType::Add));
      return statements;
    });
    // NaN if the maximum is infinite: so are exponentials about it.
    TensorView* nothing = new_register(statements_, maximum->dtype());
    statements_.push_back(kernel_.make<BinaryOp>(
        {.out = element(nothing),
         .lhs = again(maximum),
         .rhs = again(maximum),
         .op = BinaryOpType::Sub}));
    statements_.push_back(accumulate(sum, element(nothing), BinaryOpType::Add));
  }

  /// A loop over what each block has stored.
  template <typename Body>
  void for_each_block(const Body& body_of) {
    Val* block = kernel_.new_scalar(DataType::Index);
    std::vector<Val*> ins;
    for (TensorView* partial : partials_) {
      ins.push_back(kernel_.new_tensor_index(partial, slot_of(block)));
    }
    Val* blocks = kernel_.new_index(cluster_size(kernel_));
    statements_.push_back(kernel_.make<ForLoop>(
        {.index = block,
         .iter_domain = kernel_.new_iter_domain(blocks),
         .start = kernel_.zero(),
         .stop = blocks,
         .body = body_of(ins)}));
  }

  Scope combine_with(const std::vector<Val*>& ins) {
    std::vector<Val*> outs; // fresh elements, since a value has one definition
    for (const Val* out : reduction_.outs) {
      outs.push_back(again(out));
    }
    if (reduction_.is_welford) {
      return {kernel_.make<WelfordOp>(
          {.out_avg = outs[0],
           .out_var = outs[1],
           .out_n = outs[2],
           .in_avg = ins[0],
           .in_var = ins[1],
           .in_n = ins[2],
           .init_avg = reduction_.inits[0],
           .init_var = reduction_.inits[1],
           .init_n = reduction_.inits[2]})};
    }
    Scope statements;
    for (size_t i = 0; i < outs.size(); ++i) {
      statements.push_back(kernel_.make<BinaryOp>(
          {.out = outs[i],
           .lhs = again(reduction_.outs[i]),
           .rhs = ins[i],
           .op = reduction_.ops[i]}));
    }
    return statements;
  }

  TensorIndex* element(TensorView* own) {
    return kernel_.new_tensor_index(own, kernel_.zero());
  }
  TensorIndex* again(const Val* out) {
    const auto* element = static_cast<const TensorIndex*>(out);
    return kernel_.new_tensor_index(element->view(), element->index());
  }

  /// The place of this thread's value in a block: [block, thread], x fastest. Threads of a segment
  /// have the same value.
  Val* slot_of(Val* block) {
    Val* slot = block;
    for (size_t i = kBlockDimTypes.size(); i-- > 0;) {
      const ParallelType type = kBlockDimTypes[i];
      const Val* launched = kernel_.launch.extents[type];
      if (launched != nullptr && !launched->is_one()) {
        slot = scalar::add(
            scalar::mul(slot, launched_extent(kernel_, type)), kernel_.parallel_index(type));
      }
    }
    return slot;
  }

  Kernel& kernel_;
  const ClusterReduction& reduction_;
  Scope statements_;
  std::vector<TensorView*> partials_;
};

} // namespace

std::unordered_set<const TensorView*> expand_cluster_reductions(Kernel& kernel, Scope& scope) {
  std::unordered_set<const TensorView*> partials;
  Scope result;
  for (Expr* expr : scope) {
    if (auto* reduction = expr->as<ClusterReduction>()) {
      ClusterReductionExpander expander(kernel, *reduction);
      const Scope statements = expander.expand();
      kernel.remove(reduction);
      result.insert(result.end(), statements.begin(), statements.end());
      partials.insert(expander.partials().begin(), expander.partials().end());
      continue;
    }
    for (Scope* body : bodies_of(*expr)) {
      partials.merge(expand_cluster_reductions(kernel, *body));
    }
    result.push_back(expr);
  }
  scope = std::move(result);
  return partials;
}

} // namespace nvfuser

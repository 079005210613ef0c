#include "lower/passes/expand_cluster_reductions.h"

#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/parallel_dims.h"

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
      values = reduce_in_block();
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
    std::vector<TensorView*> registers;
    std::vector<Val*> outs;
    for (size_t i = 0; i < reduction_.outs.size(); ++i) {
      TensorView* own =
          kernel_.new_tensor(kernel_.new_tensor_domain({}), reduction_.outs[i]->dtype());
      statements_.push_back(kernel_.make<Allocate>(
          {.buffer = own, .memory_type = MemoryType::Local, .size = kernel_.one()}));
      statements_.push_back(kernel_.make<LoadStoreOp>(
          {.out = element(own), .arg = reduction_.inits[i], .op = LoadStoreOpType::Set}));
      outs.push_back(element(own));
      registers.push_back(own);
    }
    statements_.push_back(kernel_.make<BlockReduction>(
        {.outs = outs,
         .ins = reduction_.ins,
         .inits = reduction_.inits,
         .ops = reduction_.ops,
         .is_welford = reduction_.is_welford,
         .reduced_dims = reduction_.reduced_dims,
         .read_predicate = reduction_.read_predicate}));
    std::vector<Val*> values;
    for (TensorView* own : registers) {
      values.push_back(element(own));
    }
    return values;
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
         .body = combine_with(ins)}));
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

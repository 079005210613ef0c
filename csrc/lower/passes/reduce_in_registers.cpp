#include "lower/passes/reduce_in_registers.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "lower/analysis/reductions.h"
#include "lower/analysis/thread_memory.h"

namespace nvfuser {
namespace {

/// A domain like `domain` without its reductions, on fresh axes.
TensorDomain* without_reductions(Kernel& kernel, const TensorDomain& domain) {
  std::unordered_map<const IterDomain*, IterDomain*> map;
  const auto mapped = [&](const IterDomains& ids) {
    IterDomains list;
    for (const IterDomain* id : ids) {
      if (const auto found = map.find(id); found != map.end()) {
        list.push_back(found->second);
      }
    }
    return list;
  };
  for (const IterDomain* id : domain.logical()) {
    if (!id->is_reduction()) {
      IterDomainSpec spec = id->spec();
      spec.is_rfactor = false;
      map[id] = kernel.new_iter_domain(spec);
    }
  }
  for (const IterDomains* target : {&domain.loop(), &domain.allocation()}) {
    for (const Expr* expr : exprs_between(domain.logical(), *target)) {
      IterDomains inputs;
      for (Val* in : expr->inputs()) {
        if (map.count(static_cast<IterDomain*>(in)) != 0) {
          inputs.push_back(map.at(static_cast<IterDomain*>(in)));
        }
      }
      if (inputs.size() != expr->inputs().size() ||
          map.count(static_cast<IterDomain*>(expr->outputs().front())) != 0) {
        continue; // of a reduction, or replayed already
      }
      const IterDomains outputs = replay_id_expr(expr, inputs);
      for (size_t i = 0; i < outputs.size(); ++i) {
        const auto* old = static_cast<IterDomain*>(expr->outputs()[i]);
        outputs[i]->assign_parallel_type(old->parallel_type());
        map[old] = outputs[i];
      }
    }
  }
  TensorDomainSpec spec;
  spec.logical = mapped(domain.logical());
  spec.allocation = mapped(domain.allocation());
  spec.loop = mapped(domain.loop());
  const IterDomains& stored = domain.maybe_allocation();
  for (size_t i = 0; i < stored.size(); ++i) {
    if (!stored[i]->is_reduction()) {
      spec.contiguity.push_back(domain.contiguity()[i]);
    }
  }
  return kernel.new_tensor_domain(spec);
}

bool reduces_blocks(const TensorView* tensor) {
  const IterDomains& axes = tensor->loop();
  return std::any_of(axes.begin(), axes.end(), [](const IterDomain* axis) {
    return axis->is_reduction() && axis->is_grid_dim() && !axis->is_clustered_grid_dim();
  });
}

void make_serial(const TensorView* tensor, ParallelType type) {
  for (IterDomain* axis : tensor->loop()) {
    if (axis->parallel_type() == type) {
      axis->assign_parallel_type(ParallelType::Serial);
    }
  }
}

/// Leading loop axes up to which the registers can be inlined into the copy. A reduced axis bound
/// to a hardware index is no loop and does not end them; a loop that only repeats the reduction
/// (TensorView::broadcast) is none of the copy's.
int64_t shared_axes(const TensorView* registers) {
  const auto ends = [&](const IterDomain* axis) {
    const bool only_repeats =
        axis->definition() == nullptr && !registers->domain()->is_logical(axis);
    return only_repeats || (axis->is_reduction() && !axis->is_thread()) ||
           is_instruction(axis->parallel_type());
  };
  const IterDomains& axes = registers->loop();
  return std::find_if(axes.begin(), axes.end(), ends) - axes.begin();
}

/// Registers that `reduction` writes instead of `tensor`, which loses the reduced axes.
TensorView* take_over(Kernel& kernel, Expr* reduction, TensorView* tensor, DataType dtype) {
  TensorView* registers = kernel.new_tensor(tensor->domain(), dtype);
  registers->assign_max_producer_position(tensor->max_producer_position());
  if (reduces_blocks(registers)) {
    // Which block has the result is known per call: the store stands in the same loops, by element.
    make_serial(registers, ParallelType::Vectorize);
  }
  kernel.replace_output_of(reduction, tensor, registers);
  tensor->assign_domain(without_reductions(kernel, *registers->domain()));
  return registers;
}

/// How many of the leading `position` axes are not reduced.
int64_t kept_axes(const TensorView* registers, int64_t position) {
  const IterDomains& axes = registers->loop();
  return std::count_if(axes.begin(), axes.begin() + position, [](const IterDomain* axis) {
    return !axis->is_reduction();
  });
}

/// Compute `registers` inside of the loops of their copy.
void inline_into(TensorView* copy, TensorView* registers, int64_t position) {
  registers->assign_compute_at_position(position);
  copy->assign_max_producer_position(kept_axes(registers, position));
  make_serial(registers, ParallelType::Vectorize); // the copy is the vector access
  make_serial(copy, ParallelType::Group);          // the reduction combines the lanes
  make_serial(copy, ParallelType::Mma);            // the instruction computes the registers
}

TensorView* move_to_registers(Kernel& kernel, Expr* reduction, TensorView* tensor) {
  const std::vector<Expr*> users = tensor->all_uses();
  TensorView* registers = take_over(kernel, reduction, tensor, tensor->dtype());
  int64_t position = shared_axes(registers);
  const bool shares_all_loops =
      !users.empty() && tensor->is_fusion_output() && tensor->compute_at_position() >= position;
  if (shares_all_loops) {
    // Readers in the same loops use the registers: the output is stored, but not read back.
    kernel.replace_uses(tensor, registers, users);
    position = std::min(position, tensor->compute_at_position());
    tensor->assign_compute_at_position(0);
  }
  kernel.make<LoadStoreOp>({.out = tensor, .arg = registers, .op = LoadStoreOpType::Set});
  inline_into(tensor, registers, position);
  return registers;
}

bool is_plain_copy(const Expr* expr) {
  const auto* copy = expr->as<LoadStoreOp>();
  return copy != nullptr && copy->op == LoadStoreOpType::Set;
}

bool is_cast(const Expr* expr) {
  const auto* op = expr->as<UnaryOp>();
  return op != nullptr && op->op == UnaryOpType::Cast;
}

/// The operation that combines; none for a Welford and for several reductions in one.
std::optional<BinaryOpType> combiner_of(const Expr* reduction) {
  const auto* op = reduction->as<ReductionOp>();
  return op == nullptr ? std::nullopt : std::optional(op->op);
}

/// The reduction whose result an operand is: as it was, or in registers that were copied or rounded
/// since. nullptr: none.
const Expr* reduction_behind(const Val* operand) {
  const Expr* expr = operand->definition();
  while (expr != nullptr && (is_plain_copy(expr) || is_cast(expr))) {
    expr = expr->inputs().front()->definition();
  }
  return expr != nullptr && is_reduction_expr(expr) ? expr : nullptr;
}

/// Whether one thread combines partial results that lie in global memory, or what it made of them.
/// They are few, and each rounding of their sum is one of the result.
bool combines_stored_partials(const Expr* reduction) {
  const bool is_serial =
      std::ranges::none_of(first_output(reduction)->loop(), [](const IterDomain* axis) {
        return axis->is_reduction() && is_hardware_index(axis->parallel_type());
      });
  const Val* partial = reduction->inputs().front();
  const Expr* earlier = reduction_behind(partial);
  if (!is_serial || earlier == nullptr || combiner_of(earlier) != combiner_of(reduction) ||
      earlier->is_a<WelfordOp>() != reduction->is_a<WelfordOp>()) {
    return false;
  }
  return static_cast<const TensorView*>(partial)->memory_type() == MemoryType::Global ||
         combines_stored_partials(earlier);
}

/// The type in which output `i` of a reduction accumulates, where that is a wider one: steps of
/// sums and products are not rounded to a narrow type, and those of partial results to none. A
/// maximum is one of the elements. The mean of a Welford in Float loses what the variance is made
/// of when it is far from zero.
std::optional<DataType> wide_type(const Kernel& kernel, const Expr* reduction, size_t i) {
  const DataType type = reduction->outputs()[i]->dtype();
  const auto* op = reduction->as<ReductionOp>();
  const auto* group = reduction->as<GroupedReductionOp>();
  if (op != nullptr || group != nullptr) {
    const BinaryOpType combiner = op != nullptr ? op->op : group->ops.at(i);
    const bool adds = combiner == BinaryOpType::Add || combiner == BinaryOpType::Mul;
    if (op != nullptr && adds && type == DataType::Float && combines_stored_partials(reduction)) {
      return DataType::Double;
    }
    return adds && is_low_precision(type) ? std::optional(DataType::Float) : std::nullopt;
  }
  if (reduction->is_a<MmaOp>()) {
    return std::nullopt; // tensor cores sum in its type
  }
  if (type == DataType::Float) {
    const bool is_double = has_fast_doubles(kernel) || combines_stored_partials(reduction);
    return is_double ? std::optional(DataType::Double) : std::nullopt;
  }
  return is_low_precision(type) ? std::optional(DataType::Float) : std::nullopt;
}

/// Whether `tensor` goes on at most into reductions that accumulate in `wide`: it is a partial
/// result. An access of many lanes would become too wide with wider elements.
bool is_partial(const Kernel& kernel, const TensorView* tensor, DataType wide) {
  const std::vector<Expr*>& users = tensor->all_uses();
  const bool is_vectorized = std::ranges::any_of(tensor->loop(), [](const IterDomain* axis) {
    return axis->parallel_type() == ParallelType::Vectorize;
  });
  return !tensor->is_fusion_output() && !is_vectorized &&
         std::ranges::all_of(users, [&](const Expr* user) {
           return (is_reduction_expr(user) && wide_type(kernel, user, 0) == wide) ||
                  (is_plain_copy(user) && is_partial(kernel, first_output(user), wide));
         });
}

/// Keep a partial result, and its copies, as wide as the registers.
void widen(TensorView* partial, DataType wide) {
  partial->assign_dtype(wide);
  for (const Expr* user : partial->all_uses()) {
    if (is_plain_copy(user)) {
      widen(first_output(user), wide);
    }
  }
}

/// `tensor`, in registers, becomes the rounded value of registers that are wider.
void accumulate_in(Kernel& kernel, Expr* reduction, TensorView* tensor, DataType wide) {
  const int64_t inlined = tensor->compute_at_position();
  TensorView* registers = take_over(kernel, reduction, tensor, wide);
  kernel.make<UnaryOp>({.out = tensor, .arg = registers, .op = UnaryOpType::Cast});
  tensor->assign_compute_at_position(kept_axes(registers, inlined));
  inline_into(tensor, registers, shared_axes(registers));
}

/// Results of a reduction stand in the same loops, read or not: those that nothing reads have as
/// many elements as the others.
void align_unread(const Expr* reduction) {
  std::vector<TensorView*> unread;
  std::optional<int64_t> position;
  for (Val* out : reduction->outputs()) {
    auto* tensor = static_cast<TensorView*>(out);
    if (tensor->all_uses().empty()) {
      unread.push_back(tensor);
    } else {
      const int64_t own = tensor->compute_at_position();
      position = std::min(position.value_or(own), own);
    }
  }
  for (TensorView* tensor : unread) {
    tensor->assign_compute_at_position(position.value_or(shared_axes(tensor)));
  }
}

} // namespace

void reduce_in_registers(Kernel& kernel) {
  for (Expr* expr : kernel.exprs()) {
    if (!is_reduction_expr(expr)) {
      continue;
    }
    const std::vector<Val*> outputs = expr->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i]->is_tensor()) {
        continue;
      }
      auto* tensor = static_cast<TensorView*>(outputs[i]);
      const std::optional<DataType> wide = wide_type(kernel, expr, i);
      const bool stays_wide = wide && is_partial(kernel, tensor, *wide);
      if (stays_wide) {
        widen(tensor, *wide);
      }
      if (!is_of_thread(tensor)) {
        tensor = move_to_registers(kernel, expr, tensor);
      }
      if (wide && !stays_wide) {
        accumulate_in(kernel, expr, tensor, *wide);
      }
    }
    align_unread(expr);
  }
}

} // namespace nvfuser

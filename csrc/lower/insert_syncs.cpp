#include "lower/insert_syncs.h"

#include <algorithm>
#include <set>

#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/loop_model.h"
#include "lower/parallel_dims.h"
#include "lower/statements.h"

namespace nvfuser {
namespace {

enum class Barrier : uint8_t { None, Block, Grid };

using Tensors = std::set<const TensorView*>;

/// The loop of `tensor` bound to a hardware index; nullptr if it has none, or one that every thread
/// repeats (an unresolved broadcast, an axis that was reduced).
const Loop* bound_loop(const Kernel& kernel, const TensorView* tensor, ParallelType type) {
  for (const Loop* loop : kernel.loop_model->nest(tensor)) {
    if (loop->parallel_type != type || loop->is_broadcast()) {
      continue;
    }
    if (!is_reduced(kernel, tensor, loop)) {
      return loop;
    }
  }
  return nullptr;
}

const Loop* reading_loop(const Kernel& kernel, const TensorView* consumer, ParallelType type) {
  for (const Loop* loop : kernel.loop_model->nest(consumer)) {
    if (loop->parallel_type == type) {
      return loop;
    }
  }
  return nullptr;
}

/// Who has to wait between the definition of `producer` and that of `consumer`, which reads it.
class Hazards {
 public:
  explicit Hazards(const Kernel& kernel)
      : kernel_(kernel), exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)) {}

  [[nodiscard]] Barrier between(const TensorView* producer, const TensorView* consumer) const {
    if (producer->definition() == nullptr) {
      return Barrier::None; // an input
    }
    Barrier barrier = Barrier::None;
    for (const ParallelType type : kThreadParallelTypes) {
      const Val* launched = kernel_.launch.extents[thread_type_index(type)];
      if (launched == nullptr || launched->is_one()) {
        continue;
      }
      const Loop* writer = bound_loop(kernel_, producer, type);
      const Loop* reader = reading_loop(kernel_, consumer, type);
      if (is_seen_by_reader(producer, type, writer, reader)) {
        continue;
      }
      check_visible(producer, consumer, type, writer, reader);
      barrier = std::max(barrier, is_block_dim(type) ? Barrier::Grid : Barrier::Block);
    }
    return barrier;
  }

 private:
  [[nodiscard]] bool is_seen_by_reader(
      const TensorView* producer, ParallelType type, const Loop* writer, const Loop* reader) const {
    if (writer == nullptr) {
      // Registers: every thread has computed its own. Other memory has one writer (the owner), and
      // blocks have shared memory of their own.
      return producer->memory_type() == MemoryType::Local ||
             (is_block_dim(type) && producer->memory_type() == MemoryType::Shared);
    }
    return writer == reader ||
           (reader != nullptr && exact_.are_mapped(writer->promoted, reader->promoted));
  }

  void check_visible(
      const TensorView* producer,
      const TensorView* consumer,
      ParallelType type,
      const Loop* writer,
      const Loop* reader) const {
    const MemoryType needed = is_block_dim(type) ? MemoryType::Global : MemoryType::Shared;
    const MemoryType memory = producer->memory_type();
    if (memory == MemoryType::Global || memory == needed) {
      return;
    }
    const char* who = is_block_dim(type) ? "blocks" : "threads";
    throw UserError({
        .headline =
            {"A tensor is read by other ", who, " than those that computed it, but lies in ",
             memory == MemoryType::Local ? "registers" : "shared memory"},
        .node = {describe(producer), "\nread by ", describe(consumer)},
        .expected = {type, " bound to the same axis in both, or memory that all ", who, " see"},
        .found =
            {writer->promoted->to_string(), " in the producer, ",
             reader == nullptr ? std::string("no axis") : reader->promoted->to_string(),
             " in the consumer"},
        .fix =
            {"set_memory_type(MemoryType.", is_block_dim(type) ? "global" : "shared",
             ") on the producer, or inline it so that the axes share a loop"},
    });
  }

  const Kernel& kernel_;
  const ValGraph& exact_;
};

// ---- What statements touch ----------------------------------------------------------------------

bool is_synchronised_memory(const TensorView* tensor) {
  return tensor->memory_type() == MemoryType::Shared ||
         (tensor->memory_type() == MemoryType::Global && tensor->definition() != nullptr);
}

Tensors tensors_in(const std::vector<Val*>& vals) {
  Tensors tensors;
  for (const Val* val : vals) {
    if (val->vtype() == ValType::TensorIndex) {
      const TensorView* view = static_cast<const TensorIndex*>(val)->view();
      if (is_synchronised_memory(view)) {
        tensors.insert(view);
      }
    }
  }
  return tensors;
}

bool is_barrier(const Expr* expr) {
  return expr->is_a<BlockSync>() || expr->is_a<GridSync>();
}

bool runs_repeatedly(const ForLoop& loop) {
  return !loop.is_parallel && !loop.is_vectorized;
}

/// Inserts barriers into one kernel.
class SyncInserter {
 public:
  explicit SyncInserter(Kernel& kernel) : kernel_(kernel), hazards_(kernel) {}

  void run() {
    check_registers();
    insert_raw(kernel_.body);
    insert_war(kernel_.body);
  }

 private:
  /// Reads of registers need no barrier, but must be legal.
  void check_registers() {
    for (const Expr* expr : kernel_.sorted_exprs) {
      const auto* consumer = static_cast<const TensorView*>(expr->outputs().front());
      for (const Val* in : expr->inputs()) {
        if (in->is_tensor()) {
          (void)hazards_.between(static_cast<const TensorView*>(in), consumer);
        }
      }
    }
  }

  [[nodiscard]] const TensorView* defined_by(const Expr* statement) const {
    const auto found = kernel_.origin.find(statement);
    return found == kernel_.origin.end()
               ? nullptr
               : static_cast<const TensorView*>(found->second->outputs().front());
  }

  /// The strongest barrier that `subtree` needs between itself and the writes in `pending`.
  Barrier needed_before(const Scope& subtree, const Tensors& pending) const {
    Barrier needed = Barrier::None;
    for_each_node(subtree, [&](const Expr& statement) {
      const TensorView* consumer = defined_by(&statement);
      for (const TensorView* producer : tensors_in(statement.inputs())) {
        if (consumer != nullptr && pending.count(producer) != 0) {
          needed = std::max(needed, hazards_.between(producer, consumer));
        }
      }
    });
    return needed;
  }

  Expr* make_barrier(Barrier barrier, bool is_war) {
    if (barrier == Barrier::Block) {
      return kernel_.make<BlockSync>(is_war);
    }
    kernel_.launch.is_cooperative = true;
    TensorDomainSpec spec;
    spec.logical = {kernel_.new_iter_domain(kernel_.one())};
    TensorView* counter =
        kernel_.new_tensor(kernel_.new_tensor_domain(spec), DataType::Int, MemoryType::Global);
    kernel_.launch.buffers.push_back({counter, /*zero_init=*/true, /*is_output=*/false});
    std::vector<int64_t> dims;
    for (size_t i = 0; i < kGridDimTypes.size(); ++i) {
      const Val* launched = kernel_.launch.extents[thread_type_index(kGridDimTypes[i])];
      if (launched != nullptr && !launched->is_one()) {
        dims.push_back(static_cast<int64_t>(i));
      }
    }
    return kernel_.make<GridSync>(dims, counter);
  }

  /// Read after write: writer and reader are in different children of one scope.
  void insert_raw(Scope& scope) {
    Tensors pending;
    for (size_t i = 0; i < scope.size(); ++i) {
      Expr* child = scope[i];
      const Barrier needed = needed_before({child}, pending);
      if (needed != Barrier::None) {
        scope.insert(scope.begin() + static_cast<int64_t>(i), make_barrier(needed, false));
        ++i;
        pending.clear();
      }
      if (auto* loop = child->as<ForLoop>()) {
        insert_raw(loop->body);
      }
      for_each_node({child}, [&](const Expr& statement) {
        const Tensors written = tensors_in(statement.outputs());
        pending.insert(written.begin(), written.end());
      });
    }
  }

  /// Write after read: a loop that reads what its next iteration writes ends with a barrier, unless
  /// one lies on the way already.
  void insert_war(Scope& scope) {
    for (Expr* child : scope) {
      auto* loop = child->as<ForLoop>();
      if (loop == nullptr) {
        continue;
      }
      insert_war(loop->body);
      if (!runs_repeatedly(*loop)) {
        continue;
      }
      Barrier needed = Barrier::None;
      for (const TensorView* tensor : rewritten_tensors(loop->body)) {
        if (!is_guarded(loop->body, tensor)) {
          needed = std::max(needed, reuse_barrier(loop->body, tensor));
        }
      }
      if (needed != Barrier::None) {
        loop->body.push_back(make_barrier(needed, true));
      }
    }
  }

  static Tensors rewritten_tensors(const Scope& body) {
    Tensors written;
    Tensors read;
    for_each_node(body, [&](const Expr& statement) {
      const Tensors outs = tensors_in(statement.outputs());
      const Tensors ins = tensors_in(statement.inputs());
      written.insert(outs.begin(), outs.end());
      read.insert(ins.begin(), ins.end());
    });
    Tensors both;
    std::set_intersection(
        written.begin(), written.end(), read.begin(), read.end(), std::inserter(both, both.end()));
    return both;
  }

  Barrier reuse_barrier(const Scope& body, const TensorView* tensor) const {
    return needed_before(body, {tensor});
  }

  /// Whether a barrier lies after the last read of `tensor` in the body, or before its first write,
  /// on every way around the loop. A barrier inside a nested loop counts if the access does too.
  static bool is_guarded(const Scope& body, const TensorView* tensor) {
    bool barrier_since_read = false;
    bool seen_read = false;
    bool barrier_before_write = false;
    bool seen_write = false;
    for_each_node(body, [&](const Expr& statement) {
      if (is_barrier(&statement)) {
        barrier_since_read = true;
        barrier_before_write = barrier_before_write || !seen_write;
      }
      seen_write = seen_write || tensors_in(statement.outputs()).count(tensor) != 0;
      if (tensors_in(statement.inputs()).count(tensor) != 0) {
        seen_read = true;
        barrier_since_read = false;
      }
    });
    return seen_read && (barrier_since_read || barrier_before_write);
  }

  Kernel& kernel_;
  Hazards hazards_;
};

} // namespace

void insert_syncs(Kernel& kernel) {
  SyncInserter(kernel).run();
}

} // namespace nvfuser

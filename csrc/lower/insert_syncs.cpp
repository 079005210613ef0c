#include "lower/insert_syncs.h"

#include <algorithm>
#include <set>

#include "graph/scatter_storage.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/async_copies.h"
#include "lower/hazards.h"
#include "lower/rewrite_elements.h"

namespace nvfuser {
namespace {

using Tensors = std::set<const TensorView*>;

// ---- What statements touch ----------------------------------------------------------------------

bool is_synchronised_memory(const TensorView* tensor) {
  return tensor->memory_type() == MemoryType::Shared ||
         (tensor->memory_type() == MemoryType::Global && tensor->definition() != nullptr);
}

Tensors read_by(const Expr& statement) {
  Tensors tensors;
  for_each_read(statement, [&](const TensorIndex& element) {
    if (is_synchronised_memory(element.view())) {
      tensors.insert(element.view());
    }
  });
  return tensors;
}

Tensors written_by(const Expr& statement) {
  Tensors tensors;
  for_each_write(statement, [&](const TensorIndex& element) {
    if (is_synchronised_memory(element.view())) {
      tensors.insert(element.view());
    }
  });
  return tensors;
}

Barrier barrier_of(const Expr* expr) {
  return expr->is_a<GridSync>() ? Barrier::Grid
                                : (expr->is_a<BlockSync>() ? Barrier::Block : Barrier::None);
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
      for (const TensorView* producer : read_by(statement)) {
        if (consumer != nullptr && pending.count(producer) != 0) {
          needed = std::max(needed, hazards_.between(producer, consumer));
        }
      }
      const ScatterOp* scatter = consumer == nullptr ? nullptr : scatter_of(consumer);
      if (scatter != nullptr && pending.count(storage_of(scatter->out)) != 0) {
        needed = std::max(needed, hazards_.between(scatter->arg, consumer)); // overwrites it
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

  /// Read after write: writer and reader are in different children of one scope. Before a barrier
  /// each thread waits for the asynchronous copies that it began.
  void insert_raw(Scope& scope) {
    Scope result;
    Tensors pending;
    Tensors under_way; // those of `pending` that are written by asynchronous copies
    for (Expr* child : scope) {
      const Barrier needed = needed_before({child}, pending);
      const Barrier passed = std::max(needed, barrier_of(child));
      if (!under_way.empty() && (passed != Barrier::None || reads({child}, under_way))) {
        result.push_back(kernel_.make<AsyncCommit>(LoadStoreOpType::CpAsync));
        result.push_back(kernel_.make<AsyncWait>(LoadStoreOpType::CpAsync, /*keep_stages=*/0));
        under_way.clear();
      }
      if (needed != Barrier::None) {
        result.push_back(make_barrier(needed, false));
      }
      if (passed != Barrier::None) { // other blocks may still need a stronger one
        std::erase_if(
            pending, [&](const TensorView* tensor) { return hazards_.after(tensor) <= passed; });
      }
      result.push_back(child);
      if (auto* loop = child->as<ForLoop>()) {
        insert_raw(loop->body);
      }
      for_each_node({child}, [&](const Expr& statement) {
        for (const TensorView* tensor : written_by(statement)) {
          if (circular_loop_of(kernel_, tensor) != nullptr) {
            continue; // ordered where it is loaded ahead
          }
          pending.insert(tensor);
          if (is_async_copy(kernel_, &statement)) {
            under_way.insert(tensor);
          }
        }
      });
    }
    scope = std::move(result);
  }

  static bool reads(const Scope& subtree, const Tensors& tensors) {
    bool found = false;
    for_each_node(subtree, [&](const Expr& statement) {
      for (const TensorView* tensor : read_by(statement)) {
        found = found || tensors.count(tensor) != 0;
      }
    });
    return found;
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
        if (!is_circular_buffer_of(*loop, tensor) && !is_guarded(loop->body, tensor)) {
          needed = std::max(needed, reuse_barrier(loop->body, tensor));
        }
      }
      if (needed != Barrier::None) {
        loop->body.push_back(make_barrier(needed, true));
      }
    }
  }

  [[nodiscard]] bool is_circular_buffer_of(const ForLoop& loop, const TensorView* tensor) const {
    const CircularLoop* circular = circular_loop_of(kernel_, tensor);
    return circular != nullptr && circular->loop->index == loop.index;
  }

  static Tensors rewritten_tensors(const Scope& body) {
    Tensors written;
    Tensors read;
    for_each_node(body, [&](const Expr& statement) {
      const Tensors outs = written_by(statement);
      const Tensors ins = read_by(statement);
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
      if (barrier_of(&statement) != Barrier::None) {
        barrier_since_read = true;
        barrier_before_write = barrier_before_write || !seen_write;
      }
      seen_write = seen_write || written_by(statement).count(tensor) != 0;
      if (read_by(statement).count(tensor) != 0) {
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

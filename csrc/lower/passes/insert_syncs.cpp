#include "lower/passes/insert_syncs.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/checked_copies.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/passes/hazards.h"

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

/// Tensors that copies of one kind are on their way to.
struct UnderWay {
  const AsyncMechanism* mechanism;
  Tensors tensors;
};

/// Something that happens in the body of a loop, and the loops inside of that body around it that
/// may run zero times, outermost first.
struct Event {
  enum class Kind : uint8_t { Read, Write, Barrier } kind;
  std::vector<const ForLoop*> loops;
};

/// Whether a thread that passes `other` passes the barrier as well.
bool is_passed_with(const Event& barrier, const Event& other) {
  return barrier.loops.size() <= other.loops.size() &&
         std::equal(barrier.loops.begin(), barrier.loops.end(), other.loops.begin());
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

  /// The reads of a statement, kept: each scope around it asks again.
  const Tensors& reads_of(const Expr& statement) {
    const auto found = reads_.find(&statement);
    return found != reads_.end() ? found->second
                                 : reads_.emplace(&statement, read_by(statement)).first->second;
  }

  /// The threads that have to wait between the writes in `pending` and `subtree`.
  BarrierSet needed_before(const Scope& subtree, const Tensors& pending) {
    BarrierSet needed;
    for_each_node(subtree, [&](const Expr& statement) {
      const TensorView* consumer = defined_by(&statement);
      for (const TensorView* producer : reads_of(statement)) {
        if (consumer != nullptr && pending.count(producer) != 0) {
          needed |= hazards_.between(producer, consumer);
        }
      }
      const TensorView* overwritten =
          consumer == nullptr ? nullptr : overwritten_operand(consumer->definition());
      if (overwritten != nullptr && pending.count(buffer_of(consumer)) != 0) {
        needed |= hazards_.between(overwritten, consumer);
      }
    });
    return needed;
  }

  /// The statement at which all of them wait.
  Expr* make_barrier(BarrierSet barriers) {
    if (!barriers.has(Barrier::Grid)) {
      return kernel_.make<BlockSync>({.war_sync = false});
    }
    kernel_.launch.is_cooperative = true;
    TensorDomainSpec spec;
    spec.logical = {kernel_.new_iter_domain(kernel_.one())};
    TensorView* counter =
        kernel_.new_tensor(kernel_.new_tensor_domain(spec), DataType::Int, MemoryType::Global);
    kernel_.launch.buffers.push_back({counter, /*zero_init=*/true, /*is_output=*/false});
    std::vector<int64_t> dims;
    for (size_t i = 0; i < kGridDimTypes.size(); ++i) {
      const Val* launched = kernel_.launch.extents[kGridDimTypes[i]];
      if (launched != nullptr && !launched->is_one()) {
        dims.push_back(static_cast<int64_t>(i));
      }
    }
    return kernel_.make<GridSync>({.sync_dims = dims, .sync_buffer = counter});
  }

  /// Read after write: writer and reader are in different children of one scope. Before a barrier
  /// each thread waits for the asynchronous copies that it began.
  void insert_raw(Scope& scope) {
    Scope result;
    Tensors pending;
    std::vector<UnderWay> under_way; // those of `pending` that are written by asynchronous copies
    for (Expr* child : scope) {
      const BarrierSet needed = needed_before({child}, pending);
      BarrierSet passed = traits_of(*child).barriers;
      wait_for_copies(result, under_way, *child, !(passed | needed).empty());
      if (begins_bulk_stores(*child, pending)) {
        result.push_back(kernel_.make<FenceAsyncProxy>({}));
      }
      if (needed.widest()) {
        result.push_back(make_barrier(needed));
        passed |= traits_of(*result.back()).barriers;
      }
      if (needed.has(Barrier::MBarrier)) {
        passed |= {Barrier::MBarrier}; // each thread has waited for the copies
      }
      if (!passed.empty()) { // others may still have to wait
        std::erase_if(pending, [&](const TensorView* tensor) {
          return passed.contains(hazards_.after(tensor));
        });
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
          if (const AsyncMechanism* mechanism = mechanism_at(statement, tensor)) {
            note_copy(under_way, mechanism, tensor);
          }
        }
      });
    }
    scope = std::move(result);
  }

  /// Whether bulk copies in `node` store what is in `pending`: the threads that wrote it put a
  /// fence before the barrier.
  bool begins_bulk_stores(const Expr& node, const Tensors& pending) {
    bool found = false;
    for_each_node({const_cast<Expr*>(&node)}, [&](const Expr& statement) {
      const TensorView* stored = box_stored_by(kernel_, statement);
      found = found || (stored != nullptr && pending.contains(stored));
    });
    return found;
  }

  /// How a statement that writes `tensor` copies while its thread goes on; nullptr: it does not.
  [[nodiscard]] const AsyncMechanism* mechanism_at(
      const Expr& statement, const TensorView* tensor) const {
    return checks_copies(kernel_) ? mechanism_of(tensor->definition())
                                  : async_mechanism(kernel_, &statement);
  }

  static void note_copy(
      std::vector<UnderWay>& under_way, const AsyncMechanism* mechanism, const TensorView* tensor) {
    auto known = std::ranges::find(under_way, mechanism, &UnderWay::mechanism);
    if (known == under_way.end()) {
      known = under_way.insert(known, {mechanism, {}});
    }
    known->tensors.insert(tensor);
  }

  /// Wait for copies before a barrier, and before `next` reads what they bring.
  void wait_for_copies(
      Scope& result, std::vector<UnderWay>& under_way, Expr& next, bool is_before_barrier) {
    std::vector<UnderWay> rest;
    for (UnderWay& copies : under_way) {
      if (!is_before_barrier && !reads({&next}, copies.tensors)) {
        rest.push_back(std::move(copies));
        continue;
      }
      for (const Scope& statements :
           {copies.mechanism->commit(kernel_),
            copies.mechanism->wait(kernel_, /*keep_stages=*/0)}) {
        result.insert(result.end(), statements.begin(), statements.end());
      }
    }
    under_way = std::move(rest);
  }

  bool reads(const Scope& subtree, const Tensors& tensors) {
    bool found = false;
    for_each_node(subtree, [&](const Expr& statement) {
      for (const TensorView* tensor : reads_of(statement)) {
        found = found || tensors.count(tensor) != 0;
      }
    });
    return found;
  }

  /// Write after read: a loop that reads what its next iteration writes ends with a barrier, unless
  /// one lies on the way already. Only in shared memory: in global memory the elements of every
  /// iteration have a place of their own.
  void insert_war(Scope& scope) {
    for (Expr* child : scope) {
      auto* loop = child->as<ForLoop>();
      if (loop == nullptr) {
        continue;
      }
      insert_war(loop->body);
      if (!is_serial(*loop)) {
        continue;
      }
      const Tensors rewritten = rewritten_tensors(loop->body);
      const bool is_needed =
          std::any_of(rewritten.begin(), rewritten.end(), [&](const TensorView* tensor) {
            return tensor->memory_type() == MemoryType::Shared &&
                   !has_stage_barriers(kernel_, tensor) && !is_circular_buffer_of(*loop, tensor) &&
                   !is_guarded(loop->body, tensor) && !needed_before(loop->body, {tensor}).empty();
          });
      if (is_needed) {
        loop->body.push_back(kernel_.make<BlockSync>({.war_sync = true}));
      }
    }
  }

  [[nodiscard]] bool is_circular_buffer_of(const ForLoop& loop, const TensorView* tensor) const {
    const CircularLoop* circular = circular_loop_of(kernel_, tensor);
    return circular != nullptr && circular->loop->index == loop.index;
  }

  Tensors rewritten_tensors(const Scope& body) {
    Tensors written;
    Tensors read;
    for_each_node(body, [&](const Expr& statement) {
      const Tensors outs = written_by(statement);
      const Tensors& ins = reads_of(statement);
      written.insert(outs.begin(), outs.end());
      read.insert(ins.begin(), ins.end());
    });
    Tensors both;
    std::set_intersection(
        written.begin(), written.end(), read.begin(), read.end(), std::inserter(both, both.end()));
    return both;
  }

  /// Whether a barrier lies between the reads of `tensor` in one iteration and its writes in the
  /// next: after every read, or before every write.
  bool is_guarded(const Scope& body, const TensorView* tensor) {
    std::vector<Event> events;
    collect_events(body, tensor, {}, events);
    const auto is_barrier = [](const Event& event) { return event.kind == Event::Kind::Barrier; };
    bool is_guarded_after = true;
    bool is_guarded_before = true;
    for (auto event = events.begin(); event != events.end(); ++event) {
      const auto is_on_the_way = [&](const Event& other) {
        return is_barrier(other) && is_passed_with(other, *event);
      };
      if (event->kind == Event::Kind::Read) {
        is_guarded_after = is_guarded_after && std::any_of(event, events.end(), is_on_the_way);
      } else if (event->kind == Event::Kind::Write) {
        is_guarded_before = is_guarded_before && std::any_of(events.begin(), event, is_on_the_way);
      }
    }
    return is_guarded_after || is_guarded_before;
  }

  /// Barriers and accesses to `tensor`, in the order of `scope`.
  void collect_events(
      const Scope& scope,
      const TensorView* tensor,
      const std::vector<const ForLoop*>& loops,
      std::vector<Event>& events) {
    for (const Expr* statement : scope) {
      if (const auto* loop = statement->as<ForLoop>()) {
        std::vector<const ForLoop*> inside = loops;
        if (!surely_runs(*loop)) {
          inside.push_back(loop);
        }
        collect_events(loop->body, tensor, inside, events);
      } else if (!traits_of(*statement).barriers.empty()) {
        events.push_back({Event::Kind::Barrier, loops});
      } else {
        if (reads_of(*statement).count(tensor) != 0) {
          events.push_back({Event::Kind::Read, loops});
        }
        if (written_by(*statement).count(tensor) != 0) {
          events.push_back({Event::Kind::Write, loops});
        }
      }
    }
  }

  Kernel& kernel_;
  Hazards hazards_;
  std::unordered_map<const Expr*, Tensors> reads_;
};

} // namespace

std::optional<Refusal> insert_syncs(Kernel& kernel) {
  SyncInserter(kernel).run();
  return kernel.take_refusal();
}

} // namespace nvfuser

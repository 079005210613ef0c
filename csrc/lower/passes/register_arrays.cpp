#include "lower/passes/register_arrays.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "base/pointer_map.h"
#include "base/register_file.h"
#include "eval/simplify.h"
#include "ir/scopes.h"
#include "lower/analysis/loop_copies.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

/// Whether the loop domain is what the definition made, and nothing is bound.
bool is_unscheduled(const TensorView* tensor) {
  const IterDomains& loop = tensor->loop();
  return loop == tensor->logical() &&
         std::ranges::none_of(loop, [](const IterDomain* axis) { return axis->is_parallelized(); });
}

/// A tensor with transforms of its own that is computed from `tensor`; nullptr: none.
const TensorView* scheduled_reader(const TensorView* tensor) {
  for (const TensorView* consumer : tensor->consumers()) {
    const TensorView* found =
        consumer->loop() != consumer->logical() ? consumer : scheduled_reader(consumer);
    if (found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

Refusal refuse_size(Kernel& kernel, const Allocate& allocate) {
  const TensorView* tensor = allocate.buffer;
  const std::string size = kernel.simplifier->simplify(allocate.size)->to_inline_string();
  const std::vector<TensorView*> tensors = kernel.tensors();
  const bool has_schedule = std::ranges::any_of(tensors, [](const TensorView* other) {
    return other->definition() != nullptr &&
           (!is_unscheduled(other) || other->compute_at_position() > 0);
  });
  if (!has_schedule) {
    return refuse({
        .headline = {"The fusion has no schedule, and a tensor in registers needs a constant size"},
        .node = {describe(tensor)},
        .expected =
            {"loops that share it: split and parallelize a result, fd.sched.transform_like, "
             "fd.sched.inline_most"},
        .found = {"a loop nest for each tensor, and size ", size},
        .fix = {"fd.sched.inline_most() computes each tensor where it is read; fd.execute "
                "schedules by itself; shared memory may have a size of the run"},
    });
  }
  const TensorView* reader = scheduled_reader(tensor);
  if (is_unscheduled(tensor) && reader != nullptr) {
    return refuse({
        .headline = {"A tensor in registers needs a constant size, and has no share of the "
                     "schedule of its reader"},
        .node = {describe(tensor)},
        .expected = {"the transforms of ", describe(reader)},
        .found = {"none, and size ", size},
        .fix =
            {"fd.sched.transform_like(reference), with that tensor, before fd.sched.inline_most()"},
    });
  }
  const bool is_inlined = tensor->compute_at_position() > 0;
  return refuse({
      .headline = {"A tensor in registers needs a constant size"},
      .node = {describe(tensor)},
      .expected =
          {"constant extents right of its compute-at position (", tensor->compute_at_position(),
           ")"},
      .found = {"size ", size},
      .fix =
          {is_inlined
               ? "inline it deeper; where readers share no deeper loop, split its axes by "
                 "constants "
                 "and bind the outer parts to blocks or threads, or put it in shared memory"
               : "fd.sched.inline_most() computes it where it is read; or put it in shared memory"},
  });
}

class RegisterPlan {
 public:
  explicit RegisterPlan(Kernel& kernel) : kernel_(kernel), loops_(kernel.body) {
    for_each_node(kernel.body, [&](Expr& expr) {
      auto* allocate = expr.as<Allocate>();
      if (allocate != nullptr && allocate->memory_type == MemoryType::Local) {
        const TensorView* tensor = allocate->buffer;
        allocates_.push_back(allocate);
        arrays_.insert_or_assign(
            tensor, {.bytes = as_int(allocate->size->value()) * size_bytes(tensor->dtype()),
                     .number = allocates_.size() - 1});
      }
    });
  }

  std::optional<Refusal> run() {
    for (const Allocate* allocate : allocates_) {
      if (registers_of(allocate->buffer) > kernel_.target().max_registers_per_thread) {
        spill(allocate->buffer);
      }
    }
    spill_beside_others(kernel_.body, 0);
    while (const TensorView* tensor = unrolled_too_often(kernel_.body)) {
      spill(tensor);
    }
    NVF_RETURN_REFUSAL(find_too_large_arrays());
    for (Allocate* allocate : allocates_) {
      allocate->is_spilled = is_spilled(allocate->buffer);
    }
    return std::nullopt;
  }

 private:
  using TensorSet = std::unordered_set<const TensorView*>;
  struct Array {
    int64_t bytes = 0;
    size_t number = 0; // its place in `allocates_`
  };

  [[nodiscard]] int64_t bytes_of(const TensorView* tensor) const {
    return arrays_.at(tensor).bytes;
  }
  [[nodiscard]] int64_t registers_of(const TensorView* tensor) const {
    return (bytes_of(tensor) + kRegisterBytes - 1) / kRegisterBytes;
  }
  [[nodiscard]] bool is_spilled(const TensorView* tensor) const {
    return spilled_.count(tensor) != 0;
  }
  void spill(const TensorView* tensor) {
    spilled_.insert(tensor);
    loops_.leave_out(tensor);
  }

  /// Which arrays, by number, a statement and those that it owns read or write.
  const std::vector<bool>& used_by(const Expr& statement) {
    const auto known = used_.find(&statement);
    if (known != used_.end()) {
      return known->second;
    }
    std::vector<bool> used(allocates_.size());
    for_each_element(statement, [&](const TensorIndex& element) {
      if (const Array* array = arrays_.find(element.view())) {
        used[array->number] = true;
      }
    });
    for (const Scope* body : bodies_of(statement)) {
      for (const Expr* inner : *body) {
        const std::vector<bool>& inside = used_by(*inner);
        std::transform(used.begin(), used.end(), inside.begin(), used.begin(), std::logical_or());
      }
    }
    return used_[&statement] = std::move(used);
  }

  /// An array from the first statement of its scope that uses it to the last.
  struct Life {
    const TensorView* tensor = nullptr;
    size_t first = 0;
    size_t last = 0;
  };

  std::vector<Life> lives_in(const Scope& scope) {
    std::vector<Life> lives;
    for (const Expr* expr : scope) {
      if (const auto* allocate = expr->as<Allocate>();
          allocate != nullptr && arrays_.contains(allocate->buffer)) {
        lives.push_back({allocate->buffer, scope.size(), 0});
      }
    }
    for (size_t i = 0; i < scope.size() && !lives.empty(); ++i) {
      const std::vector<bool>& used = used_by(*scope[i]);
      for (Life& life : lives) {
        if (used[arrays_.at(life.tensor).number]) {
          life.first = std::min(life.first, i);
          life.last = i;
        }
      }
    }
    return lives;
  }

  /// Spill arrays of `scope` while more of them are alive between two statements than there are
  /// registers: the largest first. Within a statement, what is read for the last time makes room
  /// for what is written. `outside`: registers of arrays that live on around it.
  void spill_beside_others(const Scope& scope, int64_t outside) {
    const std::vector<Life> lives = lives_in(scope);
    const auto registers = [&](const auto& is_alive) {
      int64_t sum = outside;
      for (const Life& life : lives) {
        sum += is_alive(life) && !is_spilled(life.tensor) ? registers_of(life.tensor) : 0;
      }
      return sum;
    };
    for (size_t i = 0; i < scope.size(); ++i) {
      const auto lives_on = [&](const Life& life) { return life.first <= i && i < life.last; };
      while (registers(lives_on) > kernel_.target().max_registers_per_thread) {
        const TensorView* largest = nullptr;
        for (const Life& life : lives) {
          largest = lives_on(life) ? larger_array(largest, life.tensor) : largest;
        }
        if (largest == nullptr) {
          break;
        }
        spill(largest);
      }
      const int64_t around =
          registers([&](const Life& life) { return life.first < i && i < life.last; });
      for (const Scope* body : bodies_of(*scope[i])) {
        spill_beside_others(*body, around);
      }
    }
  }

  /// The larger one of two arrays in registers; a single element is none.
  [[nodiscard]] const TensorView* larger_array(
      const TensorView* best, const TensorView* tensor) const {
    const bool is_array = !is_spilled(tensor) && bytes_of(tensor) > size_bytes(tensor->dtype());
    return is_array && (best == nullptr || bytes_of(tensor) > bytes_of(best)) ? tensor : best;
  }

  /// The largest array that is addressed by loops which would be too much code unrolled; nullptr:
  /// there are none.
  [[nodiscard]] const TensorView* unrolled_too_often(const Scope& scope) const {
    constexpr int64_t kMostCopies = 4096; // of statements, in one nest: seconds of compiling
    for (const Expr* expr : scope) {
      if (loops_.copies(*expr) <= kMostCopies) {
        continue;
      }
      const TensorView* largest = nullptr;
      if (const auto* loop = expr->as<ForLoop>()) {
        for (const TensorView* tensor : loops_.addressed_by(*loop)) {
          largest = larger_array(largest, tensor);
        }
      }
      for (const Scope* body : bodies_of(*expr)) {
        largest = largest == nullptr ? unrolled_too_often(*body) : largest;
      }
      if (largest != nullptr) {
        return largest;
      }
    }
    return nullptr;
  }

  [[nodiscard]] std::optional<Refusal> find_too_large_arrays() const {
    int64_t bytes = 0;
    const TensorView* largest = nullptr;
    TensorSet counted;
    for (const Allocate* allocate : allocates_) {
      const TensorView* tensor = allocate->buffer;
      if (is_spilled(tensor) && counted.insert(tensor).second) {
        bytes += bytes_of(tensor);
        largest = largest == nullptr || bytes_of(tensor) > bytes_of(largest) ? tensor : largest;
      }
    }
    const int64_t most = kernel_.target().max_local_bytes;
    if (bytes <= most) {
      return std::nullopt;
    }
    return refuse({
        .headline = {"Tensors in registers are too large for a thread"},
        .node = {describe(largest)},
        .expected =
            {"at most ", most, " bytes for each thread in arrays that its registers cannot hold"},
        .found =
            {bytes, " bytes, ", bytes_of(largest), " of them for the ",
             bytes_of(largest) / size_bytes(largest->dtype()), " elements of this tensor"},
        .fix = {"inline it deeper, bind its axes to threads, or put it in shared memory"},
    });
  }

  Kernel& kernel_;
  LoopCopies loops_;
  std::vector<Allocate*> allocates_; // of arrays in registers, in the order of the kernel
  PointerMap<TensorView, Array> arrays_;
  TensorSet spilled_;
  std::unordered_map<const Expr*, std::vector<bool>> used_;
};

} // namespace

std::optional<Refusal> check_register_arrays(Kernel& kernel) {
  const Allocate* unsized = nullptr; // of several that which was defined first, on any target
  for_each_node(kernel.body, [&](const Expr& expr) {
    const auto* allocate = expr.as<Allocate>();
    const bool is_unsized = allocate != nullptr && allocate->memory_type == MemoryType::Local &&
                            !allocate->size->is_const();
    if (is_unsized && (unsized == nullptr || allocate->buffer->name() < unsized->buffer->name())) {
      unsized = allocate;
    }
  });
  return unsized == nullptr ? std::nullopt : std::optional(refuse_size(kernel, *unsized));
}

std::optional<Refusal> spill_register_arrays(Kernel& kernel) {
  return RegisterPlan(kernel).run();
}

} // namespace nvfuser

#include "lower/passes/form_regions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/options.h"
#include "ir/dependencies.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/common_work.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/parallel_dims.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/statement_facts.h"
#include "lower/passes/expand_cluster_reductions.h"
#include "lower/passes/expand_grid_reductions.h"

namespace nvfuser {
namespace {

bool contains_cut(Expr* expr, Level level) {
  if (is_cut(expr, level)) {
    return true;
  }
  const std::vector<Scope*> bodies = bodies_of(*expr);
  return std::any_of(bodies.begin(), bodies.end(), [&](const Scope* body) {
    return std::any_of(
        body->begin(), body->end(), [&](Expr* child) { return contains_cut(child, level); });
  });
}

/// Loops bound to a hardware index are no loops here: their bodies take their place.
void dissolve_parallel_loops(Scope& scope) {
  Scope result;
  for (Expr* expr : scope) {
    for (Scope* body : bodies_of(*expr)) {
      dissolve_parallel_loops(*body);
    }
    const auto* loop = expr->as<ForLoop>();
    if (loop != nullptr && loop->loop_kind == LoopKind::Hardware) {
      result.insert(result.end(), loop->body.begin(), loop->body.end());
    } else {
      result.push_back(expr);
    }
  }
  scope = std::move(result);
}

/// Whether a statement of `scope` reads or writes one of the tensors.
bool touches_any(const Scope& scope, const std::unordered_set<const TensorView*>& tensors) {
  bool found = false;
  for_each_node(scope, [&](const Expr& node) {
    for_each_element(node, [&](const TensorIndex& element) {
      found = found || tensors.contains(element.view());
    });
  });
  return found;
}

/// The tensors that `expr`, with all in it, writes.
std::unordered_set<const TensorView*> written_by(Expr* expr) {
  std::unordered_set<const TensorView*> tensors;
  for_each_node(Scope{expr}, [&](const Expr& node) {
    for_each_write(node, [&](const TensorIndex& element) { tensors.insert(element.view()); });
  });
  return tensors;
}

/// Cuts the kernel at one level and gives what lives across cuts one element per thread (block).
/// `of_clusters`: shared memory that a cluster has once.
class RegionFormer {
 public:
  RegionFormer(
      Kernel& kernel, Level level, const std::unordered_set<const TensorView*>& of_clusters)
      : kernel_(kernel),
        level_(level),
        of_clusters_(of_clusters),
        blocks_of_cluster_(cluster_size(kernel)) {
    // A search for races looks at each thread. Blocks of a cluster are loops within those over
    // clusters: outside of them there is no first block.
    const bool has_first = level == Level::Threads || blocks_of_cluster_ == 1;
    if (count()->is_one() || has_option(EnableOption::KernelDebug) || !has_first) {
      return;
    }
    common_.emplace(kernel, level);
  }

  void run() {
    kernel_.body = form(kernel_.body);
    find_regions_of_storage();
    Scope outside; // allocations of what lives across regions
    take_allocations(kernel_.body, nullptr, outside);
    for (auto& [region, allocations] : homecoming_) { // regions are independent of each other
      Scope& body = body_of_region(region);
      body.insert(body.begin(), allocations.begin(), allocations.end());
    }
    kernel_.body.insert(kernel_.body.begin(), outside.begin(), outside.end());
    rewrite();
  }

 private:
  using Region = Expr*;

  [[nodiscard]] bool is_done_once(const Expr* expr) const {
    return common_ && common_->is_done_once(expr);
  }

  [[nodiscard]] bool is_region(const Expr* expr) const {
    switch (level_) {
      case Level::Threads: return expr->is_a<ThreadLoop>();
      case Level::Cluster: return expr->is_a<ClusterLoop>();
      case Level::Blocks: break;
    }
    return expr->is_a<BlockLoop>();
  }

  static Scope& body_of_region(Expr* region) {
    return *bodies_of(*region).front();
  }

  Expr* wrap(Scope body) {
    switch (level_) {
      case Level::Threads: return kernel_.make<ThreadLoop>({.body = std::move(body)});
      case Level::Cluster: return kernel_.make<ClusterLoop>({.body = std::move(body)});
      case Level::Blocks: break;
    }
    return kernel_.make<BlockLoop>({.body = std::move(body)});
  }

  /// A region in which the first thread (block) does everything.
  Expr* wrap_for_one(Scope body) {
    std::vector<Val*> is_first;
    for (const ParallelType type : indices_of(level_)) {
      const Val* launched = kernel_.launch.extents[type];
      if (launched != nullptr && !launched->is_one()) {
        is_first.push_back(scalar::eq(kernel_.parallel_index(type), kernel_.zero()));
      }
    }
    return wrap(
        {kernel_.make<IfThenElse>({.condition = all_of(is_first), .then_body = std::move(body)})});
  }

  Scope form(const Scope& scope) {
    Scope result;
    Scope once; // what one does for all, before the region
    Scope region;
    const auto finish = [&] {
      if (!once.empty()) {
        result.push_back(wrap_for_one(std::move(once)));
        once.clear();
      }
      const bool is_needed = std::any_of(
          region.begin(), region.end(), [](const Expr* expr) { return !expr->is_a<Allocate>(); });
      if (is_needed) {
        result.push_back(wrap(std::move(region)));
      } else {
        result.insert(result.end(), region.begin(), region.end());
      }
      region.clear();
    };
    for (Expr* expr : scope) {
      if (is_done_once(expr)) {
        if (touches_any(region, written_by(expr))) {
          finish();
        }
        once.push_back(expr);
        continue;
      }
      if (auto* loop = expr->as<ForLoop>(); loop != nullptr && runs_threads_inside(*loop)) {
        finish();
        loop->body = form(loop->body);
        result.push_back(loop);
        continue;
      }
      if (!contains_cut(expr, level_) && !(common_ && common_->is_opened(expr))) {
        region.push_back(expr);
        continue;
      }
      finish();
      if (is_cut(expr, level_)) {
        // The cut itself is done by ending the region; what is left to do stays.
        // A barrier within the blocks of a phase stays in its place for the race check.
        if (level_ != Level::Blocks) {
          result.push_back(expr);
        }
      } else {
        check_uniform(expr);
        for (Scope* body : bodies_of(*expr)) {
          *body = form(*body);
        }
        result.push_back(expr);
      }
    }
    finish();
    return result;
  }

  /// A serial loop that keeps nothing from one iteration to the next runs all threads per
  /// iteration: neighbouring threads touch neighbouring memory, which a loop over threads outside
  /// would not.
  [[nodiscard]] bool runs_threads_inside(const ForLoop& loop) const {
    if (level_ != Level::Threads || traits_of(loop.loop_kind).is_written_out) {
      return false;
    }
    std::unordered_set<const TensorView*> allocated;
    std::unordered_set<const TensorView*> touched;
    collect_registers(loop.body, allocated, touched);
    return std::all_of(touched.begin(), touched.end(), [&](const TensorView* tensor) {
      return allocated.count(tensor) != 0;
    });
  }

  static void collect_registers(
      const Scope& scope,
      std::unordered_set<const TensorView*>& allocated,
      std::unordered_set<const TensorView*>& touched) {
    for (Expr* expr : scope) {
      if (const auto* allocate = expr->as<Allocate>()) {
        allocated.insert(allocate->buffer);
      }
      for (const Scope* body : bodies_of(*expr)) {
        collect_registers(*body, allocated, touched);
      }
      for_each_element(*expr, [&](const TensorIndex& element) {
        if (element.view()->memory_type() == MemoryType::Local) {
          touched.insert(element.view());
        }
      });
    }
  }

  /// Branches and loops around a cut must be decided alike by all threads.
  void check_uniform(const Expr* expr) const {
    const auto* branch = expr->as<IfThenElse>();
    if (branch == nullptr) {
      return;
    }
    for (const ParallelType type : indices_of(level_)) {
      NVF_INVARIANT(
          !depends_on(branch->condition, kernel_.parallel_index(type)),
          "a condition around a barrier is uniform: ", branch->condition->to_inline_string());
    }
  }

  /// Find out in which regions private storage is used.
  void find_regions_of_storage() {
    for_each_statement(kernel_.body, nullptr, [&](Expr* expr, Region region) {
      for_each_element(*expr, [&](const TensorIndex& element) {
        const TensorView* tensor = element.view();
        if (!is_private(tensor, level_) || crossing_.contains(tensor)) {
          return;
        }
        const auto home = home_.emplace(tensor, region).first;
        if (region == nullptr || home->second != region) {
          crossing_.insert(tensor);
          home_.erase(home);
        }
      });
    });
  }

  /// Calls fn(statement, region it is in); nullptr: none. At the level of blocks a reduction over
  /// threads is in a region like any other statement; at the level of threads it is one itself.
  template <typename Fn>
  void for_each_statement(const Scope& scope, Region region, const Fn& fn) {
    for (Expr* expr : scope) {
      Region inner = is_region(expr) ? expr : region;
      const std::vector<Scope*> bodies = bodies_of(*expr);
      for (const Scope* body : bodies) {
        for_each_statement(*body, inner, fn);
      }
      if ((bodies.empty() || expr->is_a<IfThenElse>()) && !expr->is_a<Allocate>()) {
        fn(expr, inner);
      }
    }
  }

  /// How many there are along an index of the level.
  [[nodiscard]] Val* count_along(ParallelType type) {
    Val* extent = launched_extent(kernel_, type);
    if (type != ParallelType::BIDx || blocks_of_cluster_ == 1) {
      return extent;
    }
    Val* blocks = kernel_.new_index(blocks_of_cluster_);
    return level_ == Level::Cluster ? blocks : scalar::div(extent, blocks);
  }
  [[nodiscard]] Val* position_along(ParallelType type) {
    if (type != ParallelType::BIDx || blocks_of_cluster_ == 1) {
      return kernel_.parallel_index(type);
    }
    return level_ == Level::Cluster ? block_of_cluster(kernel_) : cluster_index(kernel_);
  }

  [[nodiscard]] Val* count() {
    Val* total = kernel_.one();
    for (const ParallelType type : indices_of(level_)) {
      total = scalar::mul(total, count_along(type));
    }
    return total;
  }

  /// Linear index of the thread (block), x fastest.
  [[nodiscard]] Val* linear_index() {
    const std::span<const ParallelType> types = indices_of(level_);
    Val* linear = kernel_.zero();
    for (size_t i = types.size(); i-- > 0;) {
      const Val* launched = kernel_.launch.extents[types[i]];
      if (launched == nullptr || launched->is_one()) {
        continue;
      }
      linear = scalar::add(scalar::mul(linear, count_along(types[i])), position_along(types[i]));
    }
    return linear;
  }

  /// Allocations go where their storage lives: into the one region that uses it, or outside of all,
  /// with one element per thread (block). Shared buffers stay outside of thread regions.
  void take_allocations(Scope& scope, Region inside, Scope& outside) {
    Scope kept;
    for (Expr* expr : scope) {
      auto* allocate = expr->as<Allocate>();
      if (allocate == nullptr) {
        Region inner = is_region(expr) ? expr : inside;
        for (Scope* body : bodies_of(*expr)) {
          take_allocations(*body, inner, outside);
        }
        kept.push_back(expr);
        continue;
      }
      const TensorView* buffer = allocate->buffer;
      const auto home = home_.find(buffer);
      const bool stays_inside = is_private(buffer, level_) && crossing_.count(buffer) == 0;
      if (!stays_inside && !outside_.insert(buffer).second) {
        continue; // both branches of an unswitched loop allocate it
      }
      if (crossing_.count(buffer) != 0) {
        if (!common_ || !common_->is_shared(buffer)) {
          piece_size_[buffer] = allocate->size;
          allocate->size = scalar::mul(allocate->size, count());
        }
        outside.push_back(expr);
      } else if (!is_private(buffer, level_)) {
        if (lies_side_by_side(*buffer)) {
          allocate->size =
              scalar::add(allocate->size, scalar::mul(side_by_side(*buffer), others_of_cluster()));
        }
        outside.push_back(expr);
      } else if (home != home_.end() && home->second == inside) {
        kept.push_back(expr);
      } else if (home != home_.end()) {
        homecoming_[home->second].push_back(expr);
      } // else: nothing uses it
    }
    scope = std::move(kept);
  }

  /// Whether every block of a cluster has the buffer at the same place of its shared memory.
  [[nodiscard]] bool lies_side_by_side(const TensorView& buffer) const {
    return level_ == Level::Cluster && buffer.memory_type() == MemoryType::Shared &&
           !of_clusters_.contains(&buffer);
  }
  /// Elements of a buffer from that of one block to that of the next one.
  [[nodiscard]] Val* side_by_side(const TensorView& buffer) {
    return scalar::div(kernel_.launch.shared_bytes, kernel_.new_index(size_bytes(buffer.dtype())));
  }
  [[nodiscard]] Val* others_of_cluster() {
    return kernel_.new_index(blocks_of_cluster_ - 1);
  }

  /// Neighbouring threads touch neighbouring elements, except where one thread touches several at
  /// once: then its elements stay together, as a block's do.
  void rewrite() {
    Val* number = count();
    Val* own = linear_index();
    std::unordered_set<const TensorView*> in_vectors;
    collect_vector_operands(kernel_.body, false, in_vectors);
    rewrite_elements(kernel_, kernel_.body, [&](const TensorIndex& element) -> Val* {
      if (lies_side_by_side(*element.view())) {
        return scalar::add(scalar::mul(own, side_by_side(*element.view())), element.index());
      }
      const auto piece = piece_size_.find(element.view());
      if (piece == piece_size_.end()) {
        return nullptr;
      }
      return level_ == Level::Threads && in_vectors.count(element.view()) == 0
                 ? scalar::add(scalar::mul(element.index(), number), own)
                 : scalar::add(scalar::mul(own, piece->second), element.index());
    });
  }

  static void collect_vector_operands(
      const Scope& scope, bool is_vectorized, std::unordered_set<const TensorView*>& tensors) {
    for (Expr* expr : scope) {
      const auto* loop = expr->as<ForLoop>();
      const bool inner = is_vectorized || (loop != nullptr && loop->loop_kind == LoopKind::Vector);
      for (const Scope* body : bodies_of(*expr)) {
        collect_vector_operands(*body, inner, tensors);
      }
      if (is_vectorized) {
        for_each_element(
            *expr, [&](const TensorIndex& element) { tensors.insert(element.view()); });
      }
    }
  }

  Kernel& kernel_;
  Level level_;
  const std::unordered_set<const TensorView*>& of_clusters_;
  int64_t blocks_of_cluster_;
  std::optional<CommonWork> common_; // none: each does everything for itself
  std::unordered_set<const TensorView*> crossing_;
  std::unordered_set<const TensorView*> outside_;          // allocations moved out already
  std::unordered_map<const TensorView*, Region> home_;     // the only region that uses it
  std::unordered_map<Region, Scope> homecoming_;           // allocations of a region
  std::unordered_map<const TensorView*, Val*> piece_size_; // elements of one thread (block)
};

} // namespace

void form_regions(Kernel& kernel) {
  if (kernel.target().has_hardware_threads) {
    return;
  }
  dissolve_parallel_loops(kernel.body);
  expand_grid_reductions(kernel, kernel.body);
  const std::unordered_set<const TensorView*> of_clusters =
      expand_cluster_reductions(kernel, kernel.body);
  RegionFormer(kernel, Level::Threads, of_clusters).run();
  if (cluster_size(kernel) > 1) {
    RegionFormer(kernel, Level::Cluster, of_clusters).run();
  }
  RegionFormer(kernel, Level::Blocks, of_clusters).run();
  forget_absent_statements(kernel);
}

} // namespace nvfuser

#include "lower/passes/bound_indices.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/pointer_map.h"
#include "base/pointer_set.h"
#include "ir/scalar.h"
#include "lower/analysis/launch_conditions.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/memory_layout.h"

namespace nvfuser {
namespace {

/// Which values the host knows before it chooses the code: those that follow from sizes, strides
/// and scalars of inputs. Dimensions of the launch are no part of them.
class HostValues {
 public:
  explicit HostValues(const Kernel& kernel) : kernel_(kernel) {
    for (const SizeSource& source : kernel.launch.sizes) {
      known_.try_emplace(source.extent, true);
    }
    for (const Val* input : kernel.inputs()) {
      known_.try_emplace(input, input->is_scalar());
    }
  }

  bool knows(const Val* root) {
    if (const bool* known = known_.find(root)) {
      return *known;
    }
    std::vector<const Val*> pending{root};
    while (!pending.empty()) { // operands before what reads them, without recursion
      const Val* val = pending.back();
      const size_t before = pending.size();
      if (!known_.contains(val) && val->definition() != nullptr) {
        for (const Val* operand : val->definition()->inputs()) {
          if (!known_.contains(operand)) {
            pending.push_back(operand);
          }
        }
      }
      if (pending.size() == before) {
        known_.try_emplace(val, find(val));
        pending.pop_back();
      }
    }
    return known_.at(root);
  }

 private:
  /// Requires: operands are decided.
  [[nodiscard]] bool find(const Val* val) const {
    if (val->is_const()) {
      return true;
    }
    if (const auto stride = kernel_.strides.find(val); stride != kernel_.strides.end()) {
      return stride->second.tensor->is_fusion_input();
    }
    const Expr* definition = val->definition();
    return val->is_scalar() && definition != nullptr &&
           std::ranges::all_of(definition->inputs(), [&](const Val* in) { return known_.at(in); });
  }

  const Kernel& kernel_;
  PointerMap<Val, bool> known_;
};

/// Factors of a number of elements.
class Product {
 public:
  /// Products are told apart by the constant factor and all others.
  using Key = std::pair<int64_t, std::vector<Val*>>;

  /// Constants stop growing once no narrow index can hold them, so that they cannot overflow.
  void multiply(Val* factor) {
    if (!factor->is_const()) {
      key_.second.push_back(factor);
      return;
    }
    constexpr int64_t kMost = int64_t{1} << 32;
    const int64_t number = as_int(factor->value());
    key_.first = number == 0 ? 0 : key_.first > kMost / number ? kMost : key_.first * number;
  }
  [[nodiscard]] const Key& key() {
    std::ranges::sort(key_.second, std::less(), &Val::serial);
    return key_;
  }

 private:
  Key key_{1, {}};
};

class IndexBounds {
 public:
  explicit IndexBounds(Kernel& kernel)
      : kernel_(kernel),
        tensors_(kernel.tensors()),
        values_(kernel),
        smallest_(kernel.zero()),
        largest_(kernel.zero()) {}

  void run() {
    for (const TensorView* tensor : tensors_) {
      add_axes(*tensor);
    }
    for (const GlobalBuffer& buffer : kernel_.launch.buffers) {
      raise(elements(global_axes(buffer.tensor)));
    }
    for (const Val* input : kernel_.inputs()) {
      if (input->is_tensor()) {
        raise(last_position(static_cast<const TensorView*>(input)));
      }
    }
    for (const CircularLoop& circular : kernel_.circular_loops) {
      add_loads_ahead(circular);
    }
    add_computed_positions();
    kernel_.launch.code.smallest_index = smallest_;
    kernel_.launch.code.largest_index = largest_;
    kernel_.launch.code.has_empty_axis = has_empty_axis();
    kernel_.launch.num_elements = num_elements();
  }

 private:
  void add_axes(const TensorView& tensor) {
    raise(elements(tensor.logical()));
    raise(elements(tensor.maybe_allocation()));
    raise(elements(tensor.loop()));
    const IterDomains ids = tensor.domain()->all_ids();
    for (const IterDomain* id : ids) {
      raise(positions(id));
    }
    // The parts of a split may cover more than the axis: the last one is cut by a predicate.
    for_each_transform(ids, [&](const Expr& transform) {
      IterDomains parts;
      for (Val* out : transform.outputs()) {
        parts.push_back(static_cast<IterDomain*>(out));
      }
      raise(elements(parts));
    });
  }

  /// The transforms of a domain that has `ids`.
  template <typename Fn>
  static void for_each_transform(const IterDomains& ids, const Fn& fn) {
    for (const IterDomain* id : ids) {
      const Expr* transform = id->definition();
      if (transform != nullptr && transform->outputs().front() == id) {
        fn(*transform);
      }
    }
  }

  /// How many positions the axes have together, each hardware axis counted with its launched size.
  Val* elements(const IterDomains& ids) {
    Product product;
    for (const IterDomain* id : ids) {
      product.multiply(positions(id));
    }
    return value_of(product);
  }

  Val* value_of(Product& product) {
    const auto [position, is_new] = products_.try_emplace(product.key(), nullptr);
    if (is_new) {
      Val* value = kernel_.one();
      for (Val* factor : product.key().second) {
        value = scalar::mul(value, factor);
      }
      position->second = scalar::mul(value, kernel_.new_index(product.key().first));
    }
    return position->second;
  }

  /// 1 where only a launch decides.
  Val* positions(const IterDomain* id) {
    Val* size = id->maybe_expanded_extent();
    if (!values_.knows(size)) {
      return kernel_.one();
    }
    if (id->has_padding_to_multiple_of_warp()) {
      Val* warp = kernel_.new_index(kernel_.target().warp_size);
      size = scalar::max(
          scalar::mul(scalar::ceil_div(size, warp), warp),
          kernel_.new_index(id->maybe_size_after_padding().value_or(0)));
    }
    if (id->is_thread()) {
      size = at_least_launched(size, id->parallel_type());
    }
    return shared(size);
  }

  Val* at_least_launched(Val* size, ParallelType type) {
    Val* launched = kernel_.launch.extents[type];
    const bool is_larger =
        launched != nullptr && !launched->same_as(size) && values_.knows(launched);
    return is_larger ? scalar::max(size, launched) : size;
  }

  /// The last position in the memory of an input, whatever strides it is passed with.
  Val* last_position(const TensorView* input) {
    return steps_through(input, [&](Val* extent) { return scalar::sub(extent, kernel_.one()); });
  }

  /// More than the last position by a step along every axis.
  Val* spanned_elements(const TensorView* input) {
    return steps_through(input, [](Val* extent) { return extent; });
  }

  /// The sum of steps * stride over the memory axes; `steps_of` an extent says how many steps.
  template <typename StepsOf>
  Val* steps_through(const TensorView* input, const StepsOf& steps_of) {
    const IterDomains axes = global_axes(input);
    const IterDomains& allocation = input->maybe_allocation();
    Val* sum = kernel_.zero();
    Val* run = kernel_.one(); // elements inside the current axis
    for (size_t i = axes.size(); i-- > 0;) {
      if (axes[i]->is_broadcast()) {
        continue;
      }
      const auto position = std::ranges::find(allocation, axes[i]) - allocation.begin();
      const bool is_contiguous =
          input->domain()->contiguity()[static_cast<size_t>(position)].value_or(true);
      Val* stride = is_contiguous ? run : memory_stride(kernel_, input, i);
      sum = scalar::add(sum, scalar::mul(steps_of(axes[i]->extent()), stride));
      run = scalar::mul(stride, axes[i]->extent());
    }
    return sum;
  }

  /// The last iterations load ahead of the end: a test leaves out what has no element, and computes
  /// its position for that.
  void add_loads_ahead(const CircularLoop& circular) {
    Val* ahead = kernel_.new_index(circular.prefetch);
    for (const TensorView* tensor : tensors_) {
      if (tensor->definition() != nullptr && has_loop(tensor, circular.loop)) {
        raise(iterations_ahead(tensor, circular.loop, ahead));
      }
    }
    for (const TensorView* copy : circular.tensors) {
      const auto* source = static_cast<const TensorView*>(copy->definition()->input(0));
      if (source->is_fusion_input()) {
        add_positions_ahead(source, copy, iterations_ahead(copy, circular.loop, ahead));
      }
    }
  }

  [[nodiscard]] bool has_loop(const TensorView* tensor, const Loop* loop) const {
    return std::ranges::count(kernel_.loop_model->nest(tensor), loop) != 0;
  }

  /// Iterations of the loops around `tensor` if `longer` has `ahead` more.
  Val* iterations_ahead(const TensorView* tensor, const Loop* longer, Val* ahead) {
    Product product;
    for (const Loop* loop : kernel_.loop_model->nest(tensor)) {
      if (!values_.knows(loop->extent())) {
        continue;
      }
      Val* extent = loop == longer        ? scalar::add(loop->extent(), ahead)
                    : loop->is_hardware() ? at_least_launched(loop->extent(), loop->parallel_type)
                                          : loop->extent();
      product.multiply(shared(extent));
    }
    return value_of(product);
  }

  /// Loops over n times as many elements as a tensor has make no index of its dimensions more than
  /// n times as large, and so no position in the input that is loaded.
  void add_positions_ahead(const TensorView* source, const TensorView* copy, Val* iterations) {
    Val* elements_of_copy = scalar::max(elements(copy->logical()), kernel_.one());
    Val* positions = scalar::mul(spanned_elements(source), iterations);
    raise(scalar::ceil_div(positions, elements_of_copy));
  }

  /// Positions that the fusion computes: the bounds of a slice may be far outside of it.
  void add_computed_positions() {
    std::vector<Val*> pending;
    PointerSet<Val> sizes; // never negative
    const auto push_attributes = [&](const Expr& expr) {
      expr.for_each_attr([&](const char*, const AttrValue& value) {
        if (const auto* val = std::get_if<Val*>(&value); val != nullptr && *val != nullptr) {
          pending.push_back(*val);
        }
      });
    };
    for (const TensorView* tensor : tensors_) {
      const IterDomains ids = tensor->domain()->all_ids();
      for (const IterDomain* id : ids) {
        pending.insert(pending.end(), {id->start(), id->extent(), id->maybe_expanded_extent()});
        sizes.insert(id->extent());
        sizes.insert(id->maybe_expanded_extent());
      }
      for_each_transform(ids, push_attributes);
    }
    for (const Expr* expr : kernel_.exprs()) {
      pending.insert(pending.end(), expr->inputs().begin(), expr->inputs().end());
      push_attributes(*expr);
    }
    PointerSet<Val> seen;
    while (!pending.empty()) {
      Val* val = pending.back();
      pending.pop_back();
      if (!val->is_scalar() || !seen.insert(val)) {
        continue;
      }
      if (val->dtype() == DataType::Index && values_.knows(val)) {
        raise(val);
        smallest_ = sizes.contains(val) ? smallest_ : scalar::min(smallest_, shared(val));
      }
      if (const Expr* definition = val->definition()) {
        pending.insert(pending.end(), definition->inputs().begin(), definition->inputs().end());
      }
    }
  }

  /// Some axis that is bound to a hardware index has no element, while there is something to write.
  Val* has_empty_axis() {
    Val* result = kernel_.false_val();
    PointerSet<Val> seen;
    for (const TensorView* tensor : tensors_) {
      for (const IterDomain* id : tensor->loop()) {
        Val* size = id->is_thread() ? shared(id->maybe_expanded_extent()) : kernel_.one();
        if (seen.insert(size) && values_.knows(size)) {
          result = scalar::logical_or(result, scalar::eq(size, kernel_.zero()));
        }
      }
    }
    return scalar::logical_and(result, scalar::logical_not(is_empty(kernel_)));
  }

  Val* num_elements() {
    std::vector<std::pair<Val*, int64_t>> counts; // of tensors with so many elements
    for (const TensorView* tensor : tensors_) {
      Product product;
      for (const IterDomain* id : tensor->logical()) {
        product.multiply(values_.knows(id->extent()) ? shared(id->extent()) : kernel_.one());
      }
      Val* elements = value_of(product);
      const auto known = std::ranges::find(counts, elements, &std::pair<Val*, int64_t>::first);
      if (known != counts.end()) {
        ++known->second;
      } else {
        counts.emplace_back(elements, 1);
      }
    }
    Val* result = kernel_.zero();
    for (const auto& [elements, count] : counts) {
      result = scalar::add(result, scalar::mul(elements, kernel_.new_index(count)));
    }
    return result;
  }

  void raise(Val* bound) {
    bound = shared(bound);
    if (raised_.insert(bound)) {
      largest_ = scalar::max(largest_, bound);
    }
  }

  /// One value for equal expressions, which every tensor has of its own.
  Val* shared(Val* val) {
    const auto [known, is_new] = shared_.try_emplace(val, val);
    if (is_new) {
      std::vector<Val*>& equal = by_hash_[val->hash()];
      const auto found =
          std::ranges::find_if(equal, [&](const Val* other) { return other->same_as(val); });
      known = found != equal.end() ? *found : equal.emplace_back(val);
    }
    return known;
  }

  Kernel& kernel_;
  const std::vector<TensorView*> tensors_;
  HostValues values_;
  Val* smallest_;
  Val* largest_;
  // All of them are only looked up.
  std::map<Product::Key, Val*> products_;
  PointerSet<Val> raised_;
  PointerMap<Val, Val*> shared_;
  std::unordered_map<size_t, std::vector<Val*>> by_hash_;
};

} // namespace

void bound_indices(Kernel& kernel) {
  IndexBounds(kernel).run();
}

} // namespace nvfuser

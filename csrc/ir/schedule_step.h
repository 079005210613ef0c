// The schedule that a tensor remembers: the primitives that were applied to it.
//
// A step is a value: a primitive and its arguments. A primitive is declared once, as a struct with
// named and typed fields, like the nodes of ir/expr.h:
//
//   struct Merge {
//     static constexpr const char* kName = "merge";
//     static constexpr Call kCall = Call::Method;
//     int64_t axis_o = 0;
//     int64_t axis_i = 0;
//     static constexpr auto fields() {
//       return std::tuple{arg("axis_o", &Merge::axis_o), arg("axis_i", &Merge::axis_i)};
//     }
//   };
//
// Text, copies into another fusion, equality and the Python view of a step derive from `fields()`.
// `transform/apply_step.h` applies one again: a primitive without a case there does not compile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/source_location.h"
#include "ir/circular_buffer.h"
#include "ir/fwd.h"
#include "ir/tensor_domain.h"
#include "ir/tensor_schedule.h"

namespace nvfuser {
namespace steps {

/// How a primitive is called.
enum class Call : uint8_t {
  Method,    // tensor.name(...)
  Reference, // sched.name(tensor, ...): the tensor is the one that others follow
  Tensors,   // sched.name([tensor, ...]): the tensor is one of those in the first argument
};

/// How an argument stands in the text of a step.
enum class Shown : uint8_t {
  Always,
  UnlessDefault,
  KeywordUnlessDefault, // `name=value`
  Never,
};

template <typename Step, typename T, Shown kShown>
struct ArgField {
  using Type = T;
  static constexpr Shown shown = kShown;
  const char* name; // of the parameter, in C++ and in Python
  T Step::* member;
};

template <typename Step, typename T>
constexpr ArgField<Step, T, Shown::Always> arg(const char* name, T Step::* member) {
  return {name, member};
}
template <typename Step, typename T>
constexpr ArgField<Step, T, Shown::UnlessDefault> optional_arg(const char* name, T Step::* member) {
  return {name, member};
}
template <typename Step, typename T>
constexpr ArgField<Step, T, Shown::KeywordUnlessDefault> keyword(
    const char* name, T Step::* member) {
  return {name, member};
}
template <typename Step, typename T>
constexpr ArgField<Step, T, Shown::Never> unprinted(const char* name, T Step::* member) {
  return {name, member};
}

// ---- The loop domain ----------------------------------------------------------------------------

struct Split {
  static constexpr const char* kName = "split";
  static constexpr Call kCall = Call::Method;
  int64_t axis = 0;
  Val* factor = nullptr;
  bool inner_split = true;
  static constexpr auto fields() {
    return std::tuple{
        arg("axis", &Split::axis), arg("factor", &Split::factor),
        keyword("inner_split", &Split::inner_split)};
  }
};

struct Merge {
  static constexpr const char* kName = "merge";
  static constexpr Call kCall = Call::Method;
  int64_t axis_o = 0;
  int64_t axis_i = 0;
  static constexpr auto fields() {
    return std::tuple{arg("axis_o", &Merge::axis_o), arg("axis_i", &Merge::axis_i)};
  }
};

struct Reorder {
  static constexpr const char* kName = "reorder";
  static constexpr Call kCall = Call::Method;
  std::vector<std::pair<int64_t, int64_t>> old2new; // by old position
  static constexpr auto fields() {
    return std::tuple{arg("old2new", &Reorder::old2new)};
  }
};

struct Swizzle {
  static constexpr const char* kName = "swizzle";
  static constexpr Call kCall = Call::Method;
  SwizzleType swizzle_type = SwizzleType::XOR;
  int64_t x = 0;
  int64_t y = 0;
  static constexpr auto fields() {
    return std::tuple{
        optional_arg("swizzle_type", &Swizzle::swizzle_type), arg("x", &Swizzle::x),
        arg("y", &Swizzle::y)};
  }
};

struct Swizzle1d {
  static constexpr const char* kName = "swizzle1d";
  static constexpr Call kCall = Call::Method;
  int64_t x = 0;
  ParallelType parallel_type = ParallelType::Serial;
  static constexpr auto fields() {
    return std::tuple{arg("x", &Swizzle1d::x), arg("parallel_type", &Swizzle1d::parallel_type)};
  }
};

struct Broadcast {
  static constexpr const char* kName = "broadcast";
  static constexpr Call kCall = Call::Method;
  int64_t axis = 0;
  Val* extent = nullptr;
  static constexpr auto fields() {
    return std::tuple{arg("axis", &Broadcast::axis), arg("extent", &Broadcast::extent)};
  }
};

struct Resize {
  static constexpr const char* kName = "resize";
  static constexpr Call kCall = Call::Method;
  int64_t axis = 0;
  Val* left = nullptr;
  Val* right = nullptr;
  std::optional<IterType> iter_type;
  static constexpr auto fields() {
    return std::tuple{
        arg("axis", &Resize::axis), arg("left", &Resize::left), arg("right", &Resize::right),
        optional_arg("iter_type", &Resize::iter_type)};
  }
};

struct SetLoopDomain {
  static constexpr const char* kName = "set_loop_domain";
  static constexpr Call kCall = Call::Method;
  IterDomains new_loop_domain;
  static constexpr auto fields() {
    return std::tuple{arg("new_loop_domain", &SetLoopDomain::new_loop_domain)};
  }
};

struct TransformLike {
  static constexpr const char* kName = "transform_like";
  static constexpr Call kCall = Call::Reference;
  std::vector<TensorView*> selected_tensors; // empty: all
  static constexpr auto fields() {
    return std::tuple{optional_arg("selected_tensors", &TransformLike::selected_tensors)};
  }
};

struct BoundedTransformBackward {
  static constexpr const char* kName = "bounded_transform_backward";
  static constexpr Call kCall = Call::Reference;
  int64_t pos = 0;
  std::vector<TensorView*> to;
  bool propagate_parallel_type = false;
  static constexpr auto fields() {
    using Step = BoundedTransformBackward;
    return std::tuple{
        arg("pos", &Step::pos), arg("to", &Step::to),
        keyword("propagate_parallel_type", &Step::propagate_parallel_type)};
  }
};

struct BoundedTransformForward {
  static constexpr const char* kName = "bounded_transform_forward";
  static constexpr Call kCall = Call::Reference;
  int64_t pos = 0;
  std::vector<TensorView*> to;
  bool propagate_parallel_type = false;
  static constexpr auto fields() {
    using Step = BoundedTransformForward;
    return std::tuple{
        arg("pos", &Step::pos), arg("to", &Step::to),
        keyword("propagate_parallel_type", &Step::propagate_parallel_type)};
  }
};

struct BoundedTransformBoth {
  static constexpr const char* kName = "bounded_transform_both";
  static constexpr Call kCall = Call::Reference;
  int64_t pos = 0;
  std::vector<TensorView*> backward_to;
  std::vector<TensorView*> forward_to;
  bool propagate_parallel_type = false;
  static constexpr auto fields() {
    using Step = BoundedTransformBoth;
    return std::tuple{
        arg("pos", &Step::pos), arg("backward_to", &Step::backward_to),
        arg("forward_to", &Step::forward_to),
        keyword("propagate_parallel_type", &Step::propagate_parallel_type)};
  }
};

// ---- Bindings and memory ------------------------------------------------------------------------

struct ParallelizeLike {
  static constexpr const char* kName = "parallelize_like";
  static constexpr Call kCall = Call::Reference;
  int64_t pos = -1;
  std::vector<TensorView*> selected_tensors;           // empty: all
  std::vector<ParallelType> selected_parallel_types{}; // empty: all
  bool propagate_padding = true;
  static constexpr auto fields() {
    using Step = ParallelizeLike;
    return std::tuple{
        arg("pos", &Step::pos), optional_arg("selected_tensors", &Step::selected_tensors),
        optional_arg("selected_parallel_types", &Step::selected_parallel_types),
        keyword("propagate_padding", &Step::propagate_padding)};
  }
};

struct SetMemoryType {
  static constexpr const char* kName = "set_memory_type";
  static constexpr Call kCall = Call::Method;
  MemoryType memory_type = MemoryType::Local;
  static constexpr auto fields() {
    return std::tuple{arg("memory_type", &SetMemoryType::memory_type)};
  }
};

/// Sets a property of the tensor: one primitive for each `Setting` of ir/tensor_schedule.h.
template <size_t kProperty>
struct Set {
  static constexpr auto property() {
    return kScheduleProperty<kProperty>;
  }
  using T = typename decltype(property())::Type;
  static constexpr const char* kName = property().setter;
  static constexpr Call kCall = Call::Method;
  T value{};
  static constexpr auto fields() {
    return std::tuple{arg(property().parameter, &Set::value)};
  }
};
using PromoteReuse = Set<property_index(&TensorSchedule::promotes_reuse)>;

struct SetAllocationDomain {
  static constexpr const char* kName = "set_allocation_domain";
  static constexpr Call kCall = Call::Method;
  IterDomains new_allocation_domain;
  Contiguity new_contiguity{};
  static constexpr auto fields() {
    return std::tuple{
        arg("new_allocation_domain", &SetAllocationDomain::new_allocation_domain),
        unprinted("new_contiguity", &SetAllocationDomain::new_contiguity)};
  }
};

struct SetContiguity {
  static constexpr const char* kName = "set_contiguity";
  static constexpr Call kCall = Call::Method;
  Contiguity contiguity;
  static constexpr auto fields() {
    return std::tuple{arg("contiguity", &SetContiguity::contiguity)};
  }
};

// ---- Positions ----------------------------------------------------------------------------------

struct InlineAt {
  static constexpr const char* kName = "inline_at";
  static constexpr Call kCall = Call::Method;
  int64_t pos = 0;
  bool best_effort = false;
  static constexpr auto fields() {
    return std::tuple{arg("pos", &InlineAt::pos), keyword("best_effort", &InlineAt::best_effort)};
  }
};

/// Inlines tensors at the position that corresponds to `pos` of the reference.
struct InlineAllAt {
  static constexpr const char* kName = "inline_at";
  static constexpr Call kCall = Call::Reference;
  int64_t pos = -1;
  bool best_effort = false;
  std::vector<TensorView*> selected_tensors{}; // empty: all
  static constexpr auto fields() {
    return std::tuple{
        arg("pos", &InlineAllAt::pos), keyword("best_effort", &InlineAllAt::best_effort),
        unprinted("selected_tensors", &InlineAllAt::selected_tensors)};
  }
};

struct ComputeWith {
  static constexpr const char* kName = "compute_with";
  static constexpr Call kCall = Call::Method;
  int64_t pos = 0;
  bool best_effort = false;
  static constexpr auto fields() {
    return std::tuple{
        arg("pos", &ComputeWith::pos), keyword("best_effort", &ComputeWith::best_effort)};
  }
};

struct ClearComputePosition {
  static constexpr const char* kName = "clear_compute_position";
  static constexpr Call kCall = Call::Method;
  static constexpr auto fields() {
    return std::tuple{};
  }
};

struct CircularBuffer {
  static constexpr const char* kName = "circular_buffer";
  static constexpr Call kCall = Call::Method;
  int64_t number_of_stages = 0;
  int64_t prefetch_distance = -1;
  std::variant<Pipelined, WarpSpecialized> type{};
  static constexpr auto fields() {
    return std::tuple{
        arg("number_of_stages", &CircularBuffer::number_of_stages),
        arg("prefetch_distance", &CircularBuffer::prefetch_distance),
        unprinted("type", &CircularBuffer::type)};
  }
};

// ---- The graph of tensors -----------------------------------------------------------------------

struct CacheAfter {
  static constexpr const char* kName = "cache_after";
  static constexpr Call kCall = Call::Method;
  LoadStoreOpType op_type = LoadStoreOpType::Set;
  CacheOp cache_op = CacheOp::Unspecified;
  bool propagate_allocation_domain = true;
  std::vector<Expr*> cached_uses{}; // empty: all
  static constexpr auto fields() {
    return std::tuple{
        unprinted("op_type", &CacheAfter::op_type), unprinted("cache_op", &CacheAfter::cache_op),
        unprinted("propagate_allocation_domain", &CacheAfter::propagate_allocation_domain),
        unprinted("cached_uses", &CacheAfter::cached_uses)};
  }
};

struct CacheBefore {
  static constexpr const char* kName = "cache_before";
  static constexpr Call kCall = Call::Method;
  LoadStoreOpType op_type = LoadStoreOpType::Set;
  static constexpr auto fields() {
    return std::tuple{unprinted("op_type", &CacheBefore::op_type)};
  }
};

struct CacheFork {
  static constexpr const char* kName = "cache_fork";
  static constexpr Call kCall = Call::Method;
  static constexpr auto fields() {
    return std::tuple{};
  }
};

struct Rfactor {
  static constexpr const char* kName = "rfactor";
  static constexpr Call kCall = Call::Method;
  std::vector<int64_t> axes;
  std::vector<TensorView*> tvs{}; // all results of the expression; empty: it has one
  static constexpr auto fields() {
    return std::tuple{arg("axes", &Rfactor::axes), unprinted("tvs", &Rfactor::tvs)};
  }
};

struct GroupReductions {
  static constexpr const char* kName = "group_reductions";
  static constexpr Call kCall = Call::Tensors;
  std::vector<TensorView*> tvs;
  static constexpr auto fields() {
    return std::tuple{arg("tvs", &GroupReductions::tvs)};
  }
};

struct CommitLeafToLogical {
  static constexpr const char* kName = "commit_leaf_to_logical";
  static constexpr Call kCall = Call::Method;
  static constexpr auto fields() {
    return std::tuple{};
  }
};

struct ClearReductionIterDomains {
  static constexpr const char* kName = "clear_reduction_iter_domains";
  static constexpr Call kCall = Call::Method;
  static constexpr auto fields() {
    return std::tuple{};
  }
};

} // namespace steps

namespace detail {

template <typename... T>
struct Types {};
template <typename... A, typename... B>
Types<A..., B...> operator+(Types<A...>, Types<B...>);
template <typename... T>
std::variant<T...> variant_of(Types<T...>);

template <size_t kProperty>
constexpr auto steps_of_property() {
  if constexpr (is_setting_v<kProperty>) {
    return Types<steps::Set<kProperty>>{};
  } else {
    return Types<>{};
  }
}
template <size_t... i>
auto steps_of_settings(std::index_sequence<i...>) -> decltype((steps_of_property<i>() + ...));

} // namespace detail

/// A primitive with its arguments: those that are listed here, and one for each setting. Nothing
/// else lists the primitives.
using ScheduleCall = decltype(detail::variant_of(
    detail::Types<
        steps::Split,
        steps::Merge,
        steps::Reorder,
        steps::Swizzle,
        steps::Swizzle1d,
        steps::Broadcast,
        steps::Resize,
        steps::SetLoopDomain,
        steps::TransformLike,
        steps::BoundedTransformBackward,
        steps::BoundedTransformForward,
        steps::BoundedTransformBoth,
        steps::ParallelizeLike,
        steps::SetMemoryType,
        steps::SetAllocationDomain,
        steps::SetContiguity,
        steps::InlineAt,
        steps::InlineAllAt,
        steps::ComputeWith,
        steps::ClearComputePosition,
        steps::CircularBuffer,
        steps::CacheAfter,
        steps::CacheBefore,
        steps::CacheFork,
        steps::Rfactor,
        steps::GroupReductions,
        steps::CommitLeafToLogical,
        steps::ClearReductionIterDomains>{} +
    detail::steps_of_settings(std::make_index_sequence<kNumScheduleProperties>{})));

/// `fn(name, value)` for every argument of a call, in order.
template <typename Step, typename Fn>
void for_each_arg(Step& step, Fn&& fn) {
  std::apply(
      [&](const auto&... field) { (fn(field, step.*field.member), ...); },
      std::remove_const_t<Step>::fields());
}

/// The call with every statement in its arguments replaced by what `map` gives for it.
template <typename Map>
[[nodiscard]] ScheduleCall map_statements(ScheduleCall call, Map&& map) {
  const auto replace = [&]<typename T>(T& value) {
    if constexpr (std::is_pointer_v<T>) {
      value = value == nullptr ? nullptr : map(value);
    }
  };
  std::visit(
      [&](auto& step) {
        for_each_arg(step, [&]<typename T>(const auto&, T& value) {
          if constexpr (
              std::is_same_v<T, IterDomains> || std::is_same_v<T, std::vector<TensorView*>> ||
              std::is_same_v<T, std::vector<Expr*>>) {
            for (auto& item : value) {
              replace(item);
            }
          } else {
            replace(value);
          }
        });
      },
      call);
  return call;
}

/// How a scheduling primitive changed which tensors there are, or what they are. All other
/// primitives leave their results in the tensor: its loop domain, bindings, positions.
enum class GraphChange : uint8_t {
  None,
  CacheAfter,
  CacheBefore,
  CacheFork,
  Rfactor,
  GroupReductions,
  CommitLeafToLogical,
};

/// A record that undoes a change of the graph and prints it (transform/graph_steps.h).
struct GraphEffect {
  GraphChange change = GraphChange::None;
  std::vector<TensorView*> tensors;  // that the primitive was applied to, in its order
  std::vector<TensorView*> made;     // new tensors, in the order of `tensors`
  std::vector<TensorDomain*> before; // domains of `tensors` that were replaced
  std::vector<int64_t> axes;         // rfactor: positions in the loop domain before
  static constexpr auto fields() {
    return std::tuple{
        steps::arg("change", &GraphEffect::change), steps::arg("tensors", &GraphEffect::tensors),
        steps::arg("made", &GraphEffect::made), steps::arg("before", &GraphEffect::before),
        steps::arg("axes", &GraphEffect::axes)};
  }
};

/// A primitive applied to a tensor, and the line that did it.
struct ScheduleStep {
  TensorView* tensor = nullptr; // that it was applied to
  ScheduleCall call;
  SourceLocation location;
  int64_t serial = 0; // order over all tensors of the fusion
  GraphEffect effect;
  /// The call of a step, wherever and whenever it was made.
  static constexpr auto fields() {
    return std::tuple{
        steps::arg("tensor", &ScheduleStep::tensor), steps::arg("call", &ScheduleStep::call),
        steps::arg("effect", &ScheduleStep::effect)};
  }

  /// Name of the primitive: "split".
  [[nodiscard]] const char* name() const;
  /// "split(0, 128)"
  [[nodiscard]] std::string text() const;
};

/// Names of all primitives, each once, in the order of their declaration.
[[nodiscard]] const std::vector<std::string>& schedule_primitives();

} // namespace nvfuser

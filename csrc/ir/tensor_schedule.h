// The part of a tensor that a schedule adds, apart from its domain. A property is declared here and
// nowhere else: copies, equality, hash, text, the Python method and the bytes on disk follow from
// `fields()`. For a property that a user sets as it is (`setting`), so do the method that sets it,
// its step and its line in a script.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "ir/circular_buffer.h"
#include "ir/fields.h"

namespace nvfuser {

struct TensorSchedule;

/// A property that a user sets to a value, from which nothing else follows at once.
template <typename T>
struct Setting : Field<TensorSchedule, T> {
  const char* setter;     // the method: "promote_reuse"
  const char* parameter;  // its parameter: "flag"
  std::optional<T> usual; // the argument that may be left out
  const char* setter_doc;
};

template <typename T>
constexpr Setting<T> setting(
    const char* name,
    T TensorSchedule::* member,
    const char* doc,
    const char* setter,
    const char* parameter,
    std::optional<T> usual,
    const char* setter_doc) {
  return {{Role::Attr, name, member, doc}, setter, parameter, usual, setter_doc};
}

struct TensorSchedule {
  MemoryType memory_type = MemoryType::Local;
  int64_t compute_at_position = 0;
  int64_t max_producer_position = 0;
  int64_t compute_with_position = 0;
  int64_t maybe_max_producer_position = 0;
  std::vector<TensorView*> compute_with_consumers = {};
  std::optional<CircularBuffering> circular_buffer_options = std::nullopt;
  bool promotes_reuse = false;
  CacheHint cache_hint = CacheHint::Unspecified;
  bool is_cpu_scalar = false;

  static constexpr auto fields() {
    using S = TensorSchedule;
    return std::tuple{
        attr("memory_type", &S::memory_type, "Where the tensor lives."),
        attr(
            "compute_at_position", &S::compute_at_position,
            "Number of outer loop axes shared with every consumer."),
        attr(
            "max_producer_position", &S::max_producer_position,
            "Number of outer loop axes inside which some producer is computed."),
        attr(
            "compute_with_position", &S::compute_with_position,
            "Number of outer loop axes shared with the first consumer in the kernel; 0: as many as "
            "with the others."),
        attr(
            "compute_with_consumers", &S::compute_with_consumers,
            "The results of the first expression that reads this tensor; empty before lowering."),
        attr(
            "maybe_max_producer_position", &S::maybe_max_producer_position,
            "`max_producer_position` if this tensor's expression is the first to read its "
            "operands."),
        attr(
            "circular_buffer_options", &S::circular_buffer_options,
            "How the tensor is loaded ahead of the loop that reads it; None if it is not."),
        setting(
            "promotes_reuse", &S::promotes_reuse,
            "Whether lowering may add a barrier so that later buffers take this one's shared "
            "memory.",
            "promote_reuse", "flag", std::optional(true),
            "Let later buffers take this tensor's shared memory, at the price of a barrier.\n\n"
            "Buffers whose lives do not meet share memory wherever a barrier of the block lies "
            "between\nthem. Where none does, lowering adds one after the last use of this tensor. "
            "False takes the\nwish back; a tensor that leaves shared memory forgets it."),
        setting(
            "cache_hint", &S::cache_hint,
            "Which caches keep what the copy that makes this tensor moves from or to global "
            "memory.",
            "set_cache_hint", "hint", std::optional<CacheHint>(),
            "Say which caches keep what the copy that makes this tensor moves.\n\n"
            "For loads from global memory and stores to it, bulk copies and cp.async among them. "
            "EvictFirst\nmoves elements that nothing reads again; they leave the second-level "
            "cache before others.\nEvictLast moves those that are read again soon. NoAllocate "
            "keeps plain loads and stores out of\nthe first-level cache, and takes the place of a "
            "cache operator. Results are the same; GPUs before\ncompute capability 8.0 and the "
            "CPU target take no notice."),
        attr("is_cpu_scalar", &S::is_cpu_scalar, "Whether it is a 0-dim tensor on the host."),
    };
  }
};

// ---- Properties by their number -----------------------------------------------------------------

inline constexpr size_t kNumScheduleProperties =
    std::tuple_size_v<decltype(TensorSchedule::fields())>;

template <size_t kIndex>
inline constexpr auto kScheduleProperty = std::get<kIndex>(TensorSchedule::fields());

template <size_t kIndex>
inline constexpr bool is_setting_v = requires { kScheduleProperty<kIndex>.setter; };

/// The number of the property that a member is.
template <typename T>
constexpr size_t property_index(T TensorSchedule::* member) {
  size_t index = 0;
  size_t found = kNumScheduleProperties;
  for_each_field<TensorSchedule>([&](const auto& field) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(field)>::Type, T>) {
      found = field.member == member ? index : found;
    }
    ++index;
  });
  return found;
}

} // namespace nvfuser

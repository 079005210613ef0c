// Names of kinds and enumerators, for the text of statements.
#pragma once

#include <iterator>
#include <optional>
#include <string_view>

#include "ir/all_nodes.h"

namespace nvfuser::kernel_text {

/// The names of an enumeration's members, in their order.
template <typename Enum>
struct MemberNames;
#define NVF_MEMBER_NAMES(Enum)                           \
  template <>                                            \
  struct MemberNames<Enum> {                             \
    static constexpr const auto& names = k##Enum##Names; \
  };
NVF_MEMBER_NAMES(BinaryOpType)
NVF_MEMBER_NAMES(CacheHint)
NVF_MEMBER_NAMES(CacheOp)
NVF_MEMBER_NAMES(CircularBufferLoopStage)
NVF_MEMBER_NAMES(DataType)
NVF_MEMBER_NAMES(LoadStoreOpType)
NVF_MEMBER_NAMES(LoopKind)
NVF_MEMBER_NAMES(MemoryType)
NVF_MEMBER_NAMES(ParallelType)
NVF_MEMBER_NAMES(RNGOpType)
NVF_MEMBER_NAMES(SwizzleType)
NVF_MEMBER_NAMES(TernaryOpType)
NVF_MEMBER_NAMES(UnaryOpType)
#undef NVF_MEMBER_NAMES

template <typename Enum>
[[nodiscard]] std::optional<Enum> find_member(std::string_view name) {
  const auto& names = MemberNames<Enum>::names;
  for (size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

/// A list of statements, which stands in lines of its own.
template <typename T>
inline constexpr bool is_scope_v = std::is_same_v<T, Scope>;

} // namespace nvfuser::kernel_text

// The form of a serialized fusion: what its writer (serialize.cpp) and its reader
// (fusion_reader.cpp) agree on.
//
//   head        magic, version of the form, digest of the node table, digest of all else
//   interface   number of statements; inputs; outputs, each with its alias
//   statements  one record each, behind all that it is made of:
//                 a value       kind, type, constant or fields
//                 an expression kind, fields; its results are the records before it
//   schedules   fields of the TensorSchedule of every tensor
//
// Statements are named by their position, from 1; 0 is none. Fields are written as their types say:
// this is all that a node has to be read and written by.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>

#include "base/sha256.h"
#include "ir/all_nodes.h"
#include "ir/byte_stream.h"
#include "ir/tensor_schedule.h"

namespace nvfuser::serialized {

inline constexpr std::array<std::byte, 4> kMagic = {
    std::byte{'N'}, std::byte{'V'}, std::byte{'F'}, std::byte{'B'}};
/// Version of the form itself; changes of nodes and enumerations show in the digest of their table.
inline constexpr uint8_t kVersion = 1;

/// Where the head has what. The last digest is that of the fusion: of all other bytes.
inline constexpr size_t kVersionAt = kMagic.size();
inline constexpr size_t kNodeTableAt = kVersionAt + 1;
inline constexpr size_t kDigestAt = kNodeTableAt + std::tuple_size_v<Digest>;
inline constexpr size_t kHeadBytes = kDigestAt + std::tuple_size_v<Digest>;

/// Tags of records: kinds of values, then kinds of expressions.
inline constexpr size_t kNumValTypes = std::size(kValTypeNames);

#define NVF_COUNT_NODE(Node) +1
inline constexpr size_t kNumExprKinds = 0 NVF_FOR_EACH_EXPR(NVF_COUNT_NODE);
#undef NVF_COUNT_NODE

/// Whether definitions have expressions of this kind; all others are made by lowering.
[[nodiscard]] bool is_written(ExprKind kind);
/// Values of a definition: scalars, axes, domains and tensors, and the hardware indices that loops
/// are shifted by.
[[nodiscard]] constexpr bool is_written(ValType type) {
  return type != ValType::TensorIndex;
}

/// Every node that is written, with the names and types of its fields, and the members of their
/// enumerations, as text.
[[nodiscard]] const std::string& node_table();
[[nodiscard]] const Digest& node_table_digest();

// ---- Enumerations -------------------------------------------------------------------------------

/// The name and the members of an enumeration that is the type of a field.
template <typename Enum>
struct EnumMembers;
#define NVF_ENUM_MEMBERS(Enum)                                               \
  template <>                                                                \
  struct EnumMembers<Enum> {                                                 \
    static constexpr const char* kName = #Enum;                              \
    static constexpr std::span<const char* const> kMembers = k##Enum##Names; \
  };
NVF_ENUM_MEMBERS(DataType)
NVF_ENUM_MEMBERS(ParallelType)
NVF_ENUM_MEMBERS(IterType)
NVF_ENUM_MEMBERS(ValType)
NVF_ENUM_MEMBERS(MemoryType)
NVF_ENUM_MEMBERS(UnaryOpType)
NVF_ENUM_MEMBERS(BinaryOpType)
NVF_ENUM_MEMBERS(TernaryOpType)
NVF_ENUM_MEMBERS(RNGOpType)
NVF_ENUM_MEMBERS(LoadStoreOpType)
NVF_ENUM_MEMBERS(CacheOp)
NVF_ENUM_MEMBERS(CacheHint)
NVF_ENUM_MEMBERS(SwizzleType)
#undef NVF_ENUM_MEMBERS

// ---- Values of fields ---------------------------------------------------------------------------

/// Write a field. `number_of(statement)` is its position, 0 for none.
template <typename T, typename NumberOf>
void write_value(ByteWriter& out, const T& value, const NumberOf& number_of) {
  if constexpr (is_statement_pointer_v<T>) {
    out.number(number_of(value));
  } else if constexpr (is_vector_v<T>) {
    out.number(value.size());
    for (const typename T::value_type item : value) {
      write_value(out, item, number_of);
    }
  } else if constexpr (is_optional_v<T>) {
    out.byte(value.has_value() ? 1 : 0);
    if (value.has_value()) {
      write_value(out, *value, number_of);
    }
  } else if constexpr (is_variant_v<T>) {
    out.number(value.index());
    std::visit([&](const auto& alternative) { write_value(out, alternative, number_of); }, value);
  } else if constexpr (is_pair_v<T>) {
    write_value(out, value.first, number_of);
    write_value(out, value.second, number_of);
  } else if constexpr (HasFields<T>) {
    for_each_field<T>([&](const auto& field) { write_value(out, value.*field.member, number_of); });
  } else if constexpr (std::is_same_v<T, bool>) {
    out.byte(value ? 1 : 0);
  } else if constexpr (std::is_enum_v<T>) {
    out.number(static_cast<uint64_t>(value));
  } else {
    static_assert(std::is_same_v<T, int64_t>, "a field of a kind that ir/fields.h names");
    out.signed_number(value);
  }
}

/// Read a field. `find(pointer, is_optional)` sets the statement that a position names.
template <typename T, typename Find>
void read_value(ByteReader& in, T& value, bool is_optional, const Find& find) {
  if constexpr (is_statement_pointer_v<T>) {
    find(value, is_optional);
  } else if constexpr (is_vector_v<T>) {
    const size_t size = in.count();
    value.clear();
    for (size_t i = 0; i < size && in.is_good(); ++i) {
      typename T::value_type item{};
      read_value(in, item, false, find);
      value.push_back(item);
    }
  } else if constexpr (is_optional_v<T>) {
    value.reset();
    if (in.number_below(2, "a flag is") == 1) {
      read_value(in, value.emplace(), false, find);
    }
  } else if constexpr (is_variant_v<T>) {
    const uint64_t index = in.number_below(std::variant_size_v<T>, "alternative");
    [&]<size_t... i>(std::index_sequence<i...>) {
      ((index == i ? read_value(in, value.template emplace<i>(), false, find) : void()), ...);
    }(std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (is_pair_v<T>) {
    read_value(in, value.first, false, find);
    read_value(in, value.second, false, find);
  } else if constexpr (HasFields<T>) {
    for_each_field<T>(
        [&](const auto& field) { read_value(in, value.*field.member, field.is_optional, find); });
  } else if constexpr (std::is_same_v<T, bool>) {
    value = in.number_below(2, "a flag is") == 1;
  } else if constexpr (std::is_enum_v<T>) {
    using Members = EnumMembers<T>;
    value = static_cast<T>(in.number_below(Members::kMembers.size(), Members::kName));
  } else {
    static_assert(std::is_same_v<T, int64_t>, "a field of a kind that ir/fields.h names");
    value = in.signed_number();
  }
}

} // namespace nvfuser::serialized

// Names of enumerations' members in Python, where they are not the core's.
#pragma once

#include <array>
#include <string_view>

#include "base/mma_macro.h"
#include "base/types.h"

namespace nvfuser::python {

struct Renamed {
  std::string_view core;
  const char* python;
};

template <typename Enum>
inline constexpr std::array<Renamed, 0> kRenamed{};

template <>
inline constexpr auto kRenamed<ParallelType> = std::to_array<Renamed>(
    {{"DIDx", "mesh_x"},
     {"DIDy", "mesh_y"},
     {"DIDz", "mesh_z"},
     {"BIDx", "grid_x"},
     {"BIDy", "grid_y"},
     {"BIDz", "grid_z"},
     {"TIDx", "block_x"},
     {"TIDy", "block_y"},
     {"TIDz", "block_z"},
     {"Stream", "stream"},
     {"Vectorize", "vectorize"},
     {"Unroll", "unroll"},
     {"Unswitch", "unswitch"},
     {"Mma", "mma"},
     {"Bulk", "tma"},
     {"Serial", "serial"},
     {"Group", "group"}});

template <>
inline constexpr auto kRenamed<ValType> = std::to_array<Renamed>({{"Scalar", "Others"}});

template <>
inline constexpr auto kRenamed<MemoryType> = std::to_array<Renamed>(
    {{"Local", "local"},
     {"Shared", "shared"},
     {"Global", "global"},
     {"Tensor", "tensor"},
     {"Symmetric", "symmetric"}});

template <>
inline constexpr auto kRenamed<LoadStoreOpType> = std::to_array<Renamed>(
    {{"Set", "set"},
     {"LdMatrix", "load_matrix"},
     {"CpAsync", "cp_async"},
     {"CpAsyncBulkTensorTile", "tma"}});

template <>
inline constexpr auto kRenamed<CacheOp> = std::to_array<Renamed>(
    {{"Unspecified", "unspecified"},
     {"AllLevels", "all_levels"},
     {"Streaming", "streaming"},
     {"Global", "global"}});

template <>
inline constexpr auto kRenamed<CacheHint> = std::to_array<Renamed>(
    {{"Unspecified", "unspecified"},
     {"EvictFirst", "evict_first"},
     {"EvictLast", "evict_last"},
     {"NoAllocate", "no_allocate"}});

template <>
inline constexpr auto kRenamed<MmaMacroArch> = std::to_array<Renamed>(
    {{"NoMma", "no_mma"},
     {"Volta", "volta"},
     {"Turing", "turing"},
     {"Ampere", "ampere"},
     {"Hopper", "hopper"},
     {"Blackwell1CTA", "blackwell_1cta"},
     {"Blackwell2CTA", "blackwell_2cta"}});

/// The name of a member that documents of this API give.
template <typename Enum>
[[nodiscard]] constexpr const char* documented_name(Enum member) {
  for (const Renamed& entry : kRenamed<Enum>) {
    if (entry.core == enum_name(member)) {
      return entry.python;
    }
  }
  return enum_name(member);
}

/// The name of a member in Python: the documented one, or the core's where that one is a reserved
/// word, which no program can write behind a dot. The other names are aliases.
template <typename Enum>
[[nodiscard]] constexpr const char* python_name(Enum member) {
  const char* name = documented_name(member);
  return std::string_view(name) == "global" ? enum_name(member) : name;
}

} // namespace nvfuser::python

// The enumerations, under their Python names. Where a name differs from the core's, the core's name
// is an alias: ParallelType.BIDx is ParallelType.grid_x.
#include "bindings.h"

namespace nvfuser::python {
namespace {

/// A member's Python name, if it is not the core's.
struct Renamed {
  const char* core;
  const char* python;
};

constexpr Renamed kParallelTypes[] = {
    {"DIDx", "mesh_x"},
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
    {"Group", "group"}};

constexpr Renamed kValTypes[] = {{"Scalar", "Others"}};

constexpr Renamed kMemoryTypes[] = {
    {"Local", "local"},
    {"Shared", "shared"},
    {"Global", "global"},
    {"Tensor", "tensor"},
    {"Symmetric", "symmetric"}};

constexpr Renamed kLoadStoreOpTypes[] = {
    {"Set", "set"},
    {"LdMatrix", "load_matrix"},
    {"CpAsync", "cp_async"},
    {"CpAsyncBulkTensorTile", "tma"}};

constexpr Renamed kCacheOps[] = {
    {"Unspecified", "unspecified"},
    {"AllLevels", "all_levels"},
    {"Streaming", "streaming"},
    {"Global", "global"}};

template <typename Enum, size_t N, size_t M>
void bind_enum(
    nb::module_& m,
    const char* name,
    const char* const (&core_names)[N],
    const Renamed (&renamed)[M],
    const char* doc) {
  nb::enum_<Enum> cls(m, name, doc);
  std::vector<std::pair<const char*, const char*>> aliases; // core name, Python name
  for (size_t i = 0; i < N; ++i) {
    const char* python_name = core_names[i];
    for (const Renamed& entry : renamed) {
      if (std::string_view(entry.core) == core_names[i]) {
        python_name = entry.python;
        aliases.emplace_back(entry.core, entry.python);
      }
    }
    cls.value(python_name, static_cast<Enum>(i));
  }
  for (const auto& [core, python] : aliases) {
    cls.attr(core) = cls.attr(python);
  }
}

constexpr Renamed kNone[] = {{"", ""}};

} // namespace

void bind_enums(nb::module_& m) {
  // One row per enumeration: its class, the members that have another name in Python, what it says.
#define NVF_BIND_ENUM(Enum, renamed, doc) bind_enum<Enum>(m, #Enum, k##Enum##Names, renamed, doc)
  NVF_BIND_ENUM(DataType, kNone, "Type of an element or a scalar.");
  NVF_BIND_ENUM(ParallelType, kParallelTypes, "What a loop axis is bound to.");
  NVF_BIND_ENUM(IterType, kNone, "What an iteration domain is for.");
  NVF_BIND_ENUM(ValType, kValTypes, "Kind of a value; Others are scalars without a name.");
  NVF_BIND_ENUM(MemoryType, kMemoryTypes, "Where a tensor lives.");
  NVF_BIND_ENUM(UnaryOpType, kNone, "Operations with one operand.");
  NVF_BIND_ENUM(BinaryOpType, kNone, "Operations with two operands.");
  NVF_BIND_ENUM(TernaryOpType, kNone, "Operations with three operands.");
  NVF_BIND_ENUM(RNGOpType, kNone, "Distributions of random numbers.");
  NVF_BIND_ENUM(LoadStoreOpType, kLoadStoreOpTypes, "How a copy moves its data.");
  NVF_BIND_ENUM(CacheOp, kCacheOps, "Cache hint of a load.");
  NVF_BIND_ENUM(SwizzleType, kNone, "Permutation of a square of two axes.");
  NVF_BIND_ENUM(
      CircularBufferLoopStage, kNone, "Part of a loop that loads ahead of the one that reads.");
  NVF_BIND_ENUM(IdMappingMode, kNone, "Which iteration domains correspond.");
  NVF_BIND_ENUM(SchedulerType, kNone, "Automatic schedulers.");
#undef NVF_BIND_ENUM
}

} // namespace nvfuser::python

// The enumerations, under their Python names. Where the core or older scripts have another name, it
// is an alias: ParallelType.BIDx is ParallelType.grid_x.
#include "bindings.h"
#include "enum_names.h"

namespace nvfuser::python {
namespace {

/// Another name of a member: as an attribute and as a key, but not once more in the iteration.
template <typename Enum>
void add_alias(nb::enum_<Enum>& cls, const char* member, const char* alias) {
  cls.attr(alias) = cls.attr(member);
  cls.attr("_member_map_")[alias] = cls.attr(member);
}

template <typename Enum, size_t N>
void bind_enum(
    nb::module_& m, const char* name, const char* const (&core_names)[N], const char* doc) {
  nb::enum_<Enum> cls(m, name, doc);
  // Enumerations of pybind11 have this dictionary, and scripts iterate over it.
  nb::dict entries;
  for (size_t i = 0; i < N; ++i) {
    const char* member = python_name(static_cast<Enum>(i));
    cls.value(member, static_cast<Enum>(i));
    entries[member] = nb::make_tuple(cls.attr(member), nb::none());
  }
  cls.attr("__entries") = entries;
  for (size_t i = 0; i < N; ++i) {
    const char* member = python_name(static_cast<Enum>(i));
    if (std::string_view(member) != core_names[i]) {
      add_alias(cls, member, core_names[i]);
    }
    if (const char* documented = documented_name(static_cast<Enum>(i));
        std::string_view(documented) != member) {
      add_alias(cls, member, documented);
    }
  }
}

} // namespace

void bind_enums(nb::module_& m) {
  // One row per enumeration: its class, and what it says.
#define NVF_BIND_ENUM(Enum, doc) bind_enum<Enum>(m, #Enum, k##Enum##Names, doc)
  NVF_BIND_ENUM(DataType, "Type of an element or a scalar.");
  NVF_BIND_ENUM(ParallelType, "The hardware index, or kind of loop, that a loop axis is bound to.");
  NVF_BIND_ENUM(LoopKind, "How a loop of a kernel runs its body.");
  NVF_BIND_ENUM(IterType, "The use of an iteration domain.");
  NVF_BIND_ENUM(ValType, "Kind of a value; Others are scalars without a name.");
  NVF_BIND_ENUM(MemoryType, "Where a tensor lives.");
  NVF_BIND_ENUM(UnaryOpType, "Operations with one operand.");
  NVF_BIND_ENUM(BinaryOpType, "Operations with two operands.");
  NVF_BIND_ENUM(TernaryOpType, "Operations with three operands.");
  NVF_BIND_ENUM(RNGOpType, "Distributions of random numbers.");
  NVF_BIND_ENUM(LoadStoreOpType, "How a copy moves its data.");
  NVF_BIND_ENUM(CacheOp, "Cache hint of a load.");
  NVF_BIND_ENUM(SwizzleType, "Permutation of a square of two axes.");
  NVF_BIND_ENUM(CircularBufferLoopStage, "Part of a loop that loads ahead of the one that reads.");
  NVF_BIND_ENUM(IdMappingMode, "Which iteration domains correspond.");
  NVF_BIND_ENUM(SchedulerType, "Automatic schedulers.");
#undef NVF_BIND_ENUM
}

} // namespace nvfuser::python

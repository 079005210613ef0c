// The enumerations of the IR and their words in printed text.
//
// Each enumeration is one X-macro list `X(Name)`; names, bindings and parsers derive from it.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <variant>

namespace nvfuser {

// ---- DataType -----------------------------------------------------------------------------------

// clang-format off
#define NVF_FOR_EACH_DATA_TYPE(X) \
  X(Double) X(Float) X(Half) X(Int) X(Int32) X(UInt64) X(Index) X(Bool) X(BFloat16)     \
  X(Float8_e4m3fn) X(Float8_e5m2) X(Float8_e8m0fnu) X(Float4_e2m1fn) X(Float4_e2m1fn_x2) \
  X(ComplexFloat) X(ComplexDouble) X(Null)                                             \
  X(Char) X(Short) X(Byte) X(UInt16) X(UInt32) X(SMemAddress) X(TMemAddress)

#define NVF_FOR_EACH_PARALLEL_TYPE(X)                                                     \
  X(DIDx) X(DIDy) X(DIDz) X(BIDx) X(BIDy) X(BIDz) X(TIDx) X(TIDy) X(TIDz) X(Stream)       \
  X(Vectorize) X(Unroll) X(Unswitch) X(Mma) X(Group) X(Bulk) X(Serial)

#define NVF_FOR_EACH_LOOP_KIND(X) \
  X(Serial) X(Hardware) X(Vector) X(Grouped) X(Unrolled) X(Unswitched)

#define NVF_FOR_EACH_ITER_TYPE(X) \
  X(Iteration) X(Reduction) X(Broadcast) X(Stride) X(GatherScatter) X(VectorComponent) X(Symbolic)

#define NVF_FOR_EACH_VAL_TYPE(X) \
  X(Scalar) X(NamedScalar) X(IterDomain) X(TensorDomain) X(TensorView) X(TensorIndex)

#define NVF_FOR_EACH_MEMORY_TYPE(X) X(Local) X(Shared) X(Global) X(Tensor) X(Symmetric)

#define NVF_FOR_EACH_UNARY_OP(X)                                                             \
  X(Cast) X(BitCast) X(RefCast) X(Abs) X(Acos) X(Acosh) X(Address) X(Asin) X(Asinh) X(Atan)   \
  X(Atanh) X(Ceil) X(Cos) X(Cosh) X(Dereference) X(Exp) X(Exp2) X(Expm1) X(Erf) X(Erfc)       \
  X(Erfinv) X(Erfcinv) X(Floor) X(Frac) X(Gelu) X(Imag) X(Silu) X(Lgamma) X(Log) X(Log10)     \
  X(Log1p) X(Log2) X(Neg) X(Real) X(Reciprocal) X(Relu) X(Rsqrt) X(Round) X(Sigmoid)          \
  X(Signbit) X(Sin) X(Sinh) X(Sqrt) X(Tan) X(Tanh) X(Trunc) X(BitCeil) X(Print)               \
  X(LogicalNot) X(BitwiseNot) X(IsFinite) X(IsInf) X(IsNan) X(IsNegInf) X(IsPosInf) X(IsReal) \
  X(ToUnsignedSmemAddr) X(AdjustPartialLdMatrixAddrInTuring8)                                \
  X(AdjustPartialLdMatrixAddrInTuring16) X(ElectSync)

#define NVF_FOR_EACH_BINARY_OP(X)                                                            \
  X(Add) X(Atan2) X(Div) X(Fmod) X(Max) X(FMax) X(Min) X(FMin) X(Mul) X(Nextafter) X(Pow)     \
  X(Remainder) X(Sub) X(Mod) X(CeilDiv) X(Lshift) X(Rshift) X(Gcd) X(BitwiseAnd)             \
  X(BitwiseOr) X(BitwiseXor) X(Eq) X(GE) X(GT) X(LE) X(LT) X(NE) X(LogicalAnd) X(LogicalOr)   \
  X(Complex)

#define NVF_FOR_EACH_TERNARY_OP(X) X(Clamp) X(Lerp) X(Threshold) X(Where) X(Philox)

#define NVF_FOR_EACH_RNG_OP(X) X(Uniform) X(UniformRange) X(NormalStandard) X(NormalGeneral)

#define NVF_FOR_EACH_LOAD_STORE_OP(X) \
  X(Set) X(SegmenterSet) X(LdMatrix) X(CpAsync) X(CpAsyncBulk) X(CpAsyncBulkTensorTile) \
  X(StMatrix) X(LdTMem) X(StTMem)

#define NVF_FOR_EACH_CACHE_OP(X) X(Unspecified) X(AllLevels) X(Streaming) X(Global)

#define NVF_FOR_EACH_CACHE_HINT(X) X(Unspecified) X(EvictFirst) X(EvictLast) X(NoAllocate)

#define NVF_FOR_EACH_SWIZZLE_TYPE(X) X(NoSwizzle) X(XOR) X(CyclicShift)

#define NVF_FOR_EACH_CIRCULAR_BUFFER_LOOP_STAGE(X) \
  X(Prolog) X(Main) X(Epilog) X(AsyncWarp) X(ComputeWarp) X(NotApplicable)

#define NVF_FOR_EACH_ID_MAPPING_MODE(X) \
  X(exact) X(almost_exact) X(broadcast) X(permissive) X(loop) X(permissive_resize) X(innermost)

#define NVF_FOR_EACH_SCHEDULER_TYPE(X)                                                      \
  X(none) X(no_op) X(pointwise) X(matmul) X(reduction) X(inner_persistent)                   \
  X(inner_outer_persistent) X(outer_persistent) X(transpose) X(expr_eval) X(resize) X(greedy) \
  X(communication) X(cutlass)
// clang-format on

/// Declares `enum class Enum` with the members of the list, and `enum_name(Enum)`: their names.
#define NVF_ENUM_MEMBER(Name) Name,
#define NVF_ENUM_NAME(Name) #Name,
#define NVF_DECLARE_ENUM(Enum, LIST)                                     \
  enum class Enum : uint8_t { LIST(NVF_ENUM_MEMBER) };                   \
  inline constexpr const char* k##Enum##Names[] = {LIST(NVF_ENUM_NAME)}; \
  [[nodiscard]] constexpr const char* enum_name(Enum value) {            \
    return k##Enum##Names[static_cast<size_t>(value)];                   \
  }

NVF_DECLARE_ENUM(DataType, NVF_FOR_EACH_DATA_TYPE)
NVF_DECLARE_ENUM(ParallelType, NVF_FOR_EACH_PARALLEL_TYPE)
NVF_DECLARE_ENUM(LoopKind, NVF_FOR_EACH_LOOP_KIND)
NVF_DECLARE_ENUM(IterType, NVF_FOR_EACH_ITER_TYPE)
NVF_DECLARE_ENUM(ValType, NVF_FOR_EACH_VAL_TYPE)
NVF_DECLARE_ENUM(MemoryType, NVF_FOR_EACH_MEMORY_TYPE)
NVF_DECLARE_ENUM(UnaryOpType, NVF_FOR_EACH_UNARY_OP)
NVF_DECLARE_ENUM(BinaryOpType, NVF_FOR_EACH_BINARY_OP)
NVF_DECLARE_ENUM(TernaryOpType, NVF_FOR_EACH_TERNARY_OP)
NVF_DECLARE_ENUM(RNGOpType, NVF_FOR_EACH_RNG_OP)
NVF_DECLARE_ENUM(LoadStoreOpType, NVF_FOR_EACH_LOAD_STORE_OP)
NVF_DECLARE_ENUM(CacheOp, NVF_FOR_EACH_CACHE_OP)
NVF_DECLARE_ENUM(CacheHint, NVF_FOR_EACH_CACHE_HINT)
NVF_DECLARE_ENUM(SwizzleType, NVF_FOR_EACH_SWIZZLE_TYPE)
NVF_DECLARE_ENUM(CircularBufferLoopStage, NVF_FOR_EACH_CIRCULAR_BUFFER_LOOP_STAGE)
NVF_DECLARE_ENUM(IdMappingMode, NVF_FOR_EACH_ID_MAPPING_MODE)
NVF_DECLARE_ENUM(SchedulerType, NVF_FOR_EACH_SCHEDULER_TYPE)

// ---- Parallel types and loops -------------------------------------------------------------------

/// How a loop of a kernel runs its body.
struct LoopTraits {
  LoopKind kind;
  bool repeats = false;           // a thread may run the body more than once
  bool is_written_out = false;    // the code has the iterations one after the other
  bool hoists_conditions = false; // conditions of the body are tested once, before it
};

inline constexpr auto kLoopTraits = std::to_array<LoopTraits>({
    {.kind = LoopKind::Serial, .repeats = true},
    {.kind = LoopKind::Hardware},                       // each thread or block has its iteration
    {.kind = LoopKind::Vector, .is_written_out = true}, // the body is one access of all lanes
    {.kind = LoopKind::Grouped, .repeats = true, .is_written_out = true},
    {.kind = LoopKind::Unrolled,
     .repeats = true,
     .is_written_out = true,
     .hoists_conditions = true},
    {.kind = LoopKind::Unswitched, .repeats = true, .hoists_conditions = true},
});

[[nodiscard]] constexpr const LoopTraits& traits_of(LoopKind kind) {
  return kLoopTraits[static_cast<size_t>(kind)];
}

/// The level that runs the positions of an axis: a loop, one instruction, the threads of a block,
/// the blocks of a grid, streams or devices.
enum class ParallelLevel : uint8_t { Loop, Instruction, Block, Grid, Stream, Device };

/// Where an axis ends the loops that producer and consumer share.
enum class InlineStop : uint8_t { Nowhere, InProducer, InBoth };

/// The meaning of binding an axis to a parallel type. Everything that tells types apart asks this
/// table.
struct ParallelTraits {
  ParallelType type;
  const char* text; // in printed IR
  ParallelLevel level = ParallelLevel::Loop;
  int64_t dim = 0; // x, y or z of its level
  LoopKind loop = LoopKind::Serial;
  InlineStop stops_inlining = InlineStop::Nowhere;
  bool needs_constant_extent = false;
  bool is_unique = false; // one axis of a tensor at most has it
};

// clang-format off
inline constexpr auto kParallelTraits = std::to_array<ParallelTraits>({
    {.type = ParallelType::DIDx, .text = "deviceIdx.x", .level = ParallelLevel::Device, .dim = 0},
    {.type = ParallelType::DIDy, .text = "deviceIdx.y", .level = ParallelLevel::Device, .dim = 1},
    {.type = ParallelType::DIDz, .text = "deviceIdx.z", .level = ParallelLevel::Device, .dim = 2},
    {.type = ParallelType::BIDx, .text = "blockIdx.x", .level = ParallelLevel::Grid, .dim = 0,
     .loop = LoopKind::Hardware, .is_unique = true},
    {.type = ParallelType::BIDy, .text = "blockIdx.y", .level = ParallelLevel::Grid, .dim = 1,
     .loop = LoopKind::Hardware, .is_unique = true},
    {.type = ParallelType::BIDz, .text = "blockIdx.z", .level = ParallelLevel::Grid, .dim = 2,
     .loop = LoopKind::Hardware, .is_unique = true},
    {.type = ParallelType::TIDx, .text = "threadIdx.x", .level = ParallelLevel::Block, .dim = 0,
     .loop = LoopKind::Hardware, .is_unique = true},
    {.type = ParallelType::TIDy, .text = "threadIdx.y", .level = ParallelLevel::Block, .dim = 1,
     .loop = LoopKind::Hardware, .is_unique = true},
    {.type = ParallelType::TIDz, .text = "threadIdx.z", .level = ParallelLevel::Block, .dim = 2,
     .loop = LoopKind::Hardware, .is_unique = true},
    {.type = ParallelType::Stream, .text = "streamIdx", .level = ParallelLevel::Stream},
    {.type = ParallelType::Vectorize, .text = "V", .level = ParallelLevel::Instruction,
     .loop = LoopKind::Vector, .stops_inlining = InlineStop::InBoth,
     .needs_constant_extent = true, .is_unique = true},
    {.type = ParallelType::Unroll, .text = "UR", .loop = LoopKind::Unrolled,
     .stops_inlining = InlineStop::InProducer, .needs_constant_extent = true},
    {.type = ParallelType::Unswitch, .text = "US", .loop = LoopKind::Unswitched},
    {.type = ParallelType::Mma, .text = "MMA", .level = ParallelLevel::Instruction,
     .stops_inlining = InlineStop::InBoth},
    {.type = ParallelType::Group, .text = "G", .level = ParallelLevel::Instruction,
     .loop = LoopKind::Grouped, .stops_inlining = InlineStop::InBoth,
     .needs_constant_extent = true},
    {.type = ParallelType::Bulk, .text = "B", .level = ParallelLevel::Instruction,
     .stops_inlining = InlineStop::InBoth},
    {.type = ParallelType::Serial, .text = "S"},
});
// clang-format on

[[nodiscard]] constexpr const ParallelTraits& traits_of(ParallelType type) {
  return kParallelTraits[static_cast<size_t>(type)];
}

// Both tables have a row for each member, in the order of the enumeration.
static_assert(kLoopTraits.size() == std::size(kLoopKindNames));
static_assert(kParallelTraits.size() == std::size(kParallelTypeNames));
static_assert([] {
  for (size_t i = 0; i < kParallelTraits.size(); ++i) {
    if (static_cast<size_t>(kParallelTraits[i].type) != i) {
      return false;
    }
  }
  for (size_t i = 0; i < kLoopTraits.size(); ++i) {
    if (static_cast<size_t>(kLoopTraits[i].kind) != i) {
      return false;
    }
  }
  return true;
}());

[[nodiscard]] constexpr bool is_grid_dim(ParallelType p) { // grid axes: blockIdx
  return traits_of(p).level == ParallelLevel::Grid;
}
[[nodiscard]] constexpr bool is_block_dim(ParallelType p) { // block axes: threadIdx
  return traits_of(p).level == ParallelLevel::Block;
}
/// Bound to a hardware index of the kernel.
[[nodiscard]] constexpr bool is_hardware_index(ParallelType p) {
  return traits_of(p).loop == LoopKind::Hardware;
}
[[nodiscard]] constexpr bool is_device_dim(ParallelType p) {
  return traits_of(p).level == ParallelLevel::Device;
}
/// The positions are on several devices or streams: a kernel sees one of them.
[[nodiscard]] constexpr bool is_outside_kernel(ParallelType p) {
  return traits_of(p).level == ParallelLevel::Stream || is_device_dim(p);
}
/// One instruction does all positions.
[[nodiscard]] constexpr bool is_instruction(ParallelType p) {
  return traits_of(p).level == ParallelLevel::Instruction;
}
/// A loop of each thread, whatever it does with conditions and code.
[[nodiscard]] constexpr bool is_loop(ParallelType p) {
  return traits_of(p).level == ParallelLevel::Loop;
}

/// The types of a level with dimensions: x, y, z.
[[nodiscard]] constexpr std::array<ParallelType, 3> types_at(ParallelLevel level) {
  std::array<ParallelType, 3> types{};
  for (const ParallelTraits& traits : kParallelTraits) {
    if (traits.level == level) {
      types.at(static_cast<size_t>(traits.dim)) = traits.type;
    }
  }
  return types;
}
inline constexpr std::array<ParallelType, 3> kBlockDimTypes = types_at(ParallelLevel::Block);
inline constexpr std::array<ParallelType, 3> kGridDimTypes = types_at(ParallelLevel::Grid);

/// The six hardware indices, in the order of launch parameters.
inline constexpr std::array<ParallelType, 6> kHardwareTypes = {
    kGridDimTypes[0],  kGridDimTypes[1],  kGridDimTypes[2],
    kBlockDimTypes[0], kBlockDimTypes[1], kBlockDimTypes[2]};

/// Position of a hardware index in kHardwareTypes.
[[nodiscard]] size_t hardware_type_index(ParallelType type);

// ---- Meanings of the types ----------------------------------------------------------------------

[[nodiscard]] bool is_floating_point(DataType type); // Double, Float and the low-precision floats
[[nodiscard]] bool is_low_precision(DataType type);  // Half, BFloat16, fp8, fp4
[[nodiscard]] bool is_integral(DataType type);       // all integer widths and Index; not Bool
[[nodiscard]] bool is_unsigned(DataType type);
[[nodiscard]] bool is_complex(DataType type);
[[nodiscard]] inline bool is_boolean(DataType type) {
  return type == DataType::Bool;
}
/// Size of one element in memory. Index counts as its widest form, 8. fp4 has half a byte and is
/// stored in pairs: ask for bits.
[[nodiscard]] int64_t size_bits(DataType type);
[[nodiscard]] inline int64_t size_bytes(DataType type) {
  return (size_bits(type) + 7) / 8;
}
/// ComplexFloat -> Float, ComplexDouble -> Double; a real type is returned unchanged.
[[nodiscard]] DataType real_type_of(DataType type);

/// Words of printed IR: `float`, `__half`, `int64_t`, `nvfuser_index_t` ...
[[nodiscard]] const char* text(DataType type);
/// `blockIdx.x`, `threadIdx.y`, `V`, `UR`, `US`, `S` ...
[[nodiscard]] const char* text(ParallelType type);
/// `i`, `r`, `b`, `s`, `n`, `v`, `?`
[[nodiscard]] const char* text(IterType type);
/// `l`, `s`, `g`, `t`, `sym`
[[nodiscard]] const char* text(MemoryType type);
/// Prefix of a symbolic scalar's name: `i`, `d`, `b` ...
[[nodiscard]] const char* scalar_prefix(DataType type);

/// The value of a constant. Bool, every integer type, every real type, both complex types.
using ScalarValue = std::variant<std::monostate, bool, int64_t, double, std::complex<double>>;

[[nodiscard]] inline bool has_value(const ScalarValue& value) {
  return !std::holds_alternative<std::monostate>(value);
}
/// The number as an integer, a double or a bool, whatever it is stored as; `true` is 1.
[[nodiscard]] int64_t as_int(const ScalarValue& value);
[[nodiscard]] double as_double(const ScalarValue& value);
[[nodiscard]] bool as_bool(const ScalarValue& value);
[[nodiscard]] std::complex<double> as_complex(const ScalarValue& value);

/// `value` as a constant of type `type`: rounded to its precision, wrapped to its width. UInt64
/// constants above the range of int64 are held as the same 64 bits.
[[nodiscard]] ScalarValue convert_value(const ScalarValue& value, DataType type);
/// The same for a constant of type `from`: those bits then mean an unsigned number.
[[nodiscard]] ScalarValue convert_value(const ScalarValue& value, DataType from, DataType to);

/// Whether a number of type `from` can be a constant of type `to`: in the range of an integer,
/// which drops a fraction and has no NaN; without imaginary part as a real number. Rounding is
/// fine.
[[nodiscard]] bool is_representable(const ScalarValue& value, DataType from, DataType to);
/// The error for a number that is not.
[[noreturn]] void throw_not_representable(const ScalarValue& value, DataType from, DataType to);

/// Names of operations in printed text: `add`, `sqrt`, `nearbyint` ... Symbols where the text is
/// inline (`+`), nullptr where it is a call.
[[nodiscard]] const char* op_text(UnaryOpType type);
[[nodiscard]] const char* op_text(BinaryOpType type);
[[nodiscard]] const char* op_text(TernaryOpType type);
[[nodiscard]] const char* op_symbol(UnaryOpType type);
[[nodiscard]] const char* op_symbol(BinaryOpType type);
/// `==`, `!=`, `<`, `<=`, `>`, `>=`: the operands have one type, the result is Bool.
[[nodiscard]] bool is_comparison(BinaryOpType type);

/// Smallest and largest value of a type; infinities where it has them.
[[nodiscard]] ScalarValue lowest_value(DataType type);
[[nodiscard]] ScalarValue highest_value(DataType type);

/// The printed name of the cast from `from` to `to`; empty if there is no such cast.
[[nodiscard]] std::string cast_text(DataType from, DataType to);

inline std::ostream& operator<<(std::ostream& out, DataType type) {
  return out << text(type);
}
inline std::ostream& operator<<(std::ostream& out, ParallelType type) {
  return out << text(type);
}
inline std::ostream& operator<<(std::ostream& out, IterType type) {
  return out << text(type);
}

} // namespace nvfuser

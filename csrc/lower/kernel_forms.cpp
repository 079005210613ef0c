#include "lower/kernel_forms.h"

#include "ir/all_nodes.h"
#include "lower/statements/statements.h"

namespace nvfuser {
namespace {

// ---- What does the same, for what has no kernel form; nullptr: it has one -----------------------

const char* instead_of(ParallelType type) {
  switch (type) {
    case ParallelType::Stream:
      return "bind it to grid_x, grid_y or grid_z, or run the kernel for each part of the axis";
    default:
      return is_device_dim(type)
                 ? "a kernel runs on one device: define the fusion for the part of one device"
                 : nullptr;
  }
}

const char* instead_of(MemoryType memory) {
  switch (memory) {
    case MemoryType::Symmetric:
      return "keep it in global memory; a kernel accesses the memory of one device";
    default: return nullptr;
  }
}

Refusal no_form(
    const TensorView* tensor,
    const Part& what,
    const Part& expected,
    const Part& found,
    const char* fix) {
  return refuse(
      {.headline = {what.text(), " has no kernel form"},
       .node = {describe(tensor)},
       .expected = expected,
       .found = found,
       .fix = {fix}},
      ErrorKind::NotImplemented);
}

// ---- Rules --------------------------------------------------------------------------------------

std::optional<Refusal> find_wrong_memory(const TensorView* tensor) {
  const MemoryType memory = tensor->memory_type();
  if (const char* fix = instead_of(memory)) {
    return no_form(
        tensor, {"Memory type ", enum_name(memory)}, {"local, shared, global or tensor"},
        {enum_name(memory)}, fix);
  }
  return std::nullopt;
}

/// Looks at all axes of the tensor, also those that the loops were made from.
std::optional<Refusal> find_wrong_binding(const TensorView* tensor) {
  for (const IterDomain* axis : tensor->domain()->all_ids()) {
    if (const char* fix = instead_of(axis->parallel_type())) {
      return no_form(
          tensor, {"Parallel type ", axis->parallel_type()},
          {"grid, block, serial, unroll, unswitch, vectorize, tma or mma"}, {axis->to_string()},
          fix);
    }
  }
  for (const Expr* expr : tensor->domain()->all_exprs()) {
    if (const auto* swizzle = expr->as<Swizzle1D>()) {
      return no_form(
          tensor, {"Swizzle1D"}, {"transforms that do not depend on the device"},
          {swizzle->in->to_string(), " rotated by ", swizzle->parallel_type},
          instead_of(swizzle->parallel_type));
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_missing_form(const Expr& expr) {
  if (has_kernel_form(expr)) {
    return std::nullopt;
  }
  return refuse(
      {
          .headline = {expr.op_name(), " has no kernel form"},
          .node = {describe(expr)},
          .expected = {"an operation that runs element by element, or a reduction"},
          .found = {expr.op_name()},
          .fix =
              {"evaluate it through the fallback evaluator: fd.execute does, or evaluate(fusion, "
               "inputs)"},
      },
      ErrorKind::NotImplemented);
}

std::optional<Refusal> find_missing_form(const TensorView* tensor) {
  NVF_RETURN_REFUSAL(find_wrong_memory(tensor));
  return find_wrong_binding(tensor);
}

} // namespace nvfuser

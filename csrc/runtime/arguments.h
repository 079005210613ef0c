// Arguments: what a run is called with, checked against the fusion's inputs before anything else.
//
// The checks, in order: number, kind, dtype, rank, device (check_arguments); then sizes against
// static extents, against each other and against axes that must be equal, strides against
// contiguity flags (bind_arguments).
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/refusal.h"
#include "eval/evaluator.h"
#include "ir/fusion.h"
#include "runtime/buffer_layout.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

/// A logical dimension of an input.
struct InputDim {
  size_t input = 0;
  size_t dim = 0;
};
/// Dimensions of inputs whose axes are the same axis of the computation: groups of two and more.
using EqualDims = std::vector<std::vector<InputDim>>;
[[nodiscard]] EqualDims equal_input_dims(Fusion& fusion);

/// The first argument that does not fit in number, kind, dtype, rank or device.
[[nodiscard]] std::optional<Refusal> find_unfit_argument(
    const Fusion& fusion, std::span<const Argument> args);
/// The device of the tensors; where there are none, `wanted`; else the first CUDA device, else the
/// CPU. Requires: no unfit argument.
[[nodiscard]] Device device_of_run(
    const Fusion& fusion, std::span<const Argument> args, std::optional<Device> wanted = {});
/// Both: the device of a run with arguments that fit; throws what does not.
[[nodiscard]] Device check_arguments(
    const Fusion& fusion, std::span<const Argument> args, std::optional<Device> wanted = {});
/// The device of a run without tensors.
[[nodiscard]] Device default_device();

/// Let `evaluator` know every scalar input and the extent of every input dimension; check sizes and
/// strides. Returns the memory layout of every tensor input (empty for others); the strides of axes
/// of size 1, which mean nothing, are those of a contiguous tensor. Requires: check_arguments, and
/// that pairs are counted as elements (UnpairedArguments).
[[nodiscard]] std::variant<std::vector<MemoryLayout>, Refusal> try_bind_arguments(
    const Fusion& fusion,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    ExpressionEvaluator& evaluator);
/// The same; throws what does not fit.
std::vector<MemoryLayout> bind_arguments(
    const Fusion& fusion,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    ExpressionEvaluator& evaluator);

/// How the memory of argument `i` lies as `tensor` declares it, which is the input, or an output
/// that updates it in place. Checks strides against expanded dimensions and contiguity flags.
[[nodiscard]] MemoryLayout bind_memory(
    size_t i, const TensorView* tensor, const TensorArg& arg, ExpressionEvaluator& evaluator);

/// "1.5", "(2,1)", "true"
[[nodiscard]] std::string value_text(const ScalarArg& arg);
/// One indented line for each argument.
[[nodiscard]] std::string arguments_text(std::span<const Argument> args);

} // namespace nvfuser

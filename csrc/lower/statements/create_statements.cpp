// Tensors made from scalars: the element of each position.
#include "eval/simplify.h"
#include "ir/random_streams.h"
#include "ir/scalar.h"
#include "lower/analysis/kernel_parameters.h"
#include "lower/statements/element_statements.h"

namespace nvfuser {
namespace {

/// The element at `position` of elements [begin, end): a tree of conditions, so that their number
/// on the way is the logarithm of the number of elements.
Val* select_element(
    const std::vector<Val*>& elements, size_t begin, size_t end, Val* position, Kernel& kernel) {
  if (end - begin == 1) {
    return elements[begin];
  }
  const size_t middle = begin + (end - begin) / 2;
  Val* limit = kernel.new_index(static_cast<int64_t>(middle));
  return scalar::where(
      scalar::lt(position, limit), select_element(elements, begin, middle, position, kernel),
      select_element(elements, middle, end, position, kernel));
}

/// Position of the statement's element along a dimension of `out`, which is made from scalars.
Val* logical_index(const TensorView* out, size_t dim, StatementContext& context) {
  IterDomain* axis = out->logical().at(dim);
  // Loops over a broadcast that was split visit it several times, and no test tells them apart.
  return axis->is_broadcast() ? context.kernel.zero() : context.walk.index_of(axis, out);
}

/// Its row-major position in the logical shape.
Val* logical_position(const TensorView* out, StatementContext& context) {
  Val* position = context.kernel.zero();
  for (size_t dim = 0; dim < out->logical().size(); ++dim) {
    if (!out->logical()[dim]->is_broadcast()) {
      position = scalar::add(
          scalar::mul(position, out->logical()[dim]->extent()), logical_index(out, dim, context));
    }
  }
  return context.kernel.simplifier->simplify(position);
}

} // namespace

Expr* convert(FullOp& op, StatementContext& context) {
  return context.copy_to(op.out, scalar::cast(op.out->dtype(), op.fill_value));
}

Expr* convert(IotaOp& op, StatementContext& context) {
  // User values are not index arithmetic: the position is converted at the border. Floats of few
  // bits have neither every position nor every product: only the sum is rounded to them.
  const DataType dtype = op.out->dtype();
  const DataType type = is_low_precision(dtype) ? DataType::Float : dtype;
  Val* number = scalar::cast(type, logical_index(op.out, 0, context));
  Val* product = scalar::mul(number, scalar::cast(type, op.step));
  return context.copy_to(op.out, scalar::add(scalar::cast(type, op.start), product));
}

Expr* convert(EyeOp& op, StatementContext& context) {
  const DataType dtype = op.out->dtype();
  Val* row = logical_index(op.out, 0, context);
  Val* column = logical_index(op.out, 1, context);
  Val* one = context.kernel.new_constant(int64_t{1}, dtype);
  Val* zero = context.kernel.new_constant(int64_t{0}, dtype);
  return context.copy_to(op.out, scalar::where(scalar::eq(row, column), one, zero));
}

/// The source has every element.
bool can_convert(const TensorConstruct& op) {
  constexpr size_t kMaxElements = 1024;
  return op.elements.size() <= kMaxElements;
}

Expr* convert(TensorConstruct& op, StatementContext& context) {
  Val* position = logical_position(op.out, context);
  return context.copy_to(
      op.out, select_element(op.elements, 0, op.elements.size(), position, context.kernel));
}

Expr* convert(RNGOp& op, StatementContext& context) {
  // The place in the logical shape, never the one in loops or memory: the same number under any
  // schedule. Holes are not computed, or their results are not read.
  Val* position = logical_position(op.out, context);
  Val* lanes = context.kernel.new_index(op.out->dtype() == DataType::Double ? 2 : 4);
  Val* seed = op.seed;
  Val* offset = op.offset;
  if (seed == nullptr) {
    const int64_t stream = stream_in_use(op);
    seed = context.kernel.named_scalar("rng_seed", DataType::UInt64);
    // Each has an offset of its own: parts of a fusion that is cut draw as the whole one would.
    offset = context.kernel.named_scalar(name_of_random_offset(stream), DataType::UInt64);
    context.kernel.launch.random_streams =
        std::max(context.kernel.launch.random_streams, stream + 1);
  }
  return context.kernel.make<RandomElement>(
      {.out = context.result(op.out),
       .seed = seed,
       .offset = offset,
       .counter = context.kernel.simplifier->simplify(scalar::div(position, lanes)),
       .lane = context.kernel.simplifier->simplify(scalar::mod(position, lanes)),
       .parameters = op.parameters,
       .op = op.op});
}

} // namespace nvfuser

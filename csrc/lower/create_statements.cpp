// Tensors made from scalars: the element of each position.
#include "eval/simplify.h"
#include "ir/scalar.h"
#include "lower/kernel_forms.h"
#include "lower/statements.h"

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

} // namespace

Val* StatementBuilder::logical_index(const TensorView* out, size_t dim, Context& context) {
  IterDomain* axis = out->logical().at(dim);
  // Loops over a broadcast that was split visit it several times, and no test tells them apart.
  return axis->is_broadcast() ? kernel_.zero() : context.walk.index_of(axis, out);
}

Val* StatementBuilder::logical_position(const TensorView* out, Context& context) {
  Val* position = kernel_.zero();
  for (size_t dim = 0; dim < out->logical().size(); ++dim) {
    if (!out->logical()[dim]->is_broadcast()) {
      position = scalar::add(
          scalar::mul(position, out->logical()[dim]->extent()), logical_index(out, dim, context));
    }
  }
  return kernel_.simplifier->simplify(position);
}

Expr* StatementBuilder::convert(FullOp& op, Context& context) {
  return copy_to(op.out, scalar::cast(op.out->dtype(), op.fill_value), context);
}

Expr* StatementBuilder::convert(IotaOp& op, Context& context) {
  // User values are not index arithmetic: the position is converted at the border.
  Val* position = logical_index(op.out, 0, context);
  Val* number = scalar::cast(op.out->dtype(), position);
  Val* step = scalar::cast(op.out->dtype(), op.step);
  Val* start = scalar::cast(op.out->dtype(), op.start);
  return copy_to(op.out, scalar::add(start, scalar::mul(number, step)), context);
}

Expr* StatementBuilder::convert(EyeOp& op, Context& context) {
  const DataType dtype = op.out->dtype();
  Val* row = logical_index(op.out, 0, context);
  Val* column = logical_index(op.out, 1, context);
  Val* one = kernel_.new_constant(int64_t{1}, dtype);
  Val* zero = kernel_.new_constant(int64_t{0}, dtype);
  return copy_to(op.out, scalar::where(scalar::eq(row, column), one, zero), context);
}

Expr* StatementBuilder::convert(TensorConstruct& op, Context& context) {
  constexpr size_t kMaxElements = 1024; // of the source
  if (op.elements.size() > kMaxElements) {
    throw_no_kernel_form(op);
  }
  Val* position = logical_position(op.out, context);
  return copy_to(
      op.out, select_element(op.elements, 0, op.elements.size(), position, kernel_), context);
}

Expr* StatementBuilder::convert(RNGOp& op, Context& context) {
  // The place in the logical shape, never the one in loops or memory: the same number under any
  // schedule. Holes are not computed, or computed for nobody.
  Val* position = logical_position(op.out, context);
  Val* lanes = kernel_.new_index(op.out->dtype() == DataType::Double ? 2 : 4);
  Val* seed = op.seed;
  Val* offset = op.offset;
  if (seed == nullptr) {
    seed = kernel_.named_scalar("rng_seed", DataType::UInt64);
    offset = scalar::add(
        kernel_.named_scalar("rng_offset", DataType::UInt64),
        kernel_.new_constant(op.stream, DataType::UInt64));
    kernel_.launch.random_streams = std::max(kernel_.launch.random_streams, op.stream + 1);
  }
  return kernel_.make<RandomElement>(
      result(op.out, context), seed, offset,
      kernel_.simplifier->simplify(scalar::div(position, lanes)),
      kernel_.simplifier->simplify(scalar::mod(position, lanes)), op.parameters, op.op);
}

} // namespace nvfuser

// Operations that give the same elements another shape.
#include "op_binding.h"
#include "ops/reshape.h"
#include "ops/shape.h"

namespace nvfuser::python {
namespace {

void bind_copies(OpModule& m) {
  bind_all_mixes<1>(m, "set", [](Val* x) { return ops::set(x); }, operation_doc("A copy.", {"x"}));
  bind_all_mixes<1>(
      m, "segment_set", [](Val* x) { return ops::segment_set(x); },
      operation_doc("A copy that asks for a kernel boundary here.", {"x"}));
}

void bind_broadcasts(OpModule& m) {
  m.def(
      "broadcast", &ops::broadcast, "arg"_a, "is_broadcast_dim"_a,
      R"(Insert dimensions of size one.

Parameters
----------
arg : TensorView
    Operand.
is_broadcast_dim : list[bool]
    Per dimension of the result: whether it is new. The others are those of `arg`, in order.
)");
  m.def(
      "broadcast_in_dim",
      [](TensorView* arg, const ShapeArg& shape, const std::vector<int64_t>& broadcast_dims) {
        return ops::broadcast_in_dim(arg, shape.sizes(), broadcast_dims);
      },
      "arg"_a, "shape"_a, "broadcast_dims"_a,
      R"(Place the dimensions of a tensor in a larger shape and expand the others.

Parameters
----------
arg : TensorView
    Operand.
shape : list[int or Val]
    Shape of the result.
broadcast_dims : list[int]
    Position in `shape` of every dimension of `arg`.
)");
  m.def(
      "expand",
      [](TensorView* arg, const ShapeArg& shape) { return ops::expand(arg, shape.sizes()); },
      "arg"_a, "shape"_a,
      R"(Repeat dimensions of size one without copying.

Parameters
----------
arg : TensorView
    Operand.
shape : list[int or Val]
    Shape of the result; -1 keeps a dimension. Missing leading dimensions are added.
)");
  m.def(
      "expand_as", &ops::expand_as, "arg"_a, "other"_a,
      R"(`arg` expanded to the shape of `other`.

Parameters
----------
arg, other : TensorView
    Operands.
)");
  m.def(
      "squeeze", &ops::squeeze, "arg"_a, "dims"_a, "squeeze_expanded"_a = false,
      R"(Remove dimensions of size one.

Parameters
----------
arg : TensorView
    Operand.
dims : list[int]
    Dimensions to remove; negative values count from the end.
squeeze_expanded : bool
    Whether an expanded dimension may go as well.
)");
  m.def(
      "unsqueeze", &ops::unsqueeze, "arg"_a, "dim"_a,
      R"(Insert one dimension of size one.

Parameters
----------
arg : TensorView
    Operand.
dim : int
    Its position in the result; negative values count from the end.
)");
}

void bind_reshapes(OpModule& m) {
  m.def(
      "reshape",
      [](TensorView* arg, const ShapeArg& new_shape,
         const std::optional<std::vector<std::string>>& steps) {
        if (!steps.has_value()) {
          return ops::reshape(arg, new_shape.sizes());
        }
        std::vector<ops::ReshapeStep> walk;
        std::ranges::transform(*steps, std::back_inserter(walk), ops::read_step);
        return ops::reshape(arg, new_shape.sizes(), walk);
      },
      "arg"_a, "new_shape"_a, nb::kw_only(), "steps"_a = nb::none(),
      R"(The elements in row-major order under a new shape.

Parameters
----------
arg : TensorView
    Operand.
new_shape : list[int or Val]
    Shape of the result; one entry may be -1 and is then inferred.
steps : list[str], optional
    The merges and splits, as ``explain_reshape`` has them in ``transforms``, where it takes the
    sizes of a run to find them. `new_shape` has the sizes that they make then. A run is refused in
    which a split has a rest.

Raises
------
UserError
    If the numbers of elements differ whatever the sizes are, if more than one size is -1, or if
    `steps` do not lead to `new_shape`.
)");
  m.def(
      "reshape",
      nb::overload_cast<TensorView*, const std::vector<int64_t>&, const std::vector<int64_t>&>(
          &ops::reshape),
      "arg"_a, "original_shape"_a, "new_shape"_a,
      R"(The form of older programs, which repeats the shape of `arg`.
)");
  m.def(
      "flatten", &ops::flatten, "arg"_a, "start_dim"_a = 0, "end_dim"_a = -1,
      R"(Merge neighbouring dimensions.

Parameters
----------
arg : TensorView
    Operand.
start_dim, end_dim : int
    First and last dimension, both included; negative values count from the end.
)");
}

void bind_orders(OpModule& m) {
  m.def(
      "permute", &ops::permute, "arg"_a, "dims"_a,
      R"(Change the order of the dimensions.

Parameters
----------
arg : TensorView
    Operand.
dims : list[int]
    Dimension of `arg` that stands at each position of the result.
)");
  const char* transpose_doc = R"(Swap two dimensions; without positions those of a matrix.

Parameters
----------
arg : TensorView
    Operand.
dim0, dim1 : int
    Dimensions; negative values count from the end.
)";
  m.def(
      "transpose", nb::overload_cast<TensorView*, int64_t, int64_t>(&ops::transpose), "arg"_a,
      "dim0"_a, "dim1"_a, transpose_doc);
  m.def("transpose", nb::overload_cast<TensorView*>(&ops::transpose), "arg"_a, transpose_doc);
  m.def(
      "stride_order", &ops::stride_order, "arg"_a, "stride_order"_a,
      R"(A copy with another order in memory.

Parameters
----------
arg : TensorView
    Operand.
stride_order : list[int]
    Rank of every dimension's stride, 0 varies fastest.
)");
}

void bind_sizes(OpModule& m) {
  m.def(
      "size", &ops::size, "arg"_a, "dim"_a,
      R"(Extent of a dimension, the expanded one if it is expanded. Makes no node.

Parameters
----------
arg : TensorView
    Operand.
dim : int
    Dimension; negative values count from the end.
)");
  m.def(
      "shape", &ops::shape, nb::arg(),
      R"(All extents. Makes no node.

Parameters
----------
arg : TensorView
    Operand; positional only.
)");
}

} // namespace

void bind_shape_ops(OpModule& m) {
  bind_copies(m);
  bind_broadcasts(m);
  bind_reshapes(m);
  bind_orders(m);
  bind_sizes(m);
}

} // namespace nvfuser::python

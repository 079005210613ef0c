// Operations that take a part of a tensor, surround it, or put tensors behind each other.
#include "op_binding.h"
#include "ops/resize.h"

namespace nvfuser::python {
namespace {

void bind_slice(OpModule& m) {
  m.def(
      "slice",
      [](TensorView* arg, const ShapeArg& start_indices, const ShapeArg& end_indices,
         const std::optional<ShapeArg>& strides, bool manual_normalization, bool clip_ends) {
        // One after the other: constants are made in the order of the arguments.
        const std::vector<Val*> starts = start_indices.vals();
        const std::vector<Val*> stops = end_indices.vals();
        const std::vector<Val*> steps = strides ? strides->vals() : std::vector<Val*>{};
        if (strides && steps.empty()) {
          NVF_USER_CHECK(
              starts.empty(),
              "Slice start_indices and strides don't match! Start Indices: ", starts.size(),
              " Strides: 0");
        }
        return ops::slice(arg, starts, stops, steps, manual_normalization, clip_ends);
      },
      "arg"_a, "start_indices"_a, "end_indices"_a, "strides"_a = nb::none(),
      "manual_normalization"_a = false, "clip_ends"_a = true,
      R"(The elements with start <= position < end in each dimension.

Parameters
----------
arg : TensorView
    Operand of rank n.
start_indices, end_indices : list[int or Val]
    n positions each. Scalars that turn out negative count from the end, and all are clipped to
    [0, extent]; constants are not negative.
strides : list[int or Val], optional
    n times 1.
manual_normalization : bool
    Whether the positions are in order already: nothing counts from the end, and nothing is clipped
    but an end whose start is 0.
clip_ends : bool
    With manual_normalization: whether an end whose start is 0 is clipped. If not, a run is refused
    where the end is behind the operand, and the first element alone is a broadcast.

Returns
-------
TensorView
    A copy if it is the whole operand. A dimension of extent 1 is a broadcast if that is provable.

Raises
------
UserError
    If the lists have other lengths than n, a constant start is negative or behind its end, a
    stride is not 1, or ends are not clipped without manual_normalization.
)");
  m.def(
      "chunk", &ops::chunk, "arg"_a, "chunks"_a, "dim"_a = 0,
      R"(Split a tensor in parts of equal extent.

Parameters
----------
arg : TensorView
    Operand; its extent along `dim` is a constant.
chunks : int
    Number of parts, at most: each has ceil(extent / chunks) elements along `dim`, the last one
    what remains.
dim : int
    Dimension; negative values count from the end.

Returns
-------
list[TensorView]
    The parts in order.
)");
}

void bind_pad(OpModule& m) {
  m.def(
      "pad",
      [](TensorView* arg, const ShapeArg& pad_widths, const ScalarArg& value) {
        const std::vector<Val*> widths = pad_widths.vals();
        return ops::pad(arg, widths, value.val());
      },
      "arg"_a, "pad_widths"_a, "value"_a = nb::none(),
      R"(Surround a tensor by a value.

Parameters
----------
arg : TensorView
    Operand of rank n.
pad_widths : list[int or Val]
    Elements added before and behind each dimension, (left, right) pairs, the innermost dimension
    first; at most 2n. A negative width cuts off.
value : scalar Val or number, optional
    The element outside of `arg`, of the same class of numbers; zero by default.

Returns
-------
TensorView
    A copy if all widths are constants 0.

Raises
------
UserError
    If there are more than 2n widths or an odd number of them, or `value` is of another class.
)");
}

void bind_cat(OpModule& m) {
  m.def(
      "cat", &ops::cat, "tensors"_a, "dim"_a = 0, "manual_padding"_a = false,
      R"(Put tensors behind each other.

Parameters
----------
tensors : list[TensorView]
    Tensors of one dtype and rank, and of equal extents but along `dim`.
dim : int
    Dimension along which they lie; negative values count from the end.
manual_padding : bool
    Whether each is the result of a `pad` to the full extent already.

Returns
-------
TensorView
    Its extent along `dim` is the sum of theirs. A copy of the one tensor if there is only one, or
    the others are provably empty.

Raises
------
UserError
    If there is no tensor, dtypes or ranks differ, or `dim` is out of range.
)");
  m.def(
      "repeat", &ops::repeat, "arg"_a, "repeats"_a,
      R"(Repeat a tensor along its dimensions.

Parameters
----------
arg : TensorView
    Operand of rank n.
repeats : list[int]
    n numbers, at least 1: the extent of dimension i becomes repeats[i] times as large.
)");
  m.def(
      "view_as_real", &ops::view_as_real, "arg"_a,
      R"(Complex elements as pairs.

Parameters
----------
arg : TensorView
    Complex operand.

Returns
-------
TensorView
    Real and imaginary part along a new last dimension of extent 2.
)");
}

} // namespace

void bind_resize_ops(OpModule& m) {
  bind_slice(m);
  bind_pad(m);
  bind_cat(m);
}

} // namespace nvfuser::python

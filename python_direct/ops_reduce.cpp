// Operations that give fewer elements than they read.
#include "op_binding.h"
#include "ops/reduce.h"
#include "ops/variance.h"

namespace nvfuser::python {
namespace {

std::string reduction_doc(const char* summary, const char* axes) {
  return std::string(summary) + R"(

Parameters
----------
arg : TensorView
    Operand.
)" + axes +
         R"(dtype : DataType
    Convert to this type before reducing; Null: the type of the operand, Int for sums and products
    of integers and Bool.

Returns
-------
TensorView
    Reduced dimensions are gone, or have size 1 with `keepdim`.
)";
}

constexpr const char* kOneAxis = R"(dim : int
    Dimension to reduce; negative values count from the end.
keepdim : bool
    Keep the dimension with size 1.
)";

constexpr const char* kAxes = R"(dims : list[int]
    Dimensions to reduce; negative values count from the end.
keepdim : bool
    Keep the dimensions with size 1.
)";

template <typename All, typename Some>
void bind_reduction(OpModule& m, const char* name, All all, Some some, const char* summary) {
  m.def(name, all, "arg"_a, "dtype"_a = DataType::Null, reduction_doc(summary, "").c_str());
  m.def(
      name,
      [some](TensorView* arg, int64_t dim, bool keepdim, DataType dtype) {
        return some(arg, std::vector<int64_t>{dim}, keepdim, dtype);
      },
      "arg"_a, "dim"_a, "keepdim"_a = false, "dtype"_a = DataType::Null,
      reduction_doc(summary, kOneAxis).c_str());
  m.def(
      name, some, "arg"_a, "dims"_a, "keepdim"_a = false, "dtype"_a = DataType::Null,
      reduction_doc(summary, kAxes).c_str());
}

void bind_moments(OpModule& m) {
  const std::string axes = R"(

Parameters
----------
arg : TensorView
    Operand.
)" + std::string(kAxes);
  const std::string corrected = R"(

Parameters
----------
arg : TensorView
    Operand.
dims : list[int]
    Dimensions to reduce; negative values count from the end.
correction : int
    Subtracted from the number of elements.
keepdim : bool
    Keep the dimensions with size 1.
)";
  m.def(
      "mean", &ops::mean, "arg"_a, "dims"_a, "keepdim"_a = false,
      ("Sum of the elements over their number." + axes).c_str());
  m.def(
      "var", &ops::var, "arg"_a, "dims"_a, "correction"_a = 1, "keepdim"_a = false,
      ("Variance: squared deviations from the mean over (number - correction)." + corrected)
          .c_str());
  m.def(
      "standard_deviation", &ops::standard_deviation, "arg"_a, "dims"_a, "correction"_a = 1,
      "keepdim"_a = false, ("Square root of `var`." + corrected).c_str());
  m.def(
      "var_mean",
      [](TensorView* arg, const std::vector<int64_t>& dims, int64_t correction, bool keepdim) {
        const ops::VarMean result = ops::var_mean(arg, dims, correction, keepdim);
        return std::pair{result.var, result.mean};
      },
      "arg"_a, "dims"_a, "correction"_a = 1, "keepdim"_a = false,
      ("Variance and mean in one pass over the elements." + corrected +
       "\nReturns\n-------\nvar, mean : TensorView\n")
          .c_str());
  m.def(
      "welford",
      [](TensorView* arg, const std::vector<int64_t>& dims) {
        const ops::Welford result = ops::welford(arg, dims);
        return std::tuple{result.avg, result.var_sum, result.n};
      },
      "arg"_a, "dims"_a,
      R"(Mean, sum of squared deviations and count, by one expression.

Parameters
----------
arg : TensorView
    Operand: Float, Double, or a narrow float with a sign, for which kernels accumulate in Float.
dims : list[int]
    Dimensions to reduce; negative values count from the end.

Returns
-------
avg, var_sum, n : TensorView
    `n` has dtype Index, the others that of the operand.

Raises
------
UserError
    If `arg` has another dtype, has no dimensions, or `dims` is empty.
)");
}

} // namespace

void bind_reduce_ops(OpModule& m) {
#define NVF_BIND_REDUCTION(name, op, doc)                                                      \
  bind_reduction(                                                                              \
      m, #name, nb::overload_cast<TensorView*, DataType>(&ops::name),                          \
      nb::overload_cast<TensorView*, const std::vector<int64_t>&, bool, DataType>(&ops::name), \
      doc);
  NVF_FOR_EACH_REDUCTION_FUNCTION(NVF_BIND_REDUCTION)
#undef NVF_BIND_REDUCTION
  m.def(
      "sum_to",
      [](TensorView* arg, const ShapeArg& shape) { return ops::sum_to(arg, shape.sizes()); },
      "arg"_a, "shape"_a,
      R"(The sum that undoes a broadcast.

Parameters
----------
arg : TensorView
    Operand.
shape : list[int or Val]
    Shape of the result: dimensions before it are summed and removed, dimensions that have size 1
    there are summed and keep size 1.
)");
  bind_moments(m);
}

} // namespace nvfuser::python

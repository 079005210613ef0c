// Operations whose elements depend on all elements along one dimension.
#include "op_binding.h"
#include "ops/scan.h"
#include "ops/search.h"

namespace nvfuser::python {
namespace {

constexpr const char* kScanDoc = R"(

Parameters
----------
arg : TensorView
    Operand.
dim : int
    Dimension along which is combined; negative values count from the end.
init : scalar Val or number, optional
    Everything is combined with it; nothing if it is not given.

Returns
-------
TensorView
    Shape and dtype of `arg`. The running value of a sum or product of narrow floats is Float; each
    element is rounded once. A dimension of size one is copied.

Raises
------
UserError
    If `dim` is out of range or an expanded dimension.
)";

template <typename Fn>
void bind_scan(OpModule& m, const char* name, Fn fn, const char* summary) {
  m.def(
      name,
      [fn](TensorView* arg, int64_t dim, const ScalarArg& init) {
        return fn(arg, dim, init.val());
      },
      "arg"_a, "dim"_a, "init"_a = nb::none(), (std::string(summary) + kScanDoc).c_str());
}

void bind_scans(OpModule& m) {
#define NVF_BIND_SCAN(name, op, doc) bind_scan(m, #name, &ops::name, doc);
  NVF_FOR_EACH_SCAN_FUNCTION(NVF_BIND_SCAN)
#undef NVF_BIND_SCAN
  m.def(
      "scan",
      [](TensorView* arg, int64_t dim, BinaryOpType op, const ScalarArg& init) {
        return ops::scan(arg, dim, op, init.val());
      },
      "arg"_a, "dim"_a, "op"_a, "init"_a = nb::none(),
      R"(out[i] = op(init, arg[0], .., arg[i]) along one dimension.

Parameters
----------
arg : TensorView
    Operand.
dim : int
    Dimension along which is combined; negative values count from the end.
op : BinaryOpType
    Add, Mul, Max, Min, FMax or FMin.
init : scalar Val or number, optional
    Everything is combined with it; nothing if it is not given.

Returns
-------
TensorView
    As of `cumsum`.
)");
}

void bind_searches(OpModule& m) {
  m.def(
      "topk",
      [](TensorView* arg, const ScalarArg& k, int64_t dim, bool largest, bool sorted) {
        const ops::TopK result = ops::topk(arg, k.require(), dim, largest, sorted);
        return std::pair{result.values, result.indices};
      },
      "arg"_a, "k"_a, "dim"_a = -1, "largest"_a = true, "sorted"_a = false,
      R"(The largest elements along a dimension, and where they were.

NaN is greater than every number. Among equal elements any may come.

Parameters
----------
arg : TensorView
    Operand, not complex.
k : scalar Val or int
    How many, dtype Int.
dim : int
    Dimension; negative values count from the end.
largest : bool
    The largest; if not, the smallest.
sorted : bool
    In order; if not, the order is not defined.

Returns
-------
values, indices : TensorView
    `k` elements along `dim`; the indices have dtype Int.

Raises
------
UserError
    If `dim` is out of range, `k` is no Int or more than there are.
)");
  m.def(
      "argsort", &ops::argsort, "arg"_a, "dim"_a, "descending"_a = false, "stable"_a = false,
      R"(The positions that bring a tensor into order along a dimension.

NaN is greater than every number.

Parameters
----------
arg : TensorView
    Operand, not complex.
dim : int
    Dimension; negative values count from the end.
descending : bool
    The largest comes first.
stable : bool
    Equal elements keep their order.

Returns
-------
TensorView
    Shape of `arg`, dtype Int.
)");
}

} // namespace

void bind_search_ops(OpModule& m) {
  bind_scans(m);
  bind_searches(m);
}

} // namespace nvfuser::python

// Operators on tensors and scalars: each is a function of `ops`, with its promotion of dtypes.
//
// `==` and `!=` stay Python's own: handles are compared by identity, so that they can be keys,
// items and members of lists. Where Python asks for what is not known yet (the truth of a value,
// its length, its items), the error names what the definition can say instead.
#include "ir/all_nodes.h"
#include "ops/binary.h"
#include "ops/bitwise.h"
#include "ops/floor_divide.h"
#include "ops/matmul.h"
#include "ops/unary.h"

#include "all_or_nothing.h"
#include "bindings.h"

namespace nvfuser::python {
namespace {

using ValClass = nb::class_<Val, Statement>;
using TensorClass = nb::class_<TensorView, Val>;
using Unary = Val* (*)(Val*);
using Binary = Val* (*)(Val*, Val*);

/// Axes and domains are values too, but no operands.
Val* operand(Val* self) {
  if (!self->is_scalar() && !self->is_tensor()) {
    throw nb::next_overload();
  }
  return self;
}

struct Classes {
  ValClass val;
  TensorClass tensor;

  void unary(const char* name, Unary fn, const char* doc) {
    tensor.def(
        name, all_or_nothing([fn](TensorView* self) { return static_cast<TensorView*>(fn(self)); }),
        nb::is_operator(), doc);
    val.def(
        name, all_or_nothing([fn](Val* self) { return fn(operand(self)); }), nb::is_operator(),
        doc);
  }

  /// `name` has the handle on the left.
  void binary(const char* name, Binary fn, const char* doc) {
    tensor.def(
        name, all_or_nothing([fn](TensorView* self, TensorView* other) {
          return static_cast<TensorView*>(fn(self, other));
        }),
        nb::is_operator(), doc);
    tensor.def(
        name, all_or_nothing([fn](TensorView* self, const ScalarArg& other) {
          return static_cast<TensorView*>(fn(self, other.require()));
        }),
        nb::is_operator(), doc);
    val.def(
        name, all_or_nothing([fn](Val* self, TensorView* other) {
          return static_cast<TensorView*>(fn(operand(self), other));
        }),
        nb::is_operator(), doc);
    val.def(
        name, all_or_nothing([fn](Val* self, const ScalarArg& other) {
          Val* left = operand(self);
          return fn(left, other.require());
        }),
        nb::is_operator(), doc);
  }

  /// `name` has the handle on the right and a number on the left.
  void reflected(const char* name, Binary fn, const char* doc) {
    tensor.def(
        name, all_or_nothing([fn](TensorView* self, const PythonNumber& number) {
          return static_cast<TensorView*>(fn(ScalarArg(number).require(), self));
        }),
        nb::is_operator(), doc);
    val.def(
        name, all_or_nothing([fn](Val* self, const PythonNumber& number) {
          Val* right = operand(self);
          return fn(ScalarArg(number).require(), right);
        }),
        nb::is_operator(), doc);
  }
};

#define NVF_OP(name) [](Val* a, Val* b) -> Val* { return ops::name(a, b); }

void bind_binary_operators(Classes& classes) {
#define NVF_BIND_OPERATOR(name, op, doc)            \
  classes.binary("__" #name "__", NVF_OP(op), doc); \
  classes.reflected("__r" #name "__", NVF_OP(op), doc);
  NVF_BIND_OPERATOR(add, add, "`ops.add`.")
  NVF_BIND_OPERATOR(sub, sub, "`ops.sub`.")
  NVF_BIND_OPERATOR(mul, mul, "`ops.mul`.")
  NVF_BIND_OPERATOR(truediv, truediv, "`ops.truediv`: the quotient of integers is a Float.")
  NVF_BIND_OPERATOR(floordiv, floor_divide, "`ops.floor_divide`: rounded down.")
  NVF_BIND_OPERATOR(mod, remainder, "`ops.remainder`: with the sign of the right operand.")
  NVF_BIND_OPERATOR(pow, pow, "`ops.pow`.")
  NVF_BIND_OPERATOR(and, bitwise_and, "`ops.bitwise_and`.")
  NVF_BIND_OPERATOR(or, bitwise_or, "`ops.bitwise_or`.")
  NVF_BIND_OPERATOR(xor, bitwise_xor, "`ops.bitwise_xor`.")
  NVF_BIND_OPERATOR(lshift, bitwise_left_shift, "`ops.bitwise_left_shift`.")
  NVF_BIND_OPERATOR(rshift, bitwise_right_shift, "`ops.bitwise_right_shift`.")
#undef NVF_BIND_OPERATOR
  classes.binary("__lt__", NVF_OP(lt), "`ops.lt`.");
  classes.binary("__le__", NVF_OP(le), "`ops.le`.");
  classes.binary("__gt__", NVF_OP(gt), "`ops.gt`.");
  classes.binary("__ge__", NVF_OP(ge), "`ops.ge`.");
  classes.tensor.def(
      "__matmul__",
      all_or_nothing([](TensorView* self, TensorView* other) { return ops::matmul(self, other); }),
      nb::is_operator(), "`ops.matmul`.");
}

#undef NVF_OP

void bind_unary_operators(Classes& classes) {
#define NVF_OP(name) [](Val* x) -> Val* { return ops::name(x); }
  classes.unary("__neg__", NVF_OP(neg), "`ops.neg`.");
  classes.unary("__abs__", NVF_OP(abs), "`ops.abs`.");
  classes.unary("__invert__", NVF_OP(bitwise_not), "`ops.bitwise_not`.");
#undef NVF_OP
  classes.unary("__pos__", [](Val* x) { return x; }, "The same value.");
}

[[noreturn]] void refuse(const Val& self, const char* question, const char* fix) {
  const char* const found = self.is_tensor()   ? "a tensor of a definition"
                            : self.is_scalar() ? "a scalar of a definition"
                                               : "an axis, or a domain of axes";
  throw UserError(
      {.headline = {question},
       .node = describe(self),
       .expected = {"a value of Python; elements and scalars of a fusion have none before a run"},
       .found = {found},
       .fix = {fix}},
      ErrorKind::Type);
}

/// About the parts of a value: `fix` is for tensors, others have none.
[[noreturn]] void refuse_parts(const Val& self, const char* question, const char* fix) {
  if (self.is_tensor()) {
    refuse(self, question, fix);
  }
  refuse(
      self, question,
      self.is_scalar() ? "a scalar is one number; lists of them are x.shape() of a tensor and "
                         "fd.define_vector(n)"
                       : "axis.extent() is the size of an axis; x.loop() and x.logical() are the "
                         "lists of axes of a tensor");
}

/// Questions that Python asks of a value, and a definition cannot answer.
void bind_refused_questions(ValClass& cls) {
  cls.def(
         "__bool__",
         [](const Val& self) {
           if (self.is_scalar() || self.is_tensor()) {
             refuse(
                 self, "A value of a fusion is neither true nor false while the fusion is defined",
                 "choose between elements with ops.where(condition, a, b), join conditions with & "
                 "and |, ask for None with `is None`, and for a constant with .value()");
           }
           return true;
         },
         nb::sig("def __bool__(self) -> bool"),
         "An error for tensors and scalars: no run has decided them. True for axes and domains.")
      .def(
          "__len__",
          [](const Val& self) -> size_t {
            refuse_parts(
                self, "A value of a fusion has no length",
                "x.ndim is the number of dimensions, x.size(0) the size of the first one");
          },
          nb::sig("def __len__(self) -> typing.NoReturn"),
          "An error: sizes are values of a run, ``x.size(0)``.")
      .def(
          "__iter__",
          [](const Val& self) -> nb::object {
            refuse_parts(
                self, "A value of a fusion cannot be iterated over",
                "operations work on all elements at once; x.shape() lists the sizes, ops.chunk "
                "cuts a tensor into parts, and a list of one tensor is [x]");
          },
          nb::sig("def __iter__(self) -> typing.NoReturn"), "An error: elements come with a run.")
      .def(
          "__contains__",
          [](const Val& self, const nb::object&) -> bool {
            refuse_parts(
                self, "The elements of a value of a fusion are not known while it is defined",
                "x.shape() lists the sizes; compare elements with ops.eq(x, item)");
          },
          "item"_a, nb::sig("def __contains__(self, item: object) -> typing.NoReturn"),
          "An error: elements come with a run.")
      .def(
          "__getitem__",
          [](const Val& self, const nb::object&) -> nb::object {
            refuse_parts(
                self, "A value of a fusion cannot be indexed with []",
                "ops.slice(x, starts, ends) takes a part, ops.select(x, index, dim) one position, "
                "ops.index_select and ops.gather positions of a tensor");
          },
          "index"_a, nb::sig("def __getitem__(self, index: object) -> typing.NoReturn"),
          "An error: parts of tensors are operations.");
  // NumPy's scalars leave the operator to the handle.
  cls.attr("__array_ufunc__") = nb::none();
}

} // namespace

void bind_operators(nb::module_& m) {
  Classes classes{
      nb::borrow<ValClass>(m.attr("Val")), nb::borrow<TensorClass>(m.attr("TensorView"))};
  bind_binary_operators(classes);
  bind_unary_operators(classes);
  bind_refused_questions(classes.val);
}

} // namespace nvfuser::python

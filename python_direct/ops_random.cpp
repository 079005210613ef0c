// Operations that make random tensors.
#include "op_binding.h"
#include "ops/random.h"

namespace nvfuser::python {
namespace {

constexpr const char* kStreamDoc = R"(rng_seed, rng_offset : scalar Val or int, optional
    With both, the result is a function of them and of the position in `shape`. Offsets are
    independent of each other. Without, both come from PyTorch's generator of the device at each run.
dtype : DataType
    Double, Float, Half or BFloat16. 16-bit floats are drawn as Float and rounded.

Raises
------
UserError
    For another dtype, or one of `rng_seed` and `rng_offset` alone.
)";

using Distribution =
    TensorView* (*)(Val*, Val*, const std::vector<Val*>&, ops::RandomStream, DataType);

void bind_distribution(
    OpModule& m,
    const char* name,
    Distribution make,
    const char* first,
    const char* second,
    const std::string& doc) {
  m.def(
      name,
      [make](
          const ScalarArg& a, const ScalarArg& b, const ShapeArg& shape, const ScalarArg& seed,
          const ScalarArg& offset, DataType dtype) {
        Val* low = a.require();
        Val* high = b.require();
        const std::vector<Val*> sizes = shape.sizes();
        Val* key = seed.val();
        return make(low, high, sizes, {key, offset.val()}, dtype);
      },
      nb::arg(first), nb::arg(second), "shape"_a, nb::kw_only(), "rng_seed"_a = nb::none(),
      "rng_offset"_a = nb::none(), "dtype"_a = DataType::Float, (doc + kStreamDoc).c_str());
}

using Standard = TensorView* (*)(const std::vector<Val*>&, DataType, ops::RandomStream);

void bind_standard(OpModule& m, const char* name, Standard make, const char* doc) {
  m.def(
      name,
      [make](
          const ShapeArg& shape, DataType dtype, const ScalarArg& seed, const ScalarArg& offset) {
        const std::vector<Val*> sizes = shape.sizes();
        Val* key = seed.val();
        return make(sizes, dtype, {key, offset.val()});
      },
      "shape"_a, "dtype"_a = DataType::Float, "seed"_a = nb::none(), "offset"_a = nb::none(), doc);
}

void bind_like(OpModule& m, const char* name, TensorView* (*make)(TensorView*), const char* doc) {
  m.def(
      name, make, "x"_a,
      (std::string(doc) + R"(

Parameters
----------
x : TensorView
    Gives the shape and the dtype, which must be floating point.

Returns
-------
TensorView
    Seed and offset come from PyTorch's generator of the device at each run.
)")
          .c_str());
}

} // namespace

void bind_random_ops(OpModule& m) {
  bind_distribution(
      m, "uniform", &ops::uniform, "minval", "maxval",
      R"(Uniformly distributed random numbers.

Parameters
----------
minval, maxval : scalar Val or number
    Bounds; `maxval` itself does not occur.
shape : list[int or Val]
    Shape of the result.
)");
  bind_distribution(
      m, "normal", &ops::normal, "mean", "std",
      R"(Normally distributed random numbers.

Parameters
----------
mean, std : scalar Val or number
    Mean and standard deviation.
shape : list[int or Val]
    Shape of the result.
)");
  bind_standard(m, "rand", &ops::rand, "As `uniform` in [0, 1).");
  bind_standard(m, "randn", &ops::randn, "As `normal` with mean 0 and standard deviation 1.");
  bind_like(
      m, "rand_like", &ops::rand_like, "Random numbers in [0, 1), in the shape of another tensor.");
  bind_like(
      m, "randn_like", &ops::randn_like,
      "Random numbers with mean 0 and standard deviation 1, in the shape of another tensor.");
}

} // namespace nvfuser::python

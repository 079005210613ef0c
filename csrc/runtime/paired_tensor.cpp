#include "runtime/paired_tensor.h"

#include <algorithm>

#include "base/errors.h"

namespace nvfuser {
namespace {

constexpr size_t kNoDim = static_cast<size_t>(-1);

/// The dimension a user sees that is innermost in memory; kNoDim for a tensor without any.
size_t innermost_dim(const TensorView* tensor) {
  const IterDomains memory = memory_axes(tensor);
  const IterDomains logical = logical_axes(tensor);
  if (memory.empty()) {
    return kNoDim;
  }
  const Val* id = memory.back();
  for (;;) {
    const auto found = std::find(logical.begin(), logical.end(), id);
    if (found != logical.end()) {
      return static_cast<size_t>(found - logical.begin());
    }
    NVF_INVARIANT(
        id->definition() != nullptr, "memory axes are made of logical ones: ", describe(tensor));
    id = id->definition()->inputs().back(); // what was split; the inner one of what was merged
  }
}

size_t paired_dim(const TensorView* tensor, const std::string& what) {
  const size_t dim = innermost_dim(tensor);
  if (dim == kNoDim) {
    throw UserError({
        .headline = {what, " is a single fp4 number, which is no tensor outside of a kernel"},
        .node = describe(tensor),
        .expected = {"a dimension along which pairs share a byte"},
        .found = {"a tensor without dimensions"},
        .fix = {"cast it to Float"},
    });
  }
  return dim;
}

} // namespace

DataType framework_dtype(DataType dtype) {
  switch (dtype) {
    case DataType::Index: return DataType::Int;
    case DataType::Float4_e2m1fn: return DataType::Float4_e2m1fn_x2;
    default: return dtype;
  }
}

UnpairedArguments::UnpairedArguments(const Fusion& fusion, std::span<const Argument> args)
    : args_(args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const auto* tensor = std::get_if<TensorArg>(&args[i]);
    if (tensor == nullptr || tensor->dtype != DataType::Float4_e2m1fn_x2) {
      continue;
    }
    if (unpaired_.empty()) {
      unpaired_.assign(args.begin(), args.end());
      args_ = unpaired_;
    }
    const auto* input = static_cast<const TensorView*>(fusion.inputs()[i]);
    const std::vector<int64_t>& layout = unpaired_layout(i, input, *tensor);
    auto& elements = std::get<TensorArg>(unpaired_[i]);
    elements.size_data = layout.data();
    elements.stride_data = layout.data() + tensor->rank;
    elements.dtype = DataType::Float4_e2m1fn;
  }
}

const std::vector<int64_t>& UnpairedArguments::unpaired_layout(
    size_t i, const TensorView* input, const TensorArg& tensor) {
  const size_t dim = paired_dim(input, "Input " + std::to_string(i));
  const int64_t stride = tensor.strides()[dim];
  if (stride != 1 && tensor.sizes()[dim] > 1 && !tensor.is_empty()) {
    throw UserError({
        .headline = {"Input ", i, " has pairs of fp4 that are not next to each other"},
        .node = describe(input),
        .expected = {"stride 1 (pairs) in dimension ", dim, ", which is innermost in memory"},
        .found = {"stride ", stride, " of ", tensor.str()},
        .fix = {"pass a contiguous tensor"},
    });
  }
  std::vector<int64_t>& layout = layouts_.emplace_back();
  for (const std::span<const int64_t> numbers : {tensor.sizes(), tensor.strides()}) {
    layout.insert(layout.end(), numbers.begin(), numbers.end());
  }
  const auto rank = static_cast<size_t>(tensor.rank);
  layout[dim] *= 2;
  for (size_t k = rank; k < 2 * rank; ++k) {
    layout[k] *= 2;
  }
  layout[rank + dim] = 1;
  return layout;
}

void pair_up(const TensorView* tensor, BufferLayout& layout) {
  const size_t dim = paired_dim(tensor, "An output");
  const bool is_expanded = layout.strides[dim] == 0 && layout.elements > 0;
  if (layout.sizes[dim] % 2 != 0 || is_expanded) {
    throw UserError({
        .headline =
            {"An output of dtype ", text(DataType::Float4_e2m1fn),
             is_expanded ? " cannot be expanded in its innermost dimension"
                         : " needs an even size in its innermost dimension"},
        .node = describe(tensor),
        .expected = {"pairs of elements, which share a byte, along dimension ", dim},
        .found = {"size ", layout.sizes[dim], is_expanded ? ", one element in memory" : ""},
        .fix = {"pad the dimension, or cast to a type of whole bytes"},
    });
  }
  layout.sizes[dim] /= 2;
  for (int64_t& stride : layout.strides) {
    stride /= 2; // even: steps over whole rows of pairs
  }
  layout.strides[dim] = 1;
  layout.elements /= 2;
}

} // namespace nvfuser

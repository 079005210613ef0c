#include "runtime/signature.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "ir/domain_exprs.h"

namespace nvfuser {
namespace {

void add_number(const ScalarValue& value, Signature& words) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    words.push_back(*number);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    words.push_back(*flag ? 1 : 0);
  } else {
    const std::complex<double> number = as_complex(value);
    words.push_back(std::bit_cast<int64_t>(number.real()));
    words.push_back(std::bit_cast<int64_t>(number.imag()));
  }
}

} // namespace

std::vector<bool> find_shape_scalars(const Fusion& fusion) {
  std::vector<const Val*> pending;
  for (const Val* val : fusion.vals()) {
    if (val->vtype() != ValType::IterDomain) {
      continue;
    }
    const auto* id = static_cast<const IterDomain*>(val);
    for (const Val* part : {id->start(), id->extent(), id->expanded_extent()}) {
      pending.push_back(part);
    }
    if (const Expr* definition = id->definition()) {
      definition->for_each_attr([&](const char*, const AttrValue& value) {
        if (const auto* operand = std::get_if<Val*>(&value)) {
          pending.push_back(*operand);
        }
      });
    }
  }
  std::unordered_set<const Val*> seen; // only looked up
  while (!pending.empty()) {
    const Val* val = pending.back();
    pending.pop_back();
    if (val == nullptr || !val->is_scalar() || !seen.insert(val).second) {
      continue;
    }
    if (const Expr* definition = val->definition()) {
      pending.insert(pending.end(), definition->inputs().begin(), definition->inputs().end());
    }
  }
  std::vector<bool> result;
  for (const Val* input : fusion.inputs()) {
    result.push_back(seen.count(input) != 0);
  }
  return result;
}

void add_arguments(
    std::span<const Argument> args, const std::vector<bool>& sizes_depend_on, Signature& words) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (const auto* tensor = std::get_if<TensorArg>(&args[i])) {
      const size_t begin = words.size();
      words.resize(begin + 1 + 2 * static_cast<size_t>(tensor->rank));
      int64_t* next = words.data() + begin;
      *next++ = int64_t{tensor->rank} | (int64_t{tensor->device.index} << 16) |
                (static_cast<int64_t>(tensor->device.kind) << 32) |
                (static_cast<int64_t>(tensor->dtype) << 40) | (int64_t{1} << 48);
      next = std::copy_n(tensor->size_data, tensor->rank, next);
      std::copy_n(tensor->stride_data, tensor->rank, next);
      continue;
    }
    const auto& number = std::get<ScalarArg>(args[i]);
    const size_t kind =
        number.is_large_unsigned ? std::variant_size_v<ScalarValue> : number.value.index();
    words.push_back(-1 - static_cast<int64_t>(kind));
    if (i < sizes_depend_on.size() && sizes_depend_on[i]) {
      add_number(number.value, words);
    }
  }
}

} // namespace nvfuser

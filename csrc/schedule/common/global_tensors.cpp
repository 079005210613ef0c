#include "schedule/common/global_tensors.h"

#include <algorithm>

#include "ir/fusion.h"

namespace nvfuser::schedule {
namespace {

TensorView* cache_input(TensorView* input) {
  if (input->logical().empty()) {
    return nullptr;
  }
  const std::vector<Expr*> readers = elementwise_uses(input);
  if (readers.empty()) {
    return nullptr;
  }
  const bool are_all = readers.size() == input->uses().size();
  return input->cache_after(
      LoadStoreOpType::Set, CacheOp::Unspecified, true, are_all ? std::vector<Expr*>{} : readers);
}

/// The output, as another tensor if it was read.
TensorView* fork_output(TensorView* output) {
  return output->uses().empty() ? output : output->cache_fork();
}

/// The output, which becomes a copy of what is computed.
TensorView* cache_output(TensorView* tensor) {
  TensorView* output = fork_output(tensor);
  if (output == tensor) {
    static_cast<void>(output->cache_before());
  }
  return output;
}

} // namespace

std::vector<TensorView*> cache_global_tensors(
    const std::vector<TensorAccess>& accesses, const std::vector<TensorView*>& read_in_place) {
  std::vector<TensorView*> moved;
  for (const TensorAccess& access : accesses) {
    if (access.is_output) {
      moved.push_back(cache_output(access.tensor));
      continue;
    }
    const bool is_loaded = std::ranges::find(read_in_place, access.tensor) == read_in_place.end();
    moved.push_back(is_loaded ? cache_input(access.tensor) : nullptr);
  }
  return moved;
}

std::vector<MovedTensor> cache_for_each_reader(const std::vector<TensorAccess>& accesses) {
  std::vector<MovedTensor> moved;
  for (size_t i = 0; i < accesses.size(); ++i) {
    TensorView* tensor = accesses[i].tensor;
    if (accesses[i].is_output) {
      moved.push_back({cache_output(tensor), i});
      continue;
    }
    for (Expr* use : tensor->logical().empty() ? std::vector<Expr*>{} : elementwise_uses(tensor)) {
      TensorView* load =
          tensor->cache_after(LoadStoreOpType::Set, CacheOp::Unspecified, true, {use});
      moved.push_back({load, i});
    }
  }
  return moved;
}

std::vector<TensorView*> fork_outputs(const std::vector<TensorAccess>& accesses) {
  std::vector<TensorView*> moved;
  for (const TensorAccess& access : accesses) {
    moved.push_back(access.is_output ? fork_output(access.tensor) : nullptr);
  }
  return moved;
}

void vectorize_access(TensorView* moved, int64_t width, int64_t lanes) {
  if (width <= 1) {
    return;
  }
  int64_t at = moved->ndims() - 1;
  while (at > 0 && moved->axis(at)->is_broadcast()) {
    --at; // what the reference lacks stands behind its loops
  }
  if (at != moved->ndims() - 1) {
    moved->reorder(std::unordered_map<int64_t, int64_t>{{at, -1}});
  }
  if (width < lanes) {
    moved->axis(-1)->parallelize(ParallelType::Serial); // whatever the lanes of others are
    moved->split(-1, width);
  }
  moved->axis(-1)->parallelize(ParallelType::Vectorize);
}

std::vector<TensorView*> lookup_loads(const std::vector<LookupAccess>& lookups) {
  std::vector<TensorView*> loads;
  for (const LookupAccess& lookup : lookups) {
    const bool is_stored = lookup.result->is_fusion_output(); // a copy of what is looked up
    loads.push_back(is_stored ? lookup.result->producers().front() : lookup.result);
  }
  return loads;
}

void check_widths(
    const std::vector<int64_t>& widths,
    const std::vector<TensorAccess>& accesses,
    const std::vector<LookupAccess>& lookups) {
  if (widths.size() != accesses.size() + lookups.size()) {
    throw UserError(
        {.headline = "vector_widths has one number for each access",
         .node = Part::none(),
         .expected =
             {accesses.size() + lookups.size(),
              ": tensor inputs that are read, then outputs, then slices, pads and gathers"},
         .found = widths.size(),
         .fix = "an empty list is as wide as the layouts allow"});
  }
}

std::vector<TensorView*> computed_without(
    const Fusion& fusion, const std::vector<TensorView*>& excluded) {
  std::vector<TensorView*> tensors = fusion.tensors();
  std::erase_if(tensors, [&](const TensorView* tensor) {
    return tensor->is_fusion_input() || std::ranges::find(excluded, tensor) != excluded.end();
  });
  return tensors;
}

} // namespace nvfuser::schedule

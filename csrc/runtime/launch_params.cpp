#include "runtime/launch_params.h"

#include <sstream>

#include "base/errors.h"

namespace nvfuser {
namespace {

/// In the order of kThreadParallelTypes.
constexpr const char* kDimNames[] = {"gdimx", "gdimy", "gdimz", "bdimx", "bdimy", "bdimz"};

} // namespace

LaunchParams::LaunchParams(
    int64_t gdimx, int64_t gdimy, int64_t gdimz, int64_t bdimx, int64_t bdimy, int64_t bdimz)
    : dims_{gdimx, gdimy, gdimz, bdimx, bdimy, bdimz} {
  check();
}

int64_t LaunchParams::raw(ParallelType type) const {
  return dims_[thread_type_index(type)];
}

int64_t LaunchParams::get(ParallelType type) const {
  const int64_t value = raw(type);
  return value == kUnset ? 1 : value;
}

void LaunchParams::bind(ParallelType type, int64_t value) {
  const size_t dim = thread_type_index(type);
  if (dims_[dim] != kUnset && dims_[dim] != value) {
    throw UserError(Part(
        "Tried to set ", kDimNames[dim], " from ", dims_[dim], " to ", value,
        ", but it was already set and new value does not match."
        " Thread dims all have to be bound to the same value."));
  }
  LaunchParams next = *this;
  next.dims_[dim] = value;
  next.check();
  *this = next;
}

void LaunchParams::check() const {
  for (size_t dim = 0; dim < dims_.size(); ++dim) {
    // 0 blocks stand for an empty result: such a kernel is not launched.
    const int64_t least = dim < kGridDimTypes.size() ? 0 : 1;
    NVF_USER_CHECK(
        dims_[dim] >= least || dims_[dim] == kUnset, "Invalid value of ", kDimNames[dim], ": ",
        dims_[dim]);
  }
  constexpr const char* kAxis[] = {"x", "y", "z"};
  for (size_t dim = 0; dim < kGridDimTypes.size(); ++dim) {
    NVF_USER_CHECK(
        dims_[dim] <= (dim == 0 ? kMaxGridX : kMaxGridYZ), "Invalid number of blocks in ",
        kAxis[dim], " direction: ", dims_[dim]);
  }
  // Dimension by dimension, so that the product cannot overflow.
  int64_t threads = 1;
  for (const ParallelType type : kBlockDimTypes) {
    threads = threads > kMaxThreadsPerBlock || get(type) > kMaxThreadsPerBlock
                  ? std::max(threads, get(type))
                  : threads * get(type);
  }
  NVF_USER_CHECK(
      threads <= kMaxThreadsPerBlock, "Selected invalid number of threads for cuda: ", threads);
  NVF_USER_CHECK(
      bdimz() <= kMaxThreadsZ, "Selected invalid number of threads for cuda: ", bdimz(),
      " in z direction, at most ", kMaxThreadsZ);
}

std::string LaunchParams::to_string() const {
  std::ostringstream out;
  out << "Launch Parameters: BlockDim.x = " << dims_[3] << ", BlockDim.y = " << dims_[4]
      << ", BlockDim.z = " << dims_[5] << ", GridDim.x = " << dims_[0]
      << ", GridDim.y = " << dims_[1] << ", GridDim.z = " << dims_[2]
      << ", Smem Size = " << smem_bytes_ << "\n";
  return out.str();
}

} // namespace nvfuser

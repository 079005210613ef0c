#include "base/launch_params.h"

#include <sstream>

#include "base/errors.h"

namespace nvfuser {
namespace {

constexpr const char* kAxis[] = {"x", "y", "z"};

/// "gdimx"
std::string dim_name(ParallelType type) {
  return std::string(is_grid_dim(type) ? "gdim" : "bdim") +
         kAxis[static_cast<size_t>(traits_of(type).dim)];
}

} // namespace

LaunchParams::LaunchParams(
    int64_t gdimx, int64_t gdimy, int64_t gdimz, int64_t bdimx, int64_t bdimy, int64_t bdimz)
    : dims_{
          .grid = {gdimx, gdimy, gdimz},
          .block = {bdimx, bdimy, bdimz},
          .cluster = {kUnset, kUnset, kUnset}} {
  check(of_caller);
}

int64_t LaunchParams::raw(ParallelType type) const {
  return dims_[type];
}

int64_t LaunchParams::get(ParallelType type) const {
  const int64_t value = raw(type);
  return value == kUnset ? 1 : value;
}

void LaunchParams::bind(ParallelType type, int64_t value, const Origin& origin) {
  if (is_set(type) && raw(type) != value) {
    throw UserError(Part(
        "Tried to set ", dim_name(type), " from ", raw(type), " to ", value,
        ", but it was already set and new value does not match."
        " Thread dims all have to be bound to the same value."));
  }
  LaunchParams next = *this;
  next.dims_[type] = value;
  next.check(origin);
  *this = next;
}

std::string LaunchParams::of_caller(std::span<const ParallelType> /*types*/) {
  return "LaunchParams";
}

void LaunchParams::check(const Origin& origin) const {
  for (const ParallelType type : kHardwareTypes) {
    // 0 blocks stand for an empty result: such a kernel is not launched.
    const int64_t least = is_grid_dim(type) ? 0 : 1;
    NVF_USER_CHECK(
        raw(type) >= least || !is_set(type), "Invalid value of ", dim_name(type), ": ", raw(type));
  }
  check_blocks(origin);
  check_threads(origin);
}

void LaunchParams::check_blocks(const Origin& origin) const {
  for (size_t dim = 0; dim < dims_.grid.size(); ++dim) {
    const int64_t most = dim == 0 ? kMaxGridX : kMaxGridYZ;
    if (dims_.grid[dim] <= most) {
      continue;
    }
    throw UserError({
        .headline = {"Invalid number of blocks in ", kAxis[dim], " direction: ", dims_.grid[dim]},
        .node = origin({&kGridDimTypes[dim], 1}),
        .expected = {"at most ", most, " blocks in ", kAxis[dim], " direction"},
        .found = {dims_.grid[dim]},
        .fix =
            {dim == 0 ? "split the axis"
                      : "bind the axis to grid_x, which takes more blocks, or split it",
             " and bind one part, so that a block loops over the other"},
    });
  }
}

void LaunchParams::check_threads(const Origin& origin) const {
  // Dimension by dimension, so that the product cannot overflow.
  int64_t threads = 1;
  for (const ParallelType type : kBlockDimTypes) {
    threads = threads > kMaxThreadsPerBlock || get(type) > kMaxThreadsPerBlock
                  ? std::max(threads, get(type))
                  : threads * get(type);
  }
  if (threads > kMaxThreadsPerBlock) {
    throw UserError({
        .headline = {"Selected invalid number of threads for cuda: ", threads},
        .node = origin(kBlockDimTypes),
        .expected = {"at most ", kMaxThreadsPerBlock, " threads in a block"},
        .found = {bdimx(), " x ", bdimy(), " x ", bdimz(), " threads"},
        .fix = {"split the axis, as in split(axis, 256), and bind the inner part to the threads, "
                "the outer one to blocks or a loop"},
    });
  }
  if (bdimz() > kMaxThreadsZ) {
    throw UserError({
        .headline =
            {"Selected invalid number of threads for cuda: ", bdimz(), " in z direction, at most ",
             kMaxThreadsZ},
        .node = origin({&kBlockDimTypes[2], 1}),
        .expected = {"at most ", kMaxThreadsZ, " threads in z direction"},
        .found = {bdimz()},
        .fix = {"bind the axis to block_x or block_y, or split it and bind the smaller part"},
    });
  }
}

std::string LaunchParams::to_string() const {
  std::ostringstream out;
  out << "Launch Parameters: ";
  const auto add = [&](const char* name, const std::array<int64_t, 3>& sizes) {
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      out << name << "." << kAxis[dim] << " = " << sizes[dim] << ", ";
    }
  };
  add("BlockDim", dims_.block);
  add("GridDim", dims_.grid);
  if (dims_.cluster != LaunchParams().dims_.cluster) { // unset: blocks form no clusters
    add("ClusterDim", dims_.cluster);
  }
  out << "Smem Size = " << smem_bytes_ << "\n";
  return out.str();
}

} // namespace nvfuser

// LaunchParams: the size of a grid and of its blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/launch_dims.h"
#include "base/target.h"
#include "base/types.h"

namespace nvfuser {

class LaunchParams {
 public:
  static constexpr int64_t kUnset = -1;
  static constexpr int64_t kMaxThreadsPerBlock = Target::cuda().max_threads_per_block;
  static constexpr int64_t kMaxThreadsZ = Target::cuda().max_threads_z;
  static constexpr int64_t kMaxGridX = (int64_t{1} << 31) - 1;
  static constexpr int64_t kMaxGridYZ = 65535;

  LaunchParams() = default;
  LaunchParams(
      int64_t gdimx, int64_t gdimy, int64_t gdimz, int64_t bdimx, int64_t bdimy, int64_t bdimz);

  // -- unset dimensions read as 1; setting is `bind` --
  [[nodiscard]] int64_t gdimx() const {
    return get(ParallelType::BIDx);
  }
  [[nodiscard]] int64_t gdimy() const {
    return get(ParallelType::BIDy);
  }
  [[nodiscard]] int64_t gdimz() const {
    return get(ParallelType::BIDz);
  }
  [[nodiscard]] int64_t bdimx() const {
    return get(ParallelType::TIDx);
  }
  [[nodiscard]] int64_t bdimy() const {
    return get(ParallelType::TIDy);
  }
  [[nodiscard]] int64_t bdimz() const {
    return get(ParallelType::TIDz);
  }

  /// The size of a hardware index; 1 if unset.
  [[nodiscard]] int64_t get(ParallelType type) const;
  /// The size of a hardware index; kUnset if unset.
  [[nodiscard]] int64_t raw(ParallelType type) const;
  [[nodiscard]] bool is_set(ParallelType type) const {
    return raw(type) != kUnset;
  }
  [[nodiscard]] bool is_any_set() const {
    return *this != LaunchParams();
  }
  /// Says what sizes come from, for an error.
  using Origin = std::function<std::string(std::span<const ParallelType>)>;
  /// Set a dimension. One that is set already only takes the value it has.
  void bind(ParallelType type, int64_t value, const Origin& origin = of_caller);

  [[nodiscard]] int64_t num_blocks() const {
    return gdimx() * gdimy() * gdimz();
  }
  [[nodiscard]] int64_t num_threads() const { // of a block
    return bdimx() * bdimy() * bdimz();
  }
  /// Dynamic shared memory of a block, bytes.
  [[nodiscard]] int64_t smem_bytes() const {
    return smem_bytes_;
  }
  void set_smem_bytes(int64_t bytes) {
    smem_bytes_ = bytes;
  }
  /// Blocks of a cluster, all of them along x; 1 if blocks form none.
  [[nodiscard]] int64_t cluster_size() const {
    return dims_.cluster[0] == kUnset ? 1 : dims_.cluster[0];
  }
  void set_cluster_size(int64_t blocks) {
    dims_.cluster = {kUnset, kUnset, kUnset};
    if (blocks > 1) {
      dims_.cluster = {blocks, 1, 1};
    }
  }
  /// Sizes of the grid, of its blocks and of clusters of blocks; kUnset where unset.
  [[nodiscard]] const LaunchDims<int64_t>& dims() const {
    return dims_;
  }

  bool operator==(const LaunchParams&) const = default;
  [[nodiscard]] std::string to_string() const;

 private:
  static std::string of_caller(std::span<const ParallelType> types);
  void check(const Origin& origin) const;
  void check_blocks(const Origin& origin) const;
  void check_threads(const Origin& origin) const;

  LaunchDims<int64_t> dims_{
      .grid = {kUnset, kUnset, kUnset},
      .block = {kUnset, kUnset, kUnset},
      .cluster = {kUnset, kUnset, kUnset}};
  int64_t smem_bytes_ = 0;
};

} // namespace nvfuser

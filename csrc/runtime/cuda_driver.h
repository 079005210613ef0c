// The CUDA driver, opened at run time: a table of the functions that are used, and the few facts
// about a device that launching needs. Types and values are those of the driver's stable C ABI.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/refusal.h"

namespace nvfuser {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUgraphNode = struct CUgraphNode_st*;

enum CudaLaunchAttribute : int {
  kLaunchCooperative = 2,
  kLaunchClusterDimension = 4,
  kLaunchProgrammaticStreamSerialization = 6,
};

/// As the driver's ABI has them.
struct CUlaunchAttribute {
  int id = 0;
  int padding = 0;
  std::array<unsigned, 16> value{}; // a union of 64 bytes
};
struct CUlaunchConfig {
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  CUlaunchAttribute* attributes = nullptr;
  unsigned num_attributes = 0;
};
struct CUgraphKernelNode {
  CUfunction function = nullptr;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;      // instead of a function
  CUcontext context = nullptr; // nullptr: the current one
};
struct CUgraphEdge {
  uint8_t from_port = 0;
  uint8_t to_port = 0;
  uint8_t type = 0;
  std::array<uint8_t, 5> reserved{};
};
/// The second kernel may begin when the first one lets it.
inline constexpr CUgraphEdge kProgrammaticEdge = {.from_port = 1, .to_port = 0, .type = 1};
static_assert(offsetof(CUgraphKernelNode, parameters) == 40 && sizeof(CUgraphKernelNode) == 72);
static_assert(sizeof(CUlaunchAttribute) == 72);
static_assert(offsetof(CUlaunchConfig, stream) == 32 && sizeof(CUlaunchConfig) == 56);

/// A tensor as bulk copies see it; what is in it is the driver's.
struct alignas(64) CUtensorMap {
  std::array<uint64_t, 16> opaque{};
};

/// X(name, exported symbol, parameters). Every function returns a CUresult.
// clang-format off: it takes the pointers for products
#define NVF_FOR_EACH_DRIVER_FUNCTION(X)                                                         \
  X(init, "cuInit", (unsigned flags))                                                           \
  X(driver_get_version, "cuDriverGetVersion", (int* version))                                   \
  X(get_error_name, "cuGetErrorName", (CUresult error, const char** text))                      \
  X(get_error_string, "cuGetErrorString", (CUresult error, const char** text))                  \
  X(device_get_count, "cuDeviceGetCount", (int* count))                                         \
  X(device_get, "cuDeviceGet", (CUdevice* device, int ordinal))                                \
  X(device_get_name, "cuDeviceGetName", (char* name, int length, CUdevice device))              \
  X(device_get_attribute, "cuDeviceGetAttribute", (int* value, int attribute, CUdevice device)) \
  X(device_total_mem, "cuDeviceTotalMem_v2", (size_t* bytes, CUdevice device))                  \
  X(primary_ctx_retain, "cuDevicePrimaryCtxRetain", (CUcontext* context, CUdevice device))     \
  X(ctx_get_current, "cuCtxGetCurrent", (CUcontext* context))                                  \
  X(ctx_push_current, "cuCtxPushCurrent_v2", (CUcontext context))                               \
  X(ctx_pop_current, "cuCtxPopCurrent_v2", (CUcontext* context))                               \
  X(module_load_data_ex, "cuModuleLoadDataEx",                                                  \
    (CUmodule* module, const void* image, unsigned num_options, int* options, void** values))  \
  X(module_unload, "cuModuleUnload", (CUmodule module))                                         \
  X(module_get_function, "cuModuleGetFunction",                                                 \
    (CUfunction* function, CUmodule module, const char* name))                                 \
  X(func_get_attribute, "cuFuncGetAttribute", (int* value, int attribute, CUfunction function)) \
  X(func_set_attribute, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))  \
  X(occupancy_max_active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                 \
    (int* blocks, CUfunction function, int block_size, size_t smem_bytes))                      \
  X(memset_d8_async, "cuMemsetD8Async",                                                         \
    (CUdeviceptr data, unsigned char value, size_t bytes, CUstream stream))                     \
  X(memcpy_dtod_async, "cuMemcpyDtoDAsync_v2",                                                  \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                          \
  X(stream_is_capturing, "cuStreamIsCapturing", (CUstream stream, int* status))                 \
  X(stream_get_id, "cuStreamGetId", (CUstream stream, unsigned long long* id))                  \
  X(event_create, "cuEventCreate", (CUevent* event, unsigned flags))                           \
  X(event_destroy, "cuEventDestroy_v2", (CUevent event))                                        \
  X(event_record, "cuEventRecord", (CUevent event, CUstream stream))                            \
  X(stream_wait_event, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned flags))  \
  X(event_synchronize, "cuEventSynchronize", (CUevent event))                                   \
  X(event_elapsed_time, "cuEventElapsedTime",                                                   \
    (float* milliseconds, CUevent begin, CUevent end))                                          \
  X(launch_kernel, "cuLaunchKernel",                                                            \
    (CUfunction function, unsigned gdimx, unsigned gdimy, unsigned gdimz, unsigned bdimx,       \
     unsigned bdimy, unsigned bdimz, unsigned smem_bytes, CUstream stream, void** parameters,   \
     void** extra))                                                                             \
  X(launch_cooperative_kernel, "cuLaunchCooperativeKernel",                                     \
    (CUfunction function, unsigned gdimx, unsigned gdimy, unsigned gdimz, unsigned bdimx,       \
     unsigned bdimy, unsigned bdimz, unsigned smem_bytes, CUstream stream, void** parameters))
/// The same for functions that came with clusters and bulk copies, and of graphs of these:
/// nullptr in older drivers.
#define NVF_FOR_EACH_HOPPER_FUNCTION(X)                               \
  X(graph_create, "cuGraphCreate", (CUgraph* graph, unsigned flags))                             \
  X(graph_add_kernel_node, "cuGraphAddKernelNode_v2",                                            \
    (CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t num_after,               \
     const CUgraphKernelNode* description))                                                      \
  X(graph_add_dependencies, "cuGraphAddDependencies_v2",                                         \
    (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdge* edges,    \
     size_t count))                                                                              \
  X(graph_node_set_attribute, "cuGraphKernelNodeSetAttribute",                                   \
    (CUgraphNode node, int attribute, const void* value))                                        \
  X(graph_instantiate, "cuGraphInstantiateWithFlags",                                            \
    (CUgraphExec* executable, CUgraph graph, unsigned long long flags))                          \
  X(graph_exec_set_parameters, "cuGraphExecKernelNodeSetParams_v2",                              \
    (CUgraphExec executable, CUgraphNode node, const CUgraphKernelNode* description))            \
  X(graph_launch, "cuGraphLaunch", (CUgraphExec executable, CUstream stream))                    \
  X(graph_exec_destroy, "cuGraphExecDestroy", (CUgraphExec executable))                          \
  X(graph_destroy, "cuGraphDestroy", (CUgraph graph))                                            \
  X(occupancy_max_active_clusters, "cuOccupancyMaxActiveClusters",     \
    (int* clusters, CUfunction function, const CUlaunchConfig* config)) \
  X(launch_kernel_ex, "cuLaunchKernelEx",                              \
    (const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra))       \
  X(tensor_map_encode_tiled, "cuTensorMapEncodeTiled",                                           \
    (CUtensorMap* map, int type, unsigned rank, void* address, const uint64_t* extents,          \
     const uint64_t* byte_strides, const unsigned* box, const unsigned* element_strides,         \
     int interleave, int swizzle, int l2_promotion, int fill))                                   \
  X(tensor_map_replace_address, "cuTensorMapReplaceAddress", (CUtensorMap* map, void* address))
// clang-format on

enum CudaFunctionAttribute : int {
  kFuncMaxThreads = 0,
  kFuncStaticSharedBytes = 1,
  kFuncLocalBytes = 3,
  kFuncRegisters = 4,
  kFuncMaxDynamicSharedBytes = 8,
  kFuncAllowsLargeClusters = 14,
};

/// Facts of a device, asked for once.
struct CudaDeviceInfo {
  std::string name;
  int major = 0;
  int minor = 0;
  int num_sms = 0;
  int max_shared_bytes = 0;     // of a block, after opting in
  int default_shared_bytes = 0; // of a block, without opting in
  int max_shared_bytes_per_sm = 0;
  int reserved_shared_bytes = 0; // of a block, taken by the system
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int registers_per_block = 0;
  int registers_per_sm = 0;
  int warp_size = 32;
  int l2_bytes = 0;
  int memory_clock_khz = 0; // CudaDriver::memory_clock_khz
  int memory_bus_bits = 0;
  bool has_cooperative_launch = false;
  size_t memory_bytes = 0;
  CUcontext context = nullptr; // the primary context
};

class CudaDriver {
 public:
  /// The driver; nullptr where there is none or no device, `reason` says why.
  [[nodiscard]] static const CudaDriver* maybe_get(std::string* reason = nullptr);
  /// The driver; a UserError where there is none.
  [[nodiscard]] static const CudaDriver& get();

#define NVF_DRIVER_MEMBER(name, symbol, parameters) CUresult(*name) parameters = nullptr;
  NVF_FOR_EACH_DRIVER_FUNCTION(NVF_DRIVER_MEMBER)
  NVF_FOR_EACH_HOPPER_FUNCTION(NVF_DRIVER_MEMBER)
#undef NVF_DRIVER_MEMBER

  /// Whether it launches clusters of blocks.
  [[nodiscard]] bool has_clusters() const {
    return occupancy_max_active_clusters != nullptr && launch_kernel_ex != nullptr;
  }
  /// Whether it describes tensors to bulk copies.
  [[nodiscard]] bool has_tensor_maps() const {
    return tensor_map_encode_tiled != nullptr && tensor_map_replace_address != nullptr;
  }
  /// CUDA version of the driver: 12040 is 12.4.
  [[nodiscard]] int version() const {
    return version_;
  }
  [[nodiscard]] int num_devices() const {
    return static_cast<int>(devices_.size());
  }
  /// Facts about a device; its primary context exists from the first call on.
  [[nodiscard]] const CudaDeviceInfo& device(int index) const;
  /// The clock of a device's memory: asked for when it is needed, since that may take a
  /// millisecond.
  [[nodiscard]] int memory_clock_khz(int index) const;
  /// The primary context of a device; nullptr before the first call of `device` for it.
  [[nodiscard]] CUcontext known_context(int index) const {
    if (index < 0 || index >= num_devices()) {
      return nullptr;
    }
    return std::atomic_ref<CUcontext>(devices_[static_cast<size_t>(index)].context)
        .load(std::memory_order_acquire);
  }
  /// Says no to an index without a device, and where it gets no context.
  [[nodiscard]] std::optional<Refusal> find_missing_context(int index) const;
  /// Whether a CUDA graph is being captured on `stream`.
  [[nodiscard]] bool is_capturing(CUstream stream) const;
  /// A number that no other stream of the context gets. Not the handle: that of the default stream
  /// per thread stands for one of each thread. The driver is not asked about the legacy stream.
  [[nodiscard]] unsigned long long number_of(CUstream stream) const;
  /// Says no, and names `what`, unless `result` is success.
  [[nodiscard]] std::optional<Refusal> find_failure(CUresult result, const char* what) const;
  /// The same as a UserError.
  void check(CUresult result, const char* what) const {
    if (result != 0) {
      throw_refusal(*find_failure(result, what));
    }
  }

 private:
  CudaDriver() = default;
  /// Says no where there is no driver, or one that finds no device.
  [[nodiscard]] std::optional<Refusal> load();
  [[nodiscard]] std::optional<Refusal> read_facts(CudaDeviceInfo& info, CUdevice device) const;

  int version_ = 0;
  mutable std::vector<CudaDeviceInfo> devices_;
};

/// Makes a device's primary context current in this thread for a scope; nothing to do if it is.
class CudaContextGuard {
 public:
  /// For code that gives back what it holds, perhaps when the process goes down: a context that
  /// cannot be made current is no error.
  enum class Failure : uint8_t { Thrown, Ignored };

  CudaContextGuard(const CudaDriver& driver, int device, Failure failure = Failure::Thrown)
      : driver_(driver) {
    CUcontext current = nullptr;
    entered_ = driver.ctx_get_current(&current) == 0 && current != nullptr &&
               current == driver.known_context(device);
    if (!entered_) { // seldom: most threads work on one device
      enter(device, failure);
    }
  }
  ~CudaContextGuard();
  CudaContextGuard(const CudaContextGuard&) = delete;
  CudaContextGuard& operator=(const CudaContextGuard&) = delete;

  /// Whether the context is current.
  [[nodiscard]] bool is_entered() const {
    return entered_;
  }
  /// Whether it was current before: not in a context for a part of the device.
  [[nodiscard]] bool was_current() const {
    return entered_ && !pushed_;
  }

 private:
  void enter(int device, Failure failure);
  [[nodiscard]] std::optional<Refusal> try_enter(int device);

  const CudaDriver& driver_;
  bool entered_ = false;
  bool pushed_ = false;
};

} // namespace nvfuser

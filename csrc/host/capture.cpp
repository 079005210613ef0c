#include "host/capture.h"

#include "runtime/cuda_driver.h"

namespace nvfuser::host {

std::optional<Refusal> find_capture(Device device, OutputAllocator& allocator) {
  const CudaDriver* driver = device.is_cuda() ? CudaDriver::maybe_get() : nullptr;
  if (driver == nullptr) {
    return std::nullopt;
  }
  const CudaContextGuard guard(*driver, device.index);
  constexpr int kNone = 0; // CU_STREAM_CAPTURE_STATUS_NONE
  int status = kNone;
  auto* stream = static_cast<CUstream>(allocator.current_stream(device));
  // Where the driver does not tell, a launch on the stream will say why.
  if (driver->stream_is_capturing(stream, &status) != 0 || status == kNone) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"No kernel is compiled while a CUDA graph is captured"},
      .node = Part::none(),
      .expected = {"inputs of sizes, strides, types and alignments that the fusion was executed "
                   "with before"},
      .found = {"inputs that are new, and a stream that is being captured on ", device.str()},
      .fix = {"execute the fusion once with such inputs before the capture"},
  });
}

} // namespace nvfuser::host

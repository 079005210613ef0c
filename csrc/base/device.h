// Device: where a tensor lies and where a kernel runs.
#pragma once

#include <cstdint>
#include <string>

namespace nvfuser {

/// Other: a device that this project has no target for.
enum class DeviceKind : uint8_t { Cpu, Cuda, Other };

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  int32_t index = 0; // always 0 for the CPU

  bool operator==(const Device&) const = default;
  [[nodiscard]] bool is_cpu() const {
    return kind == DeviceKind::Cpu;
  }
  [[nodiscard]] bool is_cuda() const {
    return kind == DeviceKind::Cuda;
  }
  /// "cpu", "cuda:0"
  [[nodiscard]] std::string str() const {
    switch (kind) {
      case DeviceKind::Cpu: return "cpu";
      case DeviceKind::Cuda: return "cuda:" + std::to_string(index);
      case DeviceKind::Other: break;
    }
    return "other:" + std::to_string(index);
  }
  [[nodiscard]] static Device cpu() {
    return {};
  }
  [[nodiscard]] static Device cuda(int32_t index) {
    return {DeviceKind::Cuda, index};
  }
};

} // namespace nvfuser

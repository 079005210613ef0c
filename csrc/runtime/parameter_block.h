// ParameterBlock: the parameters of the kernels of one run, in one piece of memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nvfuser {

/// Its memory is kept by the thread from run to run: a launch copies what it needs. A nested run in
/// the same thread has its own, since a CPU kernel reads parameters while it runs.
class ParameterBlock {
 public:
  /// `bytes`: what does not differ from run to run; `offsets`: where each parameter starts.
  ParameterBlock(std::span<const std::byte> bytes, std::span<const size_t> offsets) {
    own_.bytes.swap(kept().bytes);
    own_.addresses.swap(kept().addresses);
    own_.bytes.assign(bytes.begin(), bytes.end());
    own_.addresses.clear();
    for (const size_t offset : offsets) {
      own_.addresses.push_back(own_.bytes.data() + offset);
    }
  }
  ~ParameterBlock() {
    own_.bytes.swap(kept().bytes);
    own_.addresses.swap(kept().addresses);
  }
  ParameterBlock(const ParameterBlock&) = delete;
  ParameterBlock& operator=(const ParameterBlock&) = delete;

  [[nodiscard]] std::byte* bytes() {
    return own_.bytes.data();
  }
  [[nodiscard]] std::span<const std::byte> view() const {
    return own_.bytes;
  }
  /// The address of each parameter.
  [[nodiscard]] void** addresses() {
    return own_.addresses.data();
  }

 private:
  struct Memory {
    std::vector<std::byte> bytes;
    std::vector<void*> addresses;
  };
  static Memory& kept() {
    static thread_local Memory memory;
    return memory;
  }

  Memory own_;
};

} // namespace nvfuser

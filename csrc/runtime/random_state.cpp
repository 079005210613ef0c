#include "runtime/random_state.h"

#include <mutex>

#include "base/errors.h"

namespace nvfuser {
namespace {

std::mutex source_mutex;

std::shared_ptr<RandomSource>& current_source() {
  static auto& source = *new std::shared_ptr<RandomSource>(); // outlives threads that run kernels
  return source;
}

} // namespace

RandomKeys keys_of(uint64_t seed) {
  RandomKeys keys{};
  auto first = static_cast<uint32_t>(seed);
  auto second = static_cast<uint32_t>(seed >> 32U);
  for (size_t round = 0; round < keys.size() / 2; ++round) {
    keys[2 * round] = first;
    keys[2 * round + 1] = second;
    first += 0x9e3779b9U;
    second += 0xbb67ae85U;
  }
  return keys;
}

void set_random_source(std::shared_ptr<RandomSource> source) {
  const std::lock_guard lock(source_mutex);
  current_source() = std::move(source);
}

RandomState draw_random_state(Device device, int64_t streams) {
  std::shared_ptr<RandomSource> source;
  {
    const std::lock_guard lock(source_mutex);
    source = current_source();
  }
  NVF_USER_CHECK(
      source != nullptr,
      "A random tensor has no seed, and no framework is there to give it one: pass rng_seed and "
      "rng_offset.");
  return source->draw(device, streams);
}

} // namespace nvfuser

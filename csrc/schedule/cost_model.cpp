#include "schedule/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/register_file.h"

namespace nvfuser::schedule {
namespace {

// Measured on an H200: a copy takes 7 us and 1 us for each 4.26 MB.
constexpr double kFixedUs = 7;
constexpr double kBytesOfUs = 4.26e6 / 132; // of a multiprocessor
constexpr double kSlotsOfUs = 128 * 1755.0; // lanes times clocks
constexpr double kSpecialOfUs = kSlotsOfUs / 8;
constexpr double kBlockBarrierUs = 0.4; // with a wait for the slowest warp
constexpr double kGridBarrierUs = 3;
constexpr int64_t kMostBlocksOfSm = 32;

int64_t resident_blocks(const KernelFigures& figures, const Target& target) {
  const int64_t threads = std::max<int64_t>(figures.threads, 1);
  const int64_t by_registers =
      blocks_with_registers(target, threads, std::max<int64_t>(figures.registers, 1));
  const int64_t by_threads = target.max_threads_per_sm / threads;
  const int64_t by_shared =
      target.shared_bytes_per_sm / (figures.shared_bytes + target.reserved_shared_bytes);
  return std::min({by_registers, by_threads, by_shared, kMostBlocksOfSm});
}

double bytes_of(const TensorView* tensor, const RunFacts& facts) {
  auto bytes = static_cast<double>(size_bytes(tensor->dtype()));
  for (const IterDomain* axis : tensor->logical()) {
    if (!axis->is_broadcast() && !axis->is_reduction()) {
      bytes *= static_cast<double>(facts.size(axis->extent()));
    }
  }
  return bytes;
}

} // namespace

double traffic_bytes(const FusionSummary& summary, const RunFacts& facts) {
  double bytes = 0;
  for (const auto* tensors : {&summary.inputs(), &summary.outputs()}) {
    for (const TensorView* tensor : *tensors) {
      bytes += bytes_of(tensor, facts);
    }
  }
  return bytes;
}

CostEstimate estimate_cost(const KernelFigures& figures, const Target& target) {
  CostEstimate cost;
  cost.blocks_of_sm = resident_blocks(figures, target);
  const auto sms = static_cast<double>(std::max<int64_t>(target.num_sms, 1));
  const auto blocks = static_cast<double>(std::max<int64_t>(figures.blocks, 1));
  const double resident = sms * static_cast<double>(std::max<int64_t>(cost.blocks_of_sm, 1));
  cost.waves = blocks / resident;
  // Before the first wave is full, what counts is whether each multiprocessor has as many blocks.
  const double round = cost.waves >= 1 ? cost.waves : blocks / sms;
  cost.efficiency = round / std::ceil(round);

  const double blocks_of_sm =
      std::min(static_cast<double>(cost.blocks_of_sm), std::ceil(blocks / sms));
  cost.bytes_in_flight = blocks_of_sm * static_cast<double>(
                                            figures.threads * figures.load_bytes_of_thread +
                                            figures.load_bytes_of_block);
  const double flight = std::min(1.0, std::max(cost.bytes_in_flight, 1.0) / kFullFlight);
  cost.memory_us = figures.traffic_bytes / (kBytesOfUs * sms * flight);
  cost.issue_us = figures.elements * figures.of_element.slots / (kSlotsOfUs * sms);
  cost.special_us = figures.elements * figures.of_element.mufu / (kSpecialOfUs * sms);
  // Where a block waits, the others of its multiprocessor go on.
  const double exposed = 1 / std::max(blocks_of_sm, 1.0);
  cost.barriers_us = std::ceil(cost.waves) * figures.block_barriers * kBlockBarrierUs * exposed +
                     figures.grid_barriers * kGridBarrierUs;
  cost.total_us = kFixedUs +
                  std::max({cost.memory_us, cost.issue_us, cost.special_us}) / cost.efficiency +
                  cost.barriers_us;
  return cost;
}

const char* CostEstimate::bound() const {
  if (memory_us >= std::max(issue_us, special_us)) {
    return bytes_in_flight < kFullFlight ? "latency" : "memory";
  }
  return issue_us >= special_us ? "issue" : "special functions";
}

std::string CostEstimate::to_string() const {
  char text[320];
  static_cast<void>(std::snprintf(
      text, sizeof(text),
      "%.1f us, bound by %s: memory %.1f, issue %.1f, special functions %.1f, barriers %.1f us; "
      "%lld blocks of a multiprocessor, %.1f KB in flight, %.2f waves, efficiency %.2f",
      total_us, bound(), memory_us, issue_us, special_us, barriers_us,
      static_cast<long long>(blocks_of_sm), bytes_in_flight / 1024, waves, efficiency));
  return text;
}

} // namespace nvfuser::schedule

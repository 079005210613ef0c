#include "host/tuned_schedules.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <variant>

#include "ir/all_nodes.h"
#include "ir/serialize.h"
#include "runtime/cuda_driver.h"
#include "runtime/kernel_cache.h"
#include "runtime/kernel_store.h"

namespace nvfuser::host {
namespace {

/// The version of the bytes of a record: the cap of registers, then the scheduled fusion.
constexpr const char* kForm = "nvfuser tuned 2";

std::string text_of(std::span<const std::byte> bytes) {
  std::string text(bytes.size(), '\0');
  std::memcpy(text.data(), bytes.data(), bytes.size());
  return text;
}

std::string machine_of(Device device) {
  std::string text;
  if (device.is_cuda()) {
    const CudaDriver& driver = CudaDriver::get();
    text = driver.device(device.index).name + " " + std::to_string(driver.version()) + " ";
  }
  return text + compiler_of(device);
}

/// The key of an entry without contents. It is there if some definition has a record for these
/// decisions, so that most look-ups need no bytes of their definition.
std::string mark_of(const std::string& decisions, Device device) {
  std::string key = kForm;
  for (const std::string& part : {decisions, machine_of(device)}) {
    key += '\n';
    key += part;
  }
  return key;
}

std::string key_of(const Fusion& definition, const std::string& decisions, Device device) {
  std::string key = mark_of(decisions, device);
  key += '\n';
  key += text_of(serialize(definition));
  return key;
}

/// Whether random numbers come from the generator: bytes forget which tensor draws from which of
/// its streams, and a process that reads them would draw others.
bool draws_numbers(const Fusion& fusion) {
  return std::ranges::any_of(fusion.exprs(), [](const Expr* expr) {
    const auto* op = expr->as<RNGOp>();
    return op != nullptr && op->seed == nullptr;
  });
}

} // namespace

void store_tuned(const Fusion& definition, const HandSchedule& schedule, Device device) {
  if (draws_numbers(definition)) {
    return;
  }
  int64_t cap = schedule.compile_params.maxrregcount;
  std::string payload(sizeof(cap), '\0');
  std::memcpy(payload.data(), &cap, sizeof(cap));
  payload += text_of(serialize(*schedule.fusion));
  KernelCache& records = KernelCache::tuned();
  records.store(key_of(definition, schedule.decisions, device), payload);
  records.store(mark_of(schedule.decisions, device), "");
}

std::optional<HandSchedule> find_tuned(
    const Fusion& definition, const std::string& decisions, Device device) {
  KernelCache& records = KernelCache::tuned();
  if (!records.is_enabled() || !records.find(mark_of(decisions, device))) {
    return std::nullopt;
  }
  const auto payload = records.find(key_of(definition, decisions, device));
  int64_t cap = 0;
  if (!payload || payload->size() < sizeof(cap)) {
    return std::nullopt;
  }
  std::memcpy(&cap, payload->data(), sizeof(cap));
  auto fusion = try_deserialize(std::as_bytes(std::span(*payload)).subspan(sizeof(cap)));
  if (std::holds_alternative<Refusal>(fusion)) { // by another build of the library
    return std::nullopt;
  }
  CompileParams params;
  params.maxrregcount = cap;
  return HandSchedule{
      .fusion = std::get<std::shared_ptr<Fusion>>(std::move(fusion)),
      .decisions = decisions,
      .origin = kTunedOrigin,
      .compile_params = params};
}

} // namespace nvfuser::host

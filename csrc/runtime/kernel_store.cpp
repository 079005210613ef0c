#include "runtime/kernel_store.h"

#include <utility>

#include "base/environment.h"
#include "base/options.h"
#include "base/trace.h"
#include "ir/all_nodes.h"
#include "ir/serialize.h"
#include "runtime/build_id.h"
#include "runtime/host_compiler.h"
#include "runtime/kernel_cache.h"
#include "runtime/launch_recipe_bytes.h"

namespace nvfuser {
namespace {

/// The version of the bytes of facts; other builds never read them.
constexpr const char* kForm = "nvfuser facts 3";

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Whether compiling does nothing but make kernels.
bool may_be_skipped() {
  const auto options = current_options();
  return !std::get<OptionSet<DumpOption>>(*options).any() && !environment().verifies_passes &&
         environment_text("NVFUSER_EXTERNAL_SRC").empty() && !build_id().empty();
}

bool may_be_skipped(const KernelRequest& request) {
  return may_be_skipped() && request.params.include_paths.empty() &&
         !request.params.enable_ptxas_verbose;
}

template <typename Option>
void add_options(std::string& text) {
  const auto all = current_options();
  const auto& set = std::get<OptionSet<Option>>(*all);
  for (size_t i = 0; i < kNumOptions<Option>; ++i) {
    const auto option = static_cast<Option>(i);
    if (set.has(option)) {
      text += std::string(" ") + option_name(option);
      for (const std::string& arg : set.args(option)) {
        text += "," + arg;
      }
    }
  }
  text += '\n';
}

/// A new member of Target does not compile until it is named here.
std::string text_of(const Target& target) {
  const auto& [kind, threads, async, bulk, cooperative, architecture, sms, threads_of_block, threads_z, shared, registers_of_block, granularity, parameters, cluster, threads_of_sm, shared_of_sm, reserved, registers_of_sm, slots, registers_of_thread, local, warp, vector, l2] =
      target;
  std::string text = target.name();
  for (const int64_t fact :
       {int64_t{threads},
        int64_t{async},
        int64_t{bulk},
        int64_t{cooperative},
        architecture,
        sms,
        threads_of_block,
        threads_z,
        shared,
        registers_of_block,
        granularity,
        parameters,
        cluster,
        threads_of_sm,
        shared_of_sm,
        reserved,
        registers_of_sm,
        slots,
        registers_of_thread,
        local,
        warp,
        vector,
        l2}) {
    text += " " + std::to_string(fact);
  }
  static_cast<void>(kind); // the name
  return text + "\n";
}

} // namespace

std::string compiler_of(Device device) {
  if (device.is_cuda()) {
    std::string text = Nvrtc::files();
    for (const auto& number : {environment().max_registers, environment().jit_opt_level}) {
      text += number ? std::to_string(*number) + " " : "- ";
    }
    return text;
  }
  return HostCompiler::files() + host_cpu_id();
}

std::string environment_of_facts(Device device) {
  if (!KernelCache::facts().may_find() || !may_be_skipped()) {
    return "";
  }
  std::string text = build_id() + "\n" + text_of(target_of(device)) + "\n";
  add_options<EnableOption>(text);
  add_options<DisableOption>(text);
  return text + compiler_of(device);
}

std::string digest_of_definition(const Fusion& definition) {
  const Digest bytes = digest(definition);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

KernelStore::KernelStore(std::shared_ptr<const ScheduledFusion> fusion, const LaunchWords& words)
    : fusion_(std::move(fusion)), words_(words) {}

std::string KernelStore::key(const std::string& kind, const KernelRequest& request) {
  const std::string environment = environment_of_facts(request.device);
  if (environment.empty() || !may_be_skipped(request)) {
    return "";
  }
  if (digest_.empty()) {
    const TraceSpan span("digest " + request.name);
    digest_ = digest_of_definition(*fusion_->definition()) + "\n" + fusion_->name();
  }
  std::string key;
  for (const std::string& part : {std::string(kForm), kind, digest_, request.key(), environment}) {
    key += part;
    key += '\n';
  }
  return key;
}

/// One for all code of the fusion on a target.
std::string KernelStore::chooser_key(KernelRequest request) {
  if (!may_be_skipped(request)) {
    return "";
  }
  request.choice = {};
  request.params = {};
  return key("chooser", request);
}

std::optional<CodeChooser> KernelStore::find_chooser(const KernelRequest& request) {
  const std::string key = chooser_key(request);
  const auto facts = key.empty() ? std::nullopt : KernelCache::facts().find(key);
  if (!facts) {
    return std::nullopt;
  }
  ByteReader bytes(bytes_of(*facts));
  CodeChooser chooser = CodeChooser::read(bytes, words_);
  return bytes.is_good() && bytes.num_left() == 0 ? std::optional(std::move(chooser))
                                                  : std::nullopt;
}

void KernelStore::store(const CodeChooser& chooser, const KernelRequest& request) {
  const std::string key = chooser_key(request);
  if (!key.empty()) {
    ByteWriter bytes;
    chooser.write(bytes);
    KernelCache::facts().store(key, bytes.str());
  }
}

std::shared_ptr<const CompiledKernel> KernelStore::find_code(const KernelRequest& request) {
  const std::string key = this->key("code", request);
  const auto facts = key.empty() ? std::nullopt : KernelCache::facts().find(key);
  if (!facts) {
    return nullptr;
  }
  const TraceSpan span("read " + request.name);
  const Stopwatch watch;
  ByteReader bytes(bytes_of(*facts));
  auto code = std::make_shared<CompiledKernel>(fusion_, request);
  code->recipe = read_recipe(bytes, *fusion_->definition(), words_);
  const auto text = [&] {
    std::string text;
    for (size_t i = bytes.count(); i > 0; --i) {
      text += static_cast<char>(bytes.byte());
    }
    return text;
  };
  const std::string cache_name = text();
  const std::string function_name = text();
  const std::string architecture = text();
  if (!bytes.is_good() || bytes.num_left() > 0) {
    return nullptr;
  }
  if (request.device.is_cuda()) {
    code->cuda = CudaCode::find(cache_name, function_name, architecture);
  } else {
    code->cpu = CpuCode::find(cache_name, function_name);
  }
  code->compilation_ms = watch.milliseconds();
  code->compiled_at = std::chrono::steady_clock::now();
  return code->cuda != nullptr || code->cpu != nullptr ? code : nullptr;
}

void KernelStore::store(const CompiledKernel& code, const KernelRequest& request) {
  const std::string cache_name =
      code.cuda != nullptr ? code.cuda->cache_name() : code.cpu->cache_name();
  const std::string key = this->key("code", request);
  if (key.empty() || cache_name.empty()) {
    return;
  }
  ByteWriter bytes;
  write_recipe(bytes, code.recipe);
  const std::string architecture = code.cuda != nullptr ? code.cuda->architecture() : "";
  for (const std::string* text : {&cache_name, &code.function_name(), &architecture}) {
    bytes.number(text->size());
    for (const char letter : *text) {
      bytes.byte(static_cast<uint8_t>(letter));
    }
  }
  KernelCache::facts().store(key, bytes.str());
}

} // namespace nvfuser

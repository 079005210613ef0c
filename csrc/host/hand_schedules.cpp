#include "host/hand_schedules.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "base/errors.h"
#include "base/text_diff.h"
#include "host/definition_texts.h"

namespace nvfuser::host {
namespace {

/// All that were kept, by the text of the definition; the last one first in line.
struct Kept {
  std::mutex mutex;
  std::unordered_map<std::string, std::vector<std::shared_ptr<const HandSchedule>>> by_definition;
  std::set<const HandSchedule*> seen; // used, or told to be of no use
  std::atomic<bool> has_any = false;
};

Kept& kept() {
  static auto& schedules = *new Kept(); // outlives threads that compile
  return schedules;
}

std::string unscheduled_text(const Fusion& fusion) {
  auto* const print = definition_texts().unscheduled;
  NVF_INVARIANT(print != nullptr, "schedules of users are compared as texts");
  return print(fusion);
}

/// "# Registers: at most 64": empty where compilers decide.
std::string registers_line(const CompileParams& params) {
  const bool is_capped = params.maxrregcount != CompileParams().maxrregcount;
  return is_capped ? "# Registers: at most " + std::to_string(params.maxrregcount) + "\n" : "";
}

} // namespace

std::string decisions_of(const Candidates::Params& proposed, DeviceKind device) {
  std::string text = device == DeviceKind::Cuda ? "cuda" : "cpu";
  if (proposed != nullptr) {
    char hash[20];
    std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(proposed->hash()));
    text += std::string(" ") + enum_name(proposed->scheduler_type()) + " " + std::string(hash, 8);
  }
  return text;
}

std::string schedule_text(
    const PieceReport& report, size_t segment, size_t num_segments, DeviceKind device) {
  const DefinitionTexts& texts = definition_texts();
  std::ostringstream out;
  out << "# Segment " << segment << " of " << num_segments << ": ";
  if (report.way.kernel == nullptr) {
    out << (report.way.kind == Way::Kind::View ? "a view, no kernel" : "evaluated by PyTorch")
        << "\n\n"
        << texts.definition(*report.fusion);
    return out.str();
  }
  out << "kernel " << report.way.kernel->identity().name() << "\n"
      << "# Decisions: " << decisions_of(report.proposed, device) << "\n"
      << registers_line(report.way.kernel->compile_params()) << "\n"
      << texts.scheduled(*report.way.kernel->scheduled());
  return out.str();
}

std::optional<Refusal> find_other_definition(
    const Fusion& definition, const Fusion& scheduled, const std::string& origin) {
  const std::string wanted = unscheduled_text(definition);
  const std::string found = unscheduled_text(scheduled);
  if (wanted == found && !wanted.empty()) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"The schedule is for another computation than the segment's"},
      .node = {origin},
      .expected = {"the definition of the segment, with any schedule behind it"},
      .found = {"lines that differ (- segment, + schedule):\n", text_diff(wanted, found)},
      .fix = {"take the text from fd.fec.schedules(inputs) again, and edit what is behind "
              "fd.add_output"},
  });
}

void keep_hand_schedule(HandSchedule schedule) {
  std::string text = unscheduled_text(*schedule.fusion);
  const std::lock_guard lock(kept().mutex);
  kept().by_definition[std::move(text)].push_back(
      std::make_shared<const HandSchedule>(std::move(schedule)));
  kept().has_any = true;
}

bool has_hand_schedules() {
  return kept().has_any.load(std::memory_order_relaxed);
}

std::shared_ptr<const HandSchedule> find_hand_schedule(
    const Fusion& definition, const std::string& decisions) {
  const std::string text = unscheduled_text(definition);
  if (text.empty()) {
    return nullptr;
  }
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().by_definition.find(text);
  if (found == kept().by_definition.end()) {
    return nullptr;
  }
  for (size_t i = found->second.size(); i-- > 0;) {
    const auto& schedule = found->second[i];
    if (schedule->decisions.empty() || schedule->decisions == decisions) {
      kept().seen.insert(schedule.get());
      return schedule;
    }
  }
  return nullptr;
}

std::optional<std::string> take_unused_hand_schedule(
    const Fusion& definition, const std::string& decisions) {
  const auto device_of = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().by_definition.find(unscheduled_text(definition));
  if (found == kept().by_definition.end()) {
    return std::nullopt;
  }
  std::string files;
  for (const auto& schedule : found->second) {
    if (device_of(schedule->decisions) == device_of(decisions) &&
        kept().seen.insert(schedule.get()).second) {
      files += "\n  " + schedule->origin + ", for decisions \"" + schedule->decisions + "\"";
    }
  }
  if (files.empty()) {
    return std::nullopt;
  }
  return "A segment is scheduled automatically although there are schedules for its definition:" +
         files + "\nThese sizes have the decisions \"" + decisions +
         "\". If the schedule was made for such sizes, schedulers decide otherwise since then: "
         "take "
         "the text from fd.fec.schedules(inputs) again, or write these decisions into the file.";
}

} // namespace nvfuser::host

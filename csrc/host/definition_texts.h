// Definitions as texts of the caller's language, for people to read, edit and give back.
#pragma once

#include <string>

#include "ir/fusion.h"

namespace nvfuser::host {

/// How fusions are written. Only `scheduled` writes what a scheduler or a user did to a definition.
struct DefinitionTexts {
  /// With the copies that a schedule made.
  std::string (*definition)(const Fusion&) = nullptr;
  /// Without them: equal texts are equal definitions, however they are scheduled. Empty where the
  /// language has no words for one.
  std::string (*unscheduled)(const Fusion&) = nullptr;
  /// The definition, and the calls that schedule it.
  std::string (*scheduled)(const Fusion&) = nullptr;
};

/// Set them before the first run.
void set_definition_texts(const DefinitionTexts& texts);
/// Without functions where the caller set none.
[[nodiscard]] const DefinitionTexts& definition_texts();

} // namespace nvfuser::host

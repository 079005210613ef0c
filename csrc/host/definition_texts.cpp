#include "host/definition_texts.h"

namespace nvfuser::host {
namespace {

DefinitionTexts& the_texts() {
  static DefinitionTexts texts;
  return texts;
}

} // namespace

void set_definition_texts(const DefinitionTexts& texts) {
  the_texts() = texts;
}

const DefinitionTexts& definition_texts() {
  return the_texts();
}

} // namespace nvfuser::host

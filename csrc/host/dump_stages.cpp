#include "host/dump_stages.h"

#include <iostream>

#include "base/options.h"
#include "host/definition_texts.h"

namespace nvfuser::host {

void dump_python(const Fusion& definition) {
  auto* const printer = definition_texts().definition;
  if (has_option(DumpOption::PythonDefinition) && printer != nullptr) {
    std::cout << printer(definition) << std::endl;
  }
}

void dump_stages(
    const Fusion& definition,
    const Fusion& concretized,
    const Fusion& optimized,
    const Partition& partition) {
  const auto dump = [](DumpOption option, const char* stage, const Fusion& fusion) {
    if (has_option(option)) {
      std::cout << "Fusion IR (" << stage << "):\n" << fusion.print_math() << std::endl;
    }
  };
  dump(DumpOption::FusionIrOriginal, "original", definition);
  dump(DumpOption::FusionIrConcretized, "concretized", concretized);
  dump(DumpOption::FusionIrPreseg, "preseg", optimized);
  if (!has_option(DumpOption::FusionIrPresched)) {
    return;
  }
  const size_t count = partition.pieces.size();
  for (size_t i = 0; i < count; ++i) {
    std::cout << "Fusion IR (presched): segment " << i << " of " << count << "\n"
              << partition.pieces[i].fusion->print_math() << std::endl;
  }
}

void dump_segments(const Partition& partition) {
  auto* const printer = definition_texts().unscheduled;
  if (!has_option(DumpOption::PythonDefinitionSegments) || printer == nullptr) {
    return;
  }
  for (size_t group = 0; group < partition.pieces.size(); ++group) {
    const Fusion& fusion = *partition.pieces[group].fusion;
    const std::string text = printer(fusion);
    std::cout << "Python definition for segmented group " << group << ":\n"
              << (text.empty() ? fusion.print_math() : text) << std::endl;
  }
}

} // namespace nvfuser::host

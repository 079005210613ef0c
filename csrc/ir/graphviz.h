// A fusion as a drawing.
#pragma once

#include <string>

#include "ir/fwd.h"

namespace nvfuser {

/// Tensors and expressions in the language of Graphviz: `dot -Tsvg file.dot`.
[[nodiscard]] std::string graphviz(const Fusion& fusion);

} // namespace nvfuser

// The part of a statement that is its meaning, without what its history left there. Equality and
// bytes agree on it: fusions are equal if their bytes are.
#pragma once

#include "ir/tensor_domain.h"

namespace nvfuser {

/// The axes that the operation of a tensor runs over: the logical ones, unless it is one over axes
/// of its operands, as a scatter. These replace all or some of the logical axes; an axis that
/// `broadcast` inserted replaces none.
[[nodiscard]] const IterDomains& first_loop(const TensorDomain& domain);

/// The domain as it is compared: `initial_loop` is `first_loop` if that is not the logical domain,
/// and empty else. The loops that a tensor was made with are history.
[[nodiscard]] TensorDomainSpec meaning_of(const TensorDomain& domain);

} // namespace nvfuser

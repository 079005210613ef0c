// Forward declarations of the IR.
#pragma once

namespace nvfuser {

class Statement;
class Val;
class Expr;
class NamedScalar;
class IterDomain;
class TensorDomain;
class TensorView;
class Fusion;
class Cloner;

#define NVF_FORWARD(Node) struct Node;
#include "ir/nodes.def"
NVF_FOR_EACH_EXPR(NVF_FORWARD)
#undef NVF_FORWARD

} // namespace nvfuser

// Every node's declaration, and dispatch over them.
#pragma once

#include "ir/create.h"
#include "ir/domain_exprs.h"
#include "ir/grid_order_exprs.h"
#include "ir/index_exprs.h"
#include "ir/kernel_nodes.h"
#include "ir/matmul_exprs.h"
#include "ir/pointwise.h"
#include "ir/quantize_exprs.h"
#include "ir/random_exprs.h"
#include "ir/reduce.h"
#include "ir/resize_exprs.h"
#include "ir/search_exprs.h"
#include "ir/shape_exprs.h"

namespace nvfuser {

/// Call `fn` with the expression as what it is. A missing overload is a compile error unless `fn`
/// takes `Expr&` on purpose.
template <typename Fn>
decltype(auto) visit(Expr& expr, Fn&& fn) {
  switch (expr.kind()) {
#define NVF_CASE(Node) \
  case ExprKind::Node: return fn(static_cast<Node&>(expr));
    NVF_FOR_EACH_EXPR(NVF_CASE)
#undef NVF_CASE
  }
  throw InternalError(__FILE__, __LINE__, "known kind", {"visit: ExprKind out of range"});
}

template <typename Fn>
decltype(auto) visit(const Expr& expr, Fn&& fn) {
  switch (expr.kind()) {
#define NVF_CASE(Node) \
  case ExprKind::Node: return fn(static_cast<const Node&>(expr));
    NVF_FOR_EACH_EXPR(NVF_CASE)
#undef NVF_CASE
  }
  throw InternalError(__FILE__, __LINE__, "known kind", {"visit: ExprKind out of range"});
}

/// Several lambdas as one function object.
template <typename... Fns>
struct overloaded : Fns... {
  using Fns::operator()...;
};
template <typename... Fns>
overloaded(Fns...) -> overloaded<Fns...>;

} // namespace nvfuser

#include "ir/scopes.h"

#include "ir/all_nodes.h"

namespace nvfuser {

std::vector<Scope*> bodies_of(Expr& expr) {
  return visit(
      expr, overloaded{
                [](ForLoop& loop) { return std::vector<Scope*>{&loop.body}; },
                [](IfThenElse& branch) {
                  return std::vector<Scope*>{&branch.then_body, &branch.else_body};
                },
                [](ThreadLoop& loop) { return std::vector<Scope*>{&loop.body}; },
                [](BlockLoop& loop) { return std::vector<Scope*>{&loop.body}; },
                [](ClusterLoop& loop) { return std::vector<Scope*>{&loop.body}; },
                [](Expr&) { return std::vector<Scope*>{}; },
            });
}

std::vector<const Scope*> bodies_of(const Expr& expr) {
  const std::vector<Scope*> bodies = bodies_of(const_cast<Expr&>(expr)); // only looked at
  return {bodies.begin(), bodies.end()};
}

} // namespace nvfuser

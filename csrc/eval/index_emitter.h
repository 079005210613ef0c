// IndexEmitter: writes the sums of an IndexAlgebra as Vals.
//
// Order of the text: terms with more extents in them before terms with fewer, larger coefficients
// before smaller ones, the constant last; factors: indices, extents, the coefficient. A factor of
// several terms is taken out of them, extents before indices:
//
//   i * n * m + j * m + k   ->   ( ( ( i * n ) + j ) * m ) + k
//
// A divisor of a rounded-up division is a product only if it fits in 32 bits:
//
//   ceilDiv(n, i * j)   ->   ( ceilDiv(( ceilDiv(n, i) ), j) )
//
// The same operation on the same operands is one Val; operations the user's expressions had already
// are used again.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "eval/index_algebra.h"
#include "ir/fwd.h"

namespace nvfuser {

class IndexEmitter {
 public:
  explicit IndexEmitter(Fusion& fusion) : fusion_(fusion) {}

  /// `algebra` must stay the same until `forget_sums`.
  Val* emit(IndexAlgebra& algebra, Sum sum);
  /// The algebra is replaced: its sums are no longer known, operations still are.
  void forget_sums() {
    sums_.clear();
    atoms_.clear();
  }
  /// Use `val` where its operation on its operands is needed again.
  void remember(Val* val);
  /// `op` on `a` and `b`, folded as ir/scalar.h does.
  Val* binary(BinaryOpType op, Val* a, Val* b);
  Val* negate(Val* a);
  Val* constant(int64_t value, DataType dtype);

 private:
  using Terms = std::vector<IndexTerm>;
  struct Piece {
    bool is_negative = false;
    IndexTerm lead; // largest term of it: where it stands
    Val* val = nullptr;
  };

  [[nodiscard]] const Val* shared(const Val* val) const;
  Val* emit_atom(const IndexAtom& atom);
  Val* emit_ceil_div(const IndexAtom& atom);
  std::vector<Val*> divisors_in_turn(const IndexAtom& quotient);
  Val* emit_terms(Terms terms, DataType dtype);
  Val* emit_product(const IndexTerm& term, DataType dtype);
  Val* join(std::vector<Piece> pieces);
  Piece take_group(Terms& terms, AtomId factor, DataType dtype);
  [[nodiscard]] AtomId find_common_factor(const Terms& terms) const;
  [[nodiscard]] bool is_size(AtomId id) const;
  [[nodiscard]] std::pair<int64_t, AtomId> order(AtomId id) const;
  [[nodiscard]] AtomList in_order(MonomialId monomial) const;
  [[nodiscard]] bool comes_before(const IndexTerm& a, const IndexTerm& b) const;

  Fusion& fusion_;
  IndexAlgebra* algebra_ = nullptr;
  std::unordered_map<Sum, Val*> sums_;
  std::unordered_map<AtomId, Val*> atoms_;
  std::map<std::tuple<BinaryOpType, const Val*, const Val*>, Val*> binaries_; // looked up only
  std::unordered_map<const Val*, Val*> negations_;
  std::map<std::pair<int64_t, DataType>, Val*> constants_;
};

} // namespace nvfuser

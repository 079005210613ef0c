// Structural equality and hash.
//
// Within a fusion, `same_as` asks whether two values are computed alike from the same symbols.
// Between fusions, `==` asks whether both say the same thing: it walks everything that the inputs
// and outputs depend on, in step, names included. Both use work lists instead of recursion.
#include "ir/equality.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_map>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/meaning.h"
#include "ir/random_streams.h"

namespace nvfuser {
namespace {

/// Bit for bit: a NaN is the same as itself, and -0 is not 0.
bool same_value(const ScalarValue& a, const ScalarValue& b) {
  if (a.index() != b.index()) {
    return false;
  }
  const auto bits = [](double number) { return std::bit_cast<uint64_t>(number); };
  if (std::holds_alternative<double>(a)) {
    return bits(std::get<double>(a)) == bits(std::get<double>(b));
  }
  if (std::holds_alternative<std::complex<double>>(a)) {
    const auto x = std::get<std::complex<double>>(a);
    const auto y = std::get<std::complex<double>>(b);
    return bits(x.real()) == bits(y.real()) && bits(x.imag()) == bits(y.imag());
  }
  return a == b;
}

size_t hash_value(const ScalarValue& value) {
  return std::visit(
      []<typename T>(const T& v) -> size_t {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return 0;
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          return detail::hash_combine(
              std::bit_cast<uint64_t>(v.real()), std::bit_cast<uint64_t>(v.imag()));
        } else if constexpr (std::is_same_v<T, double>) {
          return std::bit_cast<uint64_t>(v);
        } else {
          return static_cast<size_t>(v);
        }
      },
      value);
}

size_t output_index(const Val* val) {
  const auto& outputs = val->definition()->outputs();
  return static_cast<size_t>(std::find(outputs.begin(), outputs.end(), val) - outputs.begin());
}

/// The name, numbers and words of a statement itself, and the statements it is made of.
struct Portrait {
  int64_t name = -1; // its number among those of its kind
  std::vector<int64_t> numbers;
  std::vector<std::string> words;
  ScalarValue value;
  std::vector<const Statement*> parts; // nullptr where there is none

  template <typename T>
  void add(const T& fields) {
    for_each_leaf(fields, [&]<typename Leaf>(const Leaf& leaf) {
      if constexpr (is_statement_pointer_v<Leaf>) {
        parts.push_back(leaf);
      } else if constexpr (std::is_same_v<Leaf, Extent>) {
        numbers.push_back(static_cast<int64_t>(leaf.number));
      } else if constexpr (std::is_same_v<Leaf, std::string>) {
        words.push_back(leaf);
      } else {
        numbers.push_back(static_cast<int64_t>(leaf));
      }
    });
  }
};

TensorDomainSpec compared(const Val& domain) {
  return meaning_of(static_cast<const TensorDomain&>(domain));
}

// ---- Within a fusion ----------------------------------------------------------------------------

using ValPair = std::pair<const Val*, const Val*>;

/// Whether the fields of two values are the same; the values among them are added to `pending`.
template <typename Fields>
bool same_fields(const Fields& a, const Fields& b, std::vector<ValPair>& pending) {
  Portrait x;
  Portrait y;
  x.add(a);
  y.add(b);
  if (x.numbers != y.numbers) {
    return false;
  }
  std::ranges::transform(
      x.parts, y.parts, std::back_inserter(pending), [](const Statement* v, const Statement* w) {
        return ValPair(static_cast<const Val*>(v), static_cast<const Val*>(w));
      });
  return true;
}

/// Which axes of two tensors are reduced, and how their logical axes come from the root ones, is
/// the same; extents are `pending`. Shapes of results are here, and in no attribute of a node.
bool same_axes(const TensorView* a, const TensorView* b, std::vector<ValPair>& pending) {
  std::unordered_map<const Val*, const Val*> counterparts;
  const auto pair_up = [&](const auto& x, const auto& y) {
    return std::ranges::equal(x, y, [&](const Val* axis, const Val* other) {
      return counterparts.emplace(axis, other).first->second == other;
    });
  };
  const std::vector<Expr*> steps = exprs_between(a->maybe_root(), a->logical());
  const std::vector<Expr*> others = exprs_between(b->maybe_root(), b->logical());
  const bool is_same_walk = pair_up(a->maybe_root(), b->maybe_root()) &&
                            std::ranges::equal(
                                steps, others,
                                [&](const Expr* x, const Expr* y) {
                                  return x->same_op(y) && pair_up(x->inputs(), y->inputs()) &&
                                         pair_up(x->outputs(), y->outputs());
                                }) &&
                            pair_up(a->logical(), b->logical());
  return is_same_walk && std::ranges::all_of(counterparts, [&](const auto& entry) {
           const auto* x = static_cast<const IterDomain*>(entry.first);
           const auto* y = static_cast<const IterDomain*>(entry.second);
           pending.emplace_back(x->extent(), y->extent());
           pending.emplace_back(x->expanded_extent(), y->expanded_extent());
           return x->iter_type() == y->iter_type();
         });
}

/// Compare what two values of one kind are made of; what has to be compared in turn is `pending`.
bool same_parts(const Val* a, const Val* b, std::vector<ValPair>& pending) {
  switch (a->vtype()) {
    case ValType::Scalar: return true;
    case ValType::NamedScalar:
      return static_cast<const NamedScalar*>(a)->text_name() ==
             static_cast<const NamedScalar*>(b)->text_name();
    case ValType::IterDomain:
      return same_fields(
          static_cast<const IterDomain*>(a)->spec(), static_cast<const IterDomain*>(b)->spec(),
          pending);
    case ValType::TensorDomain: return same_fields(compared(*a), compared(*b), pending);
    case ValType::TensorView:
      // A tensor is what computes it; two inputs are never the same.
      return a->definition() != nullptr && b->definition() != nullptr &&
             same_axes(
                 static_cast<const TensorView*>(a), static_cast<const TensorView*>(b), pending);
    case ValType::TensorIndex: {
      const auto* x = static_cast<const TensorIndex*>(a);
      const auto* y = static_cast<const TensorIndex*>(b);
      pending.emplace_back(x->index(), y->index());
      return x->view() == y->view();
    }
  }
  return false;
}

/// The definitions do the same; their operands are `pending`.
bool same_definitions(const Val* a, const Val* b, std::vector<ValPair>& pending) {
  const Expr* x = a->definition();
  const Expr* y = b->definition();
  if (x == y && x != nullptr) {
    return output_index(a) == output_index(b);
  }
  if (x == nullptr || y == nullptr) {
    // Free symbols are themselves only; axes without definition are equal if their parts are.
    return x == y && a->vtype() != ValType::Scalar;
  }
  if (!x->same_op(y) || x->inputs().size() != y->inputs().size() ||
      output_index(a) != output_index(b)) {
    return false;
  }
  for (size_t i = 0; i < x->inputs().size(); ++i) {
    pending.emplace_back(x->inputs()[i], y->inputs()[i]);
  }
  return true;
}

bool all_same(std::vector<ValPair> pending) {
  std::set<ValPair> visited; // values that share parts are compared once
  while (!pending.empty()) {
    const auto [a, b] = pending.back();
    pending.pop_back();
    if (a == b) {
      continue;
    }
    if (a == nullptr || b == nullptr || a->vtype() != b->vtype() || a->dtype() != b->dtype() ||
        a->is_const() != b->is_const()) {
      return false;
    }
    if (a->is_const()) {
      if (!same_value(a->value(), b->value())) {
        return false;
      }
      continue;
    }
    if (!visited.insert({a, b}).second) {
      continue;
    }
    if (!same_parts(a, b, pending)) {
      return false;
    }
    const bool is_computed = a->vtype() != ValType::TensorDomain &&
                             a->vtype() != ValType::TensorIndex &&
                             a->vtype() != ValType::NamedScalar;
    if (is_computed && !same_definitions(a, b, pending)) {
      return false;
    }
  }
  return true;
}

} // namespace

bool Val::same_as(const Val* other) const {
  if (this == other) {
    return true;
  }
  const bool is_symbol = vtype_ == ValType::Scalar && definition_ == nullptr && !is_const();
  return !is_symbol && all_same({{this, other}}); // a symbol is itself only
}

bool Val::same_definition(const Val* other) const {
  return definition_ != nullptr && other->definition() != nullptr &&
         output_index(this) == output_index(other) &&
         definition_->same_definition(other->definition());
}

size_t Val::hash() const {
  return detail::hash_val(this);
}

bool Expr::same_definition(const Expr* other) const {
  std::vector<ValPair> pending;
  const auto is_same_result = [&](const Val* a, const Val* b) {
    return a->vtype() == b->vtype() && a->dtype() == b->dtype() &&
           (!a->is_tensor() ||
            same_axes(
                static_cast<const TensorView*>(a), static_cast<const TensorView*>(b), pending));
  };
  if (!same_op(other) || inputs_.size() != other->inputs().size() ||
      !std::ranges::equal(outputs_, other->outputs(), is_same_result)) {
    return false;
  }
  std::ranges::transform(
      inputs_, other->inputs(), std::back_inserter(pending),
      [](const Val* a, const Val* b) { return ValPair(a, b); });
  return all_same(std::move(pending));
}

namespace detail {

size_t hash_combine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15U + (seed << 6U) + (seed >> 2U));
}

bool same_val(const Val* a, const Val* b) {
  return a == b || (a != nullptr && b != nullptr && a->same_as(b));
}

namespace {

/// Looks at operations `depth` levels deep.
size_t hash_val(const Val* val, int depth) {
  const size_t hash =
      hash_combine(static_cast<size_t>(val->vtype()), static_cast<size_t>(val->dtype()));
  if (val->is_const()) {
    return hash_combine(hash, hash_value(val->value()));
  }
  if (val->vtype() == ValType::NamedScalar) {
    const std::string& text_name = static_cast<const NamedScalar*>(val)->text_name();
    return hash_combine(hash, std::hash<std::string>{}(text_name));
  }
  if (val->vtype() != ValType::Scalar) {
    return hash;
  }
  const Expr* definition = val->definition();
  if (definition == nullptr) {
    return hash_combine(hash, static_cast<size_t>(val->serial()));
  }
  size_t computed = hash_combine(hash, static_cast<size_t>(definition->kind()));
  if (depth > 0) {
    computed = hash_combine(computed, definition->op_hash());
    for (const Val* input : definition->inputs()) {
      computed = hash_combine(computed, hash_val(input, depth - 1));
    }
  }
  return computed;
}

} // namespace

/// Follows same_val. Looks deep enough to tell the indices and conditions of a kernel apart, and no
/// deeper: operations that share operands would be visited again and again.
size_t hash_val(const Val* val) {
  return val == nullptr ? 0 : hash_val(val, 4);
}

} // namespace detail

// ---- Between fusions ----------------------------------------------------------------------------

namespace {

void portray(const Val& val, Portrait& out) {
  out.name = val.name();
  out.numbers = {
      static_cast<int64_t>(val.vtype()), static_cast<int64_t>(val.dtype()),
      val.is_fusion_input() ? 1 : 0, val.is_fusion_output() ? 1 : 0};
  out.value = val.value();
  out.parts.push_back(val.definition());
  switch (val.vtype()) {
    case ValType::Scalar: break;
    case ValType::NamedScalar:
      out.words.push_back(static_cast<const NamedScalar&>(val).text_name());
      break;
    case ValType::IterDomain: out.add(static_cast<const IterDomain&>(val).spec()); break;
    case ValType::TensorDomain: out.add(compared(val)); break;
    case ValType::TensorView: {
      const auto& tv = static_cast<const TensorView&>(val);
      out.parts.push_back(tv.domain());
      out.add(tv.schedule());
      break;
    }
    case ValType::TensorIndex: {
      const auto& element = static_cast<const TensorIndex&>(val);
      out.parts.insert(out.parts.end(), {element.view(), element.index()});
      break;
    }
  }
}

void portray(const Expr& expr, Portrait& out) {
  out.numbers = {-1, static_cast<int64_t>(expr.kind())};
  out.add(expr.inputs());
  out.add(expr.outputs());
  out.parts.push_back(expr.predicate());
  if (const auto* random = expr.as<RNGOp>(); random != nullptr && random->seed == nullptr) {
    out.numbers.push_back(stream_in_use(*random));
  }
  expr.for_each_attr([&](const char* name, const AttrValue& value) {
    if (expr.is_a<RNGOp>() && std::string_view(name) == "stream") {
      return;
    }
    std::visit(
        [&]<typename T>(const T& v) {
          if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t>) {
            out.numbers.push_back(static_cast<int64_t>(v));
          } else if constexpr (std::is_same_v<T, std::string>) {
            out.words.push_back(v);
          } else if constexpr (std::is_same_v<T, Val*> || std::is_same_v<T, Expr*>) {
            out.parts.push_back(v);
          } else {
            out.numbers.push_back(static_cast<int64_t>(v.size()));
            for (const auto& item : v) {
              if constexpr (std::is_convertible_v<decltype(item), const Statement*>) {
                out.parts.push_back(item);
              } else if constexpr (std::is_convertible_v<decltype(item), std::string>) {
                out.words.push_back(item);
              } else {
                out.numbers.push_back(static_cast<int64_t>(item));
              }
            }
          }
        },
        value);
  });
}

Portrait portrait(const Statement& statement) {
  Portrait out;
  if (statement.is_val()) {
    portray(static_cast<const Val&>(statement), out);
  } else {
    portray(static_cast<const Expr&>(statement), out);
  }
  return out;
}

/// The interface of a fusion as a portrait: where both walks start.
Portrait portrait(const Fusion& fusion) {
  Portrait out;
  out.add(fusion.inputs());
  out.add(fusion.outputs());
  for (const Val* output : fusion.outputs()) {
    const AliasInfo* alias = fusion.alias_of(output);
    out.parts.push_back(alias == nullptr ? nullptr : alias->input);
    out.numbers.push_back(alias == nullptr ? 0 : (alias->is_hidden ? 2 : 1));
  }
  return out;
}

bool same_portrait(const Portrait& a, const Portrait& b) {
  return a.numbers == b.numbers && a.words == b.words && same_value(a.value, b.value) &&
         a.parts.size() == b.parts.size();
}

size_t hash_portrait(const Portrait& portrait) {
  size_t hash =
      detail::hash_combine(hash_value(portrait.value), static_cast<size_t>(portrait.name));
  for (const int64_t number : portrait.numbers) {
    hash = detail::hash_combine(hash, static_cast<size_t>(number));
  }
  for (const std::string& word : portrait.words) {
    hash = detail::hash_combine(hash, std::hash<std::string>{}(word));
  }
  return hash;
}

enum class Sameness { Numbered, UpToNumbering };

/// Whether two values may stand for each other without being the only ones that do.
bool may_be_shared(const Statement* statement) {
  if (!statement->is_val()) {
    const auto& outputs = static_cast<const Expr*>(statement)->outputs();
    return std::all_of(outputs.begin(), outputs.end(), may_be_shared);
  }
  const auto* val = static_cast<const Val*>(statement);
  return val->is_scalar() && (val->is_const() || val->definition() != nullptr);
}

/// Walks two fusions in step from their inputs and outputs.
class Comparison {
 public:
  explicit Comparison(Sameness sameness) : sameness_(sameness) {}

  bool operator()(const Fusion& a, const Fusion& b) {
    if (!match(portrait(a), portrait(b))) {
      return false;
    }
    while (!pending_.empty()) {
      const auto [x, y] = pending_.back();
      pending_.pop_back();
      if (!match(portrait(*x), portrait(*y))) {
        return false;
      }
    }
    return true;
  }

 private:
  bool match(const Portrait& a, const Portrait& b) {
    if (!same_portrait(a, b) || (sameness_ == Sameness::Numbered && a.name != b.name)) {
      return false;
    }
    for (size_t i = 0; i < a.parts.size(); ++i) {
      if (!match(a.parts[i], b.parts[i])) {
        return false;
      }
    }
    return true;
  }

  bool match(const Statement* x, const Statement* y) {
    if (x == nullptr || y == nullptr) {
      return x == y;
    }
    if (sameness_ == Sameness::UpToNumbering && may_be_shared(x) && may_be_shared(y)) {
      if (shared_pairs_.emplace(x, y).second) {
        pending_.emplace_back(x, y);
      }
      return true;
    }
    const auto [found, is_new] = partner_.emplace(x, y);
    const auto [claim, is_unclaimed] = claimed_by_.emplace(y, x);
    if (found->second != y || claim->second != x) {
      return false;
    }
    if (is_new) {
      pending_.emplace_back(x, y);
    }
    return true;
  }

  Sameness sameness_;
  std::unordered_map<const Statement*, const Statement*> partner_;    // of a's in b
  std::unordered_map<const Statement*, const Statement*> claimed_by_; // of b's in a
  std::set<std::pair<const Statement*, const Statement*>> shared_pairs_;
  std::vector<std::pair<const Statement*, const Statement*>> pending_;
};

} // namespace

bool Fusion::operator==(const Fusion& other) const {
  return this == &other || Comparison(Sameness::Numbered)(*this, other);
}

bool equal_up_to_numbering(const Fusion& a, const Fusion& b) {
  return &a == &b || Comparison(Sameness::UpToNumbering)(a, b);
}

size_t Fusion::hash() const {
  std::unordered_map<const Statement*, size_t> visited; // in order of the walk
  std::vector<const Statement*> pending;
  size_t hash = 0;
  const auto visit_parts = [&](const Portrait& portrait) {
    hash = detail::hash_combine(hash, hash_portrait(portrait));
    for (const Statement* part : portrait.parts) {
      const auto [found, is_new] = visited.emplace(part, visited.size());
      hash = detail::hash_combine(hash, found->second);
      if (is_new && part != nullptr) {
        pending.push_back(part);
      }
    }
  };
  visit_parts(portrait(*this));
  while (!pending.empty()) {
    const Statement* statement = pending.back();
    pending.pop_back();
    visit_parts(portrait(*statement));
  }
  return hash;
}

} // namespace nvfuser

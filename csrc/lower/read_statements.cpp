#include <charconv>
#include <unordered_map>

#include "lower/kernel_text.h"
#include "lower/kernel_text_names.h"

namespace nvfuser {
namespace {

/// A place in one line of the text.
class Cursor {
 public:
  Cursor(std::string_view line, int64_t number) : line_(line), number_(number) {}

  [[nodiscard]] bool at(std::string_view token) {
    skip_blanks();
    return rest().starts_with(token);
  }
  /// Whether `token` stood here; it is passed then.
  bool take(std::string_view token) {
    const bool is_here = at(token);
    at_ += is_here ? token.size() : 0;
    return is_here;
  }
  void expect(std::string_view token) {
    if (!take(token)) {
      fail(std::string("\"") + std::string(token) + "\"");
    }
  }
  /// Letters, digits, signs: names and numbers.
  std::string_view word() {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < line_.size() && is_of_word(line_[at_])) {
      ++at_;
    }
    if (at_ == begin) {
      fail("a name or a number");
    }
    return line_.substr(begin, at_ - begin);
  }
  std::string_view until(char end) {
    const size_t found = line_.find(end, at_);
    if (found == std::string_view::npos) {
      fail(std::string("\"") + end + "\"");
    }
    return line_.substr(std::exchange(at_, found + 1), found - at_);
  }
  /// The text up to the parenthesis that closes the one before, which is passed with it.
  [[nodiscard]] std::string_view balanced() const {
    int64_t depth = 1;
    size_t end = at_;
    for (; end < line_.size() && depth > 0; ++end) {
      depth += line_[end] == '(' ? 1 : line_[end] == ')' ? -1 : 0;
    }
    return line_.substr(at_, end - at_);
  }
  void skip(std::string_view text) {
    at_ += text.size();
  }
  [[nodiscard]] bool is_at_end() {
    skip_blanks();
    return at_ == line_.size();
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw UserError(
        {.headline = {"Line ", number_, " is no statement of a kernel"},
         .node = Part(line_),
         .expected = {expected},
         .found = {"\"", rest(), "\""},
         .fix = "compare it with what print_statements writes"},
        ErrorKind::Value);
  }

 private:
  static bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
           c == '+' || c == '|';
  }
  void skip_blanks() {
    while (at_ < line_.size() && line_[at_] == ' ') {
      ++at_;
    }
  }
  [[nodiscard]] std::string_view rest() const {
    return line_.substr(at_);
  }

  std::string_view line_;
  int64_t number_;
  size_t at_ = 0;
};

double read_double(std::string_view text, const Cursor& at) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) {
    at.fail("a number");
  }
  return value;
}

int64_t read_int(std::string_view text, const Cursor& at) {
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) {
    at.fail("an integer");
  }
  return value;
}

ScalarValue read_value(std::string_view text, DataType dtype, const Cursor& at) {
  if (text == "true" || text == "false") {
    return text == "true";
  }
  if (const size_t bar = text.find('|'); bar != std::string_view::npos) {
    return std::complex<double>(
        read_double(text.substr(0, bar), at), read_double(text.substr(bar + 1), at));
  }
  return is_floating_point(dtype) ? ScalarValue(read_double(text, at))
                                  : ScalarValue(read_int(text, at));
}

struct Line {
  std::string_view text; // without its indentation
  size_t depth = 0;
  int64_t number = 0;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const size_t begin = line.find_first_not_of(' ');
    if (begin != std::string_view::npos) {
      lines.push_back({line.substr(begin), begin / 2, number});
    }
  }
  return lines;
}

class StatementReader {
 public:
  StatementReader(Kernel& kernel, const std::string& text)
      : kernel_(kernel), lines_(lines_of(text)) {
    for (Val* val : kernel.vals()) {
      if (const std::string name = name_of(*val); !name.empty()) {
        names_.emplace(name, val);
      }
    }
  }

  void run() {
    Scope body = read_scope(0);
    if (next_ < lines_.size()) {
      Cursor(lines_[next_].text, lines_[next_].number).fail("a statement of the kernel's own list");
    }
    kernel_.body = std::move(body);
    kernel_.tests = std::move(tests_);
    kernel_.origin = std::move(origin_);
  }

 private:
  static std::string name_of(const Val& val) {
    switch (val.vtype()) {
      case ValType::TensorView: return "T" + std::to_string(val.name());
      case ValType::IterDomain: return "D" + std::to_string(val.name());
      case ValType::NamedScalar:
        return '"' + static_cast<const NamedScalar&>(val).text_name() + '"';
      case ValType::Scalar: return val.is_const() ? "" : val.to_string();
      default: return "";
    }
  }

  // ---- Values -----------------------------------------------------------------------------------

  Val* named(const std::string& name, const Cursor& at) {
    const auto found = names_.find(name);
    if (found == names_.end()) {
      at.fail("a tensor, an axis or a scalar of the kernel");
    }
    return found->second;
  }

  Val* read_val(Cursor& at) {
    if (at.take("\"")) {
      return named('"' + std::string(at.until('"')) + '"', at);
    }
    const std::string word(at.word());
    if (word == "null") {
      return nullptr;
    }
    if (at.take(":")) {
      const auto dtype = kernel_text::find_member<DataType>(at.word());
      if (!dtype) {
        at.fail("a dtype");
      }
      return at.take("(") ? read_shared(word, *dtype, at)
                          : kernel_.new_constant(read_value(word, *dtype, at), *dtype);
    }
    Val* val = named(word, at);
    if (!val->is_tensor() || !at.take("[")) {
      return val;
    }
    Val* index = read_val(at);
    at.expect("]");
    return kernel_.new_tensor_index(static_cast<TensorView*>(val), index);
  }

  /// Behind `Add:Index(`. An expression of scalars alone is one value wherever it stands, as in the
  /// kernel that was printed: a name that a pass gives it there holds everywhere.
  Val* read_shared(const std::string& name, DataType dtype, Cursor& at) {
    const std::string_view operands = at.balanced();
    if (operands.find('[') != std::string_view::npos) {
      return read_computation(name, dtype, at); // an element may be another one later
    }
    const std::string key = name + ":" + enum_name(dtype) + "(" + std::string(operands);
    if (const auto known = shared_.find(key); known != shared_.end()) {
      at.skip(operands);
      return known->second;
    }
    return shared_[key] = read_computation(name, dtype, at);
  }

  /// Behind `Add:Index(`.
  Val* read_computation(const std::string& name, DataType dtype, Cursor& at) {
    Val* out = kernel_.new_scalar(dtype);
    bool is_node = false;
#define NVF_READ_NODE(Node)   \
  if (name == Node::kName) {  \
    is_node = true;           \
    read_node<Node>(at, out); \
  }
    NVF_FOR_EACH_EXPR(NVF_READ_NODE)
#undef NVF_READ_NODE
    if (is_node) {
      return out;
    }
    std::vector<Val*> args;
    while (!at.take(")")) {
      args.push_back(read_val(at));
      at.take(",");
    }
    const auto unary = kernel_text::find_member<UnaryOpType>(name);
    const auto binary = kernel_text::find_member<BinaryOpType>(name);
    const auto ternary = kernel_text::find_member<TernaryOpType>(name);
    if (args.size() == 1 && unary) {
      kernel_.make<UnaryOp>({.out = out, .arg = args[0], .op = *unary});
    } else if (args.size() == 2 && binary) {
      kernel_.make<BinaryOp>({.out = out, .lhs = args[0], .rhs = args[1], .op = *binary});
    } else if (args.size() == 3 && ternary) {
      kernel_.make<TernaryOp>(
          {.out = out, .in1 = args[0], .in2 = args[1], .in3 = args[2], .op = *ternary});
    } else {
      at.fail("an operation with that number of operands before this");
    }
    return out;
  }

  template <typename T>
  void read(Cursor& at, T& value) {
    if constexpr (is_vector_v<T>) {
      value.clear();
      at.expect("[");
      while (!at.take("]")) {
        typename T::value_type item{};
        read(at, item);
        value.push_back(item);
        at.take(",");
      }
    } else if constexpr (is_statement_pointer_v<T>) {
      value = read_pointer<std::remove_pointer_t<T>>(at);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = at.word() == "true";
    } else if constexpr (std::is_same_v<T, int64_t>) {
      value = read_int(at.word(), at);
    } else {
      const auto member = kernel_text::find_member<T>(at.word());
      if (!member) {
        at.fail("a member of the enumeration");
      }
      value = *member;
    }
  }

  template <typename T>
  T* read_pointer(Cursor& at) {
    static_assert(std::is_base_of_v<Val, T>, "statements stand in lists");
    Val* val = read_val(at);
    if constexpr (std::is_same_v<T, TensorView>) {
      if (val != nullptr && !val->is_tensor()) {
        at.fail("a tensor");
      }
    } else if constexpr (std::is_same_v<T, IterDomain>) {
      if (val != nullptr && val->vtype() != ValType::IterDomain) {
        at.fail("an axis");
      }
    }
    return static_cast<T*>(val);
  }

  // ---- Statements -------------------------------------------------------------------------------

  /// Behind `Node(`: the fields up to `)`. `out`: the result of a computed scalar.
  template <typename Node>
  Expr* read_node(Cursor& at, Val* out) {
    typename Node::Fields fields;
    while (!at.take(")")) {
      const std::string name(at.word());
      at.expect("=");
      bool is_known = false;
      for_each_field<Node>([&](const auto& field) {
        using T = typename std::decay_t<decltype(field)>::Type;
        if constexpr (!kernel_text::is_scope_v<T>) {
          if (name == field.name) {
            read(at, fields.*field.member);
            is_known = true;
          }
        }
      });
      if (!is_known) {
        at.fail(std::string("a value of a field of ") + Node::kName);
      }
      at.take(",");
    }
    for_each_field<Node>([&](const auto& field) {
      using T = typename std::decay_t<decltype(field)>::Type;
      if constexpr (std::is_same_v<T, Val*>) {
        if (out != nullptr && field.role == Role::Output) {
          fields.*field.member = out;
        }
      } else if constexpr (kernel_text::is_scope_v<T>) {
        if (const auto found = lists_.find(field.name); found != lists_.end()) {
          fields.*field.member = std::move(found->second);
        }
      }
    });
    return kernel_.make<Node>(std::move(fields));
  }

  Scope read_scope(size_t depth) {
    Scope scope;
    while (next_ < lines_.size() && lines_[next_].depth == depth &&
           !lines_[next_].text.ends_with(':')) {
      scope.push_back(read_statement(depth));
    }
    return scope;
  }

  Expr* read_statement(size_t depth) {
    const Line line = lines_[next_++];
    std::unordered_map<std::string, Scope> lists;
    while (next_ < lines_.size() && lines_[next_].depth == depth + 1 &&
           lines_[next_].text.ends_with(':')) {
      std::string_view name = lines_[next_++].text;
      name.remove_suffix(1);
      lists[std::string(name)] = read_scope(depth + 2);
    }
    lists_ = std::move(lists);
    Cursor at(line.text, line.number);
    const std::string name(at.word());
    at.expect("(");
    Expr* statement = nullptr;
#define NVF_READ_NODE(Node)                   \
  if (name == Node::kName) {                  \
    statement = read_node<Node>(at, nullptr); \
  }
    NVF_FOR_EACH_EXPR(NVF_READ_NODE)
#undef NVF_READ_NODE
    if (statement == nullptr) {
      at.fail("the name of a node before this");
    }
    read_facts(*statement, at);
    return statement;
  }

  void read_facts(Expr& statement, Cursor& at) {
    StatementTests tests;
    bool has_tests = false;
    while (!at.is_at_end()) {
      const std::string fact(at.word());
      at.expect("=");
      if (fact == "predicate") {
        statement.set_predicate(read_val(at));
      } else if (fact == "origin") {
        const Val* result = read_val(at);
        origin_[&statement] = result == nullptr ? nullptr : result->definition();
      } else if (fact == "ranges") {
        has_tests = true;
        tests.ranges = read_ranges(at);
      } else if (fact == "storage") {
        tests.storage = read_ranges(at);
      } else if (fact == "owner") {
        tests.owner = read_val(at);
      } else {
        at.fail("predicate, origin, ranges, storage or owner before this");
      }
    }
    if (has_tests) {
      tests_[&statement] = std::move(tests);
    }
  }

  std::vector<RangeTest> read_ranges(Cursor& at) {
    std::vector<RangeTest> ranges;
    at.expect("[");
    while (!at.take("]")) {
      RangeTest test;
      test.may_be_negative = at.take("0 <= ");
      test.index = read_val(at);
      at.expect("<");
      test.extent = read_val(at);
      ranges.push_back(test);
      at.take(",");
    }
    return ranges;
  }

  Kernel& kernel_;
  const std::vector<Line> lines_;
  size_t next_ = 0;
  std::unordered_map<std::string, Val*> names_;
  std::unordered_map<std::string, Val*> shared_; // by their text
  std::unordered_map<std::string, Scope> lists_; // of the statement that is read
  std::unordered_map<const Expr*, StatementTests> tests_;
  std::unordered_map<const Expr*, const Expr*> origin_;
};

} // namespace

void read_statements(Kernel& kernel, const std::string& text) {
  const FusionGuard guard(&kernel);
  StatementReader(kernel, text).run();
}

} // namespace nvfuser

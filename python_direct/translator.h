// The translator: walks the expressions of a fusion and prints the Python program that builds it.
//
// The walk is a queue: an expression whose operands have no line yet goes to the back. There is one
// `handle` per kind of node (translate_*.cpp); a forgotten one does not link.
//
// Lossless: what Python builds from the text is what was there. Where the constants of the text
// would come back as another type, they get a line of their own that names the type.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "python_names.h"
#include "python_text.h"
#include "translated_tensors.h"

namespace nvfuser::python {

class PythonTranslator {
 public:
  /// The kind of text: a definition, or a definition and the schedule behind it.
  enum class Part { Math, MathOfSchedule };
  explicit PythonTranslator(const Fusion& fusion, Part part = Part::Math);

  /// The definition, from the first line on.
  void print_math();
  /// One more line of the body.
  void line(const std::string& text);
  /// The name of a value, given when its line is made: values are numbered by their lines, as they
  /// are again when the text runs.
  const std::string& give_name(const Val* val);
  /// A scalar of the fusion; it gets lines first if it has none.
  [[nodiscard]] std::string text_of_scalar(Val* val);
  [[nodiscard]] const std::string& text() const {
    return text_;
  }
  /// In the order of their lines.
  [[nodiscard]] const std::vector<const TensorView*>& printed_tensors() const {
    return printed_tensors_;
  }

 private:
  using ValSet = std::unordered_set<const Val*>;

  // -- lines --
  void assign(const std::vector<Val*>& outputs, const PythonCall& call);
  void mark_printed(Val* val);

  // -- values --
  /// The name that the line of `val` gave it.
  [[nodiscard]] const std::string& name_of(const Val* val) const;
  /// Whether a value is written where it is used. A constant of dtype Index would come back as an
  /// Int: that is the same only where the function makes it an Index again.
  [[nodiscard]] bool is_inline(const Val* val) const;
  /// Constants without a line can get one at any time; nothing has to come before them.
  [[nodiscard]] bool is_ready(const Val* val) const;
  [[nodiscard]] std::string text_of(const Val* val) const;
  template <typename T>
  [[nodiscard]] std::string text_of(const std::vector<T*>& vals) const {
    std::vector<std::string> texts;
    for (const T* val : vals) {
      texts.push_back(text_of(val));
    }
    return python_list(texts);
  }

  // -- definitions --
  void print_input(Val* input);
  void print_tensor(TensorView* tv);
  /// The line of a scalar that nothing computes, if it needs one.
  void print_scalar(Val* val);
  void print_free_scalars(const std::vector<Val*>& vals);

  // -- expressions --
  /// The tensor whose sizes the expression's line lists; nullptr for all other expressions.
  static TensorView* sized_output(const Expr* expr);
  /// The values that a line shows.
  static std::vector<Val*> operands_of(const Expr* expr);
  /// Whether something that the expression's line names is computed, and by no line yet.
  [[nodiscard]] bool is_waiting(const Expr* expr, const ValSet& printed) const;
  /// `exprs` in the order that their lines come in if those `of_attributes` follow them.
  [[nodiscard]] std::vector<Expr*> in_order_of_lines(
      const std::vector<Expr*>& exprs, const std::vector<Expr*>& of_attributes) const;
  /// Expressions of scalars that the line of `expr` shows and no list of operands has.
  static std::vector<Expr*> exprs_of_attributes(const Expr* expr);
  /// Expressions that lead to outputs: operands and what lines show before results, which come by
  /// their age.
  [[nodiscard]] std::vector<Expr*> exprs_by_results() const;
  void print_expressions();
  /// Whether the expression has its line now.
  bool print_expression(Expr* expr);
  void print_permute(const LoadStoreOp& op, const TensorView& out);
  void print_cast(Val* out, const Val* arg);
  /// Logical positions of the reduced axes.
  static std::vector<int64_t> reduced_dims(const Expr& expr, const TensorView* out);
  void print_expand(TensorView* out, const Val* arg);
  /// `name=value`, unless there is none.
  void optional_keyword(PythonCall& call, const char* name, const Val* val) const;
  /// Ranks of strides, if the definition made them and not the schedule.
  [[nodiscard]] std::vector<int64_t> defined_stride_order(const TensorView* tv) const;
  static void add_block_scale_keywords(
      PythonCall& call, const TensorView* out, const TensorView* scale, const TensorView* gamma);

  // -- outputs --
  void print_outputs();

#define NVF_HANDLE_NODE(Node) void handle(const Node& op);
  NVF_FOR_EACH_EXPR(NVF_HANDLE_NODE)
#undef NVF_HANDLE_NODE

  struct TensorDim {
    const TensorView* tv;
    int64_t dim;
  };

  const Fusion& fusion_;
  const Part part_;
  const bool names_constants_;
  bool names_index_constants_ = false; // for the expression at hand
  std::string text_;
  // Their results will be there again. A reshape by merges and splits makes its sizes itself,
  // whatever tells it them.
  std::unordered_set<const Expr*> rebuilt_;
  ValSet printed_; // have their line
  std::unordered_map<const Val*, std::string> names_;
  int64_t num_scalars_ = 0; // that have names
  int64_t num_tensors_ = 0;
  std::vector<const TensorView*> printed_tensors_;
  std::unordered_map<const Val*, TensorDim> size_of_; // by extent: where it was printed first
};

} // namespace nvfuser::python

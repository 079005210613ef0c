// Values as Python source text, exact: what Python reads back is the same value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/mma_macro.h"
#include "ir/statement.h"

namespace nvfuser::python {

/// `DataType.Float`
[[nodiscard]] std::string python_text(DataType dtype);
/// `ParallelType.grid_x`, as Python prints the member.
[[nodiscard]] std::string python_text(ParallelType type);
[[nodiscard]] std::string python_text(MemoryType type);
[[nodiscard]] std::string python_text(LoadStoreOpType type);
[[nodiscard]] std::string python_text(CacheOp op);
[[nodiscard]] std::string python_text(CacheHint hint);
[[nodiscard]] std::string python_text(SwizzleType type);
[[nodiscard]] std::string python_text(MmaMacroArch arch);
[[nodiscard]] std::string python_text(IterType type);
[[nodiscard]] std::string python_text(BinaryOpType type);
/// `True`, `3`, `3.00000`, `float("nan")`, `3.00000+0.500000j`; `None` for the empty value.
[[nodiscard]] std::string python_text(const ScalarValue& value);
/// The value of a constant of `dtype`: as above, a UInt64 without sign.
[[nodiscard]] std::string python_text(const ScalarValue& value, DataType dtype);
[[nodiscard]] std::string python_text(int64_t number);
[[nodiscard]] std::string python_text(bool flag);
[[nodiscard]] std::string python_text(double number);
/// `[True, None]`
[[nodiscard]] std::string python_text(const std::optional<bool>& flag);

/// `[a, b]` of texts.
[[nodiscard]] std::string python_list(const std::vector<std::string>& items);
template <typename T>
[[nodiscard]] std::string python_list(const std::vector<T>& items) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const T& item : items) {
    texts.push_back(python_text(item));
  }
  return python_list(texts);
}

/// A call being put together: `name(first, second, keyword=third)`.
class PythonCall {
 public:
  explicit PythonCall(const std::string& name) : text_(name + "(") {}
  PythonCall& arg(const std::string& text);
  PythonCall& keyword(const char* name, const std::string& text);
  [[nodiscard]] std::string str() const {
    return text_ + ")";
  }

 private:
  std::string text_;
  bool has_args_ = false;
};

} // namespace nvfuser::python

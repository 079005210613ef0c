#include "python_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <locale>
#include <sstream>

#include "base/errors.h"
#include "enum_names.h"

namespace nvfuser::python {
namespace {

/// The shortest text that reads back as `number`, which is finite.
std::string shortest_text(double number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  NVF_INVARIANT(end.ec == std::errc(), "32 characters hold every double");
  std::string text(buffer.data(), end.ptr);
  // Digits alone would read back as an int.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

bool is_negative_zero(double number) {
  return number == 0 && std::signbit(number);
}

std::string complex_text(std::complex<double> number) {
  const std::string re = python_text(number.real());
  const std::string im = python_text(number.imag());
  // A sum loses the sign of a zero, and only digits can have a "j" behind them.
  const bool is_sum = !is_negative_zero(number.real()) && !is_negative_zero(number.imag()) &&
                      std::isfinite(number.imag());
  return is_sum ? re + "+" + im + "j" : "complex(" + re + ", " + im + ")";
}

template <typename Enum>
std::string member_text(const char* enumeration, Enum member) {
  std::string text = enumeration;
  text.append(".").append(python_name(member));
  return text;
}

} // namespace

std::string python_text(DataType dtype) {
  return member_text("DataType", dtype);
}

std::string python_text(ParallelType type) {
  return member_text("ParallelType", type);
}

std::string python_text(MemoryType type) {
  return member_text("MemoryType", type);
}

std::string python_text(LoadStoreOpType type) {
  return member_text("LoadStoreOpType", type);
}

std::string python_text(CacheOp op) {
  return member_text("CacheOp", op);
}

std::string python_text(CacheHint hint) {
  return member_text("CacheHint", hint);
}

std::string python_text(SwizzleType type) {
  return member_text("SwizzleType", type);
}

std::string python_text(MmaMacroArch arch) {
  return member_text("MmaMacroArch", arch);
}

std::string python_text(IterType type) {
  return member_text("IterType", type);
}

std::string python_text(BinaryOpType type) {
  return member_text("BinaryOpType", type);
}

std::string python_text(int64_t number) {
  return std::to_string(number);
}

std::string python_text(bool flag) {
  return flag ? "True" : "False";
}

std::string python_text(double number) {
  if (std::isnan(number)) {
    return std::signbit(number) ? R"(float("-nan"))" : R"(float("nan"))";
  }
  if (std::isinf(number)) {
    return number < 0 ? R"(float("-inf"))" : R"(float("inf"))";
  }
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::showpoint << std::setprecision(6) << number;
  const std::string text = out.str();
  double read_back = 0;
  std::from_chars(text.data(), text.data() + text.size(), read_back);
  const bool is_exact = read_back == number;
  return is_exact ? text : shortest_text(number);
}

std::string python_text(const std::optional<bool>& flag) {
  return flag.has_value() ? python_text(*flag) : "None";
}

std::string python_text(const ScalarValue& value) {
  return std::visit(
      []<typename T>(const T& v) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "None";
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          return complex_text(v);
        } else {
          return python_text(v);
        }
      },
      value);
}

std::string python_text(const ScalarValue& value, DataType dtype) {
  const auto* bits = std::get_if<int64_t>(&value);
  return bits != nullptr && dtype == DataType::UInt64 ? std::to_string(static_cast<uint64_t>(*bits))
                                                      : python_text(value);
}

std::string python_list(const std::vector<std::string>& items) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : ", ") + items[i];
  }
  return text + "]";
}

PythonCall& PythonCall::arg(const std::string& text) {
  text_ += (has_args_ ? ", " : "") + text;
  has_args_ = true;
  return *this;
}

PythonCall& PythonCall::keyword(const char* name, const std::string& text) {
  return arg(std::string(name) + "=" + text);
}

} // namespace nvfuser::python

// HeuristicParams: everything a scheduler decides, as a value. A scheduler computes them from
// summary, sizes, alignments and target, and applies them with the public primitives. In between
// they can be printed, edited, compared, and used as a key: equal params make equal kernels.
//
//   struct PointwiseChoice {
//     int64_t break_point = 0;
//     static constexpr auto fields() { return std::tuple{attr("break_point", ..)}; }
//   };
//   using PointwiseParams = ParamsOf<PointwiseChoice>;
//
// Equality, hash, copies and the Python class derive from `fields()`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/compile_params.h"
#include "base/launch_params.h"
#include "ir/expr.h"
#include "ir/fields.h"

namespace nvfuser {

class HeuristicParams {
 public:
  explicit HeuristicParams(SchedulerType scheduler_type) : scheduler_type_(scheduler_type) {}
  virtual ~HeuristicParams() = default;

  /// The grid that the sizes lead to, for reading; and the block, which the schedule splits by.
  LaunchParams lparams;
  CompileParams cparams;
  std::string tag; // shown in the text

  [[nodiscard]] SchedulerType scheduler_type() const {
    return scheduler_type_;
  }
  /// Whether the same kernel comes of both: same scheduler, compile params, block and fields. The
  /// grid and the threads of rows on chip follow from the sizes of a run: they are not compared.
  [[nodiscard]] bool operator==(const HeuristicParams& other) const;
  [[nodiscard]] size_t hash() const;
  [[nodiscard]] std::string to_string() const;
  /// Tells which values differ: "vectorization_factor 4 instead of 1, threadIdx.x 64 instead of
  /// 128", or the names of both schedulers. Empty if they are equal.
  [[nodiscard]] std::string differences_from(const HeuristicParams& other) const;
  [[nodiscard]] virtual std::unique_ptr<HeuristicParams> clone() const = 0;

 protected:
  HeuristicParams(const HeuristicParams&) = default;
  HeuristicParams& operator=(const HeuristicParams&) = default;
  [[nodiscard]] virtual bool has_equal_fields(const HeuristicParams& other) const = 0;
  [[nodiscard]] virtual size_t hash_of_fields() const = 0;
  /// "name value instead of its value" for each field that differs; `other` has the same class.
  [[nodiscard]] virtual std::vector<std::string> differing_fields(
      const HeuristicParams& other) const = 0;
  /// Whether the kernel is made for this size of a block, which else follows from a run.
  [[nodiscard]] virtual bool is_fixed(ParallelType thread_dim) const = 0;
  /// "Pointwise": what stands in the first line of the text.
  [[nodiscard]] virtual const char* title() const = 0;
  /// The lines between the first and the last one of the text, with their ends.
  [[nodiscard]] virtual std::string body() const = 0;

 private:
  SchedulerType scheduler_type_;
};

namespace detail {

/// `value` as the default text shows it.
template <typename T>
std::string field_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return text(value);
  } else if constexpr (is_vector_v<T>) {
    std::string list;
    for (const auto& item : value) {
      list += (list.empty() ? "" : ", ") + field_text(item);
    }
    return "[" + list + "]";
  } else {
    return std::to_string(value);
  }
}

/// Whether values are shown by `field_text`: not structs of other fields.
template <typename T>
constexpr bool kHasFieldText =
    std::is_arithmetic_v<T> || is_vector_v<T> || requires(const T& value) { text(value); };

} // namespace detail

/// The params that consist of `Choice`, a struct with `fields()`, equality, `kType` and `kTitle`.
template <typename Choice>
class ParamsOf final : public HeuristicParams, public Choice {
 public:
  explicit ParamsOf(SchedulerType scheduler_type = Choice::kType)
      : HeuristicParams(scheduler_type) {}

  [[nodiscard]] std::unique_ptr<HeuristicParams> clone() const override {
    return std::make_unique<ParamsOf>(*this);
  }

 protected:
  [[nodiscard]] bool has_equal_fields(const HeuristicParams& other) const override {
    const auto* same = dynamic_cast<const ParamsOf*>(&other);
    return same != nullptr &&
           static_cast<const Choice&>(*this) == static_cast<const Choice&>(*same);
  }

  [[nodiscard]] size_t hash_of_fields() const override {
    size_t hash = 0;
    for_each_field<Choice>([&](const auto& field) {
      using T = std::remove_cvref_t<decltype(this->*field.member)>;
      hash =
          nvfuser::detail::hash_combine(hash, nvfuser::detail::hash_attr<T>(this->*field.member));
    });
    return hash;
  }

  [[nodiscard]] std::vector<std::string> differing_fields(
      const HeuristicParams& other) const override {
    std::vector<std::string> texts;
    const auto& its = dynamic_cast<const ParamsOf&>(other);
    for_each_field<Choice>([&](const auto& field) {
      const auto& own_value = this->*field.member;
      const auto& its_value = its.*field.member;
      if (own_value == its_value) {
        return;
      }
      texts.emplace_back(field.name);
      if constexpr (detail::kHasFieldText<std::remove_cvref_t<decltype(own_value)>>) {
        texts.back() +=
            " " + detail::field_text(own_value) + " instead of " + detail::field_text(its_value);
      }
    });
    return texts;
  }

  [[nodiscard]] bool is_fixed([[maybe_unused]] ParallelType thread_dim) const override {
    if constexpr (requires { Choice::is_fixed_in(*this, thread_dim); }) {
      return Choice::is_fixed_in(*this, thread_dim);
    } else {
      return true;
    }
  }

  [[nodiscard]] const char* title() const override {
    return Choice::kTitle;
  }

  [[nodiscard]] std::string body() const override {
    if constexpr (requires { Choice::body_of(*this); }) {
      return Choice::body_of(*this);
    } else {
      std::string lines;
      for_each_field<Choice>([&](const auto& field) {
        lines += std::string(field.name) + ": " + detail::field_text(this->*field.member) + "\n";
      });
      return lines;
    }
  }
};

} // namespace nvfuser

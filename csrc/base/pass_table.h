// Pass tables: the order of passes as data, and the one function that runs them.
//
//   constexpr Pass<Kernel> kPasses[] = {
//       {"validate_schedule", find_invalid_schedule, "what is wrong fails before changes"},
//       {"replace_sizes", replace_sizes, "from here on, equal extents are one value"},
//   };
//
// A pass changes its subject (a kernel, a fusion), or refuses it. The runner takes the time,
// records the text after each pass, lets observers print dumps, and asks a verifier after every
// pass.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/errors.h"
#include "base/refusal.h"
#include "base/trace.h"

namespace nvfuser {

template <typename Subject>
struct Pass {
  const char* name;
  /// A pass that rewrites or notes facts, one that tells whether it changed anything, or one that
  /// may say no.
  std::variant<void (*)(Subject&), bool (*)(Subject&), std::optional<Refusal> (*)(Subject&)> run;
  const char* why_here;
};

/// A pass that ran and, if asked for, what it left.
struct PassRecord {
  std::string name;
  std::string text; // `kUnchanged` if the pass left the text as it was
  double milliseconds = 0;
};

/// The text of a pass that changed nothing.
inline constexpr const char* kUnchanged = "(unchanged)\n";

/// How a table is run. Empty functions are not called.
template <typename Subject>
struct PassRun {
  std::string until;    // the last pass that runs; empty: all run
  bool records = false; // the text after each pass
  std::function<std::string(const Subject&)> text_of{};
  std::function<void(const char* pass)> before_pass{}; // for dumps
  std::function<void(const char* pass)> after_pass{};
  /// Finds what is wrong with a subject between two passes; empty: nothing.
  std::function<std::vector<std::string>(const Subject&)> find_violations{};
};

/// Refuses a name that no pass has, with those that there are.
void check_pass_name(std::string_view name, const std::vector<std::string>& known);
/// An error of the compiler: the pass left something that breaks the rules of its IR.
[[noreturn]] void throw_violations(
    const char* pass, const std::vector<std::string>& violations, const std::string& text);

template <typename Subject>
[[nodiscard]] std::vector<std::string> pass_names(const std::vector<Pass<Subject>>& passes) {
  std::vector<std::string> names;
  for (const Pass<Subject>& pass : passes) {
    names.emplace_back(pass.name);
  }
  return names;
}

/// Run passes in their order, up to and including `run.until`. Returns the refusal of the first
/// pass that refuses; later ones do not run then. Every pass that ran is added to `records`.
template <typename Subject>
[[nodiscard]] std::optional<Refusal> run_pass_table(
    const std::vector<Pass<Subject>>& passes,
    Subject& subject,
    const PassRun<Subject>& run,
    std::vector<PassRecord>& records) {
  if (!run.until.empty()) {
    check_pass_name(run.until, pass_names(passes));
  }
  std::string text = run.records ? run.text_of(subject) : "";
  for (const Pass<Subject>& pass : passes) {
    if (run.before_pass) {
      run.before_pass(pass.name);
    }
    const auto begin = std::chrono::steady_clock::now();
    std::optional<Refusal> refusal;
    bool may_have_changed = true;
    {
      const TraceSpan span(pass.name);
      if (const auto* rewrite = std::get_if<void (*)(Subject&)>(&pass.run)) {
        (*rewrite)(subject);
      } else if (const auto* tells = std::get_if<bool (*)(Subject&)>(&pass.run)) {
        may_have_changed = (*tells)(subject);
      } else {
        refusal = std::get<std::optional<Refusal> (*)(Subject&)>(pass.run)(subject);
      }
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (refusal) {
      return refusal;
    }
    PassRecord record{.name = pass.name, .text = "", .milliseconds = time.count()};
    if (run.records) {
      std::string now = may_have_changed ? run.text_of(subject) : text;
      record.text = now == text ? kUnchanged : now;
      text = std::move(now);
    }
    records.push_back(std::move(record));
    if (run.after_pass) {
      run.after_pass(pass.name);
    }
    if (run.find_violations) {
      if (const std::vector<std::string> found = run.find_violations(subject); !found.empty()) {
        throw_violations(pass.name, found, run.text_of(subject));
      }
    }
    if (run.until == pass.name) {
      break;
    }
  }
  return std::nullopt;
}

} // namespace nvfuser

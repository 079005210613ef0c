#include "base/options.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "base/errors.h"

namespace nvfuser {
namespace {

/// What a variable is called: NVFUSER_<kVariable>. The errors name it so too.
template <typename Option>
struct OptionTable;

#define NVF_TEXT(name, text) text,
#define NVF_OPTION_TABLE(Option, variable, FOR_EACH)                                             \
  template <>                                                                                    \
  struct OptionTable<Option> {                                                                   \
    static constexpr const char* kVariable = variable;                                           \
    static constexpr std::array<const char*, kNumOptions<Option>> kNames = {FOR_EACH(NVF_TEXT)}; \
  };
NVF_OPTION_TABLE(DumpOption, "DUMP", NVF_FOR_EACH_DUMP_OPTION)
NVF_OPTION_TABLE(EnableOption, "ENABLE", NVF_FOR_EACH_ENABLE_OPTION)
NVF_OPTION_TABLE(DisableOption, "DISABLE", NVF_FOR_EACH_DISABLE_OPTION)
NVF_OPTION_TABLE(ProfOption, "PROF", NVF_FOR_EACH_PROF_OPTION)
#undef NVF_OPTION_TABLE
#undef NVF_TEXT

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

/// "a, b,c" as {"a", "b", "c"}.
std::vector<std::string> split_args(std::string_view text) {
  std::vector<std::string> args;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (const std::string_view arg = trim(text.substr(0, comma)); !arg.empty()) {
      args.emplace_back(arg);
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return args;
}

template <typename Option>
[[noreturn]] void throw_unknown_option(std::string_view name) {
  std::vector<std::string> names(
      OptionTable<Option>::kNames.begin(), OptionTable<Option>::kNames.end());
  std::sort(names.begin(), names.end());
  std::string list;
  for (const std::string& known : names) {
    list += (list.empty() ? "" : ", ") + known;
  }
  throw UserError(Part(
      "Parsing ", OptionTable<Option>::kVariable, " failed. Invalid option: '", name,
      "'\nAvailable options: ", list));
}

template <typename Option>
[[noreturn]] void throw_syntax_error(std::string_view name, const char* what) {
  throw UserError(Part(
      "Parsing ", OptionTable<Option>::kVariable, " failed when parsing arguments for ", name,
      ". Syntax error: ", what));
}

/// Take "name" or "name(args)" and the comma after it from the front of `text` into `set`.
template <typename Option>
void parse_next_option(std::string_view& text, OptionSet<Option>& set) {
  const size_t name_end = std::min(text.find_first_of(",("), text.size());
  const std::string_view name = trim(text.substr(0, name_end));
  const bool has_args = name_end < text.size() && text[name_end] == '(';
  text.remove_prefix(name_end);
  if (name.empty() && !has_args) { // nothing between two commas
    text.remove_prefix(std::min<size_t>(1, text.size()));
    return;
  }
  const std::optional<Option> option = find_option<Option>(name);
  if (!option) {
    throw_unknown_option<Option>(name);
  }
  std::vector<std::string> args;
  if (has_args) {
    const size_t close = text.find(')');
    if (close == std::string_view::npos) {
      throw_syntax_error<Option>(name, "unclosed '('");
    }
    args = split_args(text.substr(1, close - 1));
    text = trim(text.substr(close + 1));
    if (!text.empty() && text.front() != ',') {
      throw_syntax_error<Option>(name, "expect a ',' after ')'");
    }
  }
  text.remove_prefix(std::min<size_t>(1, text.size()));
  set.set(*option, std::move(args));
}

/// The set written in `text`, the value of an environment variable: names separated by commas, each
/// with arguments in parentheses if it takes any. Throws UserError for unknown names and bad
/// syntax.
template <typename Option>
OptionSet<Option> parse_options(std::string_view text) {
  OptionSet<Option> set;
  text = trim(text);
  while (!text.empty()) {
    parse_next_option(text, set);
    text = trim(text);
  }
  return set;
}

template <typename Option>
OptionSet<Option> read_environment() {
  const std::string name = std::string("NVFUSER_") + OptionTable<Option>::kVariable;
  const char* text = std::getenv(name.c_str());
  if (text == nullptr) {
    text = std::getenv(("PYTORCH_" + name).c_str());
  }
  OptionSet<Option> set = parse_options<Option>(text == nullptr ? "" : text);
  if constexpr (std::is_same_v<Option, DisableOption>) {
    const char* old_form = std::getenv("NVFUSER_DISABLE_FALLBACK");
    if (old_form == nullptr) {
      old_form = std::getenv("PYTORCH_NVFUSER_DISABLE_FALLBACK");
    }
    if (old_form != nullptr && std::string_view(old_form) != "0") {
      set.set(DisableOption::Fallback);
    }
  }
  return set;
}

const std::shared_ptr<const Options>& environment_options() {
  // If the environment is wrong, this throws at every use: a process does not go on with half of
  // it.
  static const std::shared_ptr<const Options> options = std::make_shared<const Options>(
      read_environment<DumpOption>(), read_environment<EnableOption>(),
      read_environment<DisableOption>(), read_environment<ProfOption>());
  return options;
}

thread_local std::shared_ptr<const Options> guarded_options_; // null outside of guards

const Options& options_here() {
  return guarded_options_ ? *guarded_options_ : *environment_options();
}

template <typename Option>
void add_by_name(OptionsGuard& guard, const std::vector<std::string>& texts, const char* kind) {
  for (const std::string& text : texts) {
    const std::string_view name = trim(std::string_view(text).substr(0, text.find('(')));
    const std::optional<Option> option = find_option<Option>(name);
    if (!option) {
      throw UserError(Part("Unrecognized ", kind, ": ", text));
    }
    guard.set(*option, parse_options<Option>(text).args(*option));
  }
}

/// A copy of the options of this thread, changed by `change`, takes their place.
template <typename Fn>
void change_options(const Fn& change) {
  auto changed = std::make_shared<Options>(options_here());
  change(*changed);
  guarded_options_ = std::move(changed);
}

} // namespace

template <typename Option>
const std::vector<std::string>& OptionSet<Option>::args(Option option) const {
  static const std::vector<std::string> none;
  const auto found = args_.find(option);
  return found == args_.end() ? none : found->second;
}

template <typename Option>
void OptionSet<Option>::set(Option option, std::vector<std::string> args) {
  on_.set(static_cast<size_t>(option));
  args_.erase(option);
  if (!args.empty()) {
    args_.emplace(option, std::move(args));
  }
}

template <typename Option>
void OptionSet<Option>::unset(Option option) {
  on_.reset(static_cast<size_t>(option));
  args_.erase(option);
}

template <typename Option>
const char* option_name(Option option) {
  return OptionTable<Option>::kNames.at(static_cast<size_t>(option));
}

template <typename Option>
std::optional<Option> find_option(std::string_view name) {
  const auto& names = OptionTable<Option>::kNames;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return std::nullopt;
  }
  return static_cast<Option>(found - names.begin());
}

std::shared_ptr<const Options> current_options() {
  return guarded_options_ ? guarded_options_ : environment_options();
}

template <typename Option>
bool has_option(Option option) {
  return std::get<OptionSet<Option>>(options_here()).has(option);
}

template <typename Option>
std::vector<std::string> option_args(Option option) {
  return std::get<OptionSet<Option>>(options_here()).args(option);
}

bool is_profiling_requested() {
  return std::get<OptionSet<ProfOption>>(options_here()).any();
}

OptionsGuard::OptionsGuard() : previous_(guarded_options_) {}

OptionsGuard::OptionsGuard(std::shared_ptr<const Options> options)
    : previous_(std::exchange(guarded_options_, std::move(options))) {}

OptionsGuard::~OptionsGuard() {
  guarded_options_ = std::move(previous_);
}

template <typename Option>
void OptionsGuard::set(Option option, std::vector<std::string> args) {
  change_options(
      [&](Options& options) { std::get<OptionSet<Option>>(options).set(option, std::move(args)); });
}

template <typename Option>
void OptionsGuard::unset(Option option) {
  change_options([&](Options& options) { std::get<OptionSet<Option>>(options).unset(option); });
}

void OptionsGuard::enable(const std::vector<std::string>& options) {
  add_by_name<EnableOption>(*this, options, "enable_option");
}

void OptionsGuard::disable(const std::vector<std::string>& options) {
  add_by_name<DisableOption>(*this, options, "disable_option");
}

#define NVF_INSTANTIATE(Option)                                      \
  template class OptionSet<Option>;                                  \
  template const char* option_name(Option);                          \
  template std::optional<Option> find_option(std::string_view);      \
  template bool has_option(Option);                                  \
  template std::vector<std::string> option_args(Option);             \
  template void OptionsGuard::set(Option, std::vector<std::string>); \
  template void OptionsGuard::unset(Option);
NVF_INSTANTIATE(DumpOption)
NVF_INSTANTIATE(EnableOption)
NVF_INSTANTIATE(DisableOption)
NVF_INSTANTIATE(ProfOption)
#undef NVF_INSTANTIATE

} // namespace nvfuser

#include "base/options.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "base/environment.h"
#include "base/errors.h"

namespace nvfuser {
namespace {

/// The name of a variable is NVFUSER_<kVariable>; errors use it.
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

/// Known, and without effect: they belong to parts that are not there.
template <typename Option>
struct IdleOptions {
  static constexpr std::array<Option, 0> kIdle{};
};
template <>
struct IdleOptions<DumpOption> {
  static constexpr std::array kIdle = {
      DumpOption::CutlassCompile,  DumpOption::HostIrLowering,      DumpOption::HostIrJit,
      DumpOption::Inlining,        DumpOption::TransformPropagator, DumpOption::ExprSimplify,
      DumpOption::ExprSortVerbose, DumpOption::Communication,       DumpOption::Ftrace};
};
template <>
struct IdleOptions<EnableOption> {
  static constexpr std::array kIdle = {
      EnableOption::FuseMultipleMatmuls,
      EnableOption::CutlassScheduler,
      EnableOption::TmaPointwise,
      EnableOption::TmaInnerPersistent,
      EnableOption::TmaReduction,
      EnableOption::WsNormalization,
      EnableOption::MemoryPromotion,
      EnableOption::ReuseZeroedMemory,
      EnableOption::KernelDb,
      EnableOption::StaticFusionCount,
      EnableOption::IdModelExtraValidation,
      EnableOption::HostIrLowering,
      EnableOption::HostIrJit,
      EnableOption::InsertReshardingAfter,
      EnableOption::P2pProtocol,
      EnableOption::P2pTransport,
      EnableOption::MulticastProtocol,
      EnableOption::WaitDebugger};
};
template <>
struct IdleOptions<DisableOption> {
  static constexpr std::array kIdle = {
      DisableOption::ContigIndexing,
      DisableOption::MagicZero,
      DisableOption::ExprSimplify,
      DisableOption::PredicateElimination,
      DisableOption::WelfordVectorization,
      DisableOption::GroupedGridWelfordOuterOpt,
      DisableOption::ReuseMismatchedTypeRegisters,
      DisableOption::Nvtx,
      DisableOption::Multidevice,
      DisableOption::InferContiguity};
};

std::vector<std::string> (*lower_verbose_arguments)() = nullptr;

/// The arguments that an option takes in parentheses.
struct ArgumentRule {
  enum class Kind : uint8_t { None, OneOf, Number, Any } kind = Kind::None;
  std::vector<std::string> names{}; // for OneOf
};

template <typename Option>
ArgumentRule argument_rule(Option option) {
  using Kind = ArgumentRule::Kind;
  if constexpr (std::is_same_v<Option, DumpOption>) {
    if (option == DumpOption::LowerVerbose) {
      return lower_verbose_arguments == nullptr
                 ? ArgumentRule{Kind::Any}
                 : ArgumentRule{Kind::OneOf, lower_verbose_arguments()};
    }
  }
  if constexpr (std::is_same_v<Option, EnableOption>) {
    switch (option) {
      case EnableOption::P2pProtocol: return {Kind::OneOf, {"put", "get"}};
      case EnableOption::P2pTransport: return {Kind::OneOf, {"CopyEngine", "Tma"}};
      case EnableOption::MulticastProtocol:
        return {Kind::OneOf, {"memcpy", "multimem", "batch_memcpy"}};
      case EnableOption::WaitDebugger:
      case EnableOption::LaunchGraphs: return {Kind::Number};
      default: break;
    }
  }
  return {};
}

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

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

template <typename Option>
[[noreturn]] void throw_unknown_option(std::string_view name) {
  const auto& idle = IdleOptions<Option>::kIdle;
  std::vector<std::string> effective;
  std::vector<std::string> without_effect;
  for (size_t i = 0; i < kNumOptions<Option>; ++i) {
    const auto option = static_cast<Option>(i);
    const bool is_idle = std::find(idle.begin(), idle.end(), option) != idle.end();
    (is_idle ? without_effect : effective).emplace_back(option_name(option));
  }
  std::sort(effective.begin(), effective.end());
  std::sort(without_effect.begin(), without_effect.end());
  throw UserError(Part(
      "Parsing ", OptionTable<Option>::kVariable, " failed. Invalid option: '", name,
      "'\nAvailable options: ", joined(effective),
      without_effect.empty() ? "" : "\nKnown, but without effect so far: ",
      joined(without_effect)));
}

template <typename Option>
[[noreturn]] void throw_syntax_error(std::string_view name, const char* what) {
  throw UserError(Part(
      "Parsing ", OptionTable<Option>::kVariable, " failed when parsing arguments for ", name,
      ". Syntax error: ", what));
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// A UserError if `option` does not take `args`.
template <typename Option>
void check_args(Option option, const std::vector<std::string>& args) {
  const ArgumentRule rule = argument_rule(option);
  const auto fail = [&](const std::string& arg, const std::string& expected) {
    throw UserError(Part(
        "Parsing ", OptionTable<Option>::kVariable, " failed when parsing arguments for ",
        option_name(option), ". Invalid argument: '", arg, "'\n", expected));
  };
  for (const std::string& arg : args) {
    switch (rule.kind) {
      case ArgumentRule::Kind::Any: break;
      case ArgumentRule::Kind::None: fail(arg, "It takes no arguments."); break;
      case ArgumentRule::Kind::Number:
        if (!is_number(arg)) {
          fail(arg, "It takes a number.");
        }
        break;
      case ArgumentRule::Kind::OneOf:
        if (std::find(rule.names.begin(), rule.names.end(), arg) == rule.names.end()) {
          fail(arg, "Available arguments: " + joined(rule.names));
        }
        break;
    }
  }
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
  check_args(*option, args);
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
    if (environment().disables_fallback) {
      set.set(DisableOption::Fallback);
    }
  }
  return set;
}

const std::shared_ptr<const Options>& environment_options() {
  // If the environment is wrong, this throws at every use: a process does not go on with half of
  // it. Variables that hold no options are read along with those that do.
  (void)environment();
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

void set_lower_verbose_arguments(std::vector<std::string> (*names)()) {
  lower_verbose_arguments = names;
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

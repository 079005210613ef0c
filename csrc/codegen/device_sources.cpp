#include "codegen/device_sources.h"

#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "runtime_sources.h"

namespace nvfuser {
namespace {

constexpr std::string_view kProvides = "// provides: ";
constexpr std::string_view kRequires = "// requires: ";

struct DeviceSource {
  std::string name; // without suffix
  std::string text; // without what only the assembly reads
  std::vector<std::string> requirements;
};

void append_words(std::string_view list, std::vector<std::string>& words) {
  std::istringstream in{std::string(list)};
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
}

/// Whether the next line is a list of names, which is left out: so is the line that sets it apart.
bool is_before_list(std::istringstream& in) {
  const std::istringstream::pos_type position = in.tellg();
  std::string line;
  std::getline(in, line);
  in.clear();
  in.seekg(position);
  return line.rfind(kProvides, 0) == 0 || line.rfind(kRequires, 0) == 0;
}

/// The sources of a target, and which of them provides which name.
class DeviceSourceIndex {
 public:
  DeviceSourceIndex(const EmbeddedSource* sources, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      add(sources[i]);
    }
  }

  /// Positions of the sources that `identifiers` need, requirements first.
  [[nodiscard]] std::vector<const DeviceSource*> closure(
      const std::set<std::string>& identifiers) const {
    std::vector<const DeviceSource*> order;
    std::set<std::string> seen;
    visit("types", seen, order);
    for (const DeviceSource& source : sources_) { // in the order of names, not of use
      for (const std::string& name : provided_by_.at(source.name)) {
        if (identifiers.count(name) != 0) {
          visit(source.name, seen, order);
          break;
        }
      }
    }
    return order;
  }

 private:
  void add(const EmbeddedSource& embedded) {
    DeviceSource source;
    const std::string_view file_name = embedded.name;
    source.name = file_name.substr(0, file_name.find('.'));
    std::vector<std::string>& provided = provided_by_[source.name];
    std::istringstream in{embedded.text};
    for (std::string line; std::getline(in, line);) {
      const std::string_view view = line;
      if (view.substr(0, kProvides.size()) == kProvides) {
        append_words(view.substr(kProvides.size()), provided);
      } else if (view.substr(0, kRequires.size()) == kRequires) {
        append_words(view.substr(kRequires.size()), source.requirements);
      } else if (view == "//" && is_before_list(in)) {
        continue;
      } else if (view != "#pragma once") {
        source.text += line + "\n";
      }
    }
    position_[source.name] = sources_.size();
    sources_.push_back(std::move(source));
  }

  void visit(
      const std::string& name,
      std::set<std::string>& seen,
      std::vector<const DeviceSource*>& order) const {
    const auto found = position_.find(name);
    if (found == position_.end() || !seen.insert(name).second) {
      return;
    }
    const DeviceSource& source = sources_[found->second];
    for (const std::string& required : source.requirements) {
      visit(required, seen, order);
    }
    order.push_back(&source);
  }

  std::vector<DeviceSource> sources_;
  std::map<std::string, size_t> position_;
  std::map<std::string, std::vector<std::string>> provided_by_;
};

const DeviceSourceIndex& index_of(const Target& target) {
  // Never destroyed: threads may still compile when the process ends.
  static const auto& cuda = *new DeviceSourceIndex(kCudaSources, kNumCudaSources);
  static const auto& cpu = *new DeviceSourceIndex(kCpuSources, kNumCpuSources);
  return target.is_cuda() ? cuda : cpu;
}

/// Every identifier of C-like text outside of `//` comments.
std::set<std::string> identifiers_in(const std::string& text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::set<std::string> identifiers;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (is_word(text[i])) {
      const size_t begin = i;
      while (i < text.size() && is_word(text[i])) {
        ++i;
      }
      identifiers.insert(text.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return identifiers;
}

} // namespace

std::string used_device_sources(const Target& target, const std::string& kernel_text) {
  std::string out;
  for (const DeviceSource* source : index_of(target).closure(identifiers_in(kernel_text))) {
    out += source->text;
  }
  return out;
}

} // namespace nvfuser

// DisjointSets: elements that stand for the same thing, grouped into sets that can be joined.
//
// Everything that comes out is ordered by when the elements were added, never by how their sets
// were joined or where they lie in memory: the members of a set, and the sets by their first
// members.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/numbering.h"

namespace nvfuser {

template <typename T, typename Hash = std::hash<T>>
class DisjointSets {
 public:
  /// Add `entry` as a set of its own. Returns false, and changes nothing, if it is known already.
  bool add(const T& entry) {
    const auto [position, is_new] = numbering_.add(entry);
    if (is_new) {
      nodes_.push_back({.parent = position, .next = position, .first = position, .size = 1});
      ++num_sets_;
    }
    return is_new;
  }

  /// Join the sets of `entry0` and `entry1`, adding either if it is new. Returns whether they were
  /// apart before. Cost: O(log entries).
  bool map_entries(const T& entry0, const T& entry1) {
    add(entry0);
    add(entry1);
    return map_positions(index_of(entry0), index_of(entry1));
  }

  /// The same for positions in `entries()`.
  bool map_positions(size_t position0, size_t position1) {
    size_t into = root(position0);
    size_t from = root(position1);
    if (into == from) {
      return false;
    }
    if (nodes_[into].size < nodes_[from].size) {
      std::swap(into, from);
    }
    nodes_[from].parent = into;
    nodes_[into].size += nodes_[from].size;
    nodes_[into].first = std::min(nodes_[into].first, nodes_[from].first);
    std::swap(nodes_[into].next, nodes_[from].next); // two rings become one
    --num_sets_;
    return true;
  }

  [[nodiscard]] bool contains(const T& entry) const {
    return numbering_.find(entry).has_value();
  }

  /// Position of an entry in `entries()`. Unknown entries are an error.
  [[nodiscard]] size_t index_of(const T& entry) const {
    const std::optional<size_t> found = numbering_.find(entry);
    if (!found.has_value()) {
      throw UserError(Part(
          "Strict mapping failed on element: ", element_text(entry),
          " either an error occurred, or non strict mapping should have been used."));
    }
    return *found;
  }

  /// Are both in one set? Unknown entries are mapped to nothing.
  [[nodiscard]] bool permissive_are_mapped(const T& entry0, const T& entry1) const {
    const std::optional<size_t> found0 = numbering_.find(entry0);
    const std::optional<size_t> found1 = numbering_.find(entry1);
    return found0.has_value() && found1.has_value() && root(*found0) == root(*found1);
  }

  /// Are both in one set? Asking for an unknown entry is an error.
  [[nodiscard]] bool strict_are_mapped(const T& entry0, const T& entry1) const {
    return root(index_of(entry0)) == root(index_of(entry1));
  }

  /// The members of the entry's set, in the order they were added. Unknown entries are an error.
  /// Cost: O(n log n) for n members.
  [[nodiscard]] std::vector<T> set_of(const T& entry) const {
    const size_t start = index_of(entry);
    std::vector<size_t> positions;
    for (size_t i = start; positions.empty() || i != start; i = nodes_[i].next) {
      positions.push_back(i);
    }
    std::sort(positions.begin(), positions.end());
    std::vector<T> members;
    members.reserve(positions.size());
    for (const size_t i : positions) {
      members.push_back(entries()[i]);
    }
    return members;
  }

  /// The member of the entry's set that was added first: it stands for the set until the set is
  /// joined with an older one. Unknown entries are an error.
  [[nodiscard]] const T& representative(const T& entry) const {
    return entries()[first_index(entry)];
  }

  /// Position in `entries()` of the member of the entry's set that was added first: a number for
  /// the set. Unknown entries are an error.
  [[nodiscard]] size_t first_index(const T& entry) const {
    return first_at(index_of(entry));
  }
  /// The same for a position in `entries()`.
  [[nodiscard]] size_t first_at(size_t position) const {
    return nodes_[root(position)].first;
  }

  /// A number for the entry's set that, when two sets are joined, is that of the larger one. For
  /// tables beside the sets that move as few rows as possible. Unknown entries are an error.
  [[nodiscard]] size_t root_index(const T& entry) const {
    return root(index_of(entry));
  }
  /// The same for a position in `entries()`. No path compression: joining by size keeps paths at
  /// O(log n), and readers may run in parallel.
  [[nodiscard]] size_t root(size_t i) const {
    while (nodes_[i].parent != i) {
      i = nodes_[i].parent;
    }
    return i;
  }

  /// All sets, ordered by their first members. Cost: O(entries).
  [[nodiscard]] std::vector<std::vector<T>> sets() const {
    std::vector<std::vector<T>> result;
    std::vector<size_t> place(entries().size(), 0); // of the first member: of its set in `result`
    for (size_t i = 0; i < entries().size(); ++i) {
      const size_t first = nodes_[root(i)].first;
      if (first == i) {
        place[i] = result.size();
        result.emplace_back();
      }
      result[place[first]].push_back(entries()[i]);
    }
    return result;
  }

  /// All entries in the order they were added.
  [[nodiscard]] const std::vector<T>& entries() const {
    return numbering_.entries();
  }
  [[nodiscard]] bool empty() const {
    return entries().empty();
  }
  [[nodiscard]] size_t num_sets() const {
    return num_sets_;
  }

  /// The documented text.
  [[nodiscard]] std::string to_string() const {
    std::string out = "disjoint sets{\n";
    for (const std::vector<T>& set : sets()) {
      out += "  { ";
      for (size_t i = 0; i < set.size(); ++i) {
        out += (i == 0 ? "" : "; ") + element_text(set[i]);
      }
      out += " }\n";
    }
    return out + "}";
  }

 private:
  struct Node {
    size_t parent; // of a root: itself
    size_t next;   // member of the same set: they form a ring
    size_t first;  // of a root: the member that was added first
    size_t size;   // of a root: number of members
  };

  /// An element's own text, where it has one.
  [[nodiscard]] static std::string element_text(const T& element) {
    if constexpr (requires { element->to_string(); }) {
      return element->to_string();
    } else if constexpr (requires { element.to_string(); }) {
      return element.to_string();
    } else {
      std::ostringstream out;
      out << element;
      return out.str();
    }
  }

  Numbering<T, Hash> numbering_;
  std::vector<Node> nodes_; // as many as entries
  size_t num_sets_ = 0;
};

} // namespace nvfuser

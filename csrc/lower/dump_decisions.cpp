#include "lower/dump_decisions.h"

#include <functional>
#include <unordered_map>

#include "ir/scopes.h"
#include "lower/analysis/block_collectives.h"
#include "lower/analysis/buffer_lives.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/passes/hazards.h"

namespace nvfuser {
namespace {

std::string without_line_end(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

/// `T1_s_float`
std::string name_of(const TensorView* tensor) {
  const std::string text = tensor->to_string();
  return text.substr(0, text.find('['));
}

std::string joined(const std::vector<std::string>& texts, const char* separator) {
  std::string result;
  for (const std::string& text : texts) {
    result += (result.empty() ? "" : separator) + text;
  }
  return result;
}

/// `0 <= i1 < i0`; no node is made for the text.
std::string text_of(const RangeTest& test) {
  return (test.may_be_negative ? "0 <= " : "") + test.index->to_inline_string() + " < " +
         test.extent->to_inline_string();
}

std::vector<std::string> tests_of(const Kernel& kernel, const Expr* statement) {
  std::vector<std::string> texts;
  if (const auto found = kernel.tests.find(statement); found != kernel.tests.end()) {
    for (const RangeTest& test : found->second.ranges) {
      texts.push_back(text_of(test));
    }
    if (found->second.owner != nullptr) {
      texts.push_back("owner: " + found->second.owner->to_inline_string());
    }
  }
  return texts;
}

/// Loops and conditions around a statement, outermost first.
struct Surroundings {
  std::vector<std::string> loops;
  std::vector<std::string> conditions;
};

/// Call fn(statement, next in its list or nullptr, surroundings) for everything that owns no list.
using StatementFn = std::function<void(const Expr*, const Expr*, const Surroundings&)>;

void for_each_statement(const Scope& scope, const Surroundings& around, const StatementFn& fn) {
  for (size_t i = 0; i < scope.size(); ++i) {
    Surroundings inside = around;
    if (const auto* loop = scope[i]->as<ForLoop>()) {
      inside.loops.push_back(loop->index->to_inline_string());
      for_each_statement(loop->body, inside, fn);
    } else if (const auto* branch = scope[i]->as<IfThenElse>()) {
      const std::string condition = branch->condition->to_inline_string();
      inside.conditions.push_back(condition);
      for_each_statement(branch->then_body, inside, fn);
      inside.conditions.back() = "not " + condition;
      for_each_statement(branch->else_body, inside, fn);
    } else {
      fn(scope[i], i + 1 < scope.size() ? scope[i + 1] : nullptr, around);
    }
  }
}

/// The threads that wait at a barrier that does it: one over the grid is one over each block.
std::string text_of(BarrierSet barriers) {
  std::vector<std::string> texts;
  if (const std::optional<Barrier> widest = barriers.widest()) {
    static constexpr const char* kNames[] = {"warp", "block", "cluster", "grid"};
    texts.emplace_back(kNames[static_cast<size_t>(*widest)]);
  }
  if (barriers.has(Barrier::MBarrier)) {
    texts.emplace_back("mbarrier");
  }
  return texts.empty() ? "none" : joined(texts, " and ");
}

/// The first statement of a subtree.
const Expr* first_statement(const Expr* node) {
  for (const Scope* body : bodies_of(*node)) {
    for (const Expr* child : *body) {
      if (const Expr* found = first_statement(child)) {
        return found;
      }
    }
  }
  return bodies_of(*node).empty() ? node : nullptr;
}

std::string place_of(const Expr* next, const Surroundings& around) {
  const Expr* first = next == nullptr ? nullptr : first_statement(next);
  std::string text =
      first == nullptr ? "at the end" : "before " + without_line_end(first->to_string());
  return text + (around.loops.empty() ? "" : ", in loops " + joined(around.loops, ", "));
}

std::string name_of(const SharedBuffer& buffer) {
  return buffer.allocate != nullptr
             ? name_of(buffer.allocate->buffer)
             : "scratch of " + without_line_end(buffer.collective->to_string());
}

Val* address_of(const SharedBuffer& buffer) {
  return buffer.allocate != nullptr ? buffer.allocate->address : scratch_offset(*buffer.collective);
}

std::string relation(const BufferLives& lives, const SharedBuffer& a, const SharedBuffer& b) {
  const bool same_place =
      address_of(a) != nullptr && address_of(b) != nullptr && address_of(a)->same_as(address_of(b));
  if (lives.may_overlay(a, b)) {
    return same_place ? "lies over it" : "may lie over it";
  }
  return lives.ends_before(a, b) || lives.ends_before(b, a) ? "no barrier between their uses"
                                                            : "in use at the same time";
}

} // namespace

std::string describe_indices(const Kernel& kernel) {
  std::string text = "Indices:\n";
  for_each_statement(
      kernel.body, {}, [&](const Expr* statement, const Expr*, const Surroundings& around) {
        if (statement->is_a<Allocate>()) {
          return;
        }
        text += "  " + without_line_end(statement->to_string()) + "\n";
        text += "    loops: " + (around.loops.empty() ? "none" : joined(around.loops, ", ")) + "\n";
        const auto add = [&](const char* what, const TensorIndex& element) {
          text += std::string("    ") + what + " " + name_of(element.view()) + " at " +
                  element.index()->to_inline_string() + "\n";
        };
        for_each_write(*statement, [&](const TensorIndex& element) { add("writes", element); });
        for_each_read(*statement, [&](const TensorIndex& element) { add("reads", element); });
        for (const std::string& test : tests_of(kernel, statement)) {
          text += "    if " + test + "\n";
        }
      });
  return text;
}

std::string describe_barriers(const Kernel& kernel) {
  const Hazards hazards(kernel);
  std::string text = "Barriers between writers and readers:\n";
  for (const Expr* reader : kernel.sorted_exprs) {
    const auto* consumer = static_cast<const TensorView*>(reader->outputs().front());
    for (const Val* in : reader->inputs()) {
      if (!in->is_tensor() || in->definition() == nullptr) {
        continue;
      }
      const auto* producer = static_cast<const TensorView*>(in);
      if (producer->memory_type() != MemoryType::Local) {
        text += "  " + name_of(producer) + " -> " + name_of(consumer) + ": " +
                text_of(hazards.between(producer, consumer)) + "\n";
      }
    }
  }
  text += "Barriers in the kernel:\n";
  for_each_statement(
      kernel.body, {}, [&](const Expr* statement, const Expr* next, const Surroundings& around) {
        if (const auto* block = statement->as<BlockSync>()) {
          text += std::string("  block") + (block->war_sync ? ", before the next iteration" : "") +
                  ", " + place_of(next, around) + "\n";
        } else if (statement->is_a<GridSync>()) {
          text += "  grid, " + place_of(next, around) + "\n";
        }
      });
  return text;
}

ConditionReport::ConditionReport(const Kernel& kernel) {
  for_each_statement(kernel.body, {}, [&](const Expr* statement, const Expr*, const Surroundings&) {
    std::vector<std::string> tests = tests_of(kernel, statement);
    if (!tests.empty()) {
      statements_.push_back(
          {statement, without_line_end(statement->to_string()), std::move(tests)});
    }
  });
}

std::string ConditionReport::describe(const Kernel& kernel) const {
  std::unordered_map<const Expr*, std::vector<std::string>> conditions; // of every copy
  for_each_statement(
      kernel.body, {}, [&](const Expr* statement, const Expr*, const Surroundings& around) {
        conditions[statement].push_back(joined(around.conditions, " && "));
      });
  std::string text = "Range tests:\n";
  for (const Statement& entry : statements_) {
    text += "  " + entry.text + "\n";
    for (const std::string& test : entry.tests) {
      text += "    test:      " + test + "\n";
    }
    const auto found = conditions.find(entry.statement);
    if (found == conditions.end()) {
      text += "    replaced by other statements\n";
      continue;
    }
    for (const std::string& condition : found->second) {
      text += condition.empty() ? "    eliminated\n" : "    condition: " + condition + "\n";
    }
  }
  return text;
}

std::string describe_shared_memory(Kernel& kernel) {
  const BufferLives lives(kernel);
  std::string text = "Shared memory: ";
  text += kernel.launch.shared_bytes == nullptr
              ? "none"
              : kernel.launch.shared_bytes->to_inline_string() + " bytes";
  text += '\n';
  const std::vector<SharedBuffer>& buffers = lives.buffers();
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Val* address = address_of(buffers[i]);
    text += "  " + name_of(buffers[i]) + ", from byte " +
            (address == nullptr ? "?" : address->to_inline_string()) +
            (buffers[i].uses.empty() ? ", unused" : "") + "\n";
    for (size_t j = 0; j < i; ++j) {
      text += "    " + name_of(buffers[j]) + ": " + relation(lives, buffers[j], buffers[i]) + "\n";
    }
  }
  return text;
}

} // namespace nvfuser

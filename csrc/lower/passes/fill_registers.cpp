#include "lower/passes/fill_registers.h"

#include <unordered_map>

#include "ir/scopes.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

constexpr int64_t kBitsOfByte = 8; // pairs of smaller elements are loaded together

/// A load of one element from global memory into a register; nullptr: something else.
const LoadStoreOp* element_load(const Expr* node) {
  const auto* copy = node->as<LoadStoreOp>();
  const auto is_in = [](const Val* side, MemoryType memory) {
    return side->vtype() == ValType::TensorIndex &&
           static_cast<const TensorIndex*>(side)->view()->memory_type() == memory;
  };
  const bool is_load = copy != nullptr && is_in(copy->arg, MemoryType::Global) &&
                       is_in(copy->out, MemoryType::Local);
  return is_load && size_bits(copy->out->dtype()) >= kBitsOfByte ? copy : nullptr;
}

class RegisterFiller {
 public:
  explicit RegisterFiller(Kernel& kernel) : kernel_(kernel) {
    note(kernel.body);
  }

  void run(Scope& scope) {
    Scope result;
    for (Expr* node : scope) {
      for (Scope* body : bodies_of(*node)) {
        run(*body);
      }
      if (const auto* branch = node->as<IfThenElse>();
          branch != nullptr && branch->else_body.empty()) {
        append_values(result, scope, branch->then_body);
      }
      result.push_back(node);
    }
    scope = std::move(result);
  }

 private:
  /// A register, and where the statements are that touch it.
  struct Register {
    const Scope* declared_in = nullptr;
    const Scope* used_in = nullptr; // nullptr: in several lists
    int64_t uses = 0;
    int64_t writes = 0;
    bool is_array = false;
  };

  void note(const Scope& scope) {
    for (const Expr* node : scope) {
      if (const auto* allocate = node->as<Allocate>()) {
        Register& declared = registers_[allocate->buffer];
        declared.declared_in = &scope;
        declared.is_array = !allocate->size->is_const_int(1);
        continue;
      }
      for_each_element(*node, [&](const TensorIndex& element) {
        Register& used = registers_[element.view()];
        used.used_in = used.uses == 0 || used.used_in == &scope ? &scope : nullptr;
        ++used.uses;
      });
      for_each_write(
          *node, [&](const TensorIndex& element) { ++registers_[element.view()].writes; });
      for (const Scope* body : bodies_of(*node)) {
        note(*body);
      }
    }
  }

  /// Whether a register may hold anything before `branch`, a part of `scope`, and something beside
  /// the branch reads it.
  [[nodiscard]] bool may_be_undefined(
      const TensorView* view, const Scope& scope, const Scope& branch) const {
    const Register& found = registers_.at(view);
    return found.declared_in == &scope && !found.is_array && found.writes == 1 &&
           found.used_in != &branch;
  }

  /// Values of what `branch`, a part of `scope`, loads.
  void append_values(Scope& result, const Scope& scope, const Scope& branch) {
    for (const Expr* node : branch) {
      const LoadStoreOp* load = element_load(node);
      if (load == nullptr ||
          !may_be_undefined(static_cast<const TensorIndex*>(load->out)->view(), scope, branch)) {
        continue;
      }
      Expr* value = kernel_.make<LoadStoreOp>(
          {.out = load->out,
           .arg = kernel_.new_constant(int64_t{0}, load->out->dtype()),
           .op = LoadStoreOpType::Set});
      kernel_.origin[value] = kernel_.origin.at(load);
      result.push_back(value);
    }
  }

  Kernel& kernel_;
  std::unordered_map<const TensorView*, Register> registers_;
};

} // namespace

void fill_registers(Kernel& kernel) {
  if (kernel.target().has_hardware_threads) {
    RegisterFiller(kernel).run(kernel.body);
  }
}

} // namespace nvfuser

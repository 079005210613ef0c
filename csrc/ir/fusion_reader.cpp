#include "ir/fusion_reader.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_set>

#include "ir/meaning.h"
#include "ir/serialized_form.h"

namespace nvfuser {
namespace {

using namespace serialized;

/// Whether a value can stand where a field has a `T`.
template <typename T>
bool is_a(const Statement& statement) {
  if (!statement.is_val()) {
    return false;
  }
  const auto& val = static_cast<const Val&>(statement);
  if constexpr (std::is_same_v<T, IterDomain>) {
    return val.vtype() == ValType::IterDomain;
  } else if constexpr (std::is_same_v<T, TensorDomain>) {
    return val.vtype() == ValType::TensorDomain;
  } else if constexpr (std::is_same_v<T, TensorView>) {
    return val.is_tensor();
  } else {
    static_assert(std::is_same_v<T, Val>);
    return val.is_tensor() || val.is_scalar();
  }
}

template <typename T>
const char* name_of_kind() {
  if constexpr (std::is_same_v<T, IterDomain>) {
    return "an axis";
  } else if constexpr (std::is_same_v<T, TensorDomain>) {
    return "a domain";
  } else if constexpr (std::is_same_v<T, TensorView>) {
    return "a tensor";
  } else {
    return "a tensor or a scalar";
  }
}

/// How a constant of that type is held; 0 (no value): there are none.
size_t alternative_of(DataType dtype) {
  if (is_boolean(dtype)) {
    return ScalarValue(false).index();
  }
  if (is_integral(dtype)) {
    return ScalarValue(int64_t{0}).index();
  }
  if (is_complex(dtype)) {
    return ScalarValue(std::complex<double>()).index();
  }
  return is_floating_point(dtype) ? ScalarValue(0.0).index() : 0;
}

bool is_size(const Val* val) {
  return val != nullptr && val->is_scalar() && val->dtype() == DataType::Index;
}

} // namespace

FusionReader::FusionReader(std::span<const std::byte> body)
    : in_(body), fusion_(Fusion::create()) {}

std::shared_ptr<Fusion> FusionReader::read() {
  read_interface();
  for (size_t i = 0; i < num_statements_ && in_.is_good(); ++i) {
    read_record();
  }
  if (in_.is_good()) {
    add_inputs();
  }
  if (in_.is_good()) {
    add_outputs();
  }
  if (in_.is_good()) {
    read_schedules();
  }
  if (in_.num_left() != 0) {
    in_.fail(std::to_string(in_.num_left()) + " bytes are left behind the fusion");
  }
  return in_.is_good() ? fusion_ : nullptr;
}

// ---- The interface ------------------------------------------------------------------------------

void FusionReader::read_interface() {
  num_statements_ = in_.count();
  is_input_.resize(num_statements_ + 1);
  const auto position = [&](bool is_optional) {
    const size_t number = in_.number_below(num_statements_ + 1, "statement");
    if (number == 0 && !is_optional) {
      in_.fail("an input or output is missing");
    }
    return number;
  };
  for (size_t i = in_.count(); i > 0 && in_.is_good(); --i) {
    inputs_.push_back(position(false));
    is_input_[inputs_.back()] = true;
  }
  for (size_t i = in_.count(); i > 0 && in_.is_good(); --i) {
    outputs_.push_back(
        {.number = position(false), // braces evaluate in order
         .aliased = position(true),
         .is_hidden = in_.number_below(2, "a flag is") == 1});
  }
}

void FusionReader::add_inputs() {
  for (const size_t number : inputs_) {
    Record& input = record(number);
    const auto* val = static_cast<const Val*>(input.statement);
    if (!is_a<Val>(*input.statement) || val->is_const() || val->is_fusion_input()) {
      return in_.fail(
          "statement " + std::to_string(number) +
          " is an input, but no tensor or symbolic scalar, or one already");
    }
    fusion_->add_input(static_cast<Val*>(input.statement));
  }
}

void FusionReader::add_outputs() {
  std::map<const Val*, AliasInfo, std::less<>> aliases; // in the order that the fusion has them in
  for (const Output& output : outputs_) {
    Statement* statement = record(output.number).statement;
    if (!is_a<TensorView>(*statement)) {
      return in_.fail(
          "statement " + std::to_string(output.number) + " is an output, but no tensor");
    }
    auto* tensor = static_cast<TensorView*>(statement);
    const auto known = aliases.find(tensor);
    const Statement* aliased = output.aliased == 0 ? nullptr : record(output.aliased).statement;
    if (aliased != nullptr &&
        (!is_a<TensorView>(*aliased) || !static_cast<const Val*>(aliased)->is_fusion_input() ||
         tensor->is_fusion_input())) {
      return in_.fail(
          "output " + std::to_string(output.number) + " is written to what is no input");
    }
    const bool is_repeated = tensor->is_fusion_output();
    if (is_repeated && (known == aliases.end() ? nullptr : known->second.input) != aliased) {
      return in_.fail("output " + std::to_string(output.number) + " is written to two places");
    }
    if (output.is_hidden && (aliased == nullptr || is_repeated)) {
      return in_.fail("output " + std::to_string(output.number) + " is hidden without reason");
    }
    fusion_->add_output(tensor);
    if (aliased != nullptr && !is_repeated) {
      auto* input = const_cast<TensorView*>(static_cast<const TensorView*>(aliased));
      aliases.emplace(tensor, AliasInfo{.input = input, .is_hidden = output.is_hidden});
    }
  }
  fusion_->aliases_.assign(aliases.begin(), aliases.end());
}

// ---- Values -------------------------------------------------------------------------------------

template <typename T>
size_t FusionReader::read_position(bool is_optional) {
  const size_t number = in_.number_below(records_.size() + 1, "earlier statement");
  if (!in_.is_good()) {
    return 0;
  }
  if (number == 0) {
    if (!is_optional) {
      in_.fail(std::string(name_of_kind<T>()) + " is missing");
    }
    return 0;
  }
  if (!is_a<T>(*record(number).statement)) {
    in_.fail("statement " + std::to_string(number) + " is not " + name_of_kind<T>());
    return 0;
  }
  return number;
}

template <typename T>
void FusionReader::read_fields(T& value, bool is_optional) {
  read_value(in_, value, is_optional, [&]<typename Node>(Node*& pointer, bool may_be_none) {
    const size_t number = read_position<Node>(may_be_none);
    pointer = nullptr;
    if (number != 0) {
      record(number).is_referenced = true;
      pointer = static_cast<Node*>(record(number).statement);
    }
  });
}

void FusionReader::read_record() {
  const uint8_t tag = in_.byte();
  if (tag < kNumValTypes) {
    read_val(static_cast<ValType>(tag));
  } else if (tag < kNumValTypes + kNumExprKinds) {
    read_expr(static_cast<ExprKind>(tag - kNumValTypes));
  } else {
    in_.fail("kind " + std::to_string(tag) + " of statements is unknown");
  }
}

void FusionReader::read_val(ValType vtype) {
  switch (vtype) {
    case ValType::Scalar: return read_scalar();
    case ValType::IterDomain: return read_axis();
    case ValType::TensorDomain: return read_domain();
    case ValType::TensorView: return read_tensor();
    case ValType::NamedScalar: return read_hardware_index();
    case ValType::TensorIndex:
      return in_.fail(std::string(enum_name(vtype)) + " is made by lowering only");
  }
}

DataType FusionReader::read_dtype() {
  DataType dtype{};
  read_fields(dtype);
  if (dtype == DataType::Null || dtype == DataType::Float4_e2m1fn_x2) {
    in_.fail(std::string("a value of type ") + enum_name(dtype));
  }
  return dtype;
}

void FusionReader::read_scalar() {
  const DataType dtype = read_dtype();
  const size_t alternative =
      in_.number_below(std::variant_size_v<ScalarValue>, "alternative of constants");
  if (alternative != 0 && alternative != alternative_of(dtype)) {
    in_.fail(std::string("a constant of type ") + enum_name(dtype) + " is held as another type");
  }
  ScalarValue value;
  switch (alternative) {
    case 1: value = in_.number_below(2, "a flag is") == 1; break;
    case 2: value = in_.signed_number(); break;
    case 3: value = in_.real(); break;
    case 4: {
      const double real = in_.real();
      value = std::complex<double>(real, in_.real());
      break;
    }
    default: break;
  }
  if (!in_.is_good()) {
    return;
  }
  if (!has_value(value)) {
    add(fusion_->new_scalar(dtype));
  } else if (is_boolean(dtype)) {
    add(as_bool(value) ? fusion_->true_val() : fusion_->false_val());
  } else if (dtype == DataType::Index && (as_int(value) == 0 || as_int(value) == 1)) {
    add(as_int(value) == 0 ? fusion_->zero() : fusion_->one());
  } else {
    add(fusion_->new_constant(value, dtype));
  }
}

void FusionReader::read_hardware_index() {
  ParallelType type{};
  read_fields(type);
  if (!in_.is_good()) {
    return;
  }
  if (!is_hardware_index(type)) {
    return in_.fail(std::string("no hardware index: ") + enum_name(type));
  }
  add(fusion_->parallel_index(type));
}

void FusionReader::read_axis() {
  IterDomainSpec spec;
  read_fields(spec);
  if (!in_.is_good()) {
    return;
  }
  const bool has_sizes = is_size(spec.extent) && is_size(spec.start) && is_size(spec.stop_offset) &&
                         (spec.expanded_extent == nullptr || is_size(spec.expanded_extent));
  if (!has_sizes) {
    return in_.fail("sizes of an axis are not scalars of type Index");
  }
  add(fusion_->new_iter_domain(spec));
}

void FusionReader::read_domain() {
  TensorDomainSpec spec;
  read_fields(spec);
  if (!in_.is_good()) {
    return;
  }
  if (spec.initial_loop.empty()) {
    spec.initial_loop = spec.logical;
  }
  TensorDomain* domain = fusion_->new_tensor_domain(TensorDomainSpec{});
  domain->spec_ = std::move(spec);
  add(domain);
}

void FusionReader::read_tensor() {
  const DataType dtype = read_dtype();
  TensorDomain* domain = nullptr;
  read_fields(domain);
  if (in_.is_good()) {
    tensors_.push_back(fusion_->new_tensor(domain, dtype));
    add(tensors_.back());
  }
}

// ---- Expressions --------------------------------------------------------------------------------

void FusionReader::read_expr(ExprKind kind) {
  switch (kind) {
#define NVF_CASE(Node) \
  case ExprKind::Node: return read_node<Node>();
    NVF_FOR_EACH_DOMAIN_EXPR(NVF_CASE)
    NVF_FOR_EACH_MATH_EXPR(NVF_CASE)
#undef NVF_CASE
    default: return in_.fail("statements of kernels are made by lowering only");
  }
}

template <typename Node>
void FusionReader::read_node() {
  typename Node::Fields fields;
  std::vector<size_t> outputs;
  for_each_field<typename Node::Fields>([&](const auto& field) {
    auto& value = fields.*field.member;
    if (field.role != Role::Output) {
      return read_fields(value, field.is_optional);
    }
    read_value(in_, value, field.is_optional, [&]<typename T>(T*& pointer, bool may_be_none) {
      const size_t number = read_position<T>(may_be_none);
      pointer = nullptr;
      if (number != 0) {
        outputs.push_back(number);
        pointer = static_cast<T*>(record(number).statement);
      }
    });
  });
  check_outputs(outputs);
  if (!in_.is_good()) {
    return;
  }
  for (const size_t number : outputs) {
    record(number).is_defined = true;
  }
  add(fusion_->make<Node>(std::move(fields)));
}

void FusionReader::check_outputs(const std::vector<size_t>& outputs) {
  if (in_.is_good() && outputs.empty()) {
    in_.fail("an expression without results");
  }
  std::unordered_set<size_t> distinct;
  for (const size_t number : outputs) {
    const Record& output = record(number);
    const auto* val = static_cast<const Val*>(output.statement);
    const char* fault = nullptr;
    if (output.is_defined || !distinct.insert(number).second) {
      fault = " has two definitions";
    } else if (val->is_const()) {
      fault = " is a constant, and is computed";
    } else if (output.is_referenced && !output.is_input) {
      fault = " is read before it is computed";
    }
    if (fault != nullptr) {
      return in_.fail("statement " + std::to_string(number) + fault);
    }
  }
}

// ---- Schedules ----------------------------------------------------------------------------------

void FusionReader::read_schedules() {
  for (TensorView* tensor : tensors_) {
    read_fields(tensor->schedule_);
  }
}

} // namespace nvfuser

#include <algorithm>
#include <string>

#include "base/value_or_throw.h"
#include "ir/find_fault.h"
#include "ir/fusion.h"
#include "ir/fusion_reader.h"
#include "ir/serialize.h"
#include "ir/serialized_form.h"

namespace nvfuser {
namespace {

using namespace serialized;

Refusal refuse_bytes(const Part& rule, const Part& expected, const Part& found, const Part& fix) {
  return refuse(
      {.headline = {"deserialize: ", rule.text()},
       .node = Part::none(),
       .expected = expected,
       .found = found,
       .fix = fix},
      ErrorKind::Value);
}

std::string hex(std::span<const std::byte> bytes) {
  static constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<size_t>(byte >> 4U)];
    text += kDigits[static_cast<size_t>(byte & std::byte{15})];
  }
  return text;
}

/// Whether this build wrote the bytes, and nothing changed them since.
std::optional<Refusal> find_fault_of_head(std::span<const std::byte> bytes) {
  const size_t num_magic = std::min(bytes.size(), kMagic.size());
  if (!std::ranges::equal(bytes.first(num_magic), std::span(kMagic).first(num_magic))) {
    return refuse_bytes(
        "the bytes are no serialized fusion", {"bytes that begin with ", hex(kMagic)},
        hex(bytes.first(num_magic)), "give what Fusion.serialize returned");
  }
  if (bytes.size() <= kHeadBytes) {
    return refuse_bytes(
        "the bytes are cut off", {"more than ", kHeadBytes, " bytes"}, {bytes.size(), " bytes"},
        "read the whole file");
  }
  const auto version = static_cast<unsigned>(bytes[kVersionAt]);
  if (version != kVersion) {
    return refuse_bytes(
        "the bytes have another format", {"version ", unsigned{kVersion}}, {"version ", version},
        "serialize the fusion again with this version of the library");
  }
  const std::span node_table = bytes.subspan(kNodeTableAt, std::tuple_size_v<Digest>);
  if (!std::ranges::equal(node_table, node_table_digest())) {
    return refuse_bytes(
        "the bytes were written by a build with other nodes",
        {"nodes ", hex(std::span(node_table_digest()).first(8))}, hex(node_table.first(8)),
        "serialize the fusion again with this version of the library");
  }
  const Digest digest = sha256({bytes.first(kNodeTableAt), node_table, bytes.subspan(kHeadBytes)});
  if (!std::ranges::equal(bytes.subspan(kDigestAt, digest.size()), digest)) {
    return refuse_bytes(
        "the bytes are damaged", {"digest ", hex(bytes.subspan(kDigestAt, 8))},
        {"digest ", hex(std::span(digest).first(8))}, "write the file again");
  }
  return std::nullopt;
}

} // namespace

std::variant<std::shared_ptr<Fusion>, Refusal> try_deserialize(std::span<const std::byte> bytes) {
  if (std::optional<Refusal> refusal = find_fault_of_head(bytes)) {
    return *std::move(refusal);
  }
  FusionReader reader(bytes.subspan(kHeadBytes));
  std::shared_ptr<Fusion> fusion = reader.read();
  constexpr const char* kFix = "give what Fusion.serialize returned";
  if (fusion == nullptr) {
    return refuse_bytes(
        "the bytes say no fusion", "statements as Fusion.serialize writes them",
        {reader.fault(), ", before byte ", kHeadBytes + reader.position()}, kFix);
  }
  if (const std::string fault = find_fault(*fusion); !fault.empty()) {
    return refuse_bytes(
        "the fusion contradicts itself", "a fusion that can be defined and scheduled", fault, kFix);
  }
  // A fusion has one form: no detours, nothing that no output needs.
  if (!std::ranges::equal(serialize(*fusion), bytes)) {
    return refuse_bytes(
        "the bytes are not in their one form", "the bytes that the fusion serializes to",
        "other bytes for the same fusion", kFix);
  }
  return fusion;
}

std::shared_ptr<Fusion> deserialize(std::span<const std::byte> bytes) {
  return value_or_throw(try_deserialize(bytes));
}

} // namespace nvfuser

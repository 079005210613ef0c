#include "host/plan_store.h"

#include "base/trace.h"
#include "ir/byte_stream.h"
#include "ir/serialize.h"
#include "runtime/kernel_cache.h"
#include "runtime/kernel_store.h"
#include "schedule/table.h"

namespace nvfuser::host {
namespace {

/// The version of the bytes of plans; other builds never read them.
constexpr const char* kForm = "nvfuser plan 1";

// ---- Writing ------------------------------------------------------------------------------------

void write_text(ByteWriter& bytes, std::span<const std::byte> text) {
  bytes.number(text.size());
  for (const std::byte letter : text) {
    bytes.byte(static_cast<uint8_t>(letter));
  }
}

template <typename T>
void write_list(ByteWriter& bytes, const std::vector<T>& numbers) {
  bytes.number(numbers.size());
  for (const T number : numbers) {
    bytes.signed_number(static_cast<int64_t>(number));
  }
}

void write_way(ByteWriter& bytes, const RememberedWay& way) {
  bytes.byte(static_cast<uint8_t>(way.kind));
  bytes.number(way.number);
  bytes.byte(static_cast<uint8_t>(way.scheduler));
  write_text(bytes, std::as_bytes(std::span(way.schedule)));
  write_text(bytes, std::as_bytes(std::span(way.decisions)));
  bytes.byte(way.params.index_type.has_value() ? 1 : 0);
  bytes.byte(static_cast<uint8_t>(way.params.index_type.value_or(DataType::Int)));
  bytes.signed_number(way.params.maxrregcount);
  bytes.byte(way.params.enable_magic_zero ? 1 : 0);
}

// ---- Reading ------------------------------------------------------------------------------------

std::vector<std::byte> read_bytes(ByteReader& bytes) {
  std::vector<std::byte> text(bytes.count());
  for (std::byte& letter : text) {
    letter = static_cast<std::byte>(bytes.byte());
  }
  return text;
}

std::vector<int64_t> read_list(ByteReader& bytes) {
  std::vector<int64_t> numbers(bytes.count());
  for (int64_t& number : numbers) {
    number = bytes.signed_number();
  }
  return numbers;
}

template <typename Enum>
Enum read_enum(ByteReader& bytes, Enum last) {
  const uint8_t value = bytes.byte();
  if (value > static_cast<uint8_t>(last)) {
    bytes.fail("an enumeration without that member");
    return Enum{};
  }
  return static_cast<Enum>(value);
}

RememberedWay read_way(ByteReader& bytes) {
  RememberedWay way;
  way.kind = read_enum(bytes, Way::Kind::Given);
  way.number = bytes.number_below(schedule::schedulers().size() + 4, "way");
  way.scheduler = read_enum(bytes, SchedulerType::cutlass);
  for (std::string* text : {&way.schedule, &way.decisions}) {
    for (const std::byte letter : read_bytes(bytes)) {
      *text += static_cast<char>(letter);
    }
  }
  const bool has_index_type = bytes.byte() != 0;
  const auto index_type = static_cast<DataType>(bytes.byte());
  if (has_index_type) {
    way.params.index_type = index_type == DataType::Int32 ? DataType::Int32 : DataType::Int;
  }
  way.params.maxrregcount = bytes.signed_number();
  way.params.enable_magic_zero = bytes.byte() != 0;
  return way;
}

StoredPiece read_piece(ByteReader& bytes, size_t position) {
  StoredPiece stored;
  auto fusion = try_deserialize(read_bytes(bytes));
  if (std::holds_alternative<Refusal>(fusion)) {
    bytes.fail("no fusion");
    return stored;
  }
  Piece& piece = stored.piece;
  piece.fusion = std::get<std::shared_ptr<Fusion>>(std::move(fusion));
  piece.inputs = read_list(bytes);
  piece.random_numbers = read_list(bytes);
  piece.kind = read_enum(bytes, SegmentKind::Evaluated);
  piece.scheduler = read_enum(bytes, SchedulerType::cutlass);
  stored.like = bytes.number_below(position + 1, "piece");
  stored.way = read_way(bytes);
  if (bytes.is_good() && piece.inputs.size() != piece.fusion->inputs().size()) {
    bytes.fail("a slot for each input");
  }
  return stored;
}

} // namespace

std::string plan_key(const std::string& digest, Device device, std::span<const int64_t> signature) {
  const std::string environment = environment_of_facts(device);
  if (environment.empty()) {
    return "";
  }
  std::string key = std::string(kForm) + "\n" + environment + "\n" + digest + "\n";
  for (const int64_t word : signature) {
    key += std::to_string(word) + " ";
  }
  return key;
}

std::optional<std::string> find_plan(const std::string& key) {
  return KernelCache::facts().find(key);
}

std::optional<StoredPlan> read_plan(const std::string& text) {
  const TraceSpan span("read plan");
  ByteReader bytes(std::as_bytes(std::span(text)));
  StoredPlan plan;
  plan.random_streams = bytes.signed_number();
  plan.outputs = read_list(bytes);
  for (size_t left = bytes.count(), i = 0; left > 0 && bytes.is_good(); --left, ++i) {
    plan.pieces.push_back(read_piece(bytes, i));
  }
  return bytes.is_good() && bytes.num_left() == 0 && !plan.pieces.empty()
             ? std::optional(std::move(plan))
             : std::nullopt;
}

void store_plan(const std::string& key, const StoredPlan& plan) {
  ByteWriter bytes;
  bytes.signed_number(plan.random_streams);
  write_list(bytes, plan.outputs);
  bytes.number(plan.pieces.size());
  for (const StoredPiece& stored : plan.pieces) {
    write_text(bytes, serialize(*stored.piece.fusion));
    write_list(bytes, stored.piece.inputs);
    write_list(bytes, stored.piece.random_numbers);
    bytes.byte(static_cast<uint8_t>(stored.piece.kind));
    bytes.byte(static_cast<uint8_t>(stored.piece.scheduler));
    bytes.number(stored.like);
    write_way(bytes, stored.way);
  }
  KernelCache::facts().store(key, bytes.str());
}

// ---- Planning again -----------------------------------------------------------------------------

Replanned::Replanned(
    std::shared_ptr<PiecePlanner> planner, std::span<const Argument> args, Device device)
    : planner_(std::move(planner)), args_(args.begin(), args.end()), device_(device) {
  layouts_.reserve(args_.size()); // arguments point into them
  for (Argument& arg : args_) {
    if (auto* tensor = std::get_if<TensorArg>(&arg)) {
      std::vector<int64_t>& layout = layouts_.emplace_back();
      layout.assign(tensor->sizes().begin(), tensor->sizes().end());
      layout.insert(layout.end(), tensor->strides().begin(), tensor->strides().end());
      tensor->size_data = layout.data();
      tensor->stride_data = layout.data() + tensor->rank;
    }
  }
}

const PlannedPieces& Replanned::get() {
  const std::lock_guard lock(mutex_);
  if (!pieces_) {
    pieces_ = planner_->plan(args_, device_);
  }
  return *pieces_;
}

PlannedPieces pieces_of(StoredPlan plan, const std::shared_ptr<Replanned>& replanned) {
  PlannedPieces pieces;
  pieces.partition.outputs = std::move(plan.outputs);
  pieces.partition.random_streams = plan.random_streams;
  for (size_t i = 0; i < plan.pieces.size(); ++i) {
    StoredPiece& stored = plan.pieces[i];
    pieces.partition.pieces.push_back(std::move(stored.piece));
    pieces.remembered.push_back({stored.like, std::move(stored.way)});
    pieces.candidates.push_back(
        std::make_shared<Candidates>([replanned, i] { return replanned->get().candidates.at(i); }));
  }
  pieces.replan = [replanned]() -> const PlannedPieces& { return replanned->get(); };
  return pieces;
}

} // namespace nvfuser::host

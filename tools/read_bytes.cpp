// Reads changed bytes of fusions, over and over: tools/asan_bytes.sh builds it with the two lowest
// floors of the core under AddressSanitizer, which ends it where a read is not sound.
//
//   read_bytes FOLDER COUNT SEED
//
// FOLDER  files of serialized fusions (tests/property/serialized_programs.py --corpus FOLDER)
// COUNT   how many changes are read, spread over the files
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ir/fusion.h"
#include "ir/serialize.h"
#include "ir/serialized_form.h"

namespace {

using namespace nvfuser;
using Bytes = std::vector<std::byte>;

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

/// Changes of the bytes behind the head.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  Bytes operator()(const Bytes& original, const Bytes& other) {
    Bytes body(original.begin() + serialized::kHeadBytes, original.end());
    static constexpr size_t kCounts[] = {1, 1, 1, 2, 3, 8, 20};
    for (size_t i = kCounts[below(std::size(kCounts))]; i > 0; --i) {
      change(body, other);
      if (body.empty()) {
        body.push_back(std::byte{0});
      }
    }
    Bytes bytes(original.begin(), original.begin() + serialized::kHeadBytes);
    bytes.insert(bytes.end(), body.begin(), body.end());
    seal(bytes);
    return bytes;
  }

 private:
  size_t below(size_t end) {
    return random_() % end;
  }
  std::byte byte() {
    static constexpr uint8_t kLikely[] = {0, 1, 2, 3, 0x7F, 0x80, 0xFE, 0xFF};
    const bool is_likely = below(2) == 0;
    return static_cast<std::byte>(is_likely ? kLikely[below(std::size(kLikely))] : below(256));
  }
  /// The bytes of one to eight neighbours.
  Bytes piece(const Bytes& bytes) {
    const size_t first = below(bytes.size());
    const size_t last = std::min(bytes.size(), first + 1 + below(8));
    return {
        bytes.begin() + static_cast<std::ptrdiff_t>(first),
        bytes.begin() + static_cast<std::ptrdiff_t>(last)};
  }

  void change(Bytes& body, const Bytes& other) {
    const size_t at = below(body.size());
    const auto place = body.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(7)) {
      case 0: body[at] ^= static_cast<std::byte>(1U << below(8)); break;
      case 1: body[at] = byte(); break;
      case 2:
        body.erase(
            place, place + static_cast<std::ptrdiff_t>(std::min(body.size() - at, 1 + below(8))));
        break;
      case 3: {
        const Bytes added = piece(body);
        body.insert(place, added.begin(), added.end());
        break;
      }
      case 4: {
        const Bytes copied = piece(body);
        std::copy_n(copied.begin(), std::min(copied.size(), body.size() - at), place);
        break;
      }
      case 5: {
        const Bytes copied = piece(other);
        std::copy_n(copied.begin(), std::min(copied.size(), body.size() - at), place);
        break;
      }
      default: body.resize(at + 1); break;
    }
  }

  static void seal(Bytes& bytes) {
    using namespace serialized;
    const std::span all(bytes);
    const Digest digest = sha256({all.first(kDigestAt), all.subspan(kHeadBytes)});
    std::ranges::copy(digest, bytes.begin() + kDigestAt);
  }

  std::mt19937_64 random_;
};

int run(const std::string& folder, size_t count, uint64_t seed) {
  std::vector<Bytes> corpus;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const std::filesystem::path& path : paths) {
    corpus.push_back(read_file(path));
    if (!std::holds_alternative<std::shared_ptr<Fusion>>(try_deserialize(corpus.back()))) {
      std::cerr << path << " is not read\n";
      return 1;
    }
  }
  if (corpus.empty()) {
    std::cerr << folder << " has no files\n";
    return 1;
  }
  Mutator mutate(seed);
  size_t num_read = 0;
  std::map<std::string, size_t> refusals; // by the texts of their rules
  for (size_t i = 0; i < count; ++i) {
    const Bytes bytes = mutate(corpus[i % corpus.size()], corpus[(7 * i + 3) % corpus.size()]);
    const auto result = try_deserialize(bytes);
    if (const auto* fusion = std::get_if<std::shared_ptr<Fusion>>(&result)) {
      ++num_read;
      if (serialize(**fusion) != bytes) {
        std::cerr << "change " << i << " says a fusion of other bytes\n";
        return 1;
      }
    } else {
      ++refusals[std::get<Refusal>(result).report.headline.text()];
    }
  }
  std::cout << corpus.size() << " fusions, " << count << " changes: " << num_read
            << " say another fusion\n";
  for (const auto& [rule, number] : refusals) {
    std::cout << number << " " << rule << "\n";
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: read_bytes FOLDER COUNT SEED\n";
    return 2;
  }
  try {
    return run(argv[1], std::stoul(argv[2]), std::stoull(argv[3]));
  } catch (const std::exception& error) {
    std::cerr << "an exception left the reader: " << error.what() << "\n";
    return 1;
  }
}

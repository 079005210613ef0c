// Whole files, and folders that vanish.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/refusal.h"

namespace nvfuser {

/// A folder of this process alone, removed when it goes out of scope.
class PrivateFolder {
 public:
  /// Empty where none can be made; `reason` says why. Evaluation is what remains.
  [[nodiscard]] static std::optional<PrivateFolder> try_make(std::optional<Refusal>& reason);
  /// The folder; throws what is refused.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  [[nodiscard]] const std::string& path() const {
    return path_;
  }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}

  std::string path_; // empty: it was moved from
};

/// Where a file lies, its size and its time in one line, which changes when the file does; empty if
/// there is none.
[[nodiscard]] std::string identity_of_file(const std::string& path);
/// Read a whole file; false, with errno, if it cannot be read.
[[nodiscard]] bool read_file(const std::string& path, std::string& bytes);
/// Write a whole file; false, with errno, if it cannot be written.
[[nodiscard]] bool write_file(const std::string& path, const std::string& bytes);

// ---- Files to be trusted with code --------------------------------------------------------------
//
// They belong to the user of this process, and no other user may write to them or to the folder
// they lie in.

/// Why a folder is not to be trusted: "it belongs to another user"; empty if it is, or is not
/// there. A link to a folder is followed if `may_be_link`.
[[nodiscard]] std::string distrust_of_folder(const std::string& path, bool may_be_link);
/// Make a folder, and those it lies in, that only this user may use. Whether it is there.
[[nodiscard]] bool make_own_folder(const std::string& path);

enum class OwnFile : uint8_t { Read, Absent, Unreadable, Untrusted };
/// Read a file of this user's own, and nothing else: what is no regular file is not opened for long
/// enough to wait for. `reason` says why a file is untrusted.
[[nodiscard]] OwnFile read_own_file(
    const std::string& path, std::string& bytes, std::string& reason);
/// Write a new file that only this user may use; false if there is one, or it cannot be written.
[[nodiscard]] bool write_own_file(const std::string& path, const std::string& bytes);

} // namespace nvfuser

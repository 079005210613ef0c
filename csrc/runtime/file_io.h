// Whole files, and folders that vanish.
#pragma once

#include <string>

namespace nvfuser {

/// A folder of this process alone, removed when it goes out of scope.
class PrivateFolder {
 public:
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  [[nodiscard]] const std::string& path() const {
    return path_;
  }

 private:
  std::string path_;
};

/// Read a whole file; false if it cannot be read.
[[nodiscard]] bool read_file(const std::string& path, std::string& bytes);
/// Write a whole file; false if it cannot be written.
[[nodiscard]] bool write_file(const std::string& path, const std::string& bytes);

} // namespace nvfuser

#include "runtime/file_io.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/errors.h"

namespace nvfuser {

namespace fs = std::filesystem;

PrivateFolder::PrivateFolder() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  std::string pattern = (error ? fs::path("/tmp") : base) / "nvfuser_XXXXXX";
  NVF_USER_CHECK(
      mkdtemp(pattern.data()) != nullptr, "Cannot make a temporary folder ", pattern, ": ",
      std::strerror(errno), ". Set TMPDIR to a folder that can be written.");
  path_ = pattern;
}

PrivateFolder::~PrivateFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

bool read_file(const std::string& path, std::string& bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return false;
  }
  bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return !in.bad();
}

bool write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return !out.fail();
}

} // namespace nvfuser

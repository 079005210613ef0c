#include "runtime/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/errors.h"

namespace nvfuser {

namespace fs = std::filesystem;

namespace {

/// An open file; closed when it goes out of scope, which leaves errno as it was.
class File {
 public:
  File(const std::string& path, int flags, mode_t mode = 0)
      : handle_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~File() {
    if (handle_ >= 0) {
      const int before = errno;
      ::close(handle_);
      errno = before;
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool is_open() const {
    return handle_ >= 0;
  }
  [[nodiscard]] bool get_status(struct stat& status) const {
    return ::fstat(handle_, &status) == 0;
  }
  [[nodiscard]] bool read_all(std::string& bytes) const {
    bytes.clear();
    char buffer[1 << 16];
    for (;;) {
      const ssize_t count = ::read(handle_, buffer, sizeof(buffer));
      if (count == 0) {
        return true;
      }
      if (count > 0) {
        bytes.append(buffer, static_cast<size_t>(count));
      } else if (errno != EINTR) {
        return false;
      }
    }
  }
  /// Also closes it: some file systems report only then that the disk is full.
  [[nodiscard]] bool write_all(const std::string& bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::write(handle_, bytes.data() + done, bytes.size() - done);
      if (count >= 0) {
        done += static_cast<size_t>(count);
      } else if (errno != EINTR) {
        return false;
      }
    }
    const int handle = handle_;
    handle_ = -1;
    return ::close(handle) == 0;
  }

 private:
  int handle_;
};

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG: return "a regular file";
    case S_IFDIR: return "a folder";
    case S_IFLNK: return "a symbolic link";
    case S_IFIFO: return "a FIFO";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    case S_IFSOCK: return "a socket";
    default: return "of an unknown kind";
  }
}

/// Why something of `wanted` kind (S_IFREG, S_IFDIR) is not to be trusted; empty if it is.
std::string distrust(const struct stat& status, mode_t wanted) {
  if ((status.st_mode & S_IFMT) != wanted) {
    return std::string("it is ") + kind_of(status.st_mode) + ", not " + kind_of(wanted);
  }
  if (status.st_uid != ::geteuid()) {
    return "it belongs to another user";
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "others may write to it";
  }
  return "";
}

} // namespace

std::optional<PrivateFolder> PrivateFolder::try_make(std::optional<Refusal>& reason) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  std::string pattern = (error ? fs::path("/tmp") : base) / "nvfuser_XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    reason = refuse_headline(
        Part(
            "Cannot make a temporary folder ", pattern, ": ", std::strerror(errno),
            ". Set TMPDIR to a folder that can be written."),
        ErrorKind::NotImplemented);
    return std::nullopt;
  }
  return PrivateFolder(pattern);
}

PrivateFolder::PrivateFolder() {
  std::optional<Refusal> reason;
  std::optional<PrivateFolder> made = try_make(reason);
  check(reason);
  path_.swap(made->path_);
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, std::string())) {}

PrivateFolder::~PrivateFolder() {
  if (!path_.empty()) {
    std::error_code error;
    fs::remove_all(path_, error);
  }
}

std::string identity_of_file(const std::string& path) {
  std::error_code error;
  const std::string target = fs::canonical(path, error); // another one may be put behind a link
  struct stat status{};
  if (error || ::stat(target.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return "";
  }
  return target + " " + std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) +
         "\n";
}

bool read_file(const std::string& path, std::string& bytes) {
  const File file(path, O_RDONLY);
  return file.is_open() && file.read_all(bytes);
}

bool write_file(const std::string& path, const std::string& bytes) {
  File file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  return file.is_open() && file.write_all(bytes);
}

std::string distrust_of_folder(const std::string& path, bool may_be_link) {
  struct stat status{};
  const int result = may_be_link ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status);
  return result == 0 ? distrust(status, S_IFDIR) : ""; // what cannot be looked at is not there
}

bool make_own_folder(const std::string& path) {
  std::error_code error;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) {
    fs::create_directories(parent, error);
  }
  return ::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST;
}

OwnFile read_own_file(const std::string& path, std::string& bytes, std::string& reason) {
  // Not to wait for the other end of a FIFO, and not to follow links.
  const File file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat status{};
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return OwnFile::Absent;
    }
    // Links and sockets cannot be opened.
    const bool is_known = ::lstat(path.c_str(), &status) == 0;
    reason = is_known && !S_ISREG(status.st_mode) ? distrust(status, S_IFREG) : "";
    return reason.empty() ? OwnFile::Unreadable : OwnFile::Untrusted;
  }
  if (!file.get_status(status)) {
    return OwnFile::Unreadable;
  }
  reason = distrust(status, S_IFREG);
  if (!reason.empty()) {
    return OwnFile::Untrusted;
  }
  return file.read_all(bytes) ? OwnFile::Read : OwnFile::Unreadable;
}

bool write_own_file(const std::string& path, const std::string& bytes) {
  File file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  return file.is_open() && file.write_all(bytes);
}

} // namespace nvfuser

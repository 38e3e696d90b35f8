#include "shoal/data/pending_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "temporary_file.hpp"

namespace shoal::io {
namespace {

namespace fs = std::filesystem;

/// The file to which a name leads.
struct Place {
  std::string path;       ///< after all links have been followed; it need not exist
  bool in_place = false;  ///< it is a name of an open descriptor, which is not followed further, to keep the descriptor
  int own_descriptor = -1;  ///< that descriptor, if it is one of this process; else -1
};

Place find_place(const std::string& file) {
  constexpr int kMostLinks = 40;  // as in the kernel
  std::error_code error;
  fs::path at = file;
  for (int links = 0; links < kMostLinks; ++links) {
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : fs::path("."), error);
    if (error) break;  // opening the file reports what is wrong
    if (folder.string().rfind("/proc/", 0) == 0 && folder.filename() == "fd") {
      const std::string name = at.filename().string();
      const bool own = folder.string().rfind(fs::canonical("/proc/self", error).string() + "/", 0) == 0;
      const bool digits = !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == name.npos;
      return {at.string(), true, own && digits ? std::stoi(name) : -1};
    }
    const fs::path to = fs::read_symlink(at, error);
    if (error) break;  // not a link, or does not exist
    at = to.is_absolute() ? to : folder / to;
  }
  return {at.string()};
}

}  // namespace

bool is_standard_output(const std::string& file) { return find_place(file).own_descriptor == STDOUT_FILENO; }

bool is_same_file(const std::string& a, const std::string& b) {
  const fs::path one = find_place(a).path, other = find_place(b).path;
  struct stat first {
  }, second{};
  const bool there = ::stat(one.c_str(), &first) == 0, other_there = ::stat(other.c_str(), &second) == 0;
  if (there && other_there) {
    return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  }
  if (there || other_there) return false;
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(one), error) == fs::weakly_canonical(fs::absolute(other), error) && !error;
}

PendingFile::PendingFile(const std::string& file) : file_(file) {
  if (file.empty()) fail("it has no name", "give a file");
  const Place place = find_place(file);
  const std::string& target = place.path;
  struct stat st {};
  if (place.in_place) {
    open_in_place(target, place.own_descriptor);
    return;
  }
  const bool exists = ::stat(target.c_str(), &st) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (exists && S_ISDIR(st.st_mode)) fail(EISDIR);
  if (exists && S_ISFIFO(st.st_mode)) {
    open_fifo(target);
    return;
  }
  if (exists && !S_ISREG(st.st_mode)) {
    open_in_place(target, -1);
    return;
  }
  temporary_ = std::make_unique<TemporaryFile>(target);
  if (const int error = temporary_->open(); error != 0) fail(error);
  fd_ = temporary_->descriptor();
}

void PendingFile::open_in_place(const std::string& path, int descriptor) {
  if (descriptor < 0) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
  } else {
    // A file that is opened anew would be written from its beginning, and overwrite what this process has written to it.
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) fail(EBADF);
    fd_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  }
  if (fd_ < 0) fail(errno);
}

/// Opens with O_NONBLOCK, so that neither open() nor write() blocks in the system, where it could not be interrupted.
void PendingFile::open_fifo(const std::string& path) {
  for (;;) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ >= 0) return;
    if (errno != ENXIO) fail(errno);  // ENXIO: it has no reader yet
    throw_if_interrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

PendingFile::~PendingFile() {
  if (!temporary_ && fd_ >= 0) ::close(fd_);
}

std::string PendingFile::line(const std::string& reason, const std::string& cure) const {
  return (file_ == kStandardOutput ? "standard output" : file_) + ": cannot be written: " + reason +
         (cure.empty() ? "" : "; " + cure);
}

void PendingFile::fail(const std::string& reason, const std::string& cure) const {
  throw UsageError(line(reason, cure));
}

void PendingFile::fail(int error) const {
  if (error == EISDIR) throw FileError(error, file_, line("it is a directory", "give a file"));
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const char* const cure = full              ? "free some space, or choose another place"
                           : error == ENOENT ? "the folder must exist"
                           : error == EPIPE  ? "its reader is gone"
                           : error == EBADF  ? "open it for writing"
                                             : "choose a place that is writable";
  throw FileError(error, file_, line(std::strerror(error), cure));
}

void PendingFile::write(const void* data, std::size_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::write(fd_, p, std::min<std::size_t>(bytes, std::size_t{1} << 30));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) {  // the FIFO is full
      constexpr int kLookMilliseconds = 100;
      pollfd full{fd_, POLLOUT, 0};
      ::poll(&full, 1, kLookMilliseconds);
      throw_if_interrupted();
      continue;
    }
    if (put < 0) fail(errno);
    p += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

int PendingFile::descriptor() const {
  if (!temporary_) fail("it is a device, FIFO or socket, and this format needs a file", "give a file");
  return fd_;
}

void PendingFile::commit() {
  if (!temporary_) {
    if (::close(std::exchange(fd_, -1)) != 0) fail(errno);
    return;
  }
  if (const int error = temporary_->commit(); error != 0) fail(error);
  fd_ = -1;
  temporary_.reset();
}

}  // namespace shoal::io

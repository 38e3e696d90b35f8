#include "shoal/data/pending_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "shoal/core/error.hpp"

namespace shoal::io {
namespace {

namespace fs = std::filesystem;

/// Where a name leads.
struct Place {
  std::string path;         ///< behind all links; it need not exist
  bool in_place = false;    ///< a name of an open descriptor: to follow it further would lose what is open
  int own_descriptor = -1;  ///< of this process
};

Place find_place(const std::string& file) {
  constexpr int kMostLinks = 40;  // as the kernel
  std::error_code error;
  fs::path at = file;
  for (int links = 0; links < kMostLinks; ++links) {
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : fs::path("."), error);
    if (error) break;  // opening it says what is wrong
    if (folder.string().rfind("/proc/", 0) == 0 && folder.filename() == "fd") {
      const std::string name = at.filename().string();
      const bool own = folder.string().rfind(fs::canonical("/proc/self", error).string() + "/", 0) == 0;
      const bool digits = !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == name.npos;
      return {at.string(), true, own && digits ? std::stoi(name) : -1};
    }
    const fs::path to = fs::read_symlink(at, error);
    if (error) break;  // no link, or nothing there
    at = to.is_absolute() ? to : folder / to;
  }
  return {at.string()};
}

/// The temporary files of this process. A handler of signals may look at any moment, so there are no locks: a slot belongs
/// to nobody (0), is being filled (-1), or is valid for the process `owner`; a forked child has no files of its parent's.
struct Listed {
  std::atomic<pid_t> owner{0};
  char path[PATH_MAX] = {};
};
constinit Listed listed[16];
static_assert(std::atomic<pid_t>::is_always_lock_free, "handlers of signals read it");

/// Its slot, or -1: then a signal leaves it behind.
int list(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (Listed& slot : listed) {
    pid_t nobody = 0;
    if (!slot.owner.compare_exchange_strong(nobody, -1)) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.owner.store(::getpid());
    return static_cast<int>(&slot - listed);
  }
  return -1;
}

extern "C" void remove_and_end(int signal) {
  remove_pending_files();
  // Only now: the same signal may come to another thread meanwhile (`timeout` sends it twice), and must not end the process
  // before the files are gone.
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // as soon as this returns
}

}  // namespace

bool is_standard_output(const std::string& file) { return find_place(file).own_descriptor == STDOUT_FILENO; }

void remove_pending_files() noexcept {
  const pid_t me = ::getpid();
  for (const Listed& slot : listed) {
    if (slot.owner.load() == me) ::unlink(slot.path);
  }
}

void remove_pending_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) continue;
    struct sigaction now {};
    now.sa_handler = remove_and_end;
    ::sigemptyset(&now.sa_mask);
    ::sigaction(signal, &now, nullptr);
  }
}

PendingFile::PendingFile(const std::string& file) : file_(file) {
  if (file.empty()) fail("it has no name", "give a file");
  const Place place = find_place(file);
  target_ = place.path;
  struct stat st {};
  if (place.in_place) {
    open_in_place(place.path, place.own_descriptor);
    return;
  }
  const bool exists = ::stat(target_.c_str(), &st) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (exists && S_ISDIR(st.st_mode)) fail(EISDIR);
  exists && !S_ISREG(st.st_mode) ? open_in_place(target_, -1) : open_temporary();
}

void PendingFile::open_in_place(const std::string& path, int descriptor) {
  if (descriptor < 0) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
  } else {
    // Opened anew, a file would be written from its beginning, over what this process writes there.
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) fail(EBADF);
    fd_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  }
  if (fd_ < 0) fail(errno);
}

void PendingFile::open_temporary() {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = target_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    listed_ = list(temporary_);  // first: a signal between the two finds nothing, or the remains of a process long gone
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) return;
    const int error = errno;
    if (listed_ >= 0) listed[listed_].owner.store(0);
    listed_ = -1;
    if (error != EEXIST) fail(error);
  }
  fail(EEXIST);
}

void PendingFile::drop_temporary() {
  if (listed_ >= 0) listed[listed_].owner.store(0);
  listed_ = -1;
  temporary_.clear();
}

PendingFile::~PendingFile() {
  if (fd_ >= 0) ::close(fd_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  drop_temporary();
}

void PendingFile::fail(const std::string& reason, const std::string& cure) const {
  throw UsageError((file_ == kStandardOutput ? "standard output" : file_) + ": cannot be written: " + reason +
                   (cure.empty() ? "" : "; " + cure));
}

void PendingFile::fail(int error) const {
  if (error == EISDIR) fail("it is a directory", "give a file");
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  fail(std::strerror(error), full              ? "free some space, or choose another place"
                             : error == ENOENT ? "the folder must exist"
                             : error == EPIPE  ? "its reader is gone"
                             : error == EBADF  ? "open it for writing"
                                               : "choose a place that is writable");
}

void PendingFile::write(const void* data, std::size_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::write(fd_, p, std::min<std::size_t>(bytes, std::size_t{1} << 30));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(errno);
    p += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

int PendingFile::descriptor() const {
  if (temporary_.empty()) fail("it is a device, FIFO or socket, and this format needs a file", "give a file");
  return fd_;
}

void PendingFile::commit() {
  if (!temporary_.empty()) {
    if (::fsync(fd_) != 0 && errno != EINVAL) fail(errno);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
    drop_temporary();
  }
  if (::close(std::exchange(fd_, -1)) != 0) fail(errno);
}

}  // namespace shoal::io

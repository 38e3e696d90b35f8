#include "temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "shoal/data/pending_file.hpp"

namespace shoal::io {
namespace {

/// The names of this process's temporary files. A signal handler may read them at any time, so there are no locks. The `owner` of
/// a slot is 0 (free), -1 (being filled), or the id of the process for which the slot is valid. A forked child does not own the
/// files of its parent.
struct Listed {
  std::atomic<pid_t> owner{0};
  char path[PATH_MAX] = {};
};
constinit Listed listed[16];
static_assert(std::atomic<pid_t>::is_always_lock_free, "handlers of signals read it");

/// Adds a name to the list. @return its slot; -1: there is none, so the file is left behind if a signal ends the process
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
  // Only after that is the default action restored: the same signal may reach another thread meanwhile (`timeout` sends it
  // twice), and must not end the process before the files are gone.
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // takes effect when this handler returns
}

/// The path under which the kernel shows an open file. With it, a file without a name can be linked.
std::string own_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

constexpr int kMostAttempts = 100;  // to find a name that is not taken

}  // namespace

void remove_pending_files() noexcept {
  const pid_t me = ::getpid();
  for (const Listed& slot : listed) {
    if (slot.owner.load() == me) ::unlink(slot.path);
  }
}

void remove_pending_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGXCPU,
                           SIGXFSZ, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction old {};
    if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    struct sigaction now {};
    now.sa_handler = remove_and_end;
    ::sigemptyset(&now.sa_mask);
    ::sigaction(signal, &now, nullptr);
  }
}

TemporaryFile::~TemporaryFile() {
  if (fd_ >= 0) ::close(fd_);
  if (name_.empty()) return;
  ::unlink(name_.c_str());
  drop_name();
}

int TemporaryFile::open(Naming naming) {
  struct stat replaced {};
  const bool replaces = ::stat(target_.c_str(), &replaced) == 0;
  const mode_t mode = replaces ? 0600 : 0666;  // who could not read the replaced file must not read this one
  if (naming == Naming::named || !open_unnamed(mode)) {
    if (const int error = open_named(mode); error != 0) return error;
  }
  if (replaces) resemble(replaced);
  return 0;
}

bool TemporaryFile::open_unnamed(mode_t mode) {
  const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0) return false;  // unsupported by the file system; else open_named() reports the error
  if (::access(own_path(fd).c_str(), F_OK) != 0) {  // without /proc it could not get a name
    ::close(fd);
    return false;
  }
  fd_ = fd;
  return true;
}

int TemporaryFile::open_named(mode_t mode) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    take_name();
    fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd_ >= 0) return 0;
    const int error = errno;
    drop_name();
    if (error != EEXIST) return error;
  }
  return EEXIST;
}

/// Sets owner, group and mode as those of the replaced file. If the system refuses the owner or the group, the mode is reduced so
/// that group and others get no more access than they had.
void TemporaryFile::resemble(const struct stat& replaced) const {
  struct stat mine {};
  if (::fstat(fd_, &mine) != 0) return;
  mode_t mode = replaced.st_mode & 07777;
  const bool owner = mine.st_uid == replaced.st_uid || ::fchown(fd_, replaced.st_uid, static_cast<gid_t>(-1)) == 0;
  const bool group = mine.st_gid == replaced.st_gid || ::fchown(fd_, static_cast<uid_t>(-1), replaced.st_gid) == 0;
  if (!owner || !group) mode &= 0777;                           // no set-user-ID for another user
  if (!group) mode = (mode & ~mode_t{070}) | (mode & 07) << 3;  // a different group gets the access of others
  ::fchmod(fd_, mode);
}

int TemporaryFile::commit() {
  if (::fsync(fd_) != 0 && errno != EINVAL) return errno;
  if (name_.empty()) {
    if (::linkat(AT_FDCWD, own_path(fd_).c_str(), AT_FDCWD, target_.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
    if (errno != EEXIST) return errno;
    return link_and_rename();
  }
  if (::rename(name_.c_str(), target_.c_str()) != 0) return errno;
  drop_name();
  return 0;
}

/// No system call replaces a file by a file without a name. So the file gets a temporary name first, which stays if SIGKILL ends
/// the process before the rename.
int TemporaryFile::link_and_rename() {
  const std::string from = own_path(fd_);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    take_name();
    if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      if (::rename(name_.c_str(), target_.c_str()) != 0) return errno;
      drop_name();
      return 0;
    }
    const int error = errno;
    drop_name();
    if (error != EEXIST) return error;
  }
  return EEXIST;
}

/// Chooses a name beside the target. It is listed before the file is created, so that a signal handler always finds it.
void TemporaryFile::take_name() {
  static std::atomic<unsigned> counter{0};
  const std::string end = ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  const std::filesystem::path target = target_;
  name_ = (target.parent_path() / target.filename().string().substr(0, NAME_MAX - end.size())).string() + end;
  listed_ = list(name_);
}

void TemporaryFile::drop_name() {
  if (listed_ >= 0) listed[listed_].owner.store(0);
  listed_ = -1;
  name_.clear();
}

}  // namespace shoal::io

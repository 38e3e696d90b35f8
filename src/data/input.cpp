#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/memory.hpp"
#include "formats.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"

namespace shoal::io {
namespace {

constexpr std::size_t kMapFrom = std::size_t{16} << 20;  // smaller files are copied, so that they may shrink

/// @param code  a value of errno
[[noreturn]] void fail(const std::string& file, int code, const char* call = "") {
  throw FileError(code, file,
                  file + ": cannot be read: " + call + std::strerror(code) + "; check the path and its permissions");
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// Waits until a pipe has bytes or has ended; does not wait for a file. @throws Interrupted
void wait_for_bytes(int fd) {
  constexpr int kLookMilliseconds = 100;
  for (pollfd waiting{fd, POLLIN, 0}; ::poll(&waiting, 1, kLookMilliseconds) == 0;) throw_if_interrupted();
}

Bytes read_all(int fd, const std::string& file, std::size_t expected) {
  std::size_t room = expected + 1, have = 0;  // one more byte than expected, to see the end
  auto* data = static_cast<char*>(std::malloc(room));
  std::shared_ptr<void> keep(data, std::free);
  while (true) {
    if (data == nullptr) throw std::bad_alloc();
    wait_for_bytes(fd);
    const ssize_t got = ::read(fd, data + have, room - have);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) fail(file, errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
    if (have == room) {
      if (room > kMapFrom && static_cast<std::int64_t>(room) * 2 > available_memory())
        throw CapacityError(
            file + ": holds more than " + std::to_string(room >> 20) +
            " MB, and memory is short; read it from a file that is not packed, or use a larger machine");
      auto* larger = static_cast<char*>(std::malloc(room * 2));
      if (larger == nullptr) throw std::bad_alloc();
      std::memcpy(larger, data, have);
      keep = std::shared_ptr<void>(larger, std::free);
      data = larger;
      room *= 2;
    }
  }
  return {data, have, std::move(keep)};
}

}  // namespace

Bytes read_file(const std::string& file, bool map, FileFacts* facts) {
  // With O_NONBLOCK, opening a pipe does not wait for its writer. read_all() waits instead, and can be interrupted.
  const Descriptor descriptor{file == kStandardInput ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                                     : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (descriptor.fd < 0 && file == kStandardInput)
    throw UsageError(file + ": standard input is closed; send it a graph: < FILE, or COMMAND |");
  if (descriptor.fd < 0) fail(file, errno);
  struct stat st {};
  if (::fstat(descriptor.fd, &st) != 0) fail(file, errno);
  if (S_ISDIR(st.st_mode)) throw FileError(EISDIR, file, file + kIsDirectory);
  if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
    throw UsageError(file +
                     (file == kStandardInput
                          ? ": standard input is a terminal, device or socket; send it a graph: < FILE, or COMMAND |"
                          : ": is a terminal, device or socket; name a file or a pipe that holds a graph"));
  const auto size = S_ISREG(st.st_mode) ? static_cast<std::size_t>(st.st_size) : 0;
  if (facts != nullptr && S_ISREG(st.st_mode)) {
    const auto ns = [](const timespec& at) {
      return static_cast<std::int64_t>(at.tv_sec) * 1'000'000'000 + at.tv_nsec;
    };
    *facts = {size, ns(st.st_mtim), st.st_ino, ns(st.st_ctim)};
  }
  if (!S_ISREG(st.st_mode) || size == 0 || (size < kMapFrom && !map)) return read_all(descriptor.fd, file, size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.fd, 0);
  if (address == MAP_FAILED) fail(file, errno, "mmap: ");
  ::madvise(address, size, MADV_WILLNEED);
  return {static_cast<const char*>(address), size, {address, [size](void* p) { ::munmap(p, size); }}, true};
}

}  // namespace shoal::io

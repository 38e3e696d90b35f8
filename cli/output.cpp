#include "output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "shoal/core/error.hpp"

namespace shoal::cli {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

OutputFile::OutputFile(std::string name) : name_(std::move(name)) {
  struct stat there {};
  if (stat(name_.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    if (S_ISDIR(there.st_mode)) throw UsageError("cannot write " + name_ + ": it is a folder; give a file name");
    // A device or pipe has no contents to protect: written in place.
    descriptor_ = open(name_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = name_ + ".XXXXXX";
    descriptor_ = mkstemp(temporary_.data());
    if (descriptor_ < 0) temporary_.clear();
  }
  if (descriptor_ < 0) fail("cannot write");
  if (!temporary_.empty()) {
    // mkstemp gives 0600; an output is an ordinary file.
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor_, 0666 & ~mask);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::fail(const std::string& doing) {
  const int why = errno;
  // A constructor that throws has no destructor run after it.
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  throw UsageError(doing + " " + name_ + ": " + std::strerror(why) +
                   (why == ENOENT   ? "; the folder must exist"
                    : why == ENOSPC ? "; free some space"
                                    : ""));
}

void OutputFile::flush() {
  const char* data = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0) {
    const ssize_t written = ::write(descriptor_, data, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    data += written;
    left -= static_cast<std::size_t>(written);
  }
  buffer_.clear();
}

void OutputFile::write(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const std::size_t now = bytes < kBufferBytes ? bytes : kBufferBytes;
    buffer_.append(from, now);
    from += now;
    bytes -= now;
    if (buffer_.size() >= kBufferBytes) flush();
  }
}

void OutputFile::commit() {
  flush();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0) fail("cannot finish");
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), name_.c_str()) != 0) fail("cannot rename to");
  temporary_.clear();
}

namespace {

/// The .npy header of little-endian values. Source: numpy.lib.format, version 1.0.
std::string npy_header(const char* type, const std::string& shape) {
  static_assert(std::endian::native == std::endian::little, "the header says little-endian");
  std::string header = std::string("{'descr': '<") + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');  // the data begin at a multiple of 64 bytes
  header += '\n';
  const char start[] = {'\x93',
                        'N',
                        'U',
                        'M',
                        'P',
                        'Y',
                        1,
                        0,
                        static_cast<char>(header.size() & 255),
                        static_cast<char>(header.size() >> 8)};
  return std::string(start, sizeof start) + header;
}

template <class Out, class In>
void write_as(OutputFile& file, const In* row, std::int64_t n) {
  if constexpr (std::is_same_v<In, Out>) {
    file.write(row, static_cast<std::size_t>(n) * sizeof *row);
  } else {
    Out some[1024];
    for (std::int64_t begin = 0; begin < n; begin += std::ssize(some)) {
      const std::int64_t count = std::min<std::int64_t>(std::ssize(some), n - begin);
      for (std::int64_t i = 0; i < count; ++i) some[i] = static_cast<Out>(row[begin + i]);
      file.write(some, static_cast<std::size_t>(count) * sizeof *some);
    }
  }
}

}  // namespace

void write_rows(OutputFile& file, const std::vector<Row>& rows, std::int64_t n) {
  if (ends_with(file.name(), ".npy")) {
    std::size_t widest = 0;  // the order of Row's types
    for (const Row& row : rows) widest = std::max(widest, row.index());
    const char* const types[] = {"i4", "i8", "f8"};
    file.write(npy_header(types[widest], rows.size() == 1 ? std::to_string(n) + ","
                                                          : std::to_string(rows.size()) + ", " + std::to_string(n)));
    for (const Row& row : rows) {
      std::visit(
          [&](const auto* values) {
            if (widest == 0) write_as<std::int32_t>(file, values, n);
            if (widest == 1) write_as<std::int64_t>(file, values, n);
            if (widest == 2) write_as<double>(file, values, n);
          },
          row);
    }
    return;
  }
  char line[32];
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) file.write(" ", 1);
      const char* end = std::visit(
          [&](const auto* values) { return std::to_chars(line, line + sizeof line, values[v]).ptr; }, rows[i]);
      file.write(line, static_cast<std::size_t>(end - line));
    }
    file.write("\n", 1);
  }
}

}  // namespace shoal::cli

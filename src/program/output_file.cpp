#include "output_file.hpp"

#include <algorithm>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

}  // namespace

OutputFile::OutputFile(const std::string& name) : name_(name), file_(name == "-" ? io::kStandardOutput : name) {}

void OutputFile::write(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const std::size_t now = std::min(bytes, kBufferBytes);
    buffer_.append(from, now);
    from += now;
    bytes -= now;
    if (buffer_.size() >= kBufferBytes) flush();
  }
}

void OutputFile::flush() {
  file_.write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  file_.commit();
}

std::string not_empty(const std::string& text) { return text.empty() ? "is empty; name a file" : ""; }

bool is_standard_output(const std::string& name) { return name == "-" || io::is_standard_output(name); }

void refuse_same_files(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read) {
  const auto same = [](const NamedFile& out, const std::string& other, const char* dash) {
    return !out.name.empty() && !other.empty() &&
           io::is_same_file(out.name == "-" ? io::kStandardOutput : out.name, other == "-" ? dash : other);
  };
  const auto said = [](const NamedFile& file) { return file.flag + (file.name == "-" ? "" : " " + file.name); };
  for (std::size_t i = 0; i < written.size(); ++i) {
    const NamedFile& out = written[i];
    for (std::size_t k = 0; k < i; ++k) {
      const NamedFile& other = written[k];
      if (is_standard_output(out.name) && is_standard_output(other.name)) {
        throw UsageError(other.flag + " and " + out.flag + " both go to standard output; give one of them a file");
      }
      if (!same(out, other.name, io::kStandardOutput)) continue;
      throw UsageError(said(other) + " and " + said(out) + " are the same file; give one of them another name");
    }
    for (const NamedFile& in : read) {
      if (!same(out, in.name, "/proc/self/fd/0")) continue;
      throw UsageError(said(out) + " would overwrite " + said(in) + ", which is read; give the output another name");
    }
  }
}

void refuse_standard_output(const std::vector<NamedFile>& written) {
  for (const NamedFile& out : written) {
    if (out.name.empty() || !is_standard_output(out.name)) continue;
    throw UsageError(out.flag + " " + out.name + " is standard output, where the program prints; name a file");
  }
}

}  // namespace shoal

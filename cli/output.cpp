#include "output.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
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

void refuse_other_form(const std::string& flag, const std::string& name) {
  for (const char* const other : {".npz", ".gz", ".zst"}) {
    if (!ends_with(name, other)) continue;
    throw UsageError(flag + " " + name + ": " + other +
                     " files are not written; a name that ends in .npy gives a NumPy array, any other name gives text");
  }
}

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

namespace {

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

void write_rows(OutputFile& file, const Rows& rows, std::int64_t n) {
  if (ends_with(file.name(), ".npy")) {
    std::size_t widest = 0;  // types of Row are in order of width
    for (const Row& row : rows) widest = std::max(widest, row.index());
    const char* const types[] = {"i4", "i8", "f8"};
    file.write(npy_header(types[widest], rows.size() == 1 ? std::to_string(n) + ","
                                                          : std::to_string(rows.size()) + ", " + std::to_string(n)));
    for (const Row& row : rows) {
      std::visit(
          [&](const auto& values) {
            if (widest == 0) write_as<std::int32_t>(file, values.data(), n);
            if (widest == 1) write_as<std::int64_t>(file, values.data(), n);
            if (widest == 2) write_as<double>(file, values.data(), n);
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
          [&](const auto& values) { return std::to_chars(line, line + sizeof line, values[v]).ptr; }, rows[i]);
      file.write(line, static_cast<std::size_t>(end - line));
    }
    file.write("\n", 1);
  }
}

}  // namespace shoal::cli
